package mlg

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func describeOne(t *testing.T, b Base, g *graph.Graph) []string {
	t.Helper()
	d, err := b.Describe(g)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// gramOf returns the values of a base kernel on all vertices of g.
func gramOf(t *testing.T, b Base, g *graph.Graph) *Matrix {
	t.Helper()
	d := describeOne(t, b, g)
	m := NewMatrix(g.N(), g.N())
	b.Gram(m.Data, d, d)
	return m
}

func TestBaseKernels(t *testing.T) {
	g := graphtest.Labeled(graphtest.Rand(1), graphtest.Random(graphtest.Rand(2), graphtest.Options{N: 9, Edge: 0.4}), 3, 2)
	same := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	sq := func(v, w int) float64 {
		x, y := g.Attributes(v), g.Attributes(w)
		return (x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1])
	}
	gaussian := func(v, w int) float64 { return math.Exp(-sq(v, w) / (2 * 0.25)) }
	label := func(v, w int) float64 { return same(g.Label(v) == g.Label(w)) }
	degree := func(v, w int) float64 { return same(g.Degree(v) == g.Degree(w)) }
	par := DefaultBaseParameters()
	par.Bandwidth = 0.5
	for _, c := range []struct {
		name string
		want func(v, w int) float64
	}{
		{"labels", label},
		{"degree", degree},
		{"attributes", func(v, w int) float64 { return dot(g.Attributes(v), g.Attributes(w)) }},
		{"gaussian", gaussian},
		{"labels*gaussian", func(v, w int) float64 { return label(v, w) * gaussian(v, w) }},
		{"labels+gaussian", func(v, w int) float64 { return (label(v, w) + gaussian(v, w)) / 2 }},
		{"labels*degree + gaussian + attributes*labels", func(v, w int) float64 {
			return (label(v, w)*degree(v, w) + gaussian(v, w) + dot(g.Attributes(v), g.Attributes(w))*label(v, w)) / 3
		}},
	} {
		b, err := ParseBase(c.name, par)
		if err != nil {
			t.Fatal(err)
		}
		k := gramOf(t, b, g)
		desc := describeOne(t, b, g)
		f, dim := b.Features(desc, 1000)
		for v := range g.N() {
			for w := range g.N() {
				if math.Abs(k.At(v, w)-c.want(v, w)) > 1e-14 {
					t.Errorf("%s: κ(%d,%d) = %v, want %v", c.name, v, w, k.At(v, w), c.want(v, w))
				}
				if dim > 0 {
					x, y := make([]float64, dim), make([]float64, dim)
					f(x, desc[v])
					f(y, desc[w])
					if math.Abs(dot(x, y)-c.want(v, w)) > 1e-14 {
						t.Errorf("%s: features give κ(%d,%d) = %v, want %v", c.name, v, w, dot(x, y), c.want(v, w))
					}
				}
			}
		}
		if strings.Contains(c.name, "gaussian") == (dim > 0) {
			t.Errorf("%s: %d explicit features", c.name, dim)
		}
	}
}

func TestParseBaseErrors(t *testing.T) {
	for s, want := range map[string]string{"lables": "want labels, attributes", "": "want labels", "labels*": "want labels", "gaussian": "bandwidth", "heat": "beta", "wl": "refinements"} {
		if _, err := ParseBase(s, BaseParameters{Beta: []float64{-1}, H: -1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", s, err, want)
		}
	}
	if _, err := Heat(); err == nil {
		t.Error("heat without times was accepted")
	}
	if _, err := Plus(0, Labels(), 1, Degree()); err == nil {
		t.Error("a weight of 0 was accepted")
	}
}

func TestBaseNeedsData(t *testing.T) {
	g := graphtest.Path(3)
	gaussian, _ := Gaussian(1)
	for _, b := range []Base{Labels(), Attributes(), gaussian, Times(Labels(), Degree())} {
		if _, err := b.Describe(g); err == nil || !strings.Contains(err.Error(), "needs vertex") {
			t.Errorf("%s: %v", b, err)
		}
		o := DefaultOptions()
		o.Base = b
		if _, err := Fit(t.Context(), []*graph.Graph{g.With("mol7", "")}, o); err == nil || !strings.Contains(err.Error(), "graph 0 (mol7)") {
			t.Errorf("%s: %v, want an error that names the graph", b, err)
		}
	}
	if b := ChooseBase([]*graph.Graph{g}); b.String() != "degree" {
		t.Errorf("base of a graph without labels: %s", b)
	}
	if b := ChooseBase([]*graph.Graph{graphtest.Labeled(graphtest.Rand(1), g, 0, 2)}); b.String() != "attributes" {
		t.Errorf("base of a graph with attributes: %s", b)
	}
	if b := ChooseBase([]*graph.Graph{graphtest.Labeled(graphtest.Rand(1), g, 2, 2)}); b.String() != "labels" {
		t.Errorf("base of a graph with labels and attributes: %s", b)
	}
}

// Heat values by the matrix exponential, by diagonalisation and by quadrature.
func TestHeat(t *testing.T) {
	r := graphtest.Rand(3)
	beta := []float64{0.1, 1, 7}
	for _, g := range []*graph.Graph{
		graphtest.Path(1), graphtest.Random(r, graphtest.Options{N: 20, Edge: 0.2, Weighted: true}),
		graphtest.Union(graphtest.Cycle(5), graphtest.Path(1)), graphtest.Star(40), graphtest.Grid(12, 13),
	} {
		n := g.N()
		got, err := heatValues(g, beta)
		if err != nil {
			t.Fatal(err)
		}
		var q quadrature
		for b, x := range beta {
			m := mat.NewDense(n, n, g.Laplacian(0, nil))
			m.Scale(-x, m)
			var e mat.Dense
			e.Exp(m)
			for v := range n {
				one := make([]float64, 1)
				if err := q.heat(g, v, []float64{x}, one); err != nil {
					t.Fatal(err)
				}
				want := e.At(v, v)
				if math.Abs(got[v*len(beta)+b]-want) > 1e-10*want || math.Abs(one[0]-want) > 1e-10*want {
					t.Fatalf("%d vertices, β = %v: vertex %d has %v and %v, want %v", n, x, v, got[v*len(beta)+b], one[0], want)
				}
			}
		}
	}
	// Vertices that a symmetry exchanges have the same descriptor.
	b, _ := Heat(0.5, 2)
	for _, g := range []*graph.Graph{graphtest.Cycle(7), graphtest.Cycle(200)} {
		if d := describeOne(t, b, g); len(slices.Compact(d)) != 1 {
			t.Errorf("a cycle of %d vertices has different heat values", g.N())
		}
	}
}

func TestWLBase(t *testing.T) {
	b, err := WL(2)
	if err != nil {
		t.Fatal(err)
	}
	// A path a-b-c-d-e: ends alike, their neighbours alike, the middle by itself.
	k := gramOf(t, b, graphtest.Path(5))
	for _, c := range []struct {
		v, w int
		want float64
	}{
		{0, 4, 1}, {1, 3, 1}, {2, 2, 1},
		{0, 1, 0},       // degrees differ
		{1, 2, 1. / 3.}, // degrees agree, neighbours' degrees do not
	} {
		if k.At(c.v, c.w) != c.want {
			t.Errorf("κ(%d,%d) = %v, want %v", c.v, c.w, k.At(c.v, c.w), c.want)
		}
	}
	for _, h := range []int{-1, 65} {
		if _, err := WL(h); err == nil {
			t.Errorf("h = %d was accepted", h)
		}
	}
}
