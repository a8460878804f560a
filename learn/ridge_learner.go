package learn

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
)

// regressions returns the target vectors of regressions: the values, or +1 for the members of a class and
// −1 for the others. For two classes it is one vector, that of the first.
func (t Targets) regressions() ([][]float64, error) {
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

// Left is what regressions with one ridge predict for examples from those of the other folds.
type Left struct {
	Ridge  float64
	Folds  []int          // by example
	Alone  []bool         // as in Options: no other of the group is in another fold; nil for none
	Values *kernel.Matrix // a column for each of Columns
	// Density is the mean log predictive density of values in units of their standard deviation, with the
	// Scale for which it is largest. Larger is better.
	Density float64

	weights    Weights
	deviations *leftDeviations // of values
}

// HeldOut returns for every ridge what the regressions on Columns, with the weights of the targets, predict
// for each example from the examples of the other folds. folds[i] is the fold of example i. Folds may be
// empty. Deviations know only the nearest of the other folds, as Learner.Deviations does.
func (s *RidgeSolver) HeldOut(ctx context.Context, t Targets, folds []int, lambdas []float64) ([]*Left, Convergence, error) {
	columns, err := t.regressions()
	if err != nil {
		return nil, Convergence{}, err
	}
	held, units, c, err := s.heldOut(ctx, columns, folds, lambdas, t.Weights)
	if err != nil {
		return nil, c, err
	}
	out := make([]*Left, len(lambdas))
	for l, lambda := range lambdas {
		out[l] = &Left{Ridge: lambda, Folds: folds, Values: held[l], weights: t.Weights}
		if t.Labels != nil {
			continue
		}
		bias := func(i int, row []float64) float64 { return biasVariance(units[l][folds[i]], row) }
		if err := out[l].addDeviations(ctx, s.tiles, t.Values, bias); err != nil {
			return nil, c, err
		}
	}
	return out, c, nil
}

// Learn trains a learner on all examples, as Train does with Options.Intervals. What HeldOut predicted with
// the same ridge takes the place of leave-one-out: probabilities of classes, and the scale of the process of
// values, come from it. groups, if not nil, has the same for the folds of Options.Folds.
func (s *RidgeSolver) Learn(ctx context.Context, t Targets, left, groups *Left, probability bool) (*Learner, Convergence, error) {
	columns, err := t.regressions()
	if err != nil {
		return nil, Convergence{}, err
	}
	n := s.tiles.rows
	trained, c, err := s.train(ctx, columns, [][]int{kernel.UpTo(n)}, [][]int{{0}}, []float64{left.Ridge}, t.Weights)
	if err != nil {
		return nil, c, err
	}
	l, err := t.learner(n, trained[0][0].functions, left, groups, probability)
	if err != nil || l.Classes != nil {
		return l, c, err
	}
	equal, err := findReplicates(ctx, s.tiles, t.Values, t.Weights)
	l.addLeft(trained[0][0].unit, t.Values, left, groups, equal)
	return l, c, err
}

// addLeft adds the process whose scale fits what was left out.
func (l *Learner) addLeft(unit, values []float64, left, groups *Left, equal replicates) {
	l.Process = &Process{Ridge: left.Ridge, Scale: leastScale(values, left.deviations.out), Wider: 1, Unit: unit, Weights: left.weights}
	var grouped []float64
	if groups != nil {
		grouped = groups.deviations.out
	}
	l.fitProcess(values, left.deviations, grouped, left.Alone, equal)
}

// learner returns that of the regressions on Columns, with what was predicted of examples that are left out.
func (t Targets) learner(n int, functions []Function, left, groups *Left, probability bool) (*Learner, error) {
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
	l := &Learner{Kind: KernelRidge, Classes: classes, Examples: n, Functions: functions, LeaveOneOut: t.Scores(left.Values)}
	if groups != nil {
		l.HeldOut = t.Scores(groups.Values)
	}
	if classes != nil && probability {
		l.calibrate(l.LeaveOneOut, t)
	}
	return l, nil
}
