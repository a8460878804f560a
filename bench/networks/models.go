package main

import (
	"log"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/graph"
)

// scaleFree returns a graph of Barabási and Albert: every vertex after the first links is joined to so many
// of those before it, each with a probability that grows with its degree.
func scaleFree(r *rand.Rand, n, links int) *graph.Graph {
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
	return build(b)
}

// smallWorld returns a graph of Watts and Strogatz: a ring in which every vertex is joined to so many next
// ones, and every edge leads elsewhere with a probability.
func smallWorld(r *rand.Rand, n, next int, elsewhere float64) *graph.Graph {
	b := graph.NewBuilder(n)
	has := map[[2]int]bool{}
	for v := range n {
		for step := 1; step <= next; step++ {
			u := (v + step) % n
			for r.Float64() < elsewhere || u == v || has[[2]int{min(u, v), max(u, v)}] {
				u = r.IntN(n)
			}
			has[[2]int{min(u, v), max(u, v)}] = true
			b.AddEdge(v, u)
		}
	}
	return build(b)
}

// blocks returns a graph of a block model: vertices of equal groups are joined with the first probability
// inside a group and with the second between groups.
func blocks(r *rand.Rand, n, groups int, inside, between float64) *graph.Graph {
	b := graph.NewBuilder(n)
	for v := range n {
		for u := range v {
			p := between
			if u%groups == v%groups {
				p = inside
			}
			if r.Float64() < p {
				b.AddEdge(u, v)
			}
		}
	}
	return build(b)
}

// uniform returns a graph of Erdős and Rényi: all pairs are joined with one probability.
func uniform(r *rand.Rand, n int, p float64) *graph.Graph { return blocks(r, n, 1, p, 0) }

func build(b *graph.Builder) *graph.Graph {
	g, err := b.Build()
	if err != nil {
		log.Fatal(err)
	}
	return g
}
