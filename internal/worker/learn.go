package worker

import (
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// trainArgs are the arguments of train. Classes are the names of the classes and Labels the
// class of each graph as its place among them, for a classifier; Values, for a regressor.
type trainArgs struct {
	kernelArgs
	Classes []string    `json:"classes"`
	Labels  []int       `json:"labels"`
	Values  []float64   `json:"values"`
	Weights []float64   `json:"weights"` // by graph, of C, or of graphs with classes in Process; none for 1
	Targets []string    `json:"targets"`
	SVM     svm.Options `json:"svm"` // by the names of its fields
	// Process asks for kernel ridge regression instead: a Gaussian process of Values, or of each class, with probabilities.
	// Ridge are the ridges to choose from, as the command does; none means its own.
	Process bool              `json:"process"`
	Ridge   []float64         `json:"ridge"`
	Created map[string]string `json:"created"`
}

// learnerInfo describes the learner of a model.
type learnerInfo struct {
	Task        string            `json:"task"`
	Classes     []string          `json:"classes"` // nil for a regressor
	Probability bool              `json:"probability"`
	Noise       *float64          `json:"noise"` // of a Gaussian process
	IDs         []string          `json:"ids"`
	Support     []int             `json:"support"`
	Limited     bool              `json:"limited"` // the solver stopped at its limit of steps
	Created     map[string]string `json:"created"`
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
	m.Targets, m.Nearest, m.Created, m.Classes = args.Targets, model.Percentiles(model.Nearest(gram)), args.Created, args.Classes
	targets := svm.Targets{Values: args.Values, Weights: args.Weights}
	if args.Classes != nil {
		targets.Labels = args.Labels
	}
	limited := false
	if args.Process {
		m.Learner, err = c.process(m, gram, args)
	} else {
		m.Learner, err = svm.Train(c.ctx, svm.Full(gram), targets, args.SVM)
		limited = errors.Is(err, svm.ErrIterations)
	}
	if err != nil && !limited {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	kept := c.describe(f)
	kept.Limited, kept.Compared = limited, what
	return kept, nil
}

// process learns values or classes as the command does.
func (c *call) process(m *model.Model, gram *kernel.Matrix, args trainArgs) (*svm.Learner, error) {
	o := choose.DefaultOptions()
	if o.Task = choose.Regression; args.Classes == nil {
		o.ForValues()
	} else {
		o.Task = choose.Classification
		o.ForCandidates()
	}
	if len(args.Ridge) > 0 {
		o.Ridge = args.Ridge
	}
	ridge := o.Ridge[0]
	if len(o.Ridge) > 1 {
		ds := &dataset.Dataset{}
		for i, g := range m.Graphs {
			ds.Graphs = append(ds.Graphs, g.With(m.IDs[i], args.Targets[i]))
		}
		given := choose.Setting{Kernel: kernel.Given{Kernel: m.Kernel.Sum, Matrix: gram}}
		plan, err := choose.Choose(c.ctx, ds, []choose.Candidate{{Name: "given", Settings: []choose.Setting{given}}}, o)
		if err != nil {
			return nil, err
		}
		ridge = plan.Parameter
	}
	opt := svm.DefaultOptions()
	opt.Kind, opt.LeaveOneOut, opt.Intervals, opt.Probability = svm.KernelRidge, args.Classes == nil, true, args.Classes != nil
	if args.Classes != nil {
		opt.Ridge = ridge
		l, err := svm.Train(c.ctx, svm.Full(gram), svm.Targets{Labels: args.Labels, Weights: args.Weights}, opt)
		if err != nil {
			return nil, err
		}
		l.Forget()
		return l, nil
	}
	path, err := (&choose.Targets{Values: args.Values}).Train(c.ctx, svm.Full(gram), []float64{ridge}, opt)
	if err != nil {
		return nil, err
	}
	path[0].Forget()
	return path[0], nil
}

// describe keeps a model and describes it.
func (c *call) describe(f *fitted) *info {
	m := f.model
	out := &info{Handle: c.keep(f), Kernel: m.Kernel.Sum.String(), Compared: m.Compared()}
	if m := multiscale(f.model); m != nil {
		k := m.Kernel()
		k.Bonds = len(f.model.Kernel.Factors) > 1
		out.Record, _ = kernel.Marshal(k) // which has no field that cannot be written
	}
	out.learnerInfo = &learnerInfo{Task: "search", IDs: m.IDs, Created: m.Created}
	l := m.Learner
	if l == nil {
		return out
	}
	out.Task, out.Classes, out.Probability = "regression", m.Classes, l.Slope > 0
	if m.Classes != nil {
		out.Task = "classification"
	}
	if l.Process != nil {
		noise := l.Process.Noise()
		out.Noise = &noise
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

type predictArgs struct {
	Deviation bool `json:"deviation"`
}

// deviations puts those of the values of graphs into the answer.
func (c *call) deviations(graphs []*graph.Graph, cross *kernel.Matrix) (err error) {
	d, err := c.fitted.model.Deviations(c.ctx, graphs, cross)
	if err == nil {
		c.put("deviation", d, len(d))
	}
	return err
}

// predict returns the predictions of a model for new graphs: classes as positions in the list of
// classes, with decision values and probabilities for each class; or values, with their deviations
// on request.
func (c *call) predict(args predictArgs) (any, error) {
	m := c.fitted.model
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	cross, err := m.Kernel.Cross(c.ctx, graphs)
	if err != nil {
		return nil, err
	}
	found, err := m.PredictCross(cross, 0)
	if err != nil {
		return nil, err
	}
	if args.Deviation {
		if err := c.deviations(graphs, cross); err != nil {
			return nil, err
		}
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
	if m.Learner.Slope > 0 {
		c.put("probability", probability, len(found), len(m.Classes))
	}
	return nil, nil
}

type nearestArgs struct {
	K int `json:"k"`
}

// nearest returns the most similar training graphs with their similarities.
func (c *call) nearest(args nearestArgs) (any, error) {
	graphs, err := c.graphs()
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
