package metrics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Levels are those of the intervals whose coverage Calibration tells.
var Levels = [...]float64{0.5, 0.9, 0.95}

// Calibration says how far the deviations s of predicted values ẑ of targets z can be trusted.
type Calibration struct {
	// NLPD is the negative log predictive density, the mean of
	//
	//	½ log(2πs²) + (z−ẑ)²/(2s²),
	//
	// the smaller the better; nil where it is infinite, because some deviation is 0.
	NLPD *float64 `json:"nlpd,omitempty"`
	// Coverage has for each of Levels the share of targets in the interval ẑ ± HalfWidth(level)·s.
	Coverage [len(Levels)]float64 `json:"coverage"`
}

// HalfWidth returns half the width of the interval in which a standard normal number is with a probability.
func HalfWidth(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }

// LogDensity returns the logarithm of the density of N(mean, deviation²) at z. For a deviation of 0 it is
// infinite.
func LogDensity(z, mean, deviation float64) float64 {
	switch {
	case deviation == 0 && z == mean:
		return math.Inf(1)
	case deviation == 0:
		return math.Inf(-1)
	}
	d := (z - mean) / deviation
	return -math.Log(deviation) - (math.Log(2*math.Pi)+d*d)/2
}

// calibrate compares predictions and their deviations with the targets.
func calibrate(truth, predicted, deviations []float64) *Calibration {
	c := &Calibration{}
	n := float64(len(truth))
	nlpd := 0.0
	for i, z := range truth {
		nlpd -= LogDensity(z, predicted[i], deviations[i]) / n
	}
	if !math.IsInf(nlpd, 0) && !math.IsNaN(nlpd) {
		c.NLPD = &nlpd
	}
	for l, level := range Levels {
		c.Coverage[l] = Covered(truth, predicted, deviations, level)
	}
	return c
}

// Covered returns the share of targets in the interval of a level.
func Covered(truth, predicted, deviations []float64, level float64) float64 {
	width, inside := HalfWidth(level), 0
	for i, z := range truth {
		if math.Abs(z-predicted[i]) <= width*deviations[i] {
			inside++
		}
	}
	return share(inside, len(truth))
}

// LeastDeviation returns the bound above which the standard deviation of normal numbers is with a
// probability of 95 %, where one was estimated with so many degrees of freedom; 0 without any.
func LeastDeviation(estimated float64, freedom int) float64 {
	if freedom == 0 {
		return 0
	}
	return estimated * math.Sqrt(float64(freedom)/distuv.ChiSquared{K: float64(freedom)}.Quantile(0.95))
}
