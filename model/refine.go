package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// Refiner learns the coefficients of a model anew, from any number of graphs. The training graphs of the model, a sample of
// these, become centres. Its kernel stays. All that is needed of the graphs are sums, which are added up in any order.
// A graph is held out with those that are isomorphic to it: its fold is that of its hash.
type Refiner struct {
	Model       *Model
	fingerprint [32]byte
	train       kernel.Features
	targets     choose.Targets
	folds       []int // of the training graphs
}

// NewRefiner returns that of a model with a learner.
func NewRefiner(ctx context.Context, m *Model) (*Refiner, error) {
	if m.Learner == nil || m.Targets == nil {
		return nil, errors.New("the model has no learner: want one that mlg train has written")
	}
	if n := len(m.Endpoints()); n > 1 || m.measured != nil {
		return nil, fmt.Errorf("the model is one of %d targets or more: want one that was trained for a single target", max(n, 2))
	}
	if m.Learner.Kind != learn.KernelRidge {
		return nil, fmt.Errorf("the learner of the model is %v, want %v", m.Learner.Kind, learn.KernelRidge)
	}
	r := &Refiner{Model: m, targets: choose.Targets{Classes: m.Classes}}
	var err error
	if r.fingerprint, err = m.Fingerprint(); err != nil {
		return nil, err
	}
	if r.train, err = m.Kernel.Train(ctx); err != nil {
		return nil, err
	}
	for i, g := range m.Graphs {
		if err := r.add(&r.targets, m.Targets[i]); err != nil {
			return nil, fmt.Errorf("training graph %s: %w", m.IDs[i], err)
		}
		r.folds = append(r.folds, fold(g))
	}
	return r, nil
}

// fold returns that of a graph.
func fold(g *graph.Graph) int {
	h := g.Hash()
	h ^= h >> 32
	return int(h * 0x9e3779b97f4a7c15 >> 33 % choose.RefineFolds)
}

// add adds a target.
func (r *Refiner) add(t *choose.Targets, target string) error {
	if r.Model.Classes == nil {
		v, err := strconv.ParseFloat(strings.TrimSpace(target), 64)
		if err != nil || !(math.Abs(v) <= dataset.MaxTarget) {
			return fmt.Errorf("target %q, want a number of at most %g", target, dataset.MaxTarget)
		}
		t.Values = append(t.Values, v)
		return nil
	}
	label := slices.IndexFunc(r.Model.Classes, func(c string) bool { return dataset.SameClass(c, target) })
	if label < 0 {
		return fmt.Errorf("target %q is none of the classes of the model: %s; train it on a larger sample", target, strings.Join(r.Model.Classes, ", "))
	}
	t.Labels = append(t.Labels, label)
	return nil
}

// Sums are those of some graphs.
type Sums struct {
	*learn.Sums
	Told
}

// Told is what sums say of where they come from.
type Told struct {
	Model      string `json:"model"`            // fingerprint of its kernel, in hexadecimal
	Untargeted int    `json:"untargeted"`       // graphs without a target, which are left out
	Shard      int    `json:"shard,omitempty"`  // from 1
	Shards     int    `json:"shards,omitempty"` // of Records, each graph in one of them
	Records    int    `json:"records,omitempty"`
}

// Sums returns those of no graphs.
func (r *Refiner) Sums(ctx context.Context) (*Sums, error) {
	s, err := learn.SumsFor(ctx, r.Model.Kernel, r.train, r.learned(&r.targets), choose.RefineFolds)
	return &Sums{s, Told{Model: fmt.Sprintf("%x", r.fingerprint)}}, err
}

func (r *Refiner) learned(t *choose.Targets) learn.Targets {
	return learn.Targets{Labels: t.Labels, Values: t.Values}
}

// Add adds some graphs to sums. Those without a target are left out.
func (r *Refiner) Add(ctx context.Context, s *Sums, graphs []*graph.Graph) error {
	some := slices.DeleteFunc(slices.Clone(graphs), func(g *graph.Graph) bool { return g.Target() == "" })
	s.Untargeted += len(graphs) - len(some)
	if len(some) == 0 {
		return nil
	}
	t := choose.Targets{Classes: r.targets.Classes}
	for _, g := range some {
		if err := r.add(&t, g.Target()); err != nil {
			return fmt.Errorf("graph %s: %w", g.ID(), err)
		}
	}
	a, err := r.Model.Kernel.Transform(ctx, some)
	if err != nil {
		return err
	}
	return r.addFeatures(ctx, s, a, &t, Folds(some))
}

// Folds returns the fold of each graph.
func Folds(graphs []*graph.Graph) []int {
	out := make([]int, len(graphs))
	for i, g := range graphs {
		out[i] = fold(g)
	}
	return out
}

// AddFeatures is Add for graphs whose features, targets and folds are known.
func (r *Refiner) AddFeatures(ctx context.Context, s *Sums, a kernel.Features, targets []string, folds []int) error {
	t := choose.Targets{Classes: r.targets.Classes}
	var some, of []int
	for i, target := range targets {
		if target == "" {
			continue
		}
		if err := r.add(&t, target); err != nil {
			return err
		}
		some, of = append(some, i), append(of, folds[i])
	}
	if len(some) < len(targets) {
		a = a.Select(some)
	}
	if len(some) > 0 {
		if err := r.addFeatures(ctx, s, a, &t, of); err != nil {
			return err
		}
	}
	s.Untargeted += len(targets) - len(some)
	return nil
}

func (r *Refiner) addFeatures(ctx context.Context, s *Sums, a kernel.Features, t *choose.Targets, folds []int) error {
	values, err := kernel.Between(ctx, r.Model.Kernel, a, r.train)
	if err != nil {
		return err
	}
	return s.Sums.Add(ctx, values, r.learned(t), folds)
}

// Join adds sums of other graphs.
func (s *Sums) Join(o *Sums) error {
	if s.Model != o.Model {
		return errors.New("sums of another model")
	}
	if err := s.Sums.Join(o.Sums); err != nil {
		return err
	}
	s.Untargeted += o.Untargeted
	return nil
}

// Learn returns the model with what is learned from sums. The training graphs of the model must be among the graphs.
func (r *Refiner) Learn(ctx context.Context, s *Sums, o LearnOptions) (*Model, *choose.Plan, error) {
	if s.Examples() < len(r.folds) {
		return nil, nil, fmt.Errorf("sums of %d graphs, and the model was trained on %d: want all graphs, those of the model among them",
			s.Examples(), len(r.folds))
	}
	c, err := learn.CentresOf(ctx, r.Model.Kernel, r.train, r.learned(&r.targets), r.folds, s.Sums)
	if err != nil {
		return nil, nil, err
	}
	ridge, _ := strconv.ParseFloat(r.Model.Created[choose.ParameterName(learn.KernelRidge)], 64)
	p, err := choose.Refine(ctx, c, &r.targets, r.folds, s.Examples(), ridge, o.Options)
	if err != nil {
		return nil, nil, err
	}
	copied := *r.Model
	out := &copied
	out.known, out.scaffolds, out.endpoints, out.measured = &knownMolecules{}, &knownScaffolds{}, nil, nil
	o.Created = maps.Clone(r.Model.Created)
	delete(o.Created, "groups")
	if err := out.train(ctx, p, learn.View{}, o); err != nil {
		return nil, nil, err
	}
	out.Created["combination"], out.Created["learned from"] = r.Model.Created["combination"], strconv.Itoa(s.Examples())
	if out.Created["combination"] == "" {
		delete(out.Created, "combination")
	}
	return out, p, out.Validate()
}
