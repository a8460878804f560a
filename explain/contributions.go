package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

const (
	// rowsAtATime is the number of graphs whose kernel is computed together, which shares work and
	// bounds memory.
	rowsAtATime = 64
	// maxWork bounds the vertices of all graphs that an explanation compares with the training
	// graphs. A graph of up to 256 vertices loses each in turn.
	maxWork = 1 << 16
	// rounding is the difference of effects, relative to the numbers they come from, below which they are
	// equal. Kernels agree to about 1e-12 on isomorphic graphs.
	rounding = 1e-9
)

// reader returns the function to explain and its baseline, given the features and the kernel values of the graph.
type reader func(a kernel.Features, row []float64) (f *learn.Function, baseline float64, err error)

// contributionsOf returns the contributions of the vertices of a graph to a function of its kernel
// values with others. In a graph without vertices nothing contributes.
func contributionsOf(ctx context.Context, sum *kernel.FittedSum, others kernel.Features, g *graph.Graph, read reader) (Contributions, error) {
	n := g.N()
	out := Contributions{Vertices: make([]float64, n), Names: g.Names(), Together: max(1, (n*n+maxWork-1)/maxWork)}
	parts := slices.Collect(slices.Chunk(walk(g), out.Together))
	rest, effects, err := leaveOut(ctx, sum, others, g, parts, read)
	if err != nil {
		return out, err
	}
	for i, part := range parts {
		for _, v := range part {
			out.Vertices[v] = effects[i] / float64(len(part))
		}
		rest -= effects[i]
	}
	for v := range out.Vertices {
		out.Vertices[v] += rest / float64(n)
		out.Sum += out.Vertices[v]
	}
	out.addParts(g)
	return out, nil
}

// walk returns the vertices in the order of a depth-first search, in which neighbours are near each
// other.
func walk(g *graph.Graph) []int32 {
	seen := make([]bool, g.N())
	var order, stack []int32
	for v := range g.N() {
		stack = append(stack, int32(v))
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[u] {
				continue
			}
			seen[u] = true
			order = append(order, u)
			stack = append(stack, g.Neighbors(int(u))...)
		}
	}
	return order
}

// leaveOut returns f(G) − b and, for each part, f(G) − f(G without its vertices).
func leaveOut(ctx context.Context, sum *kernel.FittedSum, others kernel.Features, g *graph.Graph, parts [][]int32, read reader) (float64, []float64, error) {
	var f *learn.Function
	var value, baseline float64
	var effects []float64
	graphs := []*graph.Graph{g}
	for at := 0; f == nil || at < len(parts); {
		for ; at < len(parts) && len(graphs) < rowsAtATime; at++ {
			graphs = append(graphs, without(g, parts[at]))
		}
		rows, err := sum.Transform(ctx, graphs)
		if err != nil {
			return 0, nil, err
		}
		cross, err := kernel.Between(ctx, sum, rows, others)
		if err != nil {
			return 0, nil, err
		}
		for i := range cross.Rows {
			if f == nil {
				if f, baseline, err = read(rows.Select([]int{i}), cross.Row(i)); err != nil {
					return 0, nil, err
				}
				value = f.Value(cross.Row(i))
				continue
			}
			effects = append(effects, value-f.Value(cross.Row(i)))
		}
		graphs = graphs[:0]
	}
	equalise(effects, rounding*(math.Abs(value)+1))
	return value - baseline, effects, nil
}

// without returns a graph without some vertices.
func without(g *graph.Graph, part []int32) *graph.Graph {
	gone := make([]bool, g.N())
	for _, v := range part {
		gone[v] = true
	}
	kept := make([]int32, 0, g.N())
	for v := range int32(g.N()) {
		if !gone[v] {
			kept = append(kept, v)
		}
	}
	return g.Induced(kept)
}

// equalise makes numbers equal that differ by rounding alone, so that vertices which a symmetry of the graph
// exchanges have equal contributions.
func equalise(x []float64, tolerance float64) {
	order := kernel.UpTo(len(x))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	first := math.NaN()
	for _, i := range order {
		if x[i]-first <= tolerance {
			x[i] = first
		} else {
			first = x[i]
		}
	}
}
