package mlg

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/work"
)

// entry is an entry of a column of a matrix.
type entry struct {
	row int32
	x   float64
}

// sparseFactor factors large sparse matrices A = N L_q and solves with the factor. It holds
// the buffers of one worker.
type sparseFactor struct {
	ctx context.Context // of the computation, which gives up when it ends; nil: never

	orderShare float64 // of the time; see expect

	perm, inv []int32 // perm[k] is the cell eliminated at step k

	lower [][]entry // by column of the factor: entries below the diagonal, by row
	diag  []float64 // its diagonal
	sums  []float64 // of the rows of what is left to factor

	first, next, at, mark []int32
	degrees               degrees

	x    []float64
	copy []float64
}

// over reports whether nobody waits for the result any more; it looks from time to time.
func (s *sparseFactor) over(step int) bool { return step%64 == 0 && s.ctx != nil && s.ctx.Err() != nil }

// expect sets the share of the order in the work on a quotient with so many columns: that of a full order
// beside a hundred steps of conjugate gradients. It only serves to tell how far the work has come.
func (s *sparseFactor) expect(q *graph.Quotient, p int) {
	steps := 800 * float64(q.Cells()+len(q.Nbr)) * float64(p)
	s.orderShare = mostFill / (mostFill + steps)
}

// reached tells how much is done of the order, and of the solution behind it; see work.Reached.
func (s *sparseFactor) reached(order, solution float64) {
	if s.ctx != nil {
		const fine = 1 << 20
		work.Reached(s.ctx, int((s.orderShare*order+(1-s.orderShare)*solution)*fine), fine)
	}
}

// forward overwrites y, the m×p matrix N q, with C⁻¹ N q for A = C Cᵀ, in the order of elimination that
// order has found.
func (s *sparseFactor) forward(q *graph.Quotient, eta float64, y []float64, p int) bool {
	m := q.Cells()
	s.permute(q, eta)
	if !s.factor() {
		return false
	}
	// Forward substitution with all right-hand sides at once.
	s.copy = append(s.copy[:0], y[:m*p]...)
	for k := range m {
		copy(y[k*p:(k+1)*p], s.copy[int(s.perm[k])*p:])
	}
	for k := range m {
		if s.over(k) {
			return false
		}
		s.reached(1, (3+float64(k)/float64(m))/4)
		row := y[k*p : (k+1)*p]
		d := 1 / s.diag[k]
		for c := range row {
			row[c] *= d
		}
		for _, e := range s.lower[k] {
			dst := y[int(e.row)*p:][:p]
			for c, v := range row {
				dst[c] -= float64(e.x * v)
			}
		}
	}
	return true
}

// back sets x to C⁻ᵀ y = A⁻¹ b for y = C⁻¹ b as run leaves it, p numbers a row, the rows in the order
// of the cells.
func (s *sparseFactor) back(x, y []float64, p int) {
	for k := len(s.diag) - 1; k >= 0; k-- {
		row := y[k*p : (k+1)*p]
		for _, e := range s.lower[k] {
			dense.Axpy(row, -e.x, y[int(e.row)*p:][:p])
		}
		d := 1 / s.diag[k]
		for c := range row {
			row[c] *= d
		}
		copy(x[int(s.perm[k])*p:][:p], row)
	}
}

// columns returns m empty columns with the memory of s.
func columns(s [][]entry, m int) [][]entry {
	s = slices.Grow(s[:0], m)[:m]
	for i := range s {
		s[i] = s[i][:0]
	}
	return s
}

func grow32(s []int32, n int) []int32 { return slices.Grow(s[:0], n)[:n] }

