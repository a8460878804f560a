package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
)

// pointGram returns exp(−|x−y|²) of random points in a cube of so many dimensions, rounded to single
// precision if asked for, so that tiles hold it.
func pointGram(rng *rand.Rand, n, dim int, side float64, single bool) (gram *kernel.Matrix, points [][]float64) {
	points = make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, dim)
		for d := range points[i] {
			points[i][d] = side * rng.Float64()
		}
	}
	gram = kernel.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			distance := 0.0
			for d, x := range points[i] {
				distance += (x - points[j][d]) * (x - points[j][d])
			}
			v := math.Exp(-distance)
			if single {
				v = float64(float32(v))
			}
			gram.Set(i, j, v)
			gram.Set(j, i, v)
		}
	}
	return gram, points
}

// pointTargets returns smooth functions of points with noise, and far from 0.
func pointTargets(rng *rand.Rand, points [][]float64, count int) [][]float64 {
	out := make([][]float64, count)
	for t := range out {
		for _, x := range points {
			out[t] = append(out[t], 5+math.Sin(float64(t+1)*x[0])*math.Cos(x[1])+0.1*rng.NormFloat64())
		}
	}
	return out
}

// exactRidge trains on some examples in double precision, by a Cholesky factor.
func exactRidge(t testing.TB, gram *kernel.Matrix, examples []int, targets [][]float64, lambda float64, weights []float64) []Function {
	t.Helper()
	f, err := factorize(t.Context(), Full(gram).Select(examples, examples), lambda, Weights(weights).at(examples))
	if err != nil {
		t.Fatal(err)
	}
	l := &Learner{Examples: len(examples)}
	var columns [][]float64
	for _, z := range targets {
		columns = append(columns, pick(z, examples))
	}
	if _, _, err := l.addRidges(f, columns, false); err != nil {
		t.Fatal(err)
	}
	for k := range l.Functions {
		l.Functions[k].Support = examples
	}
	return l.Functions
}

// exactHeldOut is HeldOut by exactRidge, for one ridge.
func exactHeldOut(t testing.TB, gram *kernel.Matrix, targets [][]float64, folds []int, lambda float64, weights []float64) *kernel.Matrix {
	t.Helper()
	out := kernel.NewMatrix(gram.Rows, len(targets))
	for fold := range slices.Max(folds) + 1 {
		var training []int
		for i, f := range folds {
			if f != fold {
				training = append(training, i)
			}
		}
		functions := exactRidge(t, gram, training, targets, lambda, weights)
		for i, f := range folds {
			for k := range functions {
				if f == fold {
					out.Set(i, k, functions[k].Value(gram.Row(i)))
				}
			}
		}
	}
	return out
}

// trainAll returns the regressions on all examples.
func trainAll(s *RidgeSolver, ctx context.Context, targets [][]float64, lambda float64, weights []float64) ([]Function, Convergence, error) {
	trained, c, err := s.train(ctx, targets, [][]int{kernel.UpTo(s.tiles.rows)}, [][]int{{0}}, []float64{lambda}, weights)
	if err != nil {
		return nil, c, err
	}
	return trained[0][0].functions, c, nil
}

