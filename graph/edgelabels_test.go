package graph

import (
	"slices"
	"testing"
)

func TestIncident(t *testing.T) {
	build := func(first string, edges ...string) *Graph {
		b := NewBuilder(1 + len(edges))
		b.SetLabel(0, first)
		b.SetID("g")
		for i, e := range edges {
			b.SetLabel(1+i, "C")
			b.AddLabeledEdge(0, 1+i, 2, e)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := build("O", "=", "-")
	h := g.Incident()
	if want := []string{`"O" "-" "="`, `"C" "="`, `"C" "-"`}; !slices.Equal(h.Labels(), want) {
		t.Errorf("labels %q, want %q", h.Labels(), want)
	}
	if h.ID() != "g" || h.M() != 2 || h.Weights(0)[0] != 2 || h.EdgeLabel(0, 0) != "=" || g.Label(0) != "O" {
		t.Error("more than the labels has changed")
	}
	if a, b := build(`O" "=`).Incident(), g.Incident(); a.Label(0) == b.Label(0) {
		t.Errorf("two lists are one label %s", a.Label(0))
	}
}

func TestSubdivide(t *testing.T) {
	b := NewBuilder(4)
	for v, l := range []string{"C", "O", "N", "C"} {
		b.SetLabel(v, l)
		b.SetCoordinates(v, float64(v), 1)
		b.SetAttributes(v, []float64{1})
	}
	b.SetID("g")
	b.SetTarget("1")
	b.AddLabeledEdge(0, 1, 2, "=")
	b.AddLabeledEdge(3, 1, 1, "-")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := g.Subdivide()
	if s.N() != 6 || s.M() != 4 || s.ID() != "g" || s.Target() != "1" || s.AttributeDim() != 0 {
		t.Fatalf("%d vertices, %d edges, id %q, target %q, %d attributes", s.N(), s.M(), s.ID(), s.Target(), s.AttributeDim())
	}
	if want := []string{"C", "O", "N", "C", "edge =", "edge -"}; !slices.Equal(s.Labels(), want) {
		t.Errorf("labels %q, want %q", s.Labels(), want)
	}
	var edges []Edge
	for e := range s.Edges() {
		edges = append(edges, e)
	}
	want := []Edge{{U: 0, V: 4, Weight: 2}, {U: 1, V: 4, Weight: 2}, {U: 1, V: 5, Weight: 1}, {U: 3, V: 5, Weight: 1}}
	if !slices.Equal(edges, want) {
		t.Errorf("edges %v, want %v", edges, want)
	}
	if x, y, ok := s.Coordinates(5); !ok || x != 2 || y != 1 {
		t.Errorf("position %v, %v, %v of an edge, want its middle", x, y, ok)
	}
	empty, _ := NewBuilder(0).Build()
	if e := empty.Subdivide(); e.N() != 0 {
		t.Errorf("%d vertices of the empty graph", e.N())
	}
}
