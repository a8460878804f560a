package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/svm"
)

// exactMost is the largest number of graphs whose kernel matrix is factorised. The matrices of more are
// kept in single precision, and learners solve by conjugate gradients; or learners know the kernel values
// with some graphs only, where that does not fit into memory. Tests change it.
var exactMost = 4096

// heldOutFolds is the number of folds by which graphs are held out where there are more.
const heldOutFolds = 5

// ridgesTried is the number of ridges that are tried on all graphs: one below the best of a sample, that,
// and two above it, because more graphs want more.
const ridgesTried = 4

// all is a plan's kernel on all its graphs, where the choice looked at a sample.
type all struct {
	*choice
	plan   *Plan
	ridges []float64      // that are tried
	gram   *kernel.Matrix // of up to exactMost graphs, and of kernels that are clipped
	solver solver         // of more
	sum    kernel.Map     // for the solver, with the features of all graphs
	train  kernel.Features
	few    int   // centres, 0 where the solver has the whole matrix
	folds  []int // by graph, of the estimate
	// held has, by ridge, what is predicted for graphs that were held out; nil for a ridge that is too
	// small or was not tried. values has the same for the solver, as svm.Learner.Values has it.
	held   []*Prediction
	values []*kernel.Matrix
}

// finish finds what is predicted for all graphs that are held out, the estimate and, for sums of kernels,
// the ridge. For other learners than kernel ridge regression, the ridge that the choice was made with
// stands for their parameter.
func (c *choice) finish(ctx context.Context, p *Plan) error {
	o := c.Options
	at := slices.Index(o.Grid(), p.Parameter)
	x := &all{choice: c, plan: p, ridges: o.ridges()[at : at+1]}
	if len(c.sums) > 0 && o.Learner == svm.KernelRidge {
		first, end := o.nearRidges(at)
		x.ridges = o.Ridge[first:end]
	}
	splits, err := c.Targets.Deal(heldOutFolds, 1, o.Seed)
	if err != nil {
		return err
	}
	x.folds = splits.Fold[0]
	if len(x.graphs()) <= exactMost || p.Indefinite {
		err = x.factorise(ctx)
	} else {
		err = x.iterate(ctx)
	}
	if err != nil {
		return err
	}
	best := c.Targets.bestRidge(x.graphs(), x.held)
	if best < 0 {
		return fmt.Errorf("%w for all ridges from %g to %g", svm.ErrDefinite, x.ridges[0], x.ridges[len(x.ridges)-1])
	}
	p.Held = *x.held[best]
	p.Estimate = x.estimate(p.Held)
	if x.few > 0 {
		loss, err := x.compare(ctx, x.ridges[best])
		if err != nil {
			return err
		}
		p.Estimate.Method += loss
	}
	p.Procedures[0].Estimate = p.Estimate
	if !p.Regression() && o.Probability {
		p.Held = calibrated(o.Learner, p.Labels, p.Held)
	}
	if o.Learner != svm.KernelRidge {
		if p.Gram == nil {
			p.Gram, err = c.all.Gram(ctx, p.Kernel())
		}
		return err
	}
	p.Parameter = x.ridges[best]
	if x.solver != nil {
		p.learner, err = x.solver.Learn(ctx, p.Parameter, x.values[best], o.Probability)
		if err == nil && p.learner.Process != nil {
			p.Held.Deviations = slices.Clone(p.learner.Process.LeaveOneOut)
		}
	}
	return err
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
			p := t.heldOut(path[0].LeaveOneOut)
			if path[0].Process != nil {
				p.Deviations = path[0].Process.LeaveOneOut
			}
			out = append(out, &p)
		case isDefinite(err):
			out = append(out, nil)
		default:
			return nil, err
		}
	}
	return out, nil
}

// Refine returns the position in the grid of the ridge that is best on all graphs of a training part,
// where that at best was found on a sample of them. Choose does the same. Other learners, and parts that
// were scored as a whole, keep theirs.
func (c *Chooser) Refine(ctx context.Context, k Gram, p *TrainingPart, best int) (int, error) {
	o := c.Options
	if !o.LeaveOneOut || o.Learner != svm.KernelRidge || len(p.sample) == len(p.graphs) || c.Targets.oneClass(p.graphs) {
		return best, nil
	}
	gram, _, err := k.On(ctx, TrainingSet{p.Repeat, p.Fold, p.Fold, p.graphs})
	if err != nil {
		return 0, err
	}
	first, end := o.nearRidges(best)
	some := c.Targets.of(p.graphs)
	if some.Regression() || len(some.present()) == len(some.Classes) {
		held, err := some.leftOut(ctx, gram, o.Ridge[first:end])
		if err != nil {
			return 0, err
		}
		all := make([]int, len(p.graphs))
		for i := range all {
			all[i] = i
		}
		if at := some.bestRidge(all, held); at >= 0 {
			return first + at, nil
		}
	}
	return best, nil
}

