package graph_test

import (
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// digraph builds a directed graph with labels of vertices.
func digraph(t *testing.T, labels []string, arcs ...graph.Edge) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(labels))
	b.SetDirected()
	for v, label := range labels {
		b.SetLabel(v, label)
	}
	for _, a := range arcs {
		b.AddLabeledEdge(a.U, a.V, a.Weight, a.Label)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDirected(t *testing.T) {
	g := digraph(t, []string{"a", "b", "c"}, graph.Edge{U: 2, V: 1, Weight: 3, Label: "y"}, graph.Edge{U: 0, V: 1, Weight: 1, Label: "x"},
		graph.Edge{U: 1, V: 0, Weight: 2, Label: "z"}, graph.Edge{U: 1, V: 1, Weight: 5, Label: "l"}, graph.Edge{U: 2, V: 1, Weight: 4, Label: "x"})
	arcs := []graph.Edge{{U: 0, V: 1, Weight: 1, Label: "x"}, {U: 1, V: 0, Weight: 2, Label: "z"}, {U: 1, V: 1, Weight: 5, Label: "l"}, {U: 2, V: 1, Weight: 7, Label: "x|y"}}
	edges := []graph.Edge{{U: 0, V: 1, Weight: 1.5, Label: "x|z"}, {U: 1, V: 2, Weight: 7, Label: "x|y"}}
	if !g.Directed() || g.ArcCount() != 4 || !slices.Equal(slices.Collect(g.Arcs()), arcs) || !slices.Equal(slices.Collect(g.Edges()), edges) {
		t.Errorf("arcs %v, edges %v", slices.Collect(g.Arcs()), slices.Collect(g.Edges()))
	}
	u := g.Undirected()
	b := graph.NewBuilder(3)
	for v, label := range g.Labels() {
		b.SetLabel(v, label)
	}
	for _, e := range edges {
		b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
	}
	if want, err := b.Build(); err != nil || !u.Equal(want) || u.Undirected() != u {
		t.Errorf("undirected %v, want %v, %v", u, want, err)
	}
	both := []graph.Edge{{U: 0, V: 1, Weight: 1.5, Label: "x|z"}, {U: 1, V: 0, Weight: 1.5, Label: "x|z"}, {U: 1, V: 2, Weight: 7, Label: "x|y"}, {U: 2, V: 1, Weight: 7, Label: "x|y"}}
	if !slices.Equal(slices.Collect(u.Arcs()), both) || u.ArcCount() != 0 {
		t.Errorf("arcs of an undirected graph %v", slices.Collect(u.Arcs()))
	}
	part := digraph(t, []string{"c", "b"}, graph.Edge{U: 0, V: 1, Weight: 7, Label: "x|y"}, graph.Edge{U: 1, V: 1, Weight: 5, Label: "l"})
	if got := g.Induced([]int32{2, 1}); !got.Equal(part) {
		t.Errorf("induced %v, want %v", got, part)
	}
	n := graph.NewBuilder(2)
	n.SetName(1, "b")
	named, err := n.Build()
	if err != nil || named.Name(1) != "b" || named.Name(0) != "" || named.Induced([]int32{1}).Name(0) != "b" || g.Name(2) != "2" {
		t.Errorf("names of %v, %v", named, err)
	}
	all := []*graph.Graph{g, named, u, part, named}
	again, err := graph.Decode(graph.Encode(all))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range all {
		if got, err := again.Graph(i); err != nil || !got.Equal(want) {
			t.Errorf("batch: graph %d is %v, want %v, %v", i, got, want, err)
		}
	}
	ones, err := g.Reweight(func(e graph.Edge) (float64, error) { return float64(1 + e.U), nil })
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 2, 2, 3}
	for i, a := range slices.Collect(ones.Arcs()) {
		if a.Weight != want[i] {
			t.Errorf("arc %v, want the weight %v", a, want[i])
		}
	}
	if ones.Weights(0)[0] != 1.5 || ones.Weights(2)[0] != 3 {
		t.Errorf("weights %v and %v, want 1.5 and 3", ones.Weights(0), ones.Weights(2))
	}
}

