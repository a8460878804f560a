package evaluate

import (
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/metrics"
)

// summarise computes the figures of a row from predictions, by training part.
func (e *evaluation) summarise(out *Result, chosen []choose.HeldPredictions) {
	t := e.Targets
	if t.Regression() {
		e.summariseValues(out, chosen)
		return
	}
	var confusions []metrics.Confusion
	var aucs, losses, errors []float64
	var foldScores [][]float64
	var finding []choose.Figure
	for repeat := range out.Repeats {
		var auc []float64
		predicted, scores := slices.Repeat([]int{-1}, len(e.graphs)), make([][]float64, len(e.graphs))
		for f := range e.Splits.Folds {
			p := chosen[repeat*e.Splits.Folds+f]
			test := e.Splits.Test(repeat, f)
			truth := choose.Pick(t.Labels, test)
			confusions = append(confusions, metrics.NewConfusion(truth, p.Labels, len(t.Classes)))
			put(predicted, test, p.Labels)
			put(scores, test, p.Scores)
			if a, ok := metrics.MacroAUC(truth, p.Scores, len(t.Classes)); ok {
				auc = append(auc, a)
			}
		}
		out.Predicted = append(out.Predicted, predicted)
		if foldScores = append(foldScores, auc); len(auc) > 0 {
			aucs = append(aucs, metrics.Mean(auc))
		}
		tested := e.tested(repeat)
		truth, known := choose.Pick(t.Labels, tested), choose.Pick(scores, tested)
		losses, errors = append(losses, metrics.LogLoss(truth, known)), append(errors, metrics.CalibrationError(truth, known))
		if out.Name == majorityName { // shares differ between training parts, which ranks parts and not graphs
			known = t.Always(tested, len(tested)).Scores
		}
		for i, f := range t.Rare(tested, known) {
			if f.Value /= float64(out.Repeats); i == len(finding) {
				finding = append(finding, f)
			} else {
				finding[i].Value += f.Value
			}
		}
	}
	e.summariseConfusions(out, confusions)
	out.Finding = finding
	if len(aucs) > 0 {
		m, s := spreadOf(aucs)
		out.AUC, out.AUCStd = &m, &s
		if t.Uneven() {
			out.FoldScores = foldScores
		}
	}
	if e.o.Probability {
		loss, calibration := metrics.Mean(losses), metrics.Mean(errors)
		out.LogLoss, out.CalibrationError = &loss, &calibration
	}
}

// tested returns the graphs that a repeat tests.
func (e *evaluation) tested(repeat int) []int {
	var out []int
	for f := range e.Splits.Folds {
		out = append(out, e.Splits.Test(repeat, f)...)
	}
	return out
}

// put is the inverse of choose.Pick.
func put[T any](to []T, at []int, x []T) {
	for k, i := range at {
		to[i] = x[k]
	}
}

// spreadOf returns the mean and the standard deviation of a figure over the repeats.
func spreadOf(x []float64) (mean, deviation float64) { return metrics.Mean(x), metrics.Deviation(x) }

// summariseConfusions computes accuracies from the counts of all folds, by training part.
func (e *evaluation) summariseConfusions(out *Result, confusions []metrics.Confusion) {
	classes := len(e.Targets.Classes)
	s := &ClassificationSummary{}
	out.ClassificationSummary = s
	all := metrics.NewConfusion(nil, nil, classes)
	var balanced []float64
	for folds := range slices.Chunk(confusions, e.Splits.Folds) {
		sum := metrics.NewConfusion(nil, nil, classes)
		var scores []float64
		for _, c := range folds {
			sum.Add(c)
			scores = append(scores, c.Accuracy())
		}
		all.Add(sum)
		out.FoldScores = append(out.FoldScores, scores)
		s.AccuracyByRepeats = append(s.AccuracyByRepeats, sum.Accuracy())
		balanced = append(balanced, sum.BalancedAccuracy())
	}
	s.Accuracy, s.AccuracyStd = spreadOf(s.AccuracyByRepeats)
	s.Balanced, s.BalancedStd = spreadOf(balanced)
	s.ByClass = all.ByClass(e.Targets.Classes)
}

// summariseValues computes errors of predicted values, by training part.
func (e *evaluation) summariseValues(out *Result, chosen []choose.HeldPredictions) {
	var rmse, mae, r2, nlpd []float64
	known := !slices.ContainsFunc(chosen, func(p choose.HeldPredictions) bool { return p.Deviations == nil })
	s := &RegressionSummary{}
	out.RegressionSummary = s
	for repeat := range out.Repeats {
		values, deviations := make([]float64, len(e.graphs)), make([]float64, len(e.graphs))
		var squared []float64
		var folds []metrics.RegressionScores
		for f := range e.Splits.Folds {
			p := chosen[repeat*e.Splits.Folds+f]
			test := e.Splits.Test(repeat, f)
			put(values, test, p.Values)
			if known {
				put(deviations, test, p.Deviations)
			}
			fold := metrics.ScoreValues(choose.Pick(e.Targets.Values, test), p.Values, p.Deviations)
			folds, squared = append(folds, fold), append(squared, fold.RMSE*fold.RMSE)
		}
		if out.Values = append(out.Values, values); known {
			out.Deviations = append(out.Deviations, deviations)
		} else {
			deviations = nil
		}
		out.FoldScores, s.Folds = append(out.FoldScores, squared), append(s.Folds, folds)
		tested := e.tested(repeat)
		all := metrics.ScoreValues(choose.Pick(e.Targets.Values, tested), choose.Pick(values, tested), choose.Pick(deviations, tested))
		rmse, mae, r2 = append(rmse, all.RMSE), append(mae, all.MAE), append(r2, all.R2)
		if known && all.NLPD != nil {
			nlpd = append(nlpd, *all.NLPD)
		}
	}
	s.RMSE, s.RMSEStd = spreadOf(rmse)
	s.MAE, s.MAEStd = spreadOf(mae)
	s.R2, s.R2Std = spreadOf(r2)
	if len(nlpd) == out.Repeats {
		mean, deviation := spreadOf(nlpd)
		s.NLPD, s.NLPDStd = &mean, &deviation
	}
	if known {
		s.Coverage = e.coverage(out)
	}
}

// coverage returns the coverage of intervals at the levels 5, 10, … 95 %.
func (e *evaluation) coverage(x *Result) []Coverage {
	var out []Coverage
	for percent := 5; percent < 100; percent += 5 {
		level := float64(percent) / 100
		var shares []float64
		for repeat, deviations := range x.Deviations {
			tested := e.tested(repeat)
			shares = append(shares, metrics.Covered(choose.Pick(e.Targets.Values, tested), choose.Pick(x.Values[repeat], tested), choose.Pick(deviations, tested), level))
		}
		out = append(out, Coverage{level, metrics.Mean(shares)})
	}
	return out
}

// Covered returns the coverage of a level.
func (s *RegressionSummary) Covered(level float64) float64 {
	return s.Coverage[slices.IndexFunc(s.Coverage, func(c Coverage) bool { return c.Level == level })].Share
}
