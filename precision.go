package mlg

import (
	"fmt"
	"math"
)

// minGammaEta is the least γη at which eq. (3) is used: its error is a small multiple of
// ε/(γη), so that 1e-6 leaves nine digits.
const minGammaEta = 1e-6

// How precise the exact kernel is. A stage computes kernel values from those of the level
// below: levels 1 … L, then the whole graphs. Eq. (3) lifts the relative error of the values
// that it starts from by a factor of up to amplification/(γη): D has eigenvalues from η up,
// and an error of K enters it divided by γ. The constant is about what was measured against
// 400-bit arithmetic over γ and η from 1e-8 to 1e4 (TestPrecision, where no error exceeds the
// estimate fourfold).
//
// Eq. (2) with singular values, in the basis of the eigenvectors of K, has no such error
// where K is exact, as that of a base kernel is. It is slower and stands in for eq. (3) at
// the first stage where that would lose too much.
const (
	amplification = 0.5
	// From this estimate on the first stage is computed by eq. (2).
	fastError = 1e-6
	// An estimate above this is refused: fewer than three digits would be right.
	maxError = 1e-3
)

// stageError returns the error estimate after the given number of stages by eq. (3), the
// first of which starts from values with relative error ε·first.
func stageError(k *Kernel, first float64, stages int) float64 {
	return first * epsilon * math.Pow(max(1, amplification/(k.Gamma*k.Eta)), float64(stages))
}

// precision decides how the first stage of a kernel with the given number of levels is
// computed, and estimates the relative error of the result.
func precision(k *Kernel, levels int) (robust bool, estimate float64, err error) {
	if k.PairRank > 0 {
		return true, math.NaN(), nil
	}
	if estimate = stageError(k, 1, levels+1); estimate <= fastError && k.Gamma*k.Eta >= minGammaEta {
		return false, estimate, nil
	}
	if estimate = stageError(k, 10, levels); estimate <= maxError {
		return true, estimate, nil
	}
	return true, estimate, fmt.Errorf("gamma·eta = %.3g is too small for %d levels in float64: rounding errors grow by up to %.1g at every level, and the result could be wrong by a factor of %.1g; raise gamma or eta, take fewer levels, or use the low-rank kernel",
		k.Gamma*k.Eta, levels, amplification/(k.Gamma*k.Eta), 1+estimate)
}