// Arcs whose mean is no edge with a weight, and labels of self-loops alone, are kept.
func TestArcsAlone(t *testing.T) {
	g := digraph(t, []string{"", ""}, graph.Edge{U: 0, V: 1, Weight: 0.5}, graph.Edge{U: 1, V: 0, Weight: 1.5}, graph.Edge{U: 0, V: 0, Weight: 1, Label: "l"})
	u := g.Undirected()
	if !g.Weighted() || !g.HasEdgeLabels() || u.Weighted() || u.HasEdgeLabels() {
		t.Errorf("%v, undirected %v", g, u)
	}
	batch, err := graph.Decode(graph.Encode([]*graph.Graph{g}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := batch.Graph(0); err != nil || !got.Equal(g) {
		t.Errorf("batch: %v, want %v, %v", got, g, err)
	}
}

func TestSubdivideArcs(t *testing.T) {
	g := digraph(t, []string{"a", "b"}, graph.Edge{U: 1, V: 0, Weight: 2, Label: "x"}, graph.Edge{U: 0, V: 0, Weight: 3})
	got := g.SubdivideArcs()
	b := graph.NewBuilder(6)
	for v, label := range []string{"a", "b", "tail ", "head ", "tail x", "head x"} {
		b.SetLabel(v, label)
	}
	for _, e := range []graph.Edge{{U: 0, V: 2, Weight: 3}, {U: 2, V: 3, Weight: 3}, {U: 3, V: 0, Weight: 3}, {U: 1, V: 4, Weight: 2}, {U: 4, V: 5, Weight: 2}, {U: 5, V: 0, Weight: 2}} {
		b.AddWeightedEdge(e.U, e.V, e.Weight)
	}
	if want, err := b.Build(); err != nil || !got.Equal(want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
	if n := g.Undirected().SubdivideArcs().N(); n != 2+4 {
		t.Errorf("%d vertices of an undirected edge, want 6", n)
	}
	if got := g.Incident().Labels(); !slices.Equal(got, []string{`"a" "in " "in x" "out "`, `"b" "out x"`}) {
		t.Errorf("incident labels %q", got)
	}
}

func TestDirectedIsomorphic(t *testing.T) {
	plain := []string{"tail ", "head ", "", ""}
	arc := func(u, v int) graph.Edge { return graph.Edge{U: u, V: v, Weight: 1} }
	loop := digraph(t, plain, arc(0, 1), arc(1, 2), arc(2, 3), arc(3, 0))
	turned := digraph(t, []string{"", "tail ", "head ", ""}, arc(1, 2), arc(2, 3), arc(3, 0), arc(0, 1))
	diamond := digraph(t, plain, arc(0, 1), arc(1, 2), arc(0, 3), arc(3, 2))
	back := digraph(t, plain, arc(1, 0), arc(2, 1), arc(3, 2), arc(0, 3))
	for _, x := range []struct {
		g, h *graph.Graph
		want bool
	}{{loop, loop, true}, {loop, turned, true}, {loop, diamond, false}, {loop, back, false}, {loop, loop.Undirected(), false}, {loop.Undirected(), diamond.Undirected(), true}} {
		if got := graph.Isomorphic(x.g, x.h); got != x.want {
			t.Errorf("%v and %v: %v", x.g, x.h, got)
		}
	}
	if got := graph.Duplicates([]*graph.Graph{loop, diamond, turned, loop.Undirected(), diamond.Undirected()}); len(got) != 2 || !slices.Equal(got[0], []int{0, 2}) || !slices.Equal(got[1], []int{3, 4}) {
		t.Errorf("duplicates %v", got)
	}
}

func TestParallelEdges(t *testing.T) {
	for name, x := range map[string]struct {
		edges []graph.Edge
		want  []graph.Edge
		given graph.Given
	}{
		"weights add up": {[]graph.Edge{{U: 1, V: 0, Weight: 2, Label: "b"}, {U: 1, V: 0, Weight: 3, Label: "a"}, {U: 1, V: 0, Weight: 1}},
			[]graph.Edge{{U: 0, V: 1, Weight: 6, Label: "a|b"}}, graph.Given{Parallel: 2, First: graph.Edge{U: 1, V: 0, Weight: 3, Label: "a"}, OneWay: 1}},
		"without weights": {[]graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 0, V: 1, Weight: 1}},
			[]graph.Edge{{U: 0, V: 1, Weight: 1}}, graph.Given{Parallel: 1, First: graph.Edge{U: 0, V: 1, Weight: 1}, OneWay: 1}},
		"both directions": {[]graph.Edge{{U: 0, V: 1, Weight: 2, Label: "b"}, {U: 1, V: 0, Weight: 4, Label: "a"}},
			[]graph.Edge{{U: 0, V: 1, Weight: 3, Label: "a|b"}}, graph.Given{Weights: 1, Labels: 1, BothWays: 1}},
		"loops": {[]graph.Edge{{U: 0, V: 0, Weight: 2}, {U: 0, V: 0, Weight: 2}}, nil, graph.Given{Loops: 2}},
	} {
		b := graph.NewBuilder(2)
		for _, e := range x.edges {
			b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(g.Edges()); !slices.Equal(got, x.want) || b.Given() != x.given {
			t.Errorf("%s: %v, %+v", name, got, b.Given())
		}
	}
	b := graph.NewBuilder(2)
	b.AddWeightedEdge(0, 1, 1e308)
	b.AddWeightedEdge(0, 1, 1e308)
	if g, err := b.Build(); err == nil {
		t.Errorf("weights that overflow: %v", g)
	}
}
