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
	e := choose.Endpoint{Data: d}
	if o.Reader != nil {
		e.Name = o.Reader.TargetColumn
	}
	m, plans, err := LearnAll(ctx, d, []choose.Endpoint{e}, candidates, o)
	if err != nil {
		return nil, nil, err
	}
	return m, plans[0], nil
}

// LearnAll is Learn for several endpoints of the graphs of a collection, whose own targets do not count. It returns the
// first endpoint of the model, and the plans of all, whose matrices are dropped where there are several.
func LearnAll(ctx context.Context, d *dataset.Dataset, endpoints []choose.Endpoint, candidates []choose.Candidate, o LearnOptions) (*Model, []*choose.Plan, error) {
	var all []*Model
	var plans []*choose.Plan
	err := choose.ChooseAll(ctx, choose.Untargeted(d), endpoints, candidates, o.Options, func(i int, p *choose.Plan) error {
		m, err := learnEndpoint(ctx, d, endpoints[i], p, o)
		if err != nil {
			return err
		}
		if len(endpoints) > 1 {
			p.Gram = nil
		}
		all, plans = append(all, m), append(plans, p)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var kernels []kernel.Kernel
	for _, p := range plans {
		kernels = append(kernels, p.Kernel())
	}
	sums, err := plans[0].Collection.Alone(ctx, kernels...) // without what was fitted and not chosen
	if err != nil {
		return nil, nil, err
	}
	for i, m := range all {
		m.Kernel = sums[i]
	}
	m := together(all)
	if err := m.Validate(); err != nil {
		return nil, nil, fmt.Errorf("model: %w", err)
	}
	return m, plans, nil
}

// learnEndpoint makes the model of a plan, without its kernel.
func learnEndpoint(ctx context.Context, d *dataset.Dataset, e choose.Endpoint, p *choose.Plan, o LearnOptions) (*Model, error) {
	if p.Indefinite {
		return nil, errors.New("a model cannot keep a kernel that is not positive semi-definite")
	}
	m := &Model{Target: e.Name, IDs: d.IDs(), Targets: e.Data.Targets(), reader: o.Reader, known: &knownMolecules{}, scaffolds: &knownScaffolds{}}
	if e.At != nil {
		m.Targets = make([]string, len(d.Graphs))
		for k, i := range e.At {
			m.Targets[i] = e.Data.Graphs[k].Target()
		}
	}
	for i, g := range d.Graphs {
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
	}
	gram := p.Gram
	if gram == nil && p.Nearest == nil {
		var err error
		if gram, err = p.Collection.Gram(ctx, p.Kernel()); err != nil {
			return nil, err
		}
		if e.At != nil {
			gram = gram.Select(e.At, e.At)
		}
	}
	var view learn.View
	nearest := p.Nearest
	if gram != nil {
		view, nearest = learn.Full(gram), Nearest(gram)
	}
	m.Nearest = PercentilesOf(nearest)
	if err := m.train(ctx, p, view, o); err != nil {
		return nil, err
	}
	if e.At != nil {
		m.spread(e.At)
	}
	return m, nil
}

// spread makes the learner of the graphs at some positions one of all graphs.
func (m *Model) spread(at []int) {
	m.Learner.Examples = m.Examples()
	for i := range m.Learner.Functions {
		f := &m.Learner.Functions[i]
		if f.Support == nil {
			f.Support = at
		} else {
			f.Support = choose.Pick(at, f.Support)
		}
	}
}

// train trains the learner of a plan on the matrix of its graphs.
func (m *Model) train(ctx context.Context, p *choose.Plan, gram learn.View, o LearnOptions) error {
	m.Created, m.Classes = map[string]string{}, p.Classes
	for k, v := range o.Created {
		m.Created[k] = v
	}
	l, limited, err := p.Learn(ctx, gram)
	if err != nil {
		return err
	}
	m.Learner = *l
	m.Created[choose.ParameterName(p.Learner)] = strconv.FormatFloat(p.Parameter, 'g', -1, 64)
	if m.Created["combination"] = p.Combination.String(); p.Shared {
		m.Created["weights"] = "shared by several endpoints"
	}
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
// ascending, whose kernel matrix is gram. Without it, nil, the learner makes of the matrix what it needs.
// Positions in the plan, which keeps no matrices, are those in known.
func (m *Model) Learn(ctx context.Context, gram *kernel.Matrix, sample []int, o LearnOptions) (out *Model, p *choose.Plan, known []int, err error) {
	var rows []int
	d := &dataset.Dataset{}
	for k, i := range sample {
		if m.Targets[i] != "" {
			rows, known = append(rows, k), append(known, i)
			d.Graphs = append(d.Graphs, m.Graphs[i].With(m.IDs[i], m.Targets[i]))
		}
	}
	if targets := d.Targets(); len(known) < 3 || slices.Min(targets) == slices.Max(targets) {
		return nil, nil, nil, ErrNoTargets
	}
	k := m.Kernel.Asked
	if given := gram; given != nil {
		if len(rows) < gram.Rows {
			given = gram.Select(rows, rows)
		}
		k = kernel.Precomputed{Kernel: k, Matrix: given}
	} else {
		o.Collection = m.Kernel.In.Derived(nil, known, false)
	}
	if p, err = choose.Choose(ctx, d, choose.Each(k), o.Options); err != nil {
		return nil, nil, nil, err
	}
	var view learn.View
	nearest := p.Nearest
	if p.Gram != nil {
		view = learn.Full(p.Gram)
		nearest = Nearest(p.Gram)
	}
	if gram != nil { // also of graphs without targets
		nearest = Nearest(gram)
	}
	copied := *m
	out = &copied
	out.known, out.scaffolds, out.endpoints, out.measured = &knownMolecules{}, &knownScaffolds{}, nil, nil
	out.Nearest = PercentilesOf(nearest)
	if err := out.train(ctx, p, view, o); err != nil {
		return nil, nil, nil, err
	}
	out.spread(known)
	p.Gram, p.Collection = nil, nil
	return out, p, known, nil
}
