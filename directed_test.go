package mlg_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// arcsOn returns a directed graph with labels A, B, C, ….
func arcsOn(t *testing.T, n int, arcs ...[2]int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(n)
	b.SetDirected()
	for v := range n {
		b.SetLabel(v, string(rune('A'+v)))
	}
	for _, a := range arcs {
		b.AddEdge(a[0], a[1])
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A loop A → B → C → D → A and a diamond A → B → C, A → D → C differ in directions alone. The kernels that
// see directions tell them apart, and none does that leaves directions out.
func TestLoopAndDiamond(t *testing.T) {
	loop := arcsOn(t, 4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 0})
	diamond := arcsOn(t, 4, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 3}, [2]int{3, 2})
	two := []*graph.Graph{loop, diamond}
	similarity := func(text string, graphs []*graph.Graph) float64 {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m, err := kernel.NewCollection(graphs).Gram(t.Context(), k)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return m.At(0, 1)
	}
	for text, want := range map[string]string{"mlg exact": "0.058", "wl": "0.234"} { // as docs/reference/kernels.md says
		if got := fmt.Sprintf("%.3f", similarity(text, two)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	forth := arcsOn(t, 3, [2]int{0, 1}, [2]int{1, 2})
	inward := arcsOn(t, 3, [2]int{0, 1}, [2]int{2, 1})
	// These count labels by place, and not by what is beside them.
	alike := []string{"graph-hopper", "pyramid-match"}
	for _, name := range kernel.Names() {
		if name == "edge-labels" || name == "rw-plain" || name == "gaussian" { // labels on all edges; walks of any length; attributes
			continue
		}
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		got := similarity(name, two)
		if sees := kernel.SeesDirections(k) && !slices.Contains(alike, name); sees != (got < 0.99) {
			t.Errorf("%s: %v", name, got)
		}
		if turned := similarity(name, []*graph.Graph{forth, inward}); slices.Contains(alike, name) && turned > 0.99 {
			t.Errorf("%s does not see an arc that is turned: %v", name, turned)
		}
		if got := similarity(name+" undirected", two); math.Abs(got-1) > 1e-9 {
			t.Errorf("%s undirected: %v, want 1", name, got)
		}
	}
	// The form is the graph with two vertices on every arc, and lengths are hops of the graph as given.
	forms := []*graph.Graph{loop.SubdivideArcs(), diamond.SubdivideArcs()}
	for text, longer := range map[string]string{
		"mlg exact": "mlg exact radii=3,6", "wl h=2": "wl h=6", "nspd r=1 d=2": "nspd r=3 d=6", "wl base=sp h=1": "wl base=sp h=3",
		"mlg exact base=(wl h=1) radii=1": "mlg exact base=(wl h=3) radii=3", "propagation steps=1": "propagation steps=3", "wl directed incident h=1": "",
	} {
		if longer == "" {
			similarity(text, two)
			continue
		}
		if got, want := similarity(text, two), similarity(longer, forms); got != want {
			t.Errorf("%s: %v, want %v as %s has for the form", text, got, want, longer)
		}
		if got, want := similarity(text+" directed", []*graph.Graph{loop.Undirected(), diamond.Undirected()}), 1.0; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s of undirected graphs with arcs both ways: %v, want %v", text, got, want)
		}
	}
}

// Directed graphs without labels are compared by their attributes, or their degrees, and by directions.
func TestDirectedWithoutLabels(t *testing.T) {
	path := func(attributes []float64, arcs ...[2]int) *graph.Graph {
		b := graph.NewBuilder(3)
		b.SetDirected()
		for v, x := range attributes {
			b.SetAttributes(v, []float64{x})
		}
		for _, a := range arcs {
			b.AddEdge(a[0], a[1])
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	forth, turned := [][2]int{{0, 1}, {1, 2}}, [][2]int{{0, 1}, {2, 1}}
	for _, c := range []struct {
		what, compared string
		a, b           *graph.Graph
	}{
		{"other attributes", "vertices by attributes, arcs by direction", path([]float64{1, 2, 3}, forth...), path([]float64{7, 1, -30}, forth...)},
		{"an arc turned", "vertices by attributes, arcs by direction", path([]float64{1, 2, 3}, forth...), path([]float64{1, 2, 3}, turned...)},
		{"an arc turned", "vertices by degree, arcs by direction", path(nil, forth...), path(nil, turned...)},
		{"an arc more", "vertices by degree, arcs by direction", path(nil, forth...), path(nil, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 2})},
	} {
		for _, text := range []string{"mlg", "mlg exact", "flg"} {
			k, err := kernel.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			m, err := model.New(t.Context(), []*graph.Graph{c.a, c.b}, k)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Compared(); got != c.compared {
				t.Errorf("%s compares %q, want %q", text, got, c.compared)
			}
			fitted, err := kernel.Fit(t.Context(), k, []*graph.Graph{c.a, c.b})
			if err != nil {
				t.Fatal(err)
			}
			gram, err := fitted.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := gram.At(0, 1); !(got < 0.99) {
				t.Errorf("%s, %s: %v", text, c.what, got)
			}
		}
	}
}

// A model of directed graphs has them in its file, with the form of its kernels, and says what it compares.
func TestDirectedModel(t *testing.T) {
	r := graphtest.Rand(7)
	var graphs []*graph.Graph
	for range 12 {
		var arcs [][2]int
		for u := range 6 {
			for v := range 6 {
				if r.IntN(4) == 0 {
					arcs = append(arcs, [2]int{u, v})
				}
			}
		}
		graphs = append(graphs, arcsOn(t, 6, arcs...))
	}
	for text, compared := range map[string]string{
		"0.5 mlg + 0.5 wl": "vertices by label, arcs by direction", "mlg undirected": "vertices by label, directions left out",
		"labels": "vertices by label, directions left out",
	} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.New(t.Context(), graphs[:10], k)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Compared(); got != compared {
			t.Errorf("%s compares %q, want %q", text, got, compared)
		}
		var file bytes.Buffer
		if err := model.Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		again, err := model.Decode(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range again.Graphs {
			if !g.With("", "").Equal(graphs[i]) {
				t.Errorf("graph %d comes back as %v", i, g)
			}
		}
		want, err := m.Kernel.Cross(t.Context(), graphs[10:])
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.Kernel.Cross(t.Context(), graphs[10:])
		if err != nil || !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s: the model that was read differs, %v", text, err)
		}
	}
}
