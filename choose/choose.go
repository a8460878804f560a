package choose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
)

// Plan is what Choose found best for a dataset: a weighted sum of kernels, and the parameter
// of the learner.
type Plan struct {
	// Combination says how the kernels were chosen and weighed. Shared says that the weights are those of several
	// endpoints.
	Combination Combination
	Shared      bool
	// Settings are the kernels with their weights, which are positive and sum to 1.
	Settings []WeightedSetting
	// Gram is the kernel matrix of the weighted sum, nil if it is not known. Without it, Nearest has the
	// largest similarity of every graph to another, if the plan knows it.
	Gram    *kernel.Matrix
	Nearest []float64
	learner *learn.Learner // of kernel ridge regression
	// Collection has the graphs of all endpoints without their targets, with the kernels that were fitted to them.
	Collection *kernel.Collection
	Learner    learn.Kind
	// Parameter is C, or the ridge. Edge is Options.AtEdge of it.
	Parameter float64
	Edge      bool
	// Centres is the number of centres that the learner starts from, 0 for none. It depends on Memory.
	Centres int
	Memory  int64
	options learn.Options // of the learner, but for the parameter

	Targets

	Estimate Estimate
	// Procedures are the ways to combine kernels, as they were compared on some or all graphs.
	Procedures []ProcedureScore
	Compared   int // number of these graphs
	// Held is what is predicted for every graph, in their order, from others: from all others
	// (leave-one-out), or from those of other folds. Classes have probabilities as their Scores where
	// Probability is set; they agree best with the classes of all graphs. Values of a Gaussian process
	// have Deviations. With LeaveOneOut, kernel ridge regression predicts in place of other learners.
	Held HeldPredictions
	// HeldGroups is the same from graphs of other groups: five folds of whole groups. GroupEstimate says
	// how good it is, and what the groups are; nil if there are too few groups.
	HeldGroups    HeldPredictions
	GroupEstimate *Estimate
	// Limited is the number of trainings that stopped at the limit of iterations.
	Limited int
	nested  bool // Held is by weights that have not seen the graph
	// Indefinite says that some kernel is not positive semi-definite. The sum must then be clipped
	// before training.
	Indefinite bool
}

// Learn trains the plan's learner on the Gram matrix of its graphs. It tells whether the solver
// stopped at its limit of iterations.
func (p *Plan) Learn(ctx context.Context, gram learn.View) (l *learn.Learner, limited bool, err error) {
	if p.learner != nil {
		return p.learner.Clone(), false, nil
	}
	opt := p.options
	opt.LeaveOneOut, opt.Intervals = p.Regression(), true
	path, err := p.Train(ctx, gram, []float64{p.Parameter}, opt)
	if limited = errors.Is(err, learn.ErrIterations); err != nil && !limited {
		return nil, false, err
	}
	return path[0], limited, nil
}

// Estimates returns the estimates, and then Calibration.
func (p *Plan) Estimates() []Estimate {
	out := []Estimate{p.Estimate}
	if p.GroupEstimate != nil {
		out = append(out, *p.GroupEstimate)
	}
	return append(out, p.Calibration()...)
}

// Calibration says how well the deviations of a Gaussian process fit what was predicted for graphs that
// were left out, alone and with their groups. It returns nothing for other learners.
func (p *Plan) Calibration() []Estimate {
	if p.Held.Deviations == nil {
		return nil
	}
	alone := "leave-one-out of the model"
	switch {
	case p.Nearest != nil: // not factorised
		alone = fmt.Sprintf("%d-fold cross-validation of the model", heldOutFolds)
	case p.nested:
		alone = "leave-one-out by weights of the other folds"
	}
	alone += fitted
	rmse, out := p.calibration(p.Held)
	out = append([]Estimate{{Measure: "rmse", Value: rmse}}, out...)
	for i := range out {
		out[i].Method = alone
	}
	if e := p.GroupEstimate; e != nil {
		_, grouped := p.calibration(p.HeldGroups)
		for _, x := range grouped {
			x.Method, x.Groups = e.Method+fitted, e.Groups
			out = append(out, x)
		}
	}
	return out
}

// fitted says what coverage and density do not account for.
const fitted = "; the deviations were fitted to them"

// calibration returns the error of predictions, and how well their deviations fit.
func (p *Plan) calibration(held HeldPredictions) (rmse float64, out []Estimate) {
	s := metrics.ScoreValues(p.Values, held.Values, held.Deviations)
	if s.NLPD != nil {
		out = append(out, Estimate{Measure: "nlpd", Value: *s.NLPD})
	}
	for i, level := range metrics.Levels {
		out = append(out, Estimate{Measure: fmt.Sprintf("coverage of %g %% intervals", 100*level), Value: s.Coverage[i]})
	}
	return s.RMSE, out
}

