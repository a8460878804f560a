package graph

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Graph is an immutable weighted graph. Its methods may be called concurrently. Slices that methods
// return are views: the caller must not change them.
//
// A directed graph has arcs. Its edges are those of the undirected graph that arcs become without
// their directions: the arcs between two vertices are one edge, and self-loops are none.
type Graph struct {
	id, target string
	origin     *origin // nil for none
	parts      []Part  // of a row, which the graph is the union of; nil for any other graph

	off    []int32   // N+1 offsets into adj
	adj    []int32   // neighbours, ascending within a vertex
	weight []float64 // parallel to adj; nil when every weight is 1
	edge   []int32   // parallel to adj: number of the undirected edge; nil without edge labels

	directed bool
	arcs     []Edge // of a directed graph, ascending by (U, V)

	edgeLabel []string  // by edge number; nil when absent
	label     []string  // by vertex; nil when absent
	name      []string  // by vertex; nil when vertices have numbers alone
	attr      []float64 // N×dim, row-major
	dim       int
	coord     []float64 // N×2, for drawing; nil when absent
}

// Edge is an undirected edge with U < V, or an arc from U to V.
type Edge struct {
	U, V   int
	Weight float64
	Label  string
}

// N returns the number of vertices.
func (g *Graph) N() int { return len(g.off) - 1 }

// M returns the number of undirected edges.
func (g *Graph) M() int { return len(g.adj) / 2 }

// Equal reports whether two graphs are the same in everything, the order of vertices included.
func (g *Graph) Equal(h *Graph) bool {
	a, b := *g, *h
	a.origin, b.origin, a.parts, b.parts = nil, nil, nil, nil
	return reflect.DeepEqual(a, b) && g.SMILES() == h.SMILES() && slices.EqualFunc(g.parts, h.parts, func(p, q Part) bool {
		return p.Name == q.Name && p.Value == q.Value && p.Graph.Equal(q.Graph)
	})
}

// ID returns the identifier of the graph, "" when it has none.
func (g *Graph) ID() string { return g.id }

// Target returns the class or value to be learned as the text it was read as, "" when absent.
func (g *Graph) Target() string { return g.target }

// Neighbors returns the neighbours of v in ascending order.
func (g *Graph) Neighbors(v int) []int32 { return g.adj[g.off[v]:g.off[v+1]] }

// Degree returns the number of neighbours of v.
func (g *Graph) Degree(v int) int { return int(g.off[v+1] - g.off[v]) }

// Weighted reports whether some edge or arc has a weight other than 1.
func (g *Graph) Weighted() bool { return g.weight != nil }

// Weights returns the weights of the edges of v, parallel to Neighbors(v), or nil when
// the graph is not Weighted.
func (g *Graph) Weights(v int) []float64 {
	if g.weight == nil {
		return nil
	}
	return g.weight[g.off[v]:g.off[v+1]]
}

// HasLabels reports whether the vertices have discrete labels.
func (g *Graph) HasLabels() bool { return g.label != nil }

// Missing is an error about a graph that lacks what is compared.
type Missing struct {
	What string // "labels" or "attributes"
	Err  error
}

// Error implements error.
func (e *Missing) Error() string { return e.Err.Error() }

// Label returns the label of vertex v, "" when the graph has no labels.
func (g *Graph) Label(v int) string {
	if g.label == nil {
		return ""
	}
	return g.label[v]
}

// Labels returns the labels of all vertices, nil when the graph has none.
func (g *Graph) Labels() []string { return g.label }

// HasNames reports whether the vertices have names. Kernels do not read them.
func (g *Graph) HasNames() bool { return g.name != nil }

// Name returns the name of vertex v, its number when the graph has no names.
func (g *Graph) Name(v int) string {
	if g.name == nil {
		return strconv.Itoa(v)
	}
	return g.name[v]
}

// Names returns the names of the vertices, nil when the graph has none. It must not be changed.
func (g *Graph) Names() []string { return g.name }

// AttributeDim returns the number of real attributes per vertex, 0 when there are none.
func (g *Graph) AttributeDim() int { return g.dim }

// Attributes returns the attribute row of vertex v, nil when there are none.
func (g *Graph) Attributes(v int) []float64 {
	if g.dim == 0 {
		return nil
	}
	return g.attr[v*g.dim : (v+1)*g.dim : (v+1)*g.dim]
}

// HasEdgeLabels reports whether some edge or arc has a label.
func (g *Graph) HasEdgeLabels() bool { return g.edgeLabel != nil }

// EdgeLabel returns the label of the i-th edge of v, in the order of Neighbors(v), ""
// when the graph has no edge labels.
func (g *Graph) EdgeLabel(v, i int) string {
	if g.edgeLabel == nil {
		return ""
	}
	return g.edgeLabel[g.edge[int(g.off[v])+i]]
}

