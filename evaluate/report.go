package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/splits"
)

// majorityName is the row of the baseline that sees no graph: the most frequent class of the
// training part, or its mean value.
const (
	majorityName = "majority class"
	meanName     = "mean value"
)

// confidence is the level of the confidence intervals.
const confidence = 0.95

// Report is the outcome of an evaluation.
type Report struct {
	Dataset string   `json:"dataset"`
	Graphs  int      `json:"graphs"`
	Classes []string `json:"classes,omitempty"` // none for regression
	// Uneven says that accuracy tells little about the classes (metrics.Uneven): the rows are compared by AUC.
	Uneven bool `json:"uneven,omitempty"`
	// Rare is the rare class that average precision and enrichment are about, "" if no class is
	// rare.
	Rare     string   `json:"rare_class,omitempty"`
	Protocol Protocol `json:"protocol"`
	// Duplicates tells how far test graphs occur in their training parts.
	Duplicates Duplicates `json:"duplicates"`
	Results    []Result   `json:"results"`
	// Tests compares every row of Results with every later one; B is the earlier row.
	Tests []metrics.Test `json:"tests"`

	// Splits are the folds.
	Splits *splits.Splits `json:"-"`
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

// Duplicates counts isomorphic graphs (graph.Duplicates) in a dataset.
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
	// Interval is a confidence interval of what FoldScores are, by metrics.ConfidenceInterval over all folds.
	Interval *metrics.Interval `json:"confidence_interval,omitempty"`
	// FoldScores are the accuracies, the AUCs of uneven classes, or the mean squared errors of all folds, by
	// repeat. A fold that has one class has no AUC.
	FoldScores [][]float64 `json:"fold_scores"`
	// Limited is the number of trainings behind the predictions that stopped at the limit of
	// iterations of the SVM; their solutions are not exact.
	Limited int `json:"limited_trainings,omitempty"`
	// Edge is the number of folds whose ridge is the smallest or the largest of the grid.
	Edge int `json:"edge_ridges,omitempty"`
	// KernelSeconds is the time for the kernel matrices of all settings. LearnSeconds is the time
	// for choosing, training and predicting. Seconds is the sum of the two. With Inductive they are
	// sums over the folds, and several folds run at the same time.
	Seconds       float64 `json:"seconds"`
	KernelSeconds float64 `json:"kernel_seconds"`
	LearnSeconds  float64 `json:"learn_seconds"`

	// Predicted[r][i] is the class, a position in Report.Classes, that graph i gets in repeat
	// r, −1 where it is not tested; nil with OnReported and for regression, where Values has the predicted values.
	// Deviations has theirs, and is nil where the learner knows none.
	Predicted  [][]int     `json:"-"`
	Values     [][]float64 `json:"-"`
	Deviations [][]float64 `json:"-"`
}

// Choice is a setting with the number of outer folds for which it was chosen.
type Choice struct {
	Parameters string `json:"parameters"`
	Folds      int    `json:"folds"`
}

// ClassificationSummary has means over the repeats and standard deviations between them
// (divisor repeats-1, 0 for a single repeat). A repeat tests every graph once; its accuracy
// is over all of them, and so is what probabilities give. The AUC is the mean over folds, since scores of
// different machines have no common scale.
type ClassificationSummary struct {
	Accuracy    float64  `json:"accuracy_mean"`
	AccuracyStd float64  `json:"accuracy_std"`
	Balanced    float64  `json:"balanced_accuracy_mean"`
	BalancedStd float64  `json:"balanced_accuracy_std"`
	AUC         *float64 `json:"auc_mean,omitempty"` // nil with OnReported
	AUCStd      *float64 `json:"auc_std,omitempty"`
	// LogLoss and CalibrationError are those of the probabilities, nil without.
	LogLoss          *float64 `json:"log_loss_mean,omitempty"`
	CalibrationError *float64 `json:"calibration_error_mean,omitempty"`
	// Finding has average precision and enrichment of a rare class.
	Finding           []choose.Figure      `json:"finding,omitempty"`
	ByClass           []metrics.ClassScore `json:"classes"` // over all repeats
	AccuracyByRepeats []float64            `json:"accuracy_by_repeat"`
}

