package worker

import (
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// trainArgs are the arguments of train. Classes are the names of the classes and Labels the
// class of each graph as its place among them, for a classifier; Values, for a regressor.
type trainArgs struct {
	kernelArgs
	Classes []string          `json:"classes"`
	Labels  []int             `json:"labels"`
	Values  []float64         `json:"values"`
	Targets []string          `json:"targets"`
	SVM     svm.Options       `json:"svm"` // by the names of its fields
	Created map[string]string `json:"created"`
}

// learnerInfo describes the learner of a model.
type learnerInfo struct {
	Task        string   `json:"task"`
	Classes     []string `json:"classes"` // nil for a regressor
	Probability bool     `json:"probability"`
	IDs         []string `json:"ids"`
	Support     []int    `json:"support"`
	Limited     bool     `json:"limited"` // the solver stopped at its limit of steps
}

// train fits a kernel and a learner to graphs and keeps them as a model.
func (c *call) train(args trainArgs) (any, error) {
	f, res, err := c.fitKernel(args.kernelArgs)
	if err != nil {
		return nil, err
	}
	m, what := f.model, res.Compared
	gram, err := m.Kernel.Gram(c.ctx)
	if err != nil {
		return nil, err
	}
	m.Targets, m.Nearest, m.Created, m.Classes = args.Targets, model.Percentiles(gram), args.Created, args.Classes
	targets := svm.Targets{Values: args.Values}
	if args.Classes != nil {
		targets.Labels = args.Labels
	}
	m.Learner, err = svm.Train(c.ctx, svm.Full(gram), targets, args.SVM)
	limited := errors.Is(err, svm.ErrIterations)
	if err != nil && !limited {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	kept := c.describe(f)
	kept.Limited, kept.notes, kept.Compared = limited, res.notes, what
	return kept, nil
}

// describe keeps a model and describes it.
func (c *call) describe(f *fitted) *info {
	m := f.model
	out := &info{Handle: c.keep(f), Kernel: m.Kernel.Sum.String(), Compared: m.Compared()}
	out.learnerInfo = &learnerInfo{Task: "search", IDs: m.IDs}
	l := m.Learner
	if l == nil {
		return out
	}
	out.Task, out.Classes, out.Probability = "regression", m.Classes, l.Sigmoids != nil
	if m.Classes != nil {
		out.Task = "classification"
	}
	out.Support = []int{}
	for _, f := range l.Functions {
		for k := range f.Coefficients {
			if f.Support != nil {
				k = f.Support[k]
			}
			out.Support = append(out.Support, k)
		}
	}
	slices.Sort(out.Support)
	out.Support = slices.Compact(out.Support)
	return out
}

// predict returns what a model says about new graphs: classes as places among the names of
// the classes, decision values and probabilities by class; or values.
func (c *call) predict() (any, error) {
	m := c.fitted.model
	graphs, _, err := c.graphs()
	if err != nil {
		return nil, err
	}
	found, err := m.Predict(c.ctx, graphs, 0)
	if err != nil {
		return nil, err
	}
	var classes []int64
	var values, decision, probability []float64
	for _, p := range found {
		values = append(values, p.Value)
		classes = append(classes, int64(slices.Index(m.Classes, p.Class)))
		decision = append(decision, p.Decision...)
		probability = append(probability, p.Probability...)
	}
	if m.Classes == nil {
		c.put("value", values, len(found))
		return nil, nil
	}
	c.put("class", classes, len(found))
	c.put("decision", decision, len(found), len(m.Classes))
	if m.Learner.Sigmoids != nil {
		c.put("probability", probability, len(found), len(m.Classes))
	}
	return nil, nil
}

type nearestArgs struct {
	K int `json:"k"`
}

// nearest returns the most similar training graphs with their similarities.
func (c *call) nearest(args nearestArgs) (any, error) {
	graphs, _, err := c.graphs()
	if err != nil {
		return nil, err
	}
	found, err := c.fitted.model.Search(c.ctx, graphs, args.K)
	if err != nil {
		return nil, err
	}
	var index []int64
	var similarity []float64
	for _, row := range found {
		for _, n := range row {
			index, similarity = append(index, int64(n.Index)), append(similarity, n.Similarity)
		}
	}
	k := min(args.K, c.fitted.model.Examples())
	c.put("index", index, len(found), k)
	c.put("similarity", similarity, len(found), k)
	return nil, nil
}
