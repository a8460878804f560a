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
	folds       []int        // of the training graphs
	marks       map[mark]int // of the training graphs: their bits in Told.Seen
}

// mark tells graphs apart that are not isomorphic or have other targets.
type mark struct {
	hash   uint64
	target uint64 // class, or bits of the value
}

// NewRefiner returns that of a model with a learner.
func NewRefiner(ctx context.Context, m *Model) (*Refiner, error) {
	if m.Task() == SearchOnly || !m.HasTargets() {
		return nil, errors.New("the model has no learner: want one that mlg train has written")
	}
	if n := len(m.Endpoints()); n > 1 || m.measured != nil {
		return nil, fmt.Errorf("the model is one of %d targets or more: want one that was trained for a single target", max(n, 2))
	}
	if m.Learner.Kind != learn.KernelRidge {
		return nil, fmt.Errorf("the learner of the model is %v, want %v", m.Learner.Kind, learn.KernelRidge)
	}
	r := &Refiner{Model: m, targets: choose.Targets{Classes: m.Classes}, marks: map[mark]int{}}
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
		h := g.Hash()
		if k := marked(h, &r.targets, i); r.marks[k] == 0 {
			r.marks[k] = 1 + i
		}
		r.folds = append(r.folds, fold(h))
	}
	return r, nil
}

// marked returns the mark of graph i with a hash.
func marked(hash uint64, t *choose.Targets, i int) mark {
	if t.Classes != nil {
		return mark{hash, uint64(t.Labels[i])}
	}
	return mark{hash, math.Float64bits(t.Values[i] + 0)} // −0 is 0
}

// fold returns that of a graph with a hash.
func fold(h uint64) int {
	h ^= h >> 32
	return int(h * 0x9e3779b97f4a7c15 >> 33 % choose.RefineFolds)
}

// add adds a target.
func (r *Refiner) add(t *choose.Targets, target string) error {
	if r.Model.Task() == Regression {
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
	Seen       []byte `json:"seen"` // bit i of byte i/8 is 1 where training graph i is among the graphs, or one like it that stands before it
}

// Sums returns those of no graphs.
func (r *Refiner) Sums(ctx context.Context) (*Sums, error) {
	s, err := learn.SumsFor(ctx, r.Model.Kernel, r.train, r.learned(&r.targets), choose.RefineFolds)
	return &Sums{s, Told{Model: fmt.Sprintf("%x", r.fingerprint), Seen: make([]byte, (len(r.folds)+7)/8)}}, err
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
	return r.addFeatures(ctx, s, a, &t, Hashes(some))
}

// Hashes returns the hash of each graph.
func Hashes(graphs []*graph.Graph) []uint64 {
	out := make([]uint64, len(graphs))
	for i, g := range graphs {
		out[i] = g.Hash()
	}
	return out
}

// AddFeatures is Add for graphs whose features, targets and hashes are known.
func (r *Refiner) AddFeatures(ctx context.Context, s *Sums, a kernel.Features, targets []string, hashes []uint64) error {
	t := choose.Targets{Classes: r.targets.Classes}
	var some []int
	var of []uint64
	for i, target := range targets {
		if target == "" {
			continue
		}
		if err := r.add(&t, target); err != nil {
			return err
		}
		some, of = append(some, i), append(of, hashes[i])
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

func (r *Refiner) addFeatures(ctx context.Context, s *Sums, a kernel.Features, t *choose.Targets, hashes []uint64) error {
	values, err := kernel.Between(ctx, r.Model.Kernel, a, r.train)
	if err != nil {
		return err
	}
	folds := make([]int, len(hashes))
	for i, h := range hashes {
		folds[i] = fold(h)
	}
	if err := s.Sums.Add(ctx, values, r.learned(t), folds); err != nil {
		return err
	}
	for i, h := range hashes {
		if k := r.marks[marked(h, t, i)] - 1; k >= 0 {
			s.Seen[k/8] |= 1 << (k % 8)
		}
	}
	return nil
}

// See notes training graphs that are among graphs whose sums are joined by JoinFold: the bits of Told.Seen.
func (s *Sums) See(seen []byte) error {
	if len(seen) != len(s.Seen) {
		return fmt.Errorf("sums say of %d training graphs whether they are there, want %d", 8*len(seen), 8*len(s.Seen))
	}
	for i, b := range seen {
		s.Seen[i] |= b
	}
	return nil
}

// missing returns an error where a training graph is not among the graphs of sums.
func (r *Refiner) missing(s *Sums) error {
	count, first := 0, ""
	for i, g := range r.Model.Graphs {
		k := r.marks[marked(g.Hash(), &r.targets, i)] - 1
		if s.Seen[k/8]>>(k%8)&1 == 1 {
			continue
		}
		if count++; count == 1 {
			first = fmt.Sprintf("%s with target %s", r.Model.IDs[i], r.Model.Targets[i])
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("among the %d graphs, %d of the %d that the model was trained on cannot be found, first %s: want all graphs, those of the model among them, with the same targets",
		s.Examples(), count, len(r.folds), first)
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
	return s.See(o.Seen)
}

// Learn returns the model with what is learned from sums. The training graphs of the model must be among the graphs.
func (r *Refiner) Learn(ctx context.Context, s *Sums, o LearnOptions) (*Model, *choose.Plan, error) {
	if err := r.missing(s); err != nil {
		return nil, nil, err
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
