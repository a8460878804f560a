package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
)

// foldResult is what one method gives for one outer fold.
type foldResult struct {
	// Scores are those on the training part. Not with OnReported.
	choose.Scores
	// Prediction is for the test graphs, ascending, with the best value of the grid; empty for a
	// setting that another of its candidate beats.
	choose.Prediction
	// Confusions has the counts for each value of the grid. OnReported only.
	Confusions []metrics.Confusion `json:"confusions,omitempty"`
}

// compute evaluates a method: on every training part it chooses the value of the grid, trains, and
// predicts the fold.
func (s *session) compute(ctx context.Context, m *method, gram func() (choose.Gram, error)) (*storedResults, error) {
	start := s.clock()
	k, err := gram()
	if err != nil {
		return nil, err
	}
	fitted := s.clock()
	out := &storedResults{Folds: make([]foldResult, len(s.parts)), KernelSeconds: fitted - start}
	if !s.o.OnReported {
		scores, err := s.Score(ctx, k, s.parts)
		if err != nil {
			return nil, m.failed(err)
		}
		for i := range scores {
			out.Folds[i].Scores = scores[i]
		}
	}
	err = kernel.Each(ctx, len(s.parts), 1, func(_, i int) error { return s.test(ctx, m, k, s.parts[i], &out.Folds[i]) })
	out.LearnSeconds = s.clock() - fitted
	return out, m.failed(err)
}

// failed says which method an error is about.
func (m *method) failed(err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.TrimSpace(m.name+" "+m.parameters), err)
	}
	return err
}

// test trains on a training part and predicts its fold: with the best value of the grid, if the method may be
// chosen, or with every value on the reported folds.
func (e *evaluation) test(ctx context.Context, m *method, k choose.Gram, p *choose.TrainingPart, x *foldResult) error {
	grid := e.o.Grid()
	if !e.o.OnReported {
		if !e.leads(m, p, &x.Scores) {
			return nil
		}
		if m.kernel == nil { // train does so with a sum
			best, err := e.Refine(ctx, k, p, x.Best)
			if err != nil {
				return err
			}
			x.Best = best
		}
		grid = grid[x.Best : x.Best+1]
	}
	predictions, limited, err := e.Predict(ctx, k, p, grid)
	if err != nil {
		return err
	}
	if limited {
		x.Limited++
	}
	if !e.o.OnReported {
		x.Prediction = predictions[0]
		return nil
	}
	truth := choose.Pick(e.Targets.Labels, e.Splits.Test(p.Repeat, p.Fold))
	for _, y := range predictions {
		x.Confusions = append(x.Confusions, metrics.NewConfusion(truth, y.Labels, len(e.Targets.Classes)))
	}
	return nil
}

// leads reports whether no earlier setting of the same candidate scores at least as well on a
// training part. Only such a setting may be chosen.
func (e *evaluation) leads(m *method, p *choose.TrainingPart, s *choose.Scores) bool {
	earlier := m.siblings[:max(0, slices.Index(m.siblings, m))]
	return !slices.ContainsFunc(earlier, func(other *method) bool {
		return p.Mean(&other.results[p.Repeat*e.Splits.Folds+p.Fold].Scores) >= p.Mean(s)
	})
}