// Kernel returns the weighted sum of the kernels.
func (p *Plan) Kernel() kernel.Sum {
	var weights []float64
	var kernels []kernel.Kernel
	for _, s := range p.Settings {
		weights, kernels = append(weights, s.Weight), append(kernels, s.Kernel)
	}
	return kernel.Weighted(weights, kernels)
}

// WeightedSetting is a setting of a candidate with its weight in a sum of kernels.
type WeightedSetting struct {
	Candidate string
	Setting
	Weight float64
}

// ProcedureScore is the score of one way to combine kernels, by which they are compared.
type ProcedureScore struct {
	Combination Combination `json:"combination"`
	Estimate
}

// newPlan returns a plan without kernels.
func (c *choice) newPlan() *Plan {
	o := c.Options
	p := &Plan{Collection: c.all, Learner: o.Learner, options: o.learner(), Targets: *c.Targets, Memory: o.Memory}
	p.options.Probability, p.options.Seed = o.Probability, o.Seed
	return p
}

// GroupedBy says what the groups share from which deviations of new graphs of other groups were fitted, "" if there are
// none.
func (p *Plan) GroupedBy() string {
	switch {
	case p.GroupEstimate != nil:
		return p.GroupEstimate.Groups
	case p.Targets.Groups != nil:
		return p.Targets.Groups.By
	}
	return ""
}

// take takes the settings whose weights are not 0.
func (p *Plan) take(weights []float64, settings []WeightedSetting) {
	for i, s := range settings {
		if s.Weight = weights[i]; s.Weight > 0 {
			p.Settings = append(p.Settings, s)
			p.Indefinite = p.Indefinite || !kernel.Semidefinite(s.Kernel)
		}
	}
}

// Untargeted returns the graphs of a dataset without their targets.
func Untargeted(d *dataset.Dataset) []*graph.Graph {
	out := make([]*graph.Graph, len(d.Graphs))
	for i, g := range d.Graphs {
		out[i] = g.With(g.ID(), "")
	}
	return out
}

// choice is the choice for one endpoint.
type choice struct {
	Chooser
	everything *TrainingPart      // all graphs
	in         *kernel.Collection // the graphs of all endpoints
	all        *kernel.Collection // these graphs
	graphs     Graphs             // that are scored
	settings   []WeightedSetting
	parts      []Ingredient
	scores     []*Scores     // of the settings
	sums       []Combination // those that are sums of kernels
	mixer      *Mixer        // of the settings
	part       bool          // the graphs are a training part: only the learner is asked for
	matrices   *matrices     // of all endpoints; nil for a part
	at         []int         // the graphs, by their positions among those of all endpoints; nil for all
	total      int           // number of graphs of all endpoints

	scored *work.Meter // settings and sums
}

// decide scores combinations, and takes the best, or the best setting.
func (c *choice) decide(all context.Context) (p *Plan, best *Scores, err error) {
	o := c.Options
	ctx := work.Quiet(all) // the choice tells its own steps, and kernels what they do with all graphs
	p = c.newPlan()
	for _, s := range c.scores {
		p.Limited += s.Limited
	}
	// The last sum of kernels comes first, best single last.
	chosen := c.scores
	for _, how := range slices.Backward(c.sums) {
		m := Mixture{c.mixer, how}
		s, err := c.score(ctx, m, how.String())
		if err == nil && o.LeaveOneOut && how != MeanAll && c.sampled() == nil {
			err = c.nest(ctx, m, s)
		}
		if err != nil {
			return nil, nil, err
		}
		p.Limited += s.Limited
		if len(p.Procedures) == 0 {
			chosen = []*Scores{s}
		}
		p.Procedures = append(p.Procedures, c.compare(how, []*Scores{s}))
	}
	if len(c.sums) == 0 || slices.Contains(o.Combinations, BestSingle) {
		p.Procedures = append(p.Procedures, c.compare(BestSingle, c.scores))
	}
	p.Combination, p.Estimate, p.Compared = p.Procedures[0].Combination, p.Procedures[0].Estimate, len(c.everything.sample)
	k := c.Chooser.Choose(c.everything, chosen)
	p.Parameter = o.Grid()[chosen[k].Best]
	weights := make([]float64, len(c.settings))
	weights[k] = 1
	if p.Combination != BestSingle {
		p.Shared = c.mixer.shared != nil && p.Combination == Weighted
		if weights, err = (Mixture{c.mixer, p.Combination}).Weights(ctx, c.everything); err != nil {
			return nil, nil, err
		}
	}
	p.take(weights, c.settings)
	return p, chosen[k], nil
}

