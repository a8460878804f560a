package worker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// endpointArgs are what is learned. Classes are the names of the classes and Labels the class of each graph as its place
// among them, for a classifier; Values, for a regressor.
type endpointArgs struct {
	Name    string    `json:"name"`
	At      []int     `json:"at"` // the graphs that have a target, ascending; none for all
	Classes []string  `json:"classes"`
	Labels  []int     `json:"labels"`
	Values  []float64 `json:"values"`
	Weights []float64 `json:"weights"` // by graph; none for 1
	Targets []string  `json:"targets"`
}

// trainArgs are the arguments of train: one endpoint, or several.
type trainArgs struct {
	kernelArgs
	endpointArgs
	Endpoints []endpointArgs `json:"endpoints"`
	SVM       bool           `json:"svm"` // not kernel ridge regression
	// Parameter is C or the ridge, which is chosen without it. Options has further fields of choose.Options, no lists.
	Parameter *float64          `json:"parameter"`
	Options   choose.Options    `json:"options"`
	Created   map[string]string `json:"created"`
}

// learnerInfo describes the learner of a model, for each endpoint of several.
type learnerInfo struct {
	Target      string            `json:"target"`
	Task        string            `json:"task"`
	Classes     []string          `json:"classes"` // nil for a regressor
	Probability bool              `json:"probability"`
	Noise       *float64          `json:"noise"` // of a Gaussian process
	IDs         []string          `json:"ids"`
	Support     []int             `json:"support"`
	Steps       int               `json:"steps"`   // the most of the solver for a function, at least 1
	Limited     bool              `json:"limited"` // the solver stopped at its limit of steps
	Created     map[string]string `json:"created"`
}

// train fits a kernel and a learner to graphs and keeps them as a model.
func (c *call) train(args trainArgs) (any, error) {
	o := model.LearnOptions{Options: args.Options, Created: args.Created}
	o.Unscored = true
	if args.SVM {
		o.ForSVM()
	}
	if p := args.Parameter; p != nil {
		o.C, o.Ridge = []float64{*p}, []float64{*p}
	}
	o.Memory = cmp.Or(o.Memory, work.Available())
	f, res, err := c.fitKernel(args.kernelArgs, func(n int) error {
		need := o.Bytes(n, 1, work.Workers(c.ctx))
		return work.CheckMemory(fmt.Sprintf("training on %d graphs", n), float64(need), o.Memory, "take fewer graphs")
	})
	if err != nil {
		return nil, err
	}
	ds := &dataset.Dataset{}
	for i, g := range f.model.Graphs {
		ds.Graphs = append(ds.Graphs, g.With(f.model.IDs[i], ""))
	}
	if args.Endpoints == nil {
		args.Endpoints = []endpointArgs{args.endpointArgs}
	}
	var endpoints []choose.Endpoint
	for _, e := range args.Endpoints {
		x, err := e.of(ds)
		if err != nil {
			return nil, err
		}
		endpoints = append(endpoints, x)
	}
	o.Collection = f.model.Kernel.In
	if rows := dataset.RowOf(ds.Graphs); rows != nil {
		read := dataset.DefaultOptions()
		read.Rows = rows
		o.Reader = &read
	}
	m, _, err := model.LearnAll(c.ctx, ds, endpoints, choose.Each(f.model.Kernel.Asked), o)
	if err != nil {
		return nil, err
	}
	f.model = m
	kept := c.describe(f)
	kept.Compared, kept.Lambda = res.Compared, res.Lambda
	for _, e := range kept.Endpoints {
		kept.Limited = kept.Limited || e.Limited
	}
	return kept, nil
}

// of returns the endpoint of some graphs.
func (e *endpointArgs) of(d *dataset.Dataset) (choose.Endpoint, error) {
	out := choose.Endpoint{Name: e.Name, At: e.At, Data: &dataset.Dataset{}}
	out.Targets = &choose.Targets{Classes: e.Classes, Labels: e.Labels, Values: e.Values, Weights: e.Weights}
	at := e.At
	if at == nil {
		at = kernel.UpTo(len(d.Graphs))
	}
	if len(e.Targets) != len(at) {
		return out, fmt.Errorf("%d targets, want %d, one for each graph", len(e.Targets), len(at))
	}
	for k, i := range at {
		if i < 0 || i >= len(d.Graphs) || k > 0 && i <= at[k-1] {
			return out, fmt.Errorf("target %q: graph %d of %d, want their positions in ascending order", e.Name, i, len(d.Graphs))
		}
		out.Data.Graphs = append(out.Data.Graphs, d.Graphs[i].With(d.Graphs[i].ID(), e.Targets[k]))
	}
	return out, nil
}

