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

// featureKernel is a kernel of explicit features.
type featureKernel interface {
	kernel.Kernel
	features() featureMap
}

// featureMap says how a graph becomes a vector of counts. Some features have a number of their own,
// such as the type of a graphlet or the colour of a vertex. Others have a key of whole numbers, such
// as the end colours and the length of a path, and a dictionary gives them numbers.
type featureMap struct {
	labels     Labelling       // of the vertices
	edgeLabels bool            // labels of edges are numbered too
	h          int             // refinements of the labels
	sign       func() signFunc // of refinements that are not those of Weisfeiler and Lehman
	weights    []float64       // of the blocks of features; nil for one block of weight 1
	minimum    bool            // counts are compared by their minimum; one block, whole numbers
	sets       setFunc         // nil where features do not count vertices or pairs of them
	normalize  bool

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
	shares  []int        // ends of runs of entries whose squares add up to 1; none for counts
}

type featureKey struct {
	end   int // of the key in words
	hash  uint64
	chain bool // words after the first are positions of features before it; see addChain
}

// add adds a feature that has a number.
func (f *features) add(id uint32, value float64) {
	f.entries = append(f.entries, entry{id: id, val: value})
}

// addKey adds a feature that the dictionary of the kernel numbers by its key.
func (f *features) addKey(block uint32, value float64, key ...uint32) {
	f.words = append(f.words, key...)
	f.keys = append(f.keys, featureKey{end: len(f.words), hash: hashWords(key)})
	f.entries = append(f.entries, entry{block: block, val: value})
}

// addChain adds a feature of value 0. Its key is a word and other features of the graph in any
// order, by their positions in entries. It is the same feature in two graphs if the words and the
// other features are.
func (f *features) addChain(key ...uint32) {
	f.words = append(f.words, key...)
	f.keys = append(f.keys, featureKey{end: len(f.words), chain: true})
	f.entries = append(f.entries, entry{})
}

func (f *features) reset() {
	f.entries, f.keys, f.words, f.shares = f.entries[:0], f.keys[:0], f.words[:0], f.shares[:0]
}

// number gives the keys of f numbers in a dictionary. If the dictionary is fixed, other keys are
// unseen.
func (f *features) number(entries []entry, d *dictionary, fixed bool) {
	start := 0
	for i, k := range f.keys {
		key := f.words[start:k.end]
		start = k.end
		if k.chain {
			for at, position := range key[1:] {
				key[at+1] = entries[position].id
			}
			slices.Sort(key[1:])
			k.hash = hashWords(key)
		}
		if !fixed {
			entries[i].id = d.intern(key, k.hash)
		} else if id, ok := d.lookup(key, k.hash); ok { // no key of the dictionary has unseen
			entries[i].id = id
		} else {
			entries[i].id = unseen
		}
	}
}

// explicit is a kernel of explicit features that is fitted to training graphs.
type explicit struct {
	featureMap
	name      string // of the kernel, for errors
	colouring colouring
	dict      dictionary
	index     *index
	train     []coloured // with compare only
	anyLarge  bool       // some training graph has a large refinement
}

// fit counts the features of the training graphs.
func fit(ctx context.Context, k featureKernel, graphs []*graph.Graph) (kernel.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	m := k.features()
	f := &explicit{featureMap: m, name: k.Name(), colouring: colouring{wanted: m.labels, signer: m.sign}}
	if m.edgeLabels {
		f.colouring.edges = labelNumbers{}
	}
	if err := f.fit(ctx, graphs); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if m.sets != nil {
		return &setCounts{f}, nil
	}
	return f, nil
}

func (f *explicit) fit(ctx context.Context, graphs []*graph.Graph) error {
	train, err := f.colouring.fit(ctx, graphs, f.h)
	if err != nil {
		return err
	}
	vectors, err := f.vectors(ctx, train)
	if err != nil {
		return err
	}
	if f.index, err = newIndex(vectors, f.weights, f.minimum); err != nil {
		return err
	}
	for i := range train {
		f.index.self[i] += train[i].rest
		if err := f.checkSelf(f.index.self[i]); err != nil {
			return graphError(i, err)
		}
		f.anyLarge = f.anyLarge || train[i].large != nil
	}
	if f.compare != nil {
		f.train = train
	}
	return nil
}

// vectors returns the features of the training graphs. It counts in parallel, and numbers
// features in the order of the graphs, a batch at a time.
func (f *explicit) vectors(ctx context.Context, train []coloured) ([][]entry, error) {
	const batch = 256
	out := make([][]entry, len(train))
	found := make([]features, min(batch, len(train)))
	meter := kernel.NewMeter(ctx, "features", len(train))
	for from := 0; from < len(train); from += batch {
		some := train[from:min(from+batch, len(train))]
		err := f.each(ctx, len(some), 4, func(w *rowWorker, i int) error {
			w.found.reset()
			err := w.count(ctx, &some[i], &w.found)
			out[from+i] = slices.Clone(w.found.entries)
			found[i].keys = append(found[i].keys[:0], w.found.keys...)
			found[i].words = append(found[i].words[:0], w.found.words...)
			return graphError(from+i, err)
		})
		if err != nil {
			return nil, err
		}
		for i := range some {
			found[i].number(out[from+i], &f.dict, false)
		}
		meter.Add(len(some))
	}
	return out, ctx.Err()
}

