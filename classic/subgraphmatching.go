package classic

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// SubgraphMatching is the kernel of common subgraphs (Kriege and Mutzel, 2012),
//
//	k(G, G') = Σ_φ λ_|φ| Π_v κ(v, φ(v)) Π_e κ(e, φ(e)).
//
// φ runs over the isomorphisms between connected induced subgraphs of G and G'. |φ| is the number of
// vertices that φ maps. λ_1, λ_2, … are the Weights; matches of more vertices count nothing. κ is 1
// for equal labels and 0 for others, or, for labels among Vertices or Edges, what VertexValues or
// EdgeValues say. k is positive semi-definite where κ is.
//
// Where κ is equality, two subgraphs of a type t have |Aut(t)| isomorphisms, so the numbers of
// subgraphs by type are explicit features. They take time in proportion to the number of connected
// induced subgraphs of a graph. Otherwise graphs are compared pair by pair, in time in proportion to
// the number of isomorphisms.
type SubgraphMatching struct {
	Weights      []float64 `json:"weights" want:"at least 0" help:"Weights of matches of 1, 2, … vertices, up to 7 of them."`
	EdgeLabels   bool      `json:"edge_labels" help:"Labels of edges count, where graphs have them."`
	Vertices     []string  `json:"vertices" help:"Labels of vertices that vertex_values compares. Other labels match only if they are equal."`
	VertexValues []float64 `json:"vertex_values" help:"Values of every two labels of vertices, row by row."`
	Edges        []string  `json:"edges" help:"Labels of edges that edge_values compares. Other labels match only if they are equal."`
	EdgeValues   []float64 `json:"edge_values" help:"Values of every two labels of edges, row by row."`
	Labels       Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize    bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// maxMatch is the largest number of vertices of a match.
const maxMatch = 7

// DefaultSubgraphMatching returns the normalised kernel of matches of up to 5 vertices, all of
// weight 1.
func DefaultSubgraphMatching() SubgraphMatching {
	return SubgraphMatching{Weights: []float64{1, 1, 1, 1, 1}, EdgeLabels: true, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel.
func (k SubgraphMatching) Name() string { return "subgraph-matching" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k SubgraphMatching) String() string { return kernel.Text(k) }
func (k SubgraphMatching) Validate() error {
	if n := len(k.Weights); n < 1 || n > maxMatch {
		return param.Wrong(k.Name(), k, "weights", fmt.Sprintf("1 to %d numbers", maxMatch), nil)
	}
	if len(k.Edges) > 0 && !k.EdgeLabels {
		return param.Wrong(k.Name(), k, "edge_labels", "true, because edges are given", nil)
	}
	return cmp.Or(k.checkValues("vertex_values", k.Vertices, k.VertexValues), k.checkValues("edge_values", k.Edges, k.EdgeValues), kernel.Check(k))
}
func (k SubgraphMatching) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k SubgraphMatching) Decode(data []byte) (kernel.Map, error) { return decode(k, data) }
func (k SubgraphMatching) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}

// Stretch implements kernel.Directional. No parameter is a number of hops.
func (k SubgraphMatching) Stretch(int) (kernel.Kernel, bool) { return k, k.Labels.discrete() }

// features has a block for each size and number of automorphisms, which divides the factorial of
// the size. With tables of values there are no types, and graphs are compared pair by pair.
func (k SubgraphMatching) recipe() recipe {
	m := recipe{labels: k.Labels, edgeLabels: k.EdgeLabels, normalize: k.Normalize}
	if len(k.Vertices)+len(k.Edges) > 0 {
		return pairwise(m, k.valued, k.matches)
	}
	blocks := map[[2]int]uint32{}
	factorial := 1
	for i, w := range k.Weights {
		factorial *= i + 1
		for automorphisms := 1; automorphisms <= factorial && w > 0; automorphisms++ {
			if factorial%automorphisms == 0 {
				blocks[[2]int{i + 1, automorphisms}] = uint32(len(m.weights))
				m.weights = append(m.weights, w*float64(automorphisms))
			}
		}
	}
	m.count = func() countFunc {
		s := subgraphTypes{weights: k.Weights, blocks: blocks, types: map[uint64]entry{}, found: map[entry]float64{}}
		return s.count
	}
	return m
}

// connectedSets visits the connected sets of up to most vertices of a graph, each once (ESU;
// Wernicke, 2006).
type connectedSets struct {
	graph *graph.Graph
	most  int
	visit func(larger func() error) error // looks at set; larger visits the larger sets that contain it

	set  []int32 // at hand: the vertices in the order in which they came in
	near []bool  // by vertex: in the set or next to it
	seen int     // sets so far
}

func (s *connectedSets) all(ctx context.Context) error {
	resized(&s.near, s.graph.N())
	for v := range s.graph.N() {
		var next []int32
		s.near[v] = true
		for _, u := range s.graph.Neighbors(v) {
			s.near[u] = true
			if int(u) > v {
				next = append(next, u)
			}
		}
		s.set = append(s.set[:0], int32(v))
		if err := s.grow(ctx, next); err != nil {
			return err
		}
		s.near[v] = false
		for _, u := range s.graph.Neighbors(v) {
			s.near[u] = false
		}
	}
	return nil
}

// grow visits the set at hand and all larger ones that contain it. A set grows by the vertices in
// next: vertices after its first one that are adjacent to it, and were not in it or adjacent to it
// before.
func (s *connectedSets) grow(ctx context.Context, next []int32) error {
	if s.seen++; s.seen%64 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	return s.visit(func() error {
		for i := 0; i < len(next) && len(s.set) < s.most; i++ {
			more := slices.Clone(next[i+1:])
			at := len(more)
			for _, u := range s.graph.Neighbors(int(next[i])) {
				if u > s.set[0] && !s.near[u] {
					s.near[u] = true
					more = append(more, u)
				}
			}
			s.set = append(s.set, next[i])
			if err := s.grow(ctx, more); err != nil {
				return err
			}
			s.set = s.set[:len(s.set)-1]
			for _, u := range more[at:] {
				s.near[u] = false
			}
		}
		return nil
	})
}

// subgraphTypes counts connected induced subgraphs by type.
type subgraphTypes struct {
	weights []float64
	blocks  map[[2]int]uint32 // by size and number of automorphisms

	*coloured
	order []int32 // the set at hand, by colour
	key   []uint64
	types map[uint64]entry  // by the hash of a subgraph as it was met; values do not matter
	found map[entry]float64 // number in the graph
}

// maxSeen bounds the subgraphs that are remembered with their types.
const maxSeen = 1 << 20

func (s *subgraphTypes) count(ctx context.Context, g *coloured, out *vector) error {
	if len(s.types) > maxSeen {
		clear(s.types)
	}
	clear(s.found)
	s.coloured = g
	sets := connectedSets{graph: g.Graph, most: len(s.weights)}
	sets.visit = func(larger func() error) error {
		if s.weights[len(sets.set)-1] > 0 {
			s.add(sets.set)
		}
		return larger()
	}
	if err := sets.all(ctx); err != nil {
		return err
	}
	for t, n := range s.found {
		t.val = n
		out.entries = append(out.entries, t)
	}
	return nil
}

// add counts a set under its type.
func (s *subgraphTypes) add(set []int32) {
	s.order = append(s.order[:0], set...)
	colour := s.colours[0]
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Compare(colour[a], colour[b]) })
	s.key = s.key[:0]
	for _, v := range s.order {
		s.key = append(s.key, colour[v])
	}
	for j, v := range s.order {
		for _, u := range s.order[:j] {
			label := uint64(0)
			if i, ok := slices.BinarySearch(s.Neighbors(int(v)), u); ok {
				label = s.edgeLabel(int(v), i)
			}
			s.key = append(s.key, label)
		}
	}
	met := hashWords(s.key...)
	t, ok := s.types[met]
	if !ok {
		t = s.typeOf(s.key, len(set))
		s.types[met] = t
	}
	s.found[t]++
}

