package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// trainArgs are the arguments of train. Classes are the names of the classes and Labels the
// class of each graph as its place among them, for a classifier; Values, for a regressor.
type trainArgs struct {
	kernelArgs
	Classes     []string          `json:"classes"`
	Labels      []int             `json:"labels"`
	Values      []float64         `json:"values"`
	Targets     []string          `json:"targets"`
	C           float64           `json:"c"`
	Epsilon     float64           `json:"epsilon"`
	Tolerance   float64           `json:"tolerance"`
	Iterations  int               `json:"iterations"`
	Weights     map[int]float64   `json:"weights"`
	Probability bool              `json:"probability"`
	Seed        uint64            `json:"svm_seed"`
	Created     map[string]string `json:"created"`
}

// modelInfo describes a model.
type modelInfo struct {
	Handle      int64             `json:"handle"`
	Classes     []string          `json:"classes"` // nil for a regressor
	Task        string            `json:"task"`
	Probability bool              `json:"probability"`
	IDs         []string          `json:"ids"`
	Targets     []string          `json:"targets"`
	Support     []int             `json:"support"`
	Kernels     []string          `json:"kernels"`
	Created     map[string]string `json:"created"`
	Limited     bool              `json:"limited"` // the solver stopped at its limit of steps
	notes
}

// train fits a kernel and a learner to graphs and keeps them as a model.
func (s *server) train(ctx context.Context, q *request, a *answer) error {
	o := svm.DefaultOptions()
	args := trainArgs{C: o.C, Epsilon: o.Epsilon, Tolerance: o.Tolerance, Iterations: o.MaxIterations}
	if err := arguments(q, &args); err != nil {
		return err
	}
	m, res, err := args.fit(ctx, q.body)
	if err != nil {
		return err
	}
	ctx = args.work(ctx)
	gram, err := m.Kernel.Gram(ctx)
	if err != nil {
		return err
	}
	m.Targets, m.Nearest, m.Created, m.Classes = args.Targets, model.Percentiles(gram), args.Created, args.Classes
	if model.LowRank(m.Kernel.Factors[0]) != nil {
		m.Graphs = nil // not needed
	}
	o.C, o.Epsilon, o.Tolerance, o.MaxIterations = args.C, args.Epsilon, args.Tolerance, args.Iterations
	o.ClassWeights, o.Probability, o.Seed = args.Weights, args.Probability, args.Seed
	targets := svm.Targets{Values: args.Values}
	if args.Classes != nil {
		targets.Labels = args.Labels
	}
	m.Learner, err = svm.Train(ctx, svm.Full(gram), targets, o)
	limited := errors.Is(err, svm.ErrIterations)
	if err != nil && !limited {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	info := s.describe(&fitted{model: m, workers: args.Workers})
	info.Limited, info.notes = limited, res.notes
	a.Result = info
	return nil
}

// describe keeps a model and describes it.
func (s *server) describe(f *fitted) *modelInfo {
	m := f.model
	info := &modelInfo{Handle: s.keep(f), IDs: m.IDs, Targets: m.Targets, Created: m.Created, Task: "search"}
	for _, t := range m.Kernel.Sum.Terms {
		info.Kernels = append(info.Kernels, kernel.Sum{Terms: []kernel.Term{{Weight: 1, Factors: t.Factors}}}.String())
	}
	if m.Learner == nil {
		return info
	}
	info.Task, info.Classes, info.Probability = "regression", m.Classes, m.Learner.Sigmoids != nil
	if m.Classes != nil {
		info.Task = "classification"
	}
	used := make([]bool, m.Examples())
	for _, f := range m.Learner.Functions {
		for k := range f.Coefficients {
			if f.Support != nil {
				k = f.Support[k]
			}
			used[k] = true
		}
	}
	info.Support = []int{}
	for i, u := range used {
		if u {
			info.Support = append(info.Support, i)
		}
	}
	return info
}

// predict returns what a model says about new graphs: classes as places among the names of
// the classes, decision values and probabilities by class, values, and the nearest
// training graphs with their similarities.
func (s *server) predict(ctx context.Context, q *request, a *answer) error {
	var args struct {
		handleArgs
		Nearest int `json:"nearest"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	f, err := s.handle(args.Handle)
	if err != nil {
		return err
	}
	m := f.model
	graphs, _, err := decodeGraphs(args.Batch, q.body)
	if err != nil {
		return err
	}
	cross, err := m.Kernel.Cross(f.work(ctx), graphs)
	if err != nil {
		return err
	}
	if args.Nearest > 0 {
		k := min(args.Nearest, cross.Cols)
		index, similarity := make([]int64, 0, len(graphs)*k), make([]float64, 0, len(graphs)*k)
		for i := range graphs {
			for _, h := range kernel.Largest(cross.Row(i), k) {
				index, similarity = append(index, int64(h.Index)), append(similarity, h.Similarity)
			}
		}
		a.put("index", []int{len(graphs), k}, index)
		a.put("similarity", []int{len(graphs), k}, similarity)
		return nil
	}
	p, err := m.PredictCross(cross, 0)
	if err != nil {
		return err
	}
	if m.Classes == nil {
		values := make([]float64, len(p))
		for i := range p {
			values[i] = p[i].Value
		}
		a.put("value", []int{len(p)}, values)
		return nil
	}
	classes := make([]int64, len(p))
	var decision, probability []float64
	for i := range p {
		classes[i] = int64(slices.Index(m.Classes, p[i].Class))
		decision = append(decision, p[i].Decision...)
		probability = append(probability, p[i].Probability...)
	}
	a.put("class", []int{len(p)}, classes)
	a.put("decision", []int{len(p), len(m.Classes)}, decision)
	if len(p) == 0 || probability != nil {
		a.put("probability", []int{len(p), len(m.Classes)}, probability)
	}
	return nil
}

// modelSave returns the bytes of a model file.
func (s *server) modelSave(_ context.Context, q *request, a *answer) error {
	f, err := s.fitted(q)
	if err != nil {
		return err
	}
	return a.putModel(f.model)
}

// modelLoad keeps the model in the bytes of a model file.
func (s *server) modelLoad(_ context.Context, q *request, a *answer) error {
	f, err := q.model()
	if err != nil {
		return err
	}
	a.Result = s.describe(f)
	return nil
}
