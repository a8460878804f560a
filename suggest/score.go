package suggest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// Score predicts a block and says how good each graph is by itself.
func (s *Search) Score(ctx context.Context, b Block) ([]Scored, error) {
	a := b.Features
	if a == nil {
		var err error
		if a, err = s.model.Kernel.Transform(ctx, b.Graphs); err != nil {
			return nil, err
		}
	}
	o := model.PredictOptions{Nearest: 1, Deviations: s.several == nil && s.options.Acquisition != Mean && s.options.Acquisition != Random, Level: 0.9}
	cross, err := kernel.Between(ctx, s.model.Kernel, a, s.features)
	if err != nil {
		return nil, err
	}
	said, err := s.model.PredictCross(ctx, b.Graphs, a, cross, o)
	if err != nil {
		return nil, err
	}
	self, err := kernel.Self(ctx, s.model.Kernel, a)
	if err != nil {
		return nil, err
	}
	out := make([]Scored, len(said))
	for i := range said {
		c := &out[i]
		c.Suggestion = Suggestion{ID: b.IDs[i], Index: b.First + i, Cost: 1, Likeness: said[i].Likeness}
		if b.Graphs != nil {
			c.Graph = b.Graphs[i]
		}
		if b.Cost != nil {
			if c.Cost = b.Cost[i]; !(c.Cost > 0) || math.IsInf(c.Cost, 1) {
				return nil, fmt.Errorf("%s: cost %v, want a positive number", c.ID, c.Cost)
			}
		}
		// Only a graph that the kernel cannot tell from a training graph can be one.
		if same := s.same(cross.Row(i), self[i]); same || s.options.Excluded != nil {
			c.state = s.stateOf(c.Graph, same)
		}
		if c.state == possible && b.Excluded != nil && b.Excluded[i] {
			c.state = excluded
		}
		switch {
		case s.several != nil: // below
		case c.state == possible && c.Cost <= s.options.Budget:
			s.describe(c, &said[i])
		default:
			c.score = math.Inf(-1)
		}
	}
	if s.several != nil {
		return out, s.scoreSeveral(ctx, b.Graphs, a, out)
	}
	return out, nil
}

// same reports whether the kernel cannot tell a graph from some training graph y: whether
//
//	k(x,x) + k(y,y) − 2k(x,y)
//
// is no more than rounding. With itself the graph has the kernel self, with the training graphs that of a row.
func (s *Search) same(row []float64, self float64) bool {
	for j, k := range row {
		if s.partly != nil && s.partly[j] {
			continue
		}
		if both := self + s.self[j]; both-2*k <= 1e-9*both {
			return true
		}
	}
	return false
}

// stateOf says whether a graph was measured or is excluded. One that is not known was measured if it is the same
// as a training graph for the kernel.
func (s *Search) stateOf(g *graph.Graph, same bool) int {
	if g == nil {
		if same {
			return measured
		}
		return possible
	}
	switch k := s.known.Find(dataset.Identity(g)); {
	case k < 0:
		return possible
	case k < s.training:
		return measured
	}
	return excluded
}

// describe sets what is said of a candidate.
func (s *Search) describe(c *Scored, p *model.Prediction) {
	o := &s.options
	if s.model.Task() == model.Classification {
		c.Class = p.Class
		sure := slices.Max(p.Probability)
		c.Probability, c.Why = &sure, "uncertain"
		quality := 1 - sure
		if s.class >= 0 {
			quality = p.Probability[s.class]
			c.Probability = &quality
			if p.Class == o.Class {
				c.Why = "good"
			}
		}
		c.score = math.Log(quality) - math.Log(c.Cost)
	} else {
		value := p.Value // the prediction itself would keep those of a whole block
		c.Value, c.Deviation, c.True = &value, p.Deviation, p.True
		if c.Why = "uncertain"; o.Goal.Kind != Learn && o.Goal.hit(p.Value, s.best) {
			c.Why = "good"
		}
		c.score = s.scoreOf(c)
	}
	if p.Unlike {
		c.Why += ", new"
	}
}

// scoreOf returns the acquisition of a value by itself.
func (s *Search) scoreOf(c *Scored) float64 {
	o, d := &s.options, 0.0
	if c.True != nil {
		d = *c.True
	}
	switch o.Acquisition {
	case Improvement:
		return o.Goal.improvement(*c.Value, d, s.best) - math.Log(c.Cost)
	case Probability:
		return o.Goal.probability(*c.Value, d, s.best) - math.Log(c.Cost)
	case Variance:
		noise := s.model.Learner.Process.Noise()
		return math.Log(math.Log1p(d*d/max(noise*noise, math.SmallestNonzeroFloat64))) - math.Log(c.Cost)
	case Bound:
		return o.Goal.bound(*c.Value, d, o.Beta)
	case Thompson: // a draw is hardly ever better
		return o.Goal.bound(*c.Value, d, 3)
	case Random: // any order that has nothing to do with the graph
		return float64(mix(o.Seed ^ mix(uint64(c.Index))))
	}
	return o.Goal.utility(*c.Value)
}

// mix scatters the bits of a number (SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
