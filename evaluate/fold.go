package evaluate

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
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

// score scores a method on every training part.
func (s *session) score(ctx context.Context, m *method) (*storedResults, error) {
	start := s.clock()
	k, err := s.gram(ctx, m)
	if err != nil {
		return nil, m.failed(err)
	}
	fitted := s.clock()
	scores, err := s.Score(ctx, k, s.parts)
	if err != nil {
		return nil, m.failed(err)
	}
	out := &storedResults{Folds: make([]foldResult, len(s.parts)), seconds: seconds{fitted - start, s.clock() - fitted}}
	for i := range scores {
		out.Folds[i].Scores = scores[i]
	}
	return out, s.folder.write(ctx, s, m, out)
}

// gram returns the matrix of a method, whose kernels are fitted.
func (s *session) gram(ctx context.Context, m *method) (choose.Gram, error) {
	if m.kernel == nil {
		return choose.Mixture{Mixer: s.mixer, How: m.combination}, nil
	}
	if _, err := s.graphs.In.Fit(ctx, m.kernel); err != nil {
		return nil, err
	}
	return s.graphs.Of(m.kernel)
}

// failed says which method an error is about.
func (m *method) failed(err error) error {
	if err == nil {
		return nil
	}
	what := m.name
	if m.parameters != "" && m.parameters != what {
		what += " " + m.parameters
	}
	return fmt.Errorf("%s: %w", what, err)
}

// lanes returns the number of training parts of n graphs that are trained on at the same time, in half of the
// memory.
func (o *Options) lanes(n, workers int) int {
	return int(max(1, min(int64(workers), o.memory()/2/o.LearnBytes(n))))
}

// test predicts the folds of a row of the report: each by the method that is best on its training part, and on
// the reported folds by every method.
func (s *session) test(ctx context.Context, row reportRow, meter *work.Meter) error {
	todo := len(s.parts) * s.steps(row)
	for _, m := range row.methods {
		var missing []*choose.TrainingPart
		for _, p := range s.parts {
			x := &m.results[s.at(p)]
			if x.Labels == nil && x.Values == nil && x.Confusions == nil && (s.o.OnReported || m == s.chosen(row, p)) {
				missing = append(missing, p)
			}
		}
		if missing == nil {
			continue
		}
		start := s.clock()
		k, err := s.gram(ctx, m)
		if err != nil {
			return m.failed(err)
		}
		fitted := s.clock()
		workers := work.Workers(ctx)
		some := min(len(missing), s.o.lanes(len(s.data.Graphs), workers))
		err = work.Each(work.WithWorkers(ctx, some), len(missing), 1, func(_, i int) error {
			defer meter.Add(m.steps())
			return s.predict(work.WithWorkers(ctx, workers/some), k, missing[i], &m.results[s.at(missing[i])])
		})
		if err != nil {
			return m.failed(err)
		}
		todo -= len(missing) * m.steps()
		s.took[m].KernelSeconds += fitted - start
		s.took[m].LearnSeconds += s.clock() - fitted
		if err := s.folder.write(ctx, s, m, s.stored(m)); err != nil {
			return err
		}
	}
	meter.Add(todo) // known before
	return nil
}

// chosen returns the method of a row that is best on a training part, the first of equals.
func (e *evaluation) chosen(row reportRow, p *choose.TrainingPart) *method {
	scores := make([]*choose.Scores, len(row.methods))
	for k, m := range row.methods {
		scores[k] = &m.results[e.at(p)].Scores
	}
	return row.methods[e.Choose(p, scores)]
}

// stored returns the results of a method, as a file has them.
func (s *session) stored(m *method) *storedResults {
	out := &storedResults{seconds: *s.took[m]}
	for _, p := range s.parts {
		out.Folds = append(out.Folds, m.results[s.at(p)])
	}
	return out
}

// predict trains on a training part and predicts its fold: with the best value of the grid, or with every value
// on the reported folds.
func (s *session) predict(ctx context.Context, k choose.Gram, p *choose.TrainingPart, x *foldResult) (err error) {
	limited := false
	var every []choose.Prediction
	if s.o.OnReported {
		every, limited, err = s.Predict(ctx, k, p)
	} else {
		x.Prediction, x.Best, limited, err = s.PredictBest(ctx, k, p, x.Best)
	}
	if limited {
		x.Limited++
	}
	truth := choose.Pick(s.Targets.Labels, s.Splits.Test(p.Repeat, p.Fold))
	for _, y := range every {
		x.Confusions = append(x.Confusions, metrics.NewConfusion(truth, y.Labels, len(s.Targets.Classes)))
	}
	return err
}
