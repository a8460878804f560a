package classic

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Graphlet is the kernel of the frequencies of small induced subgraphs,
//
//	k(G, G') = Σ_t p_t(G) p_t(G'),   p_t(G) = c_t(G) / Σ_s c_s(G),
//
// where c_t(G) is the number of sets of K vertices that induce a subgraph of isomorphism
// type t. With Connected, t runs over the connected types only. Labels and weights play no
// part. A graph without such a set has no features.
//
// Counting is exact and does not enumerate subgraphs: it takes O(Σ_v Σ_{u~v} d_u) time per
// graph for K = 3 and 4, plus a part that grows with the squares of the numbers of triangles
// on an edge, and for K = 5 O(Σ_v Σ_{u within 2 hops of v} d_u).
type Graphlet struct {
	K         int  `json:"k" want:"3 to 5" help:"Number of vertices of a graphlet."`
	Connected bool `json:"connected" help:"Connected graphlets only."`
	Counts    bool `json:"counts" help:"Numbers of graphlets instead of their shares."`
	Normalize bool `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultGraphlet returns the normalised kernel of all graphlets with 4 vertices.
func DefaultGraphlet() Graphlet { return Graphlet{K: 4, Normalize: true} }

// Name implements kernel.Kernel.
func (k Graphlet) Name() string { return "graphlet" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Graphlet) String() string  { return kernel.Text(k) }
func (k Graphlet) Validate() error { return kernel.Check(k) }
func (k Graphlet) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k Graphlet) Decode(data []byte) (kernel.Map, error)        { return decode(k, data) }
func (k Graphlet) Resolve([]*graph.Graph) (kernel.Kernel, error) { return k, nil }

func (k Graphlet) recipe() recipe {
	return recipe{labels: Unlabeled, normalize: k.Normalize, count: k.count}
}

func (k Graphlet) count() countFunc {
	var s subgraphCounter
	return func(ctx context.Context, g *coloured, out *vector) error {
		counts, err := s.induced(ctx, g.Graph, graphlets(k.K), k.Connected)
		whole := 1.0
		if !k.Counts {
			whole = total(counts)
		}
		addGraphlets(out, 0, counts, 1, whole)
		return err
	}
}

func total(counts []uint64) float64 {
	sum := 0.0
	for _, c := range counts {
		sum += float64(c)
	}
	return sum
}

// addGraphlets adds the numbers of graphlets of each type, times sets and divided by total,
// as features from number first on.
func addGraphlets(out *vector, first int, counts []uint64, sets, total float64) {
	for t, c := range counts {
		if c > 0 {
			out.add(uint64(first+t), float64(c)*sets/total)
		}
	}
}
