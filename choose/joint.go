package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
)

// Endpoint is something to learn of some graphs of a collection.
type Endpoint struct {
	// Name is that of the target, for errors.
	Name string
	// Data are the graphs that have a target.
	Data *dataset.Dataset
	// At are their positions in the collection, ascending; nil for all.
	At []int
	// Targets, when set, are those of the graphs, which are then not read.
	Targets *Targets
}

// Choose finds the best kernels and the best parameter of the learner for a dataset. It does with
// all graphs what package evaluate does with the training part of every outer fold.
//
// It deals the graphs to Folds−1 folds. It scores every setting, every value of the learner's grid
// and every combination by predicting each fold from the others, or each graph with LeaveOneOut. It
// takes the last combination that is a sum of kernels, or else the best setting, with the best
// value of the grid.
//
// Kernels are fitted to all graphs without their targets. Folds becomes the number of graphs where
// that is less. InnerFolds has no effect. The matrices of all distinct factors stay in memory, with
// LeaveOneOut those of at most Examples graphs.
func Choose(ctx context.Context, d *dataset.Dataset, candidates []Candidate, o Options) (*Plan, error) {
	return Endpoint{Data: d}.Choose(ctx, candidates, o)
}

// Choose is the function Choose for an endpoint that all graphs have.
func (e Endpoint) Choose(ctx context.Context, candidates []Candidate, o Options) (p *Plan, err error) {
	err = ChooseAll(ctx, Untargeted(e.Data), []Endpoint{e}, candidates, o, func(_ int, of *Plan) error {
		p = of
		return nil
	})
	return p, err
}

// ChooseAll is Choose for several endpoints of one collection of graphs. Every kernel is fitted once, to all graphs.
// Each plan goes to take, in order, and what it needs is free then.
//
// n endpoints are scored on samples of Examples/n^0.4 graphs each, so that all together take the time of one. With
// LeaveOneOut, Weighted weighs kernels for all of them together, by the geometric mean of their errors. An endpoint
// has its own weights where those of one half of its sample predict the other half better by more than two standard
// errors of the difference.
// Endpoints with the same weights share the kernel matrix.
func ChooseAll(ctx context.Context, graphs []*graph.Graph, endpoints []Endpoint, candidates []Candidate, o Options, take func(endpoint int, p *Plan) error) error {
	if err := o.Validate(); err != nil {
		return err
	}
	o.Memory = cmp.Or(o.Memory, work.Available())
	most := o.Examples
	o.Examples = o.examples(len(endpoints))
	in := o.Collection
	if in == nil {
		in = kernel.NewCollection(graphs)
	}
	named := func(i int, err error) error {
		if err != nil && endpoints[i].Name != "" && len(endpoints) > 1 {
			return fmt.Errorf("%s: %w", endpoints[i].Name, err)
		}
		return err
	}
	choices := make([]*choice, len(endpoints))
	for i, e := range endpoints {
		var err error
		if choices[i], err = newChoice(e, in, len(graphs), candidates, o); err != nil {
			return named(i, err)
		}
	}
	for i, c := range choices {
		if c.Options.Unscored {
			continue
		}
		if err := c.scoreSettings(ctx); err != nil {
			return named(i, err)
		}
	}
	if err := share(ctx, choices, most); err != nil {
		return err
	}
	plans, best := make([]*Plan, len(choices)), make([]*Scores, len(choices))
	for i, c := range choices {
		var err error
		if c.Options.Unscored {
			plans[i] = c.newPlan()
			plans[i].Parameter = o.Grid()[0]
			plans[i].take([]float64{1}, c.settings)
		} else if plans[i], best[i], err = c.decide(ctx); err != nil {
			return named(i, err)
		}
	}
	if o.Collection == nil {
		var err error
		if in, err = forget(ctx, in, choices, plans); err != nil {
			return err
		}
	}
	all := newMatrices(in, len(graphs), choices, plans, o.Memory)
	for i, c := range choices {
		c.matrices = all
		if err := c.conclude(ctx, plans[i], best[i]); err != nil {
			return named(i, err)
		}
		choices[i], best[i] = nil, nil
		p := plans[i]
		p.Collection, plans[i] = in, nil
		if err := take(i, p); err != nil {
			return err
		}
	}
	return nil
}

