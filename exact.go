package mlg

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

// Exact computes the MLS and MLG kernels of a collection of graphs by their definitions
// (docs/explanation/math.md, section 1), without sampling or truncation. Values are shared between
// vertices and subgraphs with the same canonical quotient.
//
// Its methods may be called concurrently.
type Exact struct {
	graphs []*graph.Graph
	base   vertex.Kernel
	kernel Kernel
	levels []*classes // 0 … L, those above 0 sorted
	robust bool       // the first stage is computed by eq. (2)
	// explicit has the features of the base kernel by class of level 0, nil if it has none.
	explicit *features
	memory   int64 // bytes for tables of values
}

// NewExact sorts the vertices of the graphs into neighbourhood classes at every level. Tables of
// kernel values may take the memory that the context says (work.Options). What the kernel says about
// samples does not count.
func NewExact(ctx context.Context, graphs []*graph.Graph, k Kernel) (*Exact, error) {
	if err := k.validateSingle(); err != nil {
		return nil, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return nil, err
	}
	k.Base = b.String() // the same for new graphs
	e := &Exact{graphs: graphs, base: b, kernel: k, memory: work.Memory(ctx)}
	c, err := describe(ctx, graphs, b, 0)
	if err != nil {
		return nil, err
	}
	self, err := selfValues(b, c.descriptor)
	if err != nil {
		return nil, err
	}
	if f, dim, _ := b.Features(c.descriptor, maxExplicit); dim > 0 && k.PairRank == 0 {
		e.explicit = &features{make([]float64, c.len()*dim), dim}
		for i, x := range c.descriptor {
			f(e.explicit.row(int32(i)), x)
		}
	}
	if e.robust, _, err = k.precision(k.extent(graphs, self, e.explicit != nil)); err != nil {
		return nil, err
	}
	e.levels = []*classes{c}
	for l := range k.Radii {
		if c, err = neighbourhoods(ctx, graphs, c, l+1, &k); err != nil {
			return nil, err
		}
		c.sort()
		e.levels = append(e.levels, c)
	}
	return e, nil
}

// Memory returns the bytes that Gram needs for its tables of kernel values: those of two
// levels at a time.
func (e *Exact) Memory() int64 {
	var most int64
	for l := 1; l < len(e.levels); l++ {
		need := tableBytes(e.levels[l].len())
		if l > 1 {
			need += tableBytes(e.levels[l-1].len())
		}
		most = max(most, need)
	}
	return most + tableBytes(len(e.graphs))
}

// climb calls visit with the values of all pairs of classes of each level, from 0 up: those of a
// level come from those of the level below.
func (e *Exact) climb(ctx context.Context, visit func(level int, v values) error) error {
	if need := e.Memory(); need > e.memory {
		return fmt.Errorf("the exact Gram matrix needs %.3g GB of memory for tables of kernel values, want at most %.3g GB; allow more memory, use fewer levels or smaller radii, or use the low-rank kernel",
			float64(need)/1e9, float64(e.memory)/1e9)
	}
	v := e.bottom()
	for l, c := range e.levels {
		if l > 0 {
			var err error
			if v, err = e.pairs(ctx, fmt.Sprintf("pairs %d/%d", l, len(e.kernel.Radii)), c, l-1, v); err != nil {
				return err
			}
		}
		if err := visit(l, v); err != nil {
			return err
		}
	}
	return nil
}

// bottom gives the values of the base kernel, from a table where that is small.
func (e *Exact) bottom() values {
	s := e.levels[0]
	n := s.len()
	const most = 4096
	if n > most {
		return values{n, func(dst []float64, rows, cols []int32) {
			e.base.Gram(dst, s.some(rows), s.some(cols))
		}}
	}
	full, t := make([]float64, n*n), newTable(n)
	e.base.Gram(full, s.descriptor, s.descriptor)
	for i := range n {
		copy(t.row(i), full[i*n:])
	}
	return values{n, t.block}
}

