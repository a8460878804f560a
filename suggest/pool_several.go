package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
)

// Expected is what is predicted of one target of several.
type Expected struct {
	Target string  `json:"target"`
	Value  float64 `json:"value"`
	// Deviation is that of a measured value, True of the true value.
	Deviation *float64 `json:"deviation,omitempty"`
	True      *float64 `json:"true_deviation,omitempty"`
}

// severalSearch is what a Search with goals of several targets knows.
type severalSearch struct {
	Several
	targets []string
	models  []*model.Model // endpoints by goal
	known   *front         // of what is measured
	front   [][]float64    // utilities of all targets that are predicted and not dominated by others of the pool
}

// mostFront is the number of measured graphs of which the front is made: those nearest to the limits, then the best in the
// first aim.
const mostFront = 1024

// Wants returns the model with the endpoints that Goals are about, and m itself without Goals. A single goal becomes
// Goal, which has all acquisition functions.
func (o *PoolOptions) Wants(m *model.Model) (*model.Model, error) {
	if len(o.Goals) == 0 {
		return m, nil
	}
	var names []string
	for _, w := range o.Goals {
		names = append(names, w.Target)
	}
	some, err := m.Only(names...)
	if len(o.Goals) == 1 {
		o.Goal, o.Goals = o.Goals[0].Goal, nil
	}
	return some, err
}

// newSeveral returns what is known of several targets.
func newSeveral(ctx context.Context, m *model.Model, wanted []Wanted) (*severalSearch, error) {
	s := &severalSearch{}
	for _, w := range wanted {
		e, err := m.Endpoint(w.Target)
		switch {
		case err != nil:
			return nil, err
		case e.Task() == model.Classification:
			return nil, fmt.Errorf("the goal %s is for values, but the target has classes", w)
		case e.Learner.Process == nil:
			return nil, learn.ErrNoProcess
		case slices.Contains(s.targets, e.Target):
			return nil, fmt.Errorf("two goals for the target %s, want one", e.Target)
		}
		s.targets, s.models, s.Goals = append(s.targets, e.Target), append(s.models, e), append(s.Goals, w.Goal)
	}
	if len(s.aims()) == 0 {
		return s, nil
	}
	return s, s.measure(ctx)
}

// measured returns the training graphs that have values of all targets.
func (s *severalSearch) measured() (out []int) {
	for i := range s.models[0].IDs {
		if !slices.ContainsFunc(s.models, func(m *model.Model) bool { return m.Targets[i] == "" }) {
			out = append(out, i)
		}
	}
	return out
}

// measure finds what is known of the aims: what is predicted for training graphs, because the best of many measured values
// were often lucky. The reference of an aim is the mean of its measured values.
func (s *severalSearch) measure(ctx context.Context) error {
	values := make([][]float64, len(s.models)) // by goal, NaN for none
	for j, m := range s.models {
		var some []float64
		for _, t := range m.Targets {
			v, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
			if err != nil {
				v = math.NaN()
			} else {
				some = append(some, s.Goals[j].utility(v))
			}
			values[j] = append(values[j], v)
		}
		if s.Goals[j].Kind != Range {
			s.Reference = append(s.Reference, metrics.Mean(some))
		}
	}
	at := s.measured()
	far := func(i int) (violation float64) {
		for j, g := range s.Goals {
			if g.Kind == Range {
				violation -= g.utility(values[j][i])
			}
		}
		return violation
	}
	first := s.aims()[0]
	slices.SortStableFunc(at, func(a, b int) int {
		if x, y := far(a), far(b); x != y {
			return int(math.Copysign(1, x-y))
		}
		return int(s.Goals[first].order(values[first][b], values[first][a]))
	})
	at = at[:min(len(at), mostFront)]
	if len(at) == 0 {
		return nil
	}
	features, err := s.models[0].Kernel.Train(ctx)
	if err != nil {
		return err
	}
	said := make([][]model.Prediction, len(s.models))
	for j, m := range s.models {
		if said[j], err = m.PredictFeatures(ctx, nil, features.Select(at), model.PredictOptions{}); err != nil {
			return err
		}
	}
	for i := range at {
		if ok, aims := s.limited(func(j int) float64 { return said[j][i].Value }); ok {
			s.Known = append(s.Known, aims)
		}
	}
	s.known = s.Several.front()
	if s.known != nil && len(s.aims()) > 1 {
		s.Known = s.known.points
	}
	return nil
}

