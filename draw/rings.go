package draw

import (
	"cmp"
	"math/big"
	"slices"
)

// adjacency is the structure of a graph: the neighbours of every vertex.
type adjacency [][]int

// search returns the vertices that are reached from root without passing the barred ones, breadth
// first, and the vertex by which each was reached: −1 for the root, −2 for one not reached.
func (adj adjacency) search(root int, barred ...int) (order, from []int) {
	from = slices.Repeat([]int{-2}, len(adj))
	from[root] = -1
	order = []int{root}
	for i := 0; i < len(order); i++ {
		for _, w := range adj[order[i]] {
			if from[w] == -2 && !slices.Contains(barred, w) {
				from[w] = order[i]
				order = append(order, w)
			}
		}
	}
	return order, from
}

// components returns the connected components, each in ascending order.
func (adj adjacency) components() (all [][]int) {
	seen := make([]bool, len(adj))
	for root := range adj {
		if seen[root] {
			continue
		}
		c, _ := adj.search(root)
		for _, v := range c {
			seen[v] = true
		}
		slices.Sort(c)
		all = append(all, c)
	}
	return all
}

// edges returns the edges of some components, each once.
func (adj adjacency) edges(vertices []int) (edges [][2]int) {
	for _, v := range vertices {
		for _, w := range adj[v] {
			if v < w {
				edges = append(edges, [2]int{v, w})
			}
		}
	}
	return edges
}

// ringSystem is a maximal set of rings that share vertices.
type ringSystem struct {
	atoms []int
	rings [][]int // a smallest set of smallest rings, each in cyclic order, small ones first
	fixed bool    // laid out from a pattern, whose orientation stays
}

// Limits of a ring system. Larger ones (cages, sheets) are laid out by forces.
const (
	maxSystem = 150 // vertices
	maxRings  = 60
)

// maxCandidates bounds the cycles that are looked at in a component.
const maxCandidates = 100_000

// ringSystems returns the ring systems of a graph. It reports failure when one is beyond
// the limits.
func (adj adjacency) ringSystems() (systems []ringSystem, ok bool) {
	var rings [][]int
	for _, c := range adj.components() {
		need := len(adj.edges(c)) - len(c) + 1
		if need == 0 {
			continue
		}
		if len(c)*need > maxCandidates {
			return nil, false
		}
		rings = append(rings, adj.smallestRings(c, need)...)
	}
	cyclic := make(adjacency, len(adj)) // the edges of rings
	for _, ring := range rings {
		for i, v := range ring {
			w := ring[(i+1)%len(ring)]
			cyclic[v], cyclic[w] = append(cyclic[v], w), append(cyclic[w], v)
		}
	}
	for _, atoms := range cyclic.components() {
		s := ringSystem{atoms: atoms}
		for _, ring := range rings {
			if slices.Contains(atoms, ring[0]) {
				s.rings = append(s.rings, ring)
			}
		}
		if len(atoms) > maxSystem || len(s.rings) > maxRings {
			return nil, false
		}
		if len(s.rings) > 0 {
			systems = append(systems, s)
		}
	}
	return systems, true
}

// smallestRings returns a smallest set of smallest rings among the given vertices: the shortest
// cycles that are independent over GF(2), where a cycle is the set of its edges.
func (adj adjacency) smallestRings(atoms []int, need int) (rings [][]int) {
	number := map[[2]int]int{}    // of the edges
	reduced := map[int]*big.Int{} // independent cycles by their largest edge
	for _, ring := range adj.shortCycles(atoms) {
		set := new(big.Int)
		for i, v := range ring {
			w := ring[(i+1)%len(ring)]
			edge := [2]int{min(v, w), max(v, w)}
			if _, known := number[edge]; !known {
				number[edge] = len(number)
			}
			set.SetBit(set, number[edge], 1)
		}
		for reduced[set.BitLen()] != nil {
			set.Xor(set, reduced[set.BitLen()])
		}
		if set.BitLen() > 0 {
			reduced[set.BitLen()] = set
			if rings = append(rings, ring); len(rings) == need {
				break
			}
		}
	}
	return rings
}

// shortCycles returns Horton's candidates, small ones first: an edge with shortest paths from its
// ends to a vertex, if they meet there only. Every smallest set of smallest rings can be chosen
// from them.
func (adj adjacency) shortCycles(atoms []int) (cycles [][]int) {
	for _, root := range atoms {
		_, from := adj.search(root)
		path := func(v int) []int {
			p := []int{}
			for ; v != root; v = from[v] {
				p = append(p, v)
			}
			return p
		}
		for _, x := range atoms {
			for _, y := range adj[x] {
				if from[x] == y || from[y] == x {
					continue
				}
				there, back := path(x), path(y)
				if slices.ContainsFunc(back, func(v int) bool { return slices.Contains(there, v) }) {
					continue
				}
				slices.Reverse(there)
				cycles = append(cycles, slices.Concat([]int{root}, there, back))
			}
		}
	}
	slices.SortFunc(cycles, func(a, b []int) int { return cmp.Or(len(a)-len(b), slices.Compare(a, b)) })
	return cycles
}
