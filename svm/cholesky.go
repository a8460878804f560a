package svm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// factor is the Cholesky factorisation of K + λI, for one ridge. It takes a quarter of the
// time of a Decomposition, with the diagonal of the inverse 0.6 of it (docs/svm.md).
type factor struct {
	l blas64.Triangular
	t blas64.Symmetric // what l was
}

// factorize factors K + λI.
func factorize(ctx context.Context, gram View, lambda float64) (*factor, error) {
	if !(lambda >= 0) || math.IsInf(lambda, 1) {
		return nil, fmt.Errorf("svm: ridge is %v, want a finite number, 0 or more", lambda)
	}
	m, err := copied(ctx, gram)
	if err != nil {
		return nil, err
	}
	n := m.Rows
	for i := range n {
		m.Data[i*n+i] += lambda
	}
	f := &factor{t: blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: m.Data}}
	var ok bool
	if f.l, ok = lapack64.Potrf(f.t); !ok {
		return nil, fmt.Errorf("svm: Gram matrix with ridge %v is not positive definite: want a larger ridge, or Clip", lambda)
	}
	return f, nil
}

func (f *factor) order() int { return f.l.N }

func (f *factor) solve(v []float64) []float64 {
	x := append([]float64(nil), v...)
	lapack64.Potrs(f.l, blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x})
	return x
}

// inverseDiagonal returns the diagonal of (K + λI)⁻¹, which takes the place of the factor:
// nothing can be solved afterwards.
func (f *factor) inverseDiagonal() []float64 {
	lapack64.Potri(f.l)
	out := make([]float64, f.t.N)
	for i := range out {
		out[i] = f.t.Data[i*f.t.Stride+i]
	}
	return out
}

// TrainRidge fits a kernel ridge regression to the targets for one ridge, faster than by a
// Decomposition. Without leaveOneOut its LeaveOneOut is nil, and it is three times as fast.
func TrainRidge(ctx context.Context, gram View, targets []float64, lambda float64, leaveOneOut bool) (*Ridge, error) {
	f, err := factorize(ctx, gram, lambda)
	if err != nil {
		return nil, err
	}
	if len(targets) != f.order() {
		return nil, fmt.Errorf("svm: Gram matrix of %d examples, but %d targets", f.order(), len(targets))
	}
	if err := finite(targets); err != nil {
		return nil, err
	}
	return ridges(f, [][]float64{targets}, lambda, true, leaveOneOut)[0], nil
}

// TrainRidgeClassifier is TrainRidge for classes, as RidgePath is Ridge.
func TrainRidgeClassifier(ctx context.Context, gram View, labels []int, lambda float64, leaveOneOut bool) (*RidgeClassifier, error) {
	n, _ := gram.Dims()
	classes, targets, err := classTargets(labels, n)
	if err != nil {
		return nil, err
	}
	f, err := factorize(ctx, gram, lambda)
	if err != nil {
		return nil, err
	}
	return newRidgeClassifier(classes, ridges(f, targets, lambda, true, leaveOneOut), leaveOneOut), nil
}
