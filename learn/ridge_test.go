package learn

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// ridgeOptions asks for kernel ridge regression with leave-one-out.
func ridgeOptions() Options {
	opt := DefaultOptions()
	opt.Kind, opt.LeaveOneOut = KernelRidge, true
	return opt
}

// ridges trains for some ridges.
func ridges(t *testing.T, gram View, targets Targets, lambdas ...float64) []*Learner {
	t.Helper()
	path, err := TrainPath(ctx, gram, targets, lambdas, ridgeOptions())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// without returns 0 … n−1 without i.
func without(n, i int) []int {
	var out []int
	for k := range n {
		if k != i {
			out = append(out, k)
		}
	}
	return out
}

func pick[T any](v []T, index []int) []T {
	var out []T
	for _, k := range index {
		out = append(out, v[k])
	}
	return out
}

// The fit satisfies its equations, and leave-one-out equals n refits.
func TestRidge(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{2, 3, 7, 33} {
		gram, _ := randomGram(rng, n, 5)
		z := make([]float64, n)
		for k := range z {
			z[k] = 10 + rng.NormFloat64()
		}
		lambdas := []float64{1e-3, 0.1, 10}
		for m, l := range ridges(t, Full(gram), Targets{Values: z}, lambdas...) {
			lambda, f := lambdas[m], l.Functions[0]
			sum := 0.0
			for k, b := range f.Coefficients {
				sum += b
				if v := dense.Dot(gram.Row(k), f.Coefficients) + lambda*b + f.Bias; math.Abs(v-z[k]) > 1e-9 {
					t.Errorf("n = %d, λ = %g: equation %d gives %.12g, want %.12g", n, lambda, k, v, z[k])
				}
			}
			if math.Abs(sum) > 1e-8/lambda {
				t.Errorf("n = %d, λ = %g: Σβ = %g", n, lambda, sum)
			}
			for i := range n {
				others := without(n, i)
				refit := ridges(t, Full(gram).Select(others, others), Targets{Values: pick(z, others)}, lambda)[0]
				want, err := refit.Values(Full(gram).Select([]int{i}, others))
				if err != nil {
					t.Fatal(err)
				}
				if got := l.LeaveOneOut.At(i, 0); math.Abs(got-want.Data[0]) > 1e-8 {
					t.Errorf("n = %d, λ = %g: without %d %.12g, refit %.12g", n, lambda, i, got, want.Data[0])
				}
			}
		}
	}
}

// Values in other units: what is learned in standard scores and scaled back is learned.
func TestRescale(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 40))
	gram, _ := randomGram(rng, 20, 5)
	x := make([]float64, 20)
	for k := range x {
		x[k] = 100 + 7*rng.NormFloat64()
	}
	z, mean, scale := StandardScores(x, nil)
	want, got := ridges(t, Full(gram), Targets{Values: x}, 0.1)[0], ridges(t, Full(gram), Targets{Values: z}, 0.1)[0]
	got.Rescale(mean, scale)
	v, err := got.Values(Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.Values(Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	if d := max(maxDifference(v.Data, w.Data), maxDifference(got.LeaveOneOut.Data, want.LeaveOneOut.Data)); d > 1e-10 {
		t.Errorf("values differ by %g", d)
	}
	if z, mean, scale := StandardScores([]float64{3, 3}, nil); z[0] != 0 || mean != 3 || scale != 3 {
		t.Errorf("constant values: %v, mean %v, scale %v", z, mean, scale)
	}
}

func TestRidgeClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	gram, labels := blobs(rng, 40, 3, 2)
	lambdas := []float64{0.01, 1, 100}
	for m, l := range ridges(t, Full(gram), Targets{Labels: labels}, lambdas...) {
		for i := range labels {
			others := without(len(labels), i)
			refit := ridges(t, Full(gram).Select(others, others), Targets{Labels: pick(labels, others)}, lambdas[m])[0]
			want, err := labelsOf(refit, Full(gram).Select([]int{i}, others))
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Class(l.LeaveOneOut.Row(i)); got != want[0] {
				t.Errorf("λ = %g, without %d: class %d, refit %d", lambdas[m], i, got, want[0])
			}
		}
	}
	if _, err := TrainPath(ctx, Full(gram), Targets{Labels: make([]int, 40)}, lambdas, ridgeOptions()); err == nil || !strings.Contains(err.Error(), "at least two classes") {
		t.Errorf("one class: %v", err)
	}
}

// Probabilities from leave-one-out values know the classes.
func TestRidgeProbability(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	for _, classes := range []int{2, 3, 5} {
		gram, labels := blobs(rng, 40, classes, 2)
		opt := ridgeOptions()
		opt.Ridge, opt.Probability = 0.1, true
		l, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Validate(); err != nil {
			t.Fatal(err)
		}
		right := 0
		p := probabilities(t, l, Full(gram))
		for i, label := range labels {
			if l.Classes[slices.Index(p.Row(i), slices.Max(p.Row(i)))] == label {
				right++
			}
		}
		if share := float64(right) / float64(len(labels)); share < 0.8 {
			t.Errorf("%d classes: the most probable class is right for %v of the examples", classes, share)
		}
	}
}