// order sets perm and inv to an approximate minimum-degree order (after Amestoy, Davis and Duff).
// Eliminated cells become elements, whose cells are neighbours of each other. The degree of a cell
// is bounded by the sum of the sizes of its elements. It gives up and returns false when the factor
// takes more than a number of multiplications.
func (s *sparseFactor) order(q *graph.Quotient, most float64) bool {
	m := q.Cells()
	s.perm, s.inv = grow32(s.perm, m), grow32(s.inv, m)
	d := &s.degrees
	d.reset(q)
	for i := range m {
		d.set(int32(i), int32(len(d.vars[i])))
	}
	all := min(most, math.MaxFloat64)
	for step := range m {
		s.reached((float64(step)/float64(m)+4*math.Cbrt(1-most/all))/5, 0) // the last steps take the most
		p := d.pop()
		s.perm[step], s.inv[p] = p, int32(step)
		d.eliminate(p, int32(step+1))
		if n := float64(len(d.cells[p])); n > 0 {
			if most = min(most, all) - n*n/2; most < 0 {
				return false
			}
		}
		for _, u := range d.cells[p] {
			d.set(u, min(d.update(u, p, int32(step+1)), int32(m-step-2)))
		}
	}
	return true
}

// degrees is the state of a minimum-degree order. Its lists keep their memory from one to the next.
type degrees struct {
	vars   [][]int32 // by cell: neighbours not in a common element
	elems  [][]int32 // by cell: elements that hold it
	cells  [][]int32 // by element (named by its pivot): its cells
	degree []int32
	done   []bool  // eliminated
	dead   []bool  // element absorbed by another
	stamp  []int32 // step at which a cell entered the current element
	w      []int32 // by element: its cells outside the current one
	wStamp []int32
	todo   degreeHeap
	edges  []int32 // all of vars
}

// reset begins with the cells of a quotient and their neighbours.
func (d *degrees) reset(q *graph.Quotient) {
	m := q.Cells()
	zero := func(s []int32) []int32 {
		s = grow32(s, m)
		clear(s)
		return s
	}
	lists := func(s [][]int32) [][]int32 {
		s = slices.Grow(s[:0], m)[:m]
		for i := range s {
			s[i] = s[i][:0]
		}
		return s
	}
	flags := func(s []bool) []bool {
		s = slices.Grow(s[:0], m)[:m]
		clear(s)
		return s
	}
	d.degree, d.stamp, d.w, d.wStamp = zero(d.degree), zero(d.stamp), zero(d.w), zero(d.wStamp)
	d.elems, d.cells, d.vars = lists(d.elems), lists(d.cells), slices.Grow(d.vars[:0], m)[:m]
	d.done, d.dead, d.todo = flags(d.done), flags(d.dead), d.todo[:0]
	for i := range m {
		d.degree[i] += int32(q.Off[i+1] - q.Off[i])
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			d.degree[q.Nbr[e]]++
		}
	}
	d.edges = grow32(d.edges, 2*len(q.Nbr))
	at := 0
	for i := range m { // each list has the place that it needs
		end := at + int(d.degree[i])
		d.vars[i], at = d.edges[at:at:end], end
	}
	for i := range m {
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			j := q.Nbr[e]
			d.vars[i] = append(d.vars[i], j)
			d.vars[j] = append(d.vars[j], int32(i))
		}
	}
}

// set sets the degree of a cell.
func (d *degrees) set(cell, degree int32) {
	d.degree[cell] = degree
	d.todo.push(uint64(degree)<<32 | uint64(cell))
}

// pop returns the cell of least degree, the first of them.
func (d *degrees) pop() int32 {
	for {
		top := d.todo.pop()
		if cell := int32(uint32(top)); !d.done[cell] && d.degree[cell] == int32(top>>32) { // up to date
			return cell
		}
	}
}

// eliminate makes an element of all neighbours of p, and counts the cells of theirs outside it.
func (d *degrees) eliminate(p, now int32) {
	d.done[p] = true
	cells := d.cells[p][:0]
	add := func(list []int32) {
		for _, u := range list {
			if !d.done[u] && d.stamp[u] != now {
				d.stamp[u] = now
				cells = append(cells, u)
			}
		}
	}
	add(d.vars[p])
	for _, e := range d.elems[p] {
		if !d.dead[e] {
			add(d.cells[e])
			d.dead[e] = true
		}
	}
	d.cells[p] = cells
	for _, u := range cells {
		for _, e := range d.elems[u] {
			if d.dead[e] {
				continue
			}
			if d.wStamp[e] != now {
				d.wStamp[e], d.w[e] = now, 0
				for _, c := range d.cells[e] {
					if !d.done[c] {
						d.w[e]++
					}
				}
			}
			d.w[e]--
		}
	}
}

