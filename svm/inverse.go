package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/spd"
)

// Inverse is A = (K + λI)⁻¹ for all examples of a Gram matrix. Ridge regressions on all but a few
// of them follow from it much faster than from their own matrix, so that one inverse serves many folds.
type Inverse struct {
	a      *mlg.Matrix
	lambda float64
}

// Invert computes the inverse. It takes O(n³) time, one and a half times that of TrainRidge with
// leave-one-out, and memory for three matrices, of which it keeps one.
func Invert(ctx context.Context, gram View, lambda float64) (*Inverse, error) {
	f, err := factorize(ctx, gram, lambda)
	if err != nil {
		return nil, err
	}
	spd.InvertCholesky(f.l.Data, f.l.Rows)
	return &Inverse{f.l, lambda}, nil
}

// Without returns the regressions on all examples but those that are held out, which are
// increasing. For h of n held out it takes O(nh²) time.
//
// With T for those that are left and H for the others,
//
//	(K_TT + λI)⁻¹ = A_TT − A_TH (A_HH)⁻¹ A_HT = A_TT − DDᵀ,   D = A_TH C⁻ᵀ,   A_HH = CCᵀ.
func (v *Inverse) Without(held []int) (*Rest, error) {
	n, h := v.a.Rows, len(held)
	r := &Rest{of: v, held: held}
	for i := range n {
		if _, ok := slices.BinarySearch(held, i); !ok {
			r.left = append(r.left, i)
		}
	}
	if len(r.left) != n-h || len(r.left) == 0 {
		return nil, fmt.Errorf("svm: %d of %d examples left without %d, want some, and increasing positions of the others", len(r.left), n, h)
	}
	r.c = make([]float64, h*h)
	for k, i := range held {
		gather(r.c[k*h:][:h], v.a.Row(i), held)
	}
	if !spd.Cholesky(r.c, h) {
		return nil, fmt.Errorf("svm: inverse of the Gram matrix with ridge %v is not positive definite: want a larger ridge, or Clip", v.lambda)
	}
	inverse := slices.Clone(r.c)
	spd.InverseDiagonal(inverse, h)
	transposed := make([]float64, h*h)
	for i := range h {
		for j := range i + 1 {
			transposed[j*h+i] = inverse[i*h+j]
		}
	}
	th := make([]float64, len(r.left)*h)
	for k, i := range r.left {
		gather(th[k*h:][:h], v.a.Row(i), held)
	}
	r.d = mlg.NewMatrix(len(r.left), h)
	spd.Project(r.d.Data, th, transposed, len(r.left), h, h)
	return r, nil
}

// Rest is the ridge regressions on all examples but some.
type Rest struct {
	of         *Inverse
	left, held []int
	c          []float64   // Cholesky factor of A_HH
	d          *mlg.Matrix // D
}

func (r *Rest) order() int { return len(r.left) }

// solve returns A_TT v − D C⁻¹ A_HT v.
func (r *Rest) solve(v []float64) []float64 {
	x := make([]float64, r.of.a.Rows)
	for k, i := range r.left {
		x[i] = v[k]
	}
	h := len(r.held)
	t := make([]float64, h)
	for k, i := range r.held {
		t[k] = (inner(r.of.a.Row(i), x) - inner(r.c[k*h:][:k], t[:k])) / r.c[k*h+k]
	}
	out := make([]float64, len(r.left))
	for k, i := range r.left {
		out[k] = inner(r.of.a.Row(i), x) - inner(r.d.Row(k), t)
	}
	return out
}

func (r *Rest) inverseDiagonal() []float64 {
	out := make([]float64, len(r.left))
	for k, i := range r.left {
		d := r.d.Row(k)
		out[k] = r.of.a.At(i, i) - inner(d, d)
	}
	return out
}

// Ridge fits a kernel ridge regression to the targets of the examples that are left, with leave-one-out.
func (r *Rest) Ridge(targets []float64) (*Ridge, error) {
	if len(targets) != r.order() {
		return nil, fmt.Errorf("svm: %d examples left, but %d targets", r.order(), len(targets))
	}
	if err := finite(targets); err != nil {
		return nil, err
	}
	return ridges(r, [][]float64{targets}, r.of.lambda, true, true)[0], nil
}

// RidgeClassifier is Ridge for classes.
func (r *Rest) RidgeClassifier(labels []int) (*RidgeClassifier, error) {
	classes, targets, err := classTargets(labels, r.order())
	if err != nil {
		return nil, err
	}
	return newRidgeClassifier(classes, ridges(r, targets, r.of.lambda, true, true), true), nil
}
