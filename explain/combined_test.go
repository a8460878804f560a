package explain_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// stored returns a model of two multiscale kernels with different levels, products of them
// with each other and with a baseline that counts what factors of vertices do not change, and
// that baseline alone.
func stored(t *testing.T, graphs []*graph.Graph) *model.Model {
	t.Helper()
	one := model.Factor{Fitted: fit(t, graphs, func(o *mlg.Options) { o.Combine = mlg.Sum })}
	two := model.Factor{Fitted: fit(t, graphs, func(o *mlg.Options) { o.Radii, o.Eta = []int{1, 2, 3}, 0.5 })}
	wl := baseline.DefaultWL()
	wl.H, wl.Labels = 2, baseline.Degrees
	b, err := model.NewBaseline(wl)
	if err != nil {
		t.Fatal(err)
	}
	base := model.Factor{Baseline: b}
	m := &model.Model{Kernels: []model.Kernel{
		{Weight: 0.4, Factors: []model.Factor{one}},
		{Weight: 0.3, Factors: []model.Factor{one, base}},
		{Weight: 0.2, Factors: []model.Factor{one, two, two}},
		{Weight: 0.1, Factors: []model.Factor{base}},
	}}
	for i, g := range graphs {
		m.IDs = append(m.IDs, fmt.Sprint(i))
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], ""))
	}
	return m
}

// Contributions to a decision value are its derivatives, sums of products included.
func TestModelDecision(t *testing.T) {
	gs := attributed(3, 9)
	m := stored(t, gs[:7])
	f := explain.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
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
		got, err := explain.ModelDecision(t.Context(), m, g, f)
		if err != nil {
			t.Fatal(err)
		}
		if !close(got.Value, value(g)) {
			t.Errorf("value %v, want %v", got.Value, value(g))
		}
		sum := got.Bias
		for _, k := range got.Explained.Kernels {
			sum += k.Value
		}
		if !close(sum, got.Value) {
			t.Errorf("kernels add up to %v, want %v", sum, got.Value)
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
		if e.Kernels[0].Share != 1 || e.Kernels[2].Share != 1 || e.Kernels[3].Share != 0 ||
			!(e.Kernels[1].Share > 0 && e.Kernels[1].Share < 1) || !(e.Share > 0 && e.Share < 1) {
			t.Errorf("explained %+v", e)
		}
	}
}

// The explained share of a product is that of the logarithm.
func TestExplainedShare(t *testing.T) {
	gs := attributed(3, 8)
	m := stored(t, gs[:7])
	m.Kernels = m.Kernels[1:2]
	got, err := explain.ModelDecision(t.Context(), m, gs[7], explain.Function{Support: []int{1}, Coefficients: []float64{-2}})
	if err != nil {
		t.Fatal(err)
	}
	var logs []float64
	for _, f := range m.Kernels[0].Factors {
		k, err := m.CrossFactor(t.Context(), f, gs[7:])
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
	got, err := explain.ModelSimilarity(t.Context(), m, g, h)
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
	sum := 0.0
	for _, part := range got.Explained.Kernels {
		sum += part.Value
	}
	if !close(sum, got.K) {
		t.Errorf("kernels add up to %v, want %v", sum, got.K)
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

// One multiscale kernel alone is explained as before.
func TestModelOfOneKernel(t *testing.T) {
	gs := attributed(5, 8)
	m := stored(t, gs[:7])
	m.Kernels = []model.Kernel{model.NewKernel(1, m.Kernels[0].Factors[0].Fitted)}
	f := explain.Function{Support: []int{0, 3}, Coefficients: []float64{1, -1}}
	a, err := explain.ModelDecision(t.Context(), m, gs[7], f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := explain.Decision(t.Context(), m.Kernels[0].Factors[0].Fitted, gs[7], f)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(a.Vertices, b.Vertices, close) || !close(a.Value, b.Value) || a.Explained.Share != 1 {
		t.Errorf("%+v\nwant %+v", a, b)
	}
}

func TestModelDecisionRefuses(t *testing.T) {
	gs := attributed(6, 8)
	m := stored(t, gs[:7])
	if _, err := explain.ModelDecision(t.Context(), m, gs[7], explain.Function{Support: []int{7}, Coefficients: []float64{1}}); err == nil || !strings.Contains(err.Error(), "training graph 7 out of range [0, 7)") {
		t.Errorf("error %v", err)
	}
	m.Kernels = m.Kernels[3:]
	if _, err := explain.ModelDecision(t.Context(), m, gs[7], explain.Function{}); !errors.Is(err, explain.ErrUnexplained) {
		t.Errorf("error %v", err)
	}
	if _, err := explain.ModelSimilarity(t.Context(), m, gs[7], gs[6]); !errors.Is(err, explain.ErrUnexplained) {
		t.Errorf("error %v", err)
	}
}
