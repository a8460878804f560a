package graph

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
	"slices"
)

// Isomorphic reports whether some renumbering of the vertices makes g and h equal: edges or arcs, weights,
// their labels, vertex labels and attributes. Identifiers, targets and coordinates do not count.
//
// Colours of both graphs are refined together. Vertices that stay alike are then matched by trial,
// and the colours are refined again after each trial. This is fast on graphs that occur in
// practice, and exponential on some that are made for it.
func Isomorphic(g, h *Graph) bool {
	if g.directed != h.directed || len(g.arcs) != len(h.arcs) || g.N() != h.N() || g.M() != h.M() || g.HasLabels() != h.HasLabels() || g.dim != h.dim || g.HasEdgeLabels() != h.HasEdgeLabels() {
		return false
	}
	if g.directed {
		g, h = g.unmistakable(), h.unmistakable()
	}
	return newMatcher(g, h).match(1)
}

// unmistakable is SubdivideArcs with labels of vertices that are no labels of tails and heads.
func (g *Graph) unmistakable() *Graph {
	labels := make([]string, g.N())
	for v := range labels {
		labels[v] = "vertex " + g.Label(v)
	}
	return g.Relabel(labels).SubdivideArcs()
}

// matcher refines the colours of two graphs together, as those of one graph: vertex v of the
// second has the number n+v, and the weight of an edge is the number of its weight and label.
type matcher struct {
	Scratch
	n     int
	both  *Graph
	vs    []int32 // all vertices
	key   []uint64
	class []int32
	tag   []int32 // trial in which a vertex was matched, 0: none
}

func newMatcher(g, h *Graph) *matcher {
	m := &matcher{n: g.N(), tag: make([]int32, 2*g.N())}
	type kind struct {
		weight float64
		label  string
	}
	kinds, colours := map[kind]int32{}, map[string]int32{}
	b := NewBuilder(2 * m.n)
	for _, x := range []*Graph{g, h} {
		first := len(m.vs)
		for e := range x.Edges() {
			k := number(kinds, kind{e.Weight, e.Label})
			b.AddWeightedEdge(first+e.U, first+e.V, float64(1+k))
		}
		for v := range x.N() {
			colour := []byte(x.Label(v) + "\x00")
			for _, a := range x.Attributes(v) {
				colour = binary.LittleEndian.AppendUint64(colour, math.Float64bits(a))
			}
			c := number(colours, string(colour))
			m.vs = append(m.vs, int32(len(m.vs)))
			m.class = append(m.class, c)
			m.key = append(m.key, uint64(c))
		}
	}
	m.both, _ = b.Build() // parts of valid graphs
	return m
}

// number returns the number of a key, the next one when it is new.
func number[K comparable](in map[K]int32, key K) int32 {
	n, ok := in[key]
	if !ok {
		n = int32(len(in))
		in[key] = n
	}
	return n
}

// match reports whether the vertices can be matched, given those that have tags.
func (m *matcher) match(trial int32) bool {
	m.load(m.both, m.vs, m.key, m.class, m.tag)
	m.refine()
	var smallest []int32 // cell of several vertices of each graph
	for i := 0; i < 2*m.n; i += int(m.size[i]) {
		cell := m.order[i : i+int(m.size[i])]
		first := 0
		for _, v := range cell {
			if int(v) < m.n {
				first++
			}
		}
		if 2*first != len(cell) {
			return false
		}
		if first > 1 && (smallest == nil || len(cell) < len(smallest)) {
			smallest = cell
		}
	}
	if smallest == nil {
		return true // every cell is one vertex of each graph, and cells are stable
	}
	cell := slices.Sorted(slices.Values(smallest)) // the vertices of the first graph first
	v := cell[0]
	m.tag[v] = trial
	for _, w := range cell[len(cell)/2:] {
		m.tag[w] = trial
		if m.match(trial + 1) {
			return true
		}
		m.tag[w] = 0
	}
	m.tag[v] = 0
	return false
}

// Set is a set of graphs that are not isomorphic to each other. Find may be called concurrently.
type Set struct {
	classes map[string]int32 // of labels
	byHash  map[uint64][]int // numbers of graphs
	graphs  []*Graph
}

// Add adds a graph unless it is isomorphic to one of the set, and returns the number of that one, from 0 in
// the order of adding.
func (s *Set) Add(g *Graph) int {
	if s.classes == nil {
		s.classes, s.byHash = make(map[string]int32), make(map[uint64][]int)
	}
	for v := range g.N() {
		number(s.classes, g.Label(v))
	}
	k := s.Find(g)
	if k < 0 {
		k = len(s.graphs)
		s.graphs = append(s.graphs, g)
		hash := s.hash(g)
		s.byHash[hash] = append(s.byHash[hash], k)
	}
	return k
}

// Find returns the number of the graph that is isomorphic to one, −1 if none is.
func (s *Set) Find(g *Graph) int {
	for _, k := range s.byHash[s.hash(g)] {
		if Isomorphic(s.graphs[k], g) {
			return k
		}
	}
	return -1
}

// hash returns that of a graph. Labels that the set does not have count as one.
func (s *Set) hash(g *Graph) uint64 {
	var scratch Scratch
	vs, class, key := make([]int32, g.N()), make([]int32, g.N()), make([]uint64, g.N())
	for v := range g.N() {
		c, known := s.classes[g.Label(v)]
		if !known {
			c = -1
		}
		vs[v], class[v], key[v] = int32(v), c, uint64(c)
	}
	_, hash := scratch.Signature(g, vs, key, class, nil)
	return hash
}

// Duplicates returns the groups of two or more isomorphic graphs, each ascending, in the
// order of their first graphs.
func Duplicates(graphs []*Graph) [][]int {
	var s Set
	var groups [][]int
	for i, g := range graphs {
		k := s.Add(g)
		if k == len(groups) {
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return slices.DeleteFunc(groups, func(group []int) bool { return len(group) == 1 })
}

// Hash returns a number that is the same for isomorphic graphs, however their vertices are numbered. Others have mostly
// different ones. Only edges, their weights, and labels of vertices count.
func (g *Graph) Hash() uint64 {
	var scratch Scratch
	vs, class, key := make([]int32, g.N()), make([]int32, g.N()), make([]uint64, g.N())
	for v := range g.N() {
		h := fnv.New64a()
		io.WriteString(h, g.Label(v))
		vs[v], key[v] = int32(v), h.Sum64()
	}
	_, hash := scratch.Signature(g, vs, key, class, nil)
	return hash
}
