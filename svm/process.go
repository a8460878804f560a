package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Process makes kernel ridge regression a Gaussian process,
//
//	z = b + f(x) + e,   f ~ N(0, Scale²·k),   e ~ N(0, Scale²·Ridge),
//
// with a flat prior of b. The posterior mean of b + f is the regression with this ridge. Scale is that
// for which the leave-one-out predictions are most probable,
//
//	Scale² = mean β_i²/g_i,
//
// g as in addRidges. It is 0 where all of them are right.
type Process struct {
	Ridge, Scale float64
	// Basis is the number of training examples that deviations look at: all, or Options.Basis of more.
	Basis int
	// Excess is the share by which deviations are too large for that reason: the mean over training
	// examples that are not looked at, 0 where a path was trained. More examples never make a
	// deviation larger, so no deviation is too small.
	Excess float64 `json:",omitempty"`
	// LeaveOneOut are the deviations of Learner.LeaveOneOut.
	LeaveOneOut []float64 `json:"-"`
}

// MostExamples is the largest number of training examples of a learner with a Process. Deviations
// need their Gram matrix again, which then has 8 GiB.
const MostExamples = 1 << 15

// Noise returns the standard deviation of e.
func (p *Process) Noise() float64 { return p.Scale * math.Sqrt(p.Ridge) }

// validate returns an error if a number is impossible for so many examples, of which some are used
// in training.
func (p *Process) validate(examples, learned int) error {
	if examples > MostExamples {
		return fmt.Errorf("svm: Gaussian process of %d examples, want at most %d", examples, MostExamples)
	}
	for _, v := range []float64{p.Ridge, p.Scale, p.Excess} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("svm: Gaussian process with ridge %v, scale %v and excess %v, want finite numbers of at least 0",
				p.Ridge, p.Scale, p.Excess)
		}
	}
	if p.Basis < 1 || p.Basis > learned {
		return fmt.Errorf("svm: Gaussian process that looks at %d examples, want 1 to %d", p.Basis, learned)
	}
	return nil
}

// addProcess adds the Process of a regression on values, with g of its ridge.
func (l *Learner) addProcess(ridge float64, g []float64, basis int) {
	p := &Process{Ridge: ridge, Basis: min(len(g), basis), LeaveOneOut: make([]float64, len(g))}
	for i, b := range l.Functions[0].Coefficients {
		p.Scale = math.Hypot(p.Scale, b/math.Sqrt(g[i]))
	}
	p.Scale /= math.Sqrt(float64(len(g)))
	for i := range g {
		p.LeaveOneOut[i] = p.Scale / math.Sqrt(g[i])
	}
	l.Process = p
}

// Basis returns the training examples that deviations look at, increasing, at equal distances.
func (l *Learner) Basis() []int {
	out, support := spaced(len(l.Functions[0].Coefficients), l.Process.Basis), l.Functions[0].Support
	for k, i := range out {
		if support != nil {
			out[k] = support[i]
		}
	}
	return out
}

// spaced returns some of 0 … n−1.
func spaced(n, some int) []int {
	out := make([]int, some)
	for k := range out {
		out[k] = k * n / some
	}
	return out
}

// excessExamples is the largest number of examples by which Excess is measured.
const excessExamples = 512

// measureExcess sets Excess after training, where deviations do not look at all examples.
func (l *Learner) measureExcess(ctx context.Context, gram View) error {
	basis := l.Basis()
	posterior, err := l.Posterior(ctx, gram.Select(basis, basis))
	if err != nil {
		return err
	}
	var rest []int
	for i := range l.Examples {
		if _, in := slices.BinarySearch(basis, i); !in {
			rest = append(rest, i)
		}
	}
	some := spaced(len(rest), min(len(rest), excessExamples))
	self := make([]float64, len(some))
	for k, i := range some {
		some[k] = rest[i]
		self[k] = gram.At(rest[i], rest[i])
	}
	found, err := posterior.Deviations(ctx, gram.Select(some, nil), self)
	if err != nil {
		return err
	}
	sum := 0.0
	for k, i := range some {
		if all := l.Process.LeaveOneOut[i]; all > 0 {
			sum += found[k]/all - 1
		}
	}
	l.Process.Excess = max(0, sum/float64(len(some)))
	return nil
}

