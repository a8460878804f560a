package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
)

// Plan is what Choose found best for a dataset: a weighted sum of kernels, and the parameter
// of the learner.
type Plan struct {
	// Combination says how the kernels were chosen and weighed.
	Combination Combination
	// Settings are the kernels with their weights, which are positive and sum to 1.
	Settings []WeightedSetting
	Learner  Learner
	// Parameter is C, or the ridge.
	Parameter float64
	// Epsilon is the half width of the tube of SVR, in standard deviations of the targets.
	Epsilon float64

	// Classes are the names of the classes and Labels the class of each graph, a position in
	// Classes; nil for regression, where Values has the targets.
	Classes []string
	Labels  []int
	Values  []float64

	Estimate   CrossEstimate
	Procedures []ProcedureScore
	// Limited is the number of trainings that stopped at the limit of iterations.
	Limited int
	// Indefinite says that some kernel is not positive semi-definite, so that the sum has to
	// be clipped before it is learned from.
	Indefinite bool
}

// WeightedSetting is a setting of a candidate with its weight in a sum of kernels.
type WeightedSetting struct {
	Candidate string
	Setting
	Weight float64
}

// CrossEstimate is a cross-validated score.
type CrossEstimate struct {
	Measure string  // "accuracy", "balanced accuracy" or "rmse"
	Value   float64 // accuracies are shares
	// Deviation is the standard error that the differences between folds suggest.
	Deviation float64
	Method    string // how it was found, and what it does not account for
}

// ProcedureScore is the score of one way to combine kernels, by which they are compared.
type ProcedureScore struct {
	Combination Combination
	Measure     string
	Value       float64
}

// Choose does with a dataset what Run evaluates with the training part of every outer fold:
// it deals the graphs to Folds−1 folds, scores every setting, every value of the learner's
// grid and every combination by predicting each fold from the others (or each graph, with
// LeaveOneOut), and takes the best setting with its value, or the last combination that has
// weights. Kernels are fitted to all graphs without their targets, as
// Transductive does. o.Repeats, o.Splits, o.Folder and o.Averages have no effect, and Folds becomes the
// number of graphs where that is less.
//
// It keeps the kernel matrices of all settings in memory where combinations are learned.
func Choose(ctx context.Context, d *dataset.Dataset, candidates []Candidate, o Options) (*Plan, error) {
	o.Repeats, o.Splits, o.Folder, o.Selection, o.Averages = 1, nil, "", Nested, false
	o.Folds = min(o.Folds, len(d.Graphs))
	e, err := newEngine(d, candidates, &o)
	if err != nil {
		return nil, err
	}
	if o.Folds < 3 {
		return nil, fmt.Errorf("%d folds leave one for training when one validates, want at least 3", o.Folds)
	}
	// The outer fold whose training part is everything is one without graphs.
	var splits *Splits
	if e.targets.regression() {
		splits, err = ValueSplits(e.targets.values, o.Folds-1, 1, o.Seed)
	} else {
		splits, err = StratifiedSplits(e.targets.labels, o.Folds-1, 1, o.Seed)
	}
	if err != nil {
		return nil, err
	}
	splits.Folds++
	e.splits = splits
	return e.plan(ctx)
}

// plan chooses for the last fold of the first repeat, whose training part is everything else.
func (e *engine) plan(ctx context.Context) (*Plan, error) {
	if e.first == len(e.settings) {
		return nil, errors.New("no candidates to choose from")
	}
	outer := e.splits.Folds - 1
	mix, err := e.scoreAll(ctx, outer)
	if err != nil {
		return nil, err
	}
	procedures, combinations := e.procedures()
	p := &Plan{Learner: e.o.Learner, Epsilon: e.o.Epsilon, Classes: e.targets.classes, Labels: e.targets.labels, Values: e.targets.values}
	weight := e.weights(0, outer)
	for i, methods := range procedures {
		scores := e.procedure(0, outer, methods)
		p.Procedures = append(p.Procedures, ProcedureScore{combinations[i], e.measure(), e.shown(weighted(scores, weight))})
		if i == 0 {
			p.Estimate = e.estimate(outer, scores, len(methods))
		}
	}
	of := procedures[0]
	p.Combination = combinations[0]
	if e.twoStages() && len(of) > few {
		for _, m := range e.finalistsOf(of, 0, outer) {
			k, err := e.gram(ctx, e.methods[m].kernel)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.methods[m].parameters, err)
			}
			if err := e.final(ctx, m, fixed{m: k, clip: !semidefinite(e.methods[m].kernel)}, 0, &e.results[m][0][outer]); err != nil {
				return nil, fmt.Errorf("%s %s: %w", e.methods[m].name, e.methods[m].parameters, err)
			}
		}
	}
	m, c := e.take(0, outer, of)
	p.Parameter = e.o.grid()[c]
	for i := e.first; i < len(e.methods); i++ {
		p.Limited += e.results[i][0][outer].Limited
	}
	weights := make([]float64, len(e.settings)-e.first)
	if m < len(e.settings) {
		weights[m-e.first] = 1
	} else if weights, err = mix.weights(ctx, e.methods[m].combination, 0, []int{outer}, e.splits.Without(0, outer)); err != nil {
		return nil, err
	}
	for i, w := range weights {
		if s := e.settings[e.first+i]; w > 0 {
			p.Settings = append(p.Settings, WeightedSetting{e.candidates[s.candidate].Name, s.Setting, w})
			p.Indefinite = p.Indefinite || !semidefinite(s.Kernel)
		}
	}
	return p, nil
}

