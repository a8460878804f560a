package classic

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Core is the kernel of degeneracies (Nikolentzos et al., 2018),
//
//	k(G, G') = Σ_i b(C_i(G), C_i(G')).
//
// The i-core C_i(G) is the largest subgraph in which every vertex has at least i neighbours, and
// C_0(G) = G. b is Base, a kernel that is not normalised. i runs from Least to the largest for
// which both cores have vertices. A core takes O(m) time. The kernel is not kernel.Levelled: the graphs
// decide how many cores there are.
type Core struct {
	Base      string `json:"base" want:"a kernel" help:"Kernel of the cores, such as sp or (wl h=3)."`
	Least     int    `json:"least" want:"0 to 65536" help:"Least number of neighbours in the first core."`
	Normalize bool   `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultCore returns the normalised kernel of the shortest paths in all cores.
func DefaultCore() Core { return Core{Base: "sp", Normalize: true} }

// Name implements kernel.Kernel.
func (k Core) Name() string { return "core" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Core) String() string  { return kernel.Text(k) }
func (k Core) Validate() error { return checkBase(k, k.Base) }
func (k Core) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fitLevels(ctx, k.levels(), graphs)
}
func (k Core) Decode(data []byte) (kernel.Map, error) { return decodeLevels(k.levels(), data) }
func (k Core) levels() levelled                       { return levelled{k, k.Base, k.Normalize, cores{k.Least}} }
func (k Core) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	base, err := baseKernel(k.Base)
	if err != nil {
		return nil, err
	}
	if base, err = base.(kernel.Resolver).Resolve(graphs); err != nil {
		return nil, err
	}
	k.Base = base.String()
	return k, nil
}

// cores are levels of graphs that are their cores.
type cores struct{ least int }

func (c cores) fit([]*graph.Graph) error     { return nil }
func (c cores) appendBinary(b []byte) []byte { return b }
func (c cores) decode(data []byte) error {
	if len(data) > 0 {
		return fmt.Errorf("%d bytes of labels, want none", len(data))
	}
	return nil
}

func (c cores) levels(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) {
	out := make([][]*graph.Graph, len(graphs))
	return out, work.Each(ctx, len(graphs), 16, func(_, i int) (err error) {
		out[i], err = c.of(ctx, graphs[i])
		return err
	})
}

// of returns the cores of a graph. Cores that are the same are the same graph.
func (c cores) of(ctx context.Context, g *graph.Graph) ([]*graph.Graph, error) {
	number := coreNumbers(g)
	var out []*graph.Graph
	kept := -1
	for i := c.least; ; i++ {
		var vs []int32
		for v, n := range number {
			if n >= i {
				vs = append(vs, int32(v))
			}
		}
		switch {
		case len(vs) == 0 && i > 0:
			return out, ctx.Err()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(vs) == kept:
			out = append(out, out[len(out)-1])
		case len(vs) == g.N():
			out = append(out, g)
		default:
			out = append(out, g.Induced(vs))
		}
		kept = len(vs)
	}
}

// coreNumbers returns, for every vertex, the largest i for which it is in the i-core. It takes
// vertices away in the order of the number of neighbours that they still have (Batagelj and
// Zaveršnik, 2003).
func coreNumbers(g *graph.Graph) []int {
	n := g.N()
	left := make([]int, n) // neighbours that are not taken away
	var byLeft [][]int32   // vertices by left, and stale entries
	for v := range n {
		left[v] = g.Degree(v)
		byLeft = push(byLeft, left[v], int32(v))
	}
	number := make([]int, n)
	gone := make([]bool, n)
	for d, least := 0, 0; d < len(byLeft); {
		last := len(byLeft[d]) - 1
		if last < 0 {
			d++
			continue
		}
		v := byLeft[d][last]
		byLeft[d] = byLeft[d][:last]
		if gone[v] || left[v] != d {
			continue
		}
		gone[v] = true
		least = max(least, d)
		number[v] = least
		for _, u := range g.Neighbors(int(v)) {
			if !gone[u] {
				left[u]--
				byLeft = push(byLeft, left[u], u)
			}
		}
		d = max(0, d-1)
	}
	return number
}

func push(lists [][]int32, i int, v int32) [][]int32 {
	for len(lists) <= i {
		lists = append(lists, nil)
	}
	lists[i] = append(lists[i], v)
	return lists
}
