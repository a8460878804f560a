package mlg

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

// values gives the kernel of objects 0 … size-1: block writes that of rows[i] and cols[j] to
// dst[i·len(cols)+j].
type values struct {
	size  int
	block func(dst []float64, rows, cols []int32)
}

// selfValues returns the base kernel of descriptors with themselves. It is an error if one is not
// finite. If they are, so are the values of pairs, by Cauchy and Schwarz.
func selfValues(b vertex.Kernel, x []string) ([]float64, error) {
	out := make([]float64, len(x))
	for i := range x {
		b.Gram(out[i:i+1], x[i:i+1], x[i:i+1])
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fmt.Errorf("the base kernel %s of a vertex with itself is %v, want a finite number", b, out[i])
		}
	}
	return out, nil
}

// table has the kernel values of all pairs of objects, packed lower triangle.
type table []float64

func tableBytes(n int) int64 { return int64(n) * int64(n+1) / 2 * 8 }

func newTable(n int) table { return make(table, spd.Size(n)) }

// row returns the values of object i with those up to it.
func (t table) row(i int) []float64 { return t[spd.Index(i, 0):][:i+1] }

func (t table) block(dst []float64, rows, cols []int32) {
	for i, r := range rows {
		d := dst[i*len(cols):]
		for j, c := range cols {
			a, b := max(r, c), min(r, c)
			d[j] = t[spd.Index(int(a), int(b))]
		}
	}
}

// pairs computes the kernel of every pair of classes, which are sorted and whose cells are classes
// of the given level with the values below.
func (e *Exact) pairs(ctx context.Context, stage string, c *classes, level int, below values) (values, error) {
	n := c.len()
	t := newTable(n)
	by, costs := e.schurRows, schurOperations(c, below.size)
	if e.robust && (level == 0 || e.kernel.PairRank > 0) {
		by, costs = e.featureRows, featureOperations(c)
	}
	each, all := steps(costs)
	meter := work.NewMeter(ctx, stage, all)
	row, err := by(ctx, c, below)
	if err != nil {
		return values{}, err
	}
	// Long rows first, so that the last ones to finish are short.
	err = work.Each(ctx, n, 1, func(w, done int) error {
		i := n - 1 - done
		t.row(i)[i] = 1
		err := row(w, t.row(i)[:i])
		meter.Add(each[i])
		return err
	})
	return values{n, t.block}, err
}

// rowFunc computes the kernel of a class with those before it, as many as dst is long.
type rowFunc func(worker int, dst []float64) error

// featureRows computes rows by eq. (2).
func (e *Exact) featureRows(ctx context.Context, c *classes, below values) (rowFunc, error) {
	quo := make([]graph.Quotient, c.len())
	for i := range quo {
		quo[i].Decode(c.quotient[i])
	}
	return func(_ int, dst []float64) error {
		for j := range dst {
			if err := ctx.Err(); err != nil {
				return err
			}
			l, err := featurePair(&quo[len(dst)], &quo[j], below, e.explicit, &e.kernel)
			if err != nil {
				return err
			}
			dst[j] = expKernel(l)
		}
		return nil
	}, nil
}

// schurRows computes rows by eq. (3).
func (e *Exact) schurRows(ctx context.Context, c *classes, below values) (rowFunc, error) {
	items := make([]*prepared, c.len())
	preparers := make([]preparer, work.Workers(ctx))
	err := work.Each(ctx, len(items), 16, func(w, i int) error {
		var err error
		items[i], err = preparers[w].prepare(c.quotient[i], below, &e.kernel)
		return err
	})
	if err != nil {
		return nil, err
	}
	before := make([]int, len(items)+1) // Σ m² of the items before
	for i, it := range items {
		before[i+1] = before[i] + len(it.cells)*len(it.cells)
	}
	workers := slices.Repeat([]rowWorker{{below: below, gamma: e.kernel.Gamma}}, work.Workers(ctx))
	return func(w int, dst []float64) error {
		i := len(dst)
		return workers[w].row(ctx, dst, items[i], items[:i], before[i])
	}, nil
}

// rowWorker computes rows of a table; it holds the buffers of one worker.
type rowWorker struct {
	below values
	gamma float64

	chol    []float64
	panel   []float64
	columns []int32
	t       []float64 // row c: that of T for the class c below
	g       []float64 // t tᵀ, when that is less work
	tile    []float64
	y, p    []float64
}

// panelWidth columns of the panel of the largest common items stay in the first-level cache.
const panelWidth = 64

