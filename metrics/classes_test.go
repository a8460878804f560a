package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestUneven(t *testing.T) {
	for _, c := range []struct {
		counts       []int
		uneven, rare bool
		class        int
	}{
		{[]int{66, 33}, false, false, 1}, {[]int{67, 33}, true, false, 1},
		{[]int{10, 90}, true, false, 0}, {[]int{9, 91}, true, true, 0},
		{[]int{40, 10, 10, 10, 10, 10, 5, 5}, false, false, 6}, // an eighth and a third of the rest are 0.42
		{[]int{43, 12, 10, 10, 10, 10, 4, 1}, true, true, 7},
	} {
		class, rare := Rarest(c.counts)
		if Uneven(c.counts) != c.uneven || rare != c.rare || class != c.class {
			t.Errorf("%v: uneven %v, rare %v, class %d", c.counts, Uneven(c.counts), rare, class)
		}
	}
}

// By hand, and by the definitions over all thresholds, with ties.
func TestAveragePrecision(t *testing.T) {
	// Falling: + − + −: steps at recall ½ with precision 1, at recall 1 with precision ⅔.
	ap, ok := AveragePrecision([]bool{true, false, true, false}, []float64{4, 3, 2, 1})
	near(t, "AP", ap, 0.5*1+0.5*2/3, 1e-15)
	if _, none := AveragePrecision([]bool{false}, []float64{1}); !ok || none {
		t.Error("ok is wrong")
	}
	ap, _ = AveragePrecision([]bool{true, false, false, false}, []float64{1, 1, 1, 1})
	near(t, "AP of equal scores", ap, 0.25, 1e-15)
	positive, score := sample()
	want, before, positives := 0.0, 0.0, 0.0
	for _, p := range positive {
		if p {
			positives++
		}
	}
	for _, threshold := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(score)))) {
		right, taken := 0.0, 0.0
		for i, s := range score {
			if s >= threshold {
				if taken++; positive[i] {
					right++
				}
			}
		}
		want += (right/positives - before) * right / taken
		before = right / positives
	}
	ap, _ = AveragePrecision(positive, score)
	near(t, "AP", ap, want, 1e-14)
}

func TestEnrichment(t *testing.T) {
	// 3 of 20 are positive. The best of them is second: none in 5 %, that is 1; one of two in 10 %.
	positive, score := make([]bool, 20), make([]float64, 20)
	for i := range score {
		score[i], positive[i] = float64(-i), i == 1 || i == 7 || i == 19
	}
	for fraction, want := range map[float64]float64{0.05: 0, 0.1: 0.5 / 0.15, 0.07: 0.5 / 0.15, 1: 1} {
		ef, _ := Enrichment(positive, score, fraction)
		near(t, "enrichment", ef, want, 1e-12)
	}
	if _, ok := Enrichment([]bool{false}, []float64{1}, 0.05); ok {
		t.Error("enrichment without positives is defined")
	}
	// With ties: the mean over random orders of them.
	positive, score = sample()
	ef, _ := Enrichment(positive, score, 0.05)
	random := rand.New(rand.NewPCG(1, 2))
	sum, rounds, positives := 0.0, 20000, 0.0
	for _, p := range positive {
		if p {
			positives++
		}
	}
	top := int(math.Ceil(0.05 * float64(len(score))))
	for range rounds {
		order := random.Perm(len(score))
		slices.SortStableFunc(order, func(a, b int) int { return int(score[b] - score[a]) })
		for _, i := range order[:top] {
			if positive[i] {
				sum++
			}
		}
	}
	near(t, "enrichment with ties", ef, sum/float64(rounds)/float64(top)/(positives/float64(len(score))), 0.05)
}

// sample returns 90 examples with many equal scores.
func sample() (positive []bool, score []float64) {
	for i := range 90 {
		positive = append(positive, i*i%7 < 2)
		score = append(score, float64(i*i%11+i%2))
	}
	return positive, score
}

func TestProbabilities(t *testing.T) {
	p := [][]float64{{0.75, 0.25}, {0.75, 0.25}, {0.05, 0.95}, {1, 0}}
	truth := []int{0, 1, 1, 1}
	near(t, "log loss", LogLoss(truth, p), -(math.Log(0.75)+math.Log(0.25)+math.Log(0.95)+math.Log(1e-15))/4, 1e-12)
	// Bin of 0.75: two examples, one right; bin of 0.9 to 1: 0.95 and 1, one right.
	near(t, "calibration error", CalibrationError(truth, p), (math.Abs(1.5-1)+math.Abs(1.95-1))/4, 1e-12)
}

// Scores that are no numbers rank below all others, as one, and no figure hangs or panics on them.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	positive, score := []bool{true, false, true, false, true}, []float64{3, 2, nan, nan, 1}
	least := []float64{3, 2, -1, -1, 1}
	for what, f := range map[string]func(score []float64) (float64, bool){
		"AUC":               func(s []float64) (float64, bool) { return AUC(positive, s) },
		"average precision": func(s []float64) (float64, bool) { return AveragePrecision(positive, s) },
		"enrichment":        func(s []float64) (float64, bool) { return Enrichment(positive, s, 0.7) },
	} {
		got, ok := f(score)
		want, _ := f(least)
		if got != want || !ok {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	p := [][]float64{{0.5, 0.5}, {nan, nan}}
	if x := CalibrationError([]int{0, 1}, p); !math.IsNaN(x) {
		t.Errorf("calibration error %v, want NaN", x)
	}
	if x := LogLoss([]int{0, 1}, p); !math.IsNaN(x) {
		t.Errorf("log loss %v, want NaN", x)
	}
}
