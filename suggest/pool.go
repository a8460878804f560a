package suggest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
)

// PoolOptions say how a batch is chosen from a pool by a model. Start from DefaultPoolOptions.
type PoolOptions struct {
	// Options are those of Pick. Best and Cost come from the model and the pool.
	Options
	// Goals are what is wanted of several targets, which the endpoints of the model predict; Goal is then left as it is.
	Goals []Wanted
	// Class is the wanted class, for classifiers. Without it, graphs are wanted whose class is uncertain.
	Class string
	// Keep is the number of candidates, best by themselves, of which the batch is chosen.
	Keep int
	// Excluded are graphs that are not wanted, besides those that the model was trained on.
	Excluded []*graph.Graph
}

// DefaultPoolOptions returns those of DefaultOptions, and 2000 candidates.
func DefaultPoolOptions() PoolOptions { return PoolOptions{Options: DefaultOptions(), Keep: 2000} }

// Block is some graphs of a pool, one after the other.
type Block struct {
	First    int             // position of the first one in the pool
	IDs      []string        // of all
	Graphs   []*graph.Graph  // nil where they are not known, as in a store
	Features kernel.Features // under the model's kernel; nil to compute them of the graphs
	Cost     []float64       // nil for 1
	Excluded []bool          // those that are not wanted, besides PoolOptions.Excluded; nil for none
}

// Suggestion is a graph to measure next.
type Suggestion struct {
	Rank  int          `json:"rank"`
	ID    string       `json:"id"`
	Index int          `json:"index"` // in the pool
	Graph *graph.Graph `json:"-"`     // nil where it is not known
	Class string       `json:"class,omitempty"`
	Value *float64     `json:"value,omitempty"`
	// Deviation is that of a measured value, True of the true value.
	Deviation   *float64 `json:"deviation,omitempty"`
	True        *float64 `json:"true_deviation,omitempty"`
	Probability *float64 `json:"probability,omitempty"` // of the wanted class, or of the predicted one; for several targets that all limits hold
	// Targets are predictions for several targets. Front says that no graph of the pool is predicted to be better in one of
	// them and as good in the others.
	Targets []Expected `json:"targets,omitempty"`
	Front   *bool      `json:"front,omitempty"`
	// Acquisition is that of Picked; Bound, Thompson and Mean are values, if large or small ones are wanted.
	Acquisition float64 `json:"acquisition"`
	Cost        float64 `json:"cost"`
	Why         string  `json:"why" help:"good: the prediction is better than all that is known, or hits; uncertain: it may be; new: no measured graph is like it"`
	model.Likeness
}

// Result is a batch with what it was chosen from.
type Result struct {
	Goal        string       `json:"goal"`
	Acquisition Acquisition  `json:"acquisition"`
	Best        *float64     `json:"best,omitempty" help:"best of the predictions for measured graphs, as a value"`
	Pool        int          `json:"pool" help:"graphs that were looked at"`
	Measured    int          `json:"measured" help:"those of them that the model was trained on"`
	Excluded    int          `json:"excluded"`
	Candidates  int          `json:"candidates" help:"of which the batch was chosen"`
	Cost        float64      `json:"cost" help:"of the batch"`
	Batch       []Suggestion `json:"batch"`
}

// Search looks at a pool block by block, and then tells the best batch. Score may be called concurrently, Add not.
type Search struct {
	model     *model.Model
	options   PoolOptions
	class     int // wanted, −1 for none
	best      float64
	bestValue float64
	known     *graph.Set      // the training graphs, then those that are excluded
	training  int             // number of different training graphs
	features  kernel.Features // of the training graphs
	self      []float64       // kernel of each with itself
	kept      []Scored
	result    Result
	several   *severalSearch // nil for one target
	partly    []bool         // training graphs that have no value of some wanted target, nil for none
}

// Scored is a graph of a pool that may be suggested, with its score.
type Scored struct {
	Suggestion
	score float64 // acquisition of the graph by itself, in logarithms for gains, per cost
	state int
}

const (
	possible = iota
	measured // the model was trained on it
	excluded
)

