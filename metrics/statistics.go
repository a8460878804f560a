package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Mean returns the mean of some numbers.
func Mean(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}

// Median returns the median of some numbers, the mean of the middle two of an even number.
func Median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Deviation returns the standard deviation with divisor n-1, and 0 for a single value.
func Deviation(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	m := Mean(x)
	s := 0.0
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(x)-1))
}

// Interval is where a value lies with a probability, its level: a score, or a measured value that was predicted.
type Interval struct {
	Level float64 `json:"level"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// correctedError returns the standard error of the mean of J scores of resampled training
// and test parts, which overlap and so are not independent,
//
//	√((1/J + ρ) s²),   ρ = |test| / |train|,
//
// s² the variance of the scores with divisor J-1 (Nadeau & Bengio, Inference for the
// generalization error, 2003).
func correctedError(scores []float64, ratio float64) float64 {
	s := Deviation(scores)
	return math.Sqrt(1/float64(len(scores))+ratio) * s
}

// ConfidenceInterval returns the interval mean ± t·se around the mean of the scores of all
// folds of all repeats, with the corrected standard error of correctedError and the quantile
// t of Student's distribution with J−1 degrees of freedom. It is nil for a single score.
func ConfidenceInterval(scores []float64, ratio, level float64) *Interval {
	if len(scores) < 2 {
		return nil
	}
	m, se := Mean(scores), correctedError(scores, ratio)
	t := student(len(scores) - 1).Quantile((1 + level) / 2)
	return &Interval{Level: level, Low: m - t*se, High: m + t*se}
}

func student(df int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}
}

// Test is the comparison of two rows of a report on the same folds.
type Test struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Difference float64 `json:"difference"` // mean score of A less that of B
	T          float64 `json:"t"`
	DF         int     `json:"degrees_of_freedom"`
	P          float64 `json:"p"` // two-sided
}

// CorrectedTest is the corrected resampled t-test of Nadeau & Bengio for the scores of two
// methods on the same J folds (all folds of all repeats): with the differences d_j,
//
//	t = mean(d) / √((1/J + ρ) s_d²),   ρ = |test| / |train|,
//
// compared with Student's distribution with J−1 degrees of freedom. Without ρ, the test
// would take the folds for independent and find differences where there are none. When all
// differences are equal, t is 0 and P is 1 if they are 0; else P is 0 and t stays 0, since it
// would be infinite.
func CorrectedTest(a, b []float64, ratio float64) Test {
	d := make([]float64, len(a))
	for j := range d {
		d[j] = a[j] - b[j]
	}
	r := Test{Difference: Mean(d), DF: len(d) - 1, P: 1}
	se := correctedError(d, ratio)
	switch {
	case len(d) < 2:
	case se > 0:
		r.T = r.Difference / se
		r.P = 2 * student(r.DF).CDF(-math.Abs(r.T))
	case r.Difference != 0:
		r.P = 0
	}
	return r
}
