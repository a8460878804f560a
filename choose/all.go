package choose

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/svm"
)

// MostFactorised is the largest number of graphs whose kernel matrix is factorised. The matrices of more are
// kept in single precision, and learners solve by conjugate gradients; or learners start from some centres,
// where that does not fit into memory. Tests change it.
var MostFactorised = 4096

// heldOutFolds is the number of folds by which graphs are held out where there are more.
const heldOutFolds = 5

// ridgesTried is the number of ridges that are tried on all graphs: one below the best of a sample, that,
// and two above it, because more graphs want more.
const ridgesTried = 4

// all is a plan's kernel on all its graphs.
type all struct {
	*choice
	plan   *Plan
	ridges []float64  // that are tried
	folds  []int      // by graph, of the estimate
	sum    kernel.Map // where the matrix is not factorised, with the features of all graphs
	train  kernel.Features
	few    int // centres, 0 where a solver has the whole matrix

	groups     *Groups
	groupFolds []int // of whole groups
}

// finish finds what is predicted for graphs that are held out, alone and with their groups, and the learner
// of a plan. Where the choice looked at a sample it finds the estimate as well and, for sums of kernels, the
// ridge. For other learners than kernel ridge regression, the ridge that the choice was made with stands
// for their parameter.
func (c *choice) finish(ctx context.Context, p *Plan) error {
	o := c.Options
	at := slices.Index(o.Grid(), p.Parameter)
	x := &all{choice: c, plan: p, ridges: o.ridges()[at : at+1]}
	if c.sampled() != nil && len(c.sums) > 0 && o.Learner == svm.KernelRidge {
		first, end := o.nearRidges(at)
		x.ridges = o.Ridge[first:end]
	}
	if c.sampled() != nil {
		splits, err := c.Targets.Deal(heldOutFolds, 1, o.Seed)
		if err != nil {
			return err
		}
		x.folds = splits.Fold[0]
	}
	var l *svm.Learner
	var err error
	if exact := len(x.graphs()) <= MostFactorised || p.Indefinite || c.sampled() == nil; exact {
		l, err = x.factorise(ctx)
	} else {
		l, err = x.iterate(ctx)
	}
	if err != nil {
		return err
	}
	if c.part {
		p.learner = l
		return nil
	}
	p.Held = c.Targets.leftPrediction(l.LeaveOneOut, l.Process, false)
	if c.sampled() != nil {
		p.Estimate = x.estimate(p.Held)
		if x.few > 0 {
			loss, err := x.compare(ctx, p.Parameter)
			if err != nil {
				return err
			}
			p.Estimate.Method += loss
		}
	}
	if !p.Regression() && o.Probability {
		p.Held = calibrated(o.Learner, p.Labels, p.Held)
	}
	if l.HeldOut != nil {
		p.HeldGroups = c.Targets.leftPrediction(l.HeldOut, l.Process, true)
		c.tellGroups(p, x.groups, x.groupFolds)
	}
	if o.Learner == svm.KernelRidge && !p.Indefinite {
		p.learner = l
	} else if p.Gram == nil {
		err = c.gram(ctx, p)
	}
	return err
}

// leftPrediction reads what was predicted for graphs that were left out, with their groups or alone.
func (t *Targets) leftPrediction(values *kernel.Matrix, process *svm.Process, groups bool) Prediction {
	p := t.heldOut(values)
	if process != nil {
		if p.Deviations = process.LeaveOneOut; groups {
			p.Deviations = process.HeldOut
		}
	}
	return p
}

// bestRidge returns the ridge whose predictions of graphs lose least, −1 if all are too small for the
// matrix. For classes it is the largest one that does not lose more than that by a standard error: the
// log loss is flat, because calibration makes up for a small ridge, and the order of graphs is better
// with a larger one.
func (t *Targets) bestRidge(graphs []int, held []*Prediction) int {
	best := -1
	losses := make([][]float64, len(held))
	for k, h := range held {
		if h == nil {
			continue
		}
		losses[k] = t.losses(graphs, *h)
		if best < 0 || metrics.Mean(losses[k]) < metrics.Mean(losses[best]) {
			best = k
		}
	}
	if best < 0 || t.Regression() {
		return best
	}
	for k := len(losses) - 1; k > best; k-- {
		if losses[k] == nil {
			continue
		}
		if more, deviation := difference(losses[k], losses[best]); more <= deviation {
			return k
		}
	}
	return best
}

// nearRidges returns the positions in the grid of the ridges that are tried on all graphs, from first to
// below end, where a sample has found the one at best.
func (o *Options) nearRidges(best int) (first, end int) {
	first = max(0, min(best-1, len(o.Ridge)-ridgesTried))
	return first, min(len(o.Ridge), first+ridgesTried)
}

