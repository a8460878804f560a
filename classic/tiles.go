package classic

import (
	"context"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Kernel values are
//
//	k(x, y) = Σ_b w_b Σ_{f in block b} φ_f(x) φ_f(y),
//
// or the sum of min(φ_f(x), φ_f(y)) over all features. They are computed by tiles: the features that a
// section of the rows and a section of the columns have in common are found by merging, and each
// of them adds to the values of the graphs that have it. A sum runs through its terms by block and
// hash. So it has the same bits in every collection. Where all sums are exact, frequent features are
// added by a product of dense matrices.

// sectionGraphs is the number of graphs of a section. The values of a tile fit into the cache.
const sectionGraphs = 256

// section is an inverted index of some graphs that follow each other.
type section struct {
	built sync.Once
	at    []uint32  // positions of the features that some graph has, ascending
	post  []uint32  // by feature in at: where its postings start; one more at the end
	graph []uint8   // postings: graphs in the section, ascending
	count []uint32  // postings: values, as vectors have them
	val   []float64 // or these
}

// section returns section s, which is built once.
func (x *vectors) section(s int) *section {
	x.mu.Lock()
	if x.sections == nil {
		x.sections = make([]section, (x.Len()+sectionGraphs-1)/sectionGraphs)
	}
	sec := &x.sections[s]
	x.mu.Unlock()
	sec.built.Do(func() { sec.build(x, s*sectionGraphs, min(x.Len(), (s+1)*sectionGraphs)) })
	return sec
}

// build sorts the lists of the graphs from lo to hi by feature.
func (sec *section) build(x *vectors, lo, hi int) {
	first, n := x.start[lo], x.start[hi]-x.start[lo]
	sorter := keySorter{keys: make([]uint64, n)}
	owner := make([]uint8, n)
	for i := lo; i < hi; i++ {
		for k := x.start[i]; k < x.start[i+1]; k++ {
			sorter.keys[k-first] = uint64(x.at[k])<<32 | uint64(k-first)
			owner[k-first] = uint8(i - lo)
		}
	}
	sorter.sort(32)
	sec.graph = make([]uint8, n)
	if x.count != nil {
		sec.count = make([]uint32, n)
	} else {
		sec.val = make([]float64, n)
	}
	for to, key := range sorter.keys {
		p, k := uint32(key>>32), int(uint32(key))
		if len(sec.at) == 0 || sec.at[len(sec.at)-1] != p {
			sec.at, sec.post = append(sec.at, p), append(sec.post, uint32(to))
		}
		sec.graph[to] = owner[k]
		if x.count != nil {
			sec.count[to] = x.count[first+k]
		} else {
			sec.val[to] = x.val[first+k]
		}
	}
	sec.at, sec.post = slices.Clip(sec.at), append(sec.post, uint32(n))
}

// value returns that of posting k.
func (sec *section) value(k uint32) float64 {
	if sec.count != nil {
		return float64(sec.count[k])
	}
	return sec.val[k]
}

// between returns the postings of feature f for the graphs from lo to hi of the section.
func (sec *section) between(f, lo, hi int) (from, to uint32) {
	from, to = sec.post[f], sec.post[f+1]
	for from < to && int(sec.graph[from]) < lo {
		from++
	}
	for from < to && int(sec.graph[to-1]) >= hi {
		to--
	}
	return from, to
}

// tiler computes blocks of kernel values. It holds the buffers of one goroutine.
type tiler struct {
	weight  []float64 // by block
	minimum bool

	x, y *vectors
	to   []uint32 // positions of the features of x in the table of y; nil if the table is the same

	// The tile at hand:
	rows, cols       *section
	i0, j0           int // its first row and column in their sections
	height, width    int
	common, frequent []common

	acc, product            []float64
	minima                  []uint32
	a, b                    []float64 // values of the frequent features, by row and by column
	rowCounts, columnCounts []uint32  // the same as whole numbers
	columns                 []int     // by feature: where it is in b, -1 for features that are not frequent
	rowEnd                  []int
	terms                   []rowTerm // by row
}

// common is a feature that rows and columns have, with its postings.
type common struct{ block, i0, i1, j0, j1 uint32 }

func (c common) columns() int { return int(c.j1 - c.j0) }
func (c common) pairs() int   { return int(c.i1-c.i0) * c.columns() }

// A feature is frequent in a tile if so many pairs have it, for products of matrices, or if one in
// manyColumns columns has it, for sums of columns. Then it is faster to look at all columns.
const (
	manyPairs   = 1 << 12
	manyColumns = 4
)

// fill sets dst to the values of a block. If rows and columns are the same graphs, only those on and
// below the diagonal are needed.
func (t *tiler) fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	t.x, t.y = b.A.(*vectors), b.B.(*vectors)
	t.to = t.x.positions(t.y.table)
	after := func(i, end int) int { return min(end, i/sectionGraphs*sectionGraphs+sectionGraphs) } // the section of i
	for i := b.I0; i < b.I1; i = after(i, b.I1) {
		for j := b.J0; j < b.J1 && !(b.Square() && j > i); j = after(j, b.J1) {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.tile(dst[(i-b.I0)*stride+j-b.J0:], stride, i, after(i, b.I1), j, after(j, b.J1))
		}
	}
	return nil
}

