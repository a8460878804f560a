package baseline

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// GraphletMix is the kernel of sampled graphlets of several sizes,
//
//	k(G, G') = Σ_{s=3..K} Σ_t c_st(G) c_st(G'),
//
// where c_st(G) is the number of drawn sets of s vertices that induce a subgraph of type t,
// connected or not. Of a graph with n vertices, Samples sets are drawn, in equal parts of
// each size from 3 to min(K, n); what cannot be divided goes to the small sizes. Sets of a
// size are drawn as Graphlet does it, and where there are no more sets of a size than
// samples, the expected numbers are taken instead. A graph with less than 3 vertices has no
// features.
type GraphletMix struct {
	K         int // 3, 4 or 5
	Samples   int // at least 1
	Seed      uint64
	Normalize bool
	Workers   int
}

// DefaultGraphletMix returns the normalised kernel of graphlets with 3 to 5 vertices and
// 1000 samples.
func DefaultGraphletMix() GraphletMix {
	return GraphletMix{K: 5, Samples: 1000, Seed: 1, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

// Validate names the first field with a bad value.
func (k GraphletMix) Validate() error {
	if k.K < 3 || k.K > 5 {
		return fmt.Errorf("graphlet mix: K is %d, want 3, 4 or 5", k.K)
	}
	if k.Samples < 1 || k.Samples > math.MaxInt32 {
		return fmt.Errorf("graphlet mix: Samples is %d, want 1 to %d", k.Samples, math.MaxInt32)
	}
	return validateWorkers("graphlet mix", k.Workers)
}

// String names the kernel and its parameters, as in "graphlet-mix k=5 samples=100 seed=1".
func (k GraphletMix) String() string {
	return fmt.Sprintf("graphlet-mix k=%d samples=%d seed=%d", k.K, k.Samples, k.Seed)
}

// Fit samples the graphlets of the training graphs.
func (k GraphletMix) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	features := 0
	for size := 3; size <= k.K; size++ {
		features += len(graphlets(size).graph)
	}
	vectors := make([][]entry, len(graphs))
	s := make([]subgraphCounter, k.Workers)
	err := parallel(ctx, k.Workers, len(graphs), 8, func(w, i int) error {
		var err error
		vectors[i], err = k.features(ctx, graphs[i], &s[w])
		return graphError(i, err)
	})
	if err != nil {
		return nil, fmt.Errorf("graphlet mix: %w", err)
	}
	idx, err := newIndex(vectors, features, []float64{1}, false)
	if err != nil {
		return nil, fmt.Errorf("graphlet mix: %w", err)
	}
	return &explicit{name: "graphlet mix", idx: idx, normalize: k.Normalize, workers: k.Workers, mapper: func([]*graph.Graph) (func() mapping, error) {
		return func() mapping {
			var s subgraphCounter
			return func(ctx context.Context, g *graph.Graph) ([]entry, error) {
				return k.features(ctx, g, &s)
			}
		}, nil
	}}, nil
}

// features returns the numbers of drawn sets by size and type.
func (k GraphletMix) features(ctx context.Context, g *graph.Graph, s *subgraphCounter) ([]entry, error) {
	largest := min(k.K, g.N())
	sizes := largest - 2
	var v []entry
	base := uint32(0)
	for size := 3; size <= largest; size++ {
		n := k.Samples / sizes
		if size-3 < k.Samples%sizes {
			n++
		}
		t := graphlets(size)
		if n > 0 {
			part, err := Graphlet{K: size, Samples: n, Counts: true, Seed: k.Seed}.features(ctx, g, t, s)
			if err != nil {
				return nil, err
			}
			for _, e := range part {
				v = append(v, entry{id: base + e.id, val: e.val})
			}
		}
		base += uint32(len(t.graph))
	}
	return v, nil
}
