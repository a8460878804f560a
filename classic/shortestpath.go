package classic

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/work"
)

// ShortestPath is the kernel that compares the distances between vertices,
//
//	k(G, G') = s Σ_{i=0..H} Σ_{a,b,d} c_{iabd}(G) c_{iabd}(G'),
//
// where c_{iabd}(G) is the number of connected pairs of distinct vertices at distance d whose
// ends have the colours a and b in refinement i (see WL), and s is Scale. With H = 0 the
// colours are the labels. Pairs u < v count once under their unordered end colours, or, with
// Ordered, (u, v) and (v, u) count separately under their ordered end colours.
//
// With Labels = Attributes, which wants Ordered and H = 0, equality of labels is replaced by
// the product of the dot products of the end attributes.
//
// Distances are numbers of hops or, with Weighted, sums of edge weights as lengths. These
// are compared for equality, so weights are first rounded to whole multiples of Resolution,
// and sums are exact; two distances that differ by rounding errors of the input are equal.
// Fit takes O(n (n + m)) time per graph and refinement, O(n (n + m) log n) with weights.
//
// In hops, a refinement in which a graph has more than 2²⁰ features is left out of the index and
// compared pair by pair when H > 0.
type ShortestPath struct {
	H          int       `json:"h" want:"0 to 65536" help:"Number of refinements of the labels."`
	Ordered    bool      `json:"ordered" help:"Count both directions of a pair, with ordered ends."`
	Weighted   bool      `json:"weighted" help:"Lengths are sums of edge weights, not hops."`
	Resolution float64   `json:"resolution" want:"positive" help:"With weighted: unit to which weights are rounded."`
	Labels     Labelling `json:"labels" want:"one of auto labels degrees unlabeled attributes" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees, unlabeled, or attributes, compared by their dot product."`
	Scale      float64   `json:"scale" want:"positive" help:"Factor of values that are not normalised."`
	Normalize  bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultShortestPath returns the normalised kernel of labels, hops and unordered pairs.
func DefaultShortestPath() ShortestPath {
	return ShortestPath{Resolution: 1e-6, Labels: Auto, Scale: 1, Normalize: true}
}

// Name implements kernel.Kernel: "sp", or with refinements "wl-sp".
func (k ShortestPath) Name() string {
	if k.H > 0 {
		return "wl-sp"
	}
	return "sp"
}

// String, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k ShortestPath) String() string { return kernel.Text(k) }
func (k ShortestPath) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k ShortestPath) Decode(data []byte) (kernel.Map, error) { return decode(k, data) }
func (k ShortestPath) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}

// Stretch implements kernel.Directional.
func (k ShortestPath) Stretch(times int) (kernel.Kernel, bool) {
	k.H *= times
	return k, k.Labels.discrete()
}

// Validate implements kernel.Kernel.
func (k ShortestPath) Validate() error {
	switch {
	case k.Labels == Attributes && !k.Ordered:
		return param.Wrong(k.Name(), k, "ordered", "true with labels = attributes", nil)
	case k.Labels == Attributes && k.H > 0:
		return param.Wrong(k.Name(), k, "h", "0 with labels = attributes", nil)
	}
	return kernel.Check(k)
}

// Levels implements kernel.Levelled: paths by the colours of one refinement after the other.
func (k ShortestPath) Levels() []kernel.Level {
	return levelsOf("refinement", k.H, func(h int) kernel.Kernel { k.H = h; return k })
}

// maxClasses is the largest number of classes of paths of a refinement that go into the index, where
// others can be compared. Graphs with up to 1448 vertices are always under it. Tests change it.
var maxClasses = 1 << 20

func (k ShortestPath) recipe() recipe {
	m := recipe{labels: k.Labels, h: k.H, weights: k.weights(), normalize: k.Normalize}
	limit := math.MaxInt
	if k.H > 0 && !k.Weighted {
		limit = maxClasses
		m.compare = func() compareFunc {
			var s [2]pathCounter
			weight := func(p path) float64 { return m.weights[k.block(p)] }
			return func(ctx context.Context, a, b *coloured, refinement int) (float64, error) {
				return comparePaths(ctx, &s, a, b, refinement, weight)
			}
		}
	}
	m.count = func() countFunc { return k.count(limit) }
	if k.Labels != Attributes {
		m.sets = k.sets
	}
	return m
}

// weights returns the weights of the blocks. Counts are kept for a ≤ b. An ordered pair
// a ≠ b stands for itself and its reverse; the ordered count of a = b is twice the
// unordered one. Attribute sums are over ordered pairs as they are.
func (k ShortestPath) weights() []float64 {
	switch {
	case !k.Ordered:
		return []float64{k.Scale}
	case k.Labels == Attributes:
		return []float64{2 * k.Scale, k.Scale}
	}
	return []float64{2 * k.Scale, 4 * k.Scale}
}

func (k ShortestPath) block(p path) uint32 {
	if k.Ordered && p.a == p.b {
		return 1
	}
	return 0
}

// count counts the paths of graphs.
func (k ShortestPath) count(limit int) countFunc {
	var s pathCounter
	weights := k.weights()
	return func(ctx context.Context, g *coloured, out *vector) error {
		length, unit, err := k.lengths(g.Graph)
		if err != nil {
			return err
		}
		add := func(p path) {
			out.addKey(k.block(p), p.count, p.a, p.b, p.length*unit)
		}
		if k.Labels == Attributes {
			return s.eachAttributePath(ctx, g.Graph, length, add)
		}
		for i, colour := range g.colours {
			if err := s.collect(work.Within(ctx, i, len(g.colours)), g.Graph, colour, length, nil); err != nil {
				return err
			}
			if s.most() > limit {
				classes, squares := 0, 0.0
				s.eachClass(func(p path) {
					classes++
					squares += float64(weights[k.block(p)] * (p.count * p.count))
				})
				if classes > limit {
					if g.large == nil {
						g.large = make([]bool, len(g.colours))
					}
					g.large[i] = true
					g.rest += squares
					continue
				}
			}
			s.eachClass(add)
		}
		return nil
	}
}

// sets visits what count counts.
func (k ShortestPath) sets(ctx context.Context, g *coloured, visit func(u, v int, feature uint64)) error {
	length, unit, err := k.lengths(g.Graph)
	if err != nil {
		return err
	}
	return g.eachPair(ctx, length, func(u, v int, p path) {
		if u != v {
			visit(u, v, hashWords(p.a, p.b, p.length*unit))
		}
	})
}

// lengths returns the weights of all edges as multiples of the resolution, parallel to the
// neighbours of every vertex, and 1. If all edges have the same length, it returns nil and that
// length: hops are found faster.
func (k ShortestPath) lengths(g *graph.Graph) (length [][]uint64, hop uint64, err error) {
	if !k.Weighted || g.M() == 0 {
		return nil, 1, nil
	}
	length = make([][]uint64, g.N())
	largest := float64(maxLength) / float64(g.N())
	for u := range g.N() {
		weights := g.Weights(u)
		length[u] = make([]uint64, g.Degree(u))
		for i, v := range g.Neighbors(u) {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			l := math.Round(w / k.Resolution)
			if l < 1 || l > largest {
				return nil, 0, fmt.Errorf("edge (%d, %d): weight %v is %g times the resolution %g, want 1 to %.3g times", u, v, w, w/k.Resolution, k.Resolution, largest)
			}
			hop = uint64(l)
			length[u][i] = hop
		}
	}
	if !g.Weighted() {
		return nil, hop, nil
	}
	return length, 1, nil
}
