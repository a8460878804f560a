package baseline

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Variant says what a WL kernel counts in every colouring.
type Variant int

const (
	Subtree    Variant = iota // vertices by colour; dot product
	Edge                      // edges by the unordered pair of their end colours; dot product
	Assignment                // vertices by colour; minimum (optimal assignment)
	Path                      // connected pairs of vertices by unordered end colours and hops; dot product
)

var variantNames = [...]string{"wl", "wl-edge", "wl-oa", "wl-sp"}

// WL is the family of Weisfeiler-Lehman kernels. Colouring 0 is the label of a vertex;
// two vertices have the same colour in colouring i when they have the same colour in
// colouring i-1 and their neighbours have the same colours with the same multiplicities.
// Then
//
//	k(G, G') = Σ_{i=0..H} Σ_c f(c_i(G), c_i(G')),
//
// where c_i(G) counts what Variant says, and f is the product, or for Assignment the
// minimum. Weights and edge labels play no part.
//
// Colours are equal when their full signatures are; hashes only speed up the search.
// Fit takes O(H (n + m) log d) time per graph, d the largest degree; Path takes O(n (n + m))
// per colouring instead.
type WL struct {
	H         int // iterations, 0 or more
	Variant   Variant
	Labels    Source // Attributes is not possible
	Normalize bool
	Workers   int
}

// DefaultWL returns the normalised subtree kernel with 5 iterations.
func DefaultWL() WL { return WL{H: 5, Normalize: true, Workers: runtime.GOMAXPROCS(0)} }

// maxIterations bounds H: deeper colourings are stable on graphs of up to that many vertices.
const maxIterations = 1 << 16

// Validate names the first field with a bad value.
func (k WL) Validate() error {
	if k.Variant < Subtree || k.Variant > Path {
		return fmt.Errorf("wl: Variant is %d, want Subtree, Edge, Assignment or Path", k.Variant)
	}
	if k.H < 0 || k.H > maxIterations {
		return fmt.Errorf("%s: H is %d, want 0 to %d", variantNames[k.Variant], k.H, maxIterations)
	}
	if err := k.Labels.validate(variantNames[k.Variant], false); err != nil {
		return err
	}
	return validateWorkers(variantNames[k.Variant], k.Workers)
}

// String names the kernel and its number of iterations, as in "wl h=5".
func (k WL) String() string {
	if k.Variant < Subtree || k.Variant > Path {
		return "wl"
	}
	return fmt.Sprintf("%s h=%d%s", variantNames[k.Variant], k.H, k.Labels.suffix())
}

// wlModel holds the dictionaries of a fitted WL kernel.
type wlModel struct {
	kernel     WL
	maxClasses int
	source     Source
	labels     labelDict
	refined    []signatures // by iteration, from 1
	paths      []pathDict   // by iteration, for Edge and Path
	base       []uint32     // by iteration: id of its first feature
	size       int          // number of features
	train      []wlTrace    // by training graph, for Path
}

// Fit colours the training graphs.
func (k WL) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	return k.fit(ctx, graphs, maxPathClasses)
}

