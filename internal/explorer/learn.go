package explorer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
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
	carefulChoice = 1000 // choose C on all folds, probabilities
	ridgeLimit    = 2000 // examples of kernel ridge regression, whose time is cubic
	choiceFolds   = 5
)

// learned returns the kernel with a learner, if there is something to learn.
func (x *session) learned(ctx context.Context) (*model.Model, error) {
	return x.learn.get(ctx, x.s.life, func(ctx context.Context) (*model.Model, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		return compute(ctx, x, "learn", func(ctx context.Context) (*model.Model, error) { return x.computeLearner(ctx, f) })
	})
}

func (x *session) computeLearner(ctx context.Context, f *fitted) (*model.Model, error) {
	out := *f.kernel
	src := x.s.src
	if x.saved {
		old := src.Model
		out.Learner, out.Nearest, out.Reader, out.Created, out.Estimates = old.Learner, old.Nearest, old.Reader, old.Created, old.Estimates
		return &out, nil
	}
	out.Nearest = model.Percentiles(f.gram)
	out.Graphs, out.Reader = src.Graphs, src.Reader
	out.Created = map[string]string{"command": "mlg serve", "data": src.Name, "parameters": x.params.text()}
	var err error
	known := src.labelled(f.core)
	switch src.task {
	case classification:
		out.Learner, err = x.classifier(ctx, f, known)
	case regression:
		out.Learner, err = x.ridge(ctx, f, known)
	}
	return &out, err
}

// within returns the positions in the core of graphs that are in it.
func (f *fitted) within(graphs []int) []int {
	out := make([]int, len(graphs))
	for i, g := range graphs {
		out[i], _ = slices.BinarySearch(f.core, g)
	}
	return out
}

// classifier trains a C-SVC on the graphs of known class, with the C that is best in
// cross-validation.
func (x *session) classifier(ctx context.Context, f *fitted, known []int) (*model.Learner, error) {
	labels := make([]int, len(known))
	seen := map[int]bool{}
	for i, g := range known {
		labels[i] = x.s.src.class[g]
		seen[labels[i]] = true
	}
	if len(seen) < 2 {
		return nil, nil
	}
	at := f.within(known)
	view := svm.Full(f.gram).Select(at, at)
	o := svm.DefaultOptions()
	var err error
	if o.C, err = x.chooseC(ctx, view, labels, o); err != nil {
		return nil, err
	}
	o.Probability = len(known) <= carefulChoice
	x.report("train", 0, 0)
	c, err := svm.TrainClassifier(ctx, view, labels, o)
	if err != nil && !errors.Is(err, svm.ErrIterations) {
		return nil, err
	}
	c.Examples = f.kernel.Examples()
	for m := range c.Machines {
		for i, s := range c.Machines[m].Support {
			c.Machines[m].Support[i] = known[s]
		}
	}
	l := &model.Learner{Classifier: c}
	for _, k := range c.Classes {
		l.Classes = append(l.Classes, x.s.src.classes[k])
	}
	return l, nil
}