// conclude finds the learner of a plan, and what is predicted for graphs that are held out. best are the scores of its
// kernel.
func (c *choice) conclude(ctx context.Context, p *Plan, best *Scores) error {
	o := c.Options
	if o.Unscored {
		if o.Learner != learn.KernelRidge || p.Indefinite {
			return nil
		}
		return c.finish(ctx, p)
	}
	if o.Learner != learn.KernelRidge && !o.LeaveOneOut {
		p.Held = c.held(best)
		return c.learnGroups(ctx, p)
	}
	if err := c.finish(ctx, p); err != nil {
		return err
	}
	p.Edge = o.AtEdge(slices.Index(o.Grid(), p.Parameter))
	if len(c.sums) > 0 && c.sampled() == nil { // each graph by weights that have not seen it
		deviations := p.Held.Deviations
		p.Held, p.nested = c.held(best), true
		p.Held.Deviations = deviations
	}
	return nil
}

// gram gives a plan the kernel matrix of all graphs.
func (c *choice) gram(ctx context.Context, p *Plan) (err error) {
	from := c.all
	if c.sampled() == nil {
		from = c.graphs.In // which has the matrices of factors
	}
	if p.Gram, err = c.matrices.gram(ctx, p.Kernel(), c.at); p.Gram != nil || err != nil {
		return err
	}
	p.Gram, err = from.Gram(ctx, p.Kernel())
	return err
}

// held returns the predictions of a kernel for all graphs, with the best value of the grid.
func (c *choice) held(s *Scores) HeldPredictions {
	var p HeldPredictions
	for v, graphs := range c.everything.scored {
		p.put(graphs, s.predicted[s.Best][v], len(c.everything.graphs))
	}
	if !c.Targets.Regression() && c.Options.Probability {
		p = calibrated(c.Options.Learner, c.Targets.Labels, p)
	}
	return p
}

// isDefinite reports whether a ridge was too small.
func isDefinite(err error) bool { return errors.Is(err, learn.ErrDefinite) }

// sampled returns the graphs that scores look at, nil for all.
func (c *choice) sampled() []int {
	if s := c.everything.sample; c.Options.LeaveOneOut && len(s) < len(c.everything.graphs) {
		return s
	}
	return nil
}

// scoreSettings scores all settings, several at a time. The matrices of factors are computed before, and
// kept.
func (c *choice) scoreSettings(ctx context.Context) error {
	c.scores = make([]*Scores, len(c.settings))
	at := c.sampled()
	if at == nil {
		at = c.at
	} else if c.at != nil {
		at = Pick(c.at, at)
	}
	c.graphs = Graphs{c.in.Derived(nil, at, true), c.sampled()}
	c.mixer = c.Mixer(c.parts, c.graphs, func(k, _, _ int) *Scores { return c.scores[k] })
	var kernels []kernel.Kernel
	for _, s := range c.settings {
		kernels = append(kernels, s.Kernel)
	}
	if _, err := c.graphs.In.FitAll(ctx, kernels...); err != nil {
		return err
	}
	c.scored = work.NewMeter(ctx, "choosing", len(c.settings)+len(c.sums))
	return work.Tasks(work.Quiet(ctx), len(kernels), func(ctx context.Context, k int) error {
		m, err := c.graphs.Of(kernels[k])
		if err != nil {
			return err
		}
		s := c.settings[k]
		c.scores[k], err = c.score(ctx, m, s.Candidate+" "+s.Parameters)
		return err
	})
}

// score scores a kernel on all graphs.
func (c *choice) score(ctx context.Context, k Gram, name string) (*Scores, error) {
	s, err := c.Score(ctx, k, []*TrainingPart{c.everything})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.scored.Add(1)
	return &s[0], nil
}

// compare returns how good it is to choose among kernels. Each validator is scored with what the
// other validators choose. Their scores come from trainings that contain it, so this is not a
// nested cross-validation.
func (c *choice) compare(how Combination, kernels []*Scores) ProcedureScore {
	e := c.Estimate(c.everything, kernels)
	e.Method = c.method(how, len(kernels))
	return ProcedureScore{how, e}
}

// method says how an estimate for a choice among so many kernels, or for a sum, was found.
func (c *choice) method(how Combination, kernels int) string {
	out := fmt.Sprintf("%d-fold cross-validation", c.Splits.Folds)
	if c.Options.LeaveOneOut {
		out = "leave-one-out of kernel ridge regression"
		if c.Targets.Process(c.Options.Learner) {
			out = "leave-one-out of a Gaussian process"
		}
		if n, all := len(c.everything.sample), len(c.everything.graphs); n < all {
			out += fmt.Sprintf(" on %d of %d graphs, a model of all graphs is usually better", n, all)
		}
	}
	what := "the choice"
	switch {
	case how == BestSingle && kernels == 1 && len(c.Options.Grid()) == 1:
		return out
	case how == Weighted && c.mixer.shared != nil:
		return out + ", each fold with the " + ParameterName(c.Options.Learner) + " of the other folds; the weights are those of several targets, and have seen them"
	case how != BestSingle && how != MeanAll && (c.sampled() == nil || !c.Options.LeaveOneOut): // see nest
		what = "the weights and the choice"
	case how == MeanAll:
		what = "the " + ParameterName(c.Options.Learner)
	}
	return out + ", each fold with " + what + " of the other folds; not fully nested"
}