// leftOut returns what kernel ridge regression predicts for every graph from the others, by ridge; nil for
// a ridge that is too small.
func (t *Targets) leftOut(ctx context.Context, gram svm.View, ridges []float64) ([]*Prediction, error) {
	var out []*Prediction
	for _, ridge := range ridges {
		opt := svm.DefaultOptions()
		opt.Kind, opt.LeaveOneOut = svm.KernelRidge, true
		path, err := t.Train(ctx, gram, []float64{ridge}, opt)
		switch {
		case err == nil:
			p := t.leftPrediction(path[0].LeaveOneOut, path[0].Process, false)
			out = append(out, &p)
		case isDefinite(err):
			out = append(out, nil)
		default:
			return nil, err
		}
	}
	return out, nil
}

// graphs returns the positions of all graphs.
func (x *all) graphs() []int { return x.everything.graphs }

// factorise finds what is predicted for every graph from all others, and the learner.
func (x *all) factorise(ctx context.Context) (*svm.Learner, error) {
	p, o := x.plan, x.Options
	if err := x.choice.gram(ctx, p); err != nil {
		return nil, err
	}
	view := svm.Full(p.Gram)
	if p.Indefinite {
		clipped, err := svm.Clip(ctx, view)
		if err != nil {
			return nil, err
		}
		view = svm.Full(clipped.Gram)
	}
	ridge := x.ridges[0]
	if len(x.ridges) > 1 {
		held, err := x.Targets.leftOut(ctx, view, x.ridges)
		if err != nil {
			return nil, err
		}
		if ridge, err = x.best(held); err != nil {
			return nil, err
		}
	}
	opt := svm.DefaultOptions()
	opt.Kind, opt.LeaveOneOut, opt.Intervals, opt.Probability, opt.Seed = svm.KernelRidge, true, true, o.Probability, o.Seed
	var err error
	if x.groups, x.groupFolds, err = x.choice.groupFolds(ctx, matrixValues(p.Gram)); err != nil {
		return nil, err
	}
	opt.Folds, opt.Alone = x.groupFolds, x.alone(nil)
	for at := slices.Index(o.ridges(), ridge); ; at++ {
		path, err := p.Train(ctx, view, []float64{ridge}, opt) // with weights
		if isDefinite(err) && o.Learner == svm.KernelRidge && at+1 < len(o.Ridge) {
			ridge = o.Ridge[at+1]
			continue
		}
		if err != nil {
			return nil, err
		}
		if o.Learner == svm.KernelRidge {
			p.Parameter = ridge
		}
		return path[0], nil
	}
}

// alone is Groups.alone of the graphs' own groups, nil where those that are left out are made by the kernel.
func (x *all) alone(folds []int) []bool {
	if x.groupFolds == nil || x.groups != x.Targets.Groups {
		return nil
	}
	return x.groups.alone(folds)
}

// best returns the ridge whose predictions of graphs that were held out are best.
func (x *all) best(held []*Prediction) (float64, error) {
	at := x.Targets.bestRidge(x.graphs(), held)
	if at < 0 {
		return 0, fmt.Errorf("%w for all ridges from %g to %g", svm.ErrDefinite, x.ridges[0], x.ridges[len(x.ridges)-1])
	}
	return x.ridges[at], nil
}

// iterate finds what is predicted for the graphs of every fold from the others, and the learner.
func (x *all) iterate(ctx context.Context) (*svm.Learner, error) {
	sum, err := x.choice.all.Fit(ctx, x.plan.Kernel())
	if err != nil {
		return nil, err
	}
	if x.train, err = sum.Train(ctx); err != nil {
		return nil, err
	}
	x.sum = sum
	x.few = centresOf(x.train.Len(), freeBytes(0))
	with, err := x.solvers(ctx)
	if err != nil {
		return nil, err
	}
	s, err := with(ctx, x.folds)
	if err != nil {
		return nil, err
	}
	values, err := s.HeldOut(ctx, x.ridges)
	if err != nil {
		return nil, err
	}
	x.plan.Nearest = s.Nearest()
	held := make([]*Prediction, len(x.ridges))
	for k, v := range values {
		if v != nil {
			p := x.read(v)
			held[k] = &p
		}
	}
	ridge, err := x.best(held)
	if err != nil {
		return nil, err
	}
	if x.Options.Learner == svm.KernelRidge {
		x.plan.Parameter = ridge
	}
	groups, err := x.leaveGroups(ctx, ridge, with)
	if err != nil {
		return nil, err
	}
	left := svm.Left{Folds: x.folds, Alone: x.alone(x.folds), Values: values[slices.Index(x.ridges, ridge)]}
	return s.Learn(ctx, ridge, left, groups, x.Options.Probability)
}

