package graph

import (
	"slices"
	"strconv"
)

// Incident returns the graph whose vertex labels are lists: the label of the vertex, then those of its
// edges in alphabetical order. So kernels that look at vertices alone tell an atom with a double bond
// from one without.
func (g *Graph) Incident() *Graph {
	labels := make([]string, g.N())
	for v := range labels {
		edges := make([]string, g.Degree(v))
		for i := range edges {
			edges[i] = g.EdgeLabel(v, i)
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

// EdgeVertexPrefix begins the labels of the vertices that Subdivide makes of edges.
const EdgeVertexPrefix = "edge "

// Subdivide returns the graph in which every edge has become a vertex between its ends. The
// vertices 0 … N()-1 of g keep their labels. Then comes one vertex for each edge, in the order of
// Edges, whose label is EdgeVertexPrefix and the edge's label. Both halves of an edge have its
// weight. So kernels that look at vertices alone see the labels of edges. Distances double.
// Attributes are left out, since edges have none. Identifier, target and positions stay.
func (g *Graph) Subdivide() *Graph {
	b := NewBuilder(g.N() + g.M())
	b.SetID(g.ID())
	b.SetTarget(g.Target())
	for v := range g.N() {
		b.SetLabel(v, g.Label(v))
		if x, y, ok := g.Coordinates(v); ok {
			b.SetCoordinates(v, x, y)
		}
	}
	next := g.N()
	for e := range g.Edges() {
		b.SetLabel(next, EdgeVertexPrefix+e.Label)
		if x1, y1, ok := g.Coordinates(e.U); ok {
			x2, y2, _ := g.Coordinates(e.V)
			b.SetCoordinates(next, (x1+x2)/2, (y1+y2)/2)
		}
		b.AddWeightedEdge(e.U, next, e.Weight)
		b.AddWeightedEdge(next, e.V, e.Weight)
		next++
	}
	out, err := b.Build()
	if err != nil {
		panic("graph: " + err.Error()) // the parts come from a valid graph
	}
	return out
}
