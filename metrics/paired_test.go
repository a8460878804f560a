package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// For means the interval is about that of the normal distribution, 1.96 standard errors to either side. It counts what examples
// have in common: equal losses have no difference.
func TestComparePaired(t *testing.T) {
	const n = 2000
	random := rand.New(rand.NewPCG(3, 0))
	var a, b, off []float64
	for range n {
		x, d := 5*random.NormFloat64(), random.NormFloat64()
		a, b, off = append(a, x), append(b, x+0.1+d), append(off, 0.1+d)
	}
	same := func(mean float64) float64 { return mean }
	p := ComparePaired(a, b, same, 0.95)
	near(t, "difference", p.Difference, Mean(off), 1e-12)
	se := Deviation(off) / math.Sqrt(n)
	near(t, "low", p.Interval.Low, Mean(off)-1.96*se, 0.25*se)
	near(t, "high", p.Interval.High, Mean(off)+1.96*se, 0.25*se)
	if q := ComparePaired(a, b, same, 0.95); q != p {
		t.Errorf("then %+v, want %+v", q, p)
	}
	if q := ComparePaired(a, a, same, 0.95); q.Difference != 0 || q.Interval.Low != 0 || q.Interval.High != 0 {
		t.Errorf("of equal losses %+v", q)
	}
	// The score is that of the mean: of squared errors 9 and 16, 3.5 would be the mean of roots.
	if q := ComparePaired([]float64{9, 16}, []float64{0, 0}, math.Sqrt, 0.9); q.First != math.Sqrt(12.5) || q.Second != 0 || q.Difference != -math.Sqrt(12.5) || q.Interval != (Interval{0.9, -4, -3}) {
		t.Errorf("roots %+v", q)
	}
}