// typeOf returns the type of a subgraph with n vertices: the least of its keys over all orders of
// vertices with the same label. The number of orders that give this key is the number of its
// automorphisms.
func (s *subgraphTypes) typeOf(key []uint64, n int) entry {
	label, edge := key[:n], key[n:]
	least := slices.Clone(edge)
	automorphisms := 0
	order := make([]int, 0, n)
	at := make([]uint64, len(edge))
	var extend func(used int)
	extend = func(used int) {
		j := len(order)
		if j == n {
			switch slices.Compare(at, least) {
			case -1:
				copy(least, at)
				automorphisms = 1
			case 0:
				automorphisms++
			}
			return
		}
		for v := range n {
			if used>>v&1 == 1 || label[v] != label[j] {
				continue
			}
			for i, u := range order {
				lo, hi := min(u, v), max(u, v)
				at[j*(j-1)/2+i] = edge[hi*(hi-1)/2+lo]
			}
			order = append(order, v)
			extend(used | 1<<v)
			order = order[:j]
		}
	}
	extend(0)
	canonical := append(slices.Clone(label), least...)
	return entry{id: hashWords(canonical...), block: s.blocks[[2]int{n, automorphisms}]}
}

// checkValues checks a table of the values of every two labels.
func (k SubgraphMatching) checkValues(name string, labels []string, values []float64) error {
	n := len(labels)
	if len(values) != n*n {
		return param.Wrong(k.Name(), k, name, fmt.Sprintf("%d numbers for %d labels", n*n, n), nil)
	}
	for i := range n {
		for j := range i {
			if labels[i] == labels[j] {
				return param.Wrong(k.Name(), k, name, fmt.Sprintf("the label %q once", labels[i]), nil)
			}
			if values[i*n+j] != values[j*n+i] {
				return param.Wrong(k.Name(), k, name, fmt.Sprintf("the same value for %q and %q, and for %[2]q and %[1]q", labels[i], labels[j]), nil)
			}
		}
	}
	return nil
}

