package explorer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
)

var errNoLearner = cannot("nothing can be predicted: %v", model.ErrNoTargets)

// training is what comes of learning from the graphs of the core that have targets.
type training struct {
	*model.Model
	plan  *choose.Plan // nil if there is nothing to learn
	known []int        // the graphs of the plan
}

// trained learns from the core as the command does.
func (x *session) trained(ctx context.Context) (*training, error) {
	return follows(ctx, x, &x.training, "learn", func(ctx context.Context, f *fitted) (*training, error) {
		o := x.learning()
		o.Created = map[string]string{"command": "mlg serve", "data": x.s.data.Name, "kernel": x.kernel.String()}
		m, plan, known, err := f.Learn(ctx, f.gram, f.core, o)
		if errors.Is(err, model.ErrNoTargets) {
			unlearned := *f.Model
			unlearned.Nearest = model.Percentiles(model.Nearest(f.gram))
			return &training{Model: &unlearned}, nil
		}
		return &training{m, plan, known}, err
	})
}

// learning returns how targets are learned.
func (x *session) learning() model.LearnOptions {
	o := model.DefaultLearnOptions()
	if o.Task = choose.Classification; x.s.data.task == regression {
		o.Task = choose.Regression
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
	out := *f
	out.Model = t.Model
	return &out, nil
}

// evaluation says how good predictions of graphs are that the learner has not seen.
type evaluation struct {
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
	return compute(ctx, x, &x.score, "evaluation", func(ctx context.Context) (*evaluation, error) { return x.evaluate(ctx, t) })
}

// newEvaluation returns an evaluation without predictions.
func (x *session) newEvaluation(estimates []choose.Estimate) *evaluation {
	return &evaluation{Estimates: append([]choose.Estimate{}, estimates...), Rows: []evaluate.Result{}, Index: []int{}, Predicted: []string{},
		Measured: []float64{}, Values: []float64{}, Finding: []choose.Figure{}, TargetName: cmp.Or(x.s.data.targetName, "target")}
}

func (x *session) evaluate(ctx context.Context, t *training) (*evaluation, error) {
	if t.plan == nil {
		return x.newEvaluation(nil), nil
	}
	d, out := x.s.data, x.newEvaluation(t.plan.Estimates())
	known := &dataset.Dataset{Graphs: choose.Pick(t.Graphs, t.known)}
	labels := choose.LabelHistogram()
	o := x.learning()
	o.Targets = &t.plan.Targets
	plan, err := choose.Choose(ctx, known, []choose.Candidate{labels}, o.Options)
	if err != nil {
		return nil, err
	}
	row := evaluate.HeldOut(x.name(), &t.plan.Targets, t.plan.Held)
	out.Rows = []evaluate.Result{evaluate.Majority(&plan.Targets), row, evaluate.HeldOut(labels.Name, &plan.Targets, plan.Held)}
	out.Graphs, out.Index, out.Rare = len(t.known), t.known, t.plan.RareClass()
	if row.RegressionSummary != nil {
		out.Measured, out.Values = choose.Pick(d.value, t.known), row.Values[0]
		out.RMSE, out.R2 = &row.RMSE, &row.R2
		return out, nil
	}
	out.countClasses(d, t.plan.Classes, row)
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
