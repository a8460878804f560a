package classic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// countKernel is a kernel of explicit features.
type countKernel interface {
	kernel.Kernel
	recipe() recipe
}

// recipe says how a graph becomes a vector of counts.
type recipe struct {
	labels     Labelling       // of the vertices
	edgeLabels bool            // labels of edges count too
	h          int             // refinements of the labels
	sign       func() signFunc // of refinements that are not those of Weisfeiler and Lehman
	weights    []float64       // of the blocks of features; nil for one block of weight 1
	minimum    bool            // counts are compared by their minimum; one block, whole numbers
	sets       setFunc         // nil where features do not count vertices or pairs of them
	normalize  bool
	width      float64 // of Gaussians of the differences of features, 0 for their products; without normalize

	// count returns a function that adds the features of one graph after the other. Every
	// goroutine has its own.
	count func() countFunc
	// compare is nil, or returns a function that compares two graphs in a refinement that is
	// large for one of them, and so has no features in the index.
	compare func() compareFunc
}

type countFunc func(ctx context.Context, g *coloured, out *vector) error

type compareFunc func(ctx context.Context, a, b *coloured, refinement int) (float64, error)

// countMap is the map of a kernel of explicit features.
type countMap struct {
	recipe
	name      string // of the kernel, for errors
	colouring colouring
	buffers   sync.Pool // of *worker
}

var _ kernel.Map = (*countMap)(nil)

// worker holds what one goroutine needs to compare graphs.
type worker struct {
	tiler
	compare compareFunc
}

func newCountMap(k countKernel) *countMap {
	m := &countMap{recipe: k.recipe(), name: k.Name()}
	m.colouring = colouring{wanted: m.labels, edges: m.edgeLabels, h: m.h, signer: m.sign}
	if m.weights == nil {
		m.weights = []float64{1}
	}
	m.buffers.New = func() any {
		w := &worker{tiler: tiler{weight: m.weights, minimum: m.minimum}}
		if m.recipe.compare != nil {
			w.compare = m.recipe.compare()
		}
		return w
	}
	return m
}

// public returns the map with the methods that it has.
func (m *countMap) public() kernel.Map {
	if m.sets != nil {
		return &setMap{m}
	}
	return m
}

// fit counts the features of the training graphs.
func fit(ctx context.Context, k countKernel, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	m := newCountMap(k)
	if err := m.colouring.fit(graphs); err != nil {
		return nil, m.error(err)
	}
	train, err := m.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return &kernel.Fitted{Map: m.public(), Train: train}, nil
}

// decode returns the map that AppendBinary wrote.
func decode(k countKernel, data []byte) (kernel.Map, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	m := newCountMap(k)
	return m.public(), m.error(m.colouring.decode(data))
}

// AppendBinary implements kernel.Map.
func (m *countMap) AppendBinary(b []byte) ([]byte, error) { return m.colouring.appendBinary(b), nil }

// error adds the name of the kernel to an error.
func (m *countMap) error(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", m.name, err)
}

// Transform implements kernel.Map. It counts in parallel, and gathers features in the order of the
// graphs, a batch at a time.
func (m *countMap) Transform(ctx context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	out, err := m.transform(ctx, graphs)
	if err != nil {
		return nil, m.error(err)
	}
	return out, nil
}

func (m *countMap) transform(ctx context.Context, graphs []*graph.Graph) (*vectors, error) {
	c, err := m.colouring.forNew(graphs)
	if err != nil {
		return nil, err
	}
	const batch = 256
	type made struct {
		vector
		coloured *coloured
		self     float64
	}
	found := make([]made, min(batch, len(graphs)))
	counters := make([]*counter, work.Workers(ctx))
	out := vectorBuilder{vectors: vectors{start: []int{0}}}
	meter := work.NewMeter(ctx, "features", partSteps(graphs...))
	for from := 0; from < len(graphs); from += batch {
		some := graphs[from:min(from+batch, len(graphs))]
		err := work.Each(ctx, len(some), 4, func(w, i int) (err error) {
			if counters[w] == nil {
				counters[w] = m.counter(c)
			}
			ctx, part := meter.Part(ctx, partSteps(some[i]))
			defer part.End()
			f := &found[i]
			f.coloured, f.self, err = counters[w].features(ctx, some[i], &f.vector)
			return graphError(from+i, err)
		})
		if err != nil {
			return nil, err
		}
		for i := range some {
			out.add(&found[i].vector, found[i].self)
			if m.compare != nil {
				out.graphs = append(out.graphs, found[i].coloured)
			}
		}
	}
	return out.build(len(m.weights)), ctx.Err()
}

// partSteps returns the steps of a meter for graphs. A graph has more if it is large.
func partSteps(graphs ...*graph.Graph) int {
	sum := 0
	for _, g := range graphs {
		sum += 1 + g.N()
	}
	return sum
}

// counter counts the features of one graph after the other.
type counter struct {
	*countMap
	paint *painter
	count countFunc
}

func (m *countMap) counter(c *colouring) *counter { return &counter{m, c.painter(), m.count()} }

// counts sets out to the features of a graph.
func (c *counter) counts(ctx context.Context, g *graph.Graph, out *vector) (*coloured, error) {
	painting, counting := ctx, ctx
	if c.sign != nil { // balls take about as long as what is counted; the others are quick
		painting, counting = work.Within(ctx, 0, 2), work.Within(ctx, 1, 2)
	}
	painted, err := c.paint.paint(painting, g)
	if err != nil {
		return nil, err
	}
	out.reset()
	return painted, c.count(counting, painted, out)
}

