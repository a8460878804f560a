package mlg

import (
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
)

// How precise the exact kernel is. A stage computes kernel values from those of the level below:
// levels 1 … L, then the whole graphs.
//
// Eq. (3) multiplies the relative error of the values that it starts from by up to growth =
// amplification/(γη): D has eigenvalues from η up, and an error of K enters it divided by γ. It
// adds an error of its own, ε times the spread of A. The spread is the diagonal of A over the sums
// of its rows, whose digits are lost beside large edge weights. Quotients with a spread above
// maxSpread are taken in the congruent form, which has no such error and takes three times as long.
//
// Eq. (2) with singular values has no such error where the features are exact, as those of a base
// kernel are. It is slower. It replaces eq. (3) at the first stage where that would lose too much.
//
// The constants are about what was measured against 400-bit arithmetic (TestPrecision, where no
// error exceeds the estimate fourfold).
const (
	amplification = 1.2
	maxSpread     = 1e3
	// The first stage is computed by eq. (2) from this estimate on. It is also where γη, or γη over
	// the largest value of the base kernel, is below these bounds.
	fastError   = 3e-5
	minGammaEta = 1e-6
	minByBase   = 1e-8
	// An estimate above this is refused: fewer than two digits would be right.
	maxError = 1e-2
)

// growth is that of errors in a stage.
func (k *Kernel) growth() float64 { return amplification / (k.Gamma * k.Eta) }

// maxSpread is the largest spread of a quotient that is not wide.
func (k *Kernel) maxSpread() float64 { return max(maxSpread, k.growth()) }

// wide reports whether a quotient with the matrix A has too large a spread.
func (k *Kernel) wide(q *graph.Quotient, a []float64) bool {
	most := k.maxSpread() * k.Eta
	for i, n := range q.Size {
		if !(a[i*len(q.Size)+i] <= most*float64(n)) {
			return true
		}
	}
	return false
}

// extent is what the precision of the kernel depends on, of a collection of graphs.
type extent struct {
	vertices float64 // the most that a graph has
	spread   float64 // the largest of a vertex
	value    float64 // the largest of the base kernel, at least 1
	explicit bool    // the base kernel has features
}

// extent returns that of graphs; self are the values of the base kernel.
func (k *Kernel) extent(graphs []*graph.Graph, self []float64, explicit bool) extent {
	x := extent{value: 1, explicit: explicit}
	for _, v := range self {
		x.value = max(x.value, v)
	}
	for _, g := range graphs {
		x.vertices = max(x.vertices, float64(g.N()))
		for v := range g.N() {
			sum := float64(g.Degree(v))
			if weights := g.Weights(v); weights != nil {
				sum = 0
				for _, w := range weights {
					sum += w
				}
			}
			x.spread = max(x.spread, 1+sum/k.Eta)
		}
	}
	return x
}

// precision decides how the first stage is computed, and estimates the relative error of the result.
func (k *Kernel) precision(x extent) (robust bool, estimate float64, err error) {
	if k.PairRank > 0 {
		return true, math.NaN(), nil
	}
	levels, growth, spread := len(k.Radii), k.growth(), min(x.spread, k.maxSpread())
	// Entries of D grow with the size of a cell, which can be large in whole graphs.
	whole := growth * x.vertices / 2
	after := func(first float64) float64 {
		for range levels {
			first = growth*first + spread
		}
		if levels > 0 {
			first += whole
		}
		return epsilon * first
	}
	byEq3 := growth*x.value + spread
	if levels == 0 {
		byEq3 += whole * x.value
	}
	if estimate = after(byEq3); estimate <= fastError && k.Gamma*k.Eta >= max(minGammaEta, minByBase*x.value) {
		return false, estimate, nil
	}
	// Singular values have an error of up to ε times the largest.
	byEq2 := 10 + math.Sqrt(x.value*min(1/(k.Gamma*k.Eta), 2*x.spread))/10
	if !x.explicit {
		byEq2 = growth * x.value
	}
	if estimate = after(byEq2); estimate <= maxError {
		return true, estimate, nil
	}
	return true, estimate, fmt.Errorf("gamma·eta = %.3g is too small for %d levels and base kernel values up to %.3g: rounding errors grow by a factor of up to %.1g at every level, and the result could have a relative error of %.1g; raise gamma or eta, use fewer levels, or use the low-rank kernel",
		k.Gamma*k.Eta, levels, x.value, growth, estimate)
}
