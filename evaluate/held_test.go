package evaluate

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/choose"
)

// Figures of predictions for all graphs, counted by hand.
func TestHeldOut(t *testing.T) {
	classes := &choose.Targets{Classes: []string{"a", "b"}, Labels: []int{0, 0, 0, 1}}
	r := HeldOut("x", classes, choose.HeldPredictions{Labels: []int{0, 0, 1, 1}, Scores: [][]float64{{1, 0}, {1, 0}, {0.4, 0.6}, {0.5, 0.5}}})
	if r.Name != "x" || r.Accuracy != 0.75 || math.Abs(r.Balanced-(2./3+1)/2) > 1e-15 || r.AUC == nil || math.Abs(*r.AUC-2./3) > 1e-15 || r.Interval != nil {
		t.Errorf("%+v", r.ClassificationSummary) // of the pairs of an a and the b, two of three are in order
	}
	if m := Majority(classes); m.Accuracy != 0.75 || m.Balanced != 0.5 || *m.AUC != 0.5 {
		t.Errorf("majority %+v", m.ClassificationSummary)
	}
	values := &choose.Targets{Values: []float64{1, 2, 3}}
	if r := HeldOut("y", values, choose.HeldPredictions{Values: []float64{1, 2, 5}}); math.Abs(r.RMSE-math.Sqrt(4./3)) > 1e-15 || r.R2 != -1 {
		t.Errorf("%+v", r.RegressionSummary)
	}
	if m := Majority(values); math.Abs(m.RMSE-math.Sqrt(2./3)) > 1e-15 || m.R2 != 0 {
		t.Errorf("mean %+v", m.RegressionSummary)
	}
}