// row computes the kernel of an item with those before it.
//
// With C Cᵀ = D of the item, the joint determinant with item j is |D| times that of
// the Schur complement D_j − s_j TᵀT s_j, where column c of T is C⁻¹ s K(cells, c)/(2γ): T
// depends on the class c of the level below, not on j. Items have no more cells than those
// behind them, so that the Schur complement is the smaller part.
func (w *rowWorker) row(ctx context.Context, dst []float64, it *prepared, items []*prepared, squares int) error {
	if len(items) == 0 {
		return nil
	}
	m := len(it.cells)
	w.chol = dense.Grow(w.chol, m*m)
	unpack(w.chol, it.d, m)
	if _, ok := dense.Cholesky(w.chol, m); !ok {
		return errPrecision
	}
	classes := w.below.size
	w.solve(it)
	// TᵀT for all pairs of classes costs classes²·m/2, for the cells of the items before
	// squares·m/2, if it is not shared between them.
	shared := classes*classes <= squares
	if shared {
		w.g = dense.Grow(w.g, classes*classes)
		for a := range classes {
			ta := w.t[a*m : (a+1)*m]
			for b := range a + 1 {
				x := dense.Dot(ta, w.t[b*m:(b+1)*m])
				w.g[a*classes+b], w.g[b*classes+a] = x, x
			}
		}
	}
	for j := 0; j < len(items); {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Items of one size are taken together, tileRun tiles at a time.
		size := len(items[j].cells)
		end := j
		for end < min(len(items), j+tileRun*spd.Lanes) && len(items[end].cells) == size {
			end++
		}
		if err := w.run(dst[j:end], items[j:end], it, shared); err != nil {
			return err
		}
		j = end
	}
	return nil
}

// tileRun is the number of tiles of Schur complements that are factored in one call.
const tileRun = 4

// run computes the kernel of it with others, which all have the same number of cells.
func (w *rowWorker) run(dst []float64, others []*prepared, it *prepared, shared bool) error {
	size := len(others[0].cells)
	if size == 0 { // the empty graph: the joint matrix is D
		dst[0] = expKernel(it.self + others[0].self - it.logD/2)
		return nil
	}
	tiles := (len(others) + spd.Lanes - 1) / spd.Lanes
	w.tile = dense.Grow(w.tile, tiles*spd.Size(size)*spd.Lanes)
	m := len(it.cells)
	for k := range tiles * spd.Lanes {
		o := others[min(k, len(others)-1)] // the last one fills up the tile
		t := w.tile[k/spd.Lanes*spd.Size(size)*spd.Lanes+k%spd.Lanes:]
		if shared && o.chol == nil {
			w.fillShared(t, o)
		} else {
			w.fill(t, o, m)
		}
	}
	var mant [tileRun * spd.Lanes]float64
	var expo [tileRun * spd.Lanes]int64
	spd.Dets(mant[:tiles*spd.Lanes], expo[:tiles*spd.Lanes], w.tile, size)
	for j, o := range others {
		// k = exp(self − ½ log|D|) · exp(self_j) / √|Schur complement|
		k := it.lead.mantissa * o.follow.mantissa / math.Sqrt(mant[j])
		if math.IsNaN(k) {
			return errPrecision
		}
		dst[j] = min(1, ldexp(k, it.lead.exponent+o.follow.exponent-int(expo[j])))
	}
	return nil
}

// ldexp returns x·2^e; it is math.Ldexp with a short way for common exponents.
func ldexp(x float64, e int) float64 {
	if -1000 < e && e < 1000 {
		return x * math.Float64frombits(uint64(e+1023)<<52)
	}
	return math.Ldexp(x, e)
}

// solve sets t.
func (w *rowWorker) solve(it *prepared) {
	m, n := len(it.cells), w.below.size
	w.t = dense.Grow(w.t, n*m)
	w.panel = dense.Grow(w.panel, m*panelWidth)
	for at := 0; at < n; at += panelWidth {
		width := min(panelWidth, n-at)
		w.columns = w.columns[:0]
		for c := range width {
			w.columns = append(w.columns, int32(at+c))
		}
		p := w.panel[:m*width]
		w.below.block(p, it.cells, w.columns)
		for i, s := range it.scale {
			f := s / (2 * w.gamma)
			for k := range width {
				p[i*width+k] *= f
			}
		}
		if it.chol != nil {
			dense.ForwardSolve(it.chol, m, p, width)
		}
		dense.ForwardSolve(w.chol, m, p, width)
		for c := range width {
			row := w.t[(at+c)*m : (at+c+1)*m]
			for i := range row {
				row[i] = p[i*width+c]
			}
		}
	}
}

// fill writes the Schur complement of an item to every Lanes-th place of dst.
func (w *rowWorker) fill(dst []float64, o *prepared, m int) {
	n := len(o.cells)
	w.y, w.p = dense.Grow(w.y, m*n), dense.Grow(w.p, len(o.d))
	for j, c := range o.cells {
		s := o.scale[j]
		for i, v := range w.t[int(c)*m : (int(c)+1)*m] {
			w.y[i*n+j] = s * v
		}
	}
	if o.chol != nil {
		for i := range m { // each row of y to C⁻¹ of it
			y := w.y[i*n : (i+1)*n]
			for j := range y {
				row := o.chol[j*n:]
				for l, v := range y[:j] {
					y[j] -= row[l] * v
				}
				y[j] /= row[j]
			}
		}
	}
	clear(w.p)
	spd.AddGram(w.p, w.y, m, n)
	for i, v := range o.d {
		dst[i*spd.Lanes] = v - w.p[i]
	}
}

// fillShared is fill when g has all products.
func (w *rowWorker) fillShared(dst []float64, o *prepared) {
	at, classes := 0, w.below.size
	for i, a := range o.cells {
		si := o.scale[i]
		g := w.g[int(a)*classes : (int(a)+1)*classes]
		for j, b := range o.cells[:i+1] {
			dst[at*spd.Lanes] = o.d[at] - si*o.scale[j]*g[b]
			at++
		}
	}
}
