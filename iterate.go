package mlg

import (
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
)

// mostFill is the number of multiplications up to which a quotient is factored. The factor of a
// large graph without small separators, such as a random one of 10 000 vertices, is nearly full.
// Above, conjugate gradients solve to settled instead. It is a variable for tests.
var mostFill = 1e9

const (
	// settled is the residual at which conjugate gradients stop, as a share of the right-hand side.
	settled = 0x1p-50
	// mostIterations is the largest number of steps. It suffices for d/η up to 40 000; what takes more
	// is factored.
	mostIterations = 5000
)

// gram adds ZᵀA⁻¹Z to the packed matrix dst. Z is the m×p matrix y in row-major order, which is
// overwritten. ok is false when a sum of edge weights is not finite.
func (e *eliminator) gram(dst []float64, q *graph.Quotient, eta float64, y []float64, p int) (ok bool) {
	m := q.Cells()
	e.sparse.expect(q, p)
	if m > denseCells && !e.sparse.order(q, mostFill) {
		if e.iteration.run(q, eta, y, p, e.sparse.over, e.sparse.reached) {
			for i := range p { // symmetric but for rounding
				for j := range i + 1 {
					sum := 0.0
					for k := 0; k < m*p; k += p {
						sum += float64(y[k+i]*e.iteration.x[k+j]) + float64(y[k+j]*e.iteration.x[k+i])
					}
					dst[spd.Index(i, j)] += sum / 2
				}
			}
			return true
		}
		e.sparse.order(q, math.Inf(1))
	}
	if m <= denseCells {
		ok = e.small(q, eta, y, p)
	} else {
		ok = e.sparse.forward(q, eta, y, p)
	}
	if ok {
		spd.AddGram(dst, y[:m*p], m, p)
	}
	return ok
}

// solve returns A⁻¹Z for the m×p matrix Z = y, which is overwritten. ok is false when a sum of edge
// weights is not finite.
func (e *eliminator) solve(q *graph.Quotient, eta float64, y []float64, p int) (x []float64, ok bool) {
	if !e.sparse.order(q, mostFill) {
		if e.iteration.run(q, eta, y, p, e.sparse.over, e.sparse.reached) {
			return e.iteration.x, true
		}
		e.sparse.order(q, math.Inf(1))
	}
	if !e.sparse.forward(q, eta, y, p) {
		return nil, false
	}
	e.iteration.x = dense.Grow(e.iteration.x, q.Cells()*p)
	e.sparse.back(e.iteration.x, y, p)
	return e.iteration.x, true
}

// iteration solves A X = Z for large sparse matrices A = N L_q by conjugate gradients, preconditioned
// by the diagonal. The eigenvalues of the preconditioned matrix lie between η/(d+η) and 2, d the
// largest degree, so it takes O(√(d/η)) steps at most, each in O(e p) time for e edges and p columns.
// Columns are solved beside each other, and each stops by itself, so that no column depends on
// another. It holds the buffers of one worker.
type iteration struct {
	diag       []float64 // of A
	x          []float64 // the solution
	r, d, next []float64 // residual, direction, A times direction
	rho, limit []float64 // by column
	product    []float64
}

// run sets x. It leaves y, which is Z, as it is. It returns false if a column does not settle, or
// nobody waits for the result any more. It tells reached how much of a solution is done.
func (s *iteration) run(q *graph.Quotient, eta float64, y []float64, p int, over func(step int) bool, reached func(order, solution float64)) bool {
	m := q.Cells()
	s.diag = rowSums(q, eta, s.diag)
	for i := range m {
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			s.diag[i] += q.Weight[e]
			s.diag[q.Nbr[e]] += q.Weight[e]
		}
	}
	for _, d := range s.diag {
		if !(d <= math.MaxFloat64) {
			return false
		}
	}
	s.x, s.r, s.d, s.next = dense.Grow(s.x, m*p), dense.Grow(s.r, m*p), dense.Grow(s.d, m*p), dense.Grow(s.next, m*p)
	s.rho, s.limit, s.product = dense.Grow(s.rho, p), dense.Grow(s.limit, p), dense.Grow(s.product, p)
	clear(s.x)
	copy(s.r, y[:m*p])
	s.precondition(s.d, p)
	s.columns(s.rho, s.r, s.d)
	for c, v := range s.rho {
		if !(v <= math.MaxFloat64) {
			return false
		}
		s.limit[c] = settled * settled * v
	}
	for step := range mostIterations {
		open := false
		for c, v := range s.rho {
			open = open || v > s.limit[c]
		}
		if !open {
			return true
		}
		if over(step) || !s.step(q, eta, p) {
			return false
		}
		reached(1, s.share())
	}
	return false
}

// share returns how far the column that is farthest from its limit has come. Residuals fall by about the
// same factor in every step.
func (s *iteration) share() float64 {
	least := 1.0
	for c, v := range s.rho {
		if v > s.limit[c] {
			least = min(least, 1-math.Log(v/s.limit[c])/math.Log(1/(settled*settled)))
		}
	}
	return max(0, least)
}

// step goes one step on in every column that is not settled.
func (s *iteration) step(q *graph.Quotient, eta float64, p int) bool {
	s.multiply(q, eta, p)
	s.columns(s.product, s.d, s.next)
	for c, v := range s.rho {
		if v <= s.limit[c] {
			s.product[c] = 0
		} else if s.product[c] = v / s.product[c]; !(s.product[c] <= math.MaxFloat64) {
			return false
		}
	}
	for k := 0; k < len(s.r); k += p {
		x, r, d, next := s.x[k:k+p], s.r[k:k+p], s.d[k:k+p], s.next[k:k+p]
		for c, a := range s.product {
			x[c] += float64(a * d[c])
			r[c] -= float64(a * next[c])
		}
	}
	s.precondition(s.next, p)
	s.columns(s.product, s.r, s.next)
	for c, v := range s.product {
		if s.rho[c] > s.limit[c] {
			s.rho[c], s.product[c] = v, v/s.rho[c]
		} else {
			s.product[c] = 0
		}
	}
	for k := 0; k < len(s.d); k += p {
		d, next := s.d[k:k+p], s.next[k:k+p]
		for c, b := range s.product {
			d[c] = next[c] + float64(b*d[c])
		}
	}
	return true
}

// precondition sets dst to the residual over the diagonal.
func (s *iteration) precondition(dst []float64, p int) {
	for i, d := range s.diag {
		for c, v := range s.r[i*p : (i+1)*p] {
			dst[i*p+c] = v / d
		}
	}
}

// columns sets dst to the dot products of the columns of two matrices.
func (s *iteration) columns(dst, a, b []float64) {
	clear(dst)
	p := len(dst)
	for k := 0; k < len(a); k += p {
		for c, v := range a[k : k+p] {
			dst[c] += float64(v * b[k+c])
		}
	}
}

// multiply sets next = A d. A row is its sum times d, and for each edge its weight times the
// difference of d at its ends.
func (s *iteration) multiply(q *graph.Quotient, eta float64, p int) {
	for i, n := range q.Size {
		f := eta * float64(n)
		for c, v := range s.d[i*p : (i+1)*p] {
			s.next[i*p+c] = f * v
		}
	}
	for i := range q.Cells() {
		di, ni := s.d[i*p:(i+1)*p], s.next[i*p:(i+1)*p]
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			j, w := int(q.Nbr[e]), q.Weight[e]
			dj, nj := s.d[j*p:(j+1)*p], s.next[j*p:(j+1)*p]
			for c, v := range di {
				f := w * (v - dj[c])
				ni[c] += f
				nj[c] -= f
			}
		}
	}
}
