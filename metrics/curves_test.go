package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Thresholds says what counting by hand says, and its areas are AUC and AveragePrecision.
func TestThresholds(t *testing.T) {
	positive := []bool{true, false, true, false, true}
	c, ok := Thresholds(positive, []float64{0.9, 0.8, 0.8, 0.1, 0.05})
	want := &Curve{[]float64{0, 1. / 3, 2. / 3, 2. / 3, 1}, []float64{0, 0, 0.5, 1, 1}, []float64{1, 1, 2. / 3, 0.5, 0.6}}
	if !ok || !slices.Equal(c.Recall, want.Recall) || !slices.Equal(c.FalseRate, want.FalseRate) || !slices.Equal(c.Precision, want.Precision) {
		t.Errorf("curve %+v, want %+v", c, want)
	}
	for _, same := range [][]bool{{true, true}, {false}, {}} {
		if _, ok := Thresholds(same, make([]float64, len(same))); ok {
			t.Errorf("%v has a curve", same)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 2 + r.IntN(200)
		positive, score := make([]bool, n), make([]float64, n)
		for i := range n {
			positive[i], score[i] = r.IntN(3) == 0, float64(r.IntN(12))
		}
		c, ok := Thresholds(positive, score)
		if !ok {
			continue
		}
		roc, steps := 0.0, 0.0
		for i := 1; i < len(c.Recall); i++ {
			roc += (c.FalseRate[i] - c.FalseRate[i-1]) * (c.Recall[i] + c.Recall[i-1]) / 2
			steps += (c.Recall[i] - c.Recall[i-1]) * c.Precision[i]
		}
		auc, _ := AUC(positive, score)
		ap, _ := AveragePrecision(positive, score)
		if math.Abs(roc-auc) > 1e-12 || math.Abs(steps-ap) > 1e-12 {
			t.Errorf("areas %v and %v, want %v and %v", roc, steps, auc, ap)
		}
		few := c.Every(8)
		if k := len(few.Recall); k > 8 || few.Recall[0] != 0 || few.Recall[k-1] != 1 || few.FalseRate[k-1] != 1 || !slices.IsSorted(few.Recall) {
			t.Errorf("%d points of %d: %+v", k, len(c.Recall), few)
		}
	}
}
