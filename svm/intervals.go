package svm

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
)

// fitProcess fits Scale and Wider to examples that were left out, of which LeaveOneOut and HeldOut have
// the values. deviations and heldOut have those of these values in units of Scale, noise included. heldOut
// may be nil.
//
// The interval of 90 % then has the value of 90 % of the examples (conformal prediction: the
// ⌈0.9(n+1)⌉-th smallest ratio of residual and deviation decides). Those that are alone in their group
// do not count for Scale, where leastCounted are left: the intervals of such examples are Wider. Where that
// makes Scale 0, it stays as it is.
func (l *Learner) fitProcess(values, deviations, heldOut []float64, alone []bool, r replicates) {
	p := l.Process
	if p.Replicates = r.freedom; r.freedom > 0 {
		p.ReplicateNoise = math.Sqrt(r.squares / float64(r.freedom))
	}
	if s := ratio(values, l.LeaveOneOut, deviations, alone); s > 0 {
		p.Scale = s
	}
	p.LeaveOneOut = p.scaled(deviations)
	if heldOut == nil {
		return
	}
	p.HeldOut = p.scaled(heldOut)
	if w := ratio(values, l.HeldOut, p.HeldOut, nil); !math.IsInf(w, 1) {
		p.Wider = max(1, w)
	}
	for i := range p.HeldOut {
		if p.HeldOut[i] *= p.Wider; alone != nil && alone[i] {
			p.LeaveOneOut[i] *= p.Wider
		}
	}
}

// scaled turns deviations in units of Scale into those of values.
func (p *Process) scaled(deviations []float64) []float64 {
	out, noise := make([]float64, len(deviations)), p.Noise()
	for i, d := range deviations {
		out[i] = math.Hypot(p.Scale*math.Sqrt(max(0, d*d-p.Ridge)), noise)
	}
	return out
}

// leastCounted is the number of examples whose coverage of 90 % has a standard error of 3 %.
const leastCounted = 100

// ratio returns by what deviations must be multiplied so that intervals of 90 % have 90 % of the values,
// without those of examples to leave out if enough remain.
func ratio(values []float64, predicted *kernel.Matrix, deviations []float64, without []bool) float64 {
	const level = 0.9
	var ratios, rest []float64
	for i, z := range values {
		x := 0.0
		if r := math.Abs(z - predicted.Data[i]); r > 0 {
			x = r / deviations[i]
		}
		if without != nil && without[i] {
			rest = append(rest, x)
		} else {
			ratios = append(ratios, x)
		}
	}
	if len(ratios) < leastCounted {
		ratios = append(ratios, rest...)
	}
	slices.Sort(ratios)
	n := len(ratios)
	return ratios[min(n, int(math.Ceil(level*float64(n+1))))-1] / metrics.HalfWidth(level)
}

// equal is the relative difference up to which two kernel values count as one. Those of equal graphs
// differ by the rounding of a sum of kernels, in tiles by that of single precision.
const equal = 1e-6

// replicates adds up what the values of equal examples differ by.
type replicates struct {
	squares float64 // of the differences from the mean of a set
	freedom int     // values, less one for every set of equal examples
}

// add adds the values of the examples that equal one and come before it or are it, for its row of the
// Gram matrix. diagonal has k(x, x) of all examples. Each set is added once, by its last example.
func (r *replicates) add(i int, row, diagonal, values []float64) {
	same := func(j int) bool {
		return row[j] >= (1-equal)*row[i] && math.Abs(diagonal[j]-row[i]) <= equal*row[i]
	}
	sum, n := 0.0, 0
	for j := range row {
		if same(j) {
			if j > i {
				return
			}
			sum += values[j]
			n++
		}
	}
	if n < 2 {
		return
	}
	r.freedom += n - 1
	for j := range i + 1 {
		if same(j) {
			d := values[j] - sum/float64(n)
			r.squares += d * d
		}
	}
}

// findReplicates looks for equal examples in a Gram matrix.
func findReplicates(gram View, values []float64) replicates {
	var r replicates
	n := len(values)
	diagonal, buf := make([]float64, n), make([]float64, n)
	for i := range n {
		diagonal[i] = gram.At(i, i)
	}
	for i := range n {
		r.add(i, gram.row(i, buf), diagonal, values)
	}
	return r
}
