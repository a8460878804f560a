package mlg

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
)

// sparseFactor factors large sparse matrices A = N L_q and solves with the factor. It holds
// the buffers of one worker.
type sparseFactor struct {
	perm, inv []int32 // perm[k] is the cell eliminated at step k

	// Upper triangle of the permuted matrix by columns: rows above the diagonal.
	cp   []int32
	ci   []int32
	cx   []float64
	diag []float64

	parent []int32 // elimination tree
	mark   []int32
	path   []int32
	stack  []int32

	// Factor by columns, entries below the diagonal.
	lp   []int
	next []int
	li   []int32
	lx   []float64
	ld   []float64
	x    []float64
	copy []float64
}

// run overwrites y, the m×p matrix N q, with C⁻¹ N q for A = C Cᵀ, in order of elimination.
func (s *sparseFactor) run(q *graph.Quotient, eta float64, y []float64, p int) bool {
	m := q.Cells()
	s.order(q)
	s.permute(q, eta)
	s.tree(m)
	if !s.factor(m) {
		return false
	}
	// Forward substitution with all right-hand sides at once.
	s.copy = append(s.copy[:0], y[:m*p]...)
	for k := range m {
		copy(y[k*p:(k+1)*p], s.copy[int(s.perm[k])*p:])
	}
	for k := range m {
		row := y[k*p : (k+1)*p]
		d := 1 / s.ld[k]
		for c := range row {
			row[c] *= d
		}
		for e := s.lp[k]; e < s.next[k]; e++ {
			f := s.lx[e]
			dst := y[int(s.li[e])*p:][:p]
			for c, v := range row {
				dst[c] -= f * v
			}
		}
	}
	return true
}

func grow32(s []int32, n int) []int32 { return slices.Grow(s[:0], n)[:n] }

// order sets perm and inv to an approximate minimum-degree order (after Amestoy, Davis and
// Duff): eliminated cells become elements, whose cells are neighbours of each other; the
// degree of a cell is bounded by the sum of the sizes of its elements.
func (s *sparseFactor) order(q *graph.Quotient) {
	m := q.Cells()
	s.perm, s.inv = grow32(s.perm, m), grow32(s.inv, m)
	vars := make([][]int32, m)  // by cell: neighbours not in a common element
	elems := make([][]int32, m) // by cell: elements that hold it
	cells := make([][]int32, m) // by element (named by its pivot): its cells
	for i := range m {
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			j := q.Nbr[e]
			vars[i] = append(vars[i], j)
			vars[j] = append(vars[j], int32(i))
		}
	}
	degree := make([]int32, m)
	var heap degreeHeap
	heap.init(m)
	for i := range m {
		degree[i] = int32(len(vars[i]))
		heap.push(int32(i), degree[i])
	}
	done := make([]bool, m)   // eliminated
	dead := make([]bool, m)   // element absorbed by another
	stamp := make([]int32, m) // step+1 at which a cell entered the current element
	w := make([]int32, m)     // by element: its cells outside the current one
	wStamp := make([]int32, m)
	for step := range m {
		p := heap.pop(degree, done)
		s.perm[step], s.inv[p] = p, int32(step)
		done[p] = true
		now := int32(step + 1)
		// The new element: all neighbours of p.
		var lp []int32
		add := func(list []int32) {
			for _, u := range list {
				if !done[u] && stamp[u] != now {
					stamp[u] = now
					lp = append(lp, u)
				}
			}
		}
		add(vars[p])
		for _, e := range elems[p] {
			if !dead[e] {
				add(cells[e])
				dead[e] = true
				cells[e] = nil
			}
		}
		vars[p], elems[p] = nil, nil
		cells[p] = lp
		for _, u := range lp {
			for _, e := range elems[u] {
				if dead[e] {
					continue
				}
				if wStamp[e] != now {
					wStamp[e] = now
					n := int32(0)
					for _, c := range cells[e] {
						if !done[c] {
							n++
						}
					}
					w[e] = n
				}
				w[e]--
			}
		}
		for _, u := range lp {
			keep := elems[u][:0]
			d := int32(len(lp) - 1)
			for _, e := range elems[u] {
				if dead[e] {
					continue
				}
				if w[e] == 0 { // all its cells are in the new element: absorbed
					dead[e] = true
					cells[e] = nil
					continue
				}
				keep = append(keep, e)
				d += w[e]
			}
			elems[u] = append(keep, p)
			kv := vars[u][:0]
			for _, c := range vars[u] {
				if !done[c] && stamp[c] != now {
					kv = append(kv, c)
				}
			}
			vars[u] = kv
			d += int32(len(kv))
			degree[u] = min(d, int32(m-step-2))
			heap.push(u, degree[u])
		}
	}
}

// degreeHeap hands out cells by degree, then number. An entry is (degree, cell); those that
// are out of date are skipped.
type degreeHeap struct{ h []uint64 }

func (d *degreeHeap) init(n int) { d.h = make([]uint64, 0, 2*n) }