// solvers returns what makes a solver for folds.
func (x *all) solvers(ctx context.Context) (with func(ctx context.Context, folds []int) (solver, error), err error) {
	if x.few > 0 {
		return func(ctx context.Context, folds []int) (solver, error) { return x.centres(ctx, x.train, x.few, folds) }, nil
	}
	tiles, err := svm.NewTiles(ctx, x.sum, x.train)
	if err != nil {
		return nil, err
	}
	s, err := x.tiles(ctx, tiles)
	return func(_ context.Context, folds []int) (solver, error) {
		s.folds = folds
		return s, nil
	}, err
}

// leaveGroups finds what is predicted for graphs from those of other groups, nil without groups.
func (x *all) leaveGroups(ctx context.Context, ridge float64, with func(ctx context.Context, folds []int) (solver, error)) (*svm.Left, error) {
	values, err := featureValues(ctx, x.sum, x.train)
	if err != nil {
		return nil, err
	}
	if x.groups, x.groupFolds, err = x.choice.groupFolds(ctx, values); x.groupFolds == nil {
		return nil, err
	}
	s, err := with(ctx, x.groupFolds)
	if err != nil {
		return nil, err
	}
	left, err := s.HeldOut(ctx, []float64{ridge})
	if err != nil || left[0] == nil {
		return nil, err
	}
	return &svm.Left{Folds: x.groupFolds, Values: left[0]}, nil
}

func (x *all) targets() svm.Targets {
	t := svm.Targets{Labels: x.Targets.Labels, Values: x.Targets.Values}
	if x.plan != nil {
		t.Weights = x.plan.Weights
	}
	return t
}

// heldOut reads what was predicted for graphs that were held out.
func (t *Targets) heldOut(held *kernel.Matrix) Prediction {
	if t.Regression() {
		return Prediction{Values: held.Data}
	}
	p := Prediction{Labels: make([]int, held.Rows), Scores: make([][]float64, held.Rows)}
	for i := range held.Rows {
		row := held.Row(i)
		p.Labels[i], p.Scores[i] = slices.Index(row, slices.Max(row)), row
	}
	return p
}

// read reads what was predicted for Columns of the targets.
func (x *all) read(values *kernel.Matrix) Prediction {
	return x.Targets.heldOut(x.targets().Scores(values))
}

// estimate says how good predictions for graphs that were held out are. A sample of them took part in
// the choice of kernels. It has most of a rare class, so it cannot be left out.
func (x *all) estimate(held Prediction) Estimate {
	e := x.foldEstimate(held, x.folds)
	e.Method = fmt.Sprintf("%d-fold cross-validation", heldOutFolds)
	if x.sum == nil {
		e.Method = "leave-one-out"
	}
	if x.Options.Learner != svm.KernelRidge {
		e.Method += " of kernel ridge regression"
	}
	e.Method += fmt.Sprintf(" of all graphs; %d of them took part in the choice of kernels", len(x.everything.sample))
	return e
}

// foldEstimate returns the error of predictions for all graphs, with the differences between folds.
func (c *choice) foldEstimate(held Prediction, fold []int) Estimate {
	folds := make([][]int, heldOutFolds)
	for i, f := range fold {
		folds[f] = append(folds[f], i)
	}
	predictions := make([]Prediction, len(folds))
	for f, graphs := range folds {
		predictions[f] = held.at(graphs)
	}
	if !c.Targets.Regression() {
		return c.classEstimate(folds, predictions)
	}
	return c.valueEstimate(folds, predictions)
}

// Bytes returns about the memory that a choice among kernels with so many factors takes for n graphs: the
// matrices of factors on the graphs that are scored, what trainings on them take, and the matrix of the sum on
// all graphs with what learns from it, or the sums of regressions on centres where that does not fit. Garbage
// is counted.
func (o *Options) Bytes(n, factors, workers int) int64 {
	scored := int64(n)
	if o.LeaveOneOut {
		scored = int64(min(n, o.Examples))
	}
	const copies = 4 // of a matrix that a training makes
	sample := 8 * scored * scored * (int64(factors) + copies*int64(workers))
	all := 8 * int64(n) * int64(n) * copies
	if m := o.Centres(n); m > 0 {
		all = centresBytes(n, m)
	} else if scored < int64(n) && o.Learner == svm.KernelRidge && n > MostFactorised {
		all = tilesBytes(n)
	} else if scored == int64(n) {
		all = 8 * int64(n) * int64(n)
	}
	return (max(sample, all) + featureBytes*int64(n)) * (100 + Garbage) / 100
}

// featureBytes is what the default kernels keep of a molecule.
const featureBytes = 40_000

// Centres returns the number of centres from which a sum of kernels on n graphs is learned, 0 where the
// matrix of all graphs fits into the memory that is free now.
func (o *Options) Centres(n int) int {
	if o.Learner != svm.KernelRidge || !o.LeaveOneOut || n <= max(MostFactorised, o.Examples) {
		return 0
	}
	return centresOf(n, freeBytes(featureBytes*int64(n)))
}
