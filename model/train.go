package model

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/svm"
)

// TrainOptions say what a trained model holds besides what its plan says. The zero value is
// a model without probabilities.
type TrainOptions struct {
	// Probability gives a classifier class probabilities, by further trainings whose folds
	// are drawn from Seed.
	Probability bool
	Seed        uint64
	// Reader and Created go into the model; Created gets the learner's parameter and the way
	// of combination as well.
	Reader  *dataset.Options
	Created map[string]string
}

// Train trains the learner of a plan on all graphs of the dataset for which it was made. What was
// fitted to choose is not fitted again. The model keeps the graphs. Equal arguments give equal
// models.
func Train(ctx context.Context, d *dataset.Dataset, p *choose.Plan, o TrainOptions) (*Model, error) {
	if p.Indefinite {
		return nil, errors.New("a model cannot hold a kernel that is not positive semi-definite: its matrices are changed on every training part")
	}
	m := &Model{IDs: d.IDs(), Targets: d.Targets(), Reader: o.Reader, Created: map[string]string{}, Classes: p.Classes}
	for k, v := range o.Created {
		m.Created[k] = v
	}
	for i, g := range d.Graphs {
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
	}
	fitted, err := p.Collection.Fit(ctx, p.Kernel())
	if err != nil {
		return nil, err
	}
	if m.Kernel, err = fitted.Alone(); err != nil { // without what was fitted and not chosen
		return nil, err
	}
	gram := p.Gram
	if gram == nil {
		if gram, err = p.Collection.Gram(ctx, p.Kernel()); err != nil {
			return nil, err
		}
	}
	m.Nearest = Percentiles(gram)
	limited, err := m.learn(ctx, svm.Full(gram), p, o)
	if err != nil {
		return nil, err
	}
	m.Created[choose.ParameterName(p.Learner)] = strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	m.Created["combination"] = p.Combination.String()
	if limited {
		m.Created["limited"] = "the solver stopped at its limit of iterations"
	}
	m.Estimates = []choose.Estimate{p.Estimate}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// learn trains the learner of a plan on the model's Gram matrix.
func (m *Model) learn(ctx context.Context, gram svm.View, p *choose.Plan, o TrainOptions) (limited bool, err error) {
	opt := svm.DefaultOptions()
	opt.C, opt.Ridge, opt.Epsilon, opt.Probability, opt.Seed = p.Parameter, p.Parameter, p.Epsilon, o.Probability, o.Seed
	opt.Kind = p.Learner
	targets := svm.Targets{Labels: p.Labels}
	var mean, scale float64
	if p.Classes == nil { // in units of the standard deviation, as the plan's parameters were chosen
		targets.Values, mean, scale = svm.StandardScores(p.Values)
	}
	m.Learner, err = svm.Train(ctx, gram, targets, opt)
	if limited = errors.Is(err, svm.ErrIterations); err != nil && !limited {
		return false, err
	}
	if p.Classes == nil {
		m.Learner.Rescale(mean, scale)
	}
	return limited, nil
}