func (d *degreeHeap) push(cell, degree int32) {
	d.h = append(d.h, uint64(degree)<<32|uint64(cell))
	for i := len(d.h) - 1; i > 0; {
		up := (i - 1) / 2
		if d.h[up] <= d.h[i] {
			break
		}
		d.h[up], d.h[i] = d.h[i], d.h[up]
		i = up
	}
}

// pop returns the first cell whose entry is up to date.
func (d *degreeHeap) pop(degree []int32, done []bool) int32 {
	for {
		top := d.h[0]
		last := len(d.h) - 1
		d.h[0] = d.h[last]
		d.h = d.h[:last]
		for i := 0; ; {
			c := 2*i + 1
			if c >= last {
				break
			}
			if c+1 < last && d.h[c+1] < d.h[c] {
				c++
			}
			if d.h[i] <= d.h[c] {
				break
			}
			d.h[i], d.h[c] = d.h[c], d.h[i]
			i = c
		}
		cell := int32(uint32(top))
		if !done[cell] && degree[cell] == int32(top>>32) {
			return cell
		}
	}
}

// permute sets cp, ci, cx and diag to the permuted matrix A.
func (s *sparseFactor) permute(q *graph.Quotient, eta float64) {
	m := q.Cells()
	s.diag = dense.Grow(s.diag, m)
	s.cp = grow32(s.cp, m+1)
	clear(s.cp)
	for i := range m {
		s.diag[i] = eta * float64(q.Size[s.perm[i]])
	}
	for i := range m {
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			a, b := s.inv[i], s.inv[q.Nbr[e]]
			s.cp[max(a, b)+1]++
			s.diag[a] += q.Weight[e]
			s.diag[b] += q.Weight[e]
		}
	}
	for k := range m {
		s.cp[k+1] += s.cp[k]
	}
	nnz := int(s.cp[m])
	s.ci, s.cx = grow32(s.ci, nnz), dense.Grow(s.cx, nnz)
	s.path = append(s.path[:0], s.cp[:m]...)
	for i := range m {
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			a, b := s.inv[i], s.inv[q.Nbr[e]]
			hi := max(a, b)
			at := s.path[hi]
			s.path[hi]++
			s.ci[at], s.cx[at] = min(a, b), -q.Weight[e]
		}
	}
}

// tree finds the elimination tree and the sizes of the columns of the factor.
func (s *sparseFactor) tree(m int) {
	s.parent, s.mark = grow32(s.parent, m), grow32(s.mark, m)
	if cap(s.lp) < m+1 {
		s.lp, s.next = make([]int, m+1), make([]int, m)
	}
	s.lp, s.next = s.lp[:m+1], s.next[:m]
	ancestor := make([]int32, m)
	for k := range m {
		s.parent[k], ancestor[k] = -1, -1
		for e := s.cp[k]; e < s.cp[k+1]; e++ {
			for i := s.ci[e]; i >= 0 && i < int32(k); {
				up := ancestor[i]
				ancestor[i] = int32(k)
				if up < 0 {
					s.parent[i] = int32(k)
				}
				i = up
			}
		}
	}
	clear(s.lp)
	for i := range s.mark {
		s.mark[i] = -1
	}
	for k := range m {
		s.mark[k] = int32(k)
		for e := s.cp[k]; e < s.cp[k+1]; e++ {
			for i := s.ci[e]; s.mark[i] != int32(k); i = s.parent[i] {
				s.mark[i] = int32(k)
				s.lp[i+1]++
			}
		}
	}
	for k := range m {
		s.lp[k+1] += s.lp[k]
	}
	nnz := s.lp[m]
	s.li, s.lx = grow32(s.li, nnz), dense.Grow(s.lx, nnz)
}

// factor computes the Cholesky factor row by row.
func (s *sparseFactor) factor(m int) bool {
	s.x, s.ld = dense.Grow(s.x, m), dense.Grow(s.ld, m)
	clear(s.x)
	copy(s.next, s.lp[:m])
	for i := range s.mark {
		s.mark[i] = -1
	}
	s.stack = grow32(s.stack, m)
	for k := range m {
		// Pattern of row k in topological order: paths in the tree from the entries of
		// column k up to k.
		top := m
		s.mark[k] = int32(k)
		for e := s.cp[k]; e < s.cp[k+1]; e++ {
			i := s.ci[e]
			s.x[i] = s.cx[e]
			s.path = s.path[:0]
			for ; s.mark[i] != int32(k); i = s.parent[i] {
				s.mark[i] = int32(k)
				s.path = append(s.path, i)
			}
			for n := len(s.path); n > 0; {
				n--
				top--
				s.stack[top] = s.path[n]
			}
		}
		d := s.diag[k]
		for _, i := range s.stack[top:m] {
			lki := s.x[i] / s.ld[i]
			s.x[i] = 0
			lo, hi := s.lp[i], s.next[i]
			rows, vals := s.li[lo:hi], s.lx[lo:hi]
			for t, r := range rows {
				s.x[r] -= vals[t] * lki
			}
			d -= lki * lki
			s.li[hi], s.lx[hi] = int32(k), lki
			s.next[i] = hi + 1
		}
		if !(d > 0) {
			return false
		}
		s.ld[k] = math.Sqrt(d)
	}
	return true
}
