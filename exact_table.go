package mlg

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// baseValues gives the values of a base kernel on the distinct descriptors of a collection.
type baseValues struct {
	base        base.Kernel
	descriptors []string
}

func (b *baseValues) size() int { return len(b.descriptors) }

func (b *baseValues) block(dst []float64, rows, cols []int32) error {
	x, y := make([]string, len(rows)), make([]string, len(cols))
	for i, r := range rows {
		x[i] = b.descriptors[r]
	}
	for i, c := range cols {
		y[i] = b.descriptors[c]
	}
	b.base.Gram(dst, x, y)
	for i, v := range dst[:len(x)*len(y)] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the base kernel %s of vertices with the descriptors %q and %q is %v, want a finite number", b.base, x[i/len(y)], y[i%len(y)], v)
		}
	}
	return nil
}

// table has the kernel values of all pairs of n objects, packed lower triangle.
type table struct {
	n    int
	data []float64
}

func tableBytes(n int) int64 { return int64(n) * int64(n+1) / 2 * 8 }

func newTable(n int) *table { return &table{n: n, data: make([]float64, n*(n+1)/2)} }

func (t *table) size() int { return t.n }

func (t *table) at(i, j int32) float64 {
	if i < j {
		i, j = j, i
	}
	return t.data[int(i)*(int(i)+1)/2+int(j)]
}

func (t *table) block(dst []float64, rows, cols []int32) error {
	for i, r := range rows {
		d := dst[i*len(cols):]
		for j, c := range cols {
			d[j] = t.at(r, c)
		}
	}
	return nil
}

// ordering numbers distinct quotients by their number of cells and the hash of their
// content, so that the value of a pair does not depend on the rest of the collection.
func ordering(quotients [][]uint32, hash []uint64) (order, rank []int32) {
	order, rank = make([]int32, len(quotients)), make([]int32, len(quotients))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(cells(quotients[a]), cells(quotients[b])), cmp.Compare(hash[a], hash[b]), cmp.Compare(a, b))
	})
	for r, i := range order {
		rank[i] = int32(r)
	}
	return order, rank
}

// prepareAll prepares quotients in the given order.
func prepareAll(ctx context.Context, quotients [][]uint32, order, rank []int32, below values, k *Kernel) ([]*prepared, error) {
	items := make([]*prepared, len(quotients))
	workers := make([]preparer, kernel.Workers(ctx))
	err := kernel.Each(ctx, len(quotients), 16, func(w, i int) error {
		var err error
		items[i], err = workers[w].prepare(quotients[order[i]], rank, below, k)
		return err
	})
	return items, err
}

// pairs computes the kernel of every pair of distinct quotients; rank numbers the cells'
// classes as below does. Entry (i, j) of the table belongs to quotients[order[i]], quotients[order[j]].
// robust asks for eq. (2) instead of eq. (3).
func pairs(ctx context.Context, stage string, quotients [][]uint32, order, rank []int32, below values, robust bool, k *Kernel) (*table, error) {
	if robust {
		return eigenPairs(ctx, stage, quotients, order, rank, below, k)
	}
	items, err := prepareAll(ctx, quotients, order, rank, below, k)
	if err != nil {
		return nil, err
	}
	n := len(items)
	t := newTable(n)
	before := make([]int, n+1) // Σ m² of the items before
	most := 0
	for i, it := range items {
		before[i+1] = before[i] + len(it.cells)*len(it.cells)
		most = max(most, len(it.cells))
	}
	workers := make([]rowWorker, kernel.Workers(ctx))
	meter := kernel.NewMeter(ctx, stage, n*(n+1)/2)
	// Long rows first, so that the last ones to finish are short.
	err = kernel.Each(ctx, n, 1, func(w, done int) error {
		i := n - 1 - done
		row := t.data[i*(i+1)/2 : (i+1)*(i+2)/2]
		err := workers[w].row(ctx, row, items[:i+1], before[i], below, k.Gamma)
		meter.Add(i + 1)
		return err
	})
	return t, err
}

