package model_test

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// What a kernel says that it compares changes its values, and what it says that it leaves out does not.
func TestCompared(t *testing.T) {
	const n = 8
	build := func(id string, label, edge func(int) string, attribute func(int) float64) *graph.Graph {
		b := graph.NewBuilder(n)
		b.SetID(id)
		for v := range n {
			b.SetLabel(v, label(v))
			b.SetAttributes(v, []float64{attribute(v), float64(v)})
			b.AddLabeledEdge(v, (v+1)%n, 1, edge(v))
		}
		b.AddLabeledEdge(0, 3, 1, edge(n))
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	alternate := func(a, b string) func(int) string {
		return func(v int) string {
			if v%2 == 0 {
				return a
			}
			return b
		}
	}
	zero := func(int) float64 { return 0 }
	plain := build("plain", alternate("a", "b"), alternate("x", "y"), zero)
	others := map[string]*graph.Graph{
		"label":          build("label", alternate("a", "c"), alternate("x", "y"), zero),
		"edges by label": build("edges by label", alternate("a", "b"), alternate("x", "z"), zero),
		"attributes":     build("attributes", alternate("a", "b"), alternate("x", "y"), func(v int) float64 { return float64(v % 3) }),
	}
	none := build("none", alternate("a", "b"), alternate("", ""), zero)
	for _, name := range append(kernel.Names(), "mlg base=labels", "mlg base=gaussian", "mlg bonds=false", "wl incident", "sp subdivide", "propagation labels=attributes") {
		if name == "gaussian" { // of values in rows
			continue
		}
		k, err := kernel.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, g := range others {
			graphs := []*graph.Graph{plain, g}
			m, err := model.New(t.Context(), graphs, k)
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := k.Fit(t.Context(), graphs)
			if err != nil {
				t.Fatal(name, err)
			}
			gram, err := fitted.Gram(t.Context())
			if err != nil {
				t.Fatal(name, err)
			}
			differ := gram.At(0, 1) < gram.At(0, 0)*(1-1e-9) || gram.At(0, 1) < gram.At(1, 1)*(1-1e-9)
			compared, _, _ := strings.Cut(m.Compared(), ";")
			if said := strings.Contains(strings.ReplaceAll(compared, "neighbours", "label"), what); said != differ && !(what == "label" && strings.Contains(compared, "edges by label")) {
				t.Errorf("%s compares %q, but another %s changes its value: %v", name, m.Compared(), what, differ)
			}
		}
		if name == "edge-labels" { // needs them
			continue
		}
		m, err := model.New(t.Context(), []*graph.Graph{none, none}, k)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Compared(); strings.Contains(got, "edges") {
			t.Errorf("%s of graphs without labels of edges compares %q", name, got)
		}
	}
}