// chooseC returns the C of the grid with the most right predictions in cross-validation,
// the smallest of equals. Of many examples only one fold is predicted.
func (x *session) chooseC(ctx context.Context, gram svm.View, labels []int, o svm.Options) (float64, error) {
	splits, err := evaluate.StratifiedSplits(labels, min(choiceFolds, len(labels)), 1, 0)
	if err != nil {
		return 0, err
	}
	folds := splits.Folds
	if len(labels) > carefulChoice {
		folds = 1
	}
	right := make([]int, len(gridC))
	for fold := range folds {
		x.report("choose C", int64(fold), int64(folds))
		train, test := splits.Without(0, fold), splits.Test(0, fold)
		some := pick(labels, train)
		if slices.Max(some) == slices.Min(some) {
			continue // a single class has nothing to say about C
		}
		path, err := svm.Path(ctx, gram.Select(train, train), some, gridC, o)
		if err != nil && !errors.Is(err, svm.ErrIterations) {
			return 0, err
		}
		for c, machine := range path {
			said, err := machine.Predict(gram.Select(test, train))
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

func pick[T any](from []T, at []int) []T {
	out := make([]T, len(at))
	for i, a := range at {
		out[i] = from[a]
	}
	return out
}

// ridge fits a kernel ridge regression with the ridge of the smallest leave-one-out error.
func (x *session) ridge(ctx context.Context, f *fitted, known []int) (*model.Learner, error) {
	if len(known) < 3 {
		return nil, nil
	}
	if len(known) > ridgeLimit {
		known = every(known, ridgeLimit)
	}
	at, z := f.within(known), pick(x.s.src.value, known)
	d, err := svm.Decompose(ctx, svm.Full(f.gram).Select(at, at))
	if err != nil {
		return nil, err
	}
	var best *svm.Ridge
	least := math.Inf(1)
	for _, lambda := range gridRidge {
		r, err := d.Ridge(z, lambda, true)
		if err != nil {
			continue // too small a ridge for this matrix
		}
		e := 0.0
		for i, v := range r.LeaveOneOut {
			e += (v - z[i]) * (v - z[i])
		}
		if e < least {
			best, least = r, e
		}
	}
	if best == nil {
		return nil, errors.New("kernel ridge regression: no ridge of the grid is large enough")
	}
	full := &svm.Ridge{Lambda: best.Lambda, Bias: best.Bias, Coefficients: make([]float64, f.kernel.Examples()), LeaveOneOut: slices.Clone(x.s.src.value)}
	for i, g := range known {
		full.Coefficients[g], full.LeaveOneOut[g] = best.Coefficients[i], best.LeaveOneOut[i]
	}
	return &model.Learner{Ridge: full}, nil
}

// functionFor returns the learner as a function of kernel values: the regression, or the sum of all
// machines that speak for or against a class, the given one.
func functionFor(l *model.Learner, class string) (explain.Function, error) {
	if l == nil {
		return explain.Function{}, &apiError{422, errNoLearner.Error()}
	}
	switch {
	case l.Regressor != nil:
		return explain.Function{Support: l.Regressor.Support, Coefficients: l.Regressor.Coefficients, Bias: l.Regressor.Bias}, nil
	case l.Ridge != nil:
		f := explain.Function{Bias: l.Ridge.Bias}
		for i, c := range l.Ridge.Coefficients {
			if c != 0 {
				f.Support, f.Coefficients = append(f.Support, i), append(f.Coefficients, c)
			}
		}
		return f, nil
	}
	at := slices.Index(l.Classes, class)
	if at < 0 {
		return explain.Function{}, badRequest("class %q, want one of those of the learner", class)
	}
	label := l.Classifier.Classes[at]
	sum := map[int]float64{}
	var f explain.Function
	for _, m := range l.Classifier.Machines {
		sign := 0.0
		switch label {
		case m.Positive:
			sign = 1
		case m.Negative:
			sign = -1
		default:
			continue
		}
		f.Bias += sign * m.Bias
		for i, s := range m.Support {
			sum[s] += sign * m.Coefficients[i]
		}
	}
	for s := range sum {
		f.Support = append(f.Support, s)
	}
	slices.Sort(f.Support)
	for _, s := range f.Support {
		f.Coefficients = append(f.Coefficients, sum[s])
	}
	return f, nil
}

// Evaluation is what cross-validation says about a kernel.
type Evaluation struct {
	Graphs  int              `json:"graphs"` // that took part
	Folds   int              `json:"folds"`
	Rows    []EvaluationRow  `json:"rows"`
	Saved   []model.Estimate `json:"saved"` // what the model file says
	Of      []int            `json:"-"`     // the graphs that took part
	Answers []string         `json:"-"`     // what each of them was taken for
}

// EvaluationRow is a kernel with its accuracy, or its error for regression.
type EvaluationRow struct {
	Name     string   `json:"name"`
	Accuracy *float64 `json:"accuracy,omitempty"` // share of right predictions
	Balanced *float64 `json:"balanced,omitempty"` // mean of the classes
	AUC      *float64 `json:"auc,omitempty"`
	RMSE     *float64 `json:"rmse,omitempty"`
	R2       *float64 `json:"r2,omitempty"`
	Low      *float64 `json:"low,omitempty"` // 95 % interval of the accuracy
	High     *float64 `json:"high,omitempty"`
}

const (
	evaluationFolds = 5
	nestedLimit     = 600 // examples up to which C is chosen on all inner folds
	scoreLimit      = 2500
)

// evaluated returns the cross-validated quality of the kernel.
func (x *session) evaluated(ctx context.Context) (*Evaluation, error) {
	return x.score.get(ctx, x.s.life, func(ctx context.Context) (*Evaluation, error) {
		out := &Evaluation{Rows: []EvaluationRow{}, Saved: []model.Estimate{}}
		src := x.s.src
		if x.saved && src.Model.Estimates != nil {
			out.Saved = src.Model.Estimates
		}
		if src.task == noTask || src.Graphs == nil {
			return out, nil
		}
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		return compute(ctx, x, "cross-validation", func(ctx context.Context) (*Evaluation, error) { return x.crossValidate(ctx, f, out) })
	})
}

func (x *session) crossValidate(ctx context.Context, f *fitted, out *Evaluation) (*Evaluation, error) {
	src := x.s.src
	known := src.labelled(f.core)
	if len(known) > scoreLimit {
		known = every(known, scoreLimit)
	}
	classes := map[string]bool{}
	for _, g := range known {
		classes[src.Targets[g]] = true
	}
	if len(classes) < 2 || len(known) < 2*evaluationFolds {
		return out, nil
	}
	at := f.within(known)
	ds := &dataset.Dataset{Name: src.Name}
	for _, g := range known {
		ds.Graphs = append(ds.Graphs, src.Graphs[g].With(src.IDs[g], src.Targets[g]))
	}
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats, o.Workers = evaluationFolds, 1, x.s.o.Workers
	o.C, o.Ridge = gridC, gridRidge
	o.Task = evaluate.Classification
	if src.task == regression {
		o.Task, o.Learner = evaluate.Regression, evaluate.Ridge
	}
	if len(known) > nestedLimit {
		o.Inner = evaluate.HoldOut
	}
	o.Progress = func(done, total int) { x.report("cross-validation", int64(done), int64(total)) }
	kernel := fixedKernel{svm.Full(f.gram).Select(at, at).Matrix(), x.saved || x.params.Combine != mlg.GeometricMean.String()}
	r, err := evaluate.Run(ctx, ds, []evaluate.Candidate{{Name: "mlg", Settings: []evaluate.Setting{{Kernel: kernel}}}}, o)
	if err != nil {
		return nil, err
	}
	out.Graphs, out.Folds = len(known), evaluationFolds
	for _, row := range r.Results {
		e := EvaluationRow{Name: row.Name}
		if c := row.ClassificationSummary; c != nil {
			e.Accuracy, e.Balanced, e.AUC = &c.Accuracy, &c.Balanced, c.AUC
			if i := row.Interval; i != nil {
				e.Low, e.High = ptr(max(i.Low, 0)), ptr(min(i.High, 1))
			}
		}
		if c := row.RegressionSummary; c != nil {
			e.RMSE, e.R2 = &c.RMSE, &c.R2
		}
		out.Rows = append(out.Rows, e)
		if row.Name == "mlg" {
			out.Of = known
			for i := range known {
				switch {
				case row.Predicted != nil:
					out.Answers = append(out.Answers, r.Classes[row.Predicted[0][i]])
				case row.Values != nil:
					out.Answers = append(out.Answers, fmt.Sprintf("%.4g", row.Values[0][i]))
				}
			}
		}
	}
	return out, nil
}

// answer returns what graph g was taken for in cross-validation.
func (e *Evaluation) answer(g int) (string, bool) {
	at, ok := slices.BinarySearch(e.Of, g)
	if !ok || at >= len(e.Answers) {
		return "", false
	}
	return e.Answers[at], true
}

func ptr[T any](v T) *T { return &v }

// fixedKernel is a kernel whose Gram matrix is there already. Cross-validation fits it to all
// graphs and asks for nothing else.
type fixedKernel struct {
	gram *mlg.Matrix
	psd  bool
}

func (k fixedKernel) String() string { return "mlg" }

// PositiveSemidefinite is what package evaluate asks kernels.
func (k fixedKernel) PositiveSemidefinite() bool { return k.psd }

// Fit returns the kernel itself.
func (k fixedKernel) Fit(context.Context, []*graph.Graph) (mlg.Fitted, error) { return k, nil }

// Gram returns the matrix.
func (k fixedKernel) Gram(context.Context) (*mlg.Matrix, error) { return k.gram, nil }

// Cross is not needed where a kernel is fitted to all graphs.
func (k fixedKernel) Cross(context.Context, []*graph.Graph) (*mlg.Matrix, error) {
	return nil, errors.New("the kernel knows its own graphs only")
}
