package graph

import (
	"fmt"
	"slices"
)

// WithoutLabels returns the graph without the labels of its vertices. They become its names if it has none.
func (g *Graph) WithoutLabels() *Graph {
	h := *g
	h.parts = nil
	if h.label = nil; h.name == nil {
		h.name = g.label
	}
	return &h
}

// WithEmptyLabels returns the graph with "" as the label of every vertex.
func (g *Graph) WithEmptyLabels() *Graph {
	h := *g
	h.label, h.parts = make([]string, g.N()), nil
	return &h
}

// WithoutEdgeLabels returns the graph without the labels of its edges.
func (g *Graph) WithoutEdgeLabels() *Graph {
	h := *g
	h.edge, h.edgeLabel, h.arcs, h.parts = nil, nil, slices.Clone(g.arcs), nil
	for i := range h.arcs {
		h.arcs[i].Label = ""
	}
	return &h
}

// PickAttributes returns the graph with some of the attributes of its vertices, by their positions, in that
// order. Without any it has none.
func (g *Graph) PickAttributes(which []int) *Graph {
	for _, k := range which {
		if k < 0 || k >= g.dim {
			panic(fmt.Sprintf("graph: attribute %d of %d", k, g.dim))
		}
	}
	h := *g
	h.parts = nil
	h.dim = len(which)
	h.attr = make([]float64, 0, g.N()*h.dim)
	for v := range g.N() {
		for _, k := range which {
			h.attr = append(h.attr, g.attr[v*g.dim+k])
		}
	}
	if h.dim == 0 {
		h.attr = nil
	}
	return &h
}
