package graph

import (
	"slices"
	"strconv"
)

// Incident returns the graph whose vertex labels are lists: the label of the vertex, then those of its
// edges in alphabetical order. So kernels that look at vertices alone tell an atom with a double bond
// from one without. Of a directed graph these are the labels of the arcs, behind outPrefix or inPrefix.
func (g *Graph) Incident() *Graph {
	labels, arcs := make([]string, g.N()), make([][]string, g.N())
	for _, e := range g.arcs {
		arcs[e.U] = append(arcs[e.U], outPrefix+e.Label)
		arcs[e.V] = append(arcs[e.V], inPrefix+e.Label)
	}
	for v := range labels {
		edges := arcs[v]
		for i := range g.Degree(v) {
			if !g.directed {
				edges = append(edges, g.EdgeLabel(v, i))
			}
		}
		slices.Sort(edges)
		list := strconv.AppendQuote(nil, g.Label(v)) // in quotes, so that different lists differ
		for _, e := range edges {
			list = strconv.AppendQuote(append(list, ' '), e)
		}
		labels[v] = string(list)
	}
	return g.Relabel(labels)
}

// EdgeVertexPrefix begins the labels of the vertices that Subdivide makes of edges. tailPrefix and headPrefix
// begin those that SubdivideArcs makes of arcs, and outPrefix and inPrefix the labels of arcs that leave a
// vertex and enter it.
const (
	EdgeVertexPrefix = "edge "
	tailPrefix       = "tail "
	headPrefix       = "head "
	outPrefix        = "out "
	inPrefix         = "in "
)

// Subdivide returns the graph in which every edge has become a vertex between its ends. The
// vertices 0 … N()-1 of g keep their labels. Then comes one vertex for each edge, in the order of
// Edges, whose label is EdgeVertexPrefix and the edge's label. Both halves of an edge have its
// weight. So kernels that look at vertices alone see the labels of edges. Distances double.
// Attributes are left out, since edges have none. Identifier, target and positions stay.
func (g *Graph) Subdivide() *Graph {
	b := g.builder(g.N() + g.M())
	next := g.N()
	for e := range g.Edges() {
		b.SetLabel(next, EdgeVertexPrefix+e.Label)
		g.place(b, next, e, 0.5)
		b.AddWeightedEdge(e.U, next, e.Weight)
		b.AddWeightedEdge(next, e.V, e.Weight)
		next++
	}
	return b.valid()
}

// SubdivideArcs returns the undirected graph in which every arc u → v has become a path
//
//	u – tail – head – v
//
// over two vertices. So kernels on undirected graphs see directions, and the labels of arcs. The vertices
// 0 … N()-1 of g keep their labels. Then come the tail and the head of each arc, in the order of Arcs,
// whose labels are tailPrefix or headPrefix and the arc's label. All three edges have the weight of the arc.
// Distances triple. The attributes of tails and heads are 0. A self-loop becomes a triangle. The edges of an
// undirected graph are arcs in both directions. Identifier, target and positions stay.
func (g *Graph) SubdivideArcs() *Graph {
	count := 0
	for range g.Arcs() {
		count++
	}
	b := g.builder(g.N() + 2*count)
	for v := range g.N() {
		if g.dim > 0 {
			b.SetAttributes(v, g.Attributes(v))
		}
	}
	nothing := make([]float64, g.dim)
	tail := g.N()
	for e := range g.Arcs() {
		head := tail + 1
		b.SetLabel(tail, tailPrefix+e.Label)
		b.SetLabel(head, headPrefix+e.Label)
		for i, v := range []int{tail, head} {
			if g.dim > 0 {
				b.SetAttributes(v, nothing)
			}
			g.place(b, v, e, float64(1+i)/3)
		}
		b.AddWeightedEdge(e.U, tail, e.Weight)
		b.AddWeightedEdge(tail, head, e.Weight)
		b.AddWeightedEdge(head, e.V, e.Weight)
		tail += 2
	}
	return b.valid()
}

// builder returns a builder of n vertices, of which the first are those of g with their labels.
func (g *Graph) builder(n int) *Builder {
	b := NewBuilder(n)
	b.SetID(g.ID())
	b.SetTarget(g.Target())
	for v := range g.N() {
		b.SetLabel(v, g.Label(v))
		if x, y, ok := g.Coordinates(v); ok {
			b.SetCoordinates(v, x, y)
		}
	}
	return b
}

// place puts a vertex on an edge of g, at a share of its length.
func (g *Graph) place(b *Builder, v int, e Edge, share float64) {
	if x1, y1, ok := g.Coordinates(e.U); ok {
		x2, y2, _ := g.Coordinates(e.V)
		b.SetCoordinates(v, x1+share*(x2-x1), y1+share*(y2-y1))
	}
}

// valid returns the graph of parts that come from a valid one.
func (b *Builder) valid() *Graph {
	g, err := b.Build()
	if err != nil {
		panic("graph: " + err.Error())
	}
	return g
}