func eigenPairs(ctx context.Context, stage string, quotients [][]uint32, order, rank []int32, below values, k *Kernel) (*table, error) {
	n := len(quotients)
	t := newTable(n)
	quo := make([]graph.Quotient, n)
	for i := range quo {
		quo[i].Decode(quotients[order[i]])
	}
	meter := kernel.NewMeter(ctx, stage, n*(n+1)/2)
	err := kernel.Each(ctx, n, 1, func(_, done int) error {
		i := n - 1 - done
		for j := range i {
			if err := ctx.Err(); err != nil {
				return err
			}
			l, err := eigenPair(&quo[i], &quo[j], rank, below, k.PairRank, k)
			if err != nil {
				return err
			}
			t.data[i*(i+1)/2+j] = expKernel(l)
		}
		t.data[i*(i+1)/2+i] = 1
		meter.Add(i + 1)
		return nil
	})
	return t, err
}

// rowWorker computes rows of a table; it holds the buffers of one worker.
type rowWorker struct {
	chol    []float64
	panel   []float64
	columns []int32
	t       []float64 // row c: C⁻¹ s K(cells, c)/(2γ)
	g       []float64 // t tᵀ, when that is less work
	tile    []float64
	y, p    []float64
}

// panelWidth columns of the panel of the largest common items stay in the first-level cache.
const panelWidth = 64

// row computes the kernel of the last item with all of them.
//
// With C Cᵀ = D of the last item, the joint determinant with item j is |D| times that of
// the Schur complement D_j − s_j TᵀT s_j, where column c of T is C⁻¹ s K(cells, c)/(2γ): T
// depends on the class c of the level below, not on j. Items have no more cells than those
// behind them, so that the Schur complement is the smaller part.
func (w *rowWorker) row(ctx context.Context, dst []float64, items []*prepared, squares int, below values, gamma float64) error {
	last := len(items) - 1
	it := items[last]
	m := len(it.cells)
	dst[last] = 1
	if last == 0 {
		return nil
	}
	w.chol = dense.Grow(w.chol, m*m)
	unpack(w.chol, it.d, m)
	if _, ok := dense.Cholesky(w.chol, m); !ok {
		return errPrecision
	}
	classes := below.size()
	if err := w.solve(it, below, gamma); err != nil {
		return err
	}
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
	for j := 0; j < last; {
		if err := ctx.Err(); err != nil {
			return err
		}
		// Items of one size are taken together, tileRun tiles at a time.
		size := len(items[j].cells)
		end := j
		for end < last && end < j+tileRun*spd.Lanes && len(items[end].cells) == size {
			end++
		}
		if err := w.run(dst[j:end], items[j:end], it, size, shared, classes); err != nil {
			return err
		}
		j = end
	}
	return nil
}

// tileRun is the number of tiles of Schur complements that are factored in one call.
const tileRun = 4

