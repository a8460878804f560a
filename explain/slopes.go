package explain

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// slopesOf returns the slopes ∂f/∂s_v of a function f of the kernel values of a graph, where vertex v
// counts s_v times and s = 1 is the graph itself. In a multiscale kernel s_v multiplies the base features
// of v (mlg.LowRank.Attribute). A kernel that counts vertices, or pairs of them, counts v s_v times, and the
// pair of u and v s_u s_v times (classic.Attributer). Where a kernel sees edges or arcs as vertices, one counts
// √(s_u s_v). Other kernels are refused. By the product rule, for k = Σ_t w_t Π_j k_tj,
//
//	∂k/∂s_v = Σ_t w_t Π_j k_tj · Σ_j ∂log k_tj/∂s_v.
func slopesOf(ctx context.Context, sum *kernel.FittedSum, others kernel.Features, g *graph.Graph, read reader) (Contributions, error) {
	one, err := sum.Transform(ctx, []*graph.Graph{g})
	if err != nil {
		return Contributions{}, err
	}
	rows := make([][]float64, len(sum.Factors))
	for i, x := range sum.Factors {
		if !sum.Has(i) {
			continue
		}
		cross, err := kernel.Between(ctx, x.Known().Map, sum.Factor(one, i), sum.Factor(others, i))
		if err != nil {
			return Contributions{}, err
		}
		rows[i] = cross.Row(0)
	}
	row, err := sum.Combine(ctx, nil, func(i int) ([]float64, error) { return slices.Clone(rows[i]), nil })
	if err != nil {
		return Contributions{}, err
	}
	f, _, err := read(one, row)
	if err != nil {
		return Contributions{}, err
	}
	slopes := make([][]float64, len(rows)) // ∂f/∂log k_j(G, H_i)
	for i := range slopes {
		slopes[i] = make([]float64, len(row))
	}
	for t, term := range sum.Sum.Terms {
		for s, c := range f.Coefficients {
			if f.Support != nil {
				s = f.Support[s]
			}
			value := c * term.Weight
			for _, j := range sum.Positions(t) {
				value *= rows[j][s]
			}
			for _, j := range sum.Positions(t) {
				slopes[j][s] += value
			}
		}
	}
	out := Contributions{Vertices: make([]float64, g.N()), Names: g.Names(), Together: 1}
	for i, x := range sum.Factors {
		if !sum.Has(i) {
			continue
		}
		part, err := factorSlopes(ctx, x, sum.Factor(others, i), g, slopes[i])
		if err != nil {
			return Contributions{}, err
		}
		for v, d := range part {
			out.Vertices[v] += d
			out.Sum += d
		}
	}
	out.addParts(g)
	return out, nil
}

// attributer is a map with slopes: mlg.LowRank, and the classic.Attributer.
type attributer interface {
	Attribute(ctx context.Context, g *graph.Graph, others kernel.Features, slopes []float64) ([]float64, error)
}

// factorSlopes returns the slopes that come through one factor, given ∂f/∂log k(G, H_i).
func factorSlopes(ctx context.Context, x *kernel.FittedFactor, others kernel.Features, g *graph.Graph, slopes []float64) ([]float64, error) {
	prepared, err := x.Prepare([]*graph.Graph{g})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(g.Parts(), func(p graph.Part) bool { return p.Value && p.Name == x.Of }) {
		return nil, nil // no vertices make it up
	}
	m, at := x.Known().Map, 0
	if inner, parts, rows, part := kernel.PartsOf(m, others); part {
		if at = g.PartAt(x.Of); prepared[0].N() == 0 {
			return nil, nil
		}
		m, others, slopes, g = inner, parts, choose.Pick(slopes, rows), g.Part(x.Of)
	}
	k, ok := m.(attributer)
	if !ok {
		return nil, fmt.Errorf("%s has no slopes: only multiscale kernels, wl, wl-oa, labels, sp, wl-sp and nspd have them; every kernel has contributions", x)
	}
	out, err := k.Attribute(ctx, prepared[0], others, slopes)
	switch {
	case err != nil:
	case x.Directed:
		out = ends(g, g.Arcs(), 2, out)
	case x.Subdivide:
		out = ends(g, g.Edges(), 1, out)
	}
	if x.Of != "" && err == nil { // the vertices before the part have no slopes
		out = append(make([]float64, at), out...)
	}
	return out, err
}

// ends gives the slopes of edges that have become vertices, some for each, to their ends, one half each: an
// edge counts √(s_u s_v).
func ends(g *graph.Graph, edges iter.Seq[graph.Edge], each int, values []float64) []float64 {
	out := slices.Clone(values[:g.N()])
	at := g.N()
	for e := range edges {
		for range each {
			out[e.U] += values[at] / 2
			out[e.V] += values[at] / 2
			at++
		}
	}
	return out
}
