package draw

import (
	"cmp"
	"slices"
)

// Ring perception is by Horton's method, with these limits on a ring system. Larger
// systems (cages, sheets) are laid out by forces.
const (
	maxSystem = 150 // vertices
	maxRings  = 60
)

// adjacency is the structure of a graph: neighbours in ascending order.
type adjacency [][]int

// bridges returns for every arc (v, i-th neighbour) whether the edge is in no cycle.
func (adj adjacency) bridges() [][]bool {
	n := len(adj)
	is := make([][]bool, n)
	for v := range adj {
		is[v] = make([]bool, len(adj[v]))
	}
	order, low, next, parent := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	time := 0
	for root := range n {
		if order[root] > 0 {
			continue
		}
		time++
		order[root], low[root], parent[root] = time, time, -1
		for stack := []int{root}; len(stack) > 0; {
			v := stack[len(stack)-1]
			if next[v] < len(adj[v]) {
				w := adj[v][next[v]]
				next[v]++
				switch {
				case order[w] == 0:
					time++
					order[w], low[w], parent[w] = time, time, v
					stack = append(stack, w)
				case w != parent[v]:
					low[v] = min(low[v], order[w])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if p := parent[v]; p >= 0 {
				low[p] = min(low[p], low[v])
				if low[v] > order[p] {
					is[p][slices.Index(adj[p], v)] = true
					is[v][slices.Index(adj[v], p)] = true
				}
			}
		}
	}
	return is
}

// components returns the vertex sets that the kept arcs connect, ascending.
func (adj adjacency) components(keep func(v, i int) bool) [][]int {
	seen := make([]bool, len(adj))
	var all [][]int
	for root := range adj {
		if seen[root] {
			continue
		}
		seen[root] = true
		c := []int{root}
		for i := 0; i < len(c); i++ {
			for k, w := range adj[c[i]] {
				if !seen[w] && keep(c[i], k) {
					seen[w] = true
					c = append(c, w)
				}
			}
		}
		slices.Sort(c)
		all = append(all, c)
	}
	return all
}

// ringSystem is a maximal set of rings that share vertices.
type ringSystem struct {
	atoms []int
	rings [][]int // a smallest set of smallest rings, each in cyclic order, small ones first
	fixed bool    // laid out from a template, whose orientation stays
}

// ringSystems returns the ring systems of a graph. It reports failure when one is beyond
// the limits.
func (adj adjacency) ringSystems() (systems []ringSystem, ok bool) {
	bridge := adj.bridges()
	for _, atoms := range adj.components(func(v, i int) bool { return !bridge[v][i] }) {
		if len(atoms) < 3 {
			continue
		}
		rings, ok := adj.smallestRings(atoms)
		if !ok {
			return nil, false
		}
		systems = append(systems, ringSystem{atoms: atoms, rings: rings})
	}
	return systems, true
}

// smallestRings returns a smallest set of smallest rings of the subgraph that the atoms
// induce: the shortest cycles that are independent over GF(2). Every such cycle is among
// Horton's candidates, an edge with shortest paths from its ends to a vertex.
func (adj adjacency) smallestRings(atoms []int) ([][]int, bool) {
	local := map[int]int{}
	for i, v := range atoms {
		local[v] = i
	}
	n := len(atoms)
	nb := make(adjacency, n)
	edge := map[[2]int]int{}
	for i, v := range atoms {
		for _, w := range adj[v] {
			if j, in := local[w]; in {
				nb[i] = append(nb[i], j)
				if i < j {
					edge[[2]int{i, j}] = len(edge)
				}
			}
		}
	}
	need := len(edge) - n + 1
	if n > maxSystem || need > maxRings {
		return nil, false
	}
	candidates := nb.hortonCycles()
	words := (len(edge) + 63) / 64
	var basis [][]uint64 // reduced rows; lead[i] is the leading bit of row i
	var lead []int
	var rings [][]int
	for _, c := range candidates {
		if len(rings) == need {
			break
		}
		row := make([]uint64, words)
		for k, v := range c {
			w := c[(k+1)%len(c)]
			e := edge[[2]int{min(v, w), max(v, w)}]
			row[e/64] ^= 1 << (e % 64)
		}
		for i, b := range basis {
			if row[lead[i]/64]>>(lead[i]%64)&1 == 1 {
				for k := range row {
					row[k] ^= b[k]
				}
			}
		}
		for e := range len(edge) {
			if row[e/64]>>(e%64)&1 == 1 {
				basis, lead = append(basis, row), append(lead, e)
				ring := make([]int, len(c))
				for k, v := range c {
					ring[k] = atoms[v]
				}
				rings = append(rings, ring)
				break
			}
		}
	}
	return rings, len(rings) == need
}

// hortonCycles returns the candidate cycles, short ones first.
func (adj adjacency) hortonCycles() [][]int {
	n := len(adj)
	var all [][]int
	dist, parent := make([]int, n), make([]int, n)
	mark := make([]int, n)
	stamp := 0
	for root := range n {
		for i := range dist {
			dist[i] = -1
		}
		dist[root], parent[root] = 0, -1
		queue := []int{root}
		for i := 0; i < len(queue); i++ {
			for _, w := range adj[queue[i]] {
				if dist[w] < 0 {
					dist[w], parent[w] = dist[queue[i]]+1, queue[i]
					queue = append(queue, w)
				}
			}
		}
		for x := range n {
			for _, y := range adj[x] {
				if x > y || parent[x] == y || parent[y] == x || dist[x] < 0 {
					continue
				}
				// root … x, y … root, which must meet in the root only.
				stamp++
				c := []int{root}
				good := true
				for v := x; v != root; v = parent[v] {
					c = append(c, v)
					mark[v] = stamp
				}
				slices.Reverse(c[1:])
				for v := y; v != root; v = parent[v] {
					c = append(c, v)
					good = good && mark[v] != stamp
				}
				if good {
					all = append(all, canonicalCycle(c))
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
	return slices.CompactFunc(all, slices.Equal)
}

// canonicalCycle starts a cycle at its smallest vertex, towards the smaller neighbour.
func canonicalCycle(c []int) []int {
	n := len(c)
	at := slices.Index(c, slices.Min(c))
	step := 1
	if c[(at+n-1)%n] < c[(at+1)%n] {
		step = n - 1
	}
	out := make([]int, n)
	for i := range out {
		out[i] = c[(at+i*step)%n]
	}
	return out
}
