package spd

import "math"

// Tridiagonal reduces the symmetric row-major n×n matrix a, of which it looks at the lower
// triangle, to the tridiagonal matrix T with diagonal d and e beside it:
//
//	A = Q T Qᵀ,   Q = H_{n−1} ⋯ H₁,   H_i = I − τ_i v vᵀ,
//
// where v has i entries, which it leaves in row i of a.
//
// H_i makes row i vanish up to its last entry before the diagonal. The rows above become
// H_i A H_i = A − v wᵀ − w vᵀ, which is put off until A is multiplied by the next v: so
// every entry is read and written once for every i.
func Tridiagonal(a []float64, n int) (d, e, tau []float64) {
	d, e, tau = make([]float64, n), make([]float64, max(n-1, 0)), make([]float64, n)
	// The update that is due: u is the v of the row below.
	u, w, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		row := a[i*n : i*n+i+1]
		for j := range row {
			row[j] -= u[i]*w[j] + w[i]*u[j]
		}
		d[i] = row[i]
		if i == 0 {
			break
		}
		v := row[:i]
		tau[i], e[i-1] = reflector(v)
		Sweep(a, n, i, u, w, v, y)
		// w = τ(y − ½τ(vᵀy)v)
		k := tau[i] / 2 * dot(v, y[:i])
		for j, x := range v {
			w[j] = tau[i] * (y[j] - k*x)
		}
		copy(u, v)
	}
	return d, e, tau
}

// reflector overwrites x with v, whose last entry is 1, such that (I − τvvᵀ)x = β·(0 … 0 1)ᵀ.
func reflector(x []float64) (tau, beta float64) {
	last := len(x) - 1
	alpha := x[last]
	rest := dot(x[:last], x[:last])
	x[last] = 1
	if rest == 0 {
		return 0, alpha
	}
	beta = -math.Copysign(math.Sqrt(alpha*alpha+rest), alpha)
	scale := 1 / (alpha - beta)
	for i := range last {
		x[i] *= scale
	}
	return (beta - alpha) / beta, beta
}