// describe keeps a model and describes it.
func (c *call) describe(f *fitted) *info {
	m := f.model
	out := &info{Handle: c.keep(f), Kernel: m.Kernel.String(), Compared: m.Compared(), learnerInfo: describeLearner(m)}
	if all := m.Endpoints(); len(all) > 1 {
		for _, e := range all {
			out.Endpoints = append(out.Endpoints, describeLearner(e))
		}
	}
	return out
}

// describeLearner describes the learner of an endpoint.
func describeLearner(m *model.Model) *learnerInfo {
	out := &learnerInfo{Target: m.Target, Task: "search", IDs: m.IDs, Created: m.Created, Limited: m.Created["limited"] != ""}
	l := &m.Learner
	if l == nil {
		return out
	}
	out.Task, out.Classes, out.Probability = "regression", m.Classes, l.Slope > 0
	if m.Task() == model.Classification {
		out.Task = "classification"
	}
	if l.Process != nil {
		noise := l.Process.Noise()
		out.Noise = &noise
	}
	out.Support, out.Steps = []int{}, 1
	for _, f := range l.Functions {
		out.Steps = max(out.Steps, f.Iterations)
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
	Deviation  bool `json:"deviation"`
	Covariance bool `json:"covariance"` // of measured values
	// Draws asks for joint draws of values, from a seed: of measured values with Noise, else of true ones.
	Draws int    `json:"draws"`
	Seed  uint64 `json:"seed"`
	Noise bool   `json:"noise"`
}

// predict returns the predictions of a model for new graphs: classes as positions in the list of
// classes, with decision values and probabilities for each class; or values, with their deviations
// on request. Names of arrays begin with the number of the endpoint where there are several.
func (c *call) predict(args predictArgs) (any, error) {
	m := c.fitted.model
	graphs, err := c.graphs()
	if err != nil {
		return nil, err
	}
	if err := work.CheckMatrices(1, len(graphs), m.Examples(), "predict fewer graphs at a time"); err != nil {
		return nil, err
	}
	if args.Covariance || args.Draws > 0 {
		if err := c.single(); err != nil {
			return nil, err
		}
		return nil, c.joint(graphs, args)
	}
	found, err := m.PredictAll(c.ctx, graphs, model.PredictOptions{Deviations: args.Deviation})
	if err != nil {
		return nil, err
	}
	for i, e := range m.Endpoints() {
		before := ""
		if len(found) > 1 {
			before = strconv.Itoa(i) + " "
		}
		c.putPredictions(before, e, found[i])
	}
	return nil, nil
}

// putPredictions answers with the predictions of an endpoint. The names of the arrays begin with before.
func (c *call) putPredictions(before string, m *model.Model, found []model.Prediction) {
	var classes []int64
	var values, deviations, decision, probability []float64
	for _, p := range found {
		if values = append(values, p.Value); p.Deviation != nil {
			deviations = append(deviations, *p.Deviation)
		}
		classes = append(classes, int64(slices.Index(m.Classes, p.Class)))
		decision = append(decision, p.Decision...)
		probability = append(probability, p.Probability...)
	}
	if m.Task() == model.Regression {
		c.put(before+"value", values, len(found))
		if deviations != nil {
			c.put(before+"deviation", deviations, len(found))
		}
		return
	}
	c.put(before+"class", classes, len(found))
	c.put(before+"decision", decision, len(found), len(m.Classes))
	if m.Learner.Slope > 0 {
		c.put(before+"probability", probability, len(found), len(m.Classes))
	}
}

// single returns an error for a model of several targets.
func (c *call) single() error {
	if n := len(c.fitted.model.Endpoints()); n > 1 {
		return fmt.Errorf("the model has %d targets: want a model of one, which load(path, target=…) reads", n)
	}
	return nil
}

// joint answers with what a Gaussian process says of graphs together.
func (c *call) joint(graphs []*graph.Graph, args predictArgs) error {
	m, n := c.fitted.model, len(graphs)
	if err := work.CheckMatrices(3, n, max(n, m.Examples()), "predict fewer graphs at a time"); err != nil {
		return err
	}
	if err := work.CheckMatrices(2, n, args.Draws, "draw fewer samples at a time"); err != nil {
		return err
	}
	a, err := m.Kernel.Transform(c.ctx, graphs)
	if err != nil {
		return err
	}
	p, err := m.Posterior(c.ctx, graphs, a)
	if err != nil {
		return err
	}
	c.put("value", p.Mean, n)
	if args.Covariance {
		c.put("covariance", p.Measured().Data, n, n)
	}
	if args.Draws == 0 {
		return nil
	}
	if args.Noise {
		p = &learn.Posterior{Mean: p.Mean, Covariance: p.Measured()}
	}
	draws, err := p.Sample(c.ctx, args.Draws, args.Seed)
	if err != nil {
		return err
	}
	c.put("draws", draws.Data, args.Draws, n)
	return nil
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