// Posterior tells how far values may be from what a Learner predicts. Its methods change nothing.
type Posterior struct {
	process Process
	basis   []int
	columns int // training examples
	// With K + λI = LLᵀ, panels have L⁻ᵀ, PanelWidth columns each, down to where they are 0.
	panels [][]float64
	u      []float64 // (K + λI)⁻¹1
	sum    float64   // of u
}

// ErrNoProcess is the error of learners that cannot tell deviations.
var ErrNoProcess = errors.New("svm: no deviations: the learner is not a Gaussian process")

// Posterior returns the posterior of a learner that has a Process, from the Gram matrix of the
// examples in Basis. It takes O(n³) time for n of them, and then keeps 4n² bytes.
func (l *Learner) Posterior(ctx context.Context, gram View) (*Posterior, error) {
	if l.Process == nil {
		return nil, ErrNoProcess
	}
	p := &Posterior{process: *l.Process, basis: l.Basis(), columns: l.Examples}
	n := len(p.basis)
	if err := gram.square(n); err != nil {
		return nil, err
	}
	m, f, err := factorize(ctx, gram, p.process.Ridge, Targets{})
	if err != nil {
		return nil, err
	}
	p.u = f.solve(ones(n))
	p.sum = total(p.u)
	if _, err := f.diagonal(); err != nil { // leaves L⁻¹
		return nil, err
	}
	const width = dense.PanelWidth
	for c := 0; c < n; c += width {
		rows := min(c+width, n)
		panel := make([]float64, rows*width)
		for k := c; k < rows; k++ {
			for i, v := range m.Row(k)[:k+1] {
				panel[i*width+k-c] = v
			}
		}
		p.panels = append(p.panels, panel)
	}
	return p, ctx.Err()
}

// Deviations returns the standard deviation of a measured value, noise included, for each new
// example. An example is a row of cross, as in Values, and self has its k(x, x). With k its kernel
// values with the examples in Basis, the deviation is
//
//	Scale·√(k(x,x) − |L⁻¹k|² + (1 − uᵀk)²/Σu + Ridge).
//
// The first three terms are at least 0 for a positive semi-definite kernel. Where they are not,
// they count as 0, and the deviation is that of the noise. It takes O(n²) time for an example.
func (p *Posterior) Deviations(ctx context.Context, cross View, self []float64) ([]float64, error) {
	rows, columns := cross.Dims()
	if columns != p.columns || len(self) != rows {
		return nil, fmt.Errorf("svm: %d×%d kernel values and %d of examples with themselves, but %d training examples",
			rows, columns, len(self), p.columns)
	}
	out := make([]float64, rows)
	const block = 32
	return out, kernel.Each(ctx, (rows+block-1)/block, 1, func(_, b int) error {
		first := b * block
		return p.deviations(cross, first, self[first:min(first+block, rows)], out[first:])
	})
}

// deviations computes those of some rows from the first on.
func (p *Posterior) deviations(cross View, first int, self, out []float64) error {
	const width = dense.PanelWidth
	n, rows := len(p.basis), len(self)
	k := make([]float64, rows*n)
	buf := make([]float64, p.columns)
	known := make([]float64, rows) // |L⁻¹k|²
	for r := range rows {
		gather(k[r*n:][:n], cross.row(first+r, buf), p.basis)
	}
	product := make([]float64, rows*width)
	for _, panel := range p.panels {
		dense.MultiplyPanel(product, width, k, n, panel, rows, len(panel)/width)
		for r := range known {
			v := product[r*width:][:width]
			known[r] += dense.Dot(v, v)
		}
	}
	for r, x := range self {
		bias := 1 - dense.Dot(p.u, k[r*n:][:n])
		v := max(0, x-known[r]+bias*bias/p.sum)
		if out[r] = p.process.Scale * math.Sqrt(v+p.process.Ridge); notFinite(out[r]) {
			return fmt.Errorf("svm: deviation of example %d is %v: its kernel values are not finite", first+r, out[r])
		}
	}
	return nil
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
