package svm

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
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

// Left is what was predicted for examples from the other folds.
type Left struct {
	Folds  []int          // by example
	Alone  []bool         // as in Options: no other of the group is in another fold; nil for none
	Values *kernel.Matrix // as HeldOut returned them for Columns, with the ridge of Learn
}

// Learn trains a learner on all examples with one ridge, as Train does with Options.Intervals. What was
// predicted from other folds takes the place of leave-one-out: probabilities of classes, and the scale of
// the process of values, come from it. groups, if not nil, has the same for the folds of Options.Folds.
// Deviations of examples that were left out know only the nearest of the other folds (see
// Learner.Deviations).
func (s *RidgeSolver) Learn(ctx context.Context, t Targets, lambda float64, left Left, groups *Left, probability bool) (*Learner, Convergence, error) {
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
	l, err := t.learner(n, trained[0][0].functions, left, groups, probability)
	if err != nil || l.Classes != nil {
		return l, c, err
	}
	l.Process = &Process{Ridge: lambda, Scale: 1, Wider: 1, Unit: trained[0][0].unit}
	return l, c, s.deviations(ctx, l, t.Values, left, groups)
}

// learner returns that of the regressions on Columns, with what was predicted of examples that are left out.
func (t Targets) learner(n int, functions []Function, left Left, groups *Left, probability bool) (*Learner, error) {
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

// leftDeviations fits the process of a learner, for the variances of examples that are left out.
type leftDeviations struct {
	folds    [][]int // ways to deal the examples
	alone    []bool
	out      [][]float64
	equal    []replicates
	negative []bool
}

func newLeftDeviations(n int, left Left, groups *Left) *leftDeviations {
	d := &leftDeviations{folds: [][]int{left.Folds}, alone: left.Alone, equal: make([]replicates, n), negative: make([]bool, n)}
	if groups != nil {
		d.folds = append(d.folds, groups.Folds)
	}
	for range d.folds {
		d.out = append(d.out, make([]float64, n))
	}
	return d
}

// add adds an example, whose kernel values with the examples at some positions are in row. It may be called
// concurrently for different examples.
func (d *leftDeviations) add(ctx context.Context, p *Process, i int, row []float64, self float64, at func(k int) int,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) error {
	for k, fold := range d.folds {
		v, err := p.variance(ctx, row, self, func(j int) bool { return fold[at(j)] == fold[i] }, among)
		if err != nil {
			return err
		}
		d.negative[i] = d.negative[i] || k == 0 && v < -rounding*p.Ridge
		d.out[k][i] = math.Sqrt(max(0, v) + p.Ridge)
	}
	return nil
}

// fit fits the process, after all examples were added.
func (d *leftDeviations) fit(l *Learner, values []float64) {
	var all replicates
	for i, r := range d.equal {
		all.squares += r.squares
		all.freedom += r.freedom
		if d.negative[i] {
			l.Process.Clipped++
		}
	}
	l.fitProcess(values, d.out[0], append(d.out, nil)[1], d.alone, all)
}

// deviations fits the process of a learner to what is left out.
func (s *RidgeSolver) deviations(ctx context.Context, l *Learner, values []float64, left Left, groups *Left) error {
	n := s.tiles.rows
	among := func(_ context.Context, at []int) (*kernel.Matrix, error) {
		m := kernel.NewMatrix(len(at), len(at))
		for a, i := range at {
			for b, j := range at {
				m.Set(a, b, s.tiles.At(i, j))
			}
		}
		return m, nil
	}
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = s.tiles.At(i, i)
	}
	d := newLeftDeviations(n, left, groups)
	meter := kernel.NewMeter(ctx, "deviations", n)
	err := kernel.Each(ctx, n, 16, func(_, i int) error {
		defer meter.Add(1)
		row := make([]float64, n)
		for j := range row {
			row[j] = s.tiles.At(i, j)
		}
		d.equal[i].add(i, row, diagonal, values)
		return d.add(ctx, l.Process, i, row, row[i], func(k int) int { return k }, among)
	})
	if err == nil {
		d.fit(l, values)
	}
	return err
}