func TestRidgeErrors(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 2, 1}} // eigenvalues 3 and −1
	bad := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, math.NaN(), 0, 1}}
	for _, c := range []struct {
		gram   *kernel.Matrix
		values []float64
		lambda float64
		want   string
	}{
		{gram, []float64{1, 2}, 0.5, "ridge 0.5 is not positive definite"},
		{gram, []float64{1}, 2, "2 examples and 1 targets"},
		{gram, []float64{1, 2}, math.NaN(), "Ridge = NaN"},
		{bad, []float64{1, 2}, 1, "row 0, column 1 is NaN"},
		{kernel.NewMatrix(2, 2), []float64{1, 2}, 0, "not positive definite"},
	} {
		for _, lambdas := range [][]float64{{c.lambda}, {c.lambda, c.lambda}} {
			if _, err := TrainPath(ctx, Full(c.gram), Targets{Values: c.values}, lambdas, ridgeOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d ridges: error %v, want %q", len(lambdas), err, c.want)
			}
		}
	}
	path, err := TrainPath(ctx, Full(gram), Targets{Values: []float64{1, 2}}, []float64{0.5, 1.5}, ridgeOptions())
	if !errors.Is(err, ErrDefinite) || path[0] != nil || path[1] == nil {
		t.Errorf("%v and error %v, want the ridge above the negative eigenvalue alone", path, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := TrainPath(cancelled, Full(gram), Targets{Values: []float64{1, 2}}, []float64{2, 3}, ridgeOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Clip(cancelled, Full(gram)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestClip(t *testing.T) {
	// Eigenvalues 3 of (1,1)/√2 and −1 of (1,−1)/√2: what is left is 3/2 everywhere.
	small, err := Clip(ctx, Full(&kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 2, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range small.Gram.Data {
		if math.Abs(v-1.5) > 1e-14 {
			t.Errorf("clipped %v, want 1.5", small.Gram.Data)
		}
	}
	if small.Negative.Rows != 1 {
		t.Errorf("%d negative eigenvalues", small.Negative.Rows)
	}

	rng := rand.New(rand.NewPCG(37, 38))
	n := 40
	gram := kernel.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			v := rng.NormFloat64()
			gram.Set(i, j, v)
			gram.Set(j, i, v)
		}
	}
	c, err := Clip(ctx, Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	if mapped := c.Map(Full(gram)); maxDifference(mapped.Data, c.Gram.Data) > 1e-12 {
		t.Error("training rows are not mapped to the clipped Gram matrix")
	}
	extremes := func(m *kernel.Matrix) (smallest, largest float64) {
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(n, slices.Clone(m.Data)), false)
		values := e.Values(nil)
		return values[0], values[n-1]
	}
	_, want := extremes(gram)
	if low, high := extremes(c.Gram); low < -1e-12 || math.Abs(high-want) > 1e-12 {
		t.Errorf("clipped eigenvalues from %g to %g, want 0 to %g", low, high, want)
	}
	// A positive semi-definite matrix stays as it is, up to rounding.
	psd, _ := randomGram(rng, n, 2*n)
	if c, err = Clip(ctx, Full(psd)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Gram.Data, psd.Data) {
		t.Error("a positive definite matrix was changed")
	}
}

func maxDifference(a, b []float64) float64 {
	d := 0.0
	for k := range a {
		d = max(d, math.Abs(a[k]-b[k]))
	}
	return d
}

// One ridge by Cholesky is what a decomposition gives.
func TestOneRidge(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	gram, labels := blobs(rng, 60, 3, 2)
	z := make([]float64, len(labels))
	for k := range z {
		z[k] = 3 + rng.NormFloat64()
	}
	lambdas := []float64{0.01, 1}
	for _, targets := range []Targets{{Values: z}, {Labels: labels}} {
		for m, want := range ridges(t, Full(gram), targets, lambdas...) {
			for _, loo := range []bool{false, true} {
				opt := ridgeOptions()
				opt.Ridge, opt.LeaveOneOut = lambdas[m], loo
				got, err := Train(ctx, Full(gram), targets, opt)
				if err != nil {
					t.Fatal(err)
				}
				for k, f := range want.Functions {
					if g := got.Functions[k]; maxDifference(append(g.Coefficients, g.Bias), append(f.Coefficients, f.Bias)) > 1e-9 {
						t.Errorf("λ = %g: function %d differs", lambdas[m], k)
					}
				}
				if !loo && got.LeaveOneOut != nil {
					t.Error("leave-one-out though not asked for")
				}
				if loo && maxDifference(got.LeaveOneOut.Data, want.LeaveOneOut.Data) > 1e-9 {
					t.Errorf("λ = %g: leave-one-out values differ", lambdas[m])
				}
			}
		}
	}
}
