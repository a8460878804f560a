package mlg

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/spd"
)

// leadingEigen returns the p largest eigenvalues of the symmetric row-major n×n matrix k,
// descending, and their eigenvectors as columns of a row-major n×p matrix. It changes k.
// Fewer than p come back when n < p.
//
// Where most pairs are wanted, all are computed; where few, by tridiagonalisation. From
// krylovFrom rows on a block Krylov space is tried first: K restricted to it is diagonalised,
// and it is enlarged until the residuals of the p leading pairs are below 1e-13·λ₁·√n, or until it has
// more than a quarter of the rows.
func leadingEigen(k []float64, n, p, workers int) (values, vectors []float64, err error) {
	p = min(p, n)
	if n > krylovFrom && 8*p < n {
		if values, vectors, ok := krylov(k, n, p, workers); ok {
			return values, vectors, nil
		}
	}
	values, vectors, ok := someEigen(k, n, p, workers)
	if !ok {
		return nil, nil, errors.New("the eigenvalues of a Gram matrix did not converge")
	}
	fixSigns(vectors, n, p)
	return values, vectors, nil
}

// krylovFrom is about where trying a Krylov space takes less time than tridiagonalisation alone
// (BenchmarkLeadingEigen).
const krylovFrom = 2000

// someEigen is leadingEigen without Krylov spaces and without a choice of signs. It changes k.
func someEigen(k []float64, n, p, workers int) (values, vectors []float64, ok bool) {
	if n > 32 && 2*p < n {
		// The lower triangle is what topEigen changes; the diagonal is kept to undo that.
		diag := make([]float64, n)
		for i := range n {
			diag[i] = k[i*n+i]
		}
		if values, vectors, ok := topEigen(k, n, p, workers); ok {
			return values, vectors, true
		}
		for i := range n {
			k[i*n+i] = diag[i]
			for j := range i {
				k[i*n+j] = k[j*n+i]
			}
		}
	}
	all, v, ok := eigenSym(k, n)
	if !ok {
		return nil, nil, false
	}
	values, vectors = make([]float64, p), make([]float64, n*p)
	for j := range p {
		values[j] = all[n-1-j]
		for i := range n {
			vectors[i*p+j] = v[i*n+n-1-j]
		}
	}
	return values, vectors, true
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

// krylov is the block Lanczos process with full reorthogonalisation. Basis vectors are rows.
func krylov(k []float64, n, p, workers int) (values, vectors []float64, ok bool) {
	block := min(max(8, (p+1)/2), 32)
	limit := n / 4
	// The start does not matter; it is fixed so that results are reproducible.
	r := rand.New(rand.NewPCG(0x6b72796c6f76, uint64(n)))
	var basis, image, lower [][]float64 // v, K v, and the rows of K restricted to the basis
	add := func(candidates [][]float64) int {
		added := 0
		for _, v := range candidates {
			before := math.Sqrt(dot(v, v))
			for range 2 { // twice is enough
				for _, b := range basis {
					axpy(v, -dot(b, v), b)
				}
			}
			norm := math.Sqrt(dot(v, v))
			if !(norm > 1e-10*before) {
				continue // in the space already, but for rounding error
			}
			for i := range v {
				v[i] /= norm
			}
			basis = append(basis, v)
			added++
		}
		columns, product := make([]float64, n*added), make([]float64, n*added)
		for j, v := range basis[len(basis)-added:] {
			for i, x := range v {
				columns[i*added+j] = x
			}
		}
		spd.Project(product, k, columns, n, n, added)
		for j := range added {
			w := make([]float64, n)
			for i := range w {
				w[i] = product[i*added+j]
			}
			image = append(image, w)
		}
		return added
	}
	start := make([][]float64, block)
	for b := range start {
		start[b] = make([]float64, n)
		for i := range start[b] {
			start[b][i] = r.NormFloat64()
		}
	}
	add(start)
	next := len(basis)
	check := 2 * p
	for {
		d := len(basis)
		if d > limit {
			return nil, nil, false
		}
		exhausted := next == 0
		if d >= check || exhausted {
			check = d + max(block, d/3)
			t := make([]float64, d*d)
			for i := range d {
				if i == len(lower) {
					row := make([]float64, i+1)
					for j := range row {
						row[j] = dot(basis[j], image[i])
					}
					lower = append(lower, row)
				}
				for j, x := range lower[i] {
					t[i*d+j], t[j*d+i] = x, x
				}
			}
			if d < p {
				return nil, nil, false
			}
			small, coefficients, ok := someEigen(t, d, p, workers)
			if !ok {
				return nil, nil, false
			}
			values, vectors = small, make([]float64, n*p)
			worst := 0.0
			res, vec := make([]float64, n), make([]float64, n)
			for j := range p {
				clear(res)
				clear(vec)
				for i := range d {
					c := coefficients[i*p+j]
					axpy(vec, c, basis[i])
					axpy(res, c, image[i])
				}
				axpy(res, -values[j], vec)
				worst = max(worst, math.Sqrt(dot(res, res)))
				for i := range n {
					vectors[i*p+j] = vec[i]
				}
			}
			if worst <= 1e-13*values[0]*math.Sqrt(float64(n)) {
				fixSigns(vectors, n, p)
				return values, vectors, true
			}
			if exhausted {
				return nil, nil, false
			}
		}
		candidates := make([][]float64, next)
		for i := range candidates {
			candidates[i] = append([]float64(nil), image[d-next+i]...)
		}
		next = add(candidates)
	}
}

func axpy(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] += a * v
	}
}
