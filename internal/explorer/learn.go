package explorer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// Grids of the learners.
var (
	gridC     = []float64{0.1, 1, 10, 100, 1000}
	gridRidge = []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10}
)

// Sizes up to which the more careful way is taken.
const (
	carefulChoice = 1000 // choose C by folds and not by leave-one-out of a sample
	ridgeLimit    = 2000 // examples of kernel ridge regression, whose time is cubic
	nestedLimit   = 600  // examples of a cross-validation in which C is chosen on all inner folds
	scoreLimit    = 2500 // examples of a cross-validation
)

// folds is the number of folds by which C is chosen, and that of a cross-validation.
const folds = 5

var errNoLearner = cannot("nothing can be predicted: fewer than three graphs have targets, or all targets are the same")

// learned returns the kernel with a learner, if there is something to learn.
func (x *session) learned(ctx context.Context) (*fitted, error) {
	return follows(ctx, x, &x.learner, "learn", x.learn)
}

func (x *session) learn(ctx context.Context, f *fitted) (*fitted, error) {
	d, out, m := x.s.data, *f, *f.Model
	if x.saved {
		return &out, nil
	}
	out.Model = &m
	m.Nearest = model.Percentiles(model.Nearest(f.gram))
	m.Created = map[string]string{"command": "mlg serve", "data": d.Name, "kernel": x.kernel.String()}
	known := d.labelled(f.core)
	if d.task == regression {
		known = every(known, ridgeLimit)
	}
	ds, candidates, o := x.problem(f, known)
	if candidates == nil {
		return &out, nil
	}
	o.Folds, o.LeaveOneOut = folds+1, d.task == regression || len(known) > carefulChoice
	plan, err := choose.Choose(ctx, ds, candidates, o)
	if err != nil {
		return nil, err
	}
	x.report(kernel.Progress{Stage: "train"})
	m.Learner, _, err = plan.Learn(ctx, f.view(known))
	if err != nil {
		return nil, err
	}
	m.Classes, m.Estimates = plan.Classes, plan.Estimates()
	m.Learner.Forget()
	m.Learner.Examples = f.Examples()
	for i := range m.Learner.Functions { // the learner has seen the known graphs alone
		fn := &m.Learner.Functions[i]
		if fn.Support == nil {
			fn.Support = known
		} else {
			fn.Support = choose.Pick(known, fn.Support)
		}
	}
	return &out, nil
}

// view returns the kernel matrix of graphs that are in the core.
func (f *fitted) view(graphs []int) svm.View {
	at := make([]int, len(graphs))
	for i, g := range graphs {
		at[i], _ = slices.BinarySearch(f.core, g)
	}
	return svm.Full(f.gram).Select(at, at)
}

// problem returns the dataset of the graphs that have targets, with their kernel as the only
// candidate. There is no candidate for fewer than three graphs, or if all have the same target.
func (x *session) problem(f *fitted, known []int) (ds *dataset.Dataset, candidates []choose.Candidate, o choose.Options) {
	d, o := x.s.data, choose.DefaultOptions()
	o.C, o.Ridge, o.Task = gridC, gridRidge, choose.Classification
	if d.task == regression {
		o.Task, o.Learner = choose.Regression, svm.KernelRidge
	}
	targets := choose.Pick(d.Targets, known)
	if len(known) >= 3 && slices.Min(targets) != slices.Max(targets) {
		k := kernel.Given{Kernel: f.Kernel.Sum, Matrix: f.gram}
		if len(known) < len(f.core) {
			k.Matrix = f.view(known).Matrix()
		}
		candidates = []choose.Candidate{{Name: "mlg", Settings: []choose.Setting{{Kernel: k}}}}
	}
	return &dataset.Dataset{Name: d.Name, Graphs: choose.Pick(d.Graphs, known)}, candidates, o
}