// NewSearch returns a search with a model.
func NewSearch(ctx context.Context, m *model.Model, o PoolOptions) (*Search, error) {
	if m.Task() == model.SearchOnly {
		return nil, errors.New("suggest: the model has no learner")
	}
	if o.Keep < 1 {
		return nil, fmt.Errorf("suggest: %d candidates, want at least 1", o.Keep)
	}
	s := &Search{model: m, options: o, class: -1, known: &graph.Set{}, best: math.Inf(-1)}
	var a Acquisition
	var err error
	if len(o.Goals) > 0 {
		a, err = s.checkSeveral(ctx)
	} else {
		a, err = s.acquisition()
	}
	if err != nil {
		return nil, err
	}
	if err := s.options.check(0); err != nil {
		return nil, err
	}
	s.options.Acquisition, s.result.Acquisition, s.result.Goal = a, a, o.Goal.String()
	switch {
	case s.several != nil:
		var texts []string
		for _, w := range o.Goals {
			texts = append(texts, w.String())
		}
		s.result.Goal = strings.Join(texts, ", ")
	case m.Task() == model.Classification:
		s.result.Goal = cmp.Or(o.Class, "learn")
	}
	if s.features, err = m.Kernel.Train(ctx); err != nil {
		return nil, err
	}
	if s.self, err = kernel.Self(ctx, m.Kernel, s.features); err != nil {
		return nil, err
	}
	s.markMeasured()
	for _, g := range o.Excluded {
		s.known.Add(dataset.Identity(g))
	}
	if kind := o.Goal.Kind; s.several == nil && m.Task() == model.Regression && kind != Learn && kind != Range {
		if err := s.findBest(ctx); err != nil {
			return nil, err
		}
		s.result.Best = &s.bestValue
	}
	return s, nil
}

// markMeasured adds the training graphs that have values of all that is wanted to what is known.
func (s *Search) markMeasured() {
	at := s.model.Measured()
	if s.several != nil {
		at = s.several.measured()
	}
	if at == nil && s.several == nil {
		at = kernel.UpTo(len(s.model.Graphs))
	}
	if len(at) < len(s.model.Graphs) {
		s.partly = slices.Repeat([]bool{true}, len(s.model.Graphs))
	}
	for _, i := range at {
		s.training = max(s.training, s.known.Add(dataset.Identity(s.model.Graphs[i]))+1)
		if s.partly != nil {
			s.partly[i] = false
		}
	}
}

// acquisition returns the acquisition function for the model and the goal.
func (s *Search) acquisition() (Acquisition, error) {
	m, o := s.model, s.options
	if m.Task() == model.Regression {
		if o.Class != "" {
			return "", fmt.Errorf("class %q is wanted, but the model predicts values", o.Class)
		}
		if m.Learner.Process == nil && o.Acquisition != Mean {
			return "", fmt.Errorf("%w; the acquisition mean needs none", learn.ErrNoProcess)
		}
		return o.Acquisition.Of(o.Goal)
	}
	if o.Goal != (Goal{}) && o.Goal.Kind != Learn {
		return "", fmt.Errorf("the goal %s is for values, but the model predicts classes: name the wanted class", o.Goal)
	}
	if m.Learner.Slope == 0 {
		return "", errors.New("the model has no probabilities of classes")
	}
	if o.Class != "" {
		if s.class = slices.Index(m.Classes, o.Class); s.class < 0 {
			return "", fmt.Errorf("class %q is not one of the model's: %s", o.Class, strings.Join(m.Classes, ", "))
		}
	}
	want := Uncertainty
	if s.class >= 0 {
		want = Probability
	}
	if o.Acquisition != "" && o.Acquisition != want {
		return "", fmt.Errorf("acquisition %s is not for classes, want %s with a wanted class, else %s", o.Acquisition, Probability, Uncertainty)
	}
	return want, nil
}

// mostCompared is the number of training graphs, best by their values, whose predictions the best is found among.
const mostCompared = 256

// findBest finds the largest utility that is known: of predictions for training graphs, because a measured value
// that is the largest of many was often lucky.
func (s *Search) findBest(ctx context.Context) error {
	m, g := s.model, s.options.Goal
	utilities := make([]float64, len(m.Targets))
	for i, t := range m.Targets {
		v, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
		if utilities[i] = g.utility(v); err != nil {
			utilities[i] = math.Inf(-1)
		}
	}
	var at []int
	for _, h := range nearest.Largest(utilities, mostCompared) {
		if !math.IsInf(h.Similarity, -1) {
			at = append(at, h.Index)
		}
	}
	said, err := m.PredictFeatures(ctx, nil, s.features.Select(at), model.PredictOptions{})
	for _, p := range said {
		if u := g.utility(p.Value); u > s.best {
			s.best, s.bestValue = u, p.Value
		}
	}
	return err
}

// Add takes what Score returned of the next block.
func (s *Search) Add(block []Scored) {
	for _, c := range block {
		s.result.Pool++
		switch {
		case c.state == measured:
			s.result.Measured++
		case c.state == excluded:
			s.result.Excluded++
		case c.Cost <= s.options.Budget:
			if s.kept = append(s.kept, c); s.several != nil {
				s.several.enter(&c)
			}
		}
	}
	if len(s.kept) > 2*s.options.Keep {
		s.trim()
	}
}

// trim keeps the best candidates, of equals the first in the pool.
func (s *Search) trim() {
	slices.SortFunc(s.kept, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Index, b.Index))
	})
	if len(s.kept) > s.options.Keep {
		clear(s.kept[s.options.Keep:])
		s.kept = s.kept[:s.options.Keep]
	}
}

