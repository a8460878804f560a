package learn

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
)

// leftDeviations are the deviations of examples that are left out, noise included, in units of Scale.
type leftDeviations struct {
	out      []float64
	negative []bool // the variance without the noise is below 0, and counts as 0
}

func newLeftDeviations(n int) *leftDeviations {
	return &leftDeviations{make([]float64, n), make([]bool, n)}
}

// addDeviation adds that of a value, from the kernel values of the example with all examples, itself among
// them. bias is the variance by which b is not known. It may be called concurrently for different examples.
func (l *Left) addDeviation(ctx context.Context, i int, row []float64, self, bias float64,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) error {
	p := &Process{Ridge: l.Ridge, Weights: l.weights}
	v, err := p.variance(ctx, row, self, func(j int) bool { return l.Folds[j] == l.Folds[i] }, among)
	v += bias
	l.deviations.negative[i] = v < -rounding*l.Ridge
	l.deviations.out[i] = math.Sqrt(max(0, v) + p.noiseOf(i))
	return err
}

// addDeviations adds those of values. bias returns the variance of example i by which b is not known, from
// its row of the Gram matrix.
func (l *Left) addDeviations(ctx context.Context, gram gramRows, values []float64, bias func(i int, row []float64) float64) error {
	n := len(values)
	l.deviations = newLeftDeviations(n)
	among := func(_ context.Context, at []int) (*kernel.Matrix, error) {
		m := kernel.NewMatrix(len(at), len(at))
		for a, i := range at {
			for b, j := range at {
				m.Set(a, b, gram.At(i, j))
			}
		}
		return m, nil
	}
	meter := work.NewMeter(ctx, "deviations", n)
	inner := work.WithWorkers(ctx, 1)
	err := eachRow(ctx, gram, n, func(i int, row []float64) error {
		defer meter.Add(1)
		return l.addDeviation(inner, i, row, row[i], bias(i, row), among)
	})
	l.Density = density(values, l.Values, l.deviations.out, l.weights)
	return err
}

// density returns the mean log density of values with some predictions and deviations d_i, for the scale
// of deviations for which it is largest,
//
//	−½ log(2πσ²) − ½ − mean log d_i,   σ² = mean r_i²/d_i²,
//
// for values in units of their standard deviation, with means by weight. It is +Inf where all predictions are right.
func density(values []float64, predicted *kernel.Matrix, deviations []float64, weight Weights) float64 {
	_, _, unit := StandardScores(values, weight)
	square, logs, n := 0.0, 0.0, weight.total(len(values))
	for i, d := range deviations {
		r := (values[i] - predicted.Data[i]) / unit / d
		square += float64(weight.Of(i) * float64(r*r))
		logs += float64(weight.Of(i) * math.Log(d))
	}
	return -0.5*math.Log(2*math.Pi*square/n) - 0.5 - logs/n
}

// fitProcess fits Scale and Wider to examples that were left out, of which LeaveOneOut and HeldOut have
// the values. left and heldOut have the deviations of these values. heldOut may be nil.
//
// The interval of 90 % then has the value of 90 % of the examples (conformal prediction: the
// ⌈0.9(n+1)⌉-th smallest ratio of residual and deviation decides; an example of weight w counts as w of them). Those that are alone in their group
// do not count for Scale, where leastCounted are left: the intervals of such examples are Wider. Where that
// makes Scale 0, because nearly all of them are right, it stays as it is.
func (l *Learner) fitProcess(values []float64, left *leftDeviations, heldOut []float64, alone []bool, r replicates) {
	p := l.Process
	if p.Replicates = r.freedom; r.freedom > 0 {
		p.ReplicateNoise = math.Sqrt(r.squares / float64(r.freedom))
	}
	p.Clipped = 0
	for _, negative := range left.negative {
		if negative {
			p.Clipped++
		}
	}
	if s := ratio(values, l.LeaveOneOut, left.out, p.Weights, alone); s > exact*largest(values) {
		p.Scale = s
	}
	p.LeaveOneOut = p.scaled(left.out)
	if heldOut == nil {
		return
	}
	p.HeldOut = p.scaled(heldOut)
	if w := ratio(values, l.HeldOut, p.HeldOut, p.Weights, nil); !math.IsInf(w, 1) {
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
		out[i] = math.Hypot(p.Scale*math.Sqrt(max(0, d*d-p.noiseOf(i))), noise/math.Sqrt(p.Weights.Of(i)))
	}
	return out
}

