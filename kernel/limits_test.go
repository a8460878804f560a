package kernel

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// attributed returns graphs of a vertex with one attribute each.
func attributed(t *testing.T, values ...float64) []*graph.Graph {
	t.Helper()
	var out []*graph.Graph
	for _, x := range values {
		b := graph.NewBuilder(1)
		b.SetAttributes(0, []float64{x})
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// A constant attribute has the scale 1 however many vertices have it; one whose deviation is beyond
// the numbers is refused.
func TestStandardizeExtremes(t *testing.T) {
	same := make([]float64, 100_000)
	for i := range same {
		same[i] = 0.1
	}
	s, err := Standardize(attributed(t, same...))
	if err != nil || s.Mean[0] != 0.1 || s.Scale[0] != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Standardize(attributed(t, 1e200, -1e200)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error %v", err)
	}
}

// A short text cannot ask for a sum without bound, nor for weights beyond the numbers.
func TestExpandIsBounded(t *testing.T) {
	k := Kernel(defaultSize())
	var many Sum
	for range 1000 {
		many.Terms = append(many.Terms, Term{Weight: 1, Factors: []Factor{{Kernel: k}}})
	}
	wide := Sum{Terms: []Term{{Weight: 1, Factors: []Factor{{Kernel: many}}}}}
	for range 50_000 {
		wide.Terms[0].Factors = append(wide.Terms[0].Factors, Factor{Kernel: k})
	}
	if _, err := wide.Expand(nil); err == nil || !strings.Contains(err.Error(), "factors") {
		t.Errorf("error %v", err)
	}
	square := Product(many, many)
	if _, err := square.Expand(nil); err == nil || !strings.Contains(err.Error(), "products") {
		t.Errorf("error %v", err)
	}
	for _, w := range []float64{1e-200, 1e200} {
		inner := Weighted([]float64{w, w}, []Kernel{k, k})
		outer := Weighted([]float64{w}, []Kernel{inner})
		if _, err := NewCollection(nil).Sum(outer); err == nil {
			t.Errorf("weights %v: error %v", w, err)
		}
	}
}
