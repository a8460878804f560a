package explain_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// The parts of stored: two multiscale kernels with different levels, and one that counts what
// factors of vertices do not change.
func parts() (one, two, paths kernel.Kernel) {
	sp := baseline.DefaultShortestPath()
	sp.Labels = baseline.Degrees
	return smallKernel(func(o *mlg.Kernel) { o.Combine = mlg.Sum }), smallKernel(func(o *mlg.Kernel) { o.Radii, o.Eta = []int{1, 2, 3}, 0.5 }), sp
}

// stored returns products of the parts with each other and alone.
func stored(t *testing.T, graphs []*graph.Graph) *kernel.FittedSum {
	t.Helper()
	one, two, paths := parts()
	return sum(t, graphs, kernel.Weighted([]float64{0.4, 0.3, 0.2, 0.1},
		[]kernel.Kernel{one, kernel.Product(one, paths), kernel.Product(one, two, two), paths}))
}

// Contributions to a decision value are its derivatives, sums of products included.
func TestModelDecision(t *testing.T) {
	gs := attributed(3, 9)
	m := stored(t, gs[:7])
	f := svm.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
	value := func(g *graph.Graph) float64 {
		k, err := m.Cross(t.Context(), []*graph.Graph{g})
		if err != nil {
			t.Fatal(err)
		}
		v := f.Bias
		for s, i := range f.Support {
			v += f.Coefficients[s] * k.At(0, i)
		}
		return v
	}
	for _, g := range gs[7:] {
		got, err := explain.Decision(t.Context(), m, g, f)
		if err != nil {
			t.Fatal(err)
		}
		if !close(got.Value, value(g)) {
			t.Errorf("value %v, want %v", got.Value, value(g))
		}
		total := got.Bias
		for _, k := range got.Explained.Terms {
			total += k.Value
		}
		if !close(total, got.Value) {
			t.Errorf("kernels add up to %v, want %v", total, got.Value)
		}
		for v := range g.N() {
			if want := slope(t, g, v, value); math.Abs(got.Vertices[v]-want) > 1e-7*max(1, math.Abs(want)) {
				t.Errorf("vertex %d contributes %v, want %v", v, got.Vertices[v], want)
			}
		}
		checkSums(t, got.Contributions)
		if len(got.Through) != 4 || len(got.Features) != 4 {
			t.Errorf("%d and %d levels, want those of both kernels", len(got.Through), len(got.Features))
		}
		e := got.Explained
		if e.Terms[0].Share != 1 || e.Terms[2].Share != 1 || e.Terms[3].Share != 0 ||
			!(e.Terms[1].Share > 0 && e.Terms[1].Share < 1) || !(e.Share > 0 && e.Share < 1) {
			t.Errorf("explained %+v", e)
		}
	}
}

// Kernels that count vertices contribute as well, in sums and in products: by their own
// derivatives, with the slopes of the product rule.
func TestModelCounts(t *testing.T) {
	var gs []*graph.Graph
	r := graphtest.Rand(9)
	for range 8 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.3, Labels: 2}))
	}
	oa := baseline.DefaultWL()
	oa.Variant, oa.H = baseline.Assignment, 2
	one, _, _ := parts()
	m := sum(t, gs[:7], kernel.Weighted([]float64{0.4, 0.3, 0.3}, []kernel.Kernel{one, kernel.Product(one, oa), oa}))
	f := svm.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
	g := gs[7]
	got, err := explain.Decision(t.Context(), m, g, f)
	if err != nil {
		t.Fatal(err)
	}
	if got.Explained.Share != 1 {
		t.Errorf("share %v", got.Explained.Share)
	}
	row := func(factor int) []float64 {
		k, err := m.Factors[factor].Cross(t.Context(), []*graph.Graph{g})
		if err != nil {
			t.Fatal(err)
		}
		return k.Row(0)
	}
	k1, k2 := row(0), row(1)
	slopes := make([]float64, 7)
	for s, i := range f.Support {
		slopes[i] = f.Coefficients[s] * (0.3*k1[i]*k2[i] + 0.3*k2[i])
	}
	fitted, err := oa.Fit(t.Context(), gs[:7])
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitted.(baseline.Attributer).Attribute(t.Context(), g, slopes)
	if err != nil {
		t.Fatal(err)
	}
	for v := range g.N() {
		if !close(got.Counted[v], want[v]) {
			t.Errorf("vertex %d counts %v, want %v", v, got.Counted[v], want[v])
		}
		sum := got.Counted[v]
		for _, l := range got.Through {
			sum += l.Vertices[v]
		}
		if !close(sum, got.Vertices[v]) {
			t.Errorf("vertex %d: parts add up to %v, want %v", v, sum, got.Vertices[v])
		}
	}
	// The similarity to a training graph has the slopes of that graph alone.
	pair, err := explain.Similarity(t.Context(), m, g, gs[2])
	if err != nil {
		t.Fatal(err)
	}
	single, err := explain.Decision(t.Context(), m, g, svm.Function{Support: []int{2}, Coefficients: []float64{1 / pair.K}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(pair.G.Vertices, single.Vertices, close) {
		t.Errorf("%v\nwant %v", pair.G.Vertices, single.Vertices)
	}
}

// What an edge contributes where it is a vertex goes to its ends, half and half.
func TestModelSubdivided(t *testing.T) {
	var gs, subdivided []*graph.Graph
	r := graphtest.Rand(10)
	for i := range 8 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Labels: 2}))
		subdivided = append(subdivided, gs[i].Subdivide())
	}
	k := kernel.Product(smallKernel(nil), baseline.DefaultWL())
	f := svm.Function{Support: []int{0, 4}, Coefficients: []float64{1, -0.5}}
	got, err := explain.Decision(t.Context(), sum(t, gs[:7], kernel.Subdivided(k)), gs[7], f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := explain.Decision(t.Context(), sum(t, subdivided[:7], k), subdivided[7], f)
	if err != nil {
		t.Fatal(err)
	}
	if !close(got.Value, want.Value) || !close(got.Sum, want.Sum) || len(got.Vertices) != gs[7].N() {
		t.Fatalf("%+v\nwant %+v", got, want)
	}
	expect := slices.Clone(want.Vertices[:5])
	at := 5
	for e := range gs[7].Edges() {
		expect[e.U] += want.Vertices[at] / 2
		expect[e.V] += want.Vertices[at] / 2
		at++
	}
	if !slices.EqualFunc(got.Vertices, expect, close) {
		t.Errorf("%v\nwant %v", got.Vertices, expect)
	}
	for _, l := range got.Through {
		if len(l.Vertices) != 5 {
			t.Errorf("level %d has %d vertices", l.Level, len(l.Vertices))
		}
	}
}

