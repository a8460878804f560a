package choose

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// RefineFolds is the number of folds that the graphs of a refinement are dealt to.
const RefineFolds = heldOutFolds

// refineRidges are further ridges that are tried where there are many graphs for each centre.
var refineRidges = []float64{30, 100, 300, 1000}

// Refine returns a plan without kernels: the ridge of regressions on centres that is best for the centres, each predicted
// from the graphs of other folds, and the learner. The targets and folds are those of the centres. ridge is where the search
// begins.
func Refine(ctx context.Context, c *learn.Centres, t *Targets, folds []int, examples int, ridge float64, o Options) (*Plan, error) {
	if o.Learner != learn.KernelRidge {
		return nil, fmt.Errorf("a learner of the kind %v cannot be refined, want %v", o.Learner, learn.KernelRidge)
	}
	o.Ridge = append(slices.Clone(o.Ridge), refineRidges...)
	for r := o.Ridge[0] / 3; r >= ridge/3; r /= 3 { // of a kernel that needs small ones
		o.Ridge = slices.Insert(o.Ridge, 0, r)
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	graphs := kernel.UpTo(len(folds))
	x := &all{choice: &choice{Chooser: Chooser{Options: &o, Targets: t}}, plan: &Plan{Targets: *t, Learner: o.Learner}, folds: folds}
	x.everything = &TrainingPart{graphs: graphs, sample: graphs[:0]}
	p := x.plan
	p.Parameter = o.Ridge[nearestRidge(o.Ridge, ridge)]
	best, err := x.tryHeldOut(ctx, centred{c})
	if err != nil {
		return nil, err
	}
	p.Edge, p.Nearest = o.AtEdge(slices.Index(o.Ridge, p.Parameter)), c.Nearest()
	if p.learner, err = c.Learn(ctx, best.left, nil, o.Probability); err != nil {
		return nil, err
	}
	p.Held = t.leftPrediction(p.learner.LeaveOneOut, p.learner.Process, false)
	p.Estimate = x.foldEstimate(p.Held, folds)
	p.Estimate.Method = fmt.Sprintf("%d-fold cross-validation of %d graphs, measured on the %d of them that took part in the choice of kernels",
		heldOutFolds, examples, len(folds))
	if !p.Regression() && o.Probability {
		p.Held = calibrated(o.Learner, p.Labels, p.Held)
	}
	return p, nil
}

// RefineBytes returns about the memory of a refinement of a model of m graphs: what is kept of these, sums, some copies of
// them (one where they are read from files or written), and what learns from them. Garbage is counted.
func RefineBytes(m, copies int) int64 {
	return (learn.CentresBytes(m, m, heldOutFolds, ridgesTried) + int64(copies)*learn.SumsBytes(m, heldOutFolds) + featureBytes*int64(m)) * (100 + Garbage) / 100
}

// RefineOperations returns about the number of operations of a refinement for each graph that is added, beside those of
// kernel values, and for what is learned in the end.
func RefineOperations(m int) (add, learn float64) {
	return float64(m) * float64(m), heldOutFolds * ridgesTried * Factorisation(m-m/heldOutFolds)
}

// nearestRidge returns the position of the largest ridge that is not above one, or else the first.
func nearestRidge(ridges []float64, ridge float64) int {
	at := 0
	for k, r := range ridges {
		if r <= ridge {
			at = k
		}
	}
	return at
}
