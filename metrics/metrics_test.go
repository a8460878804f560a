package metrics

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestConfusion(t *testing.T) {
	// class 0: 3 of 4 right; class 1: 1 of 2 right; class 2 does not occur
	truth := []int{0, 0, 0, 0, 1, 1}
	predicted := []int{0, 0, 0, 2, 1, 0}
	c := NewConfusion(truth, predicted, 3)
	near(t, "accuracy", c.Accuracy(), 4.0/6, 1e-15)
	near(t, "balanced accuracy", c.BalancedAccuracy(), (0.75+0.5)/2, 1e-15)
	want := []ClassScore{
		{"a", 4, 0.75, 0.75, 0.75}, // 3 of the 4 that were taken for a
		{"b", 2, 0.5, 1, 2.0 / 3},
		{"c", 0, 0, 0, 0},
	}
	for i, got := range c.ByClass([]string{"a", "b", "c"}) {
		if got.Class != want[i].Class || got.Examples != want[i].Examples {
			t.Errorf("class %d: %+v, want %+v", i, got, want[i])
		}
		near(t, "recall", got.Recall, want[i].Recall, 1e-15)
		near(t, "precision", got.Precision, want[i].Precision, 1e-15)
		near(t, "F1", got.F1, want[i].F1, 1e-15)
	}
}

func TestAUC(t *testing.T) {
	// Pairs (positive, negative): (0.8, 0.1) right, (0.8, 0.4) right, (0.4, 0.1) right,
	// (0.4, 0.4) half: 3.5 of 4.
	auc, ok := AUC([]bool{false, false, true, true}, []float64{0.1, 0.4, 0.4, 0.8})
	if !ok {
		t.Fatal("no AUC")
	}
	near(t, "AUC", auc, 3.5/4, 1e-15)
	if _, ok := AUC([]bool{true, true}, []float64{1, 2}); ok {
		t.Error("AUC of one class is defined")
	}
	// Against the definition by all pairs, with many ties.
	var positive []bool
	var score []float64
	for i := range 60 {
		positive = append(positive, i*i%7 < 3)
		score = append(score, float64(i*i%11))
	}
	pairs, right := 0.0, 0.0
	for i := range score {
		for j := range score {
			if positive[i] && !positive[j] {
				pairs++
				switch {
				case score[i] > score[j]:
					right++
				case score[i] == score[j]:
					right += 0.5
				}
			}
		}
	}
	auc, _ = AUC(positive, score)
	near(t, "AUC", auc, right/pairs, 1e-15)
}

func TestMacroAUC(t *testing.T) {
	// Class 0 against the rest: its example has the largest first score: 1. Class 1: 0.9 over
	// 0.2 and 0.3: 1. Class 2: 0.1 under both others: 0.
	auc, ok := MacroAUC([]int{0, 1, 2}, [][]float64{{0.9, 0.2, 0.5}, {0.1, 0.9, 0.6}, {0.2, 0.3, 0.1}}, 3)
	if !ok {
		t.Fatal("no AUC")
	}
	near(t, "macro AUC", auc, 2.0/3, 1e-15)
}

func TestScoreValues(t *testing.T) {
	// errors 1, 0, −1, 2; targets 1, 2, 3, 6 have mean 3 and squared deviations 4+1+0+9
	s := ScoreValues([]float64{1, 2, 3, 6}, []float64{0, 2, 4, 4}, nil)
	near(t, "RMSE", s.RMSE, math.Sqrt(6.0/4), 1e-15)
	near(t, "MAE", s.MAE, 1, 1e-15)
	near(t, "R²", s.R2, 1-6.0/14, 1e-15)
	if s := ScoreValues([]float64{2, 2}, []float64{1, 2}, nil); s.R2 != 0 {
		t.Errorf("R² of constant targets is %v, want 0", s.R2)
	}
}

