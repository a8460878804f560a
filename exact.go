package mlg

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Exact computes the MLS and MLG kernels of a collection of graphs by their definitions
// (docs/math.md, section 1), without sampling or truncation. Values are shared between
// vertices and subgraphs with the same canonical quotient.
//
// Its methods may be called concurrently.
type Exact struct {
	graphs []*graph.Graph
	base   base.Kernel
	kernel Kernel
	levels []*classes // 0 … L, those above 0 sorted
	robust bool       // the first stage is computed by eq. (2)
	// explicit has the features of the base kernel by class of level 0, nil if it has none.
	explicit *features
	memory   int64 // bytes for tables of values
}

// NewExact sorts the vertices of the graphs into neighbourhood classes at every level. Tables of
// kernel values may take the memory that the context says (kernel.Work).
func NewExact(ctx context.Context, graphs []*graph.Graph, k Kernel) (*Exact, error) {
	if err := k.validateSingle(); err != nil {
		return nil, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return nil, err
	}
	k.Base = b.String() // the same for new graphs
	e := &Exact{graphs: graphs, base: b, kernel: k, memory: kernel.WorkOf(ctx).Memory}
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
		return fmt.Errorf("the exact Gram matrix needs %.3g GB for tables of kernel values, more than the %.3g GB that it may take; allow more, take fewer levels or smaller radii, or use the low-rank kernel",
			float64(need)/1e9, float64(e.memory)/1e9)
	}
	v, err := e.bottom()
	for l, c := range e.levels {
		if l > 0 {
			v, err = e.pairs(ctx, fmt.Sprintf("pairs %d/%d", l, len(e.kernel.Radii)), c, l-1, v)
		}
		if err != nil {
			return err
		}
		if err := visit(l, v); err != nil {
			return err
		}
	}
	return nil
}

// bottom gives the values of the base kernel, from a table where that is small.
func (e *Exact) bottom() (values, error) {
	s := e.levels[0]
	n := s.len()
	const most = 4096
	if n > most {
		return values{n, func(dst []float64, rows, cols []int32) {
			e.base.Gram(dst, s.some(rows), s.some(cols))
		}}, nil
	}
	full, t := make([]float64, n*n), newTable(n)
	e.base.Gram(full, s.descriptor, s.descriptor)
	for i := range n {
		copy(t.row(i), full[i*n:])
	}
	return values{n, t.block}, nil
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

// Cross returns the kernel matrix between graphs (rows) and those that e was made for, from Gram
// matrices: of graphs with all of these, or with as many of them at a time where that is less work.
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
			quiet := kernel.WorkOf(ctx)
			quiet.Progress = nil // every part would start anew
			ctx = kernel.WithWork(ctx, quiet)
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

// Compare implements kernel.Comparer.
func (e *Exact) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	two, err := NewExact(ctx, []*graph.Graph{g, h}, e.kernel)
	if err != nil {
		return 0, err
	}
	k, err := two.Gram(ctx)
	if err != nil {
		return 0, err
	}
	return k.At(0, 1), nil
}

// work returns the number of pairs of graphs and classes that Gram compares.
func (e *Exact) work() float64 {
	pairs := float64(len(e.graphs)) * float64(len(e.graphs))
	for _, c := range e.levels[1:] {
		pairs += float64(c.len()) * float64(c.len())
	}
	return pairs
}

// How precise the exact kernel is. A stage computes kernel values from those of the level
// below: levels 1 … L, then the whole graphs. Eq. (3) lifts the relative error of the values
// that it starts from by a factor of up to growth = amplification/(γη): D has eigenvalues from η
// up, and an error of K enters it divided by γ. It adds an error of its own, ε times the spread of
// A: its diagonal over the sums of its rows, whose digits edge weights drown. Quotients with
// a spread above maxSpread are taken in the congruent form, which has no such error, and takes
// three times as long. The constants are about what was measured against 400-bit arithmetic
// (TestPrecision, where no error exceeds the estimate fourfold).
//
// Eq. (2) with singular values has no such error where the features are exact, as those of a base
// kernel are. It is slower and stands in for eq. (3) at the first stage where that would lose too
// much.
const (
	amplification = 1.2
	maxSpread     = 1e3
	// From this estimate on, or below these γη and γη over the largest value of the base kernel, the
	// first stage is computed by eq. (2).
	fastError   = 3e-5
	minGammaEta = 1e-6
	minByBase   = 1e-8
	// An estimate above this is refused: fewer than two digits would be right.
	maxError = 1e-2
)

// growth is that of errors in a stage.
func (k *Kernel) growth() float64 { return amplification / (k.Gamma * k.Eta) }

// maxSpread is the largest spread of a quotient that is not wide.
func (k *Kernel) maxSpread() float64 { return max(maxSpread, k.growth()) }

// wide reports whether a quotient with the matrix A has too large a spread.
func (k *Kernel) wide(q *graph.Quotient, a []float64) bool {
	most := k.maxSpread() * k.Eta
	for i, n := range q.Size {
		if !(a[i*len(q.Size)+i] <= most*float64(n)) {
			return true
		}
	}
	return false
}

// extent is what the precision of the kernel depends on, of a collection of graphs.
type extent struct {
	vertices float64 // the most that a graph has
	spread   float64 // the largest of a vertex
	value    float64 // the largest of the base kernel, at least 1
	explicit bool    // the base kernel has features
}

// extent returns that of graphs; self are the values of the base kernel.
func (k *Kernel) extent(graphs []*graph.Graph, self []float64, explicit bool) extent {
	x := extent{value: 1, explicit: explicit}
	for _, v := range self {
		x.value = max(x.value, v)
	}
	for _, g := range graphs {
		x.vertices = max(x.vertices, float64(g.N()))
		for v := range g.N() {
			sum := float64(g.Degree(v))
			if weights := g.Weights(v); weights != nil {
				sum = 0
				for _, w := range weights {
					sum += w
				}
			}
			x.spread = max(x.spread, 1+sum/k.Eta)
		}
	}
	return x
}

// precision decides how the first stage is computed, and estimates the relative error of the result.
func (k *Kernel) precision(x extent) (robust bool, estimate float64, err error) {
	if k.PairRank > 0 {
		return true, math.NaN(), nil
	}
	levels, growth, spread := len(k.Radii), k.growth(), min(x.spread, k.maxSpread())
	// Entries of D grow with the size of a cell, which can be large in whole graphs.
	whole := growth * x.vertices / 2
	after := func(first float64) float64 {
		for range levels {
			first = growth*first + spread
		}
		if levels > 0 {
			first += whole
		}
		return epsilon * first
	}
	byEq3 := growth*x.value + spread
	if levels == 0 {
		byEq3 += whole * x.value
	}
	if estimate = after(byEq3); estimate <= fastError && k.Gamma*k.Eta >= max(minGammaEta, minByBase*x.value) {
		return false, estimate, nil
	}
	// Singular values have an error of up to ε times the largest.
	byEq2 := 10 + math.Sqrt(x.value*min(1/(k.Gamma*k.Eta), 2*x.spread))/10
	if !x.explicit {
		byEq2 = growth * x.value
	}
	if estimate = after(byEq2); estimate <= maxError {
		return true, estimate, nil
	}
	return true, estimate, fmt.Errorf("gamma·eta = %.3g is too small for %d levels and values of the base kernel up to %.3g in float64: rounding errors grow by up to %.1g at every level, and the result could have a relative error of %.1g; raise gamma or eta, take fewer levels, or use the low-rank kernel",
		k.Gamma*k.Eta, levels, x.value, growth, estimate)
}