// leastCounted is the number of examples whose coverage of 90 % has a standard error of 3 %.
const leastCounted = 100

// ratio returns by what deviations must be multiplied so that intervals of 90 % have 90 % of the values,
// without those of examples to leave out if enough remain.
func ratio(values []float64, predicted *kernel.Matrix, deviations []float64, weight Weights, without []bool) float64 {
	const level = 0.9
	type weighted struct{ ratio, weight float64 }
	var ratios, rest []weighted
	for i, z := range values {
		x := 0.0
		if r := math.Abs(z - predicted.Data[i]); r > 0 {
			x = r / deviations[i]
		}
		if without != nil && without[i] {
			rest = append(rest, weighted{x, weight.Of(i)})
		} else {
			ratios = append(ratios, weighted{x, weight.Of(i)})
		}
	}
	if len(ratios) < leastCounted {
		ratios = append(ratios, rest...)
	}
	slices.SortFunc(ratios, func(a, b weighted) int { return cmp.Compare(a.ratio, b.ratio) })
	all, covered := 0.0, 0.0
	for _, x := range ratios {
		all += x.weight
	}
	n := len(ratios)
	want := level * (all + all/float64(n))
	last := slices.IndexFunc(ratios, func(x weighted) bool {
		covered += x.weight
		return covered >= want
	})
	if last < 0 {
		last = n - 1
	}
	return ratios[last].ratio / metrics.HalfWidth(level)
}

// equal is the relative difference up to which two kernel values count as one. Those of equal graphs
// differ by the rounding of a sum of kernels, in tiles by that of single precision.
const equal = 1e-6

// replicates adds up what the values of equal examples differ by.
type replicates struct {
	squares float64 // of the differences from the mean of a set
	freedom int     // values, less one for every set of equal examples
}

// add adds the values of a set of equal examples, ascending, for its last example. So each set is added once.
func (r *replicates) add(last int, set []int, values []float64, weight Weights) {
	n := len(set)
	if n < 2 || set[n-1] != last {
		return
	}
	sum, all := 0.0, 0.0
	for _, j := range set {
		sum += float64(weight.Of(j) * values[j])
		all += weight.Of(j)
	}
	r.freedom += n - 1
	for _, j := range set {
		d := values[j] - sum/all
		r.squares += float64(weight.Of(j) * float64(d*d))
	}
}

// same reports whether two examples are equal, from k(x, x), k(x, y) and k(y, y).
func same(xx, xy, yy float64) bool { return xy >= (1-equal)*xx && math.Abs(yy-xx) <= equal*xx }

// gramRows is the Gram matrix of some examples. row may overwrite and return dst.
type gramRows interface {
	At(i, j int) float64
	row(i int, dst []float64) []float64
}

// eachRow calls do for every example of a Gram matrix with its row.
func eachRow(ctx context.Context, gram gramRows, n int, do func(i int, row []float64) error) error {
	rows := make([][]float64, work.Workers(ctx))
	return work.Each(ctx, n, 16, func(w, i int) error {
		if rows[w] == nil {
			rows[w] = make([]float64, n)
		}
		return do(i, gram.row(i, rows[w]))
	})
}

// findReplicates looks for equal examples.
func findReplicates(ctx context.Context, gram gramRows, values []float64, weight Weights) (replicates, error) {
	n := len(values)
	diagonal, found := make([]float64, n), make([]replicates, n)
	for i := range diagonal {
		diagonal[i] = gram.At(i, i)
	}
	err := eachRow(ctx, gram, n, func(i int, row []float64) error {
		var set []int
		for j, k := range row {
			if same(row[i], k, diagonal[j]) {
				set = append(set, j)
			}
		}
		found[i].add(i, set, values, weight)
		return nil
	})
	return sumOf(found), err
}

// sumOf adds up replicates.
func sumOf(found []replicates) (all replicates) {
	for _, r := range found {
		all.squares += r.squares
		all.freedom += r.freedom
	}
	return all
}
