package baseline

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
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
//
// With Samples > 0, graphs with more than Samples sets of K vertices are sampled: that many
// sets are drawn uniformly and independently (with Connected, from the sets that induce a
// connected subgraph). [GraphletSamples] says how many are enough. Every graph is sampled
// with the same seed, so a graph has the same features wherever it stands; they depend on
// the order of its vertices within the error bound.
type Graphlet struct {
	K         int // 3, 4 or 5
	Connected bool
	Samples   int  // 0 for exact counts
	Counts    bool // numbers of sets c_t, or of samples, instead of shares p_t
	Seed      uint64
	Normalize bool
	Workers   int
}

// DefaultGraphlet returns the normalised kernel of all graphlets with 4 vertices, counted exactly.
func DefaultGraphlet() Graphlet {
	return Graphlet{K: 4, Seed: 1, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

// Validate names the first field with a bad value.
func (k Graphlet) Validate() error {
	if k.K < 3 || k.K > 5 {
		return fmt.Errorf("graphlet: K is %d, want 3, 4 or 5", k.K)
	}
	if k.Samples < 0 {
		return fmt.Errorf("graphlet: Samples is %d, want 0 (exact counts) or more", k.Samples)
	}
	return validateWorkers("graphlet", k.Workers)
}

// String names the kernel and its parameters, as in "graphlet k=4 connected".
func (k Graphlet) String() string {
	s := fmt.Sprintf("graphlet k=%d", k.K)
	if k.Connected {
		s += " connected"
	}
	if k.Counts {
		s += " counts"
	}
	if k.Samples > 0 {
		s += fmt.Sprintf(" samples=%d seed=%d", k.Samples, k.Seed)
	}
	return s
}

// GraphletSamples returns a number of samples s that is enough for the sampled frequencies
// p̂ of graphlets with k vertices to satisfy
//
//	P(Σ_t |p̂_t − p_t| ≥ ε) ≤ δ,   s = ⌈2 (a ln 2 + ln(1/δ)) / ε²⌉,
//
// for a graph, where a is the number of types (Weissman et al., 2003). It panics unless k
// is 3, 4 or 5, 0 < ε and 0 < δ < 1.
func GraphletSamples(k int, connected bool, epsilon, delta float64) int {
	if !(epsilon > 0) || !(delta > 0 && delta < 1) {
		panic("baseline: GraphletSamples: want epsilon > 0 and 0 < delta < 1")
	}
	t := graphlets(k)
	a := 0
	for _, c := range t.connected {
		if c || !connected {
			a++
		}
	}
	return int(math.Ceil(2 * (float64(a)*math.Ln2 + math.Log(1/delta)) / (epsilon * epsilon)))
}

// Fit counts the graphlets of the training graphs.
func (k Graphlet) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	t := graphlets(k.K)
	vectors := make([][]entry, len(graphs))
	s := make([]subgraphCounter, k.Workers)
	err := parallel(ctx, k.Workers, len(graphs), 8, func(w, i int) error {
		var err error
		vectors[i], err = k.features(ctx, graphs[i], t, &s[w])
		return graphError(i, err)
	})
	if err != nil {
		return nil, fmt.Errorf("graphlet: %w", err)
	}
	idx, err := newIndex(vectors, len(t.graph), []float64{1}, false)
	if err != nil {
		return nil, fmt.Errorf("graphlet: %w", err)
	}
	return &explicit{name: "graphlet", idx: idx, normalize: k.Normalize, workers: k.Workers, mapper: func([]*graph.Graph) (func() mapping, error) {
		return func() mapping {
			var s subgraphCounter
			return func(ctx context.Context, g *graph.Graph) ([]entry, error) {
				return k.features(ctx, g, t, &s)
			}
		}, nil
	}}, nil
}

// features returns the frequencies of the graphlets of g. With Counts they are multiplied by
// the number of sets, which is the number of samples also for a graph that is counted exactly
// because it has no more sets than that.
func (k Graphlet) features(ctx context.Context, g *graph.Graph, t *graphletTable, s *subgraphCounter) ([]entry, error) {
	var count []uint64
	var err error
	if k.Samples > 0 && binomialFloat(g.N(), k.K) > float64(k.Samples) {
		count, err = k.sample(ctx, g, t, s)
	} else {
		count, err = s.induced(ctx, g, t, k.Connected)
	}
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, c := range count {
		total += float64(c)
	}
	sets := 1.0
	switch {
	case k.Counts && k.Samples > 0:
		sets = float64(k.Samples)
	case k.Counts:
		total = 1
	}
	var v []entry
	for i, c := range count {
		if c > 0 {
			v = append(v, entry{id: uint32(i), val: float64(c) * sets / total})
		}
	}
	return v, nil
}

// binomialFloat returns C(n, k) as a floating-point number.
func binomialFloat(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}
