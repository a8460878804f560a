package explain_test

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// Shares add up to the difference between the graph and the graph without features, whose
// value comes from the model itself: attributes that are all 0.
func TestShares(t *testing.T) {
	gs := attributed(5, 8)
	for _, c := range combinations {
		m := fit(t, gs[:6], c)
		g, h := gs[6], gs[7]
		cross := func(g *graph.Graph) []float64 {
			t.Helper()
			k, err := m.Cross(t.Context(), []*graph.Graph{g})
			if err != nil {
				t.Fatal(err)
			}
			return k.Row(0)
		}
		bare := scaled(t, g, make([]float64, g.N()))
		f := svm.Function{Support: []int{1, 4}, Coefficients: []float64{2, -3}, Bias: 0.25}
		decide := func(g *graph.Graph) float64 { k := cross(g); return 2*k[1] - 3*k[4] + 0.25 }
		s, err := explain.DecisionShares(t.Context(), m, g, f)
		if err != nil {
			t.Fatal(err)
		}
		checkShares(t, s, decide(g), decide(bare))
		logK := func(g *graph.Graph) float64 { return math.Log(cross(g)[3]) }
		if s, err = explain.SimilarityShares(t.Context(), m, g, gs[3]); err != nil {
			t.Fatal(err)
		}
		checkShares(t, s, logK(g), logK(bare))
		// A graph and itself: contributions vanish, shares do not.
		if s, err = explain.SimilarityShares(t.Context(), m, h, h); err != nil {
			t.Fatal(err)
		}
		if s.Value != 0 || !(s.Baseline < 0) || !(s.Sum > 0) {
			t.Errorf("a graph with itself: %+v", s)
		}
	}
	m := fit(t, gs, nil)
	if _, err := explain.DecisionShares(t.Context(), m, gs[0], svm.Function{Support: []int{8}, Coefficients: []float64{1}}); err == nil {
		t.Error("a training graph out of range was accepted")
	}
}

func checkShares(t *testing.T, s *explain.Shares, value, baseline float64) {
	t.Helper()
	if !close(s.Value, value) || !close(s.Baseline, baseline) {
		t.Errorf("value %v and baseline %v, want %v and %v", s.Value, s.Baseline, value, baseline)
	}
	sum, size, levels := 0.0, 0.0, 0.0
	for v, x := range s.Vertices {
		sum += x
		size += math.Abs(x)
		for _, l := range s.Through {
			levels += l.Vertices[v]
		}
	}
	if math.Abs(sum-(value-baseline)) > 1e-6*size || math.Abs(s.Gap) > 1e-6*size {
		t.Errorf("shares add up to %v (gap %v), want %v", sum, s.Gap, value-baseline)
	}
	if !close(sum, s.Sum) || !close(levels, s.Sum) {
		t.Errorf("sum %v, of vertices %v, of levels %v", s.Sum, sum, levels)
	}
}

// For a product, what enters through a level adds up to the difference of its own log k_ℓ.
// Vertices that a symmetry exchanges have equal shares; with one vertex it has all.
func TestSharesByHand(t *testing.T) {
	r := graphtest.Rand(7)
	train := []*graph.Graph{graphtest.Labeled(r, graphtest.Star(4), 2, 0), graphtest.Labeled(r, graphtest.Path(1), 1, 0), graphtest.Labeled(r, graphtest.Cycle(5), 1, 0)}
	m := fit(t, train, func(o *mlg.Kernel) { o.Combine = mlg.Product })
	ring := train[2]
	s, err := explain.SimilarityShares(t.Context(), m, ring, train[0])
	if err != nil {
		t.Fatal(err)
	}
	for v, x := range s.Vertices {
		if !close(x, s.Vertices[0]) || !close(x, s.Sum/5) {
			t.Errorf("vertex %d of a ring has the share %v, want %v", v, x, s.Sum/5)
		}
	}
	c, err := m.Transform(t.Context(), train[:1])
	if err != nil {
		t.Fatal(err)
	}
	var logs [2]*kernel.Matrix
	for sigma := range 2 {
		a, err := m.Attribute(t.Context(), ring, float64(sigma), c, func([]float64) []float64 { return []float64{1} })
		if err != nil {
			t.Fatal(err)
		}
		logs[sigma] = a.LevelLogK
	}
	for l, x := range s.Through {
		if want := logs[1].At(l, 0) - logs[0].At(l, 0); math.Abs(x.Sum-want) > 1e-6*math.Abs(want) {
			t.Errorf("level %d: shares add up to %v, want %v", l, x.Sum, want)
		}
	}
	// One vertex with a one-hot feature at level 0, H the same vertex: with L = η,
	// S_G = γ + σ²/η in that direction, and log k = ½ log(2√(ab)/(a+b)) for a = γ, b = γ + 1/η.
	flg := fit(t, train, func(o *mlg.Kernel) { o.Radii = nil })
	if s, err = explain.SimilarityShares(t.Context(), flg, train[1], train[1]); err != nil {
		t.Fatal(err)
	}
	a, b := 0.1, 0.1+1/0.1
	if want := -0.5 * math.Log(2*math.Sqrt(a*b)/(a+b)); math.Abs(s.Vertices[0]-want) > 1e-6*want {
		t.Errorf("share %v of a single vertex, want %v", s.Vertices[0], want)
	}
}
