package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// ErrDefinite is the error (by errors.Is) of a ridge that is too small for a Gram matrix that is
// not positive semi-definite. Clip makes it so.
var ErrDefinite = errors.New("not positive definite: want a larger ridge")

func tooSmall(lambda float64) error {
	return fmt.Errorf("learn: Gram matrix with ridge %v is %w", lambda, ErrDefinite)
}

// trainRidges adds a kernel ridge regression on the values, or for each class, to the learner of
// each ridge λ in a path:
//
//	minimise   Σ_k w_k (z_k − f(x_k))² + λ βᵀKβ,   f(x) = Σ_k β_k k(x, x_k) + b,
//
// whose solution is (K + λW⁻¹) β = z − b·1, with the bias b for which Σβ = 0 and the weights w on the
// diagonal of W. Learners whose ridge is too small become nil. One ridge, and each one where there
// are weights or folds, goes by a Cholesky factorisation; several go by one decomposition, after which
// each costs O(n²).
func trainRidges(ctx context.Context, gram View, t Targets, targets [][]float64, lambdas []float64, opt Options,
	path []*Learner) error {
	shift := func(lambda float64) (inverse, error) {
		f, err := factorize(ctx, gram, lambda, t.Weights)
		return f, err
	}
	if len(lambdas) > 1 && t.Weights == nil && opt.Folds == nil {
		d, err := decompose(ctx, gram)
		if err != nil {
			return err
		}
		shift = d.shift
	}
	var small error
	for i, lambda := range lambdas {
		f, err := shift(lambda)
		if errors.Is(err, ErrDefinite) {
			path[i], small = nil, err
			continue
		} else if err != nil {
			return err
		}
		probability := opt.Probability && t.Labels != nil
		u, g, err := path[i].addRidges(f, targets, opt.LeaveOneOut || probability)
		if err != nil {
			return err
		}
		var bias []float64
		if opt.LeaveOneOut && opt.Folds != nil {
			if path[i].HeldOut, bias, err = path[i].holdOut(ctx, f, u, targets, opt.Folds); err != nil {
				return err
			}
		}
		if len(g) > 0 && t.Labels == nil {
			path[i].addProcess(lambda, u, g, t)
			if path[i].Process.heldBias = bias; opt.Intervals {
				if err := path[i].FitIntervals(ctx, gram, t.Values, opt); err != nil {
					return err
				}
			}
		}
		if probability {
			path[i].calibrate(path[i].LeaveOneOut, t)
		}
		if !opt.LeaveOneOut {
			path[i].LeaveOneOut = nil
		}
	}
	return small
}

// FitIntervals does what Options.Intervals asks for, to a process that was trained without. It fits the
// deviations that Deviations would tell of examples that are left out. It takes the matrix, the values and the
// other options of the training, and may come after Rescale, with the values in their units.
func (l *Learner) FitIntervals(ctx context.Context, gram View, values []float64, opt Options) error {
	p := l.Process
	if len(values) == 1 { // it is the only one that could be left out
		return nil
	}
	bias := func(of []float64) func(int, []float64) float64 {
		return func(i int, _ []float64) float64 { return of[i] }
	}
	left := &Left{Ridge: p.Ridge, Folds: kernel.UpTo(len(values)), Values: l.LeaveOneOut, weights: p.Weights}
	err := left.addDeviations(ctx, gram, values, bias(p.leftBias))
	if err != nil {
		return err
	}
	var grouped []float64
	if l.HeldOut != nil {
		groups := &Left{Ridge: p.Ridge, Folds: opt.Folds, Values: l.HeldOut, weights: p.Weights}
		if err := groups.addDeviations(ctx, gram, values, bias(p.heldBias)); err != nil {
			return err
		}
		grouped = groups.deviations.out
	}
	equal, err := findReplicates(ctx, gram, values, p.Weights)
	l.fitProcess(values, left.deviations, grouped, opt.Alone, equal)
	return err
}

// inverse is (K + λW⁻¹)⁻¹.
type inverse struct {
	solve func(v []float64) []float64
	// diagonal comes after solve: it may use up what that needs.
	diagonal func() ([]float64, error)
	// block returns rows and columns, after diagonal; nil for a decomposition.
	block func(at []int) []float64
}

// addRidges adds the regressions on some target vectors. Their leave-one-out predictions are in
// closed form,
//
//	z_i − β_i / g_i,   g_i = ((K+λW⁻¹)⁻¹)_ii − u_i²/Σu,   u = (K+λW⁻¹)⁻¹1.
//
// They are NaN for a single example. It returns u and, if they are asked for, g.
func (l *Learner) addRidges(f inverse, targets [][]float64, leaveOneOut bool) (u, g []float64, err error) {
	u = f.solve(ones(l.Examples))
	sum := total(u)
	for _, z := range targets {
		beta := f.solve(z)
		bias := total(beta) / sum
		dense.Axpy(beta, -bias, u)
		l.Functions = append(l.Functions, Function{Coefficients: beta, Bias: bias})
	}
	if !leaveOneOut {
		return u, nil, nil
	}
	if g, err = f.diagonal(); err != nil {
		return nil, nil, err
	}
	for k, v := range u {
		g[k] -= v * v / sum
		if len(u) == 1 {
			g[k] = math.NaN()
		}
	}
	l.LeaveOneOut = kernel.NewMatrix(l.Examples, len(targets))
	for t, z := range targets {
		for k, b := range l.Functions[t].Coefficients {
			l.LeaveOneOut.Set(k, t, z[k]-b/g[k])
		}
	}
	return u, g, nil
}

// factorize inverts K + λW⁻¹ for one ridge, by a Cholesky factorisation. It takes a sixth of the time
// of a decomposition, and a third with the diagonal of the inverse (bench/runs/2026-11-15-svm). It
// uses the goroutines of the context.
func factorize(ctx context.Context, gram View, lambda float64, weight Weights) (inverse, error) {
	m, err := copied(ctx, gram)
	if err != nil {
		return inverse{}, err
	}
	n := m.Rows
	for i := range n {
		m.Data[i*n+i] += lambda / weight.Of(i)
	}
	workers := work.Workers(ctx)
	if _, ok := dense.CholeskyParallel(ctx, m.Data, n, workers); !ok {
		return inverse{}, cmp.Or(ctx.Err(), tooSmall(lambda))
	}
	solve := func(v []float64) []float64 {
		x := slices.Clone(v)
		dense.SolveCholesky(m.Data, n, x)
		return x
	}
	diagonal := func() ([]float64, error) { return dense.InverseDiagonal(ctx, m.Data, n, workers) }
	return inverse{solve, diagonal, func(at []int) []float64 { return inverseBlock(m.Data, n, at) }}, nil
}
