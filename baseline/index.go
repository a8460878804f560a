package baseline

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

	x, y   *vectors
	to     []uint32 // positions of the features of x in the table of y; nil if the table is the same
	common []common
	acc    []float64
	minima []uint32
	column []float64
	a, b   []float64 // frequent features of rows, and of columns
	whole  []float64 // their products
}

// common is a feature that rows and columns have, with its postings.
type common struct{ block, i0, i1, j0, j1 uint32 }

// fill sets dst to the values of a block. If rows and columns are the same graphs, only those on and
// below the diagonal are needed.
func (t *tiler) fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	t.x, t.y = b.A.(*vectors), b.B.(*vectors)
	t.to = t.x.positions(t.y.table)
	for i := b.I0; i < b.I1; i = min(b.I1, i&^(sectionGraphs-1)+sectionGraphs) {
		for j := b.J0; j < b.J1 && !(b.Square() && j > i); j = min(b.J1, j&^(sectionGraphs-1)+sectionGraphs) {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.tile(dst[(i-b.I0)*stride+j-b.J0:], stride, i, min(b.I1, i&^(sectionGraphs-1)+sectionGraphs), j, min(b.J1, j&^(sectionGraphs-1)+sectionGraphs))
		}
	}
	return nil
}

// tile sets dst to the values of the rows i0 … i1-1 and the columns j0 … j1-1, which are within
// sections.
func (t *tiler) tile(dst []float64, stride, i0, i1, j0, j1 int) {
	first, last := i0&^(sectionGraphs-1), j0&^(sectionGraphs-1)
	rows, cols := t.x.section(first/sectionGraphs), t.y.section(last/sectionGraphs)
	t.match(rows, cols, i0-first, i1-first, j0-last, j1-last)
	height, width := i1-i0, j1-j0
	for i := range height {
		clear(dst[i*stride:][:width])
	}
	// Postings count graphs from the start of their section.
	for rest := t.common; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].block == rest[0].block {
			n++
		}
		w := t.weight[rest[0].block]
		if t.minimum {
			acc := resized(&t.minima, height*width)
			t.addMinima(acc, width, rest[:n], rows, cols, i0-first, j0-last)
			for i := range height {
				to := dst[i*stride:][:width]
				for j, a := range acc[i*width:][:width] {
					to[j] = w * float64(a)
				}
			}
		} else {
			acc := resized(&t.acc, height*width)
			t.addProducts(acc, height, width, rest[:n], rows, cols, i0-first, j0-last)
			for i := range height {
				to := dst[i*stride:][:width]
				for j, a := range acc[i*width:][:width] {
					to[j] += float64(w * a)
				}
			}
		}
		rest = rest[n:]
	}
}

// match finds the features that graphs of two sections have in common.
func (t *tiler) match(rows, cols *section, i0, i1, j0, j1 int) {
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
		c.i0, c.i1 = rows.between(i, i0, i1)
		c.j0, c.j1 = cols.between(j, j0, j1)
		if c.i0 < c.i1 && c.j0 < c.j1 {
			t.common = append(t.common, c)
		}
	}
}

// manyPairs is the number of pairs of a tile from which on a feature is frequent.
const manyPairs = 1 << 12

// addProducts adds the products of features of one block to a tile. Products are converted explicitly
// so that no machine fuses them with the addition.
func (t *tiler) addProducts(acc []float64, height, width int, features []common, rows, cols *section, i0, j0 int) {
	exact := t.x.exact && t.y.exact
	frequent := features[:0]
	for _, f := range features {
		pairs := int(f.i1-f.i0) * int(f.j1-f.j0)
		if exact && pairs >= manyPairs {
			frequent = append(frequent, f)
			continue
		}
		if 2*int(f.j1-f.j0) > width {
			column := resized(&t.column, width)
			for k := f.j0; k < f.j1; k++ {
				column[int(cols.graph[k])-j0] = cols.value(k)
			}
			for k := f.i0; k < f.i1; k++ {
				dense.Axpy(acc[(int(rows.graph[k])-i0)*width:][:width], rows.value(k), column)
			}
			continue
		}
		graphs := cols.graph[f.j0:f.j1]
		for k := f.i0; k < f.i1; k++ {
			a, to := rows.value(k), acc[(int(rows.graph[k])-i0)*width:][:width]
			if cols.count != nil {
				for l, c := range cols.count[f.j0:f.j1] {
					to[int(graphs[l])-j0] += float64(a * float64(c))
				}
			} else {
				for l, c := range cols.val[f.j0:f.j1] {
					to[int(graphs[l])-j0] += float64(a * c)
				}
			}
		}
	}
	if n := len(frequent); n > 0 {
		a, b := resized(&t.a, height*n), resized(&t.b, n*width)
		for m, f := range frequent {
			for k := f.i0; k < f.i1; k++ {
				a[(int(rows.graph[k])-i0)*n+m] = rows.value(k)
			}
			for k := f.j0; k < f.j1; k++ {
				b[m*width+int(cols.graph[k])-j0] = cols.value(k)
			}
		}
		dense.Multiply(resized(&t.whole, height*width), a, b, height, n, width)
		for i, v := range t.whole {
			acc[i] += v
		}
	}
}

// addMinima adds minima to a tile. Their sums are whole numbers and exact.
func (t *tiler) addMinima(acc []uint32, width int, features []common, rows, cols *section, i0, j0 int) {
	var column [sectionGraphs]uint32
	for _, f := range features {
		graphs, counts := cols.graph[f.j0:f.j1], cols.count[f.j0:f.j1]
		many := 2*len(graphs) > width
		if many {
			clear(column[:width])
			for l, c := range counts {
				column[int(graphs[l])-j0] = c
			}
		}
		for k := f.i0; k < f.i1; k++ {
			a, to := rows.count[k], acc[(int(rows.graph[k])-i0)*width:][:width]
			if many {
				for j, c := range column[:width] {
					to[j] += min(a, c)
				}
				continue
			}
			for l, c := range counts {
				to[int(graphs[l])-j0] += min(a, c)
			}
		}
	}
}
