package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// featureMap is a kernel of explicit features: it says how a graph becomes a vector of counts.
// The Fit method of a kernel fills it in and calls its fit.
type featureMap struct {
	name      string    // of the kernel, for errors
	labels    Labelling // of the vertices
	h         int       // refinements of the labels
	weights   []float64 // of the blocks of features; nil for one block of weight 1
	minimum   bool      // counts are compared by their minimum; one block, whole numbers
	vertices  bool      // features are the colours of the vertices
	normalize bool

	// count returns a function that adds the features of one graph after the other. Every
	// goroutine has its own.
	count func() countFunc
	// compare is nil, or returns a function that compares two graphs in a refinement that is
	// large for one of them, and so has no features in the index.
	compare func() compareFunc
}

type countFunc func(ctx context.Context, g *coloured, out *features) error

type compareFunc func(ctx context.Context, a, b *coloured, refinement int) (float64, error)

// features are the features of one graph. Those of a graph have different numbers, or
// different keys.
type features struct {
	entries []entry
	keys    []featureKey // of the entries, or none when these have their numbers
	words   []uint32     // of the keys
}

type featureKey struct {
	end  int // of the key in words
	hash uint64
}

// add adds a feature that has a number.
func (f *features) add(id uint32, value float64) {
	f.entries = append(f.entries, entry{id: id, val: value})
}

// addKey adds a feature that the dictionary of the kernel numbers by its key.
func (f *features) addKey(block uint32, value float64, key ...uint32) {
	hash := uint64(len(key))
	for _, x := range key {
		f.words = append(f.words, x)
		hash = mix(hash, x)
	}
	f.keys = append(f.keys, featureKey{len(f.words), hash})
	f.entries = append(f.entries, entry{block: block, val: value})
}

// addColours adds the numbers of times that colours occur. It sorts the colours in place.
func (f *features) addColours(colours []uint32) {
	sortWords(colours)
	for i := 0; i < len(colours); {
		j := i + 1
		for j < len(colours) && colours[j] == colours[i] {
			j++
		}
		f.add(colours[i], float64(j-i))
		i = j
	}
}

func (f *features) reset() {
	f.entries, f.keys, f.words = f.entries[:0], f.keys[:0], f.words[:0]
}

// number gives the features with keys their numbers in a dictionary. Where it is fixed, those
// that it does not have are unseen.
func (f *features) number(d *dictionary, fixed bool) {
	start := 0
	for i, k := range f.keys {
		key := f.words[start:k.end]
		start = k.end
		if !fixed {
			f.entries[i].id = d.intern(key, k.hash)
		} else if id, ok := d.lookup(key, k.hash); ok {
			f.entries[i].id = id
		} else {
			f.entries[i].id = unseen
		}
	}
}

// explicit is a kernel of explicit features that is fitted to training graphs.
type explicit struct {
	featureMap
	colouring colouring
	dict      dictionary
	index     *index
	train     []coloured // with compare only
	anyLarge  bool       // some training graph has a large refinement
}

// fit counts the features of the training graphs.
func (m featureMap) fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	fail := func(err error) (kernel.Fitted, error) { return nil, fmt.Errorf("%s: %w", m.name, err) }
	f := &explicit{featureMap: m, colouring: colouring{wanted: m.labels}}
	train, err := f.colouring.fit(ctx, graphs, m.h)
	if err != nil {
		return fail(err)
	}
	vectors, err := f.vectors(ctx, train)
	if err != nil {
		return fail(err)
	}
	if f.index, err = newIndex(vectors, m.weights, m.minimum); err != nil {
		return fail(err)
	}
	for i := range train {
		f.index.self[i] += train[i].rest
		if err := f.checkSelf(f.index.self[i]); err != nil {
			return fail(graphError(i, err))
		}
		f.anyLarge = f.anyLarge || train[i].large != nil
	}
	if m.compare != nil {
		f.train = train
	}
	if m.vertices {
		return &vertexCounts{f}, nil
	}
	return f, nil
}

// vectors returns the features of the training graphs. It counts in parallel, and numbers
// features in the order of the graphs, a batch at a time.
func (f *explicit) vectors(ctx context.Context, train []coloured) ([][]entry, error) {
	const batch = 256
	out := make([][]entry, len(train))
	found := make([]features, min(batch, len(train)))
	for from := 0; from < len(train); from += batch {
		size := min(batch, len(train)-from)
		err := each(ctx, size, 4, f.newRowWorker, func(w *rowWorker, i int) error {
			w.found.reset()
			err := w.count(ctx, &train[from+i], &w.found)
			out[from+i] = slices.Clone(w.found.entries)
			found[i].keys = append(found[i].keys[:0], w.found.keys...)
			found[i].words = append(found[i].words[:0], w.found.words...)
			return graphError(from+i, err)
		})
		if err != nil {
			return nil, err
		}
		for i := range size {
			found[i].entries = out[from+i]
			found[i].number(&f.dict, false)
		}
	}
	return out, ctx.Err()
}