func TestConfidenceInterval(t *testing.T) {
	// Scores 1, 2, 3, 4, 5: mean 3, s² = 2.5. With ratio 1/9: se² = (1/5 + 1/9)·2.5 = 7/9.
	// The 97.5 % quantile of Student's distribution with 4 degrees of freedom is 2.776445.
	x := []float64{1, 2, 3, 4, 5}
	se := math.Sqrt(7.0 / 9)
	i := ConfidenceInterval(x, 1.0/9, 0.95)
	near(t, "low", i.Low, 3-2.776445*se, 1e-5)
	near(t, "high", i.High, 3+2.776445*se, 1e-5)
	if ConfidenceInterval(x[:1], 0, 0.95) != nil {
		t.Error("an interval from one score")
	}
}

func TestCorrectedTest(t *testing.T) {
	// Differences 1, 2, 3, 4, 5 as above: t = 3/√(7/9). Student's distribution with 4 degrees
	// of freedom is F(t) = ½ + ⅜x(1 − x²/12) with x = t/√(1 + t²/4).
	a := []float64{2, 4, 6, 8, 10}
	b := []float64{1, 2, 3, 4, 5}
	r := CorrectedTest(a, b, 1.0/9)
	stat := 3 / math.Sqrt(7.0/9)
	near(t, "t", r.T, stat, 1e-12)
	near(t, "difference", r.Difference, 3, 1e-15)
	x := stat / math.Sqrt(1+stat*stat/4)
	cdf := 0.5 + 3.0/8*x*(1-x*x/12)
	near(t, "p", r.P, 2*(1-cdf), 1e-9)
	if r.DF != 4 {
		t.Errorf("%d degrees of freedom, want 4", r.DF)
	}
	if r := CorrectedTest(a, a, 0.1); r.P != 1 || r.T != 0 {
		t.Errorf("equal scores: t = %v, p = %v, want 0 and 1", r.T, r.P)
	}
	// Without the correction the same differences look more certain.
	if plain := CorrectedTest(a, b, 0); plain.P >= r.P {
		t.Errorf("p = %v without and %v with correction, want less without", plain.P, r.P)
	}
}

// A prediction N(1, 2²) of the values 1 and 5: densities 1/(2√(2π)) and that times e⁻².
func TestCalibrate(t *testing.T) {
	c := calibrate([]float64{1, 5}, []float64{1, 1}, []float64{2, 2})
	near(t, "NLPD", *c.NLPD, math.Log(2*math.Sqrt(2*math.Pi))+1, 1e-14)
	if want := [...]float64{0.5, 0.5, 0.5}; c.Coverage != want { // the other is two deviations away, and 95 % have 1.96
		t.Errorf("coverage %v, want %v", c.Coverage, want)
	}
	if got := Covered([]float64{5}, []float64{1}, []float64{2}, 0.96); got != 1 {
		t.Errorf("coverage at 96 %% is %v", got)
	}
	near(t, "half width of 95 %", HalfWidth(0.95), 1.959963984540054, 1e-12)
	near(t, "half width of 50 %", HalfWidth(0.5), 0.674489750196082, 1e-12)
	// Without doubt: right or wrong, the density is infinite or 0.
	for _, z := range []float64{3, 4} {
		c := calibrate([]float64{z}, []float64{3}, []float64{0})
		if right := z == 3; c.NLPD != nil || (c.Coverage[0] == 1) != right || math.IsInf(LogDensity(z, 3, 0), 1) != right {
			t.Errorf("deviation 0, error %v: %+v, log density %v", z-3, c, LogDensity(z, 3, 0))
		}
	}
	if s := ScoreValues([]float64{1, 5}, []float64{1, 1}, []float64{2, 2}); s.Calibration == nil || *s.NLPD != *c.NLPD {
		t.Errorf("scores %+v", s)
	}
	text, err := json.Marshal(ScoreValues([]float64{1, 5}, []float64{1, 1}, nil))
	if err != nil || strings.Contains(string(text), "nlpd") {
		t.Errorf("without deviations: %s, %v", text, err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{5, 1}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, -1, 8, 2}, 3}} {
		if got := Median(c.x); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.x, got, c.want)
		}
	}
}