// procedures returns the methods that each procedure chooses from, and their names: that which is
// taken first, the last of the learned combinations, then the others, and best single last.
func (e *engine) procedures() (of [][]int, names []Combination) {
	for m := len(e.methods) - 1; m >= len(e.settings); m-- {
		of, names = append(of, []int{m}), append(names, e.methods[m].combination)
	}
	if len(of) == 0 || slices.Contains(e.o.Combinations, BestSingle) {
		of, names = append(of, e.combined()), append(names, BestSingle)
	}
	return of, names
}

// scoreAll sets the inner scores of all methods for an outer fold. While one kernel matrix is
// computed the one before is learned from.
func (e *engine) scoreAll(ctx context.Context, outer int) (mix *mixer, err error) {
	learned := len(e.methods) > len(e.settings)
	matrices := make([]*mlg.Matrix, len(e.settings))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := 0
	score := func(m int, s source) error {
		r := &e.results[m][0][outer]
		r.Fold = outer
		if err := e.innerScores(ctx, s, r); err != nil {
			return fmt.Errorf("%s %s: %w", e.methods[m].name, e.methods[m].parameters, err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		done++
		if e.o.Progress != nil {
			e.o.Progress(done, len(e.methods)-e.first)
		}
		return nil
	}
	var before sync.WaitGroup
	for m := e.first; m < len(e.settings); m++ {
		k, err := e.gram(ctx, e.methods[m].kernel)
		before.Wait()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.methods[m].parameters, err)
		}
		if learned {
			if err := unitDiagonal(k, e.methods[m].parameters); err != nil {
				return nil, err
			}
			matrices[m] = k
		}
		before.Go(func() {
			if err := score(m, fixed{m: k, clip: !semidefinite(e.methods[m].kernel)}); err != nil {
				cancel(err)
			}
		})
	}
	before.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if learned {
		mix = newMixer(e, e.combined())
		mix.matrices = matrices[e.first:]
	}
	for m := len(e.settings); m < len(e.methods); m++ {
		if err := score(m, mix.of(e.methods[m].combination)); err != nil {
			return nil, err
		}
	}
	return mix, nil
}

// innerScores sets Inner and Best of one result.
func (e *engine) innerScores(ctx context.Context, s source, r *foldResult) error {
	if e.o.Inner == LeaveOneOut {
		return e.ridgeScores(ctx, s, 0, r)
	}
	one := []foldResult{*r}
	err := e.foldScores(ctx, s, 0, one, func(n int, f func(int) error) error { return e.pool.each(ctx, n, f) })
	*r = one[0]
	return err
}

// estimate describes the scores of a procedure that chooses among so many methods. What the other
// validators choose for one comes from trainings that contain it: it is not a nested cross-validation.
func (e *engine) estimate(outer int, scores []float64, methods int) CrossEstimate {
	weight := e.weights(0, outer)
	out := CrossEstimate{Measure: e.measure(), Value: e.shown(weighted(scores, weight))}
	if n := float64(len(scores)); n > 1 {
		out.Deviation = deviation(scores) / math.Sqrt(n)
		if e.targets.regression() && out.Value > 0 { // of the root: d√x = dx/(2√x)
			out.Deviation /= 2 * out.Value
		}
	}
	switch {
	case e.o.Inner == LeaveOneOut:
		out.Method = "leave-one-out of kernel ridge regression"
		if all := len(e.graphs); all > e.o.Examples {
			out.Method += fmt.Sprintf(" on %d of %d graphs, too low for a model of all", e.o.Examples, all)
		}
	default:
		out.Method = fmt.Sprintf("%d-fold cross-validation", len(scores))
	}
	if methods > 1 || len(e.o.grid()) > 1 {
		out.Method += ", each fold with what the others choose; not fully nested"
	}
	return out
}

// measure names what shown returns.
func (e *engine) measure() string {
	switch {
	case e.targets.regression():
		return "rmse"
	case e.o.Score == BalancedAccuracy:
		return "balanced accuracy"
	}
	return "accuracy"
}

// shown turns a score into the figure that people know.
func (e *engine) shown(score float64) float64 {
	if e.targets.regression() {
		return math.Sqrt(max(0, -score))
	}
	return score
}