// RegressionSummary is the same for values.
type RegressionSummary struct {
	RMSE    float64 `json:"rmse_mean"`
	RMSEStd float64 `json:"rmse_std"`
	MAE     float64 `json:"mae_mean"`
	MAEStd  float64 `json:"mae_std"`
	R2      float64 `json:"r2_mean"`
	R2Std   float64 `json:"r2_std"`
	// Learners that know deviations are measured by them as well. NLPD is nil where it is infinite.
	NLPD     *float64   `json:"nlpd_mean,omitempty"`
	NLPDStd  *float64   `json:"nlpd_std,omitempty"`
	Coverage []Coverage `json:"coverage,omitempty"`
	// Folds has the scores of all folds, by repeat.
	Folds [][]metrics.RegressionScores `json:"folds"`
}

// Coverage is the share of targets that are in the interval of a level, over all repeats. Levels are 5, 10, … 95 %.
type Coverage struct {
	Level float64 `json:"level"`
	Share float64 `json:"share"`
}

// report makes the report from the results of all methods.
func (e *evaluation) report() *Report {
	o := e.o
	n := len(e.graphs)
	test, train := 0.0, 0.0
	for _, p := range e.parts {
		test += float64(len(e.Splits.Test(p.Repeat, p.Fold)))
		train += float64(len(e.Splits.Without(p.Repeat, p.Fold)))
	}
	r := &Report{
		Dataset: e.data.Name, Graphs: n, Classes: e.Targets.Classes, Uneven: e.Targets.Uneven(), Rare: e.Targets.RareClass(),
		Protocol: Protocol{
			Folds: e.Splits.Folds, Repeats: e.Splits.Repeats(),
			Splits: e.Splits.Scheme, Seed: e.Splits.Seed,
			Selection: e.selection(), Honest: !o.OnReported,
			Learner: e.learner(), Grid: strings.Trim(fmt.Sprint(o.Grid()), "[]"),
			Fitting: map[bool]string{false: "transductive", true: "inductive"}[o.Inductive],
			Ratio:   test / train,
		},
		Duplicates: e.duplicates(),
		Splits:     e.Splits,
		Results:    []Result{e.majority()},
	}
	for _, x := range e.rows {
		r.Results = append(r.Results, e.result(x))
	}
	for k := range r.Results {
		x := &r.Results[k]
		x.Interval = metrics.ConfidenceInterval(slices.Concat(x.FoldScores...), r.Protocol.Ratio, confidence)
		if i := x.Interval; i != nil && r.Classes != nil { // shares
			i.Low, i.High = max(0, i.Low), min(1, i.High)
		}
	}
	r.compare()
	return r
}

// compare sets Tests.
func (r *Report) compare() {
	r.Tests = nil
	for i := range r.Results {
		for j := i + 1; j < len(r.Results); j++ {
			r.Tests = append(r.Tests, r.test(&r.Results[j], &r.Results[i]))
		}
	}
}

// test compares two rows.
func (r *Report) test(a, b *Result) metrics.Test {
	t := metrics.CorrectedTest(slices.Concat(a.FoldScores...), slices.Concat(b.FoldScores...), r.Protocol.Ratio)
	t.A, t.B = a.Name, b.Name
	return t
}

// Add adds the rows of a report on the same splits, and computes the tests again. A row replaces
// the row with the same name. The Protocol does not change.
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
func (e *evaluation) selection() string {
	if e.o.OnReported {
		return "chosen on the reported folds themselves (too high)"
	}
	score := "accuracy"
	switch {
	case e.Targets.Process(e.o.Learner) && e.o.LeaveOneOut:
		return "nested, by leave-one-out predictive density"
	case e.Targets.Regression() || e.o.Score == choose.Squared:
		score = "squared error"
	case e.o.Score == choose.BalancedAccuracy:
		score = "balanced accuracy"
	}
	if e.o.LeaveOneOut {
		return "nested, by " + score + " of leave-one-out ridge regression"
	}
	return fmt.Sprintf("nested, by %s on %d validation folds", score, e.parts[0].Validators())
}

func (e *evaluation) learner() string {
	switch {
	case e.Targets.Process(e.o.Learner):
		return "Gaussian process"
	case e.o.Learner == learn.KernelRidge:
		return "kernel ridge"
	case e.Targets.Regression():
		return "ε-SVR"
	}
	return "C-SVC"
}

