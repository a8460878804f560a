package svm

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
)

// Columns returns the target vectors of regressions: the values, or +1 for the members of a class and
// −1 for the others. For two classes it is one vector, that of the first.
func (t Targets) Columns() ([][]float64, error) {
	_, members, err := t.classes()
	if err != nil {
		return nil, err
	}
	columns := t.columns(members)
	if len(columns) == 2 {
		columns = columns[:1]
	}
	return columns, nil
}

// Scores returns what HeldOut predicts for Columns, with a column for each class.
func (t Targets) Scores(held *kernel.Matrix) *kernel.Matrix {
	if t.Labels == nil || held.Cols > 1 {
		return held
	}
	out := kernel.NewMatrix(held.Rows, 2)
	for i, v := range held.Data {
		out.Row(i)[0], out.Row(i)[1] = v, -v
	}
	return out
}

// Learn trains a learner on all examples with one ridge. held has what HeldOut predicts with this ridge
// for Columns. Probabilities of classes, and the scale of the process of values, come from it: with the
// deviations d_i of examples that know only the nearest others (see Learner.Deviations), in units of
// Scale,
//
//	Scale² = mean (z_i − held_i)²/d_i²,
//
// or more, if fewer than 90 % of the examples would lie in their intervals of 90 %.
func (s *RidgeSolver) Learn(ctx context.Context, t Targets, lambda float64, held *kernel.Matrix, probability bool) (*Learner, Convergence, error) {
	columns, err := t.Columns()
	if err != nil {
		return nil, Convergence{}, err
	}
	n := s.tiles.rows
	all := spaced(n, n)
	trained, c, err := s.train(ctx, columns, [][]int{all}, [][]int{{0}}, []float64{lambda}, t.Weights)
	if err != nil {
		return nil, c, err
	}
	l, err := t.learner(n, trained[0][0].functions, held, probability)
	if err != nil || l.Classes != nil {
		return l, c, err
	}
	l.Process = &Process{Ridge: lambda, Scale: 1, Unit: trained[0][0].unit}
	if l.Process.LeaveOneOut, err = s.deviations(ctx, l); err != nil {
		return nil, c, err
	}
	l.Process.fitScale(t.Values, held.Data)
	return l, c, nil
}

// learner returns that of the regressions on Columns, for which held has what they predict of examples
// that are held out.
func (t Targets) learner(n int, functions []Function, held *kernel.Matrix, probability bool) (*Learner, error) {
	classes, _, err := t.classes()
	if err != nil {
		return nil, err
	}
	if len(classes) == 2 {
		other := functions[0]
		other.Bias, other.Coefficients = -other.Bias, slices.Clone(other.Coefficients)
		for i := range other.Coefficients {
			other.Coefficients[i] *= -1
		}
		functions = append(functions, other)
	}
	l := &Learner{Kind: KernelRidge, Classes: classes, Examples: n, Functions: functions, LeaveOneOut: t.Scores(held)}
	if classes != nil && probability {
		l.calibrate(l.LeaveOneOut, t)
	}
	return l, nil
}

// deviations returns, for every example, the deviation that Learner.Deviations would have without it.
func (s *RidgeSolver) deviations(ctx context.Context, l *Learner) ([]float64, error) {
	n := s.tiles.rows
	out := make([]float64, n)
	among := func(_ context.Context, at []int) (*kernel.Matrix, error) {
		m := kernel.NewMatrix(len(at), len(at))
		for a, i := range at {
			for b, j := range at {
				m.Set(a, b, s.tiles.At(i, j))
			}
		}
		return m, nil
	}
	meter := kernel.NewMeter(ctx, "deviations", n)
	return out, kernel.Each(ctx, n, 16, func(_, i int) error {
		defer meter.Add(1)
		row := make([]float64, n)
		for j := range row {
			row[j] = s.tiles.At(i, j)
		}
		v, err := l.Process.variance(ctx, row, row[i], i, among)
		out[i] = math.Sqrt(v + l.Process.Ridge)
		return err
	})
}

// fitScale sets the scale for what was predicted of examples that were held out, whose deviations
// LeaveOneOut has in units of the scale.
func (p *Process) fitScale(truth, held []float64) {
	const level = 0.9
	scores := make([]float64, len(truth)) // |z − held|/d
	sum := 0.0
	for i, z := range truth {
		scores[i] = math.Abs(z-held[i]) / p.LeaveOneOut[i]
		sum += scores[i] * scores[i]
	}
	slices.Sort(scores)
	p.Scale = max(math.Sqrt(sum/float64(len(scores))), scores[int(level*float64(len(scores)-1))]/metrics.HalfWidth(level))
	for i := range p.LeaveOneOut {
		p.LeaveOneOut[i] *= p.Scale
	}
}
