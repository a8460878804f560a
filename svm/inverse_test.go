package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWithout: a Cholesky factor, and what follows from the inverse of all examples, give what the
// decomposition of the part's own matrix gives.
func TestWithout(t *testing.T) {
	gram, labels := dataset(t, "MUTAG", 2)
	n := len(labels)
	rng := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, n)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	for _, lambda := range []float64{0.01, 1} {
		inverse, err := Invert(ctx, Full(gram), lambda)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []int{0, 1, 18, 100, n - 2} {
			held := rng.Perm(n)[:h]
			slices.Sort(held)
			rest, err := inverse.Without(held)
			if err != nil {
				t.Fatal(err)
			}
			var left, y []int
			var z []float64
			for i := range n {
				if !slices.Contains(held, i) {
					left, y, z = append(left, i), append(y, labels[i]), append(z, values[i])
				}
			}
			view := Full(gram).Select(left, left)
			d, err := Decompose(ctx, view)
			if err != nil {
				t.Fatal(err)
			}
			want, err := d.Ridge(z, lambda, true)
			if err != nil {
				t.Fatal(err)
			}
			single, err := TrainRidge(ctx, view, z, lambda, true)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rest.Ridge(z)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*Ridge{single, got} {
				compare(t, "coefficients", got.Coefficients, want.Coefficients)
				compare(t, "leave-one-out", got.LeaveOneOut, want.LeaveOneOut)
				compare(t, "bias", []float64{got.Bias}, []float64{want.Bias})
			}
			if slices.Min(y) == slices.Max(y) {
				continue
			}
			classes, err := TrainRidgeClassifier(ctx, view, y, lambda, true)
			if err != nil {
				t.Fatal(err)
			}
			found, err := rest.RidgeClassifier(y)
			if err != nil {
				t.Fatal(err)
			}
			for c := range classes.Ridges {
				compare(t, "class", found.Ridges[c].LeaveOneOut, classes.Ridges[c].LeaveOneOut)
			}
		}
		for _, held := range [][]int{{3, 2}, {1, 1}, {n}, {-1}} {
			if _, err := inverse.Without(held); err == nil {
				t.Errorf("%v held out: no error", held)
			}
		}
		rest, _ := inverse.Without([]int{2})
		if _, err := rest.Ridge(values); err == nil {
			t.Error("a target too many: no error")
		}
	}
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
