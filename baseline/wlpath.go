package baseline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// maxPathClasses bounds the classes of paths that one colouring of one graph puts into the
// index. Graphs with up to 1448 vertices are always under it.
const maxPathClasses = 1 << 20

// wlTrace is what the Path variant keeps of a graph: its colourings, which of them have
// too many classes of paths for the index, and what these add to its self-similarity.
type wlTrace struct {
	graph   *graph.Graph
	colour  [][]uint32 // by colouring
	large   []bool     // by colouring
	squares float64
}

// wlPaths is a fitted WL kernel of paths. Colourings with too many classes are compared
// pair by pair: only vertices whose colours both graphs have matter, and these get few
// when colours get many.
type wlPaths struct {
	model *wlModel
	idx   *index
	self  []float64
	large bool // some training graph has a large colouring
}

func newWLPaths(m *wlModel, idx *index) *wlPaths {
	f := &wlPaths{model: m, idx: idx, self: slices.Clone(idx.self)}
	for g, t := range m.train {
		f.self[g] += t.squares
		f.large = f.large || slices.Contains(t.large, true)
	}
	return f
}

// direct returns what the large colourings of two different graphs add to their kernel.
func direct(ctx context.Context, s *[2]pathScratch, a, b *wlTrace) (float64, error) {
	sum := 0.0
	for i := range a.large {
		if !a.large[i] && !b.large[i] {
			continue
		}
		var found [2][]path
		for side, own := range [2]*wlTrace{a, b} {
			other := slices.Clone([2]*wlTrace{b, a}[side].colour[i])
			slices.Sort(other)
			keep := make([]bool, len(own.colour[i]))
			some := false
			for v, c := range own.colour[i] {
				_, keep[v] = slices.BinarySearch(other, c)
				some = some || keep[v]
			}
			if !some {
				break
			}
			if err := s[side].collect(ctx, own.graph, own.colour[i], nil, keep); err != nil {
				return 0, err
			}
			found[side] = s[side].classes()
		}
		sum += mergePaths(found[0], found[1])
	}
	return sum, nil
}

// mergePaths returns the dot product of two lists of classes in ascending order of length,
// a and b.
func mergePaths(p, q []path) float64 {
	sum := 0.0
	for len(p) > 0 && len(q) > 0 {
		switch cmp.Or(cmp.Compare(p[0].length, q[0].length), cmp.Compare(p[0].a, q[0].a), cmp.Compare(p[0].b, q[0].b)) {
		case -1:
			p = p[1:]
		case 1:
			q = q[1:]
		default:
			sum += p[0].count * q[0].count
			p, q = p[1:], q[1:]
		}
	}
	return sum
}

func anyLarge(a, b *wlTrace) bool {
	return slices.Contains(a.large, true) || slices.Contains(b.large, true)
}

// Gram returns the kernel matrix of the training graphs.
func (f *wlPaths) Gram(ctx context.Context) (*mlg.Matrix, error) {
	k, train := f.model.kernel, f.model.train
	if !f.large {
		return f.idx.gram(ctx, k.Workers, k.Normalize)
	}
	m, err := f.idx.gram(ctx, k.Workers, false)
	if err != nil {
		return nil, err
	}
	s := make([][2]pathScratch, k.Workers)
	err = pairGram(ctx, k.Workers, m, func(i, j int) bool { return anyLarge(&train[i], &train[j]) }, func(w, i, j int) (float64, error) {
		if i == j {
			return f.self[i], nil
		}
		v, err := direct(ctx, &s[w], &train[i], &train[j])
		return m.At(i, j) + v, err
	})
	if err != nil {
		return nil, err
	}
	if k.Normalize {
		normalizeAll(m, f.self, f.self)
	}
	return m, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *wlPaths) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	k, train := f.model.kernel, f.model.train
	fail := func(err error) (*mlg.Matrix, error) {
		return nil, fmt.Errorf("%s: %w", variantNames[k.Variant], err)
	}
	source, err := resolveNew(k.Labels, f.model.source, graphs)
	if err != nil {
		return fail(err)
	}
	traces := make([]wlTrace, len(graphs))
	self := make([]float64, len(graphs))
	maps := make([]func(context.Context, *graph.Graph, *wlTrace) ([]entry, error), k.Workers)
	m, err := f.idx.cross(ctx, k.Workers, len(graphs), false, func(w, i int) ([]entry, error) {
		if maps[w] == nil {
			maps[w] = f.model.mapping(source)
		}
		traces[i].graph = graphs[i]
		v, err := maps[w](ctx, graphs[i], &traces[i])
		if err != nil {
			return nil, err
		}
		in, out := f.idx.vectorOf(v, nil)
		self[i] = f.idx.selfSimilarity(in, out) + traces[i].squares
		return v, nil
	})
	if err != nil {
		return fail(err)
	}
	s := make([][2]pathScratch, k.Workers)
	err = pairCross(ctx, k.Workers, m, func(i, j int) bool { return anyLarge(&traces[i], &train[j]) }, func(w, i, j int) (float64, error) {
		v, err := direct(ctx, &s[w], &traces[i], &train[j])
		return m.At(i, j) + v, err
	})
	if err != nil {
		return fail(err)
	}
	if k.Normalize {
		normalizeAll(m, self, f.self)
	}
	return m, nil
}
