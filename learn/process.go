package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// Process makes kernel ridge regression a Gaussian process,
//
//	z = b + f(x) + e,   f ~ N(0, Scale²·k),   e ~ N(0, Noise²/w),
//
// for a value of weight w, with a flat prior of b. The posterior mean of b + f is the regression with this ridge. Without
// Options.Intervals, Scale is that for which the leave-one-out predictions are most probable,
//
//	Scale² = mean β_i²/g_i,
//
// g as in addRidges, where an example of weight w counts as w. Where all of them are right, as those of constant values are, and for a single
// example nothing tells a scale; then leastScale does.
type Process struct {
	Ridge, Scale float64
	// Wider multiplies the deviations of examples that are in none of the groups of the training
	// examples, at least 1. It is 1 where examples were not held out with their groups.
	Wider float64
	// ReplicateNoise is the standard deviation of the values of equal examples, k(x,y) = k(x,x) =
	// k(y,y), around their means, and Replicates its degrees of freedom: the number of these examples
	// less that of the means.
	ReplicateNoise float64
	Replicates     int
	// Unit is u = (K + λW⁻¹)⁻¹1, a number for each coefficient of the function, and Weights are those of these
	// examples; nil for ones.
	Unit    []float64
	Weights Weights `json:",omitempty"`
	// LeaveOneOut are the deviations of Learner.LeaveOneOut, and HeldOut those of Learner.HeldOut. Wider is in
	// HeldOut, and for Options.Alone in LeaveOneOut.
	LeaveOneOut []float64 `json:"-"`
	HeldOut     []float64 `json:"-"`
	// Clipped is the number of training examples whose leave-one-out variance of b + f is negative, and
	// counts as 0. It is more than 0 only if the kernel is not positive semi-definite.
	Clipped int `json:",omitempty"`
	// Density is Left.Density of the leave-one-out predictions, with their exact deviations.
	Density float64 `json:"-"`

	leftBias, heldBias []float64 // variances by which b is not known, of LeaveOneOut and HeldOut
}

// ErrNoProcess is the error of learners that cannot tell deviations.
var ErrNoProcess = errors.New("learn: no deviations: the learner is not a Gaussian process")

// Noise returns the standard deviation of e: Scale·√Ridge, or more where the values of equal examples
// show that measurements differ by more. That is the lower bound of ReplicateNoise with a probability of
// 95 % (metrics.LeastDeviation).
func (p *Process) Noise() float64 {
	return max(p.Scale*math.Sqrt(p.Ridge), metrics.LeastDeviation(p.ReplicateNoise, p.Replicates))
}

// noiseOf returns the variance of the noise of a training example, in units of Scale².
func (p *Process) noiseOf(example int) float64 { return p.Ridge / p.Weights.Of(example) }

// validate returns an error if a number is impossible for a function with so many coefficients.
func (p *Process) validate(coefficients int) error {
	for _, v := range []float64{p.Ridge, p.Scale, p.ReplicateNoise, float64(p.Replicates), p.Wider - 1} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("learn: Gaussian process with ridge %v, scale %v, noise %v of %d replicates and factor %v, want finite numbers of at least 0, and 1 for the factor",
				p.Ridge, p.Scale, p.ReplicateNoise, p.Replicates, p.Wider)
		}
	}
	if len(p.Unit) != coefficients {
		return fmt.Errorf("learn: Gaussian process with %d numbers for %d coefficients", len(p.Unit), coefficients)
	}
	if err := finite(p.Unit); err != nil {
		return fmt.Errorf("learn: Gaussian process: %w", err)
	}
	if err := p.Weights.check(coefficients); err != nil {
		return err
	}
	if sum := total(p.Unit); !(sum > 0) {
		return fmt.Errorf("learn: Gaussian process whose numbers add up to %v, want more than 0", sum)
	}
	return nil
}

// addProcess adds the Process of a regression on values, with u and g of its ridge.
func (l *Learner) addProcess(ridge float64, u, g []float64, t Targets) {
	p, values := &Process{Ridge: ridge, Wider: 1, Unit: u, Weights: t.Weights, LeaveOneOut: make([]float64, len(g))}, t.Values
	l.Process = p
	if len(g) == 1 { // without it nothing is known
		p.Scale, p.LeaveOneOut[0], p.leftBias = leastScale(values, []float64{1 / math.Sqrt(u[0])}), math.Inf(1), []float64{math.Inf(1)}
		return
	}
	for i, b := range l.Functions[0].Coefficients {
		p.Scale = math.Hypot(p.Scale, b*math.Sqrt(p.Weights.Of(i))/math.Sqrt(g[i]))
		if 1/g[i] < (1-rounding)*p.noiseOf(i) {
			p.Clipped++
		}
	}
	p.Scale /= math.Sqrt(p.Weights.total(len(g)))
	deviations, sum := make([]float64, len(g)), total(u)
	p.leftBias = make([]float64, len(g))
	for i := range g {
		p.leftBias[i] = u[i] * u[i] / (g[i] * (sum*g[i] + u[i]*u[i]))
		deviations[i] = 1 / math.Sqrt(g[i])
	}
	if p.Scale <= exact*largest(values) {
		p.Scale = leastScale(values, deviations)
	}
	for i, d := range deviations {
		p.LeaveOneOut[i] = p.Scale * d
	}
	p.Density = density(values, l.LeaveOneOut, deviations, p.Weights)
}

// exact is the scale, as a share of the largest value, that is nothing but rounding.
const exact = 1e-12

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	return most
}

