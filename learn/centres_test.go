package learn

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// givenFeatures returns a map and the features of examples whose Gram matrix is known.
func givenFeatures(t testing.TB, gram *kernel.Matrix) (kernel.Map, kernel.Features) {
	t.Helper()
	f, err := kernel.Precomputed{Matrix: gram}.Fit(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.Map, f.Train
}

// literalCentres solves the normal equations of a regression on centres with an intercept, of the examples
// that are not held out, by elimination:
//
//	( KᵀWK + λK_cc   KᵀW1 ) (α)   (KᵀWz)
//	( 1ᵀWK            1ᵀW1 ) (b) = (1ᵀWz)
func literalCentres(gram *kernel.Matrix, at, examples []int, z []float64, lambda float64, weights []float64) (alpha []float64, b float64) {
	m := len(at)
	a, v := kernel.NewMatrix(m+1, m+1), make([]float64, m+1)
	for _, i := range examples {
		x := append(pick(gram.Row(i), at), 1)
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		for p := range x {
			v[p] += w * z[i] * x[p]
			for q := range x {
				a.Data[p*(m+1)+q] += w * x[p] * x[q]
			}
		}
	}
	for p := range at {
		for q := range at {
			a.Data[p*(m+1)+q] += lambda * gram.At(at[p], at[q])
		}
	}
	for p := range v { // with pivots from the diagonal, which is positive
		for r := p + 1; r < len(v); r++ {
			f := a.At(r, p) / a.At(p, p)
			dense.Axpy(a.Row(r), -f, a.Row(p))
			v[r] -= f * v[p]
		}
	}
	for p := len(v) - 1; p >= 0; p-- {
		v[p] = (v[p] - dense.Dot(a.Row(p)[p+1:], v[p+1:])) / a.At(p, p)
	}
	return v[:m], v[m]
}

// literalDescent returns f(x) and g(x) of the step of descent for some examples, f being literalCentres of
// others.
func literalDescent(gram *kernel.Matrix, at, training, some []int, z []float64, lambda float64, weights []float64) (f, g []float64) {
	alpha, b := literalCentres(gram, at, training, z, lambda, weights)
	function := Function{Support: at, Coefficients: alpha, Bias: b}
	for _, x := range some {
		value := function.Value(gram.Row(x))
		gradient := -lambda * (value - b)
		for _, i := range training {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			gradient += w * (z[i] - function.Value(gram.Row(i))) * gram.At(x, i)
		}
		f, g = append(f, value), append(g, gradient)
	}
	return f, g
}

// Sums over examples give what elimination in the normal equations gives, for several targets far from 0,
// with weights or without, and the step of descent what its formula says. It makes errors smaller.
func TestCentres(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n, m = 700, 40
	gram, points := pointGram(rng, n, 3, 4, false)
	z := pointTargets(rng, points, 1)[0]
	at, everything := spaced(n, m), kernel.UpTo(n)
	folds := randomFolds(rng, n, 3)
	labels := make([]int, n)
	for i, x := range points {
		labels[i] = 3 + int(x[0])
	}
	k, train := givenFeatures(t, gram)
	for name, targets := range map[string]Targets{
		"values":          {Values: z},
		"weighted values": {Values: z, Weights: randomWeights(rng, n)},
		"classes":         {Labels: labels, Weights: randomWeights(rng, n)},
	} {
		c, err := NewCentres(t.Context(), k, train, at, targets, folds)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := targets.regressions()
		lambdas := []float64{0.01, 1}
		held, err := c.HeldOut(t.Context(), lambdas)
		if err != nil {
			t.Fatal(err)
		}
		for l, lambda := range lambdas {
			learner, err := c.Learn(t.Context(), held[l], nil, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := learner.Validate(); err != nil {
				t.Fatal(err)
			}
			for column, z := range columns {
				f, g := make([]float64, n), make([]float64, n)
				for fold := 0; fold < 6; fold += 2 {
					var training, some []int
					for i, f := range folds {
						if f == fold {
							some = append(some, i)
						} else {
							training = append(training, i)
						}
					}
					others := slices.DeleteFunc(slices.Clone(at), func(i int) bool { return folds[i] == fold })
					before, gradient := literalDescent(gram, others, training, some, z, lambda, targets.Weights)
					for k, i := range some {
						f[i], g[i] = before[k], gradient[k]
					}
				}
				along, square, error0, error1 := 0.0, 0.0, 0.0, 0.0
				for i := range n {
					w := targets.Weights.Of(i)
					along += w * g[i] * (z[i] - f[i])
					square += w * g[i] * g[i]
				}
				step := along / square
				for i := range n {
					got, want := held[l].Values.At(i, column), f[i]+step*g[i]
					if math.Abs(got-want) > 5e-5 {
						t.Fatalf("%s, target %d, ridge %v, example %d: %v, want %v", name, column, lambda, i, got, want)
					}
					w := targets.Weights.Of(i)
					error0 += w * (z[i] - f[i]) * (z[i] - f[i])
					error1 += w * (z[i] - got) * (z[i] - got)
				}
				if step <= 0 || error1 > 0.98*error0 {
					t.Errorf("%s, target %d, ridge %v: a step of %v makes the error %v from %v", name, column, lambda, step, error1, error0)
				}
				f, g = literalDescent(gram, at, everything, []int{5, 99}, z, lambda, targets.Weights)
				for k, i := range []int{5, 99} {
					if got, want := learner.Functions[column].Value(gram.Row(i)), f[k]+step*g[k]; math.Abs(got-want) > 5e-5 {
						t.Errorf("%s, target %d, ridge %v, example %d: %v, want %v", name, column, lambda, i, got, want)
					}
				}
			}
		}
	}
}

// With all examples as centres the regressions are those of the whole matrix, but for the rounding of kernel values
// in Sums: the kernel here is smooth, so coefficients are large. Centres that are equal under the kernel change nothing.
func TestCentresEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n = 300
	gram, points := pointGram(rng, n, 2, 5, false)
	twice := kernel.UpTo(2 * n) // every point is there twice, once as a centre, or both times
	for i := range twice {
		twice[i] /= 2
	}
	gram = gram.Select(twice, twice)
	targets := make([][]float64, 1)
	for i := range 2 * n {
		targets[0] = append(targets[0], math.Sin(points[i/2][0])+0.1*rng.NormFloat64())
	}
	folds := randomFolds(rng, 2*n, 4)
	want, learned := exactHeldOut(t, gram, targets, folds, 0.1, nil), exactRidge(t, gram, kernel.UpTo(2*n), targets, 0.1, nil)
	k, train := givenFeatures(t, gram)
	for _, m := range []int{n, 2 * n} {
		c, err := NewCentres(t.Context(), k, train, spaced(2*n, m), Targets{Values: targets[0]}, folds)
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.HeldOut(t.Context(), []float64{0.1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := c.Learn(t.Context(), held[0], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 * n {
			if got, want := l.Functions[0].Value(gram.Row(i)), learned[0].Value(gram.Row(i)); math.Abs(got-want) > 2e-3 {
				t.Fatalf("%d centres: example %d: %v, want %v", m, i, got, want)
			}
			// With one of two equal points as centre, a fold may have lost the centre and not the point.
			if got, want := held[0].Values.Data[i], want.Data[i]; m == 2*n && math.Abs(got-want) > 2e-3 {
				t.Fatalf("%d centres: held-out example %d: %v, want %v", m, i, got, want)
			}
		}
	}
}

// Deviations are those that the learner says for an example which it has not seen, and values lie in their
// intervals as often as they should. The nearest examples are those of the whole matrix. All of it has the
// same bits for any number of goroutines.
func TestCentresProcess(t *testing.T) {
	graphtest.Slow(t)
	rng := rand.New(rand.NewPCG(6, 1))
	const n, m = 900, 60
	gram, points := pointGram(rng, n, 3, 3, false)
	targets := Targets{Values: pointTargets(rng, points, 1)[0]}
	folds := randomFolds(rng, n, 5)
	k, train := givenFeatures(t, gram)
	var learners []*Learner
	for _, workers := range []int{1, 3} {
		ctx := work.WithWorkers(t.Context(), workers)
		c, err := NewCentres(ctx, k, train, spaced(n, m), targets, folds)
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.HeldOut(ctx, []float64{0.1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := c.Learn(ctx, held[0], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Learn(ctx, &Left{Ridge: 0.2}, nil, false); err == nil {
			t.Error("no error for a ridge that nothing is held out with")
		}
		learners = append(learners, l)
		for i, v := range tilesOf(t, gram).Nearest() {
			if math.Abs(c.Nearest()[i]-v) > 0x1p-24 {
				t.Fatalf("nearest of %d has %v, want %v", i, c.Nearest()[i], v)
			}
		}
	}
	l := learners[0]
	if o := learners[1]; !slices.Equal(l.LeaveOneOut.Data, o.LeaveOneOut.Data) || !slices.Equal(l.Process.LeaveOneOut, o.Process.LeaveOneOut) ||
		!slices.Equal(l.Functions[0].Coefficients, o.Functions[0].Coefficients) {
		t.Error("other bits with three goroutines")
	}
	inside := 0
	for i, d := range l.Process.LeaveOneOut {
		if math.Abs(targets.Values[i]-l.LeaveOneOut.Data[i]) < 1.645*d {
			inside++
		}
	}
	if inside < n*88/100 {
		t.Errorf("%d of %d in intervals of 90 %%", inside, n)
	}
	for i := 0; i < n; i += 31 {
		want := literalDeviation(t, gram, spaced(n, m), folds, i, 0.1)
		// Where more than a fifth of the nearest are in its fold, fewer than all are known.
		if got := l.Process.LeaveOneOut[i] / l.Process.Scale; math.Abs(got/want-1) > 0.005 {
			t.Errorf("example %d: deviation %v, want %v", i, got, want)
		}
	}
}

// literalDeviation returns the deviation of an example, noise included, in units of the scale: that of f from the nearest
// examples of other folds, and that of b from the centres of other folds.
func literalDeviation(t *testing.T, gram *kernel.Matrix, at, folds []int, i int, lambda float64) float64 {
	t.Helper()
	apart := func(j int) bool { return folds[j] == folds[i] }
	near := slices.DeleteFunc(kernel.UpTo(gram.Rows), apart)
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(gram.At(i, b), gram.At(i, a)) })
	solve := func(some []int, z []float64) []float64 {
		a := gram.Select(some, some)
		for k := range some {
			a.Data[k*len(some)+k] += lambda
		}
		if _, ok := dense.Cholesky(a.Data, len(some)); !ok {
			t.Fatal("not definite")
		}
		dense.SolveCholesky(a.Data, len(some), z)
		return z
	}
	near = near[:neighbours]
	k := gram.Select([]int{i}, near).Data
	v := gram.At(i, i) - dense.Dot(k, solve(near, slices.Clone(k)))
	others := slices.DeleteFunc(slices.Clone(at), apart)
	u := solve(others, ones(len(others)))
	b := 1 - dense.Dot(u, gram.Select([]int{i}, others).Data)
	return math.Sqrt(v + b*b/total(u) + lambda)
}

// Of a kernel whose values are nearly equal, as that of molecules of one kind is, numbers of u have both signs. What is said
// of examples that are held out is true of those that nobody has seen, and the density falls with the error.
func TestCentresNearlyEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const n, seen = 500, 300
	gram, points := pointGram(rng, n, 3, 0.6, false)
	values := make([]float64, n)
	for i, x := range points {
		values[i] = math.Sin(8*x[0]) + 3*x[1] + 0.05*rng.NormFloat64()
	}
	training := kernel.UpTo(seen)
	k, train := givenFeatures(t, gram.Select(training, training))
	c, err := NewCentres(t.Context(), k, train, training, Targets{Values: values[:seen]}, randomFolds(rng, seen, 5))
	if err != nil {
		t.Fatal(err)
	}
	ridges := []float64{1e-4, 1e-3, 1e-2, 0.1}
	held, err := c.HeldOut(t.Context(), ridges)
	if err != nil {
		t.Fatal(err)
	}
	var errors, densities []float64
	for r := range ridges {
		l, err := c.Learn(t.Context(), held[r], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		unseen := kernel.UpTo(n)[seen:]
		cross := gram.Select(unseen, training)
		told, err := l.Deviations(t.Context(), Full(cross), ones(len(unseen)), nil,
			func(_ context.Context, at []int) (*kernel.Matrix, error) { return gram.Select(at, at), nil })
		if err != nil {
			t.Fatal(err)
		}
		inside, square := 0, 0.0
		for p, i := range unseen {
			d := values[i] - l.Functions[0].Value(cross.Row(p))
			if square += d * d; math.Abs(d) < 1.645*told.Measured[p] {
				inside++
			}
		}
		if share := float64(inside) / float64(len(unseen)); share < 0.8 || share > 0.97 {
			t.Errorf("ridge %v: %.2f of the examples that nobody has seen are in intervals of 90 %%", ridges[r], share)
		}
		errors, densities = append(errors, square), append(densities, held[r].Density)
	}
	if best := slices.Index(densities, slices.Max(densities)); errors[best] > 1.05*slices.Min(errors) {
		t.Errorf("squared errors %v, densities %v", errors, densities)
	}
}

// What cannot be is an error that says so.
func TestCentresErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	gram, _ := pointGram(rng, 20, 2, 3, false)
	folds := randomFolds(rng, 20, 2)
	folds[0], folds[1] = 0, 2
	values := Targets{Values: ones(20)}
	for want, x := range map[string]struct {
		at      []int
		targets Targets
		folds   []int
		spoil   float64
	}{
		"0 centres":        {nil, values, folds, 1},
		"2 centres":        {[]int{3, 3}, values, folds, 1},
		"1 centres":        {[]int{20}, values, folds, 1},
		"19 targets":       {[]int{3}, Targets{Values: ones(19)}, folds, 1},
		"one fold":         {[]int{3}, values, make([]int, 20), 1},
		"examples 7 and 3": {[]int{3}, values, folds, math.NaN()},
	} {
		spoilt := gram.Select(kernel.UpTo(20), kernel.UpTo(20))
		spoilt.Data[7*20+3] = x.spoil
		k, train := givenFeatures(t, spoilt)
		if _, err := NewCentres(t.Context(), k, train, x.at, x.targets, x.folds); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	k, train := givenFeatures(t, gram)
	folds[2] = 0
	c, err := NewCentres(t.Context(), k, train, []int{0, 2}, values, folds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.HeldOut(t.Context(), []float64{1}); err == nil || !strings.Contains(err.Error(), "centres are in one fold") {
		t.Errorf("error %v for centres in one fold", err)
	}
	c, err = NewCentres(t.Context(), k, train, []int{0, 1}, values, folds)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.HeldOut(t.Context(), []float64{0}); err == nil {
		t.Error("no error for a ridge of 0")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.HeldOut(ctx, []float64{1}); err == nil {
		t.Error("no error when cancelled")
	}
}

// Equal examples with different values bound the noise from below, as they do without centres. Sets of equal
// examples are counted once, wherever their folds are.
func TestCentresReplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const n = 200
	gram, _ := pointGram(rng, n, 2, 5, false)
	twice := kernel.UpTo(2 * n)
	values := make([]float64, 2*n)
	for i := range twice {
		twice[i] /= 2
		values[i] = 10 * float64(i%2)
	}
	gram = gram.Select(twice, twice)
	k, train := givenFeatures(t, gram)
	c, err := NewCentres(t.Context(), k, train, spaced(2*n, n), Targets{Values: values}, randomFolds(rng, 2*n, 4))
	if err != nil {
		t.Fatal(err)
	}
	held, err := c.HeldOut(t.Context(), []float64{0.1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Learn(t.Context(), held[0], nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want, err := findReplicates(t.Context(), Full(gram), values, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := l.Process
	if p.Replicates != want.freedom || p.Replicates < n || math.Abs(p.ReplicateNoise-math.Sqrt(want.squares/float64(want.freedom))) > 1e-9 {
		t.Errorf("noise %v of %d replicates, want those of %+v", p.ReplicateNoise, p.Replicates, want)
	}
}