var (
	errTooLarge = errors.New("kernel value is not a finite number; want fewer steps, a smaller lambda, or smaller attributes")
	errTooMany  = errors.New("more than 4294967295 colours in all refinements together, want fewer refinements")
)

// checkSelf checks the kernel of a graph with itself, which bounds its kernels with others.
func (f *explicit) checkSelf(k float64) error {
	if math.IsInf(k, 0) || math.IsNaN(k) {
		return errTooLarge
	}
	if f.minimum && k > math.MaxUint32 {
		return errTooMany
	}
	return nil
}

// rowWorker holds what one goroutine needs to compare graphs with the training graphs.
type rowWorker struct {
	count   countFunc
	compare compareFunc
	unknown unknown
	found   features
	known   []known // features of the graph at hand that training graphs have
	sums    sums
}

func (f *explicit) newRowWorker() *rowWorker {
	w := &rowWorker{count: f.count()}
	if f.compare != nil {
		w.compare = f.compare()
	}
	return w
}

// transform finds the features of a new graph and returns its kernel with itself.
func (f *explicit) transform(ctx context.Context, w *rowWorker, c *colouring, graph *graph.Graph) (g *coloured, self float64, err error) {
	if g, err = c.apply(ctx, graph, &w.unknown); err != nil {
		return nil, 0, err
	}
	w.found.reset()
	if err := w.count(ctx, g, &w.found); err != nil {
		return nil, 0, err
	}
	w.found.number(&f.dict, true)
	var others []entry
	w.known, others = f.index.split(w.found.entries, w.known[:0])
	self = f.index.selfSimilarity(w.known, others) + g.rest
	return g, self, f.checkSelf(self)
}

// fill writes the kernel values of a graph, whose features w holds, and the training graphs
// from number lo on.
func (f *explicit) fill(ctx context.Context, w *rowWorker, g *coloured, self float64, lo int, row []float64) error {
	f.index.accumulate(w.known, lo, row, &w.sums)
	if f.compare != nil && (f.anyLarge || g.large != nil) {
		for j := range row {
			other := &f.train[lo+j]
			if other == g {
				row[j] += g.rest
				continue
			}
			for r := range g.colours {
				if !g.isLarge(r) && !other.isLarge(r) {
					continue
				}
				v, err := w.compare(ctx, g, other, r)
				if err != nil {
					return err
				}
				row[j] += v
			}
		}
	}
	if f.normalize {
		others := f.index.self[lo:][:len(row)]
		for j, v := range row {
			row[j] = normalized(v, self, others[j])
		}
	}
	return nil
}

// Gram returns the kernel matrix of the training graphs.
func (f *explicit) Gram(ctx context.Context) (*kernel.Matrix, error) {
	n := len(f.index.self)
	m := kernel.NewMatrix(n, n)
	err := each(ctx, n, 1, f.newRowWorker, func(w *rowWorker, i int) error {
		w.known = f.index.vector(i, w.known[:0])
		var g *coloured
		if f.train != nil {
			g = &f.train[i]
		}
		return f.fill(ctx, w, g, f.index.self[i], i, m.Row(i)[i:])
	})
	if err == nil {
		err = mirror(ctx, m)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *explicit) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	m := kernel.NewMatrix(len(graphs), len(f.index.self))
	err := f.eachNew(ctx, graphs, func(ctx context.Context, w *rowWorker, i int, g *coloured, self float64) error {
		return f.fill(ctx, w, g, self, 0, m.Row(i))
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Diagonal returns the kernel of every graph with itself, before normalisation.
func (f *explicit) Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	out := make([]float64, len(graphs))
	err := f.eachNew(ctx, graphs, func(_ context.Context, _ *rowWorker, i int, _ *coloured, self float64) error {
		out[i] = self
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eachNew calls work with every new graph, coloured, whose features w holds.
func (f *explicit) eachNew(ctx context.Context, graphs []*graph.Graph, work func(ctx context.Context, w *rowWorker, i int, g *coloured, self float64) error) error {
	c, err := f.colouring.forNew(graphs)
	if err == nil {
		err = each(ctx, len(graphs), 1, f.newRowWorker, func(w *rowWorker, i int) error {
			g, self, err := f.transform(ctx, w, c, graphs[i])
			if err == nil {
				err = work(ctx, w, i, g, self)
			}
			return graphError(i, err)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// mirror copies the upper triangle to the lower one, tile by tile.
func mirror(ctx context.Context, m *kernel.Matrix) error {
	const tile = 32
	n := m.Rows
	return each(ctx, (n+tile-1)/tile, 1, nothing, func(_ struct{}, t int) error {
		lo, hi := t*tile, min(n, (t+1)*tile)
		for from := 0; from < hi; from += tile {
			for i := lo; i < hi; i++ {
				row := m.Row(i)
				for j := from; j < min(from+tile, i); j++ {
					row[j] = m.Data[j*n+i]
				}
			}
		}
		return nil
	})
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