// order compares the utilities of two values.
func (g Goal) order(a, b float64) float64 {
	switch x, y := g.utility(a), g.utility(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// scoreSeveral predicts the targets of a block, and says how good each graph is by itself.
func (s *Search) scoreSeveral(ctx context.Context, graphs []*graph.Graph, a kernel.Features, out []Scored) error {
	o := model.PredictOptions{Nearest: 1, Deviations: true, Level: 0.9}
	for j, m := range s.several.models {
		said, err := m.PredictFeatures(ctx, graphs, a, o)
		if err != nil {
			return err
		}
		for i, p := range said {
			c := &out[i]
			c.Targets = append(c.Targets, Expected{s.several.targets[j], p.Value, p.Deviation, p.True})
		}
	}
	for i := range out {
		if c := &out[i]; c.state == possible && c.Cost <= s.options.Budget {
			s.describeSeveral(c)
		} else {
			c.score = math.Inf(-1)
		}
	}
	return nil
}

// describeSeveral sets what is said of a candidate.
func (s *Search) describeSeveral(c *Scored) {
	x := s.several
	of := func(j int) (mean, deviation float64) { return c.Targets[j].Value, *c.Targets[j].True }
	if len(x.aims()) < len(x.Goals) {
		p := math.Exp(x.holds(of))
		c.Probability = &p
	}
	c.score = x.gain(x.known, of) - math.Log(c.Cost)
	if s.options.Acquisition == Random {
		c.score = float64(mix(s.options.Seed ^ mix(uint64(c.Index))))
	}
	c.Why = "uncertain"
	if ok, aims := x.limited(func(j int) float64 { return c.Targets[j].Value }); ok && (x.known == nil || x.known.with(aims) != x.known ||
		len(aims) == 1 && aims[0] > x.known.reference[0]) {
		c.Why = "good"
	}
	if c.Unlike {
		c.Why += ", new"
	}
}

// utilities returns how good predictions are, by goal.
func (x *severalSearch) utilities(c *Scored) (out []float64) {
	for j, g := range x.Goals {
		out = append(out, g.utility(c.Targets[j].Value))
	}
	return out
}

// enter adds a graph of the pool to the front of predictions.
func (x *severalSearch) enter(c *Scored) {
	u := x.utilities(c)
	if slices.ContainsFunc(x.front, func(y []float64) bool { return dominates(y, u) || slices.Equal(y, u) }) {
		return
	}
	x.front = append(slices.DeleteFunc(x.front, func(y []float64) bool { return dominates(u, y) }), u)
}

// onFront reports whether no graph of the pool is predicted to be better in a target without being worse in another.
func (x *severalSearch) onFront(c *Scored) bool {
	u := x.utilities(c)
	return slices.ContainsFunc(x.front, func(y []float64) bool { return slices.Equal(y, u) })
}

// pickSeveral chooses the batch of the candidates that were kept.
func (s *Search) pickSeveral(ctx context.Context, graphs []*graph.Graph, a kernel.Features, o Options) ([]Picked, error) {
	var posteriors []*learn.Posterior
	for _, m := range s.several.models {
		p, err := m.Posterior(ctx, graphs, a)
		if err != nil {
			return nil, err
		}
		posteriors = append(posteriors, p)
	}
	return PickSeveral(ctx, posteriors, s.several.Several, o)
}

// checkSeveral returns the acquisition function for several goals.
func (s *Search) checkSeveral(ctx context.Context) (Acquisition, error) {
	o := s.options
	if o.Class != "" || o.Goal != (Goal{}) {
		return "", errors.New("suggest: goals of several targets, and one without a target")
	}
	var err error
	if s.several, err = newSeveral(ctx, s.model, o.Goals); err != nil {
		return "", err
	}
	return s.several.acquisition(o.Acquisition)
}
