package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// trainArgs are the arguments of train. Classes are the names of the classes and Labels the
// class of each graph as its place among them, for a classifier; Values, for a regressor.
type trainArgs struct {
	Spec        Spec              `json:"spec"`
	Batch       batchLayout       `json:"batch"`
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
	Machines    [][2]int          `json:"machines"`
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
	args := trainArgs{Spec: DefaultSpec(), C: o.C, Epsilon: o.Epsilon, Tolerance: o.Tolerance, Iterations: o.MaxIterations}
	if err := arguments(q, &args); err != nil {
		return err
	}
	graphs, n, err := decodeGraphs(args.Batch, q.body)
	if err != nil {
		return err
	}
	f, _, err := s.fitSpec(ctx, &args.Spec, graphs)
	if err != nil {
		return err
	}
	k, ok := f.(*mlg.Model)
	if !ok {
		return fmt.Errorf("train: kernel %s, want the low-rank kernel mlg or flg", args.Spec.Kernel)
	}
	gram, err := k.Gram(ctx)
	if err != nil {
		return err
	}
	m := &model.Model{Kernels: []model.Kernel{model.NewKernel(1, k)}, Learner: &model.Learner{}, Targets: args.Targets,
		Nearest: model.Percentiles(gram), Created: args.Created}
	for i, g := range graphs {
		id := g.ID()
		if id == "" {
			id = fmt.Sprint(i)
		}
		m.IDs = append(m.IDs, id)
	}
	o.C, o.Epsilon, o.Tolerance, o.MaxIterations = args.C, args.Epsilon, args.Tolerance, args.Iterations
	o.ClassWeights, o.Probability, o.Seed = args.Weights, args.Probability, args.Seed
	if args.Classes != nil {
		m.Learner.Classes = args.Classes
		m.Learner.Classifier, err = svm.TrainClassifier(ctx, svm.Full(gram), args.Labels, o)
	} else {
		m.Learner.Regressor, err = svm.TrainRegressor(ctx, svm.Full(gram), args.Values, o)
	}
	limited := errors.Is(err, svm.ErrIterations)
	if err != nil && !limited {
		return err
	}
	if err := m.Validate(); err != nil {
		return err
	}
	info := s.describe(m)
	info.Limited, info.notes = limited, n
	a.Result = info
	return nil
}

// describe keeps a model and describes it.
func (s *server) describe(m *model.Model) *modelInfo {
	info := &modelInfo{Handle: s.keep(&fitted{model: m}), IDs: m.IDs, Targets: m.Targets, Created: m.Created, Task: "search"}
	for _, k := range m.Kernels {
		info.Kernels = append(info.Kernels, k.String())
	}
	if m.Learner == nil {
		return info
	}
	support := map[int]bool{}
	if c := m.Learner.Classifier; c != nil {
		info.Task, info.Classes = "classification", m.Learner.Classes
		for _, x := range c.Machines {
			info.Machines = append(info.Machines, [2]int{slices.Index(c.Classes, x.Positive), slices.Index(c.Classes, x.Negative)})
			info.Probability = x.Platt != nil
			for _, i := range x.Support {
				support[i] = true
			}
		}
	} else {
		info.Task = "regression"
		if r := m.Learner.Regressor; r != nil {
			for _, i := range r.Support {
				support[i] = true
			}
		}
	}
	info.Support = make([]int, 0, len(support))
	for i := range support {
		info.Support = append(info.Support, i)
	}
	slices.Sort(info.Support)
	return info
}

func (s *server) model(h int64) (*model.Model, error) {
	f, err := s.handle(h)
	if err != nil {
		return nil, err
	}
	if f.model == nil {
		return nil, errors.New("want the handle of a model")
	}
	return f.model, nil
}

// predict returns what a model says about new graphs: classes as places among the names of
// the classes, decision values by machine, probabilities by class, values, and the nearest
// training graphs with their similarities.
func (s *server) predict(ctx context.Context, q *request, a *answer) error {
	var args struct {
		handleArgs
		Nearest int `json:"nearest"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	m, err := s.model(args.Handle)
	if err != nil {
		return err
	}
	graphs, _, err := decodeGraphs(args.Batch, q.body)
	if err != nil {
		return err
	}
	cross, err := m.Cross(ctx, graphs)
	if err != nil {
		return err
	}
	if args.Nearest > 0 {
		k := min(args.Nearest, cross.Cols)
		index, similarity := make([]int64, 0, len(graphs)*k), make([]float64, 0, len(graphs)*k)
		for i := range graphs {
			for _, j := range largest(cross.Row(i), k) {
				index, similarity = append(index, int64(j)), append(similarity, cross.At(i, j))
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
	if m.Learner.Classifier == nil {
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
		classes[i] = int64(slices.Index(m.Learner.Classes, p[i].Class))
		decision = append(decision, p[i].Decision...)
		probability = append(probability, p[i].Probability...)
	}
	a.put("class", []int{len(p)}, classes)
	a.put("decision", []int{len(p), len(m.Learner.Classifier.Machines)}, decision)
	if len(p) == 0 || probability != nil {
		a.put("probability", []int{len(p), len(m.Learner.Classes)}, probability)
	}
	return nil
}

// largest returns the places of the k largest values, falling, equal ones in their order.
func largest(row []float64, k int) []int {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case row[i] > row[j]:
			return -1
		case row[i] < row[j]:
			return 1
		}
		return 0
	})
	return order[:k]
}

// modelSave returns the bytes of a model file.
func (s *server) modelSave(_ context.Context, q *request, a *answer) error {
	var args struct {
		Handle int64 `json:"handle"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	m, err := s.model(args.Handle)
	if err != nil {
		return err
	}
	return a.putModel(m)
}

// modelLoad keeps the model in the bytes of a model file.
func (s *server) modelLoad(_ context.Context, q *request, a *answer) error {
	m, err := q.model()
	if err != nil {
		return err
	}
	a.Result = s.describe(m)
	return nil
}
