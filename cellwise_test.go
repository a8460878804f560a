package mlg

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// The kernel by cells is that of the covariances, with weights, with discounts, and in blocks
// where only some classes have few cells.
func TestCellwise(t *testing.T) {
	r := graphtest.Rand(5)
	var graphs []*graph.Graph
	for i := range 30 {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 5 + i, Edge: 0.06 + 0.004*float64(i), Labels: 3, Weighted: i%3 == 0}))
	}
	for _, discount := range []bool{false, true} {
		o := Default()
		o.Samples, o.Rank, o.Discount = 150, 24, discount
		m, err := Fit(t.Context(), graphs, o)
		if err != nil {
			t.Fatal(err)
		}
		var at *level
		fast, slow := 0, 0
		for level := range m.projections {
			if at, err = m.classify(t.Context(), graphs, at); err != nil {
				t.Fatal(err)
			}
			proj := m.projections[level]
			if level > 0 && proj.factors == nil {
				t.Fatal("no factors of the landmarks")
			}
			ordinary := proj
			ordinary.factors = nil
			for lo := 0; level > 0 && lo < at.len(); lo += featureBlock {
				chosen := at.all()[lo:min(lo+featureBlock, at.len())]
				for _, c := range chosen {
					if proj.factors.Cheaper(cells(at.quotient[c])) {
						fast++
					} else {
						slow++
					}
				}
				got, want := make([]float64, len(chosen)*proj.n), make([]float64, len(chosen)*proj.n)
				for dst, p := range map[*[]float64]*projection{&got: &proj, &want: &ordinary} {
					if err := new(projector).kernels(t.Context(), *dst, m.LowRank, p, at, chosen); err != nil {
						t.Fatal(err)
					}
				}
				for i, v := range want {
					if !(math.Abs(got[i]-v) <= 1e-11*v) {
						t.Fatalf("level %d, class %d, landmark %d: %v by cells, %v by covariances", level, lo+i/proj.n, i%proj.n, got[i], v)
					}
				}
			}
			if err := m.project(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
		if fast == 0 || slow == 0 {
			t.Errorf("%d classes compared by cells and %d by covariances, want some of both", fast, slow)
		}
	}
}

// With γη too small the ordinary way is taken.
func TestCellwiseSmallGamma(t *testing.T) {
	o := Default()
	o.Gamma, o.Eta = 1e-3, 1e-2
	m, err := Fit(t.Context(), []*graph.Graph{graphtest.Path(9), graphtest.Cycle(7), graphtest.Grid(3, 3)}, o)
	if err != nil {
		t.Fatal(err)
	}
	for l, p := range m.projections {
		if p.factors != nil {
			t.Errorf("level %d has factors with γη = %v", l, o.Gamma*o.Eta)
		}
	}
}