// duplicates counts isomorphic graphs across folds.
func (e *evaluation) duplicates() Duplicates {
	var d Duplicates
	across := 0
	for _, group := range graph.Duplicates(e.graphs) {
		d.Groups++
		d.Graphs += len(group)
		first := e.data.Graphs[group[0]].Target()
		if slices.ContainsFunc(group, func(i int) bool { return e.data.Graphs[i].Target() != first }) {
			d.Conflicting += len(group)
		}
		for repeat, fold := range e.Splits.Fold {
			for _, i := range group {
				if fold[i] >= 0 && slices.ContainsFunc(group, func(j int) bool { return e.Splits.Trains(repeat, fold[i], j) }) {
					across++
				}
			}
		}
	}
	d.AcrossFolds = float64(across) / float64(e.Splits.Repeats())
	return d
}

// result makes a row of the report.
func (e *evaluation) result(x reportRow) Result {
	out := Result{Name: x.name, Repeats: e.Splits.Repeats()}
	for _, m := range x.methods {
		out.KernelSeconds += m.KernelSeconds
		out.LearnSeconds += m.LearnSeconds
	}
	out.Seconds = out.KernelSeconds + out.LearnSeconds
	if e.o.OnReported {
		e.chooseReported(&out, x.methods)
	} else {
		e.chooseByFold(&out, x)
	}
	return out
}

// chooseByFold takes for every fold the method with the best score on its training part.
func (e *evaluation) chooseByFold(out *Result, row reportRow) {
	counts := map[string]int{}
	var chosen []choose.HeldPredictions
	for i, p := range e.parts {
		m := e.chosen(row, p)
		x := &m.results[i]
		chosen = append(chosen, x.HeldPredictions)
		out.Limited += x.Limited
		if counts[e.choice(m, x.Best)]++; e.o.AtEdge(x.Best) {
			out.Edge++
		}
	}
	for p, n := range counts {
		out.Choices = append(out.Choices, Choice{p, n})
	}
	slices.SortFunc(out.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(b.Folds, a.Folds), cmp.Compare(a.Parameters, b.Parameters))
	})
	out.Parameters = out.Choices[0].Parameters
	e.summarise(out, chosen)
}

// choice describes a method with a value of the learner's grid.
func (e *evaluation) choice(m *method, value int) string {
	return fmt.Sprintf("%s %s=%g", m.parameters, choose.ParameterName(e.o.Learner), e.o.Grid()[value])
}

// chooseReported takes the method and value of the grid with the best mean accuracy over all
// repeats on the test folds themselves, the first of equals.
func (e *evaluation) chooseReported(out *Result, methods []*method) {
	best := math.Inf(-1)
	empty := *out
	for _, m := range methods {
		for g := range e.o.Grid() {
			trial := empty
			var confusions []metrics.Confusion
			for _, x := range m.results {
				confusions = append(confusions, x.Confusions[g])
				trial.Limited += x.Limited
			}
			e.summariseConfusions(&trial, confusions)
			score := trial.Accuracy
			if e.o.Score == choose.BalancedAccuracy {
				score = trial.Balanced
			}
			if score > best {
				best, *out = score, trial
				out.Parameters = e.choice(m, g)
			}
		}
	}
}

// majority predicts the most frequent class of the training part, the first of equals, or
// its mean value.
func (e *evaluation) majority() Result {
	t := e.Targets
	out := Result{Name: majorityName, Parameters: "-", Repeats: e.Splits.Repeats()}
	if t.Regression() {
		out.Name = meanName
	}
	var chosen []choose.HeldPredictions
	for _, p := range e.parts {
		train, test := e.Splits.Without(p.Repeat, p.Fold), e.Splits.Test(p.Repeat, p.Fold)
		if t.Regression() {
			values := choose.Pick(t.Values, train)
			x := choose.HeldPredictions{Values: slices.Repeat([]float64{metrics.Mean(values)}, len(test))}
			if e.Targets.Process(e.o.Learner) {
				s := metrics.Deviation(values) * math.Sqrt(1+1/float64(len(values))) // of a value and of their mean
				x.Deviations = slices.Repeat([]float64{s}, len(test))
			}
			chosen = append(chosen, x)
			continue
		}
		chosen = append(chosen, t.Always(train, len(test)))
	}
	e.summarise(&out, chosen)
	return out
}
