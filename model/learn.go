package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// LearnOptions say how a model is learned. Start from DefaultLearnOptions.
type LearnOptions struct {
	choose.Options
	// Reader and Created go into the model; Created gets the learner's parameter, the way of combination
	// and, if there are any, the number of centres with the memory that it depends on.
	Reader  *dataset.Options
	Created map[string]string
}

// DefaultLearnOptions returns those of choose.DefaultOptions.
func DefaultLearnOptions() LearnOptions { return LearnOptions{Options: choose.DefaultOptions()} }

// Learn chooses from candidates for a dataset, and trains the learner on all its graphs, which need
// targets. What was fitted to choose is not fitted again. The model keeps the graphs. The plan says what was
// chosen, and what is predicted for graphs that were held out. Equal arguments give equal models if they say
// how much Memory there is; where that matters, the model has it in Created.
func Learn(ctx context.Context, d *dataset.Dataset, candidates []choose.Candidate, o LearnOptions) (*Model, *choose.Plan, error) {
	p, err := choose.Choose(ctx, d, candidates, o.Options)
	if err != nil {
		return nil, nil, err
	}
	if p.Indefinite {
		return nil, nil, errors.New("a model cannot keep a kernel that is not positive semi-definite")
	}
	m := &Model{IDs: d.IDs(), Targets: d.Targets(), Reader: o.Reader, known: &knownMolecules{}}
	for i, g := range d.Graphs {
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
	}
	fitted, err := p.Collection.Fit(ctx, p.Kernel())
	if err != nil {
		return nil, nil, err
	}
	if m.Kernel, err = fitted.Alone(); err != nil { // without what was fitted and not chosen
		return nil, nil, err
	}
	gram := p.Gram
	if gram == nil && p.Nearest == nil {
		if gram, err = p.Collection.Gram(ctx, p.Kernel()); err != nil {
			return nil, nil, err
		}
	}
	var view learn.View
	nearest := p.Nearest
	if gram != nil {
		view, nearest = learn.Full(gram), Nearest(gram)
	}
	m.Nearest = Percentiles(nearest)
	if err := m.train(ctx, p, view, o); err != nil {
		return nil, nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	return m, p, nil
}

// train trains the learner of a plan on the matrix of its graphs.
func (m *Model) train(ctx context.Context, p *choose.Plan, gram learn.View, o LearnOptions) (err error) {
	m.Created, m.Classes = map[string]string{}, p.Classes
	for k, v := range o.Created {
		m.Created[k] = v
	}
	var limited bool
	if m.Learner, limited, err = p.Learn(ctx, gram); err != nil {
		return err
	}
	m.Created[choose.ParameterName(p.Learner)] = strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	m.Created["combination"] = p.Combination.String()
	if p.Centres > 0 {
		m.Created["centres"], m.Created["memory"] = strconv.Itoa(p.Centres), strconv.FormatInt(p.Memory, 10)
	}
	if limited {
		m.Created["limited"] = "the solver stopped at its limit of iterations"
	}
	if p.Regression() && p.GroupedBy() != "" {
		m.Created["groups"] = p.GroupedBy()
	}
	if m.Estimates = nil; !o.Unscored || p.Held.Labels != nil || p.Held.Values != nil {
		m.Estimates = p.Estimates()
	}
	m.Learner.Forget()
	return nil
}

// ErrNoTargets is the error of Learn where there is nothing to learn.
var ErrNoTargets = errors.New("fewer than three graphs have targets, or all targets are the same")

// Learn is the function Learn for a kernel that is fitted already. It learns from those graphs of a sample
// that have targets, and returns the model with the learner. The sample is some of the model's graphs,
// ascending, whose kernel matrix is gram. Positions in the plan are those in known.
func (m *Model) Learn(ctx context.Context, gram *kernel.Matrix, sample []int, o LearnOptions) (out *Model, p *choose.Plan, known []int, err error) {
	var rows []int
	d := &dataset.Dataset{}
	for k, i := range sample {
		if m.Targets != nil && m.Targets[i] != "" {
			rows, known = append(rows, k), append(known, i)
			d.Graphs = append(d.Graphs, m.Graphs[i].With(m.IDs[i], m.Targets[i]))
		}
	}
	if targets := d.Targets(); len(known) < 3 || slices.Min(targets) == slices.Max(targets) {
		return nil, nil, nil, ErrNoTargets
	}
	given := gram
	if len(rows) < gram.Rows {
		given = gram.Select(rows, rows)
	}
	candidates := choose.Each(kernel.Given{Kernel: m.Kernel.Asked, Matrix: given})
	if p, err = choose.Choose(ctx, d, candidates, o.Options); err != nil {
		return nil, nil, nil, err
	}
	copied := *m
	out = &copied
	out.known = &knownMolecules{}
	out.Nearest = Percentiles(Nearest(gram))
	if err := out.train(ctx, p, learn.Full(given), o); err != nil {
		return nil, nil, nil, err
	}
	out.Learner.Examples = m.Examples()
	for i := range out.Learner.Functions { // the learner has seen the known graphs alone
		f := &out.Learner.Functions[i]
		if f.Support == nil {
			f.Support = known
		} else {
			f.Support = choose.Pick(known, f.Support)
		}
	}
	return out, p, known, nil
}