// leastExamples is the smallest number of graphs on which kernels are scored for each of many endpoints.
const leastExamples = 256

// examples returns Examples for each of n endpoints: scores take about the power 2.5 of the number of graphs.
func (o *Options) examples(n int) int {
	if n <= 1 {
		return o.Examples
	}
	return max(min(o.Examples, leastExamples), int(float64(o.Examples)*math.Pow(float64(n), -0.4)))
}

// newChoice returns the choice for an endpoint of n graphs.
func newChoice(e Endpoint, in *kernel.Collection, n int, candidates []Candidate, o Options) (*choice, error) {
	d := e.Data
	c := &choice{Chooser: Chooser{Options: &o, Keep: true}, in: in, all: in, at: e.At, total: n}
	if e.At == nil && len(d.Graphs) != n || e.At != nil && len(d.Graphs) != len(e.At) {
		return nil, fmt.Errorf("%d graphs with targets at %d of %d positions", len(d.Graphs), len(e.At), n)
	}
	if e.At != nil {
		c.all = in.Derived(nil, e.At, false)
	}
	var err error
	if e.Targets != nil {
		t := *e.Targets
		c.Targets, t.Groups = &t, ownGroups(d)
	} else if c.Targets, err = ReadTargets(d, o.Task); err != nil {
		return nil, err
	}
	if o.Groups != nil {
		if len(o.Groups.Of) != n {
			return nil, fmt.Errorf("groups by %s of %d graphs, want %d", o.Groups.By, len(o.Groups.Of), n)
		}
		groups := o.Groups
		if e.At != nil {
			groups = groups.of(e.At)
		}
		if groups.Folds(o.Seed) == nil {
			return nil, fmt.Errorf("groups by %s: want at least %d of them, of which some graphs are left out together", o.Groups.By, heldOutFolds)
		}
		c.Targets.Groups = groups
	}
	o.AddRidges(c.Targets, candidates)
	for _, x := range candidates {
		for _, s := range x.Settings {
			c.settings = append(c.settings, WeightedSetting{Candidate: x.Name, Setting: s})
			c.parts = append(c.parts, Ingredient{s.Kernel, x.Share, x.Ridges != nil})
		}
	}
	if len(c.settings) == 0 {
		return nil, errors.New("no candidates to choose from")
	}
	if o.Unscored = o.Unscored && len(c.settings) == 1 && len(o.Grid()) == 1; o.Unscored {
		n := len(d.Graphs)
		c.part, c.graphs.In = true, c.all
		c.everything = &TrainingPart{graphs: kernel.UpTo(n), sample: kernel.UpTo(min(n, o.Examples))}
		return c, nil
	}
	if o.Folds = min(o.Folds, len(d.Graphs)); o.Folds < 3 {
		return nil, fmt.Errorf("%d folds of %d graphs, want at least 3 folds and 3 graphs", o.Folds, len(d.Graphs))
	}
	if c.Splits, err = c.Targets.Deal(o.Folds-1, 1, o.Seed); err != nil {
		return nil, err
	}
	c.everything = c.TrainingPart(0, c.Splits.Folds)
	c.sums = slices.DeleteFunc(slices.Clone(o.Combinations), func(how Combination) bool { return !how.Summed() })
	for _, s := range c.settings {
		if err := kernel.CheckNormalized(s.Kernel); err != nil && len(c.sums) > 0 {
			return nil, err
		}
	}
	return c, nil
}

