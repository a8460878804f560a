package graph

import (
	"slices"
	"testing"
)

func TestWithout(t *testing.T) {
	b := NewBuilder(2)
	b.SetDirected()
	for v, row := range [][]float64{{1, 2, 3}, {4, 5, 6}} {
		b.SetLabel(v, string(rune('a'+v)))
		b.SetAttributes(v, row)
	}
	b.AddLabeledEdge(0, 1, 2, "x")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if h := g.WithoutLabels(); h.HasLabels() || h.Name(1) != "b" || !g.HasLabels() {
		t.Errorf("without labels: %v", h)
	}
	h := g.WithoutEdgeLabels()
	for e := range h.Arcs() {
		if e.Label != "" || e.Weight != 2 {
			t.Errorf("without labels of edges: %v", e)
		}
	}
	if h.HasEdgeLabels() || h.EdgeLabel(0, 0) != "" || !slices.Equal(slices.Collect(g.Arcs()), []Edge{{0, 1, 2, "x"}}) {
		t.Error("labels of edges")
	}
	if h := g.PickAttributes([]int{2, 0}); !slices.Equal(h.Attributes(1), []float64{6, 4}) || h.AttributeDim() != 2 {
		t.Errorf("attributes %v", h.Attributes(1))
	}
	if h := g.PickAttributes(nil); h.AttributeDim() != 0 || h.Attributes(0) != nil || !h.Equal(h) {
		t.Error("all attributes")
	}
}
