package explain_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

func smallKernel(change func(o *mlg.Kernel)) mlg.Kernel {
	o := mlg.Default()
	o.Samples, o.Rank = 20, 6
	if change != nil {
		change(&o)
	}
	return o
}

func fit(t testing.TB, graphs []*graph.Graph, change func(o *mlg.Kernel)) *mlg.Model {
	t.Helper()
	m, err := mlg.Fit(t.Context(), graphs, smallKernel(change))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sum returns a kernel fitted to graphs.
func sum(t testing.TB, graphs []*graph.Graph, k kernel.Kernel) *kernel.FittedSum {
	t.Helper()
	s, err := kernel.NewCollection(graphs).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Attributes are base features that a test can multiply: with them the contribution of a
// vertex is the derivative of the model's own output with respect to its attributes.
func scaled(t *testing.T, g *graph.Graph, s []float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(g.N())
	for e := range g.Edges() {
		b.AddWeightedEdge(e.U, e.V, e.Weight)
	}
	for v := range g.N() {
		row := slices.Clone(g.Attributes(v))
		for i := range row {
			row[i] *= s[v]
		}
		b.SetAttributes(v, row)
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// slope returns the derivative of f at s = 1 in the direction of s_v, by central differences
// extrapolated to an error of order h⁴.
func slope(t *testing.T, g *graph.Graph, v int, f func(g *graph.Graph) float64) float64 {
	t.Helper()
	s := make([]float64, g.N())
	for i := range s {
		s[i] = 1
	}
	at := func(x float64) float64 {
		s[v] = x
		return f(scaled(t, g, s))
	}
	const h = 1e-3
	wide := (at(1+h) - at(1-h)) / (2 * h)
	narrow := (at(1+h/2) - at(1-h/2)) / h
	return (4*narrow - wide) / 3
}

func close(x, y float64) bool { return math.Abs(x-y) <= 1e-7*(math.Abs(x)+math.Abs(y))+1e-10 }

var combinations = []func(o *mlg.Kernel){
	nil,
	func(o *mlg.Kernel) { o.Combine = mlg.Sum },
	func(o *mlg.Kernel) { o.Combine, o.Power = mlg.Product, 2 },
	func(o *mlg.Kernel) { o.Combine, o.Discount = mlg.GeometricMean, true },
}

func attributed(seed uint64, n int) []*graph.Graph {
	r := graphtest.Rand(seed)
	var gs []*graph.Graph
	for i := range n {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 5 + i%4, Edge: 0.4, Dim: 3, Weighted: i%2 == 0}))
	}
	return gs
}

func TestSimilarity(t *testing.T) {
	gs := attributed(1, 8)
	for _, c := range combinations {
		k := smallKernel(c)
		m := sum(t, gs[:6], k)
		g, h := gs[6], gs[7]
		got, err := explain.Similarity(t.Context(), m, g, h)
		if err != nil {
			t.Fatal(err)
		}
		compare := func(g, h *graph.Graph) float64 {
			k, err := m.Compare(t.Context(), g, h)
			if err != nil {
				t.Fatal(err)
			}
			return k
		}
		if k := compare(g, h); !close(got.K, k) || !close(got.LogK, math.Log(k)) {
			t.Errorf("k = %v, log k = %v, want %v and its logarithm", got.K, got.LogK, k)
		}
		for v, x := range got.G.Vertices {
			if want := slope(t, g, v, func(g *graph.Graph) float64 { return math.Log(compare(g, h)) }); !close(x, want) {
				t.Errorf("vertex %d of G: %v, by differences %v", v, x, want)
			}
		}
		for v, x := range got.H.Vertices {
			if want := slope(t, h, v, func(h *graph.Graph) float64 { return math.Log(compare(g, h)) }); !close(x, want) {
				t.Errorf("vertex %d of H: %v, by differences %v", v, x, want)
			}
		}
		back, err := explain.Similarity(t.Context(), m, h, g)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.G.Vertices, got.H.Vertices) || !slices.Equal(back.H.Vertices, got.G.Vertices) || !close(back.LogK, got.LogK) {
			t.Error("not symmetric")
		}
		for _, c := range []explain.Contributions{got.G, got.H} {
			checkSums(t, c)
		}
		enter := 3
		if k.Combine == mlg.Top {
			enter = 1
		}
		if len(got.Levels) != enter || len(got.G.Through) != enter || len(got.G.Features) != 3 || got.Levels[enter-1].Level != 2 {
			t.Errorf("levels %v", got.Levels)
		}
		same, err := explain.Similarity(t.Context(), m, g, g)
		if err != nil {
			t.Fatal(err)
		}
		for v, x := range same.G.Vertices {
			if x != 0 || same.K != 1 {
				t.Errorf("a graph with itself: k = %v, contribution %v of vertex %d", same.K, x, v)
			}
		}
	}
}

