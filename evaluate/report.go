package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// majorityName is the row of the baseline that sees no graph: the most frequent class of the
// training part, or its mean value.
const majorityName = "majority class"

// Report is the outcome of an evaluation.
type Report struct {
	Dataset  string   `json:"dataset"`
	Graphs   int      `json:"graphs"`
	Classes  []string `json:"classes,omitempty"` // none for regression
	Protocol Protocol `json:"protocol"`
	// Duplicates tells how far test graphs occur in their training parts.
	Duplicates Duplicates `json:"duplicates"`
	Results    []Result   `json:"results"`
	// Tests compares every row of Results with every later one; B is the earlier row.
	Tests []Test `json:"tests"`

	// Splits are the folds, to be written with Splits.Write.
	Splits *Splits `json:"-"`
}

// Protocol says how the figures came about.
type Protocol struct {
	Folds     int     `json:"folds"`
	Repeats   int     `json:"repeats"`
	Splits    string  `json:"splits"`
	Seed      uint64  `json:"seed"`
	Selection string  `json:"selection"`
	Honest    bool    `json:"honest"` // no choice has seen a target of its test fold
	Learner   string  `json:"learner"`
	Grid      string  `json:"grid"`
	Fitting   string  `json:"fitting"`
	Ratio     float64 `json:"test_train_ratio"`
}

// Duplicates tells of isomorphic graphs (graph.Duplicates) in a dataset.
type Duplicates struct {
	Groups      int `json:"groups"`      // of two or more isomorphic graphs
	Graphs      int `json:"graphs"`      // in these groups
	Conflicting int `json:"conflicting"` // graphs in groups with more than one target
	// AcrossFolds is the mean number, over the repeats, of graphs that have an isomorphic
	// graph in the training part of the fold that tests them.
	AcrossFolds float64 `json:"across_folds"`
}

// Result is a row of a report.
type Result struct {
	Name string `json:"name"`
	// Parameters are those that were chosen most often.
	Parameters string `json:"parameters"`
	// Choices tells how often which parameters were chosen, most often first.
	Choices []Choice `json:"choices,omitempty"`
	Repeats int      `json:"repeats"`
	// Accuracies or errors; which of the two is nil depends on the task.
	*ClassificationSummary
	*RegressionSummary
	// Interval is a confidence interval of the accuracy, or of the mean squared error, by
	// ConfidenceInterval over all folds.
	Interval *Interval `json:"confidence_interval,omitempty"`
	// FoldScores are the accuracies, or the mean squared errors, of all folds, by repeat.
	FoldScores [][]float64 `json:"fold_scores"`
	// Limited is the number of trainings behind the predictions that stopped at the limit of
	// iterations of the SVM; their solutions are not exact.
	Limited int `json:"limited_trainings,omitempty"`
	// KernelSeconds is the time for the kernel matrices of all settings, LearnSeconds the
	// sum of the times of all trainings and predictions, of which several run at a time, and
	// Seconds the sum of the two.
	Seconds       float64    `json:"seconds"`
	KernelSeconds float64    `json:"kernel_seconds"`
	LearnSeconds  float64    `json:"learn_seconds"`
	Published     *Published `json:"published,omitempty"`

	// Predicted[r][i] is the class, a position in Report.Classes, that graph i gets in repeat
	// r; nil with OnReported and for regression, where Values has the predicted values.
	Predicted [][]int     `json:"-"`
	Values    [][]float64 `json:"-"`
}

// Choice is a setting with the number of outer folds for which it was chosen.
type Choice struct {
	Parameters string `json:"parameters"`
	Folds      int    `json:"folds"`
}

// ClassificationSummary has means over the repeats and standard deviations between them
// (divisor repeats-1, 0 for a single repeat). A repeat tests every graph once; its accuracy
// is over all of them. The AUC is the mean over folds, since scores of different machines
// have no common scale.
type ClassificationSummary struct {
	Accuracy          float64      `json:"accuracy_mean"`
	AccuracyStd       float64      `json:"accuracy_std"`
	Balanced          float64      `json:"balanced_accuracy_mean"`
	BalancedStd       float64      `json:"balanced_accuracy_std"`
	AUC               *float64     `json:"auc_mean,omitempty"` // nil with OnReported
	AUCStd            *float64     `json:"auc_std,omitempty"`
	ByClass           []ClassScore `json:"classes"` // over all repeats
	AccuracyByRepeats []float64    `json:"accuracy_by_repeat"`
}

// RegressionSummary is the same for values.
type RegressionSummary struct {
	RMSE    float64 `json:"rmse_mean"`
	RMSEStd float64 `json:"rmse_std"`
	MAE     float64 `json:"mae_mean"`
	MAEStd  float64 `json:"mae_std"`
	R2      float64 `json:"r2_mean"`
	R2Std   float64 `json:"r2_std"`
}

