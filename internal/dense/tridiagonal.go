package dense

import (
	"context"
	"math"
)

// Tridiagonal reduces the symmetric row-major n×n matrix a, of which it looks at the lower
// triangle, to the tridiagonal matrix T with diagonal d and e beside it:
//
//	A = Q T Qᵀ,   Q = H_{n−1} ⋯ H₁,   H_i = I − τ_i v vᵀ,
//
// where v has i entries, which it leaves in row i of a.
//
// H_i makes row i vanish up to its last entry before the diagonal. The rows above become
// H_i A H_i = A − v wᵀ − w vᵀ, which is put off until A is multiplied by the next v: so
// every entry is read and written once for every i. The error is that of the context.
func Tridiagonal(ctx context.Context, a []float64, n int) (d, e, tau []float64, err error) {
	d, e, tau = make([]float64, n), make([]float64, max(n-1, 0)), make([]float64, n)
	// The update that is due: u is the v of the row below.
	u, w, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		row := a[i*n : i*n+i+1]
		for j := range row {
			row[j] -= float64(u[i]*w[j]) + float64(w[i]*u[j])
		}
		d[i] = row[i]
		if i == 0 {
			break
		}
		v := row[:i]
		tau[i], e[i-1] = reflector(v)
		sweep(a, n, i, u, w, v, y)
		// w = τ(y − ½τ(vᵀy)v)
		k := tau[i] / 2 * Dot(v, y[:i])
		for j, x := range v {
			w[j] = tau[i] * (y[j] - float64(k*x))
		}
		copy(u, v)
	}
	return d, e, tau, nil
}

// reflector overwrites x with v, whose last entry is 1, such that (I − τvvᵀ)x = β·(0 … 0 1)ᵀ.
func reflector(x []float64) (tau, beta float64) {
	last := len(x) - 1
	alpha := x[last]
	rest := Dot(x[:last], x[:last])
	x[last] = 1
	if rest < 0x1p-960 { // nothing, or nearly: squares of less are not exact
		clear(x[:last])
		return 0, alpha
	}
	beta = -math.Copysign(math.Sqrt(float64(alpha*alpha)+rest), alpha)
	scale := 1 / (alpha - beta)
	for i := range last {
		x[i] *= scale
	}
	return (beta - alpha) / beta, beta
}

// Orthogonal overwrites a, τ being what Tridiagonal has left, with Q.
//
// From the first reflection on, a block of them H_{e−1} ⋯ H_s = I − VᵀTV, the rows of V being the
// v, is applied to the product of those before, which differs from I in its first s−1 rows and
// columns. The error is that of the context.
func Orthogonal(ctx context.Context, a []float64, n int, tau []float64) error {
	if n < 0 || len(a) != n*n || len(tau) != n {
		misuse("orthogonal matrix of order %d: %d and %d numbers", n, len(a), len(tau))
	}
	most := min(8*PanelWidth, n)
	var f right
	v, vt := make([]float64, most*n), make([]float64, most*n)
	w, y := make([]float64, most*n), make([]float64, most*n)
	g, t := make([]float64, most*most), make([]float64, most*most)
	identity := func(lo, hi int) {
		for i := range lo {
			clear(a[i*n+lo : i*n+hi])
		}
		for i := lo; i < hi; i++ {
			clear(a[i*n : i*n+hi])
			a[i*n+i] = 1
		}
	}
	for s := 1; s < n; s += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := min(s+most, n)
		count, m := e-s, e-1
		for r := range count {
			row := v[r*m:][:m]
			clear(row[copy(row, a[(s+r)*n:][:s+r]):])
			for i, x := range row {
				vt[i*count+r] = x
			}
		}
		identity(s-1, m)
		// T: each reflection times those before
		f.pack(v, m, m, count, true)
		clear(g)
		f.subtract(g, most, v, m, count)
		for r := range count {
			row := t[r*most:][:r]
			clear(row)
			for k, x := range g[r*most:][:r] {
				for j, z := range t[k*most:][:k+1] {
					row[j] = FMA(x, z, row[j])
				}
			}
			for j := range row {
				row[j] *= tau[s+r]
			}
			t[r*most+r] = tau[s+r]
			clear(t[r*most+r+1 : r*most+count])
		}
		// W = −VQ, Y = −TW, Q − VᵀY
		for r := range count {
			row := w[r*m:][:m]
			clear(row[:s-1])
			for j := s - 1; j < m; j++ {
				row[j] = -v[r*m+j]
			}
		}
		if s > 1 {
			f.pack(a, n, s-1, s-1, false)
			f.subtract(w, m, v, m, count)
		}
		f.pack(w, m, count, m, false)
		clear(y[:count*m])
		f.subtract(y, m, t, most, count)
		f.pack(y, m, count, m, false)
		f.subtract(a, n, vt, count, m)
	}
	if n > 0 {
		identity(n-1, n)
	}
	return nil
}
