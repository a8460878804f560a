package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// Attributer is a fitted kernel that counts vertices by colour: the subtree and the
// assignment variants of WL, and the histogram of vertex labels. Every vertex v of a graph G
// gets a factor s_v by which it counts,
//
//	c(G) = Σ_{v of colour c} s_v,
//
// colours being what they are; at s = 1 the graph is what it is.
type Attributer interface {
	// Attribute returns the derivatives ∂f/∂s_v at s = 1 of a function f of the kernel values
	// k_i = k(G, H_i) with the training graphs, whose slopes are ∂f/∂log k_i. Where two counts
	// are equal their minimum has two slopes, 0 and 1, of which the mean is taken. Terms with
	// k_i = 0 count nothing. It panics if there are not as many slopes as training graphs.
	//
	// With log k = log K(G, H) − ½ log K(G, G) − ½ log K(H, H) for a normalised kernel, v of
	// the colours c_0 … c_h adds, for the product and for the minimum,
	//
	//	∂K(G, H)/∂s_v = Σ_i c_i(H),                    ∂K(G, G)/∂s_v = Σ_i 2 c_i(G),
	//	∂K(G, H)/∂s_v = Σ_i [c_i(G) < c_i(H)],         ∂K(G, G)/∂s_v = h + 1.
	Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error)
}

// vertexCounts is a fitted kernel whose features are numbers of vertices.
type vertexCounts struct {
	*explicit
	// colours returns, by colouring and vertex, features of a new graph; those that no
	// training graph has are numbers beyond, different ones for different colours.
	colours func(ctx context.Context, g *graph.Graph) ([][]uint32, error)
}

var _ Attributer = (*vertexCounts)(nil)

func (f *vertexCounts) Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error) {
	x := f.idx
	if len(slopes) != x.n {
		panic(fmt.Sprintf("baseline: Attribute: %d slopes for %d training graphs", len(slopes), x.n))
	}
	fail := func(err error) ([]float64, error) { return nil, fmt.Errorf("%s: %w", f.name, err) }
	newMapping, err := f.mapper([]*graph.Graph{g})
	if err != nil {
		return fail(err)
	}
	vector, err := newMapping()(ctx, g)
	if err != nil {
		return fail(err)
	}
	known, others := x.vectorOf(vector, nil)
	self := x.selfSimilarity(known, others)
	weight := make([]float64, x.n) // ∂f/∂K(G, H_i), then slope over K
	x.accumulate(known, 0, weight, &scratch{})
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
	colourings, err := f.colours(ctx, g)
	if err != nil {
		return fail(err)
	}
	out := make([]float64, g.N())
	for _, colour := range colourings {
		count := map[uint32]float64{}
		for _, c := range colour {
			count[c]++
		}
		slope := make(map[uint32]float64, len(count))
		for c, n := range count {
			slope[c] = x.slope(c, n, weight)
			if x.min {
				slope[c] -= total / (2 * self)
			} else {
				slope[c] -= total * n / self
			}
		}
		for v, c := range colour {
			out[v] += slope[c]
		}
	}
	return out, nil
}

// slope returns Σ_i w_i ∂K(G, H_i)/∂c(G) for a feature that G has n times.
func (x *index) slope(feature uint32, n float64, w []float64) float64 {
	if int(feature) >= len(x.rank) || x.rank[feature] == unseen {
		return 0
	}
	r := x.rank[feature]
	sum := 0.0
	for p := x.post[r]; p < x.post[r+1]; p++ {
		switch v := x.val[p]; {
		case !x.min:
			sum += w[x.graph[p]] * v
		case n < v:
			sum += w[x.graph[p]]
		case n == v:
			sum += w[x.graph[p]] / 2
		}
	}
	return sum
}

// vertexColours returns the features of the vertices of a new graph by colouring.
func (m *wlModel) vertexColours(ctx context.Context, g *graph.Graph) ([][]uint32, error) {
	source, err := resolveNew(m.kernel.Labels, m.source, []*graph.Graph{g})
	if err != nil {
		return nil, err
	}
	colour := m.labels.of(source, g)
	var private signatures
	var sig []uint32
	out := make([][]uint32, 0, m.kernel.H+1)
	for i := 0; ; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		features := make([]uint32, len(colour))
		for v, c := range colour {
			if int(c) < m.colours(i) {
				features[v] = m.base[i] + c
			} else {
				features[v] = uint32(m.size) + c
			}
		}
		if out = append(out, features); i == m.kernel.H {
			return out, nil
		}
		private.reset()
		next := make([]uint32, len(colour))
		for v := range next {
			sig = appendSignature(sig[:0], g, v, colour)
			h := hashSignature(sig)
			c, ok := m.refined[i].lookup(sig, h)
			if !ok {
				c = uint32(m.refined[i].len()) + private.intern(sig, h)
			}
			next[v] = c
		}
		colour = next
	}
}
