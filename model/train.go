package model

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
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
	Reader, Created map[string]string
	// Progress, when set, is called as kernels are fitted.
	Progress func(done, total int)
}

// Train fits the kernels of a plan to all graphs of the dataset for which it was made, and
// trains the learner. The model keeps the graphs. Equal arguments give equal models.
func Train(ctx context.Context, d *dataset.Dataset, p *evaluate.Plan, o TrainOptions) (*Model, error) {
	m := &Model{IDs: d.IDs(), Targets: d.Targets(), Reader: o.Reader, Created: map[string]string{}}
	for k, v := range o.Created {
		m.Created[k] = v
	}
	plain := make([]*graph.Graph, len(d.Graphs)) // kernels never see targets
	for i, g := range d.Graphs {
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
		plain[i] = g.With(g.ID(), "")
	}
	if err := m.fit(ctx, plain, p, o.Progress); err != nil {
		return nil, err
	}
	gram, err := m.Gram(ctx)
	if err != nil {
		return nil, err
	}
	m.Nearest = Percentiles(gram)
	limited, err := m.learn(ctx, svm.Full(gram), p, o)
	if err != nil {
		return nil, err
	}
	name := "C"
	if p.Learner == evaluate.Ridge {
		name = "ridge"
	}
	m.Created[name] = strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	m.Created["combination"] = p.Combination.String()
	if limited {
		m.Created["limited"] = "the solver stopped at its limit of iterations"
	}
	e := p.Estimate
	m.Estimates = []Estimate{{Measure: e.Measure, Value: e.Value, Deviation: e.Deviation, Method: e.Method}}
	return m, m.Validate()
}

// fit fits the kernels of a plan.
func (m *Model) fit(ctx context.Context, graphs []*graph.Graph, p *evaluate.Plan, progress func(done, total int)) error {
	t := trainer{graphs: graphs, shared: map[sharedKey]Factor{}, forms: map[Factor][]*graph.Graph{}}
	for i, s := range p.Settings {
		terms, err := evaluate.Terms(s.Kernel)
		if err != nil {
			return fmt.Errorf("%s: a model cannot hold it: %w", s.Candidate, err)
		}
		for _, x := range terms {
			k := Kernel{Weight: s.Weight * x.Weight}
			for _, part := range x.Factors {
				f, err := t.factor(ctx, part)
				if err != nil {
					return err
				}
				k.Factors = append(k.Factors, f)
			}
			m.Kernels = append(m.Kernels, k)
		}
		if progress != nil {
			progress(i+1, len(p.Settings))
		}
	}
	return nil
}

// trainer fits factors to training graphs, those that are shared once.
type trainer struct {
	graphs   []*graph.Graph
	shared   map[sharedKey]Factor
	standard *evaluate.Standardization
	forms    map[Factor][]*graph.Graph // by what is done to graphs
}

// sharedKey is a shared kernel with what is done to its graphs.
type sharedKey struct {
	kernel                   any
	standardized, subdivided bool
}

func (t *trainer) factor(ctx context.Context, x evaluate.FactorKernel) (Factor, error) {
	key := sharedKey{x.Shared, x.Standardized, x.Subdivided}
	if f, ok := t.shared[key]; ok && x.Shared != nil {
		return f, nil
	}
	f := Factor{Subdivided: x.Subdivided}
	if x.Standardized {
		if t.standard == nil {
			var err error
			if t.standard, err = evaluate.Standardize(t.graphs); err != nil {
				return f, err
			}
		}
		f.Standard = t.standard
	}
	graphs, ok := t.forms[f]
	if !ok {
		var err error
		if graphs, err = f.prepare(t.graphs); err != nil {
			return f, err
		}
		t.forms[f] = graphs
	}
	b, notBaseline := NewBaseline(x.Kernel)
	if f.Baseline = b; b == nil {
		fitted, err := x.Kernel.Fit(ctx, graphs)
		if err != nil {
			return f, fmt.Errorf("%s: %w", x.Kernel, err)
		}
		var ok bool
		if f.Fitted, ok = fitted.(*mlg.Model); !ok {
			return f, notBaseline
		}
	}
	t.shared[key] = f
	return f, nil
}

// learn trains the learner of a plan on the model's Gram matrix.
func (m *Model) learn(ctx context.Context, gram svm.View, p *evaluate.Plan, o TrainOptions) (limited bool, err error) {
	opt := svm.DefaultOptions()
	opt.C, opt.Epsilon, opt.Probability, opt.Seed = p.Parameter, p.Epsilon, o.Probability, o.Seed
	done := func(err error) (bool, error) {
		if errors.Is(err, svm.ErrIterations) {
			return true, nil
		}
		return false, err
	}
	if p.Classes != nil {
		if p.Learner == evaluate.Ridge {
			r, err := svm.TrainRidgeClassifier(ctx, gram, p.Labels, p.Parameter, o.Probability)
			if err != nil {
				return false, err
			}
			m.Learner = &Learner{Classifier: r.Classifier(p.Labels, o.Probability), Classes: p.Classes}
			return false, nil
		}
		c, err := svm.TrainClassifier(ctx, gram, p.Labels, opt)
		m.Learner = &Learner{Classifier: c, Classes: p.Classes}
		return done(err)
	}
	// In units of the standard deviation, as the plan's parameters were chosen; the
	// coefficients are then brought back.
	z, mean, scale := evaluate.StandardScores(p.Values)
	if p.Learner == evaluate.Ridge {
		r, err := svm.TrainRidge(ctx, gram, z, p.Parameter, true)
		if err != nil {
			return false, err
		}
		r.Bias = rescale(r.Coefficients, r.Bias, mean, scale)
		for i, v := range r.LeaveOneOut {
			r.LeaveOneOut[i] = mean + scale*v
		}
		m.Learner = &Learner{Ridge: r}
		return false, nil
	}
	r, err := svm.TrainRegressor(ctx, gram, z, opt)
	if limited, err = done(err); err != nil {
		return false, err
	}
	r.Bias = rescale(r.Coefficients, r.Bias, mean, scale)
	m.Learner = &Learner{Regressor: r}
	return limited, nil
}

// rescale turns f into mean + scale·f and returns the new bias.
func rescale(coefficients []float64, bias, mean, scale float64) float64 {
	for i := range coefficients {
		coefficients[i] *= scale
	}
	return mean + scale*bias
}