// The explained share of a product is that of the logarithm.
func TestExplainedShare(t *testing.T) {
	gs := attributed(3, 8)
	one, _, paths := parts()
	m := sum(t, gs[:7], kernel.Product(one, paths))
	got, err := explain.Decision(t.Context(), m, gs[7], svm.Function{Support: []int{1}, Coefficients: []float64{-2}})
	if err != nil {
		t.Fatal(err)
	}
	var logs []float64
	for _, f := range m.Factors {
		k, err := f.Cross(t.Context(), gs[7:])
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, math.Log(k.At(0, 1)))
	}
	if want := logs[0] / (logs[0] + logs[1]); !close(got.Explained.Share, want) {
		t.Errorf("share %v, want %v", got.Explained.Share, want)
	}
}

// Contributions to the similarity of two graphs are derivatives of its logarithm, on both
// sides.
func TestModelSimilarity(t *testing.T) {
	gs := attributed(4, 9)
	m := stored(t, gs[:7])
	g, h := gs[7], gs[8]
	got, err := explain.Similarity(t.Context(), m, g, h)
	if err != nil {
		t.Fatal(err)
	}
	k := func(g, h *graph.Graph) float64 {
		k, err := m.Compare(t.Context(), g, h)
		if err != nil {
			t.Fatal(err)
		}
		return math.Log(k)
	}
	if !close(got.LogK, k(g, h)) || !close(got.K, math.Exp(k(g, h))) {
		t.Errorf("log k = %v, want %v", got.LogK, k(g, h))
	}
	total := 0.0
	for _, part := range got.Explained.Terms {
		total += part.Value
	}
	if !close(total, got.K) {
		t.Errorf("kernels add up to %v, want %v", total, got.K)
	}
	for v := range g.N() {
		if want := slope(t, g, v, func(g *graph.Graph) float64 { return k(g, h) }); math.Abs(got.G.Vertices[v]-want) > 1e-7 {
			t.Errorf("vertex %d of G contributes %v, want %v", v, got.G.Vertices[v], want)
		}
	}
	for v := range h.N() {
		if want := slope(t, h, v, func(h *graph.Graph) float64 { return k(g, h) }); math.Abs(got.H.Vertices[v]-want) > 1e-7 {
			t.Errorf("vertex %d of H contributes %v, want %v", v, got.H.Vertices[v], want)
		}
	}
	checkSums(t, got.G)
	checkSums(t, got.H)
	// The model's kernel of a training graph and a new one is that of Cross.
	cross, err := m.Cross(t.Context(), gs[7:8])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if x := math.Exp(k(g, gs[i])); !close(x, cross.At(0, i)) {
			t.Errorf("kernel with training graph %d is %v, want %v", i, x, cross.At(0, i))
		}
	}
}

func TestModelDecisionRefuses(t *testing.T) {
	gs := attributed(6, 8)
	m := stored(t, gs[:7])
	if _, err := explain.Decision(t.Context(), m, gs[7], svm.Function{Support: []int{7}, Coefficients: []float64{1}}); err == nil || !strings.Contains(err.Error(), "training graph 7 out of range [0, 7)") {
		t.Errorf("error %v", err)
	}
	_, _, paths := parts()
	m = sum(t, gs[:7], paths)
	if _, err := explain.Decision(t.Context(), m, gs[7], svm.Function{Support: []int{}}); !errors.Is(err, explain.ErrUnexplained) {
		t.Errorf("error %v", err)
	}
	if _, err := explain.Similarity(t.Context(), m, gs[7], gs[6]); !errors.Is(err, explain.ErrUnexplained) {
		t.Errorf("error %v", err)
	}
}