// tile sets dst to the values of the rows i0 … i1-1 and the columns j0 … j1-1, which are within
// sections.
func (t *tiler) tile(dst []float64, stride, i0, i1, j0, j1 int) {
	t.rows, t.cols = t.x.section(i0/sectionGraphs), t.y.section(j0/sectionGraphs)
	t.i0, t.j0, t.height, t.width = i0%sectionGraphs, j0%sectionGraphs, i1-i0, j1-j0
	t.match()
	for i := range t.height {
		clear(dst[i*stride:][:t.width])
	}
	if !t.minimum && len(t.weight) == 1 && t.weight[0] == 1 {
		t.addProducts(dst, stride, t.common)
		return
	}
	for rest := t.common; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].block == rest[0].block {
			n++
		}
		w := t.weight[rest[0].block]
		if t.minimum {
			t.addMinima(resized(&t.minima, t.height*t.width), rest[:n])
			addWeighted(dst, stride, t.width, w, t.minima)
		} else {
			t.addProducts(resized(&t.acc, t.height*t.width), t.width, rest[:n])
			addWeighted(dst, stride, t.width, w, t.acc)
		}
		rest = rest[n:]
	}
}

// addWeighted adds rows of values, times a weight.
func addWeighted[T uint32 | float64](dst []float64, stride, width int, weight float64, values []T) {
	for i := 0; i < len(values); i += width {
		to := dst[i/width*stride:][:width]
		for j, v := range values[i:][:width] {
			to[j] += float64(weight * float64(v))
		}
	}
}

// match finds the features that rows and columns have in common.
func (t *tiler) match() {
	rows, cols := t.rows, t.cols
	t.common = t.common[:0]
	few := 16*len(rows.at) < len(cols.at)
	block, j := 0, 0
	for i, p := range rows.at {
		for int(p) >= t.x.table.end[block] {
			block++
		}
		if t.to != nil {
			if p = t.to[p]; p == absent {
				continue
			}
		}
		if few {
			k, _ := slices.BinarySearch(cols.at[j:], p)
			j += k
		}
		for j < len(cols.at) && cols.at[j] < p {
			j++
		}
		if j == len(cols.at) {
			return
		}
		if cols.at[j] != p {
			continue
		}
		c := common{block: uint32(block)}
		c.i0, c.i1 = rows.between(i, t.i0, t.i0+t.height)
		c.j0, c.j1 = cols.between(j, t.j0, t.j0+t.width)
		if c.i0 < c.i1 && c.j0 < c.j1 {
			t.common = append(t.common, c)
		}
	}
}

// addProducts adds the products of features of one block to a tile.
func (t *tiler) addProducts(acc []float64, stride int, features []common) {
	if !t.x.exact || !t.y.exact {
		t.addInOrder(acc, stride, features)
		return
	}
	t.frequent = t.frequent[:0]
	for _, f := range features {
		if f.pairs() >= manyPairs {
			t.frequent = append(t.frequent, f)
			continue
		}
		for k := f.i0; k < f.i1; k++ {
			t.scatter(acc[t.row(k)*stride:][:t.width], float64(t.rows.count[k]), f)
		}
	}
	t.addMatrices(acc, stride)
}

// row and column return the graph of a posting, from the start of the tile.
func (t *tiler) row(k uint32) int    { return int(t.rows.graph[k]) - t.i0 }
func (t *tiler) column(k uint32) int { return int(t.cols.graph[k]) - t.j0 }

// scatter adds the products of a value and the values of a feature. They are converted explicitly so
// that no machine fuses them with the addition.
func (t *tiler) scatter(to []float64, a float64, f common) {
	graphs := t.cols.graph[f.j0:f.j1]
	if t.cols.count != nil {
		for l, c := range t.cols.count[f.j0:f.j1] {
			to[int(graphs[l])-t.j0] += float64(a * float64(c))
		}
		return
	}
	for l, c := range t.cols.val[f.j0:f.j1] {
		to[int(graphs[l])-t.j0] += float64(a * c)
	}
}

// addMatrices adds the products of the frequent features in any order.
func (t *tiler) addMatrices(acc []float64, stride int) {
	n := len(t.frequent)
	if n == 0 {
		return
	}
	a, b := resized(&t.a, t.height*n), resized(&t.b, n*t.width)
	for m, f := range t.frequent {
		for k := f.i0; k < f.i1; k++ {
			a[t.row(k)*n+m] = t.rows.value(k)
		}
		for k := f.j0; k < f.j1; k++ {
			b[m*t.width+t.column(k)] = t.cols.value(k)
		}
	}
	t.product = dense.Grow(t.product, t.height*t.width)
	dense.Multiply(t.product, a, b, t.height, n, t.width)
	for i := range t.height {
		to := acc[i*stride:][:t.width]
		for j, v := range t.product[i*t.width:][:t.width] {
			to[j] += v
		}
	}
}