// valueTable has the values of every two labels. The row of a label is its place among the labels
// that have values, -1 for others.
type valueTable struct {
	rows   map[string]int
	values []float64
}

func newValueTable(labels []string, values []float64) valueTable {
	t := valueTable{map[string]int{}, values}
	for i, l := range labels {
		t.rows[l] = i
	}
	return t
}

func (t valueTable) row(label string) int {
	if i, ok := t.rows[label]; ok {
		return i
	}
	return -1
}

// value returns that of two labels by their rows. Those without a row have 1 where they are the same.
func (t valueTable) value(a, b int, same bool) float64 {
	if a >= 0 && b >= 0 {
		return t.values[a*len(t.rows)+b]
	}
	if same {
		return 1
	}
	return 0
}

// valuedGraph is a graph with the rows of its labels in the tables of values.
type valuedGraph struct {
	*coloured
	vertex []int
	edge   [][]int // parallel to the neighbours of every vertex
}

// valued returns the function that finds the rows of labels.
func (k SubgraphMatching) valued() func(context.Context, *coloured) (*valuedGraph, error) {
	vertices, edges := newValueTable(k.Vertices, nil), newValueTable(k.Edges, nil)
	return func(_ context.Context, g *coloured) (*valuedGraph, error) {
		out := &valuedGraph{coloured: g, vertex: make([]int, g.N()), edge: make([][]int, g.N())}
		for v := range g.N() {
			out.vertex[v] = vertices.row(g.label(v))
			for i := range g.Neighbors(v) {
				out.edge[v] = append(out.edge[v], edges.row(g.EdgeLabel(v, i)))
			}
		}
		return out, nil
	}
}

// matches returns the function that compares two graphs. It takes the connected sets of one of them,
// and extends isomorphisms by every vertex that joins a set.
func (k SubgraphMatching) matches() func(context.Context, *valuedGraph, *valuedGraph) (float64, error) {
	m := matcher{SubgraphMatching: k, vertices: newValueTable(k.Vertices, k.VertexValues), edges: newValueTable(k.Edges, k.EdgeValues)}
	return m.match
}

type matcher struct {
	SubgraphMatching
	vertices, edges valueTable

	a, b  *valuedGraph
	set   []int32 // vertices of a
	to    []int32 // those of b that they are mapped to
	value float64 // of the isomorphism: the product of κ
	total float64
}

func (m *matcher) match(ctx context.Context, a, b *valuedGraph) (float64, error) {
	if a.compare(b) > 0 { // the order of the sum is the same for (a, b) and (b, a)
		a, b = b, a
	}
	all := make([]int32, b.N())
	for v := range all {
		all[v] = int32(v)
	}
	m.a, m.b, m.to, m.value, m.total = a, b, m.to[:0], 1, 0
	sets := connectedSets{graph: a.Graph, most: len(m.Weights)}
	sets.visit = func(larger func() error) error {
		m.set = sets.set
		n := len(m.set)
		candidates := all
		if n > 1 { // next to the image of a neighbour
			i := slices.IndexFunc(m.set, func(u int32) bool {
				_, ok := slices.BinarySearch(a.Neighbors(int(m.set[n-1])), u)
				return ok
			})
			candidates = b.Neighbors(int(m.to[i]))
		}
		before := m.value
		for _, v := range candidates {
			m.to = append(m.to, v)
			if m.value = before * m.last(); m.value != 0 {
				m.total += float64(m.Weights[n-1] * m.value)
				if err := larger(); err != nil {
					return err
				}
			}
			m.to = m.to[:n-1]
		}
		m.value = before
		return nil
	}
	err := sets.all(ctx)
	return m.total, err
}

// last returns the factor of the last pair of vertices, 0 where the map is no isomorphism with it.
func (m *matcher) last() float64 {
	n := len(m.to) - 1
	u, v := m.set[n], m.to[n]
	value := m.vertices.value(m.a.vertex[u], m.b.vertex[v], m.a.colours[0][u] == m.b.colours[0][v])
	for i := 0; i < n && value != 0; i++ {
		x, near := slices.BinarySearch(m.a.Neighbors(int(u)), m.set[i])
		y, nearToo := slices.BinarySearch(m.b.Neighbors(int(v)), m.to[i])
		switch {
		case near != nearToo || v == m.to[i]:
			return 0
		case near:
			value *= m.edges.value(m.a.edge[u][x], m.b.edge[v][y], m.a.edgeLabel(int(u), x) == m.b.edgeLabel(int(v), y))
		}
	}
	return value
}

// compare orders graphs by content.
func (g *valuedGraph) compare(o *valuedGraph) int {
	order := cmp.Or(cmp.Compare(g.N(), o.N()), slices.Compare(g.colours[0], o.colours[0]))
	for v := 0; order == 0 && v < g.N(); v++ {
		order = slices.Compare(g.Neighbors(v), o.Neighbors(v))
		for i := 0; order == 0 && i < g.Degree(v); i++ {
			order = cmp.Compare(g.edgeLabel(v, i), o.edgeLabel(v, i))
		}
	}
	return order
}
