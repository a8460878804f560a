package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/svm"
)

// targets are what is to be learned, of all graphs.
type targets struct {
	classes []string  // names, nil for regression
	labels  []int     // positions in classes
	values  []float64 // for regression
}

func (t *targets) regression() bool { return t.classes == nil }

// prediction is what a trained machine says of some examples.
type prediction struct {
	labels []int
	// scores has one number per example for two classes, larger for the second, and else
	// one per example and class.
	scores []float64
	values []float64
	// limited says that the solver stopped at its limit of iterations.
	limited bool
}

// width returns the number of scores per example.
func (t *targets) width() int {
	if n := len(t.classes); n > 2 {
		return n
	}
	return 1
}

// grid returns the values of the learner's parameter.
func (o *Options) grid() []float64 {
	if o.Learner == Ridge {
		return o.Ridge
	}
	return o.C
}

// learn trains on the graphs train, whose kernel matrix is gram, for each value of a grid,
// and predicts the rows of each cross matrix: out[k][g] is for cross[k] and grid[g].
func (t *targets) learn(ctx context.Context, o *Options, gram svm.View, train []int, grid []float64, cross []svm.View) ([][]prediction, error) {
	out := make([][]prediction, len(cross))
	for k := range out {
		out[k] = make([]prediction, len(grid))
	}
	if t.regression() {
		return out, t.regress(ctx, o, gram, train, grid, cross, out)
	}
	labels := pick(t.labels, train)
	if slices.Min(labels) == slices.Max(labels) { // nothing to tell apart
		for k, c := range cross {
			rows, _ := c.Dims()
			p := prediction{labels: slices.Repeat(labels[:1], rows), scores: make([]float64, rows*t.width())}
			for g := range grid {
				out[k][g] = p
			}
		}
		return out, nil
	}
	if o.Learner == Ridge {
		models, err := ridgePath(ctx, gram, labels, grid, false)
		if err != nil {
			return nil, err
		}
		for k := range cross {
			for g, m := range models {
				if out[k][g], err = t.ridgePrediction(m, cross[k]); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
	models, err := svm.Path(ctx, gram, labels, grid, svm.DefaultOptions())
	limited := errors.Is(err, svm.ErrIterations)
	if err != nil && !limited {
		return nil, err
	}
	for k := range cross {
		for g, m := range models {
			if out[k][g], err = t.machinePrediction(m, cross[k]); err != nil {
				return nil, err
			}
			out[k][g].limited = limited
		}
	}
	return out, nil
}

// ridgePath trains for each ridge.
func ridgePath(ctx context.Context, gram svm.View, labels []int, ridges []float64, leaveOneOut bool) ([]*svm.RidgeClassifier, error) {
	if len(ridges) == 1 {
		m, err := svm.TrainRidgeClassifier(ctx, gram, labels, ridges[0], leaveOneOut)
		return []*svm.RidgeClassifier{m}, err
	}
	d, err := svm.Decompose(ctx, gram)
	if err != nil {
		return nil, err
	}
	return d.RidgePath(labels, ridges)
}

// regressions is ridgePath for values.
func regressions(ctx context.Context, gram svm.View, z, ridges []float64, leaveOneOut bool) ([]*svm.Ridge, error) {
	if len(ridges) == 1 {
		m, err := svm.TrainRidge(ctx, gram, z, ridges[0], leaveOneOut)
		return []*svm.Ridge{m}, err
	}
	d, err := svm.Decompose(ctx, gram)
	if err != nil {
		return nil, err
	}
	return fromDecomposition{d}.values(ctx, z, ridges)
}

// regressor fits regressions with leave-one-out predictions for each ridge.
type regressor interface {
	classes(ctx context.Context, labels []int, ridges []float64) ([]*svm.RidgeClassifier, error)
	values(ctx context.Context, z, ridges []float64) ([]*svm.Ridge, error)
}

// fromGram is a regressor by the kernel matrix of the training graphs.
type fromGram struct{ gram svm.View }

func (f fromGram) classes(ctx context.Context, labels []int, ridges []float64) ([]*svm.RidgeClassifier, error) {
	return ridgePath(ctx, f.gram, labels, ridges, true)
}

func (f fromGram) values(ctx context.Context, z, ridges []float64) ([]*svm.Ridge, error) {
	return regressions(ctx, f.gram, z, ridges, true)
}

// fromDecomposition is a regressor by a decomposition of that matrix.
type fromDecomposition struct{ d *svm.Decomposition }

func (f fromDecomposition) classes(_ context.Context, labels []int, ridges []float64) ([]*svm.RidgeClassifier, error) {
	return f.d.RidgePath(labels, ridges)
}

func (f fromDecomposition) values(_ context.Context, z, ridges []float64) ([]*svm.Ridge, error) {
	out := make([]*svm.Ridge, len(ridges))
	for i, lambda := range ridges {
		var err error
		if out[i], err = f.d.Ridge(z, lambda, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fromInverse is a regressor for the one ridge of an inverse.
type fromInverse struct{ rest *svm.Rest }

func (f fromInverse) classes(_ context.Context, labels []int, _ []float64) ([]*svm.RidgeClassifier, error) {
	m, err := f.rest.RidgeClassifier(labels)
	return []*svm.RidgeClassifier{m}, err
}

func (f fromInverse) values(_ context.Context, z, _ []float64) ([]*svm.Ridge, error) {
	m, err := f.rest.Ridge(z)
	return []*svm.Ridge{m}, err
}

// machinePrediction returns labels by vote, and scores: the decision value for two classes;
// for more, class a scores Σ_b d_ab over the other classes b, where d_ab is the decision
// value of the pair for a, held within ±1 (the margin).
func (t *targets) machinePrediction(c *svm.Classifier, cross svm.View) (prediction, error) {
	d, err := c.Decision(cross)
	if err != nil {
		return prediction{}, err
	}
	labels, err := c.Predict(cross)
	if err != nil {
		return prediction{}, err
	}
	p := prediction{labels: labels, scores: make([]float64, d.Rows*t.width())}
	for i := range d.Rows {
		row := d.Row(i)
		if t.width() == 1 {
			p.scores[i] = -row[0] // the machine speaks for the first class
			continue
		}
		s := p.scores[i*t.width() : (i+1)*t.width()]
		for k := range s {
			s[k] = -float64(len(s)) // less than any class that the machine knows
		}
		for _, k := range c.Classes {
			s[k] = 0
		}
		for m := range c.Machines {
			v := max(-1, min(1, row[m]))
			s[c.Machines[m].Positive] += v
			s[c.Machines[m].Negative] -= v
		}
	}
	return p, nil
}

// ridgePrediction returns the class with the largest regression value, and the values as
// scores (for two classes that of the second). A class that was not trained has −1.
func (t *targets) ridgePrediction(m *svm.RidgeClassifier, cross svm.View) (prediction, error) {
	d, err := m.Decision(cross)
	if err != nil {
		return prediction{}, err
	}
	p := prediction{labels: make([]int, d.Rows), scores: make([]float64, d.Rows*t.width())}
	for i := range d.Rows {
		best := 0
		for k, v := range d.Row(i) {
			if v > d.At(i, best) {
				best = k
			}
		}
		p.labels[i] = m.Classes[best]
		t.ridgeScores(m.Classes, p.scores[i*t.width():], func(c int) float64 { return d.At(i, c) })
	}
	return p, nil
}

// regress learns values in units of their standard deviation on the training part, so that
// the grids and ε mean the same for all data.
func (t *targets) regress(ctx context.Context, o *Options, gram svm.View, train []int, grid []float64, cross []svm.View, out [][]prediction) error {
	z, mean, scale := standardize(pick(t.values, train))
	var predict func(g int, cross svm.View) ([]float64, error)
	limited := false
	if o.Learner == Ridge {
		models, err := regressions(ctx, gram, z, grid, false)
		if err != nil {
			return err
		}
		predict = func(g int, cross svm.View) ([]float64, error) { return models[g].Predict(cross) }
	} else {
		opt := svm.DefaultOptions()
		opt.Epsilon = o.Epsilon
		models, err := svm.RegressorPath(ctx, gram, z, grid, opt)
		if limited = errors.Is(err, svm.ErrIterations); err != nil && !limited {
			return err
		}
		predict = func(g int, cross svm.View) ([]float64, error) { return models[g].Predict(cross) }
	}
	for k := range cross {
		for g := range grid {
			v, err := predict(g, cross[k])
			if err != nil {
				return err
			}
			for i := range v {
				v[i] = mean + scale*v[i]
			}
			out[k][g] = prediction{values: v, limited: limited}
		}
	}
	return nil
}

// leaveOneOut returns, for each ridge, what kernel ridge regression predicts for every
// training graph from the others.
func (t *targets) leaveOneOut(ctx context.Context, fit regressor, train []int, ridges []float64) ([]prediction, error) {
	out := make([]prediction, len(ridges))
	if t.regression() {
		z, mean, scale := standardize(pick(t.values, train))
		models, err := fit.values(ctx, z, ridges)
		if err != nil {
			return nil, err
		}
		for g, r := range models {
			for i := range r.LeaveOneOut {
				r.LeaveOneOut[i] = mean + scale*r.LeaveOneOut[i]
			}
			out[g].values = r.LeaveOneOut
		}
		return out, nil
	}
	labels := pick(t.labels, train)
	if slices.Min(labels) == slices.Max(labels) {
		for g := range out {
			out[g].labels, out[g].scores = labels, make([]float64, len(train)*t.width())
		}
		return out, nil
	}
	models, err := fit.classes(ctx, labels, ridges)
	if err != nil {
		return nil, err
	}
	for g, m := range models {
		out[g].labels = m.LeaveOneOut
		out[g].scores = make([]float64, len(train)*t.width())
		for i := range train {
			t.ridgeScores(m.Classes, out[g].scores[i*t.width():], func(c int) float64 { return m.Ridges[c].LeaveOneOut[i] })
		}
	}
	return out, nil
}

// ridgeScores sets the scores of one example from the regression values of the classes that
// were trained: for two classes that of the second. A class that was not trained has −1.
func (t *targets) ridgeScores(classes []int, scores []float64, value func(c int) float64) {
	if t.width() == 1 {
		scores[0] = value(len(classes) - 1)
		return
	}
	for k := range t.width() {
		scores[k] = -1
	}
	for c, k := range classes {
		scores[k] = value(c)
	}
}

// score returns what the choice of parameters maximises, for predictions of examples.
func (t *targets) score(how Score, examples []int, p prediction) float64 {
	if t.regression() {
		s := 0.0
		for k, i := range examples {
			d := t.values[i] - p.values[k]
			s += d * d
		}
		return -s / float64(len(examples))
	}
	if how == Squared {
		s := 0.0
		for c, z := range t.columns(examples) {
			for k := range examples {
				d := z[k] - p.scores[k*t.width()+c]
				s += d * d
			}
		}
		return -s / float64(len(examples))
	}
	c := NewConfusion(pick(t.labels, examples), p.labels, len(t.classes))
	if how == BalancedAccuracy {
		return c.BalancedAccuracy()
	}
	return c.Accuracy()
}

// standardize returns (x − mean)/scale, scale the standard deviation, or 1 if that is 0.
func standardize(x []float64) (z []float64, m, scale float64) {
	m = mean(x)
	for _, v := range x {
		scale += (v - m) * (v - m)
	}
	scale = math.Sqrt(scale / float64(len(x)))
	if !(scale > 0) {
		scale = 1
	}
	z = make([]float64, len(x))
	for i, v := range x {
		z[i] = (v - m) / scale
	}
	return z, m, scale
}

// pick returns the entries of x at the given positions.
func pick[T any](x []T, at []int) []T {
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = x[i]
	}
	return out
}