// report makes the report from the results of all methods.
func (e *engine) report() *Report {
	o := e.o
	n := len(e.graphs)
	test := float64(n) / float64(e.splits.Folds)
	r := &Report{
		Dataset: e.data.Name, Graphs: n, Classes: e.targets.classes,
		Protocol: Protocol{
			Folds: e.splits.Folds, Repeats: e.splits.Repeats(),
			Splits: e.splits.Scheme, Seed: e.splits.Seed,
			Selection: e.selection(), Honest: o.Selection == Nested,
			Learner: e.learner(), Grid: grid(o.grid()), Fitting: o.Fitting.String(),
			Ratio: test / (float64(n) - test),
		},
		Duplicates: e.duplicates(),
		Splits:     e.splits,
	}
	r.Results = append(r.Results, e.majority())
	for c := range e.candidates {
		of := e.settingsOf(c)
		x := e.row(e.candidates[c].Name, of)
		x.Published = e.candidates[c].Published
		r.Results = append(r.Results, x)
		for m, x := range e.methods {
			if x.average && x.of[0] == of[0] {
				r.Results = append(r.Results, e.row(x.name, []int{m}))
			}
		}
	}
	for _, c := range o.Combinations {
		switch c {
		case BestSingle:
			r.Results = append(r.Results, e.row(c.String(), e.combined()))
		default:
			m := slices.IndexFunc(e.methods, func(m method) bool { return m.name == c.String() })
			r.Results = append(r.Results, e.row(c.String(), []int{m}))
		}
	}
	r.compare()
	return r
}

// compare sets Tests.
func (r *Report) compare() {
	r.Tests = nil
	for i, b := range r.Results {
		for _, a := range r.Results[i+1:] {
			t := CorrectedTest(slices.Concat(a.FoldScores...), slices.Concat(b.FoldScores...), r.Protocol.Ratio)
			t.A, t.B = a.Name, b.Name
			r.Tests = append(r.Tests, t)
		}
	}
}

// Add takes over the rows of a report on the same splits, in place of those with the same names and after the
// others, and makes the tests anew. The Protocol stays as it is.
func (r *Report) Add(x *Report) error {
	if r.Graphs != x.Graphs || !slices.EqualFunc(r.Splits.Fold, x.Splits.Fold, slices.Equal) {
		return fmt.Errorf("reports on %s and %s are not on the same splits", r.Dataset, x.Dataset)
	}
	for _, row := range x.Results {
		if i := slices.IndexFunc(r.Results, func(have Result) bool { return have.Name == row.Name }); i >= 0 {
			r.Results[i] = row
		} else {
			r.Results = append(r.Results, row)
		}
	}
	r.compare()
	return nil
}

// selection describes how parameters were chosen.
func (e *engine) selection() string {
	o := e.o
	if o.Selection == OnReported {
		return "chosen on the reported folds themselves (too high)"
	}
	score := o.Score.String()
	switch {
	case e.targets.regression():
		score = "squared error"
	case o.Score == BalancedAccuracy:
		score = "balanced accuracy"
	case o.Score == Squared:
		score = "squared error"
	}
	if o.Inner == LeaveOneOut {
		return "nested, by " + score + " of leave-one-out ridge regression"
	}
	return fmt.Sprintf("nested, by %s on %d validation folds", score, len(validation(o, e.splits.Folds, 0)))
}

func (e *engine) learner() string {
	switch {
	case e.o.Learner == Ridge:
		return "kernel ridge"
	case e.targets.regression():
		return "ε-SVR"
	}
	return "C-SVC"
}

func grid(x []float64) string {
	s := make([]string, len(x))
	for i, v := range x {
		s[i] = fmt.Sprintf("%g", v)
	}
	return strings.Join(s, " ")
}

// duplicates counts isomorphic graphs across folds.
func (e *engine) duplicates() Duplicates {
	var d Duplicates
	across := 0
	for _, group := range graph.Duplicates(e.graphs) {
		d.Groups++
		d.Graphs += len(group)
		first := e.data.Graphs[group[0]].Target()
		if slices.ContainsFunc(group, func(i int) bool { return e.data.Graphs[i].Target() != first }) {
			d.Conflicting += len(group)
		}
		for _, fold := range e.splits.Fold {
			for _, i := range group {
				if slices.ContainsFunc(group, func(j int) bool { return fold[j] != fold[i] }) {
					across++
				}
			}
		}
	}
	d.AcrossFolds = float64(across) / float64(e.splits.Repeats())
	return d
}