// run computes the kernel of it with others, which all have size cells.
func (w *rowWorker) run(dst []float64, others []*prepared, it *prepared, size int, shared bool, classes int) error {
	if size == 0 { // empty graphs: the joint matrix is D
		for j, o := range others {
			dst[j] = expKernel(it.self + o.self - it.logD/2)
		}
		return nil
	}
	tiles := (len(others) + spd.Lanes - 1) / spd.Lanes
	w.tile = dense.Grow(w.tile, tiles*spd.Size(size)*spd.Lanes)
	m := len(it.cells)
	for k := range tiles * spd.Lanes {
		o := others[min(k, len(others)-1)] // the last one fills up the tile
		t := w.tile[k/spd.Lanes*spd.Size(size)*spd.Lanes+k%spd.Lanes:]
		if shared {
			w.fillShared(t, o, classes)
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
func (w *rowWorker) solve(it *prepared, below values, gamma float64) error {
	m, n := len(it.cells), below.size()
	w.t = dense.Grow(w.t, n*m)
	w.panel = dense.Grow(w.panel, m*panelWidth)
	for at := 0; at < n; at += panelWidth {
		width := min(panelWidth, n-at)
		w.columns = w.columns[:0]
		for c := range width {
			w.columns = append(w.columns, int32(at+c))
		}
		p := w.panel[:m*width]
		if err := below.block(p, it.cells, w.columns); err != nil {
			return err
		}
		for i, s := range it.scale {
			f := s / (2 * gamma)
			for k := range width {
				p[i*width+k] *= f
			}
		}
		dense.ForwardSolve(w.chol, m, p, width)
		for c := range width {
			row := w.t[(at+c)*m : (at+c+1)*m]
			for i := range row {
				row[i] = p[i*width+c]
			}
		}
	}
	return nil
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
	clear(w.p)
	spd.AddGram(w.p, w.y, m, n)
	for i, v := range o.d {
		dst[i*spd.Lanes] = v - w.p[i]
	}
}

// fillShared is fill when g has all products.
func (w *rowWorker) fillShared(dst []float64, o *prepared, classes int) {
	at := 0
	for i, a := range o.cells {
		si := o.scale[i]
		g := w.g[int(a)*classes : (int(a)+1)*classes]
		for j, b := range o.cells[:i+1] {
			dst[at*spd.Lanes] = o.d[at] - si*o.scale[j]*g[b]
			at++
		}
	}
}

// lazy computes the values of pairs on demand and keeps them, up to a number of bytes; past
// it, it forgets them and goes on.
type lazy struct {
	quotients [][]uint32
	below     values
	robust    bool // eq. (2) instead of eq. (3)
	kernel    *Kernel
	items     map[int32]*prepared
	memo      map[uint64]float64
	limit     int
	preparer  preparer
	buf       []float64
}

func newLazy(quotients [][]uint32, below values, robust bool, k *Kernel, memory int64) *lazy {
	// A map entry of 16 bytes takes about 40 with its share of empty slots.
	return &lazy{quotients: quotients, below: below, robust: robust, kernel: k,
		items: make(map[int32]*prepared), memo: make(map[uint64]float64), limit: int(max(1, memory/40))}
}

func (l *lazy) size() int { return len(l.quotients) }

func (l *lazy) block(dst []float64, rows, cols []int32) error {
	for i, r := range rows {
		for j, c := range cols {
			v, err := l.at(r, c)
			if err != nil {
				return err
			}
			dst[i*len(cols)+j] = v
		}
	}
	return nil
}

func (l *lazy) at(a, b int32) (float64, error) {
	if a == b {
		return 1, nil
	}
	if a < b {
		a, b = b, a
	}
	key := uint64(a)<<32 | uint64(b)
	if v, ok := l.memo[key]; ok {
		return v, nil
	}
	v, err := l.compute(a, b)
	if err != nil {
		return 0, err
	}
	if len(l.memo) >= l.limit {
		clear(l.memo)
		clear(l.items)
	}
	l.memo[key] = v
	return v, nil
}

func (l *lazy) compute(a, b int32) (float64, error) {
	if l.robust {
		var qa, qb graph.Quotient
		qa.Decode(l.quotients[a])
		qb.Decode(l.quotients[b])
		logK, err := eigenPair(&qa, &qb, nil, l.below, l.kernel.PairRank, l.kernel)
		return expKernel(logK), err
	}
	x, err := l.item(a)
	if err != nil {
		return 0, err
	}
	y, err := l.item(b)
	if err != nil {
		return 0, err
	}
	cross := make([]float64, len(x.cells)*len(y.cells))
	if err := l.below.block(cross, x.cells, y.cells); err != nil {
		return 0, err
	}
	logK, err := logPair(x, y, cross, l.kernel.Gamma, &l.buf)
	return expKernel(logK), err
}

func (l *lazy) item(a int32) (*prepared, error) {
	if it := l.items[a]; it != nil {
		return it, nil
	}
	it, err := l.preparer.prepare(l.quotients[a], nil, l.below, l.kernel)
	if err == nil {
		l.items[a] = it
	}
	return it, err
}
