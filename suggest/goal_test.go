package suggest

import (
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

func mustGoal(t *testing.T, text string) Goal {
	t.Helper()
	g, err := ParseGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != text {
		t.Errorf("%q is written %q", text, g)
	}
	return g
}

// Improvement and Probability are the integrals that define them.
func TestAcquisitions(t *testing.T) {
	graphtest.Slow(t)
	for _, text := range []string{"max", "min", "2", "-1:3", "2.5:", ":-0.5"} {
		g := mustGoal(t, text)
		for _, mean := range []float64{-3, 0.5, 2, 9} {
			for _, deviation := range []float64{0.05, 1, 4} {
				for _, best := range []float64{-6, -0.7, 1.5} {
					if g.Kind == Reach && best > 0 {
						continue // no value is nearer than the value itself
					}
					// Values where the utility passes the best, and the ends of the range, are ends of the parts.
					ends := []float64{mean - 12*deviation, mean + 12*deviation, g.Low, g.High, best, -best, g.Low + best, g.Low - best}
					want := func(f func(z float64) float64) float64 {
						sum := 0.0
						for _, low := range ends {
							high := math.Inf(1)
							for _, x := range ends {
								if x > low {
									high = min(high, x)
								}
							}
							if low >= ends[0] && high <= ends[1] {
								sum += integral(func(z float64) float64 { return f(z) * phi((z-mean)/deviation) / deviation }, low, high)
							}
						}
						return sum
					}
					seen := map[float64]bool{}
					var distinct []float64
					for _, e := range ends {
						if !math.IsInf(e, 0) && !seen[e] {
							seen[e], distinct = true, append(distinct, e)
						}
					}
					ends = distinct
					check := func(what string, got float64, f func(z float64) float64) {
						t.Helper()
						if w := want(f); math.Abs(math.Exp(got)-w) > 1e-9*max(w, 1e-6) {
							t.Errorf("goal %s, %s of %v ± %v beyond %v: %v, want %v", text, what, mean, deviation, best, math.Exp(got), w)
						}
					}
					check("probability", g.probability(mean, deviation, best), func(z float64) float64 {
						if g.hit(z, best) {
							return 1
						}
						return 0
					})
					if g.Kind != Range {
						check("improvement", g.improvement(mean, deviation, best), func(z float64) float64 { return max(0, g.utility(z)-best) })
					}
				}
			}
		}
	}
}

// A value that is known improves by what it is better.
func TestNoDeviation(t *testing.T) {
	for _, c := range []struct {
		goal       string
		mean, best float64
		ei, p      float64
	}{
		{"max", 3, 1, 2, 1}, {"max", 1, 1, 0, 0}, {"max", 0, 1, 0, 0}, {"min", -3, 1, 2, 1}, {"min", 3, 1, 0, 0},
		{"2", 2.5, -1, 0.5, 1}, {"2", 3.5, -1, 0, 0}, {"1:3", 3, 0, 0, 1}, {"1:3", 3.1, 0, 0, 0},
	} {
		g := mustGoal(t, c.goal)
		if g.Kind != Range {
			if got := math.Exp(g.improvement(c.mean, 0, c.best)); math.Abs(got-c.ei) > 1e-15 {
				t.Errorf("%+v: improvement %v", c, got)
			}
			// It is the limit of small deviations.
			if got := math.Exp(g.improvement(c.mean, 1e-9, c.best)); math.Abs(got-c.ei) > 1e-9 {
				t.Errorf("%+v: improvement %v with a small deviation", c, got)
			}
		}
		if got := math.Exp(g.probability(c.mean, 0, c.best)); got != c.p {
			t.Errorf("%+v: probability %v", c, got)
		}
	}
	// Far away an improvement still has an order.
	far, near := Goal{}.improvement(-400, 1, 0), Goal{}.improvement(-399, 1, 0)
	if !(near > far) || math.IsInf(far, -1) || math.Exp(near) != 0 {
		t.Errorf("improvements %v and %v", far, near)
	}
	if g := mustGoal(t, "2"); !(g.improvement(-100, 1, -1) > g.improvement(-101, 1, -1)) || !math.IsInf(g.improvement(2, 1, 0), -1) {
		t.Error("order of improvements far from a value, or none where it is reached")
	}
}

func TestGoals(t *testing.T) {
	for text, want := range map[string]string{
		"": "want max, min", "most": "want max, min", ":": "want max, min", "3:1": "begins below its end", "1:1": "begins below its end",
		"NaN": "want max, min", "1:inf": "want max, min", "1:2:3": "want max, min",
	} {
		if _, err := ParseGoal(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	learn := mustGoal(t, "learn")
	if a, err := Acquisition("").Of(learn); err != nil || a != Variance {
		t.Errorf("default %s, error %v", a, err)
	}
	if _, err := Improvement.Of(mustGoal(t, "1:3")); err == nil || !strings.Contains(err.Error(), "want probability, bound, thompson, mean") {
		t.Errorf("error %v", err)
	}
	if _, err := Acquisition("best").Of(Goal{}); err == nil {
		t.Error("no error for an unknown acquisition function")
	}
	if g := mustGoal(t, "1:3"); g.utility(0.5) != -0.5 || g.utility(7) != -4 || g.bound(5, 1, 1) != -1 || g.bound(5, 1, 3) != 0 {
		t.Errorf("utilities of the range %v", g)
	}
}
