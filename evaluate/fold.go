package evaluate

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
	choose.HeldPredictions
	// Confusions has the counts for each value of the grid. OnReported only.
	Confusions []metrics.Confusion `json:"confusions,omitempty"`
}

// predicted reports whether the fold is predicted.
func (r *foldResult) predicted() bool {
	return r.Labels != nil || r.Values != nil || r.Confusions != nil
}

// keepEvery is the number of seconds after which what is finished of a method is kept. Without a clock it is always kept.
const keepEvery = 10

// score scores a method on the training parts on which it has no scores. It keeps them now and then.
func (s *session) score(ctx context.Context, m *method, meter *work.Meter) error {
	var missing []*choose.TrainingPart
	for _, p := range s.parts {
		if m.results[s.at(p)].Inner == nil {
			missing = append(missing, p)
		}
	}
	meter.Add(len(s.parts) - len(missing))
	if missing == nil {
		return nil
	}
	start := s.clock()
	k, err := s.gram(ctx, m)
	if err != nil {
		return m.failed(err)
	}
	s.took[m].KernelSeconds += s.clock() - start
	begin := s.clock()
	for last := begin; len(missing) > 0; {
		some := missing[:s.together(missing, work.Workers(ctx))]
		scores, err := s.Score(ctx, k, some)
		if err != nil {
			return m.failed(err)
		}
		for i, p := range some {
			m.results[s.at(p)].Scores = scores[i]
		}
		meter.Add(len(some))
		now := s.clock()
		s.took[m].LearnSeconds += now - begin
		begin, missing = now, missing[len(some):]
		if len(missing) == 0 || s.due(&last) {
			if err := s.folder.write(ctx, s, m, s.stored(m)); err != nil {
				return err
			}
		}
	}
	return nil
}

// together returns how many of the training parts are scored at a time: those of a repeat, which share trainings, or by
// leave-one-out some for each worker.
func (e *evaluation) together(parts []*choose.TrainingPart, workers int) int {
	if e.o.LeaveOneOut {
		return min(len(parts), 2*workers)
	}
	n := slices.IndexFunc(parts, func(p *choose.TrainingPart) bool { return p.Repeat != parts[0].Repeat })
	if n < 0 {
		return len(parts)
	}
	return n
}

// due reports whether results are kept now, and remembers that.
func (e *evaluation) due(last *float64) bool {
	now := e.clock()
	if e.o.Clock != nil && now-*last < keepEvery {
		return false
	}
	*last = now
	return true
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
			if !m.results[s.at(p)].predicted() && (s.o.OnReported || m == s.chosen(row, p)) {
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
		s.took[m].KernelSeconds += s.clock() - start
		if err := s.predictAll(ctx, k, m, missing, meter); err != nil {
			return err
		}
		todo -= len(missing) * m.steps()
	}
	meter.Add(todo) // known before
	return nil
}

// predictAll predicts the folds of training parts by a method, and keeps what is predicted now and then.
func (s *session) predictAll(ctx context.Context, k choose.Gram, m *method, parts []*choose.TrainingPart, meter *work.Meter) error {
	workers := work.Workers(ctx)
	some := min(len(parts), s.o.lanes(len(s.data.Graphs), workers))
	begin := s.clock()
	last, before := begin, s.took[m].LearnSeconds
	var mu sync.Mutex // of the results
	err := work.Each(work.WithWorkers(ctx, some), len(parts), 1, func(_, i int) error {
		defer meter.Add(m.steps())
		at := s.at(parts[i])
		x := m.results[at]
		if err := s.predict(work.WithWorkers(ctx, workers/some), k, parts[i], &x); err != nil {
			return m.failed(err)
		}
		mu.Lock()
		defer mu.Unlock()
		m.results[at] = x
		if !s.due(&last) {
			return nil
		}
		s.took[m].LearnSeconds = before + s.clock() - begin
		return s.folder.write(ctx, s, m, s.stored(m))
	})
	if err != nil {
		return err
	}
	s.took[m].LearnSeconds = before + s.clock() - begin
	return s.folder.write(ctx, s, m, s.stored(m))
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
	var every []choose.HeldPredictions
	if s.o.OnReported {
		every, limited, err = s.Predict(ctx, k, p)
	} else {
		x.HeldPredictions, x.Best, limited, err = s.PredictBest(ctx, k, p, x.Best)
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