// Scored returns the number of graphs that were looked at.
func (s *Search) Scored() int { return s.result.Pool }

// mostJoint bounds the kernel values of candidates with training graphs, which the batch is chosen by.
const mostJoint = 1 << 25

// Result returns the batch. features returns those of graphs by their positions in the pool; it may be
// nil where the graphs are known, which are then transformed again. A graph that stands several times in the pool is suggested once.
func (s *Search) Result(ctx context.Context, features func(at []int) (kernel.Features, error)) (*Result, error) {
	s.options.Keep = min(s.options.Keep, max(64, mostJoint/max(1, s.model.Examples())))
	s.trim()
	var twins graph.Set
	s.kept = slices.DeleteFunc(s.kept, func(c Scored) bool {
		if c.Graph == nil {
			return false
		}
		g := dataset.Identity(c.Graph)
		found := twins.Find(g) >= 0
		twins.Add(g)
		return found
	})
	out := s.result
	out.Candidates, out.Batch = len(s.kept), []Suggestion{}
	if len(s.kept) == 0 {
		return &out, nil
	}
	picked, err := s.pick(ctx, features)
	if err != nil {
		return nil, err
	}
	for rank, p := range picked {
		x := s.kept[p.Index].Suggestion
		if x.Rank, x.Acquisition = rank+1, p.Acquisition; s.options.Goal.Kind == Minimise && s.result.Acquisition.isValue() {
			x.Acquisition = -x.Acquisition
		}
		if s.several != nil {
			front := s.several.onFront(&s.kept[p.Index])
			x.Front = &front
		}
		out.Cost += x.Cost
		out.Batch = append(out.Batch, x)
	}
	return &out, nil
}

// pick chooses the batch of the candidates that were kept.
func (s *Search) pick(ctx context.Context, features func(at []int) (kernel.Features, error)) ([]Picked, error) {
	var graphs []*graph.Graph
	var at []int
	o := s.options.Options
	o.Best, o.Cost = s.best, nil
	for _, c := range s.kept {
		at, o.Cost = append(at, c.Index), append(o.Cost, c.Cost)
		if c.Graph != nil {
			graphs = append(graphs, c.Graph)
		}
	}
	if o.Acquisition == Mean || o.Acquisition == Random { // the order is known
		return s.inOrder(o), nil
	}
	var a kernel.Features
	var err error
	if features != nil {
		a, err = features(at)
	} else {
		a, err = s.model.Kernel.Transform(ctx, graphs)
	}
	if err != nil {
		return nil, err
	}
	if s.several != nil {
		return s.pickSeveral(ctx, graphs, a, o)
	}
	if s.model.Task() == model.Regression {
		p, err := s.model.Posterior(ctx, graphs, a)
		if err != nil {
			return nil, err
		}
		return Pick(ctx, p, o)
	}
	gram, err := kernel.Between(ctx, s.model.Kernel, a, a)
	if err != nil {
		return nil, err
	}
	quality := make([]float64, len(s.kept))
	for i, c := range s.kept {
		if quality[i] = *c.Probability; s.class < 0 {
			quality[i] = 1 - quality[i]
		}
	}
	return spread(ctx, gram, quality, o)
}

// inOrder takes the candidates as they are, while the budget lasts.
func (s *Search) inOrder(o Options) (out []Picked) {
	for i, c := range s.kept {
		if o.K > 0 && len(out) == o.K {
			break
		}
		if c.Cost <= o.Budget {
			o.Budget -= c.Cost
			out = append(out, Picked{i, c.score})
		}
	}
	return out
}

// From returns the best batch of a pool, of which next returns block after block, and an empty one at the end. The
// memory that it takes does not grow with the pool.
func From(ctx context.Context, m *model.Model, next func() (Block, error), features func(at []int) (kernel.Features, error), o PoolOptions) (*Result, error) {
	s, err := NewSearch(ctx, m, o)
	if err != nil {
		return nil, err
	}
	for {
		b, err := next()
		if err != nil {
			return nil, err
		}
		if len(b.IDs) == 0 {
			return s.Result(ctx, features)
		}
		scored, err := s.Score(ctx, b)
		if err != nil {
			return nil, err
		}
		s.Add(scored)
	}
}

// SameKernel reports whether the features under the kernels of two models are the same, as those of a store and
// of the model that suggests.
func SameKernel(a, b *model.Model) (bool, error) {
	x, err := a.Kernel.AppendBinary(nil)
	if err != nil {
		return false, err
	}
	y, err := b.Kernel.AppendBinary(nil)
	same := slices.EqualFunc(a.Kernel.Factors, b.Kernel.Factors, func(f, g *kernel.FittedFactor) bool { return f.String() == g.String() })
	return err == nil && same && bytes.Equal(x, y), err
}
