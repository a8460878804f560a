package baseline

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// ShortestPath is the kernel that compares the distances between vertices,
//
//	k(G, G') = Σ_{a,b,d} c_{abd}(G) c_{abd}(G'),
//
// where c_{abd}(G) is the number of connected pairs of distinct vertices at distance d with
// end labels a and b. Pairs u < v count once under their unordered end labels, or, with
// Ordered, (u, v) and (v, u) count separately under their ordered end labels.
//
// With Labels = Attributes, which wants Ordered, equality of labels is replaced by the
// product of the dot products of the end attributes.
//
// Distances are numbers of hops or, with Weighted, sums of edge weights as lengths. These
// are compared for equality, so weights are first rounded to whole multiples of Resolution,
// and sums are exact; two distances that differ by rounding errors of the input are equal.
// Fit takes O(n (n + m)) time per graph, O(n (n + m) log n) with Weighted.
type ShortestPath struct {
	Ordered    bool
	Weighted   bool
	Resolution float64 // unit of length with Weighted
	Labels     Source
	Normalize  bool
	Workers    int
}

// DefaultShortestPath returns the normalised kernel of hops and unordered pairs. Its
// Resolution is 1e-6.
func DefaultShortestPath() ShortestPath {
	return ShortestPath{Resolution: 1e-6, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

// Validate names the first field with a bad value.
func (k ShortestPath) Validate() error {
	if k.Weighted && (!(k.Resolution > 0) || math.IsInf(k.Resolution, 1)) {
		return fmt.Errorf("shortest path: Resolution is %v, want a positive, finite number", k.Resolution)
	}
	if err := k.Labels.validate("shortest path", true); err != nil {
		return err
	}
	if k.Labels == Attributes && !k.Ordered {
		return fmt.Errorf("shortest path: Ordered is false, want true with Labels = Attributes")
	}
	return validateWorkers("shortest path", k.Workers)
}

// String names the kernel and what departs from its defaults, as in "sp ordered".
func (k ShortestPath) String() string {
	s := "sp"
	if k.Ordered {
		s += " ordered"
	}
	if k.Weighted {
		s += fmt.Sprintf(" weighted resolution=%g", k.Resolution)
	}
	return s + k.Labels.suffix()
}

// Fit counts the paths of the training graphs.
func (k ShortestPath) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (mlg.Fitted, error) { return nil, fmt.Errorf("shortest path: %w", err) }
	source, err := k.Labels.resolve(graphs)
	if err != nil {
		return fail(err)
	}
	labels := labelDict{}
	var colours [][]uint32
	dim := 0
	if source == Attributes {
		colours = make([][]uint32, len(graphs))
		for _, g := range graphs {
			dim = max(dim, g.AttributeDim())
		}
	} else {
		colours = labels.fit(source, graphs)
	}
	dict := pathDict{colours: max(len(labels), dim)}
	vectors := make([][]entry, len(graphs))
	err = fitPaths(ctx, k.Workers, graphs, func(s *pathScratch, i int) ([]path, error) {
		return k.local(ctx, s, graphs[i], colours[i], source, dim)
	}, func(i int, ps []path) error {
		vectors[i] = make([]entry, len(ps))
		for j, p := range ps {
			id, err := dict.intern(p)
			if err != nil {
				return err
			}
			vectors[i][j] = entry{id: id, block: k.block(p), val: p.count}
		}
		return nil
	})
	if err != nil {
		return fail(err)
	}
	idx, err := newIndex(vectors, dict.features.len(), k.weights(source), false)
	if err != nil {
		return fail(err)
	}
	return &explicit{name: "shortest path", idx: idx, normalize: k.Normalize, workers: k.Workers, mapper: func(new []*graph.Graph) (func() mapping, error) {
		source, err := resolveNew(k.Labels, source, new)
		if err != nil {
			return nil, err
		}
		return func() mapping {
			var s pathScratch
			return func(ctx context.Context, g *graph.Graph) ([]entry, error) {
				var colour []uint32
				dim := dim
				if source != Attributes {
					colour = labels.of(source, g)
				} else if dim == 0 {
					dim = g.AttributeDim()
				}
				ps, err := k.local(ctx, &s, g, colour, source, dim)
				if err != nil {
					return nil, err
				}
				v := make([]entry, len(ps))
				for j, p := range ps {
					id, ok := dict.lookup(p)
					if !ok {
						id = unseen
					}
					v[j] = entry{id: id, block: k.block(p), val: p.count}
				}
				return v, nil
			}
		}, nil
	}}, nil
}

// weights returns the weights of the blocks. Counts are kept for a ≤ b. An ordered pair
// a ≠ b stands for itself and its reverse; the ordered count of a = b is twice the
// unordered one. Attribute sums are over ordered pairs as they are.
func (k ShortestPath) weights(source Source) []float64 {
	switch {
	case !k.Ordered:
		return []float64{1}
	case source == Attributes:
		return []float64{2, 1}
	}
	return []float64{2, 4}
}

func (k ShortestPath) block(p path) uint32 {
	if k.Ordered && p.a == p.b {
		return 1
	}
	return 0
}

// local returns the classes of paths of one graph.
func (k ShortestPath) local(ctx context.Context, s *pathScratch, g *graph.Graph, colour []uint32, source Source, dim int) ([]path, error) {
	var length []uint64
	if k.Weighted && g.N() > 0 {
		var err error
		if length, err = k.lengths(g); err != nil {
			return nil, err
		}
	}
	if source == Attributes {
		if g.N() > 0 && g.AttributeDim() != dim {
			return nil, fmt.Errorf("%d attributes per vertex, want %d as in the other graphs", g.AttributeDim(), dim)
		}
		return s.attributePaths(ctx, g, length)
	}
	return s.paths(ctx, g, colour, length)
}

// lengths returns the weights of all edges as multiples of the resolution, parallel to
// the neighbours of all vertices in turn.
func (k ShortestPath) lengths(g *graph.Graph) ([]uint64, error) {
	out := make([]uint64, 0, 2*g.M())
	largest := float64(1<<53) / float64(max(1, g.N()))
	for u := range g.N() {
		wt := g.Weights(u)
		for i, v := range g.Neighbors(u) {
			w := 1.0
			if wt != nil {
				w = wt[i]
			}
			l := math.Round(w / k.Resolution)
			if l < 1 || l > largest {
				return nil, fmt.Errorf("edge (%d, %d): weight %v is %g times the Resolution %g, want 1 to %.3g times", u, v, w, w/k.Resolution, k.Resolution, largest)
			}
			out = append(out, uint64(l))
		}
	}
	return out, nil
}

// attributePaths returns, for every distance d and attributes a ≤ b, the sums
// Σ x_a(u) x_b(v) over the ordered pairs (u, v) of distinct vertices at distance d.
func (s *pathScratch) attributePaths(ctx context.Context, g *graph.Graph, length []uint64) ([]path, error) {
	m := g.AttributeDim()
	var lengths interner
	var sum []float64 // by distance, a and b
	near := make([]float64, m)
	for u := range g.N() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var order []int32
		dist := func(v int32) uint64 { return s.weight.dist[v] }
		if length == nil {
			order = s.hops.from(g, u)
			dist = func(v int32) uint64 { return uint64(s.hops.dist[v]) }
		} else {
			order = s.weight.from(g, u, length)
		}
		x := g.Attributes(u)
		for i := 1; i < len(order); { // a run of vertices at the same distance
			d := dist(order[i])
			clear(near)
			for ; i < len(order) && dist(order[i]) == d; i++ {
				for b, y := range g.Attributes(int(order[i])) {
					near[b] += y
				}
			}
			at := int(lengths.intern(d)) * m * m
			if need := at + m*m; need > len(sum) {
				sum = append(sum, make([]float64, need-len(sum))...)
			}
			for a := range m {
				for b := a; b < m; b++ {
					sum[at+a*m+b] += float64(x[a] * near[b])
				}
			}
		}
	}
	s.out = s.out[:0]
	for i, v := range sum {
		if v != 0 {
			s.out = append(s.out, path{a: uint32(i / m % m), b: uint32(i % m), length: lengths.keys[i/(m*m)], count: v})
		}
	}
	return s.out, nil
}