// leastScale returns the scale where all of n predictions of examples that are left out are right. Their
// deviations are in units of it. It is that with which one of them would be wrong by the size of the values,
// or by 1 where they are 0:
//
//	Scale² = unit² / Σ deviation².
func leastScale(values, deviations []float64) float64 {
	square, unit := 0.0, largest(values)
	if unit == 0 {
		unit = 1
	}
	for _, d := range deviations {
		square += float64(d * d)
	}
	return unit / math.Sqrt(square)
}

// rounding is the share of the ridge by which a variance may be too small without being counted.
const rounding = 1e-6

// neighbours is the number of training examples that the deviation of a new example looks at. They are
// those with the largest kernel values. On molecules a deviation is then 4 to 13 % too large on average
// (bench/runs/2026-11-18-engine).
const neighbours = 64

// Deviations are what a process says of new examples: Measured of values that are measured, noise included,
// and True of the true values b + f, which is what more measurements of the same example would tell.
type Deviations struct {
	Measured, True []float64
	Clipped        []bool // the variance of b + f is below 0, and counts as 0
}

// Deviations returns the standard deviation of a measured value, noise included, for each new
// example, and that of its true value. An example is a row of cross, as in Values, and self has its k(x, x). among returns the Gram
// matrix of some training examples; it is called concurrently. With the kernel values k of all
// training examples, those of the nearest ones k', and the Gram matrix K' of these, the deviation is
//
//	√(Scale²·(k(x,x) − k'ᵀ(K' + Ridge·W⁻¹)⁻¹k' + (1 − uᵀk)²/Σu) + Noise²),
//
// for examples that are in none of the groups of the training examples (apart, nil for none) times
// Wider. True has the same without Noise; what Wider adds is in it, because measuring again does not tell what
// a group has of its own. With all examples in place of the nearest it is that of the process. More examples never make it
// larger, so it is never too small. The first terms are at least 0 for a positive semi-definite
// kernel. Where they are not, they count as 0, and the deviation is that of the noise.
func (l *Learner) Deviations(ctx context.Context, cross View, self []float64, apart []bool,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (*Deviations, error) {
	if l.Process == nil {
		return nil, ErrNoProcess
	}
	rows, columns := cross.Dims()
	if columns != l.Examples || len(self) != rows {
		return nil, fmt.Errorf("learn: %d×%d kernel values and %d of examples with themselves, but %d training examples",
			rows, columns, len(self), l.Examples)
	}
	out := &Deviations{make([]float64, rows), make([]float64, rows), make([]bool, rows)}
	noise := l.Process.Noise()
	inner := work.WithWorkers(ctx, 1)
	cross, some := l.supported(cross, among)
	_, columns = cross.Dims()
	return out, work.Each(ctx, rows, 1, func(_, r int) error {
		row := cross.row(r, make([]float64, columns))
		v, err := l.Process.variance(inner, row, self[r], nil, some)
		if err != nil {
			return err
		}
		v += biasVariance(l.Process.Unit, row)
		out.Clipped[r] = v < -rounding*l.Process.Ridge
		out.True[r] = l.Process.Scale * math.Sqrt(max(0, v))
		out.Measured[r] = math.Hypot(out.True[r], noise)
		if w := l.Process.Wider; apart != nil && apart[r] {
			out.True[r] = math.Hypot(w*out.True[r], math.Sqrt((w-1)*(w+1))*noise)
			out.Measured[r] *= w
		}
		if notFinite(out.Measured[r]) {
			return fmt.Errorf("learn: deviation of example %d is %v: its kernel values are not finite", r, out.Measured[r])
		}
		return nil
	})
}

// supported returns kernel values with the examples that the process has seen, in place of all.
func (l *Learner) supported(cross View, among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (
	View, func(ctx context.Context, examples []int) (*kernel.Matrix, error)) {
	support := l.Functions[0].Support
	if support == nil {
		return cross, among
	}
	return cross.Select(nil, support), func(ctx context.Context, at []int) (*kernel.Matrix, error) {
		return among(ctx, compose(support, at, len(support), "example"))
	}
}

// biasVariance returns the variance of an example by which b is not known, (1 − uᵀk)²/Σu, from its kernel
// values with the examples of u.
func biasVariance(unit, row []float64) float64 {
	v := 1 - dense.Dot(unit, row)
	return v * (v / total(unit))
}

// variance returns that of f for an example, in units of Scale², from its kernel values with the training
// examples. It does not look at those of them that are left out, nil for none.
func (p *Process) variance(ctx context.Context, row []float64, self float64, left func(example int) bool,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (float64, error) {
	near := slices.Clone(row)
	for i := range near {
		if left != nil && left(i) {
			near[i] = math.Inf(-1)
		}
	}
	var k []float64
	var at []int
	for _, h := range nearest.Largest(near, neighbours) {
		if math.IsInf(h.Similarity, -1) {
			break
		}
		k, at = append(k, h.Similarity), append(at, h.Index)
	}
	m, err := among(ctx, at)
	if err != nil {
		return 0, err
	}
	n := len(k)
	for i := range n {
		m.Data[i*n+i] += p.noiseOf(at[i])
	}
	if _, ok := dense.Cholesky(m.Data, n); !ok {
		return 0, tooSmall(p.Ridge)
	}
	dense.ForwardSolve(m.Data, n, k, 1)
	return self - dense.Dot(k, k), nil
}

// spaced returns some of 0 … n−1, at equal distances.
func spaced(n, some int) []int {
	out := make([]int, some)
	for k := range out {
		out[k] = k * n / some
	}
	return out
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}