// share learns weights of Weighted for several choices together, from the scores of their settings. They are as
// sharp as those of one endpoint with at most so many examples. Factors are left out as long as the predictions of all
// samples together do not get worse by a standard error.
func share(ctx context.Context, choices []*choice, most int) error {
	first := choices[0]
	if len(choices) == 1 || !first.Options.LeaveOneOut || !slices.Contains(first.sums, Weighted) {
		return nil
	}
	logs, power := make([]float64, len(first.settings)), 0.0
	sampled, few := false, []float64(nil)
	for _, c := range choices {
		m := c.mixer
		n := len(c.everything.graphs)
		errors, err := m.errors(ctx, c.sampleSet())
		if err != nil {
			return err
		}
		for k, e := range errors {
			logs[k] += math.Log(e.product()) / float64(len(choices))
		}
		power += m.power(min(n, most)) / float64(len(choices))
		sampled = sampled || c.sampled() != nil
		if c.Targets.Regression() || n > affordable {
			few = m.cheapWeights()
		}
	}
	pooled := make([]Errors, len(logs))
	for k, l := range logs {
		pooled[k] = Errors{math.Exp(l), 1}
	}
	weights := first.mixer.alike(errorWeights(pooled, -power))
	if sampled {
		var err error
		weights, err = first.mixer.fewer(few, weights, func(w []float64) ([]float64, error) {
			lists := make([][]float64, len(choices))
			err := work.Tasks(work.Quiet(ctx), len(choices), func(ctx context.Context, i int) (err error) {
				lists[i], err = choices[i].relativeLosses(ctx, w)
				return err
			})
			return slices.Concat(lists...), err
		})
		if err != nil {
			return err
		}
	}
	return work.Tasks(work.Quiet(ctx), len(choices), func(ctx context.Context, i int) error {
		c := choices[i]
		shared, err := c.mixer.losses(ctx, c.sampleSet(), weights)
		if err != nil {
			return err
		}
		own, err := c.ownLosses(ctx, min(len(c.everything.graphs), most))
		if err != nil {
			return err
		}
		if more, deviation := difference(shared, own); !(more > preferErrors*deviation) {
			c.mixer.shared = weights
		}
		return nil
	})
}

// sampleSet is the sample as a training set.
func (c *choice) sampleSet() trainingSet {
	p := c.everything
	return trainingSet{p.Repeat, p.Fold, p.Fold, p.sample}
}

// ownLosses returns the losses of the sample by the weights that the errors of the other half of the validators give,
// as sharp as for n graphs.
func (c *choice) ownLosses(ctx context.Context, n int) ([]float64, error) {
	p, m := c.everything, Mixture{c.mixer, Weighted}
	out := make([]float64, len(p.sample))
	for half := range 2 {
		others := slices.Clone(p.weight)
		for v := range others {
			if v%2 == half {
				others[v] = 0
			}
		}
		errors := make([]Errors, len(c.scores))
		for k, of := range c.scores {
			errors[k] = least(c.errorsOf(of, others))
		}
		losses, err := m.losses(ctx, c.sampleSet(), m.weigh(errors, n))
		if err != nil {
			return nil, err
		}
		for v, graphs := range p.scored {
			if v%2 == half {
				for _, i := range p.inSample(graphs) {
					out[i] = losses[i]
				}
			}
		}
	}
	return out, nil
}

// relativeLosses returns the losses of a sum, those of values in units of the variance of the values.
func (c *choice) relativeLosses(ctx context.Context, w []float64) ([]float64, error) {
	out, err := c.mixer.losses(ctx, c.sampleSet(), w)
	if err != nil || !c.Targets.Regression() {
		return out, err
	}
	if scale := metrics.Deviation(c.Targets.Values); scale > 0 {
		for i := range out {
			out[i] /= scale * scale
		}
	}
	return out, nil
}

// forget returns a collection with what the plans need alone, where their matrices are large: the features of other
// kernels may take as much memory.
func forget(ctx context.Context, in *kernel.Collection, choices []*choice, plans []*Plan) (*kernel.Collection, error) {
	var kernels []kernel.Kernel
	large := false
	for i, c := range choices {
		kernels = append(kernels, plans[i].Kernel())
		large = large || c.iterated(plans[i])
	}
	if o := choices[0].Options; !large || o.Unscored || o.Learner != learn.KernelRidge && !o.LeaveOneOut {
		return in, nil
	}
	sums, err := in.Alone(ctx, kernels...)
	if err != nil {
		return nil, err
	}
	in = sums[0].In
	for i, c := range choices {
		if c.in, c.all = in, in; c.at != nil {
			c.all = in.Derived(nil, c.at, false)
		}
		plans[i].Collection = c.all
		if c.sampled() != nil {
			c.graphs, c.mixer = Graphs{}, nil
		}
	}
	return in, nil
}

