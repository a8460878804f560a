package baseline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// colourings returns the colours of the vertices after 0 … h refinements, spelled out.
func colourings(g *graph.Graph, h int) [][]string {
	colour := slices.Clone(g.Labels())
	out := [][]string{colour}
	for range h {
		next := make([]string, g.N())
		for v := range next {
			var near []string
			for _, u := range g.Neighbors(v) {
				near = append(near, colour[u])
			}
			slices.Sort(near)
			next[v] = colour[v] + "(" + strings.Join(near, ",") + ")"
		}
		colour = next
		out = append(out, colour)
	}
	return out
}

// weightedKernel is the definition with vertices of g that count s_v.
func weightedKernel(g, h *graph.Graph, s []float64, iterations int, minimum, normalize bool) float64 {
	counts := func(g *graph.Graph, s []float64) map[string]float64 {
		c := map[string]float64{}
		for i, colour := range colourings(g, iterations) {
			for v, name := range colour {
				w := 1.0
				if s != nil {
					w = s[v]
				}
				c[fmt.Sprint(i, " ", name)] += w
			}
		}
		return c
	}
	product := func(a, b map[string]float64) float64 {
		sum := 0.0
		for name, x := range a {
			if minimum {
				sum += min(x, b[name])
			} else {
				sum += x * b[name]
			}
		}
		return sum
	}
	a, b := counts(g, s), counts(h, nil)
	k := product(a, b)
	if normalize {
		k /= math.Sqrt(product(a, a) * product(b, b))
	}
	return k
}

// Derivatives are those of the definition with vertices that count more or less; at equal
// counts the mean of both sides, as central differences have it.
func TestAttribute(t *testing.T) {
	r := graphtest.Rand(7)
	var graphs []*graph.Graph
	for i := range 8 {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 4 + i, Edge: 0.3, Labels: 3}))
	}
	train, fresh := graphs[:6], append(graphs[6:], graphs[2])
	coefficients := []float64{1, -0.5, 0.25, 2, -1, 0.75}
	for _, c := range []struct {
		kernel     kernel.Kernel
		iterations int
		minimum    bool
		normalize  bool
	}{
		{WL{H: 3, Normalize: true, Variant: Subtree, Labels: Auto}, 3, false, true},
		{WL{H: 2, Variant: Subtree, Labels: Auto}, 2, false, false},
		{WL{H: 3, Variant: Assignment, Normalize: true, Labels: Auto}, 3, true, true},
		{WL{H: 0, Variant: Assignment, Labels: Auto}, 0, true, false},
		{Histogram{Scale: 1, Normalize: true, Labels: Auto}, 0, false, true},
		{Histogram{Scale: 2.5, Normalize: true, Labels: Auto}, 0, false, true},
	} {
		fitted, err := c.kernel.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		a, ok := fitted.(Attributer)
		if !ok {
			t.Fatalf("%s has no attribution", c.kernel)
		}
		k, err := fitted.Cross(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		for n, g := range fresh {
			slopes := make([]float64, len(train))
			for i := range slopes {
				slopes[i] = coefficients[i] * k.At(n, i)
			}
			got, err := a.Attribute(t.Context(), g, slopes)
			if err != nil {
				t.Fatal(err)
			}
			f := func(s []float64) float64 {
				sum := 0.0
				for i, h := range train {
					sum += coefficients[i] * weightedKernel(g, h, s, c.iterations, c.minimum, c.normalize)
				}
				return sum
			}
			for v := range g.N() {
				s := slices.Repeat([]float64{1}, g.N())
				const h = 1e-4
				s[v] = 1 + h
				up := f(s)
				s[v] = 1 - h
				want := (up - f(s)) / (2 * h)
				if math.Abs(got[v]-want) > 1e-6*max(1, math.Abs(want)) {
					t.Errorf("%s, graph %d: vertex %d contributes %v, want %v", c.kernel, n, v, got[v], want)
				}
			}
		}
	}
}

func TestAttributeSpecial(t *testing.T) {
	train := graphtest.Suite(1)
	for _, k := range []kernel.Kernel{DefaultShortestPath(), WL{H: 1, Variant: Edge, Labels: Auto}, ShortestPath{H: 1, Scale: 1, Labels: Auto, Resolution: 1e-6},
		Histogram{Labels: Attributes, Scale: 1}, DefaultGraphlet()} {
		f, err := k.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := f.(Attributer); ok {
			t.Errorf("%s counts no vertices, but has an attribution", k)
		}
	}
	f, err := DefaultWL().Fit(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	a := f.(Attributer)
	// A graph with labels that no training graph has is like none of them.
	b := graph.NewBuilder(2)
	b.AddEdge(0, 1)
	b.SetLabel(0, "new")
	b.SetLabel(1, "too")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Attribute(t.Context(), g, slices.Repeat([]float64{1}, len(train)))
	if err != nil || got[0] != 0 || got[1] != 0 {
		t.Errorf("%v, %v, want zeros", got, err)
	}
	if _, err := a.Attribute(t.Context(), graphtest.Path(2), make([]float64, len(train))); err == nil || !strings.Contains(err.Error(), "wl: graph 0 has no labels") {
		t.Errorf("error %v", err)
	}
}