func newRidgeSolver(t testing.TB, gram *kernel.Matrix, opt RidgeOptions) *RidgeSolver {
	t.Helper()
	s, err := NewRidgeSolver(t.Context(), tilesOf(t, gram), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomFolds returns one of the even folds below 2·count for each example; the odd ones are empty.
func randomFolds(rng *rand.Rand, n, count int) []int {
	folds := make([]int, n)
	for i := range folds {
		folds[i] = 2 * rng.IntN(count)
	}
	return folds
}

func randomWeights(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 0.2 + 2*rng.Float64()
	}
	return out
}

// exactly is the tolerance of tests that compare with a factorisation. It is far above the rounding of
// double precision.
const exactly = 1e-11

func exactOptions() RidgeOptions {
	opt := DefaultRidgeOptions()
	opt.Tolerance, opt.MaxIterations = exactly, 1000
	return opt
}

// norm returns |x|.
func norm(x []float64) float64 { return math.Sqrt(dense.Dot(x, x)) }

// full returns the coefficients of all n examples.
func full(f Function, n int) []float64 {
	if f.Support == nil {
		return f.Coefficients
	}
	out := make([]float64, n)
	for k, i := range f.Support {
		out[i] = f.Coefficients[k]
	}
	return out
}

// A Triangle holds a matrix in single precision as it is, and then functions and predictions are those of a
// factorisation in double precision. A matrix in double precision changes by E when it is rounded, and
// |E| ≤ 2⁻²⁴|K| in the Frobenius norm. So the coefficients change by no more than
//
//	|δβ| ≤ |E| |β| max(w)/λ.
func TestRidgeSolver(t *testing.T) {
	for _, n := range []int{300, 700} {
		for _, single := range []bool{true, false} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("n=%d/single=%v/weighted=%v", n, single, weighted), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(n), 71))
					gram, points := pointGram(rng, n, 3, 3, single)
					targets, folds := pointTargets(rng, points, 3), randomFolds(rng, n, 3)
					var weights []float64
					most := 1.0
					if weighted {
						weights = randomWeights(rng, n)
						most = slices.Max(weights)
					}
					lambdas := []float64{0.01, 1, 100}
					s := newRidgeSolver(t, gram, exactOptions())
					heldOut, _, c, err := s.heldOut(t.Context(), targets, folds, lambdas, weights)
					if err != nil {
						t.Fatal(err)
					}
					if c.Open > 0 || c.Systems != 3*3*4 {
						t.Errorf("held out: %+v", c)
					}
					for l, lambda := range lambdas {
						got, c, err := trainAll(s, t.Context(), targets, lambda, weights)
						if err != nil {
							t.Fatal(err)
						}
						if c.Open > 0 || c.Systems != 4 {
							t.Errorf("λ = %g: %+v", lambda, c)
						}
						share := 100 * exactly // a residual makes a larger error, by the condition
						if !single {
							share += 0x1p-24 * norm(gram.Data) * most / lambda
						}
						for k, want := range exactRidge(t, gram, others(n, n), targets, lambda, weights) {
							difference := slices.Clone(got[k].Coefficients)
							dense.Axpy(difference, -1, full(want, n))
							if norm(difference) > share*norm(want.Coefficients) {
								t.Errorf("λ = %g: coefficients differ by %g of %g", lambda, norm(difference), norm(want.Coefficients))
							}
							if math.Abs(got[k].Bias-want.Bias) > share*math.Abs(want.Bias) {
								t.Errorf("λ = %g: bias %v, want %v", lambda, got[k].Bias, want.Bias)
							}
							if sum := total(got[k].Coefficients); math.Abs(sum) > 1e-9*norm(got[k].Coefficients) {
								t.Errorf("λ = %g: Σβ = %g", lambda, sum)
							}
						}
						want := exactHeldOut(t, gram, targets, folds, lambda, weights)
						if d := maxDifference(heldOut[l].Data, want.Data); d > 10*share {
							t.Errorf("λ = %g: predictions of held out examples differ by %g", lambda, d)
						}
					}
				})
			}
		}
	}
}

