package dense

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Eigen returns the eigenvalues of a symmetric row-major n×n matrix, ascending, and its
// eigenvectors as columns of a row-major matrix. ok is false if they do not converge.
func Eigen(a []float64, n int) (values, vectors []float64, ok bool) {
	if n == 0 {
		return nil, nil, true
	}
	q, most := slices.Clone(a), 0.0
	for _, x := range a {
		most = max(most, math.Abs(x))
	}
	_, power := math.Frexp(most)
	if -300 < power && power < 300 {
		power = 0
	}
	for i := range q {
		q[i] = math.Ldexp(q[i], -power) // so that squares do not overflow
	}
	d, e, tau, err := Tridiagonal(context.Background(), q, n)
	if err != nil || Orthogonal(context.Background(), q, n, tau) != nil {
		return nil, nil, false
	}
	rows := make([]float64, n*n) // eigenvectors
	for i := range n {
		for j := range n {
			rows[j*n+i] = q[i*n+j]
		}
	}
	if !QL(d, append(e, 0), rows, n) {
		return nil, nil, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[i], d[j]) })
	for k, r := range order {
		values = append(values, math.Ldexp(d[r], power))
		for i, x := range rows[r*n : (r+1)*n] {
			q[i*n+k] = x
		}
	}
	return values, q, true
}

// LeadingEigen returns the p largest eigenvalues of the symmetric row-major n×n matrix a,
// descending, and their eigenvectors as columns of a row-major n×p matrix. It changes a. Fewer than
// p come back when n < p. The largest entry of a vector is positive. Where few are wanted they are
// found by inverse iteration, else all are computed. The error says that they do not converge, or is that of
// the context.
func LeadingEigen(ctx context.Context, a []float64, n, p, workers int) (values, vectors []float64, err error) {
	p = min(p, n)
	if n > 32 && 2*p < n {
		// The lower triangle is what topEigen changes; the diagonal is kept to undo that.
		diag := make([]float64, n)
		for i := range n {
			diag[i] = a[i*n+i]
		}
		values, vectors, ok := topEigen(ctx, a, n, p, workers)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if ok {
			fixSigns(vectors, n, p)
			return values, vectors, nil
		}
		for i := range n {
			a[i*n+i] = diag[i]
			for j := range i {
				a[i*n+j] = a[j*n+i]
			}
		}
	}
	all, v, ok := Eigen(a, n)
	if !ok {
		return nil, nil, errors.New("the eigenvalues of a Gram matrix did not converge")
	}
	values, vectors = make([]float64, p), make([]float64, n*p)
	for j := range p {
		values[j] = all[n-1-j]
		for i := range n {
			vectors[i*p+j] = v[i*n+n-1-j]
		}
	}
	fixSigns(vectors, n, p)
	return values, vectors, nil
}

// fixSigns makes the entry of largest magnitude of every column positive, the first of them
// on a tie.
func fixSigns(v []float64, n, p int) {
	for j := range p {
		best := 0.0
		for i := range n {
			if x := v[i*p+j]; math.Abs(x) > math.Abs(best)*(1+1e-9) {
				best = x
			}
		}
		if best < 0 {
			for i := range n {
				v[i*p+j] = -v[i*p+j]
			}
		}
	}
}

// SingularValues returns the singular values of the row-major r×c matrix a, descending. ok is false
// if they do not converge.
func SingularValues(a []float64, r, c int) (values []float64, ok bool) {
	if r == 0 || c == 0 {
		return nil, true
	}
	var s mat.SVD
	if !s.Factorize(mat.NewDense(r, c, a), mat.SVDNone) {
		return nil, false
	}
	return s.Values(nil), true
}
