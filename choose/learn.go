package choose

import (
	"context"
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// HeldPredictions are those of a learner for graphs that it was not trained on.
type HeldPredictions struct {
	// Labels are classes, and Scores has a number for each class: its probability, if learners have
	// them.
	Labels []int       `json:"labels,omitempty"`
	Scores [][]float64 `json:"scores,omitempty"`
	// Values are predicted targets of regression.
	Values []float64 `json:"values,omitempty"`
	// Deviations are the standard deviations of Values, nil where they are not known.
	Deviations []float64 `json:"deviations,omitempty"`

	limited bool // the solver stopped at its limit of iterations
}

// At returns the predictions for the graphs at some positions.
func (p HeldPredictions) At(positions []int) HeldPredictions {
	return HeldPredictions{Labels: Pick(p.Labels, positions), Scores: Pick(p.Scores, positions),
		Values: Pick(p.Values, positions), Deviations: Pick(p.Deviations, positions)}
}

// put puts the predictions for some of n graphs at their positions.
func (p *HeldPredictions) put(positions []int, some HeldPredictions, n int) {
	p.Labels = scatter(p.Labels, positions, some.Labels, n)
	p.Scores = scatter(p.Scores, positions, some.Scores, n)
	p.Values = scatter(p.Values, positions, some.Values, n)
	p.Deviations = scatter(p.Deviations, positions, some.Deviations, n)
}

// scatter puts some entries at their positions in a slice of length n, which it makes if need be.
func scatter[T any](to []T, positions []int, some []T, n int) []T {
	if some == nil {
		return to
	}
	if to == nil {
		to = make([]T, n)
	}
	for k, i := range positions {
		to[i] = some[k]
	}
	return to
}

// append puts predictions for other graphs behind those that are there.
func (p *HeldPredictions) append(q HeldPredictions) {
	p.Labels, p.Scores = append(p.Labels, q.Labels...), append(p.Scores, q.Scores...)
	p.Values, p.Deviations = append(p.Values, q.Values...), append(p.Deviations, q.Deviations...)
}

// learn trains on graphs, whose kernel matrix is gram, for each value of a grid, and predicts the
// rows of each cross matrix: out[k][g] is for cross[k] and grid[g]. self has the kernel of the
// predicted graphs with themselves. Without it there are no deviations. apart is what Groups.apart says of
// them.
func (t *Targets) learn(
	ctx context.Context, opt learn.Options, gram learn.View, graphs []int, grid []float64, cross []learn.View, self [][]float64, apart [][]bool,
) ([][]HeldPredictions, error) {
	out := make([][]HeldPredictions, len(cross))
	if t.oneClass(graphs) {
		for k, c := range cross {
			rows, _ := c.Dims()
			out[k] = slices.Repeat([]HeldPredictions{t.Always(graphs, rows)}, len(grid))
		}
		return out, nil
	}
	opt.LeaveOneOut = self != nil && t.Process(opt.Kind)
	opt.Intervals = opt.LeaveOneOut
	path, err := t.Of(graphs).Train(ctx, gram, grid, opt)
	limited := errors.Is(err, learn.ErrIterations)
	if path, err = usable(path, grid, err); err != nil && !limited {
		return nil, err
	}
	for k := range cross {
		for _, l := range path {
			values, err := l.Values(cross[k])
			if err != nil {
				return nil, err
			}
			p := t.read(l, values)
			p.limited = limited
			if opt.LeaveOneOut {
				if p.Deviations, err = deviations(ctx, l, gram, cross[k], self[k], apart[k]); err != nil {
					return nil, err
				}
			}
			out[k] = append(out[k], p)
		}
	}
	return out, nil
}

// usable puts the learner of the next larger ridge in the place of one whose ridge is too small for its
// matrix. Of equal scores the larger ridge is chosen, so the smaller one never is.
func usable(path []*learn.Learner, ridges []float64, err error) ([]*learn.Learner, error) {
	if path == nil || !isDefinite(err) {
		return path, err
	}
	out := slices.Clone(path)
	for i := range path {
		larger := -1
		for j, l := range path {
			if l != nil && ridges[j] >= ridges[i] && (larger < 0 || ridges[j] < ridges[larger]) {
				larger = j
			}
		}
		if larger < 0 {
			return nil, err
		}
		out[i] = path[larger]
	}
	return out, nil
}

// deviations returns those of the values that a learner predicts for new graphs, nil if it knows none.
func deviations(ctx context.Context, l *learn.Learner, gram, cross learn.View, self []float64, apart []bool) ([]float64, error) {
	if l.Process == nil {
		return nil, nil
	}
	d, err := l.Deviations(ctx, cross, self, apart, func(_ context.Context, at []int) (*kernel.Matrix, error) {
		return gram.Select(at, at).Matrix(), nil
	})
	if err != nil {
		return nil, err
	}
	return d.Measured, nil
}

// leaveOneOut returns, for each ridge, what kernel ridge regression predicts for every graph from
// the others.
func (t *Targets) leaveOneOut(ctx context.Context, gram learn.View, graphs []int, ridges []float64) ([]HeldPredictions, error) {
	if t.oneClass(graphs) {
		return slices.Repeat([]HeldPredictions{t.Always(graphs, len(graphs))}, len(ridges)), nil
	}
	opt := learn.DefaultOptions()
	opt.Kind, opt.LeaveOneOut = learn.KernelRidge, true
	path, err := t.Of(graphs).Train(ctx, gram, ridges, opt)
	if path, err = usable(path, ridges, err); err != nil {
		return nil, err
	}
	var out []HeldPredictions
	for _, l := range path {
		p := t.read(l, l.LeaveOneOut)
		if l.Process != nil {
			p.Deviations = l.Process.LeaveOneOut
		}
		out = append(out, p)
	}
	return out, nil
}

// Of returns the targets of some graphs, without the weights of classes.
func (t *Targets) Of(graphs []int) *Targets {
	out := &Targets{Classes: t.Classes, Labels: Pick(t.Labels, graphs), Values: Pick(t.Values, graphs), Groups: t.Groups.of(graphs)}
	if t.Regression() {
		out.Weights = Pick(t.Weights, graphs)
	}
	return out
}

// Train trains for each parameter, as learn.TrainPath does. Values are learned in units of their
// standard deviation. So the grids and ε mean the same for all data. Deviations with opt.Intervals know
// how much harder graphs of other groups are to predict.
func (t *Targets) Train(ctx context.Context, gram learn.View, parameters []float64, opt learn.Options) ([]*learn.Learner, error) {
	if !t.Regression() {
		return learn.TrainPath(ctx, gram, learn.Targets{Labels: t.Labels, Weights: t.Weights}, parameters, opt)
	}
	if opt.Intervals && opt.Folds == nil {
		if opt.Folds = t.Groups.Folds(opt.Seed); opt.Folds != nil {
			opt.Alone = t.Groups.alone(nil)
		}
	}
	z, mean, scale := learn.StandardScores(t.Values, t.Weights)
	path, err := learn.TrainPath(ctx, gram, learn.Targets{Values: z, Weights: t.Weights}, parameters, opt)
	for _, l := range path {
		if l != nil {
			l.Rescale(mean, scale)
		}
	}
	return path, err
}

// read reads the values of a learner's functions for some graphs (rows). A class that it was not
// trained on has the probability 0, or the score −1.
func (t *Targets) read(l *learn.Learner, values *kernel.Matrix) HeldPredictions {
	if t.Regression() {
		return HeldPredictions{Values: values.Data}
	}
	p := HeldPredictions{Labels: make([]int, values.Rows), Scores: make([][]float64, values.Rows)}
	for i := range values.Rows {
		p.Labels[i] = l.Class(values.Row(i))
		score, unknown := l.Scores, -1.0
		if l.Slope > 0 {
			score, unknown = l.Probability, 0
		}
		if p.Scores[i] = score(values.Row(i)); len(l.Classes) < len(t.Classes) {
			all := slices.Repeat([]float64{unknown}, len(t.Classes))
			for c, v := range p.Scores[i] {
				all[l.Classes[c]] = v
			}
			p.Scores[i] = all
		}
	}
	return p
}

// Process reports whether the learner is a Gaussian process: kernel ridge regression on values.
func (t *Targets) Process(learner learn.Kind) bool {
	return learner == learn.KernelRidge && t.Regression()
}

// oneClass reports whether there is nothing to learn, because all graphs are of one class.
func (t *Targets) oneClass(graphs []int) bool {
	return !t.Regression() && !slices.ContainsFunc(graphs, func(i int) bool { return t.Labels[i] != t.Labels[graphs[0]] })
}

// Always predicts the most frequent class of some graphs, the first of equals, with their shares as
// scores.
func (t *Targets) Always(graphs []int, examples int) HeldPredictions {
	shares := make([]float64, len(t.Classes))
	for _, i := range graphs {
		shares[t.Labels[i]] += 1 / float64(len(graphs))
	}
	most := slices.Index(shares, slices.Max(shares))
	return HeldPredictions{Labels: slices.Repeat([]int{most}, examples), Scores: slices.Repeat([][]float64{shares}, examples)}
}
