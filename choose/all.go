package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// mostFactorised is the largest number of graphs whose kernel matrix is factorised. The matrices of more are
// kept in single precision, and learners solve by conjugate gradients; or learners start from some centres,
// where that does not fit into memory. Tests change it.
var mostFactorised = 4096

// heldOutFolds is the number of folds by which graphs are held out where there are more.
const heldOutFolds = 5

// ridgesTried is the number of ridges that are tried on all graphs at first: one below the best of a sample,
// that, and two above it, because more graphs want more.
const ridgesTried = 4

// all is a plan's kernel on all its graphs.
type all struct {
	*choice
	plan  *Plan
	folds []int      // by graph, of the estimate
	sum   kernel.Map // where the matrix is not factorised, with the features of all graphs
	train kernel.Features
	few   int // centres, 0 where a solver has the whole matrix

	groups     *Groups
	groupFolds []int // of whole groups
}

// finish finds what is predicted for graphs that are held out, alone and with their groups, and the learner
// of a plan. Where the choice looked at a sample it finds the estimate as well, and the ridge. For other
// learners than kernel ridge regression, the ridge that the choice was made with stands for their parameter.
func (c *choice) finish(ctx context.Context, p *Plan) error {
	o, x := c.Options, &all{choice: c, plan: p}
	if c.sampled() != nil {
		splits, err := c.Targets.Deal(heldOutFolds, 1, o.Seed)
		if err != nil {
			return err
		}
		x.folds = splits.Fold[0]
	}
	var l *learn.Learner
	var err error
	if !c.iterated(p) {
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
	if o.Learner == learn.KernelRidge && !p.Indefinite {
		p.learner = l
	} else if p.Gram == nil {
		err = c.gram(ctx, p)
	}
	return err
}

// leftPrediction reads what was predicted for graphs that were left out, with their groups or alone.
func (t *Targets) leftPrediction(values *kernel.Matrix, process *learn.Process, groups bool) HeldPredictions {
	p := t.heldOut(values)
	if process != nil {
		if p.Deviations = process.LeaveOneOut; groups {
			p.Deviations = process.HeldOut
		}
	}
	return p
}

// tried is what came of a ridge: what it loses on graphs that were held out, with what predicted them.
type tried struct {
	loss    float64
	left    *learn.Left
	learner *learn.Learner
}

// tryRidges returns the ridge that is best for graphs that are held out. That is the one of the plan or, where
// it was scored on a sample, one near it; where the best is at an end of those that were tried, the
// next one is tried as well. try returns nil for a ridge that is too small, or not needed. The largest of the
// first ones is needed.
func (x *all) tryRidges(ctx context.Context, try func(ctx context.Context, ridges []float64, needed bool) ([]*tried, error)) (*tried, error) {
	o := x.Options
	grid, ridge := o.ridges(), o.Learner == learn.KernelRidge
	first := slices.Index(o.Grid(), x.plan.Parameter)
	end, several := first+1, x.sampled() != nil && ridge
	if several {
		first = max(0, min(first-1, len(grid)-ridgesTried))
		end = min(len(grid), first+ridgesTried)
	}
	found := make([]*tried, len(grid))
	for from, to := first, end; ; {
		some, err := try(ctx, grid[from:to], from == first && to == end)
		if err != nil {
			return nil, err
		}
		copy(found[from:], some)
		best := -1
		for k, f := range found {
			if f != nil && (best < 0 || f.loss <= found[best].loss) { // of equals the largest
				best = k
			}
		}
		switch {
		case end < len(grid) && ridge && (best < 0 || several && best == end-1):
			from, to, end = end, end+1, end+1
		case best < 0:
			return nil, fmt.Errorf("%w for all ridges from %g to %g", learn.ErrDefinite, grid[first], grid[end-1])
		case first > 0 && several && best == first:
			from, to, first = first-1, first, first-1
		default:
			if ridge {
				x.plan.Parameter = grid[best]
			}
			return found[best], nil
		}
	}
}

// tryHeldOut is tryRidges of a solver.
func (x *all) tryHeldOut(ctx context.Context, s solver) (*tried, error) {
	return x.tryRidges(ctx, func(ctx context.Context, ridges []float64, needed bool) ([]*tried, error) {
		held, err := s.HeldOut(ctx, ridges, needed)
		out := make([]*tried, len(held))
		for k, left := range held {
			if left != nil {
				out[k] = &tried{loss: x.leftLoss(left), left: left}
			}
		}
		return out, err
	})
}

// loss returns what is lost by predictions for all graphs: minus the log density of values, which density says,
// or minus the score of classes.
func (x *all) loss(held *kernel.Matrix, density float64) float64 {
	if x.Targets.Regression() {
		return -density
	}
	return -x.gain(x.graphs(), x.Targets.heldOut(held))
}

// graphs returns the positions of all graphs.
func (x *all) graphs() []int { return x.everything.graphs }

// factorise finds what is predicted for every graph from all others, and the learner.
func (x *all) factorise(ctx context.Context) (*learn.Learner, error) {
	p, o := x.plan, x.Options
	if err := x.choice.gram(ctx, p); err != nil {
		return nil, err
	}
	view := learn.Full(p.Gram)
	if p.Indefinite {
		clipped, err := learn.Clip(ctx, view)
		if err != nil {
			return nil, err
		}
		view = learn.Full(clipped.Gram)
	}
	var err error
	if x.groups, x.groupFolds, err = x.choice.groupFolds(ctx, matrixValues(p.Gram)); err != nil {
		return nil, err
	}
	opt := learn.DefaultOptions()
	opt.Kind, opt.Probability, opt.Seed = learn.KernelRidge, o.Probability, o.Seed
	opt.LeaveOneOut = !o.Unscored || p.Regression()
	opt.Folds, opt.Alone = x.groupFolds, x.alone(nil)
	best, err := x.tryRidges(ctx, func(ctx context.Context, ridges []float64, _ bool) ([]*tried, error) {
		out, least := make([]*tried, len(ridges)), math.Inf(1)
		meter := work.NewMeter(ctx, "ridge", 0) // how many are tried is not known before
		for k, ridge := range slices.Backward(ridges) {
			path, err := p.Train(ctx, view, []float64{ridge}, opt)
			meter.Add(1)
			if isDefinite(err) {
				continue
			} else if err != nil {
				return nil, err
			}
			l, density := path[0], 0.0
			if l.Process != nil {
				density = l.Process.Density
			}
			if out[k] = &(tried{learner: l}); l.LeaveOneOut != nil {
				out[k].loss = x.loss(l.LeaveOneOut, density)
			}
			if out[k].loss > least { // and so do smaller ones
				break
			}
			least = out[k].loss
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	l := best.learner
	if l.Process != nil {
		err = l.FitIntervals(ctx, view, p.Values, opt)
	}
	return l, err
}

// alone is Groups.alone of the graphs' own groups, nil where those that are left out are made by the kernel.
func (x *all) alone(folds []int) []bool {
	if x.groupFolds == nil || x.groups != x.Targets.Groups {
		return nil
	}
	return x.groups.alone(folds)
}

// iterate finds what is predicted for the graphs of every fold from the others, and the learner.
func (x *all) iterate(ctx context.Context) (*learn.Learner, error) {
	sum, err := x.choice.all.Fit(ctx, x.plan.Kernel())
	if err != nil {
		return nil, err
	}
	if x.train, err = sum.Train(ctx); err != nil {
		return nil, err
	}
	x.sum = sum
	x.few = x.Options.Centres(x.train.Len())
	x.plan.Centres = x.few
	with, err := x.solvers(ctx)
	if err != nil {
		return nil, err
	}
	s, err := with(ctx, x.folds)
	if err != nil {
		return nil, err
	}
	best, err := x.tryHeldOut(ctx, s)
	if err != nil {
		return nil, err
	}
	x.plan.Nearest = s.Nearest()
	groups, err := x.leaveGroups(ctx, best.left.Ridge, with)
	if err != nil {
		return nil, err
	}
	best.left.Alone = x.alone(x.folds)
	return s.Learn(ctx, best.left, groups, x.Options.Probability)
}

// leftLoss returns what is lost by what a solver predicts.
func (x *all) leftLoss(left *learn.Left) float64 {
	return x.loss(x.targets().Scores(left.Values), left.Density)
}

// solvers returns what makes a solver for folds.
func (x *all) solvers(ctx context.Context) (with func(ctx context.Context, folds []int) (solver, error), err error) {
	if x.few > 0 {
		return func(ctx context.Context, folds []int) (solver, error) { return x.centres(ctx, x.train, x.few, folds) }, nil
	}
	tiles, err := x.matrices.tiles(ctx, x.plan.Kernel(), x.at)
	if tiles == nil && err == nil {
		tiles, err = learn.NewTriangle(ctx, x.sum, x.train)
	}
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
func (x *all) leaveGroups(ctx context.Context, ridge float64, with func(ctx context.Context, folds []int) (solver, error)) (*learn.Left, error) {
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
	held, err := s.HeldOut(ctx, []float64{ridge}, true)
	if err != nil {
		return nil, err
	}
	return held[0], nil
}

func (x *all) targets() learn.Targets {
	return learn.Targets{Labels: x.Targets.Labels, Values: x.Targets.Values, Weights: x.Targets.Weights}
}

// heldOut reads what was predicted for graphs that were held out.
func (t *Targets) heldOut(held *kernel.Matrix) HeldPredictions {
	if t.Regression() {
		return HeldPredictions{Values: held.Data}
	}
	p := HeldPredictions{Labels: make([]int, held.Rows), Scores: make([][]float64, held.Rows)}
	for i := range held.Rows {
		row := held.Row(i)
		p.Labels[i], p.Scores[i] = slices.Index(row, slices.Max(row)), row
	}
	return p
}

// estimate says how good predictions for graphs that were held out are. Where there were several kernels, a
// sample of the graphs took part in their choice. It has most of a rare class, so it cannot be left out.
func (x *all) estimate(held HeldPredictions) Estimate {
	e := x.foldEstimate(held, x.folds)
	e.Method = fmt.Sprintf("%d-fold cross-validation", heldOutFolds)
	if x.sum == nil {
		e.Method = "leave-one-out"
	}
	if x.Options.Learner != learn.KernelRidge {
		e.Method += " of kernel ridge regression"
	}
	e.Method += " of all graphs"
	if len(x.settings) > 1 {
		e.Method += fmt.Sprintf("; %d of them took part in the choice of kernels", len(x.everything.sample))
	}
	return e
}

// foldEstimate returns the error of predictions for all graphs, with the differences between folds.
func (c *choice) foldEstimate(held HeldPredictions, fold []int) Estimate {
	folds := make([][]int, heldOutFolds)
	for i, f := range fold {
		folds[f] = append(folds[f], i)
	}
	predictions := make([]HeldPredictions, len(folds))
	for f, graphs := range folds {
		predictions[f] = held.At(graphs)
	}
	if !c.Targets.Regression() {
		return c.classEstimate(folds, predictions)
	}
	return c.valueEstimate(folds, predictions)
}

// Bytes returns about the memory that a choice among kernels with so many factors takes for n graphs: the
// matrices of factors on the graphs that are scored, what trainings on them take, and what it takes to learn
// from all graphs. Garbage is counted.
func (o *Options) Bytes(n, factors, workers int) int64 {
	scored := int64(n)
	if o.LeaveOneOut {
		scored = int64(min(n, o.Examples))
	}
	sample := 8 * scored * scored * (int64(factors) + trainedCopies*int64(workers))
	all := 8 * int64(n) * int64(n)
	if scored < int64(n) {
		all = o.LearnBytes(n)
	}
	return (max(sample, all) + featureBytes*int64(n)) * (100 + Garbage) / 100
}

// LearnBytes returns about the memory that it takes to learn from n graphs: the copies of their matrix where it
// is factorised, that matrix in single precision, or the sums of regressions on centres where it does not fit. Where
// they do not fit either, it is the smaller of both.
func (o *Options) LearnBytes(n int) int64 {
	if m := o.Centres(n); m > 0 {
		return min(centresBytes(n, m), tilesBytes(n))
	} else if o.LeaveOneOut && o.Learner == learn.KernelRidge && n > max(mostFactorised, o.Examples) {
		return tilesBytes(n)
	}
	return 8 * int64(n) * int64(n) * trainedCopies
}

const (
	trainedCopies = 4      // of a matrix that a training makes
	featureBytes  = 40_000 // what the default kernels keep of a molecule
)

// Centres returns the number of centres from which a sum of kernels on n graphs is learned, 0 where the
// matrix of all graphs fits into Memory.
func (o *Options) Centres(n int) int {
	if o.Learner != learn.KernelRidge || !o.LeaveOneOut || n <= max(mostFactorised, o.Examples) || o.Memory == 0 {
		return 0
	}
	return centresOf(n, o.Memory*100/(100+Garbage)-featureBytes*int64(n))
}
