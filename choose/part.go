package choose

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// Predict trains on a part with each value of the grid and predicts the fold outside it. It tells whether
// the solver stopped at its limit of iterations. A grid of a single value gives probabilities, where the
// options ask for them.
func (c *Chooser) Predict(ctx context.Context, k Gram, p *TrainingPart) (predictions []HeldPredictions, limited bool, err error) {
	m, err := k.From(ctx, p.all())
	if err != nil {
		return nil, false, err
	}
	return c.predict(ctx, m, p, c.Options.Grid())
}

// PredictBest trains on a part as Choose does with all graphs, and predicts the fold outside it. The value of
// the grid is that at best or, where that was found on a sample, the one that is best on all graphs of the part, whose
// position it returns.
func (c *Chooser) PredictBest(ctx context.Context, k Gram, p *TrainingPart, best int) (HeldPredictions, int, bool, error) {
	m, err := k.From(ctx, p.all())
	if err != nil {
		return HeldPredictions{}, 0, false, err
	}
	if c.Options.Learner == learn.KernelRidge && !m.indefinite && !c.Targets.oneClass(p.graphs) {
		out, best, err := c.finishPart(ctx, m, p, best)
		if err != nil {
			err = fmt.Errorf("repeat %d, fold %d left out: %w", p.Repeat, p.Fold, err)
		}
		return out, best, false, err
	}
	out, limited, err := c.predict(ctx, m, p, c.Options.Grid()[best:best+1])
	if err != nil {
		return HeldPredictions{}, 0, false, err
	}
	return out[0], best, limited, nil
}

// all returns all graphs of the part.
func (p *TrainingPart) all() trainingSet { return trainingSet{p.Repeat, p.Fold, p.Fold, p.graphs} }

// predict trains on a part with each value of a grid and predicts the fold outside it.
func (c *Chooser) predict(ctx context.Context, m *Matrix, p *TrainingPart, grid []float64) (predictions []HeldPredictions, limited bool, err error) {
	gram, cross, err := m.On(ctx, p.all())
	if err != nil {
		return nil, false, err
	}
	opt, test := c.Options.learner(), c.Splits.Test(p.Repeat, p.Fold)
	opt.Probability, opt.Seed = c.Options.Probability && len(grid) == 1, c.Options.Seed
	rows, err := cross(test)
	if err != nil {
		return nil, false, err
	}
	self, err := m.Self(ctx, test)
	if err != nil {
		return nil, false, err
	}
	out, err := c.Targets.learn(ctx, opt, gram, p.graphs, grid, []learn.View{rows}, [][]float64{self},
		[][]bool{c.Targets.Groups.apart(test, p.graphs)})
	if err != nil {
		return nil, false, fmt.Errorf("repeat %d, fold %d left out: %w", p.Repeat, p.Fold, err)
	}
	return out[0], out[0][0].limited, nil
}

// finishPart makes a plan of a matrix for the graphs of a part, finishes it, and predicts the fold outside.
func (c *Chooser) finishPart(ctx context.Context, m *Matrix, p *TrainingPart, best int) (HeldPredictions, int, error) {
	some, present := c.Targets.Of(p.graphs).compact()
	x := &choice{Chooser: Chooser{Options: c.Options, Targets: some}, part: true}
	x.everything = &TrainingPart{graphs: kernel.UpTo(len(p.graphs)), sample: make([]int, len(p.sample))}
	for k, i := range p.sample {
		x.everything.sample[k], _ = slices.BinarySearch(p.graphs, i)
	}
	x.all = m.In.Derived(nil, m.at(p.graphs), false)
	x.graphs.In = x.all
	plan := x.newPlan()
	plan.Parameter = c.Options.Ridge[best]
	plan.Settings = []WeightedSetting{{Setting: Setting{Kernel: m.sum.Sum}, Weight: 1}}
	if err := x.finish(ctx, plan); err != nil {
		return HeldPredictions{}, 0, err
	}
	l := plan.learner
	for k, class := range l.Classes {
		l.Classes[k] = present[class]
	}
	test := c.Splits.Test(p.Repeat, p.Fold)
	train, err := m.features(ctx, p.graphs)
	if err != nil {
		return HeldPredictions{}, 0, err
	}
	rows, err := m.features(ctx, test)
	if err != nil {
		return HeldPredictions{}, 0, err
	}
	cross, err := kernel.Between(ctx, m.sum, rows, train)
	if err != nil {
		return HeldPredictions{}, 0, err
	}
	values, err := l.Values(learn.Full(cross))
	if err != nil {
		return HeldPredictions{}, 0, err
	}
	out := c.Targets.read(l, values)
	if l.Process != nil {
		self, err := m.Self(ctx, test)
		if err != nil {
			return HeldPredictions{}, 0, err
		}
		apart := c.Targets.Groups.apart(test, p.graphs)
		d, err := l.Deviations(ctx, learn.Full(cross), self, apart, func(ctx context.Context, at []int) (*kernel.Matrix, error) {
			near := train.Select(at)
			return kernel.Between(ctx, m.sum, near, near)
		})
		if err != nil {
			return HeldPredictions{}, 0, err
		}
		out.Deviations = d.Measured
	}
	return out, slices.Index(c.Options.Ridge, plan.Parameter), nil
}

// compact returns the targets with the classes that some graph has, and their positions in Classes.
func (t *Targets) compact() (*Targets, []int) {
	if t.Regression() {
		return t, nil
	}
	present := slices.Clone(t.Labels)
	slices.Sort(present)
	present = slices.Compact(present)
	out := *t
	out.Classes, out.Labels = Pick(t.Classes, present), make([]int, len(t.Labels))
	for i, l := range t.Labels {
		out.Labels[i], _ = slices.BinarySearch(present, l)
	}
	return &out, present
}