// update puts a cell into element p and returns its degree.
func (d *degrees) update(u, p, now int32) int32 {
	degree := int32(len(d.cells[p]) - 1)
	elems := d.elems[u][:0]
	for _, e := range d.elems[u] {
		if !d.dead[e] && d.w[e] == 0 { // all its cells are in the new element: absorbed
			d.dead[e] = true
		}
		if !d.dead[e] {
			elems = append(elems, e)
			degree += d.w[e]
		}
	}
	d.elems[u] = append(elems, p)
	d.vars[u] = slices.DeleteFunc(d.vars[u], func(c int32) bool { return d.done[c] || d.stamp[c] == now })
	return degree + int32(len(d.vars[u]))
}

// degreeHeap has degrees with cells, the least first. Some are out of date. It is container/heap without interfaces, which
// would take memory for every number.
type degreeHeap []uint64

func (h *degreeHeap) push(x uint64) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for up := (i - 1) / 2; i > 0 && x < s[up]; up = (i - 1) / 2 {
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

func (h *degreeHeap) pop() uint64 {
	s := *h
	top, last := s[0], len(s)-1
	x := s[last]
	s = s[:last]
	*h = s
	for i := 0; i < last; {
		down := 2*i + 1
		if down+1 < last && s[down+1] < s[down] {
			down++
		}
		if down >= last || x <= s[down] {
			s[i] = x
			break
		}
		s[i] = s[down]
		i = down
	}
	return top
}

// permute sets lower to the entries of the permuted matrix A below its diagonal, and sums to those
// of its rows.
func (s *sparseFactor) permute(q *graph.Quotient, eta float64) {
	m := q.Cells()
	s.sums, s.lower = dense.Grow(s.sums, m), columns(s.lower, m)
	for i := range m {
		s.sums[s.inv[i]] = eta * float64(q.Size[i])
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			a, b := s.inv[i], s.inv[q.Nbr[e]]
			s.lower[min(a, b)] = append(s.lower[min(a, b)], entry{max(a, b), -q.Weight[e]})
		}
	}
}

// factor overwrites lower with the Cholesky factor, column by column, as factorLaplacian does.
func (s *sparseFactor) factor() bool {
	m := len(s.sums)
	s.x, s.diag, s.at = dense.Grow(s.x, m), dense.Grow(s.diag, m), grow32(s.at, m)
	// The columns before column k whose first entry from row k on is in row k are a list: first[k],
	// then next of each.
	s.first, s.next, s.mark = grow32(s.first, m), grow32(s.next, m), grow32(s.mark, m)
	for i := range m {
		s.first[i], s.mark[i] = -1, -1
	}
	follow := func(column int32) { // puts a column into the list of the row of its entry s.at
		if rest := s.lower[column][s.at[column]:]; len(rest) > 0 {
			s.next[column], s.first[rest[0].row] = s.first[rest[0].row], column
		}
	}
	for k := range m {
		if s.over(k) {
			return false
		}
		s.reached(1, 3*float64(k)/float64(m)/4)
		column := s.lower[k]
		for _, e := range column {
			s.mark[e.row], s.x[e.row] = int32(k), e.x
		}
		for i := s.first[k]; i >= 0; {
			up := s.next[i]
			rest := s.lower[i][s.at[i]:]
			for _, e := range rest[1:] {
				if s.mark[e.row] != int32(k) { // fill-in
					s.mark[e.row], s.x[e.row] = int32(k), 0
					column = append(column, entry{row: e.row})
				}
				s.x[e.row] -= float64(rest[0].x * e.x)
			}
			s.at[i]++
			follow(i)
			i = up
		}
		slices.SortFunc(column, func(a, b entry) int { return int(a.row - b.row) })
		d := s.sums[k]
		for _, e := range column {
			d -= s.x[e.row]
		}
		if !(d <= math.MaxFloat64) {
			return false
		}
		s.diag[k] = math.Sqrt(d)
		for i := range column {
			e := &column[i]
			e.x = s.x[e.row] / s.diag[k]
			s.sums[e.row] -= float64(e.x * (s.sums[k] / s.diag[k]))
		}
		s.lower[k], s.at[k] = column, 0
		follow(int32(k))
	}
	return true
}
