package baseline

import (
	"context"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// Attributer is a fitted kernel whose features count sets of vertices. The subtree and the assignment
// variants of WL and the histogram of vertex labels count vertices by colour. ShortestPath without
// attributes, and NSPD, count pairs of vertices by colours and distance. Every vertex v of a graph G
// counts by a factor s_v, and a set of vertices X by the product of the factors,
//
//	c(G) = Σ_{X of class c} Π_{v in X} s_v,
//
// and colours and distances do not change. With s = 1 the counts are those of G. With s_v = 0 all
// sets with v are gone. A pair of u ≠ v counts s_u s_v. The pair (v, v) of NSPD, at distance 0, is the
// set of one vertex and counts s_v. So NSPD with r = d = 0 is the normalised histogram of labels for
// all s.
type Attributer interface {
	// Attribute returns the derivatives ∂f/∂s_v at s = 1 of a function f of the kernel values k_i =
	// k(G, H_i) with the training graphs, whose slopes are ∂f/∂log k_i. Where two counts are equal,
	// their minimum has two slopes, 0 and 1. Then Attribute takes the mean. Terms with k_i = 0
	// count nothing. It panics if there are not as many slopes as training graphs. It is an error if
	// a graph has so many features that they are not in the index (see ShortestPath).
	//
	// With log k = log K(G, H) − ½ log K(G, G) − ½ log K(H, H) for a normalised kernel, a set of the
	// class c adds to each of its vertices, for the product and for the minimum,
	//
	//	∂K(G, H)/∂c(G) = c(H),                    ∂K(G, G)/∂c(G) = 2 c(G),
	//	∂K(G, H)/∂c(G) = [c(G) < c(H)],           ∂K(G, G)/∂c(G) = 1.
	//
	// NSPD replaces the counts c of a radius and a distance by φ_c = c/N with N = √Σ c². Then
	//
	//	∂f/∂c = (∂f/∂φ_c − φ_c Σ_b φ_b ∂f/∂φ_b)/N.
	Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error)
}

// setFunc calls visit with every set of vertices that the features of a graph count, {u, v} or {u} = {v},
// and with the key, or the number, of its feature.
type setFunc func(ctx context.Context, g *coloured, visit func(u, v int, feature ...uint32)) error

// setCounts is a fitted kernel whose features count sets of vertices.
type setCounts struct{ *explicit }

var _ Attributer = (*setCounts)(nil)

func (f *setCounts) Attribute(ctx context.Context, g *graph.Graph, slopes []float64) ([]float64, error) {
	if n := f.index.n; len(slopes) != n {
		panic(fmt.Sprintf("baseline: Attribute: %d slopes for %d training graphs", len(slopes), n))
	}
	out := make([]float64, g.N())
	err := f.eachNew(ctx, []*graph.Graph{g}, func(w *rowWorker, _ int, q query) error {
		if f.anyLarge || q.large != nil {
			return errors.New("no slopes for so many features, want fewer refinements or smaller graphs")
		}
		return f.spread(ctx, q.coloured, &w.found, f.slopes(q, w, slopes), out)
	})
	return out, err
}

// slopes returns ∂f/∂φ for the features φ of a graph, in the order of w.found.
func (f *setCounts) slopes(q query, w *rowWorker, slopes []float64) []float64 {
	x := f.index
	weight := make([]float64, x.n) // ∂f/∂K(G, H_i): first K itself, then slope over K
	x.accumulate(q.vector, 0, weight, &w.sums)
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
	out := make([]float64, len(w.found.entries))
	for i, e := range w.found.entries {
		self := e.val
		if x.minimum {
			self = 0.5
		}
		out[i] = x.weight[e.block] * (x.slope(e.id, e.val, weight) - total*self/q.self)
	}
	return out
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

// spread adds the derivatives to out, given those with respect to features. The sets that a feature
// counts have equal parts of its value, so one of n sets adds 1/n of the value times the derivative.
func (f *setCounts) spread(ctx context.Context, g *coloured, found *features, slope, out []float64) error {
	start := 0
	for _, end := range found.shares {
		mean := 0.0
		for i := start; i < end; i++ {
			mean += found.entries[i].val * slope[i]
		}
		for i := start; i < end; i++ {
			slope[i] -= found.entries[i].val * mean
		}
		start = end
	}
	positions := found.positions()
	each := func(visit func(at uint32, u, v int)) error {
		return f.sets(ctx, g, func(u, v int, feature ...uint32) {
			visit(positions.intern(feature, hashWords(feature)), u, v)
		})
	}
	size := make([]float64, len(slope)) // number of sets
	if err := each(func(at uint32, _, _ int) { size[at]++ }); err != nil {
		return err
	}
	return each(func(at uint32, u, v int) {
		d := slope[at] * found.entries[at].val / size[at]
		out[u] += d
		if v != u {
			out[v] += d
		}
	})
}

// positions returns the dictionary that gives a feature, by its key or its number, its position in entries.
func (f *features) positions() *dictionary {
	var d dictionary
	start := 0
	for i, e := range f.entries {
		key := []uint32{e.id}
		if len(f.keys) > 0 {
			key = f.words[start:f.keys[i].end]
			start = f.keys[i].end
		}
		d.intern(key, hashWords(key))
	}
	return &d
}