// present returns the classes that some graph has.
func (t *Targets) present() []int {
	out := slices.Clone(t.Labels)
	slices.Sort(out)
	return slices.Compact(out)
}

// graphs returns the positions of all graphs.
func (x *all) graphs() []int { return x.everything.graphs }

// factorise finds what is predicted for every graph from all others.
func (x *all) factorise(ctx context.Context) (err error) {
	if x.gram, err = x.choice.all.Gram(ctx, x.plan.Kernel()); err != nil {
		return err
	}
	x.plan.Gram = x.gram
	view := svm.Full(x.gram)
	if x.plan.Indefinite {
		clipped, err := svm.Clip(ctx, view)
		if err != nil {
			return err
		}
		view = svm.Full(clipped.Gram)
	}
	x.held, err = x.Targets.leftOut(ctx, view, x.ridges)
	return err
}

// iterate finds what is predicted for the graphs of every fold from the others.
func (x *all) iterate(ctx context.Context) error {
	sum, err := x.choice.all.Fit(ctx, x.plan.Kernel())
	if err != nil {
		return err
	}
	train, err := sum.Train(ctx)
	if err != nil {
		return err
	}
	x.sum, x.train = sum, train
	if x.few = centresOf(train.Len(), freeBytes(0)); x.few == 0 {
		tiles, err := svm.NewTiles(ctx, sum, train)
		if err != nil {
			return err
		}
		x.plan.Nearest = tiles.Nearest()
		x.solver, err = x.tiles(ctx, tiles)
	} else {
		if x.plan.Nearest, err = x.nearest(ctx); err != nil {
			return err
		}
		x.solver, err = x.centres(ctx, train, x.few)
	}
	if err != nil {
		return err
	}
	if x.values, err = x.solver.HeldOut(ctx, x.ridges); err != nil {
		return err
	}
	x.held = make([]*Prediction, len(x.ridges))
	for k, values := range x.values {
		if values != nil {
			p := x.read(values)
			x.held[k] = &p
		}
	}
	return nil
}

func (x *all) targets() svm.Targets {
	return svm.Targets{Labels: x.Targets.Labels, Values: x.Targets.Values}
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
	folds := make([][]int, heldOutFolds)
	for i, f := range x.folds {
		folds[f] = append(folds[f], i)
	}
	predictions := make([]Prediction, len(folds))
	for f, graphs := range folds {
		predictions[f] = held.at(graphs)
	}
	method := fmt.Sprintf("%d-fold cross-validation", heldOutFolds)
	if x.gram != nil {
		method = "leave-one-out"
	}
	if x.Options.Learner != svm.KernelRidge {
		method += " of kernel ridge regression"
	}
	method += fmt.Sprintf(" of all graphs; %d of them took part in the choice of kernels", len(x.everything.sample))
	if !x.Targets.Regression() {
		e := x.classEstimate(folds, predictions)
		e.Method = method
		return e
	}
	return x.valueEstimate(folds, predictions, method)
}

// valueEstimate returns the error of values.
func (x *all) valueEstimate(folds [][]int, predictions []Prediction, method string) Estimate {
	var scores, weight []float64
	for f, graphs := range folds {
		scores, weight = append(scores, x.Targets.score(Squared, graphs, predictions[f])), append(weight, float64(len(graphs)))
	}
	e := Estimate{Measure: "rmse", Value: math.Sqrt(max(0, -weightedMean(scores, weight))), Deviation: standardError(scores), Method: method}
	if e.Value > 0 { // d√x = dx/(2√x)
		e.Deviation /= 2 * e.Value
	}
	return e
}

// Bytes returns about the memory that a choice among some kernels for n graphs takes: the matrices of
// kernels on the graphs that are scored, what trainings on them take, and the matrix of the sum on all
// graphs with what learns from it, or the sums of regressions on centres where that does not fit. Garbage
// is counted.
func (o *Options) Bytes(n, kernels, workers int) int64 {
	scored := int64(n)
	if o.LeaveOneOut {
		scored = int64(min(n, o.Examples))
	}
	held := int64(1)
	if len(o.Combinations) > 0 {
		held = int64(kernels)
	}
	const copies = 3 // of a matrix that a training makes
	sample := 8 * scored * scored * (held + copies*int64(workers))
	all := 8 * int64(n) * int64(n) * copies
	if m := o.Centres(n); m > 0 {
		all = centresBytes(m)
	} else if scored < int64(n) && o.Learner == svm.KernelRidge && n > exactMost {
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
	if o.Learner != svm.KernelRidge || !o.LeaveOneOut || n <= max(exactMost, o.Examples) {
		return 0
	}
	return centresOf(n, freeBytes(featureBytes*int64(n)))
}
