package graphtest

import (
	"math/rand/v2"

	"github.com/mlgkernel/mlg/graph"
)

// ScaleFree returns a graph of Barabási and Albert: every vertex after the first links is joined to so many
// of those before it, each with a probability that grows with its degree.
func ScaleFree(r *rand.Rand, n, links int) *graph.Graph {
	b := graph.NewBuilder(n)
	var ends []int // every vertex as often as it has edges
	for v := min(links, n); v < n; v++ {
		chosen := map[int]bool{}
		var targets []int
		for len(targets) < links {
			u := r.IntN(v)
			if len(ends) > 0 && v > links {
				u = ends[r.IntN(len(ends))]
			}
			if !chosen[u] {
				chosen[u] = true
				targets = append(targets, u)
			}
		}
		for _, u := range targets {
			b.AddEdge(u, v)
			ends = append(ends, u, v)
		}
	}
	return must(b)
}
