package classic

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Attributer is the map of a kernel whose features count sets of vertices. The subtree and the
// assignment variants of WL and the histogram of vertex labels count vertices by colour. ShortestPath
// without attributes, and NSPD, count pairs of vertices by colours and distance. Every vertex v of a
// graph G counts by a factor s_v, and a set of vertices X by the product of the factors,
//
//	c(G) = Σ_{X of class c} Π_{v in X} s_v,
//
// and colours and distances do not change. With s = 1 the counts are those of G. With s_v = 0 all
// sets with v are gone. A pair of u ≠ v counts s_u s_v. The pair (v, v) of NSPD, at distance 0, is the
// set of one vertex and counts s_v. So NSPD with r = d = 0 is the normalised histogram of labels for
// all s.
type Attributer interface {
	// Attribute returns the derivatives ∂f/∂s_v at s = 1 of a function f of the kernel values k_i =
	// k(G, H_i) with other graphs, whose slopes are ∂f/∂log k_i. Where two counts are equal, their
	// minimum has two slopes, 0 and 1. Then Attribute takes the mean. Terms with k_i = 0 count
	// nothing. It panics if there are not as many slopes as other graphs. It is an error if a graph
	// has so many features that they are not in the index (see ShortestPath).
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
	Attribute(ctx context.Context, g *graph.Graph, others kernel.Features, slopes []float64) ([]float64, error)
}

// setFunc calls visit with every set of vertices that the features of a graph count, {u, v} or {u} = {v},
// and with its feature.
type setFunc func(ctx context.Context, g *coloured, visit func(u, v int, feature uint64)) error

// setMap is the map of a kernel whose features count sets of vertices.
type setMap struct{ *countMap }

var _ Attributer = (*setMap)(nil)

func (m *setMap) Attribute(ctx context.Context, g *graph.Graph, others kernel.Features, slopes []float64) ([]float64, error) {
	if n := others.Len(); len(slopes) != n {
		panic(fmt.Sprintf("classic: Attribute: %d slopes for %d graphs", len(slopes), n))
	}
	out := make([]float64, g.N())
	return out, m.error(m.attribute(ctx, g, others.(*vectors), slopes, out))
}

func (m *setMap) attribute(ctx context.Context, g *graph.Graph, others *vectors, slopes, out []float64) error {
	c, err := m.colouring.forNew([]*graph.Graph{g})
	if err != nil {
		return err
	}
	var found vector
	painted, err := m.counter(c).counts(ctx, g, &found)
	if err != nil {
		return graphError(0, err)
	}
	if others.anyLarge || painted.large != nil {
		return graphError(0, errors.New("no slopes for so many features, want fewer refinements or smaller graphs"))
	}
	slope, err := m.slopes(ctx, found.entries, others, slopes)
	if err != nil {
		return err
	}
	return m.spread(ctx, painted, &found, slope, out)
}

// slopes returns ∂f/∂φ for the features φ of a graph.
func (m *setMap) slopes(ctx context.Context, entries []entry, others *vectors, slopes []float64) ([]float64, error) {
	sorted := vector{entries: slices.Clone(entries)}
	sorted.sort()
	self := m.selfSimilarity(sorted.entries)
	one := vectorBuilder{vectors: vectors{start: []int{0}}}
	one.add(&sorted, self)
	weight := make([]float64, others.Len()) // ∂f/∂K(G, H_i): first K itself, then slope over K
	sums := tiler{weight: m.weights, minimum: m.minimum}
	block := kernel.Block{A: one.build(len(m.weights)), I1: 1, B: others, J1: others.Len()}
	if err := sums.fill(ctx, weight, others.Len(), block); err != nil {
		return nil, err
	}
	total := 0.0
	for i, k := range weight {
		if k == 0 || slopes[i] == 0 {
			weight[i] = 0
			continue
		}
		weight[i] = slopes[i] / k
		total += slopes[i]
	}
	if !m.normalize {
		total = 0
	}
	out := make([]float64, len(entries))
	for i, e := range entries {
		own := e.val
		if m.minimum {
			own = 0.5
		}
		out[i] = m.weights[e.block] * (m.slope(e, others, weight) - total*own/self)
	}
	return out, nil
}

// slope returns Σ_i w_i ∂K(G, H_i)/∂c(G) for a feature of G.
func (m *setMap) slope(e entry, others *vectors, w []float64) float64 {
	at := others.table.find(e.block, e.id)
	if at == absent {
		return 0
	}
	sum := 0.0
	for s := 0; s*sectionGraphs < others.Len(); s++ {
		sec, w := others.section(s), w[s*sectionGraphs:]
		f, ok := slices.BinarySearch(sec.at, at)
		if !ok {
			continue
		}
		for k := sec.post[f]; k < sec.post[f+1]; k++ {
			switch v := sec.value(k); {
			case !m.minimum:
				sum += w[sec.graph[k]] * v
			case e.val < v:
				sum += w[sec.graph[k]]
			case e.val == v:
				sum += w[sec.graph[k]] / 2
			}
		}
	}
	return sum
}

// spread adds the derivatives to out, given those with respect to features. The sets that a feature
// counts have equal parts of its value, so one of n sets adds 1/n of the value times the derivative.
func (m *setMap) spread(ctx context.Context, g *coloured, found *vector, slope, out []float64) error {
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
	position := make(map[uint64]int, len(slope))
	for i, e := range found.entries {
		position[e.id] = i
	}
	size := make([]float64, len(slope)) // number of sets
	if err := m.sets(ctx, g, func(_, _ int, feature uint64) { size[position[feature]]++ }); err != nil {
		return err
	}
	return m.sets(ctx, g, func(u, v int, feature uint64) {
		at := position[feature]
		d := slope[at] * found.entries[at].val / size[at]
		out[u] += d
		if v != u {
			out[v] += d
		}
	})
}