// Coordinates returns the drawing position of v and whether the graph has positions.
func (g *Graph) Coordinates(v int) (x, y float64, ok bool) {
	if g.coord == nil {
		return 0, 0, false
	}
	return g.coord[2*v], g.coord[2*v+1], true
}

// Edges iterates over the edges in ascending order of (U, V).
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for u := range g.N() {
			wt := g.Weights(u)
			for i, v := range g.Neighbors(u) {
				if int(v) < u {
					continue
				}
				e := Edge{U: u, V: int(v), Weight: 1, Label: g.EdgeLabel(u, i)}
				if wt != nil {
					e.Weight = wt[i]
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Directed reports whether the graph has arcs.
func (g *Graph) Directed() bool { return g.directed }

// ArcCount returns the number of arcs: 0 unless the graph is directed.
func (g *Graph) ArcCount() int { return len(g.arcs) }

// Arcs iterates over the arcs in ascending order of (U, V). Those of an undirected graph are its edges in
// both directions.
func (g *Graph) Arcs() iter.Seq[Edge] {
	if g.directed {
		return slices.Values(g.arcs)
	}
	return func(yield func(Edge) bool) {
		for u := range g.N() {
			weights := g.Weights(u)
			for i, v := range g.Neighbors(u) {
				e := Edge{U: u, V: int(v), Weight: 1, Label: g.EdgeLabel(u, i)}
				if weights != nil {
					e.Weight = weights[i]
				}
				if !yield(e) {
					return
				}
			}
		}
	}
}

// Undirected returns the graph without the directions of its arcs.
func (g *Graph) Undirected() *Graph {
	if !g.directed {
		return g
	}
	h := *g
	h.directed, h.arcs, h.parts = false, nil, nil
	if !slices.ContainsFunc(h.weight, func(w float64) bool { return w != 1 }) { // those of arcs had others
		h.weight = nil
	}
	if !slices.ContainsFunc(h.edgeLabel, func(label string) bool { return label != "" }) {
		h.edge, h.edgeLabel = nil, nil
	}
	return &h
}

// With returns a graph with the same structure and another identifier and target.
func (g *Graph) With(id, target string) *Graph {
	h := *g
	h.id, h.target = id, target
	return &h
}

// Relabel returns a graph with other labels, one for each vertex.
func (g *Graph) Relabel(labels []string) *Graph {
	if len(labels) != g.N() {
		panic(fmt.Sprintf("graph: %d labels for %d vertices", len(labels), g.N()))
	}
	h := *g
	h.label, h.parts = labels, nil
	return &h
}

// RelabelEdges returns an undirected graph whose edges have the labels that f gives.
func (g *Graph) RelabelEdges(f func(Edge) string) *Graph {
	if g.directed {
		panic("graph: labels of edges for a graph with arcs")
	}
	h := *g
	h.edge, h.edgeLabel, h.parts = make([]int32, len(g.adj)), nil, nil
	for e := range g.Edges() {
		there, _ := g.arc(e.U, e.V)
		back, _ := g.arc(e.V, e.U)
		h.edge[there], h.edge[back] = int32(len(h.edgeLabel)), int32(len(h.edgeLabel))
		h.edgeLabel = append(h.edgeLabel, f(e))
	}
	if !slices.ContainsFunc(h.edgeLabel, func(label string) bool { return label != "" }) {
		h.edge, h.edgeLabel = nil, nil
	}
	return &h
}

// Reweight returns a copy of g whose edges, or arcs, have the weights that f gives, or the first error
// of f. It is an error when a weight is not positive and finite.
func (g *Graph) Reweight(f func(Edge) (float64, error)) (*Graph, error) {
	h := *g
	h.weight, h.arcs, h.parts = make([]float64, len(g.adj)), slices.Clone(g.arcs), nil
	for i := range h.arcs {
		var err error
		if h.arcs[i].Weight, err = newWeight(f, h.arcs[i]); err != nil {
			return nil, err
		}
	}
	unit := !slices.ContainsFunc(h.arcs, func(e Edge) bool { return e.Weight != 1 })
	for e := range g.Edges() {
		w, err := 0.0, error(nil)
		if g.directed {
			w = h.together(e.U, e.V)
		} else if w, err = newWeight(f, e); err != nil {
			return nil, err
		}
		unit = unit && w == 1
		there, _ := g.arc(e.U, e.V)
		back, _ := g.arc(e.V, e.U)
		h.weight[there], h.weight[back] = w, w
	}
	if unit {
		h.weight = nil
	}
	return &h, nil
}

// newWeight returns the weight that f gives to an edge.
func newWeight(f func(Edge) (float64, error), e Edge) (float64, error) {
	w, err := f(e)
	if err == nil && (!(w > 0) || math.IsInf(w, 1)) {
		err = fmt.Errorf("edge (%d, %d): weight %v, want a positive, finite number", e.U, e.V, w)
	}
	return w, err
}

// together returns the weight of the edge that the arcs between u and v are: their mean.
func (g *Graph) together(u, v int) float64 {
	var w []float64
	for _, ends := range [][2]int{{u, v}, {v, u}} {
		i, found := slices.BinarySearchFunc(g.arcs, Edge{U: ends[0], V: ends[1]}, compareEnds)
		if found {
			w = append(w, g.arcs[i].Weight)
		}
	}
	return mean(w[0], w[len(w)-1])
}

// mean returns that of two weights, which does not overflow.
func mean(a, b float64) float64 {
	if a == b {
		return a
	}
	return a/2 + b/2
}

func compareEnds(a, b Edge) int { return cmp.Or(cmp.Compare(a.U, b.U), cmp.Compare(a.V, b.V)) }

// MapAttributes returns a copy of g with the attributes that f makes of attribute d, of value x. The
// error names the first that is not finite.
func (g *Graph) MapAttributes(f func(d int, x float64) float64) (*Graph, error) {
	h := *g
	h.attr, h.parts = make([]float64, len(g.attr)), nil
	for i, x := range g.attr {
		if h.attr[i] = f(i%g.dim, x); math.IsNaN(h.attr[i]) || math.IsInf(h.attr[i], 0) {
			return nil, fmt.Errorf("attributes of vertex %d: number %d is %v, want a finite number", i/g.dim, i%g.dim, h.attr[i])
		}
	}
	return &h, nil
}

// arc returns the position in adj of the edge from u to v, and whether it exists.
func (g *Graph) arc(u, v int) (int, bool) {
	i, ok := slices.BinarySearch(g.Neighbors(u), int32(v))
	return int(g.off[u]) + i, ok
}

// HasEdge reports whether u and v are adjacent.
func (g *Graph) HasEdge(u, v int) bool {
	_, ok := g.arc(u, v)
	return ok
}

// Laplacian writes the Laplacian D − A + ηI into dst, row-major N×N, and returns it. It
// allocates when dst is too short.
func (g *Graph) Laplacian(eta float64, dst []float64) []float64 {
	n := g.N()
	if cap(dst) < n*n {
		dst = make([]float64, n*n)
	}
	dst = dst[:n*n]
	clear(dst)
	for u := range n {
		wt := g.Weights(u)
		d := eta
		for i, v := range g.Neighbors(u) {
			w := 1.0
			if wt != nil {
				w = wt[i]
			}
			d += w
			dst[u*n+int(v)] = -w
		}
		dst[u*n+u] = d
	}
	return dst
}

// Induced returns the subgraph that the given vertices induce: vertex i of the result is
// vs[i]. Labels, names, attributes, edge labels and coordinates come along, and the parts of a row if the
// vertices ascend. It panics when a vertex is out of range or given twice.
func (g *Graph) Induced(vs []int32) *Graph {
	at := make(map[int32]int, len(vs))
	b := NewBuilder(len(vs))
	for i, v := range vs {
		if _, twice := at[v]; twice || v < 0 || int(v) >= g.N() {
			panic(fmt.Sprintf("graph: Induced: vertex %d is out of range or repeated", v))
		}
		at[v] = i
	}
	for i, v := range vs {
		if g.label != nil {
			b.SetLabel(i, g.label[v])
		}
		if g.name != nil {
			b.SetName(i, g.name[v])
		}
		if g.dim > 0 {
			b.SetAttributes(i, g.Attributes(int(v)))
		}
		if x, y, ok := g.Coordinates(int(v)); ok {
			b.SetCoordinates(i, x, y)
		}
	}
	g.induce(b, vs, at)
	h, err := b.Build()
	if err != nil {
		panic("graph: Induced: " + err.Error()) // the parts of a valid graph are valid
	}
	if g.parts != nil && slices.IsSorted(vs) {
		h.setParts(g.inducedParts(vs))
	}
	return h
}

// induce adds the edges or arcs between the given vertices to a builder. at has their new numbers.
func (g *Graph) induce(b *Builder, vs []int32, at map[int32]int) {
	if g.directed {
		b.SetDirected()
		for _, e := range g.arcs {
			u, from := at[int32(e.U)]
			if v, to := at[int32(e.V)]; from && to {
				b.AddLabeledEdge(u, v, e.Weight, e.Label)
			}
		}
		return
	}
	for i, v := range vs {
		weights := g.Weights(int(v))
		for k, u := range g.Neighbors(int(v)) {
			j, in := at[u]
			if !in || j < i {
				continue
			}
			w := 1.0
			if weights != nil {
				w = weights[k]
			}
			b.AddLabeledEdge(i, j, w, g.EdgeLabel(int(v), k))
		}
	}
}
