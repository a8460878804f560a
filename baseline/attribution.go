package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// Attributer is a fitted kernel that counts vertices by colour: the subtree and the assignment
// variants of WL, and the histogram of vertex labels. Every vertex v of a graph G counts by a
// factor s_v,
//
//	c(G) = Σ_{v of colour c} s_v,
//
// and the colours do not change. With s = 1 the counts are those of G.
type Attributer interface {
	// Attribute returns the derivatives ∂f/∂s_v at s = 1 of a function f of the kernel values k_i =
	// k(G, H_i) with the training graphs, whose slopes are ∂f/∂log k_i. Where two counts are equal,
	// their minimum has two slopes, 0 and 1. Then Attribute takes the mean. Terms with k_i = 0
	// count nothing. It panics if there are not as many slopes as training graphs.
	//
	// With log k = log K(G, H) − ½ log K(G, G) − ½ log K(H, H) for a normalised kernel, v of
	// the colours c_0 … c_h adds, for the product and for the minimum,
	//
	//	∂K(G, H)/∂s_v = Σ_i c_i(H),                    ∂K(G, G)/∂s_v = Σ_i 2 c_i(G),
	//	∂K(G, H)/∂s_v = Σ_i [c_i(G) < c_i(H)],         ∂K(G, G)/∂s_v = h + 1.
	Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error)
}

// vertexCounts is a fitted kernel whose features are the colours of vertices.
type vertexCounts struct{ *explicit }

var _ Attributer = (*vertexCounts)(nil)

func (f *vertexCounts) Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error) {
	if n := f.index.n; len(slopes) != n {
		panic(fmt.Sprintf("baseline: Attribute: %d slopes for %d training graphs", len(slopes), n))
	}
	out := make([]float64, g.N())
	err := f.eachNew(ctx, []*graph.Graph{g}, func(w *rowWorker, _ int, q query) error {
		f.attribute(q, &w.sums, slopes, out)
		return nil
	})
	return out, err
}

// attribute adds the derivatives to out.
func (f *vertexCounts) attribute(q query, s *sums, slopes, out []float64) {
	x := f.index
	weight := make([]float64, x.n) // ∂f/∂K(G, H_i): first K itself, then slope over K
	x.accumulate(q.vector, 0, weight, s)
	total := 0.0
	for i, k := range weight {
		if k == 0 || slopes[i] == 0 {
			weight[i] = 0
			continue
		}
		weight[i] = slopes[i] / k
		total += slopes[i]
	}
	if !f.normalize {
		total = 0
	}
	for _, colour := range q.colours {
		count := map[uint32]float64{}
		for _, c := range colour {
			count[c]++
		}
		slope := make(map[uint32]float64, len(count))
		for c, n := range count {
			if slope[c] = x.slope(c, n, weight); x.minimum {
				slope[c] -= total / (2 * q.self)
			} else {
				slope[c] = x.weight[0] * (slope[c] - total*n/q.self)
			}
		}
		for v, c := range colour {
			out[v] += slope[c]
		}
	}
}

// slope returns Σ_i w_i ∂K(G, H_i)/∂c(G) for a feature that G has n times.
func (x *index) slope(feature uint32, n float64, w []float64) float64 {
	r := x.rankOf(feature)
	if r == unseen {
		return 0
	}
	sum := 0.0
	for p := x.post[r]; p < x.post[r+1]; p++ {
		switch v := x.val[p]; {
		case !x.minimum:
			sum += w[x.graph[p]] * v
		case n < v:
			sum += w[x.graph[p]]
		case n == v:
			sum += w[x.graph[p]] / 2
		}
	}
	return sum
}