// checkSums: what Contributions says adds up does.
func checkSums(t *testing.T, c explain.Contributions) {
	t.Helper()
	sum := 0.0
	for v, x := range c.Vertices {
		sum += x
		parts := 0.0
		for _, l := range c.Through {
			parts += l.Vertices[v]
		}
		if !close(parts, x) {
			t.Errorf("vertex %d: parts add up to %v, want %v", v, parts, x)
		}
	}
	if !close(sum, c.Sum) {
		t.Errorf("sum %v, want %v", c.Sum, sum)
	}
	parts := 0.0
	for _, l := range c.Through {
		parts += l.Sum
	}
	if !close(parts, c.Sum) {
		t.Errorf("sums of levels add up to %v, want %v", parts, c.Sum)
	}
	if !slices.Equal(c.Features[0].Vertices, c.Vertices) || c.Features[0].Sum != c.Sum {
		t.Error("level 0 of the features is not the contributions")
	}
}

// The value explained is that of a trained machine, and its slopes are those of its decision.
func TestDecision(t *testing.T) {
	gs := attributed(2, 13)
	train, g := gs[:12], gs[12]
	labels := []int{0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1}
	for _, c := range combinations {
		m := sum(t, train, smallKernel(c))
		gram, err := m.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cl, err := svm.Train(t.Context(), svm.Full(gram), svm.Targets{Labels: labels}, svm.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		decide := func(g *graph.Graph) float64 {
			cross, err := m.Cross(t.Context(), []*graph.Graph{g})
			if err != nil {
				t.Fatal(err)
			}
			d, err := cl.Values(svm.Full(cross))
			if err != nil {
				t.Fatal(err)
			}
			return d.At(0, 0)
		}
		k := cl.Functions[0]
		got, err := explain.Decision(t.Context(), m, g, k)
		if err != nil {
			t.Fatal(err)
		}
		if want := decide(g); !close(got.Value, want) {
			t.Errorf("value %v, want %v", got.Value, want)
		}
		total := got.Bias
		for _, x := range got.Graphs {
			total += x.Value
		}
		if len(got.Graphs) != len(k.Support) || total != got.Value {
			t.Errorf("%d terms add up to %v, want %d and %v", len(got.Graphs), total, len(k.Support), got.Value)
		}
		for v, x := range got.Vertices {
			if want := slope(t, g, v, decide); !close(x, want) {
				t.Errorf("vertex %d: %v, by differences %v", v, x, want)
			}
		}
		checkSums(t, got.Contributions)
	}
}

func TestDecisionRefuses(t *testing.T) {
	gs := attributed(3, 4)
	m := sum(t, gs, smallKernel(nil))
	for want, f := range map[string]svm.Function{
		"2 coefficients for 1 training graphs":  {Support: []int{0}, Coefficients: []float64{1, 2}},
		"training graph 4 out of range [0, 4)":  {Support: []int{4}, Coefficients: []float64{1}},
		"training graph -1 out of range [0, 4)": {Support: []int{-1}, Coefficients: []float64{1}},
	} {
		if _, err := explain.Decision(t.Context(), m, gs[0], f); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	bare := graphtest.Path(3)
	if _, err := explain.Similarity(t.Context(), m, bare, gs[0]); err == nil || !strings.Contains(err.Error(), "needs vertex attributes") {
		t.Errorf("error %v", err)
	}
	if _, err := explain.Similarity(t.Context(), m, gs[0], bare); err == nil || !strings.Contains(err.Error(), "needs vertex attributes") {
		t.Errorf("error %v", err)
	}
}

// Graphs with no vertex, one vertex, isolated vertices; a query whose label no training graph
// has contributes nothing, because its features are 0.
func TestSpecialGraphs(t *testing.T) {
	gs := graphtest.Suite(9)
	m := sum(t, gs, smallKernel(nil))
	for i, g := range gs {
		c, err := explain.Similarity(t.Context(), m, g, gs[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(c.G.Vertices) != g.N() || len(c.H.Vertices) != gs[0].N() {
			t.Errorf("graph %d: %d and %d contributions", i, len(c.G.Vertices), len(c.H.Vertices))
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back explain.Comparison
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if back.LogK != c.LogK || !slices.Equal(back.G.Vertices, c.G.Vertices) {
			t.Error("JSON does not give back what went in")
		}
	}
	b := graph.NewBuilder(3)
	b.AddEdge(0, 1)
	b.AddEdge(1, 2)
	for v, l := range []string{"0", "unseen", "1"} {
		b.SetLabel(v, l)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	c, err := explain.Similarity(t.Context(), m, g, gs[0])
	if err != nil {
		t.Fatal(err)
	}
	if x := c.G.Vertices; x[1] != 0 || x[0] == 0 || x[2] == 0 {
		t.Errorf("contributions %v, want 0 for the label that no training graph has", x)
	}
}
