package explorer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/splits"
	"github.com/mlgkernel/mlg/svm"
)

// Grids of the learners.
var (
	gridC     = []float64{0.1, 1, 10, 100, 1000}
	gridRidge = []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10}
)

// Sizes up to which the more careful way is taken.
const (
	carefulChoice = 1000 // choose C on all folds, probabilities
	ridgeLimit    = 2000 // examples of kernel ridge regression, whose time is cubic
	choiceFolds   = 5
)

var errNoLearner = cannot("there is nothing to predict: the graphs have no targets, or all the same")

// learned returns the kernel with a learner, if there is something to learn.
func (x *session) learned(ctx context.Context) (*model.Model, error) {
	return follows(ctx, x, &x.model, "learn", x.learn)
}

func (x *session) learn(ctx context.Context, f *fitted) (*model.Model, error) {
	if x.saved {
		return f.Model, nil
	}
	d, out := x.s.data, *f.Model
	out.Nearest = model.Percentiles(f.gram)
	out.Created = map[string]string{"command": "mlg serve", "data": d.Name, "kernel": x.kernel.String()}
	known := d.labelled(f.core)
	var err error
	switch d.task {
	case classification:
		out.Learner, err = x.classifier(ctx, f, known)
	case regression:
		known = every(known, ridgeLimit)
		out.Learner, err = ridge(ctx, f, known, pick(d.value, known))
	}
	if err != nil || out.Learner == nil {
		return &out, err
	}
	out.Learner.Examples, out.Learner.LeaveOneOut = f.Examples(), nil
	for i := range out.Learner.Functions { // the learner has seen the known graphs alone
		fn := &out.Learner.Functions[i]
		if fn.Support == nil {
			fn.Support = known
		} else {
			fn.Support = pick(known, fn.Support)
		}
	}
	for _, c := range out.Learner.Classes {
		out.Classes = append(out.Classes, d.classes[c])
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

// classifier trains a C-SVC on the graphs of known class, with the C that is best in
// cross-validation. It is nil where there are fewer than two classes.
func (x *session) classifier(ctx context.Context, f *fitted, known []int) (*svm.Learner, error) {
	labels := pick(x.s.data.class, known)
	if len(labels) == 0 || slices.Min(labels) == slices.Max(labels) {
		return nil, nil
	}
	view, o := f.view(known), svm.DefaultOptions()
	var err error
	if o.C, err = x.chooseC(ctx, view, labels, o); err != nil {
		return nil, err
	}
	o.Probability = len(known) <= carefulChoice
	x.report("train", 0, 0)
	l, err := svm.Train(ctx, view, svm.Targets{Labels: labels}, o)
	if errors.Is(err, svm.ErrIterations) {
		err = nil
	}
	return l, err
}

// chooseC returns the C of the grid with the most right predictions in cross-validation,
// the smallest of equals. Of many examples only one fold is predicted.
func (x *session) chooseC(ctx context.Context, gram svm.View, labels []int, o svm.Options) (float64, error) {
	deal, err := splits.Stratified(labels, min(choiceFolds, len(labels)), 1, 0)
	if err != nil {
		return 0, err
	}
	folds := deal.Folds
	if len(labels) > carefulChoice {
		folds = 1
	}
	right := make([]int, len(gridC))
	for fold := range folds {
		x.report("choose C", fold, folds)
		train, test := deal.Without(0, fold), deal.Test(0, fold)
		some := pick(labels, train)
		if slices.Max(some) == slices.Min(some) {
			continue // a single class has nothing to say about C
		}
		path, err := svm.TrainPath(ctx, gram.Select(train, train), svm.Targets{Labels: some}, gridC, o)
		if err != nil && !errors.Is(err, svm.ErrIterations) {
			return 0, err
		}
		for c, learner := range path {
			said, err := learner.Labels(gram.Select(test, train))
			if err != nil {
				return 0, err
			}
			for i, t := range test {
				if said[i] == labels[t] {
					right[c]++
				}
			}
		}
	}
	return gridC[slices.Index(right, slices.Max(right))], nil
}

// ridge fits a kernel ridge regression to the values of graphs, with the ridge of the smallest
// leave-one-out error. It is nil for fewer than three.
func ridge(ctx context.Context, f *fitted, known []int, values []float64) (*svm.Learner, error) {
	if len(known) < 3 {
		return nil, nil
	}
	o := svm.DefaultOptions()
	o.Kind, o.LeaveOneOut = svm.KernelRidge, true
	path, err := svm.TrainPath(ctx, f.view(known), svm.Targets{Values: values}, gridRidge, o)
	if err != nil && !errors.Is(err, svm.ErrDefinite) {
		return nil, err
	}
	var best *svm.Learner
	least := math.Inf(1)
	for _, l := range path {
		if l == nil {
			continue // too small a ridge for this matrix
		}
		if e := metrics.ScoreValues(values, l.LeaveOneOut.Data).RMSE; e < least {
			best, least = l, e
		}
	}
	if best == nil {
		return nil, errors.New("kernel ridge regression: no ridge of the grid is large enough")
	}
	return best, nil
}

// evaluation is what cross-validation says about a kernel.
type evaluation struct {
	Graphs int               `json:"graphs" help:"that took part"`
	Folds  int               `json:"folds"`
	Rows   []evaluate.Result `json:"rows" help:"the kernel, mlg, and what it is compared with"`
	Saved  []choose.Estimate `json:"saved" help:"what the model file says"`

	known   []int    // the graphs that took part
	answers []string // what each of them was taken for
}

const (
	evaluationFolds = 5
	nestedLimit     = 600 // examples up to which C is chosen on all inner folds
	scoreLimit      = 2500
)

// evaluated returns the cross-validated quality of the kernel.
func (x *session) evaluated(ctx context.Context) (*evaluation, error) {
	return follows(ctx, x, &x.score, "cross-validation", x.crossValidate)
}

func (x *session) crossValidate(ctx context.Context, f *fitted) (*evaluation, error) {
	d, out := x.s.data, &evaluation{Rows: []evaluate.Result{}, Saved: append([]choose.Estimate{}, f.Estimates...)}
	known := every(d.labelled(f.core), scoreLimit)
	classes := map[string]bool{}
	for _, g := range known {
		classes[d.Targets[g]] = true
	}
	if d.task == noTask || d.Graphs == nil || len(classes) < 2 || len(known) < 2*evaluationFolds {
		return out, nil
	}
	ds := &dataset.Dataset{Name: d.Name}
	for _, g := range known {
		ds.Graphs = append(ds.Graphs, d.Graphs[g].With(d.IDs[g], d.Targets[g]))
	}
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats = evaluationFolds, 1
	o.C, o.Ridge = gridC, gridRidge
	o.Task = choose.Classification
	if d.task == regression {
		o.Task, o.Learner = choose.Regression, svm.KernelRidge
	}
	if len(known) > nestedLimit {
		o.InnerFolds = 1
	}
	o.Progress = func(done, total int) { x.report("cross-validation", done, total) }
	r, err := evaluate.Run(ctx, ds, []choose.Candidate{{Name: "mlg", Settings: []choose.Setting{{Kernel: kernel.Given{Kernel: f.Kernel.Sum, Matrix: f.view(known).Matrix()}}}}}, o)
	if err != nil {
		return nil, err
	}
	out.Graphs, out.Folds, out.Rows, out.known = len(known), evaluationFolds, r.Results, known
	row := out.row()
	for i := range known {
		if row.Predicted != nil {
			out.answers = append(out.answers, r.Classes[row.Predicted[0][i]])
		} else {
			out.answers = append(out.answers, fmt.Sprintf("%.4g", row.Values[0][i]))
		}
	}
	return out, nil
}

// row returns the row of the kernel, nil if there is none.
func (e *evaluation) row() *evaluate.Result {
	i := slices.IndexFunc(e.Rows, func(r evaluate.Result) bool { return r.Name == "mlg" })
	if i < 0 {
		return nil
	}
	return &e.Rows[i]
}

// answer returns what graph g was taken for in cross-validation, nil if it did not take part.
func (e *evaluation) answer(g int) *string {
	at, ok := slices.BinarySearch(e.known, g)
	if !ok {
		return nil
	}
	return &e.answers[at]
}

// estimate returns the accuracy, or the error, as a model file has it.
func (e *evaluation) estimate() []choose.Estimate {
	row, method := e.row(), fmt.Sprintf("%d-fold cross-validation", e.Folds)
	switch {
	case row == nil:
		return nil
	case row.ClassificationSummary != nil:
		return []choose.Estimate{{Measure: "accuracy", Value: row.Accuracy, Method: method}}
	}
	return []choose.Estimate{{Measure: "rmse", Value: row.RMSE, Method: method}}
}
