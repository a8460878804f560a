package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// decomposition is a Gram matrix K = Q T Qᵀ with Q orthogonal and T symmetric tridiagonal. It takes
// O(n³) time once. After that everything about (K + λI)⁻¹ costs O(n²) for each λ. It replaces an
// eigendecomposition, and is its first step. It takes about a fifteenth of the time
// (bench/runs/2026-11-15-svm).
type decomposition struct {
	q         *kernel.Matrix // Q
	diag, off []float64      // T
}

// decompose decomposes a Gram matrix. It reads the lower triangle.
func decompose(ctx context.Context, gram View) (*decomposition, error) {
	m, err := copied(ctx, gram)
	if err != nil {
		return nil, err
	}
	n := m.Rows
	d := &decomposition{q: m}
	var tau []float64
	if d.diag, d.off, tau, err = dense.Tridiagonal(ctx, m.Data, n); err != nil {
		return nil, err
	}
	return d, dense.Orthogonal(ctx, m.Data, n, tau)
}

// copied returns a copy of a Gram matrix, or an error unless it is square and finite and has
// examples.
func copied(ctx context.Context, gram View) (*kernel.Matrix, error) {
	n, _ := gram.Dims()
	if err := gram.square(n); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("learn: no examples")
	}
	m := gram.Matrix()
	if k := slices.IndexFunc(m.Data, notFinite); k >= 0 {
		return nil, fmt.Errorf("learn: Gram matrix: row %d, column %d is %v, want a finite number", k/n, k%n, m.Data[k])
	}
	return m, ctx.Err()
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// shifted is the factorisation T + λI = L D Lᵀ, where L has ones on its diagonal and l
// below it.
type shifted struct {
	*decomposition
	l, d []float64
}

// shift factorises T + λI. It is ErrDefinite if K + λI is not positive definite in floating
// point.
func (d *decomposition) shift(lambda float64) (inverse, error) {
	n := len(d.diag)
	f := &shifted{decomposition: d, l: make([]float64, n-1), d: make([]float64, n)}
	for k := range n {
		f.d[k] = d.diag[k] + lambda
		if k > 0 {
			f.d[k] -= float64(f.l[k-1] * d.off[k-1])
		}
		if !(f.d[k] > 0) {
			return inverse{}, tooSmall(lambda)
		}
		if k < n-1 {
			f.l[k] = d.off[k] / f.d[k]
		}
	}
	return inverse{solve: f.solve, diagonal: f.diagonal}, nil
}

// solve returns (K + λI)⁻¹ v.
func (f *shifted) solve(v []float64) []float64 {
	n := len(f.d)
	x := make([]float64, n)
	for i := range n { // Qᵀv, row by row
		dense.Axpy(x, v[i], f.q.Row(i))
	}
	for k := 1; k < n; k++ {
		x[k] -= float64(f.l[k-1] * x[k-1])
	}
	for k := range x {
		x[k] /= f.d[k]
	}
	for k := n - 2; k >= 0; k-- {
		x[k] -= float64(f.l[k] * x[k+1])
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = dense.Dot(f.q.Row(i), x)
	}
	return out
}

// diagonal returns that of (K + λI)⁻¹,
//
//	Σ_k w_k² / D_k,   w = L⁻¹ Qᵀe_i,
//
// for four examples at a time, because the recurrence for one waits on itself.
func (f *shifted) diagonal() ([]float64, error) {
	n := len(f.d)
	out := make([]float64, n)
	i := 0
	for ; i+4 <= n; i += 4 {
		q0, q1, q2, q3 := f.q.Row(i), f.q.Row(i+1), f.q.Row(i+2), f.q.Row(i+3)
		var w0, w1, w2, w3, s0, s1, s2, s3, l float64
		for k, d := range f.d {
			w0, w1 = q0[k]-float64(l*w0), q1[k]-float64(l*w1)
			w2, w3 = q2[k]-float64(l*w2), q3[k]-float64(l*w3)
			r := 1 / d
			s0 += float64(w0 * w0 * r)
			s1 += float64(w1 * w1 * r)
			s2 += float64(w2 * w2 * r)
			s3 += float64(w3 * w3 * r)
			if k < n-1 {
				l = f.l[k]
			}
		}
		out[i], out[i+1], out[i+2], out[i+3] = s0, s1, s2, s3
	}
	for ; i < n; i++ {
		var w, l float64
		for k, q := range f.q.Row(i) {
			w = q - float64(l*w)
			out[i] += w * w / f.d[k]
			if k < n-1 {
				l = f.l[k]
			}
		}
	}
	return out, nil
}