// The default tolerance changes predictions by little more than its share of the standard deviation of
// the targets, as far as the iterations converge.
func TestRidgeTolerance(t *testing.T) {
	const n = 600
	for _, dim := range []int{2, 4, 8} {
		rng := rand.New(rand.NewPCG(uint64(dim), 73))
		gram, points := pointGram(rng, n, dim, 3, true)
		targets, folds := pointTargets(rng, points, 2), randomFolds(rng, n, 5)
		lambdas := []float64{0.1, 1, 10}
		opt := DefaultRidgeOptions()
		got, _, c, err := newRidgeSolver(t, gram, opt).heldOut(t.Context(), targets, folds, lambdas, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Open > 0 || !(c.Residual <= opt.Tolerance) {
			t.Errorf("%+v", c)
		}
		_, _, deviation := StandardScores(targets[0], nil)
		for l, lambda := range lambdas {
			difference := slices.Clone(got[l].Data)
			dense.Axpy(difference, -1, exactHeldOut(t, gram, targets, folds, lambda, nil).Data)
			if d := norm(difference) / math.Sqrt(float64(len(difference))); d > 2*opt.Tolerance*deviation {
				t.Errorf("dim = %d, λ = %g: predictions differ by %g, targets by %g", dim, lambda, d, deviation)
			}
		}
	}
}

// Neither the number of workers nor what else is solved changes a bit.
func TestRidgeSolverBits(t *testing.T) {
	const n = 600
	rng := rand.New(rand.NewPCG(75, 76))
	gram, points := pointGram(rng, n, 3, 3, false)
	targets, folds, weights := pointTargets(rng, points, 3), randomFolds(rng, n, 4), randomWeights(rng, n)
	lambdas := []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10} // 4·8·4 systems are more than mostSides
	var first [][]float64
	for _, workers := range workerCounts {
		ctx := work.WithWorkers(t.Context(), workers)
		s, err := NewRidgeSolver(ctx, tilesOf(t, gram), DefaultRidgeOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got [][]float64
		heldOut, _, c, err := s.heldOut(ctx, targets, folds, lambdas, weights)
		if err != nil {
			t.Fatal(err)
		}
		if c.Systems <= mostSides {
			t.Errorf("%d systems, want more", c.Systems)
		}
		for _, m := range heldOut {
			got = append(got, m.Data)
		}
		functions, _, err := trainAll(s, ctx, targets, lambdas[2], weights)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			got = append(got, append(f.Coefficients, f.Bias))
		}
		if first == nil {
			first = got
			alone, _, _, err := s.heldOut(ctx, targets[1:2], folds, lambdas[3:4], weights)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if alone[0].At(i, 0) != heldOut[3].At(i, 1) {
					t.Fatalf("example %d: one ridge and target alone has other bits", i)
				}
			}
		}
		if !slices.EqualFunc(got, first, slices.Equal) {
			t.Errorf("%d workers have other bits than one", workers)
		}
	}
}

