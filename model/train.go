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

// TrainOptions are the contents of a trained model that are not in its plan.
type TrainOptions struct {
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
		return nil, errors.New("a model cannot keep a kernel that is not positive semi-definite")
	}
	m := &Model{IDs: d.IDs(), Targets: d.Targets(), Reader: o.Reader, Created: map[string]string{}, Classes: p.Classes,
		scaffolds: &knownScaffolds{}}
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
	if gram == nil && p.Nearest == nil {
		if gram, err = p.Collection.Gram(ctx, p.Kernel()); err != nil {
			return nil, err
		}
	}
	var view svm.View
	nearest := p.Nearest
	if gram != nil {
		view, nearest = svm.Full(gram), Nearest(gram)
	}
	m.Nearest = Percentiles(nearest)
	var limited bool
	if m.Learner, limited, err = p.Learn(ctx, view); err != nil {
		return nil, err
	}
	m.Created[choose.ParameterName(p.Learner)] = strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	m.Created["combination"] = p.Combination.String()
	if limited {
		m.Created["limited"] = "the solver stopped at its limit of iterations"
	}
	m.Estimates = p.Estimates()
	m.Learner.Forget()
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}