// rowTerm is a feature of a row: its place among the common ones, and its value.
type rowTerm struct {
	feature int
	val     float64
}

// addInOrder adds products row by row in the order of features. Frequent features that follow each
// other are added four at a time.
func (t *tiler) addInOrder(acc []float64, stride int, features []common) {
	t.b, t.columns = t.b[:0], t.columns[:0]
	end := resized(&t.rowEnd, t.height+1) // by row: where its features end, after those before
	for _, f := range features {
		for k := f.i0; k < f.i1; k++ {
			end[t.row(k)+1]++
		}
		at := -1
		if f.columns() >= t.width/manyColumns {
			at = len(t.b)
			t.b = slices.Grow(t.b, t.width)[:at+t.width]
			clear(t.b[at:])
			for k := f.j0; k < f.j1; k++ {
				t.b[at+t.column(k)] = t.cols.value(k)
			}
		}
		t.columns = append(t.columns, at)
	}
	for i := range t.height {
		end[i+1] += end[i]
	}
	t.terms = slices.Grow(t.terms[:0], end[t.height])[:end[t.height]]
	for m, f := range features {
		for k := f.i0; k < f.i1; k++ {
			i := t.row(k)
			t.terms[end[i]] = rowTerm{m, t.rows.value(k)}
			end[i]++
		}
	}
	first := 0
	for i := range t.height {
		to := acc[i*stride:][:t.width]
		terms := t.terms[first:end[i]]
		first = end[i]
		for len(terms) > 0 {
			n := 0
			for n < len(terms) && n < 4 && t.columns[terms[n].feature] >= 0 {
				n++
			}
			if n == 0 {
				t.scatter(to, terms[0].val, features[terms[0].feature])
				n = 1
			} else {
				t.addColumns(to, terms[:n])
			}
			terms = terms[n:]
		}
	}
}

// addColumns adds the products of up to four frequent features of a row.
func (t *tiler) addColumns(to []float64, terms []rowTerm) {
	column := func(m int) (float64, []float64) { return terms[m].val, t.b[t.columns[terms[m].feature]:][:len(to)] }
	a0, c0 := column(0)
	switch len(terms) {
	case 1:
		dense.Axpy(to, a0, c0)
	case 2:
		a1, c1 := column(1)
		for j := range to {
			to[j] = to[j] + float64(a0*c0[j]) + float64(a1*c1[j])
		}
	case 3:
		a1, c1 := column(1)
		a2, c2 := column(2)
		for j := range to {
			to[j] = to[j] + float64(a0*c0[j]) + float64(a1*c1[j]) + float64(a2*c2[j])
		}
	case 4:
		a1, c1 := column(1)
		a2, c2 := column(2)
		a3, c3 := column(3)
		for j := range to {
			to[j] = to[j] + float64(a0*c0[j]) + float64(a1*c1[j]) + float64(a2*c2[j]) + float64(a3*c3[j])
		}
	}
}

// addMinima adds minima to a tile. Their sums are whole numbers and exact.
func (t *tiler) addMinima(acc []uint32, features []common) {
	t.frequent = t.frequent[:0]
	for _, f := range features {
		if f.columns() >= t.width/manyColumns {
			t.frequent = append(t.frequent, f)
			continue
		}
		graphs, counts := t.cols.graph[f.j0:f.j1], t.cols.count[f.j0:f.j1]
		for k := f.i0; k < f.i1; k++ {
			a, to := t.rows.count[k], acc[t.row(k)*t.width:][:t.width]
			for l, c := range counts {
				to[int(graphs[l])-t.j0] += min(a, c)
			}
		}
	}
	t.addColumnMinima(acc)
}

// addColumnMinima adds the minima of the frequent features, two of a row at a time.
func (t *tiler) addColumnMinima(acc []uint32) {
	n, width := len(t.frequent), t.width
	a, b := resized(&t.rowCounts, t.height*n), resized(&t.columnCounts, n*width)
	for m, f := range t.frequent {
		for k := f.i0; k < f.i1; k++ {
			a[t.row(k)*n+m] = t.rows.count[k]
		}
		for k := f.j0; k < f.j1; k++ {
			b[m*width+t.column(k)] = t.cols.count[k]
		}
	}
	for i := range t.height {
		to := acc[i*width:][:width]
		odd := -1
		for m, x := range a[i*n:][:n] {
			switch {
			case x == 0:
			case odd < 0:
				odd = m
			default:
				y, c0, c1 := a[i*n+odd], b[m*width:][:len(to)], b[odd*width:][:len(to)]
				for j := range to {
					to[j] += min(x, c0[j]) + min(y, c1[j])
				}
				odd = -1
			}
		}
		if odd >= 0 {
			y := a[i*n+odd]
			for j, c := range b[odd*width:][:len(to)] {
				to[j] += min(y, c)
			}
		}
	}
}