// A ridge that is too small for the iterations, or for an indefinite matrix, is reported.
func TestRidgeSolverOpen(t *testing.T) {
	graphtest.Slow(t)
	const n = 500
	rng := rand.New(rand.NewPCG(77, 78))
	gram, points := pointGram(rng, n, 4, 3, false)
	targets := pointTargets(rng, points, 1)
	opt := DefaultRidgeOptions()
	functions, c, err := trainAll(newRidgeSolver(t, gram, opt), t.Context(), targets, 1e-6, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(functions) != 1 || c.Open == 0 || !(c.Residual > opt.Tolerance) || c.Iterations != opt.MaxIterations {
		t.Errorf("λ = 1e-6: %+v", c)
	}
	opt.MaxIterations = 10_000
	if _, c, err = trainAll(newRidgeSolver(t, gram, opt), t.Context(), targets, 1e-6, nil); err != nil || c.Open > 0 {
		t.Errorf("λ = 1e-6 with more iterations: %+v, %v", c, err)
	}
	for i := range n {
		for j := range i {
			e := 0.3 * rng.NormFloat64()
			gram.Set(i, j, gram.At(i, j)+e)
			gram.Set(j, i, gram.At(i, j))
		}
	}
	if _, c, err = trainAll(newRidgeSolver(t, gram, opt), t.Context(), targets, 0.01, nil); err != nil || c.Open == 0 {
		t.Errorf("indefinite: %+v, %v", c, err)
	}
}

// Fewer examples than landmarks, constant targets and a kernel that is 0 have the obvious solutions.
func TestRidgeSolverSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(79, 80))
	for _, n := range []int{2, 3, 20} {
		gram, points := pointGram(rng, n, 2, 3, true)
		targets := append(pointTargets(rng, points, 1), slices.Repeat([]float64{7}, n))
		folds := make([]int, n)
		folds[0] = 4
		s := newRidgeSolver(t, gram, exactOptions())
		got, _, _, err := s.heldOut(t.Context(), targets, folds, []float64{0.1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n > 2 { // two folds of one example are right about a constant only
			if d := maxDifference(got[0].Data, exactHeldOut(t, gram, targets, folds, 0.1, nil).Data); d > 1e-9 {
				t.Errorf("n = %d: predictions differ by %g", n, d)
			}
		}
		functions, _, err := trainAll(s, t.Context(), targets, 0.1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f := functions[1]; f.Bias != 7 || norm(f.Coefficients) != 0 {
			t.Errorf("n = %d: constant targets: %+v", n, f)
		}
		zero := newRidgeSolver(t, kernel.NewMatrix(n, n), exactOptions())
		functions, _, err = trainAll(zero, t.Context(), targets, 0.1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if mean := total(targets[0]) / float64(n); math.Abs(functions[0].Bias-mean) > 1e-12 {
			t.Errorf("n = %d: the kernel is 0: bias %v, want %v", n, functions[0].Bias, mean)
		}
	}
	if f, _, err := trainAll(newRidgeSolver(t, &kernel.Matrix{Rows: 1, Cols: 1, Data: []float64{1}}, exactOptions()), t.Context(), [][]float64{{3}}, 1, nil); err != nil || f[0].Bias != 3 {
		t.Errorf("one example: %v, %v", f, err)
	}
}

func TestRidgeSolverErrors(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(81, 82))
	gram, points := pointGram(rng, n, 2, 3, false)
	targets, folds := pointTargets(rng, points, 1), randomFolds(rng, n, 2)
	s := newRidgeSolver(t, gram, DefaultRidgeOptions())
	bad := slices.Clone(targets[0])
	bad[5] = math.NaN()
	for _, c := range []struct {
		want    string
		targets [][]float64
		folds   []int
		lambda  float64
		weights []float64
	}{
		{"example 5 is NaN", [][]float64{bad}, folds, 1, nil},
		{"1 targets", [][]float64{{1}}, folds, 1, nil},
		{"ridge 0", targets, folds, 0, nil},
		{"ridge NaN", targets, folds, math.NaN(), nil},
		{"weight of example 0 is 0", targets, folds, 1, make([]float64, n)},
		{"2 weights", targets, folds, 1, []float64{1, 2}},
		{"folds of 1 examples", targets, []int{1}, 1, nil},
		{"one fold", targets, make([]int, n), 1, nil},
	} {
		if _, _, _, err := s.heldOut(t.Context(), c.targets, c.folds, []float64{c.lambda}, c.weights); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	opt := DefaultRidgeOptions()
	opt.Tolerance = math.NaN()
	if _, err := NewRidgeSolver(t.Context(), s.tiles, opt); err == nil || !strings.Contains(err.Error(), "Tolerance") {
		t.Errorf("tolerance NaN: %v", err)
	}
	if _, err := NewRidgeSolver(t.Context(), zeroTriangle(0), DefaultRidgeOptions()); err == nil {
		t.Error("no examples are no error")
	}
	gram.Set(3, 2, math.Inf(1))
	if err := zeroTriangle(n).put(0, 0, gram); err == nil || !strings.Contains(err.Error(), "row 3, column 2") {
		t.Errorf("infinite value: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewRidgeSolver(cancelled, s.tiles, DefaultRidgeOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := trainAll(s, cancelled, targets, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// In the midst of the iterations as well.
	during, cancel := context.WithCancel(t.Context())
	defer cancel()
	during = work.With(during, work.Options{Progress: func(p work.Progress) {
		if p.Stage == "ridge" {
			cancel()
		}
	}})
	if _, _, _, err := s.heldOut(during, targets, folds, []float64{1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// Every stage reports its end.
	last := map[string]work.Progress{}
	watched := work.With(t.Context(), work.Options{Progress: func(p work.Progress) { last[p.Stage] = p }})
	s, err := NewRidgeSolver(watched, s.tiles, DefaultRidgeOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := trainAll(s, watched, targets, 1, nil); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"landmarks", "ridge"} {
		if p, ok := last[stage]; !ok || p.Done != p.Total {
			t.Errorf("%s: %+v", stage, p)
		}
	}
}

// pointMap is the kernel of pointGram as a map.
type pointMap struct{ kernel.Map }

type pointFeatures struct {
	kernel.Features
	points [][]float64
}

func (p *pointFeatures) Len() int { return len(p.points) }

func (pointMap) Fill(_ context.Context, dst []float64, stride int, b kernel.Block) error {
	for i, x := range b.A.(*pointFeatures).points[b.I0:b.I1] {
		for j, y := range b.B.(*pointFeatures).points[b.J0:b.J1] {
			distance := 0.0
			for d := range x {
				distance += (x[d] - y[d]) * (x[d] - y[d])
			}
			dst[i*stride+j] = math.Exp(-distance)
		}
	}
	return nil
}

// With weights the process of a solver is that of the whole matrix, but for what was left out to fit its scale.
func TestSolverWeights(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(87, 88))
	gram, points := pointGram(rng, n, 2, 3, false)
	targets := Targets{Values: pointTargets(rng, points, 1)[0], Weights: randomWeights(rng, n)}
	s := newRidgeSolver(t, gram, exactOptions())
	held, _, err := s.HeldOut(t.Context(), targets, kernel.UpTo(n), []float64{0.1})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Learn(t.Context(), targets, held[0], nil, false)
	if err != nil {
		t.Fatal(err)
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Intervals = KernelRidge, 0.1, true, true
	want, err := Train(t.Context(), Full(gram), targets, opt)
	if err != nil {
		t.Fatal(err)
	}
	p, q := got.Process, want.Process
	if d := maxDifference(got.LeaveOneOut.Data, want.LeaveOneOut.Data); d > 1e-4 {
		t.Errorf("values that are left out differ by %g", d)
	}
	for i := range n {
		if math.Abs(p.LeaveOneOut[i]/q.LeaveOneOut[i]-1) > 1e-3 || math.Abs(p.Unit[i]-q.Unit[i]) > 1e-3 || p.Weights[i] != q.Weights[i] {
			t.Fatalf("example %d: deviation %v, unit %v, want %v and %v", i, p.LeaveOneOut[i], p.Unit[i], q.LeaveOneOut[i], q.Unit[i])
		}
	}
}

// The density of values that were held out is that of normal distributions with their deviations, for the best
// scale. It says more of ridges than the squared error.
func TestDensity(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(85, 86))
	gram, points := pointGram(rng, n, 2, 3, false)
	z := pointTargets(rng, points, 1)[0]
	lambdas := []float64{0.01, 1}
	held, _, err := newRidgeSolver(t, gram, exactOptions()).HeldOut(t.Context(), Targets{Values: z}, randomFolds(rng, n, 4), lambdas)
	if err != nil {
		t.Fatal(err)
	}
	_, _, unit := StandardScores(z, nil)
	for _, left := range held {
		best := math.Inf(-1)
		for scale := 0.01; scale < 10; scale *= 1.01 {
			sum := 0.0
			for i, d := range left.deviations.out {
				sum += metrics.LogDensity(z[i], left.Values.Data[i], scale*d) + math.Log(unit)
			}
			best = max(best, sum/n)
		}
		if math.Abs(best-left.Density) > 1e-4 {
			t.Errorf("ridge %v: density %v, want %v", left.Ridge, left.Density, best)
		}
	}
}

func BenchmarkRidgeSolver(b *testing.B) {
	const n = 16000
	rng := rand.New(rand.NewPCG(83, 84))
	f := &pointFeatures{}
	for range n {
		f.points = append(f.points, []float64{3 * rng.Float64(), 3 * rng.Float64(), 3 * rng.Float64(), 3 * rng.Float64(), 3 * rng.Float64()})
	}
	targets, folds := pointTargets(rng, f.points, 1), randomFolds(rng, n, 5)
	tiles, err := NewTriangle(b.Context(), pointMap{}, f)
	if err != nil {
		b.Fatal(err)
	}
	var s *RidgeSolver
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			if s, err = NewRidgeSolver(b.Context(), tiles, DefaultRidgeOptions()); err != nil {
				b.Fatal(err)
			}
		}
	})
	report := func(b *testing.B, c Convergence) {
		b.ReportMetric(float64(c.Iterations), "iterations")
		b.ReportMetric(float64(c.Open), "open")
	}
	lambdas := []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	b.Run("held out/folds=5/ridges=7", func(b *testing.B) {
		for b.Loop() {
			_, _, c, err := s.heldOut(b.Context(), targets, folds, lambdas, nil)
			if err != nil {
				b.Fatal(err)
			}
			report(b, c)
		}
	})
	for _, lambda := range lambdas {
		b.Run(fmt.Sprintf("train/ridge=%g", lambda), func(b *testing.B) {
			for b.Loop() {
				_, c, err := trainAll(s, b.Context(), targets, lambda, nil)
				if err != nil {
					b.Fatal(err)
				}
				report(b, c)
			}
		})
	}
}
