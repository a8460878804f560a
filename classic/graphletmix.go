package classic

import (
	"context"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// GraphletMix is the kernel of sampled graphlets of several sizes,
//
//	k(G, G') = Σ_{s=3..K} Σ_t c_st(G) c_st(G'),
//
// where c_st(G) is the number of drawn sets of s vertices that induce a subgraph of type t,
// connected or not. Samples sets are drawn from a graph with n vertices, in equal parts of each
// size from 3 to min(K, n). What cannot be divided goes to the small sizes. Sets of a size are
// drawn uniformly and independently. Where there are no more sets of a size than samples, the
// expected numbers are taken instead. A graph with less than 3 vertices has no features.
//
// Every graph is sampled with the same seed, so a graph has the same features in every collection.
// They depend on the order of its vertices. For s samples of a size with a types, the sum of the
// errors of the shares is ε or more with a probability of at most δ if
//
//	s ≥ 2 (a ln 2 + ln(1/δ)) / ε²   (Weissman et al., 2003).
type GraphletMix struct {
	K         int    `json:"k" want:"3 to 5" help:"Largest number of vertices of a graphlet."`
	Samples   int    `json:"samples" want:"1 to 2147483647" help:"Graphlets drawn from every graph."`
	Seed      uint64 `json:"seed" help:"Seed of the sample."`
	Normalize bool   `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultGraphletMix returns the normalised kernel of graphlets with 3 to 5 vertices and
// 1000 samples.
func DefaultGraphletMix() GraphletMix {
	return GraphletMix{K: 5, Samples: 1000, Seed: 1, Normalize: true}
}

// Name implements kernel.Kernel.
func (k GraphletMix) Name() string { return "graphlet-mix" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k GraphletMix) String() string  { return kernel.Text(k) }
func (k GraphletMix) Validate() error { return kernel.Check(k) }
func (k GraphletMix) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k GraphletMix) Decode(data []byte) (kernel.Map, error)        { return decode(k, data) }
func (k GraphletMix) Resolve([]*graph.Graph) (kernel.Kernel, error) { return k, nil }

func (k GraphletMix) recipe() recipe {
	return recipe{labels: Unlabeled, normalize: k.Normalize, count: k.count}
}

func (k GraphletMix) count() countFunc {
	var s subgraphCounter
	return func(ctx context.Context, g *coloured, out *vector) error {
		largest := min(k.K, g.N())
		sizes := largest - 2
		first := 0
		for size := 3; size <= largest; size++ {
			samples := k.Samples / sizes
			if size-3 < k.Samples%sizes {
				samples++
			}
			t := graphlets(size)
			var counts []uint64
			var err error
			if binomialFloat(g.N(), size) > float64(samples) {
				counts, err = sampleGraphlets(ctx, g.Graph, t, samples, k.Seed)
			} else {
				counts, err = s.induced(ctx, g.Graph, t, false)
			}
			if err != nil {
				return err
			}
			addGraphlets(out, first, counts, float64(samples), total(counts))
			first += len(t.graph)
		}
		return nil
	}
}

// sampleGraphlets returns the types of sets of t.k vertices that are drawn uniformly.
func sampleGraphlets(ctx context.Context, g *graph.Graph, t *graphletTable, samples int, seed uint64) ([]uint64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	counts := make([]uint64, len(t.graph))
	vs := make([]int32, t.k)
	for drawn, tried := 0, 0; drawn < samples; tried++ {
		if tried%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i := range vs {
			vs[i] = int32(rng.IntN(g.N()))
		}
		if mask, distinct := inducedMask(g, vs); distinct {
			counts[t.typ[mask]]++
			drawn++
		}
	}
	return counts, nil
}

// inducedMask returns the graph that vs induce, and whether they are distinct.
func inducedMask(g *graph.Graph, vs []int32) (uint32, bool) {
	m := uint32(0)
	for j, v := range vs {
		for i, u := range vs[:j] {
			if u == v {
				return 0, false
			}
			if g.HasEdge(int(u), int(v)) {
				m |= pairBit(i, j)
			}
		}
	}
	return m, true
}
