package explorer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
)

var errNoLearner = cannot("nothing can be predicted: %v", model.ErrNoTargets)

// training is what comes of learning from graphs that have targets.
type training struct {
	*model.Model
	plan  *choose.Plan // nil if there is nothing to learn
	known []int        // the graphs of the plan
	note  string       // where these are some of those with targets
}

// trained learns from all graphs as the command does.
func (x *session) trained(ctx context.Context) (*training, error) {
	return follows(ctx, x, &x.training, "learn", func(ctx context.Context, f *fitted) (*training, error) {
		c, ok := x.s.best.peek()
		if ok = ok && x.kernel == nil; ok && c.training != nil {
			return c.training, nil
		}
		t, err := x.train(ctx, f, f.wholeGram(), kernel.UpTo(f.Examples()))
		if ok && t != nil && t.plan != nil {
			c.accounted(t)
		}
		return t, err
	})
}

// earlyGraphs is the number of graphs of an early learner. It is there after a second or two.
const earlyGraphs = 1000

// trainedEarly returns the learner of all graphs if it is there, and else that of some of the core. Of not many more
// it is that of all.
func (x *session) trainedEarly(ctx context.Context) (*training, error) {
	if t, ok := x.training.peek(); ok {
		return t, nil
	}
	d := x.s.data
	all, known := len(d.labelled(kernel.UpTo(len(d.IDs)))), d.labelled(x.s.core)
	if all <= earlyGraphs*3/2 {
		return x.trained(ctx)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	return computeAt(ctx, x, brief, &x.early, "learn", func(ctx context.Context) (*training, error) {
		some := d.spread(known, earlyGraphs)
		t, err := x.train(ctx, f, f.among(some), some)
		if err == nil && t.plan != nil {
			t.Nearest = model.PercentilesOf(model.Nearest(f.gram))
			t.note = fmt.Sprintf("This is from a first learner, which was trained with %s of %s graphs. The learner of all graphs is being trained.",
				thousands(len(some)), thousands(all))
		}
		return t, err
	})
}

// train learns from those of some graphs that have targets. gram is their matrix, nil where there is none of all.
func (x *session) train(ctx context.Context, f *fitted, gram *kernel.Matrix, graphs []int) (*training, error) {
	o := x.learningKernel()
	o.Created = map[string]string{"command": "mlg serve", "data": x.s.data.Name, "kernel": f.Kernel.Asked.String()}
	m, plan, known, err := f.Learn(ctx, gram, graphs, o)
	if errors.Is(err, model.ErrNoTargets) {
		unlearned := *f.Model
		unlearned.Nearest = model.PercentilesOf(model.Nearest(f.gram))
		return &training{Model: &unlearned}, nil
	}
	return &training{m, plan, known, ""}, err
}

// heldOut returns what a learner says of a graph of the data that has not seen it; nil where none was asked.
func (t *training) heldOut(i int) *answer {
	if t == nil || t.plan == nil {
		return nil
	}
	at, ok := slices.BinarySearch(t.known, i)
	if !ok {
		return nil
	}
	held, out := t.plan.Held, newAnswer()
	if t.plan.Regression() {
		out.setValue(held.Values[at])
		if held.Deviations != nil {
			out.setDeviation(held.Deviations[at])
		}
		return out
	}
	var probabilities []float64
	if held.Scores != nil {
		probabilities = held.Scores[at]
	}
	out.setClass(t.plan.Classes[held.Labels[at]], t.plan.Classes, probabilities)
	return out
}

// learning returns how targets are learned.
func (x *session) learning() model.LearnOptions {
	o := model.DefaultLearnOptions()
	if o.Task = choose.Classification; x.s.data.task == regression {
		o.Task = choose.Regression
	}
	return o
}

// learningKernel returns how targets are learned with the kernel of the session. Chosen kernels have the ridge that was chosen
// with them.
func (x *session) learningKernel() model.LearnOptions {
	o := x.learning()
	if c, ok := x.s.best.peek(); ok && x.kernel == nil {
		o.Ridge = []float64{c.plan.Parameter}
	}
	return o
}

// learned returns the kernel with a learner: that of the model, or one that is trained here, if there is something
// to learn.
func (x *session) learned(ctx context.Context) (*fitted, error) {
	if x.saved {
		return x.fitted(ctx)
	}
	return x.learnedHere(ctx)
}

// learnedHere returns the kernel with a learner that is trained here, if there is something to learn.
func (x *session) learnedHere(ctx context.Context) (*fitted, error) {
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	t, err := x.trained(ctx)
	if err != nil {
		return nil, err
	}
	return f.with(t), nil
}

// learnedSoon is learned, with an early learner as long as there is no other.
func (x *session) learnedSoon(ctx context.Context) (*fitted, error) {
	if x.saved {
		return x.fitted(ctx)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	t, err := x.trainedEarly(ctx)
	if err != nil {
		return nil, err
	}
	return f.with(t), nil
}

// with returns the kernel with a learner.
func (f *fitted) with(t *training) *fitted {
	out := *f
	out.Model, out.training = t.Model, t
	return &out
}

// evaluation says how good predictions of graphs are that the learner has not seen.
type evaluation struct {
	Note      string            `json:"note" help:"how the learner was trained, where that is not with all graphs; otherwise empty"`
	Graphs    int               `json:"graphs" help:"number of graphs that were predicted from the others; 0 for a model as it was trained"`
	Estimates []choose.Estimate `json:"estimates" help:"what the file of a model, or else training here, says of the quality of predictions, and how that was found"`
	Rows      []evaluate.Result `json:"rows" help:"results of the kernel and of the baselines"`

	Index      []int           `json:"index" help:"the graphs that were predicted from the others"`
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

	left *left // the predictions
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

// evaluated returns how good predictions are: what the file of a model says, which has no predictions of single
// graphs, else what cross-validation says.
func (x *session) evaluated(ctx context.Context) (*evaluation, error) {
	if x.saved {
		return x.newEvaluation(x.s.data.Estimates), nil
	}
	return x.crossValidated(ctx)
}

// heldOut returns what learners predict that have not seen the graph. Of a model as it was trained that is nothing
// until somebody asks for cross-validation.
func (x *session) heldOut(ctx context.Context) (*evaluation, error) {
	if e, known := x.score.peek(); known {
		return e, nil
	}
	return x.evaluated(ctx)
}

// crossValidated returns how good the kernel predicts graphs from others.
func (x *session) crossValidated(ctx context.Context) (*evaluation, error) {
	t, err := x.trained(ctx)
	if err != nil {
		return nil, err
	}
	return x.score.get(ctx, x.s.life, func(context.Context) (*evaluation, error) { return x.evaluate(t), nil })
}

// evaluatedSoon is evaluated, of an early learner as long as there is no other.
func (x *session) evaluatedSoon(ctx context.Context) (*evaluation, error) {
	t, err := x.trainedEarly(ctx)
	if err != nil {
		return nil, err
	}
	if t.note == "" {
		return x.crossValidated(ctx)
	}
	return x.sooner.get(ctx, x.s.life, func(context.Context) (*evaluation, error) { return x.evaluate(t), nil })
}

// compared is crossValidated, beside the predictions by the histogram of labels.
func (x *session) compared(ctx context.Context) (*evaluation, error) {
	e, err := x.crossValidated(ctx)
	if err != nil {
		return nil, err
	}
	t, err := x.trained(ctx)
	if err != nil || t.plan == nil {
		return e, err
	}
	return compute(ctx, x, &x.beside, "evaluation", func(ctx context.Context) (*evaluation, error) {
		labels, o, out := choose.LabelHistogram(), x.learning(), *e
		known := choose.Endpoint{Data: &dataset.Dataset{Graphs: choose.Pick(t.Graphs, t.known)}, Targets: &t.plan.Targets}
		plan, err := known.Choose(ctx, []choose.Candidate{labels}, o.Options)
		if err != nil {
			return nil, err
		}
		out.Rows = append(slices.Clone(e.Rows), evaluate.HeldOut(labels.Name, &plan.Targets, plan.Held))
		return &out, nil
	})
}

// newEvaluation returns an evaluation without predictions.
func (x *session) newEvaluation(estimates []choose.Estimate) *evaluation {
	return &evaluation{Estimates: append([]choose.Estimate{}, estimates...), Rows: []evaluate.Result{}, Index: []int{}, Predicted: []string{},
		Measured: []float64{}, Values: []float64{}, Finding: []choose.Figure{}, TargetName: x.s.data.quantity()}
}

// evaluate says how good the held-out predictions of a training are.
func (x *session) evaluate(t *training) *evaluation {
	if t.plan == nil {
		return x.newEvaluation(nil)
	}
	out := x.judged(&left{t.known, t.plan.Targets, t.plan.Held})
	out.Estimates, out.Note = t.plan.Estimates(), t.note
	return out
}

// judged says how good predictions of graphs are that were left out.
func (x *session) judged(l *left) *evaluation {
	out := x.newEvaluation(nil)
	out.left, out.Graphs, out.Index = l, len(l.graphs), l.graphs
	if len(l.graphs) == 0 {
		return out
	}
	row := evaluate.HeldOut(x.name(), &l.targets, l.held)
	out.Rows = []evaluate.Result{evaluate.Majority(&l.targets), row}
	if row.RegressionSummary != nil {
		out.Measured, out.Values = l.targets.Values, l.held.Values
		out.RMSE, out.R2 = &row.RMSE, &row.R2
		return out
	}
	out.Rare = l.targets.RareClass()
	out.countClasses(x.s.data, l.targets.Classes, row)
	return out
}

// among is an evaluation of those of some graphs that were predicted.
func (e *evaluation) among(x *session, graphs []int) *evaluation {
	if e.left == nil {
		return x.newEvaluation(nil)
	}
	some, _ := e.left.among(graphs)
	out := x.judged(some)
	out.Note = e.Note
	return out
}

// left are graphs that were left out, with their targets and with what was predicted for them.
type left struct {
	graphs  []int // in the data, ascending
	targets choose.Targets
	held    choose.HeldPredictions
}

// among returns what is there of some graphs, and where that is in l.
func (l *left) among(graphs []int) (out *left, at []int) {
	for _, i := range graphs {
		if k, ok := slices.BinarySearch(l.graphs, i); ok {
			at = append(at, k)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	out = &left{append([]int{}, choose.Pick(l.graphs, at)...), *l.targets.Of(at), l.held.At(at)}
	return out, at
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