// iterated reports whether the learner of a plan is found without a factorisation: where there are many graphs, also
// if the endpoint has only some of them, since it then shares their matrix.
func (c *choice) iterated(p *Plan) bool {
	return max(c.total, len(c.everything.graphs)) > mostFactorised && !p.Indefinite && c.sampled() != nil
}

// matrices are the kernel matrices that several endpoints share, each computed when it is first needed and free after
// its last use.
type matrices struct {
	in    *kernel.Collection
	known map[string]*sharedMatrix // by the text of the kernel
}

type sharedMatrix struct {
	grams, tiled int // endpoints that are still to come
	gram         *kernel.Matrix
	tiles        *learn.Triangle
}

// newMatrices finds out which kernels have endpoints whose matrices together are larger than that of all n graphs,
// where that fits into memory.
func newMatrices(in *kernel.Collection, n int, choices []*choice, plans []*Plan, memory int64) *matrices {
	out := &matrices{in, map[string]*sharedMatrix{}}
	entries := map[string][2]float64{}
	for i, c := range choices {
		if c.sampled() == nil && !c.Options.Unscored || !(c.Options.LeaveOneOut && c.Options.Learner == learn.KernelRidge) {
			continue
		}
		key, rows := plans[i].Kernel().String(), float64(len(c.everything.graphs))
		s, sum := out.known[key], entries[key]
		if s == nil {
			s = &sharedMatrix{}
			out.known[key] = s
		}
		if c.iterated(plans[i]) {
			s.tiled++
			sum[1] += rows * rows
		} else {
			s.grams++
			sum[0] += rows * rows
		}
		entries[key] = sum
	}
	all := float64(n) * float64(n)
	for key, s := range out.known {
		if s.grams < 2 || entries[key][0] < all || 8*int64(all) > memory/4 {
			s.grams = 0
		}
		if s.tiled < 2 || entries[key][1] < all || 2*tilesBytes(n) > memory {
			s.tiled = 0
		}
	}
	return out
}

// gram returns the matrix of a kernel for the graphs at some positions, nil for all of them. It returns nil where it
// is not shared.
func (m *matrices) gram(ctx context.Context, k kernel.Kernel, at []int) (*kernel.Matrix, error) {
	s := m.of(k)
	if s == nil || s.grams == 0 {
		return nil, nil
	}
	if s.gram == nil {
		var err error
		if s.gram, err = m.in.Gram(ctx, k); err != nil {
			return nil, err
		}
	}
	out := s.gram
	if at != nil {
		out = learn.Full(s.gram).Select(at, at).Matrix()
	}
	if s.grams--; s.grams == 0 {
		s.gram = nil
	}
	return out, nil
}

// tiles returns the same in single precision.
func (m *matrices) tiles(ctx context.Context, k kernel.Kernel, at []int) (*learn.Triangle, error) {
	s := m.of(k)
	if s == nil || s.tiled == 0 {
		return nil, nil
	}
	if s.tiles == nil {
		sum, err := m.in.Fit(ctx, k)
		if err != nil {
			return nil, err
		}
		train, err := sum.Train(ctx)
		if err != nil {
			return nil, err
		}
		if s.tiles, err = learn.NewTriangle(ctx, sum, train); err != nil {
			return nil, err
		}
	}
	out, err := s.tiles.Select(ctx, at)
	if s.tiled--; s.tiled == 0 {
		s.tiles = nil
	}
	return out, err
}

// of returns the matrix of a kernel, nil where there is none.
func (m *matrices) of(k kernel.Kernel) *sharedMatrix {
	if m == nil {
		return nil
	}
	return m.known[k.String()]
}