// features sets out to the sorted features of a graph, and returns its kernel with itself.
func (c *counter) features(ctx context.Context, g *graph.Graph, out *vector) (*coloured, float64, error) {
	painted, err := c.counts(ctx, g, out)
	if err != nil {
		return nil, 0, err
	}
	out.sort()
	self := c.selfSimilarity(out.entries) + painted.rest
	return painted, self, c.checkSelf(self)
}

// selfSimilarity returns the kernel of a graph with itself, in the order of tiles.
func (m *countMap) selfSimilarity(entries []entry) float64 {
	sum := 0.0
	for b, w := range m.weights {
		part := 0.0
		for ; len(entries) > 0 && int(entries[0].block) == b; entries = entries[1:] {
			if v := entries[0].val; m.minimum {
				part += v
			} else {
				part += float64(v * v)
			}
		}
		sum += float64(w * part)
	}
	return sum
}

// checkSelf checks the kernel of a graph with itself, which bounds its kernels with others.
func (m *countMap) checkSelf(k float64) error {
	if math.IsInf(k, 0) || math.IsNaN(k) {
		return errors.New("a kernel value is not a finite number; want fewer steps, a smaller lambda, or smaller attributes")
	}
	if m.minimum && k > math.MaxUint32 {
		return errors.New("more than 4294967295 colours in all refinements together, want fewer refinements")
	}
	return nil
}

// Fill implements kernel.Map.
func (m *countMap) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	x, y := b.A.(*vectors), b.B.(*vectors)
	w := m.buffers.Get().(*worker)
	defer m.buffers.Put(w)
	if err := w.fill(ctx, dst, stride, b); err != nil {
		return err
	}
	return eachRow(ctx, dst, stride, b, func(row []float64, i, lo int) error {
		if x.anyLarge || y.anyLarge {
			if err := w.addLarge(ctx, row, x.graphs[i], y.graphs[lo:]); err != nil {
				return err
			}
		}
		switch {
		case m.normalize:
			normalize(row, x.self[i], y.self[lo:])
		case m.width > 0:
			gaussian(row, x.self[i], y.self[lo:], m.width)
		}
		return nil
	})
}

// eachRow calls f with the rows of a block, their graphs and the first graph of the columns. If rows
// and columns are the same graphs, rows end at the diagonal, and the rest is copied from below it.
func eachRow(ctx context.Context, dst []float64, stride int, b kernel.Block, f func(row []float64, i, lo int) error) error {
	square := b.Square()
	for i := b.I0; i < b.I1; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		width := b.J1 - b.J0
		if square {
			width = i - b.I0 + 1
		}
		if err := f(dst[(i-b.I0)*stride:][:width], i, b.J0); err != nil {
			return err
		}
	}
	const line = 8 // rows whose values of one column are written together
	for i := 0; i < b.I1-b.I0 && square; i += line {
		for j := range i + line - 1 {
			for k := max(i, j+1); k < min(i+line, b.I1-b.I0); k++ {
				dst[j*stride+k] = dst[k*stride+j]
			}
		}
	}
	return ctx.Err()
}

// addLarge adds the values of the refinements that are large for one of two graphs.
func (w *worker) addLarge(ctx context.Context, row []float64, g *coloured, others []*coloured) error {
	for j := range row {
		sum := 0.0
		for r := range g.colours {
			if !g.isLarge(r) && !others[j].isLarge(r) {
				continue
			}
			v, err := w.compare(ctx, g, others[j], r)
			if err != nil {
				return err
			}
			sum += v
		}
		row[j] += sum
	}
	return nil
}

// Join implements kernel.Map.
func (m *countMap) Join(parts ...kernel.Features) kernel.Features {
	of := make([]*vectors, len(parts))
	for i, p := range parts {
		of[i] = p.(*vectors)
	}
	return joined(of, len(m.weights))
}

// Diagonal returns the kernel of every graph with itself, before normalisation.
func (m *countMap) Diagonal(a kernel.Features) []float64 { return a.(*vectors).self }

// graphError adds the number of the graph to an error. Cancellations do not change.
func graphError(i int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &kernel.GraphError{Graph: i, Err: fmt.Errorf("graph %d: %w", i, err)}
}

// normalize divides the values of a graph and others by the roots of their kernels with themselves.
func normalize(row []float64, self float64, others []float64) {
	others = others[:len(row)]
	for j, v := range row {
		row[j] = normalized(v, self, others[j])
	}
}

// normalized returns v/√(ab), at most 1. Where a or b is 0 it is 1 if both are, else 0.
// √(a·a) is a exactly, so that a graph has similarity 1 with itself.
func normalized(v, a, b float64) float64 {
	if a == 0 || b == 0 {
		if a == b {
			return 1
		}
		return 0
	}
	p := a * b
	if p > math.MaxFloat64 || p < 1e-280 { // p would lose digits: rescale by a power of 4
		e := -2 * (math.Ilogb(max(a, b)) / 2)
		a, b, v = math.Ldexp(a, e), math.Ldexp(b, e), math.Ldexp(v, e)
		p = a * b
	}
	return min(1, v/math.Sqrt(p))
}