// Gram returns the MLG kernel of all pairs of graphs. With c_ℓ classes of m cells at level ℓ it
// takes O(Σ c_ℓ² m³) time, and the memory that Memory tells; it returns an error when that is
// more than it may take.
func (e *Exact) Gram(ctx context.Context) (*kernel.Matrix, error) {
	n := len(e.graphs)
	out := kernel.NewMatrix(n, n)
	all := e.kernel.newCombiner(out.Data, nil, len(e.levels))
	err := e.climb(ctx, func(level int, v values) error {
		if !e.kernel.enters(level) {
			return nil
		}
		k, err := e.top(ctx, level, v)
		if err == nil {
			all.add(k)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all.finish()
	return out, nil
}

// top returns the FLG kernel of all pairs of whole graphs with the values of a level as base
// kernel. Graphs with the same quotient are one object.
func (e *Exact) top(ctx context.Context, level int, below values) ([]float64, error) {
	c, err := wholeGraphs(ctx, e.graphs, e.levels[level])
	if err != nil {
		return nil, err
	}
	c.sort()
	stage := "graphs"
	if e.kernel.Combine != Top {
		stage = fmt.Sprintf("graphs %d/%d", level, len(e.kernel.Radii))
	}
	t, err := e.pairs(ctx, stage, c, level, below)
	if err != nil {
		return nil, err
	}
	n := len(e.graphs)
	k := make([]float64, n*n)
	t.block(k, c.of[0], c.of[0])
	return k, nil
}

// MLS returns 𝔎_L of the vertices of graph i (rows) and those of graph j.
func (e *Exact) MLS(ctx context.Context, i, j int) (*kernel.Matrix, error) {
	out := kernel.NewMatrix(e.graphs[i].N(), e.graphs[j].N())
	err := e.climb(ctx, func(level int, v values) error {
		if of := e.levels[level].of; level == len(e.kernel.Radii) {
			v.block(out.Data, of[i], of[j])
		}
		return nil
	})
	return out, err
}

// Cross returns the kernel matrix between graphs (rows) and those that e was made for. It takes it
// out of Gram matrices: of graphs with all of these or, where that is less work, with some of them
// at a time.
func (e *Exact) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	train, n := len(e.graphs), len(graphs)
	out := kernel.NewMatrix(n, train)
	with := func(lo, hi int) (*Exact, error) {
		return NewExact(ctx, slices.Concat(e.graphs[lo:hi], graphs), e.kernel)
	}
	all, err := with(0, train)
	if err != nil || n == 0 {
		return out, err
	}
	step, part := train, all
	if n < train {
		some, err := with(0, n)
		if err != nil {
			return nil, err
		}
		if some.work()*float64(train)/float64(n) < all.work() {
			step, part = n, some
			ctx = work.Quiet(ctx) // every part would start anew
		}
	}
	for lo := 0; lo < train; lo += step {
		hi := min(lo+step, train)
		if lo > 0 {
			if part, err = with(lo, hi); err != nil {
				return nil, err
			}
		}
		k, err := part.Gram(ctx)
		if err != nil {
			return nil, err
		}
		for i := range n {
			copy(out.Row(i)[lo:hi], k.Row(hi-lo+i))
		}
	}
	return out, nil
}

// work returns the number of pairs of graphs and classes that Gram compares.
func (e *Exact) work() float64 {
	pairs := float64(len(e.graphs)) * float64(len(e.graphs))
	for _, c := range e.levels[1:] {
		pairs += float64(c.len()) * float64(c.len())
	}
	return pairs
}

// fitExact fits the exact kernel: only the base kernel depends on the graphs.
func fitExact(ctx context.Context, graphs []*graph.Graph, k Kernel) (*kernel.Fitted, error) {
	e, err := NewExact(ctx, graphs, k)
	if err != nil {
		return nil, err
	}
	return &kernel.Fitted{Map: exactMap{e.kernel}, Train: &exactGraphs{kernel.Graphs{List: graphs}, e}}, nil
}

// exactMap compares graphs as they are, by tables of their neighbourhoods. Tables of many graphs have
// much in common, so it is a kernel.Whole.
type exactMap struct{ kernel Kernel }

// exactGraphs are graphs whose neighbourhoods are sorted into classes.
type exactGraphs struct {
	kernel.Graphs
	of *Exact
}

// Whole implements kernel.Whole.
func (m exactMap) Whole() {}

func (m exactMap) Transform(ctx context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	e, err := NewExact(ctx, graphs, m.kernel)
	return &exactGraphs{kernel.Graphs{List: graphs}, e}, err
}

func (m exactMap) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	rows, cols := b.A.(*exactGraphs), b.B.(*exactGraphs)
	of := func(x *exactGraphs, lo, hi int) (*Exact, error) {
		if lo == 0 && hi == x.Len() && x.of != nil {
			return x.of, nil
		}
		return NewExact(ctx, x.List[lo:hi], m.kernel)
	}
	e, err := of(cols, b.J0, b.J1)
	if err != nil {
		return err
	}
	var k *kernel.Matrix
	if b.Square() {
		k, err = e.Gram(ctx)
	} else {
		k, err = e.Cross(ctx, rows.List[b.I0:b.I1])
	}
	if err != nil {
		return err
	}
	for i := range k.Rows {
		copy(dst[i*stride:][:k.Cols], k.Row(i))
	}
	return nil
}

func (m exactMap) Join(parts ...kernel.Features) kernel.Features {
	out := &exactGraphs{}
	for _, p := range parts {
		out.List = append(out.List, p.(*exactGraphs).List...)
	}
	return out
}

// AppendBinary implements kernel.Map: the text of the base kernel.
func (m exactMap) AppendBinary(b []byte) ([]byte, error) { return append(b, m.kernel.Base...), nil }

func (m exactMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	g, err := kernel.DecodeGraphs(data)
	if err != nil {
		return nil, err
	}
	return &exactGraphs{Graphs: *g.(*kernel.Graphs)}, nil
}

func (x *exactGraphs) Select(at []int) kernel.Features {
	return &exactGraphs{Graphs: *x.Graphs.Select(at).(*kernel.Graphs)}
}