// checkSelf checks the kernel of a graph with itself, which bounds its kernels with others.
func (f *explicit) checkSelf(k float64) error {
	if math.IsInf(k, 0) || math.IsNaN(k) {
		return errors.New("a kernel value is not a finite number; want fewer steps, a smaller lambda, or smaller attributes")
	}
	if f.minimum && k > math.MaxUint32 {
		return errors.New("more than 4294967295 colours in all refinements together, want fewer refinements")
	}
	return nil
}

// rowWorker holds what one goroutine needs to compare graphs with the training graphs.
type rowWorker struct {
	count   countFunc
	compare compareFunc
	unknown unknown
	found   features
	known   []known
	sums    sums
}

// query is a graph that is compared with the training graphs.
type query struct {
	*coloured         // with compare only, if it is a training graph
	vector    []known // its features that training graphs have
	self      float64 // its kernel with itself
}

// each calls work(w, i) for i = 0 … n-1 from the goroutines of the context (kernel.Each), each of
// which has its own w.
func (f *explicit) each(ctx context.Context, n, chunk int, work func(w *rowWorker, i int) error) error {
	workers := make([]*rowWorker, kernel.Workers(ctx))
	return kernel.Each(ctx, n, chunk, func(w, i int) error {
		if workers[w] == nil {
			workers[w] = &rowWorker{count: f.count()}
			if f.compare != nil {
				workers[w].compare = f.compare()
			}
		}
		return work(workers[w], i)
	})
}

// transform finds the features of a new graph. They are valid until the next call with w.
func (f *explicit) transform(ctx context.Context, w *rowWorker, c *colouring, g *graph.Graph) (q query, err error) {
	if q.coloured, err = c.apply(ctx, g, &w.unknown); err != nil {
		return q, err
	}
	w.found.reset()
	if err := w.count(ctx, q.coloured, &w.found); err != nil {
		return q, err
	}
	w.found.number(w.found.entries, &f.dict, true)
	var others []entry
	w.known, others = f.index.split(w.found.entries, w.known[:0])
	q.vector, q.self = w.known, f.index.selfSimilarity(w.known, others)+q.rest
	return q, f.checkSelf(q.self)
}

// fill writes the kernel values of a graph and the training graphs from number lo on.
func (f *explicit) fill(ctx context.Context, w *rowWorker, q query, lo int, row []float64) error {
	f.index.accumulate(q.vector, lo, row, &w.sums)
	if f.compare != nil && (f.anyLarge || q.large != nil) {
		for j := range row {
			other := &f.train[lo+j]
			if other == q.coloured {
				row[j] += q.rest
				continue
			}
			for r := range q.colours {
				if !q.isLarge(r) && !other.isLarge(r) {
					continue
				}
				v, err := w.compare(ctx, q.coloured, other, r)
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
			row[j] = normalized(v, q.self, others[j])
		}
	}
	return nil
}

// Gram returns the kernel matrix of the training graphs.
func (f *explicit) Gram(ctx context.Context) (*kernel.Matrix, error) {
	n := f.index.n
	m := kernel.NewMatrix(n, n)
	meter := kernel.NewMeter(ctx, "gram", n)
	err := f.each(ctx, n, 1, func(w *rowWorker, i int) error {
		defer meter.Add(1)
		q := query{vector: f.index.vectors[i], self: f.index.self[i]}
		if f.train != nil {
			q.coloured = &f.train[i]
		}
		return f.fill(ctx, w, q, i, m.Row(i)[i:])
	})
	if err == nil {
		err = mirror(ctx, m)
	}
	return m, err
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *explicit) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	m := kernel.NewMatrix(len(graphs), f.index.n)
	err := f.eachNew(ctx, graphs, func(w *rowWorker, i int, q query) error {
		return f.fill(ctx, w, q, 0, m.Row(i))
	})
	return m, err
}

// Diagonal returns the kernel of every graph with itself, before normalisation.
func (f *explicit) Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	out := make([]float64, len(graphs))
	err := f.eachNew(ctx, graphs, func(_ *rowWorker, i int, q query) error {
		out[i] = q.self
		return nil
	})
	return out, err
}

// eachNew calls work with every new graph.
func (f *explicit) eachNew(ctx context.Context, graphs []*graph.Graph, work func(w *rowWorker, i int, q query) error) error {
	c, err := f.colouring.forNew(graphs)
	if err == nil {
		meter := kernel.NewMeter(ctx, "gram", len(graphs))
		err = f.each(ctx, len(graphs), 1, func(w *rowWorker, i int) error {
			defer meter.Add(1)
			q, err := f.transform(ctx, w, c, graphs[i])
			if err == nil {
				err = work(w, i, q)
			}
			return graphError(i, err)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// graphError adds the number of the graph to an error. Cancellations do not change.
func graphError(i int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("graph %d: %w", i, err)
}

// mirror copies the upper triangle to the lower one, tile by tile.
func mirror(ctx context.Context, m *kernel.Matrix) error {
	const tile = 32
	n := m.Rows
	return kernel.Each(ctx, (n+tile-1)/tile, 1, func(_, t int) error {
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