// fit is Fit with a bound of the classes of paths of a colouring that go into the index.
func (k WL) fit(ctx context.Context, graphs []*graph.Graph, maxClasses int) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (mlg.Fitted, error) {
		return nil, fmt.Errorf("%s: %w", variantNames[k.Variant], err)
	}
	source, err := k.Labels.resolve(graphs)
	if err != nil {
		return fail(err)
	}
	m := &wlModel{kernel: k, maxClasses: maxClasses, source: source, labels: labelDict{}, refined: make([]signatures, k.H), base: make([]uint32, k.H+1)}
	if k.Variant == Edge || k.Variant == Path {
		m.paths = make([]pathDict, k.H+1)
	}
	if k.Variant == Path {
		m.train = make([]wlTrace, len(graphs))
		for g := range graphs {
			m.train[g].graph = graphs[g]
		}
	}
	colours := m.labels.fit(source, graphs)
	vectors := make([][]entry, len(graphs))
	r := newRefiner(graphs)
	for i := 0; ; i++ {
		m.base[i] = uint32(m.size)
		if err := m.fitFeatures(ctx, i, graphs, colours, vectors); err != nil {
			return fail(err)
		}
		if int64(m.size) >= unseen {
			return fail(fmt.Errorf("more than %d features", uint32(unseen-1)))
		}
		if i == k.H {
			break
		}
		if err := r.refine(ctx, k.Workers, graphs, colours, &m.refined[i]); err != nil {
			return fail(err)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	idx, err := newIndex(vectors, m.size, []float64{1}, k.Variant == Assignment)
	if err != nil {
		return fail(err)
	}
	if k.Variant == Path {
		return newWLPaths(m, idx), nil
	}
	f := &explicit{name: variantNames[k.Variant], idx: idx, normalize: k.Normalize, workers: k.Workers, mapper: m.mapper}
	if k.Variant == Edge {
		return f, nil
	}
	return &vertexCounts{f, m.vertexColours}, nil
}

// fitFeatures appends the features of colouring i to the vectors of the training graphs.
func (m *wlModel) fitFeatures(ctx context.Context, i int, graphs []*graph.Graph, colours [][]uint32, vectors [][]entry) error {
	k := m.kernel
	if m.paths == nil {
		buf := make([][]uint32, k.Workers)
		err := parallel(ctx, k.Workers, len(graphs), 64, func(w, g int) error {
			buf[w] = append(buf[w][:0], colours[g]...)
			sortIDs(buf[w])
			if i == 0 { // room for the first colourings
				vectors[g] = make([]entry, 0, min(k.H+1, 8)*len(colours[g]))
			}
			vectors[g] = appendCounts(vectors[g], buf[w], m.base[i])
			return nil
		})
		m.size += m.colours(i)
		return err
	}
	dict := &m.paths[i]
	dict.colours = m.colours(i)
	err := fitPaths(ctx, k.Workers, graphs, func(s *pathScratch, g int) ([]path, error) {
		var trace *wlTrace
		if m.train != nil {
			trace = &m.train[g]
		}
		return m.localPaths(ctx, s, graphs[g], colours[g], trace)
	}, func(g int, ps []path) error {
		vectors[g] = slices.Grow(vectors[g], len(ps))
		for _, p := range ps {
			id, err := dict.intern(p)
			if err != nil {
				return err
			}
			vectors[g] = append(vectors[g], entry{id: m.base[i] + id, val: p.count})
		}
		return nil
	})
	m.size += dict.features.len()
	return err
}

// colours returns the number of colours of colouring i.
func (m *wlModel) colours(i int) int {
	if i == 0 {
		return len(m.labels)
	}
	return m.refined[i-1].len()
}

// localPaths returns the classes of edges or, with a trace, of paths of a graph. Where
// the paths have too many classes, it returns none and leaves them to the trace.
func (m *wlModel) localPaths(ctx context.Context, s *pathScratch, g *graph.Graph, colour []uint32, trace *wlTrace) ([]path, error) {
	if trace == nil {
		return s.edges(g, colour), nil
	}
	if err := s.collect(ctx, g, colour, nil, nil); err != nil {
		return nil, err
	}
	classes, squares := s.squares()
	trace.colour = append(trace.colour, slices.Clone(colour))
	trace.large = append(trace.large, classes > m.maxClasses)
	if classes > m.maxClasses {
		trace.squares += squares
		return nil, nil
	}
	return s.classes(), nil
}

// mapper returns the function that maps new graphs.
func (m *wlModel) mapper(graphs []*graph.Graph) (func() mapping, error) {
	source, err := resolveNew(m.kernel.Labels, m.source, graphs)
	if err != nil {
		return nil, err
	}
	return func() mapping {
		f := m.mapping(source)
		return func(ctx context.Context, g *graph.Graph) ([]entry, error) { return f(ctx, g, nil) }
	}, nil
}

// mapping returns a function that maps a new graph, and fills its trace for Path.
func (m *wlModel) mapping(source Source) func(context.Context, *graph.Graph, *wlTrace) ([]entry, error) {
	var (
		private signatures // colours of the graph at hand that no training graph has
		s       pathScratch
		sig     []uint32
		next    []uint32
	)
	return func(ctx context.Context, g *graph.Graph, trace *wlTrace) ([]entry, error) {
		colour := m.labels.of(source, g)
		var v []entry
		for i := 0; ; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if m.paths == nil {
				next = append(next[:0], colour...)
				sortIDs(next)
				at := len(v)
				v = appendCounts(v, next, 0)
				unseenFrom(m.colours(i), v[at:])
				for j := at; j < len(v); j++ {
					if v[j].id != unseen {
						v[j].id += m.base[i]
					}
				}
			} else {
				ps, err := m.localPaths(ctx, &s, g, colour, trace)
				if err != nil {
					return nil, err
				}
				for _, p := range ps {
					e := entry{id: unseen, val: p.count}
					if id, ok := m.paths[i].lookup(p); ok {
						e.id = m.base[i] + id
					}
					v = append(v, e)
				}
			}
			if i == m.kernel.H {
				return v, nil
			}
			known := &m.refined[i]
			private.reset()
			next = next[:0]
			for u := range colour {
				sig = appendSignature(sig[:0], g, u, colour)
				h := hashSignature(sig)
				c, ok := known.lookup(sig, h)
				if !ok {
					c = uint32(known.len()) + private.intern(sig, h)
				}
				next = append(next, c)
			}
			copy(colour, next)
		}
	}
}

// appendSignature appends the colour of v and the sorted colours of its neighbours.
func appendSignature(dst []uint32, g *graph.Graph, v int, colour []uint32) []uint32 {
	dst = append(dst, colour[v])
	at := len(dst)
	for _, u := range g.Neighbors(v) {
		dst = append(dst, colour[u])
	}
	sortIDs(dst[at:])
	return dst
}

// refiner refines the colours of many graphs. Signatures are made in parallel, and
// numbered in the order of graphs and vertices.
type refiner struct {
	sig   []uint32 // signatures of all vertices
	start []int    // by graph: where its signatures start in sig
	hash  []uint64 // by vertex
	first []int    // by graph: number of its first vertex
}

func newRefiner(graphs []*graph.Graph) *refiner {
	r := &refiner{start: make([]int, len(graphs)), first: make([]int, len(graphs))}
	sig, vertices := 0, 0
	for i, g := range graphs {
		r.start[i], r.first[i] = sig, vertices
		sig += g.N() + 2*g.M()
		vertices += g.N()
	}
	r.sig = make([]uint32, sig)
	r.hash = make([]uint64, vertices)
	return r
}

// refine replaces the colours by the next ones, which dict numbers.
func (r *refiner) refine(ctx context.Context, workers int, graphs []*graph.Graph, colours [][]uint32, dict *signatures) error {
	err := parallel(ctx, workers, len(graphs), 64, func(_, i int) error {
		g, at := graphs[i], r.start[i]
		for v := range g.N() {
			s := appendSignature(r.sig[at:at], g, v, colours[i])
			r.hash[r.first[i]+v] = hashSignature(s)
			at += len(s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, g := range graphs {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := r.start[i]
		for v := range g.N() {
			end := at + 1 + g.Degree(v)
			colours[i][v] = dict.intern(r.sig[at:end], r.hash[r.first[i]+v])
			at = end
		}
	}
	return nil
}