// summarise computes the figures of a row from predictions.
func (e *engine) summarise(x *Result, chosen [][]foldResult) {
	t := e.targets
	x.Repeats = len(chosen)
	if t.regression() {
		e.summariseValues(x, chosen)
		return
	}
	var confusions [][]Confusion
	var aucs []float64
	for r, folds := range chosen {
		predicted := make([]int, len(e.graphs))
		row := make([]Confusion, len(folds))
		var auc []float64
		for f, result := range folds {
			test := e.splits.Test(r, f)
			truth := pick(t.labels, test)
			row[f] = NewConfusion(truth, result.Labels, len(t.classes))
			for k, i := range test {
				predicted[i] = result.Labels[k]
			}
			if a, ok := t.auc(truth, result.Scores); ok {
				auc = append(auc, a)
			}
		}
		confusions = append(confusions, row)
		x.Predicted = append(x.Predicted, predicted)
		if len(auc) > 0 {
			aucs = append(aucs, mean(auc))
		}
	}
	e.summariseConfusions(x, confusions)
	if len(aucs) > 0 {
		m, s := mean(aucs), deviation(aucs)
		x.AUC, x.AUCStd = &m, &s
	}
}

// auc returns the AUC of the scores of a prediction.
func (t *targets) auc(truth []int, scores []float64) (float64, bool) {
	if t.width() == 1 {
		positive := make([]bool, len(truth))
		for i, l := range truth {
			positive[i] = l == 1
		}
		return AUC(positive, scores)
	}
	rows := make([][]float64, len(truth))
	for i := range rows {
		rows[i] = scores[i*t.width() : (i+1)*t.width()]
	}
	return MacroAUC(truth, rows, len(t.classes))
}

// summariseConfusions computes accuracies from the counts of all folds, by repeat and fold.
func (e *engine) summariseConfusions(x *Result, confusions [][]Confusion) {
	classes := len(e.targets.classes)
	s := &ClassificationSummary{}
	x.ClassificationSummary = s
	all := NewConfusion(nil, nil, classes)
	var balanced []float64
	for _, folds := range confusions {
		sum := NewConfusion(nil, nil, classes)
		var scores []float64
		for _, c := range folds {
			sum.add(c)
			scores = append(scores, c.Accuracy())
		}
		all.add(sum)
		x.FoldScores = append(x.FoldScores, scores)
		s.AccuracyByRepeats = append(s.AccuracyByRepeats, sum.Accuracy())
		balanced = append(balanced, sum.BalancedAccuracy())
	}
	x.Repeats = len(confusions)
	s.Accuracy, s.AccuracyStd = mean(s.AccuracyByRepeats), deviation(s.AccuracyByRepeats)
	s.Balanced, s.BalancedStd = mean(balanced), deviation(balanced)
	s.ByClass = all.ByClass(e.targets.classes)
	e.interval(x)
}

func (e *engine) interval(x *Result) {
	test := float64(len(e.graphs)) / float64(e.splits.Folds)
	x.Interval = ConfidenceInterval(slices.Concat(x.FoldScores...), test/(float64(len(e.graphs))-test), e.o.Confidence)
	if i := x.Interval; i != nil && !e.targets.regression() { // shares
		i.Low, i.High = max(0, i.Low), min(1, i.High)
	}
}

// summariseValues computes errors of predicted values.
func (e *engine) summariseValues(x *Result, chosen [][]foldResult) {
	var rmse, mae, r2 []float64
	for r, folds := range chosen {
		values := make([]float64, len(e.graphs))
		var scores []float64
		for f, result := range folds {
			test := e.splits.Test(r, f)
			for k, i := range test {
				values[i] = result.Values[k]
			}
			root := ScoreValues(pick(e.targets.values, test), result.Values).RMSE
			scores = append(scores, root*root)
		}
		x.Values = append(x.Values, values)
		x.FoldScores = append(x.FoldScores, scores)
		s := ScoreValues(e.targets.values, values)
		rmse, mae, r2 = append(rmse, s.RMSE), append(mae, s.MAE), append(r2, s.R2)
	}
	x.RegressionSummary = &RegressionSummary{
		RMSE: mean(rmse), RMSEStd: deviation(rmse),
		MAE: mean(mae), MAEStd: deviation(mae),
		R2: mean(r2), R2Std: deviation(r2),
	}
	e.interval(x)
}

// majority predicts the most frequent class of the training part, the first of equals, or
// its mean value.
func (e *engine) majority() Result {
	x := Result{Name: majorityName, Parameters: "-"}
	t := e.targets
	if t.regression() {
		x.Name = "mean value"
	}
	chosen := make([][]foldResult, e.splits.Repeats())
	for r := range chosen {
		for f := range e.splits.Folds {
			train, test := e.splits.Without(r, f), e.splits.Test(r, f)
			result := foldResult{Fold: f}
			if t.regression() {
				result.Values = slices.Repeat([]float64{mean(pick(t.values, train))}, len(test))
			} else {
				counts := make([]int, len(t.classes))
				for _, i := range train {
					counts[t.labels[i]]++
				}
				best := slices.Index(counts, slices.Max(counts))
				result.Labels = slices.Repeat([]int{best}, len(test))
				result.Scores = make([]float64, len(test)*t.width())
			}
			chosen[r] = append(chosen[r], result)
		}
	}
	e.summarise(&x, chosen)
	return x
}
