package svm

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	// Unit is u = (K + λI)⁻¹1, a number for each coefficient of the function.
	Unit []float64
	// LeaveOneOut are the deviations of Learner.LeaveOneOut.
	LeaveOneOut []float64 `json:"-"`
}

// ErrNoProcess is the error of learners that cannot tell deviations.
var ErrNoProcess = errors.New("svm: no deviations: the learner is not a Gaussian process")

// Noise returns the standard deviation of e.
func (p *Process) Noise() float64 { return p.Scale * math.Sqrt(p.Ridge) }

// validate returns an error if a number is impossible for a function with so many coefficients.
func (p *Process) validate(coefficients int) error {
	for _, v := range []float64{p.Ridge, p.Scale} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("svm: Gaussian process with ridge %v and scale %v, want finite numbers of at least 0", p.Ridge, p.Scale)
		}
	}
	if len(p.Unit) != coefficients {
		return fmt.Errorf("svm: Gaussian process with %d numbers for %d coefficients", len(p.Unit), coefficients)
	}
	if err := finite(p.Unit); err != nil {
		return fmt.Errorf("svm: Gaussian process: %w", err)
	}
	if sum := total(p.Unit); !(sum > 0) {
		return fmt.Errorf("svm: Gaussian process whose numbers add up to %v, want more than 0", sum)
	}
	return nil
}

// addProcess adds the Process of a regression on values, with u and g of its ridge.
func (l *Learner) addProcess(ridge float64, u, g []float64) {
	p := &Process{Ridge: ridge, Unit: u, LeaveOneOut: make([]float64, len(g))}
	for i, b := range l.Functions[0].Coefficients {
		p.Scale = math.Hypot(p.Scale, b/math.Sqrt(g[i]))
	}
	p.Scale /= math.Sqrt(float64(len(g)))
	for i := range g {
		p.LeaveOneOut[i] = p.Scale / math.Sqrt(g[i])
	}
	l.Process = p
}

// nearest is the number of training examples that the deviation of a new example looks at. They are
// those with the largest kernel values. On molecules a deviation is then 4 to 13 % too large on average
// (bench/runs/2026-11-18-engine).
const nearest = 64

// Deviations returns the standard deviation of a measured value, noise included, for each new
// example. An example is a row of cross, as in Values, and self has its k(x, x). among returns the Gram
// matrix of some training examples; it is called concurrently. With the kernel values k of all
// training examples, those of the nearest ones k', and the Gram matrix K' of these, the deviation is
//
//	Scale·√(k(x,x) − k'ᵀ(K' + Ridge·I)⁻¹k' + (1 − uᵀk)²/Σu + Ridge).
//
// With all examples in place of the nearest it is that of the process. More examples never make it
// larger, so it is never too small. The first terms are at least 0 for a positive semi-definite
// kernel. Where they are not, they count as 0, and the deviation is that of the noise.
func (l *Learner) Deviations(ctx context.Context, cross View, self []float64,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) ([]float64, error) {
	if l.Process == nil {
		return nil, ErrNoProcess
	}
	rows, columns := cross.Dims()
	if columns != l.Examples || len(self) != rows {
		return nil, fmt.Errorf("svm: %d×%d kernel values and %d of examples with themselves, but %d training examples",
			rows, columns, len(self), l.Examples)
	}
	out := make([]float64, rows)
	inner := kernel.WithWorkers(ctx, 1)
	some := among
	if support := l.Functions[0].Support; support != nil {
		cross, columns = cross.Select(nil, support), len(support)
		some = func(ctx context.Context, at []int) (*kernel.Matrix, error) {
			return among(ctx, compose(support, at, len(support), "example"))
		}
	}
	return out, kernel.Each(ctx, rows, 1, func(_, r int) error {
		v, err := l.Process.variance(inner, cross.row(r, make([]float64, columns)), self[r], -1, some)
		if err != nil {
			return err
		}
		if out[r] = l.Process.Scale * math.Sqrt(v+l.Process.Ridge); notFinite(out[r]) {
			return fmt.Errorf("svm: deviation of example %d is %v: its kernel values are not finite", r, out[r])
		}
		return nil
	})
}

// variance returns that of b + f for an example, in units of Scale², from its kernel values with the
// examples of Unit. It does not look at one of these, which may be the example itself; −1 for none.
func (p *Process) variance(ctx context.Context, row []float64, self float64, without int,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (float64, error) {
	bias := 1 - dense.Dot(p.Unit, row)
	if without >= 0 {
		bias += p.Unit[without] * row[without]
	}
	bias *= bias / total(p.Unit)
	var k []float64
	var at []int
	for _, h := range kernel.Largest(row, nearest+1) {
		if h.Index == without || len(k) == nearest {
			continue
		}
		k, at = append(k, h.Similarity), append(at, h.Index)
	}
	m, err := among(ctx, at)
	if err != nil {
		return 0, err
	}
	n := len(k)
	for i := range n {
		m.Data[i*n+i] += p.Ridge
	}
	if _, ok := dense.Cholesky(m.Data, n); !ok {
		return 0, tooSmall(p.Ridge)
	}
	dense.ForwardSolve(m.Data, n, k, 1)
	return max(0, self-dense.Dot(k, k)+bias), nil
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