// evaluation is the result of a cross-validation of a kernel.
type evaluation struct {
	Graphs int               `json:"graphs" help:"number of graphs in the cross-validation"`
	Folds  int               `json:"folds"`
	Rows   []evaluate.Result `json:"rows" help:"results of the kernel (mlg) and of the baselines"`
	Saved  []choose.Estimate `json:"saved" help:"what the model file says"`

	Index      []int           `json:"index" help:"the graphs in the cross-validation"`
	Predicted  []string        `json:"predicted" help:"the predicted class of each; empty for regression"`
	Measured   []float64       `json:"measured" help:"the measured value of each; empty for classes"`
	Values     []float64       `json:"values" help:"the predicted value of each; empty for classes"`
	Confusion  *confusion      `json:"confusion" help:"null for regression"`
	Accuracy   *float64        `json:"accuracy"`
	Balanced   *float64        `json:"balanced_accuracy" help:"share of right predictions in each class, averaged over the classes"`
	AUC        *float64        `json:"auc" help:"area under the ROC curve of each class against the others, averaged over the classes"`
	Majority   *float64        `json:"majority" help:"share of the largest class"`
	Uneven     bool            `json:"uneven" help:"the largest class is so large that the accuracy says little"`
	Rare       string          `json:"rare_class" help:"the rare class; empty if there is none"`
	Finding    []choose.Figure `json:"finding" help:"how well the rare class is found: average precision, and enrichment in the best 1 % and 5 %"`
	RMSE       *float64        `json:"rmse"`
	R2         *float64        `json:"r2"`
	TargetName string          `json:"target_name"`
}

// confusion counts predictions.
type confusion struct {
	Classes []string          `json:"classes"`
	Counts  metrics.Confusion `json:"counts" help:"row: the true class; column: the predicted class"`
}

// answer returns the prediction for a graph.
func (e *evaluation) answer(i int) (string, bool) {
	at, ok := slices.BinarySearch(e.Index, i)
	switch {
	case !ok:
		return "", false
	case len(e.Predicted) > 0:
		return e.Predicted[at], true
	}
	return fmt.Sprintf("%.4g", e.Values[at]), true
}

// evaluated returns the cross-validated quality of the kernel.
func (x *session) evaluated(ctx context.Context) (*evaluation, error) {
	return follows(ctx, x, &x.score, "cross-validation", x.crossValidate)
}

func (x *session) crossValidate(ctx context.Context, f *fitted) (*evaluation, error) {
	d, out := x.s.data, &evaluation{Rows: []evaluate.Result{}, Saved: append([]choose.Estimate{}, f.Estimates...),
		Index: []int{}, Predicted: []string{}, Measured: []float64{}, Values: []float64{}, Finding: []choose.Figure{}}
	out.TargetName = cmp.Or(d.targetName, "target")
	known := every(d.labelled(f.core), scoreLimit)
	if len(known) < 2*folds {
		return out, nil
	}
	ds, candidates, choice := x.problem(f, known)
	if candidates == nil {
		return out, nil
	}
	o := evaluate.Options{Options: choice, Repeats: 1}
	o.Folds, o.Probability = folds, false // the page has no figures of them
	if len(known) > nestedLimit {
		o.InnerFolds = 1
	}
	o.Progress = func(done, total int) {
		x.report(kernel.Progress{Stage: "cross-validation", Done: int64(done), Total: int64(total)})
	}
	r, err := evaluate.Run(ctx, ds, candidates, o)
	if err != nil {
		return nil, err
	}
	out.Graphs, out.Folds, out.Rows, out.Index, out.Rare = len(known), folds, r.Results, known, r.Rare
	row := r.Results[slices.IndexFunc(r.Results, func(r evaluate.Result) bool { return r.Name == "mlg" })]
	if row.RegressionSummary != nil {
		out.Measured, out.Values = choose.Pick(d.value, known), row.Values[0]
		out.RMSE, out.R2 = &row.RMSE, &row.R2
		return out, nil
	}
	out.countClasses(d, r.Classes, row)
	return out, nil
}

// countClasses computes how well classes are told apart.
func (e *evaluation) countClasses(d *Data, classes []string, row evaluate.Result) {
	truth, said := choose.Pick(d.class, e.Index), make([]int, len(e.Index))
	counts := make([]int, len(d.classes))
	for i, c := range row.Predicted[0] {
		e.Predicted = append(e.Predicted, classes[c])
		said[i] = slices.Index(d.classes, classes[c])
		counts[truth[i]]++
	}
	e.Confusion = &confusion{d.classes, metrics.NewConfusion(truth, said, len(d.classes))}
	e.Accuracy, e.Balanced, e.AUC = &row.Accuracy, &row.Balanced, row.AUC
	share := float64(slices.Max(counts)) / float64(len(truth))
	e.Majority, e.Uneven, e.Finding = &share, metrics.Uneven(counts), append(e.Finding, row.Finding...)
}
