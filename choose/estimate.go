package choose

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
)

// Estimate is a cross-validated score.
type Estimate struct {
	Measure string  `json:"measure"` // "accuracy", "balanced accuracy", "AUC" or "rmse"
	Value   float64 `json:"value"`   // accuracies are shares
	// Deviation is the standard error that the differences between folds suggest, 0 if it is not known.
	Deviation float64 `json:"deviation"`
	// Others are further figures for uneven classes, where accuracy alone says little.
	Others []Figure `json:"others,omitempty"`
	Method string   `json:"method"` // how it was found, and what it does not account for
	// Groups says what graphs share that were held out together (Groups.By), "" if they share nothing.
	Groups string `json:"groups,omitempty"`
}

// Figure is a figure with its name.
type Figure struct {
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
}

// Estimate says how good it is to choose among kernels on a part. Each validator that has graphs is
// predicted with the choice of the others. The score of the winner itself would be too high: the
// more kernels there are, the more it is too high. With a single validator there is no other score.
// It needs Keep.
func (c *Chooser) Estimate(p *TrainingPart, kernels []*Scores) Estimate {
	var folds [][]int
	var predictions []HeldPredictions
	for i, w := range p.weight {
		if w == 0 {
			continue
		}
		others := slices.Clone(p.weight)
		if others[i] = 0; slices.Max(others) == 0 {
			others = p.weight
		}
		k, g := c.chooseWith(kernels, others)
		folds, predictions = append(folds, p.scored[i]), append(predictions, kernels[k].predicted[g][i])
	}
	if !c.Targets.Regression() {
		return c.classEstimate(folds, predictions)
	}
	return c.valueEstimate(folds, predictions)
}

// valueEstimate returns the error of predicted values of folds.
func (c *Chooser) valueEstimate(folds [][]int, predictions []HeldPredictions) Estimate {
	var scores, weight []float64
	for f, graphs := range folds {
		scores, weight = append(scores, c.Targets.score(Squared, graphs, predictions[f])), append(weight, float64(len(graphs)))
	}
	e := Estimate{Measure: "rmse", Value: math.Sqrt(max(0, -weightedMean(scores, weight))), Deviation: standardError(scores)}
	if e.Value > 0 { // d√x = dx/(2√x)
		e.Deviation /= 2 * e.Value
	}
	return e
}

// standardError returns that of the mean of the scores of folds, 0 for one.
func standardError(scores []float64) float64 {
	return metrics.Deviation(scores) / math.Sqrt(float64(len(scores)))
}

// classEstimate scores predictions for folds. AUC is the mean over folds; what looks at the best few
// takes all together.
func (c *Chooser) classEstimate(folds [][]int, predictions []HeldPredictions) Estimate {
	t := c.Targets
	examples := slices.Concat(folds...)
	var all HeldPredictions
	for _, p := range predictions {
		all.append(p)
	}
	truth := Pick(t.Labels, examples)
	if c.Options.Learner == learn.KernelRidge && c.Options.Probability {
		all = calibrated(c.Options.Learner, truth, all)
	}
	figures := map[string][]float64{}
	at := 0
	for _, fold := range folds {
		part := HeldPredictions{Labels: all.Labels[at : at+len(fold)], Scores: all.Scores[at : at+len(fold)]}
		at += len(fold)
		counts := metrics.NewConfusion(Pick(t.Labels, fold), part.Labels, len(t.Classes))
		figures["accuracy"] = append(figures["accuracy"], counts.Accuracy())
		figures["balanced accuracy"] = append(figures["balanced accuracy"], counts.BalancedAccuracy())
		if auc, ok := metrics.MacroAUC(Pick(t.Labels, fold), part.Scores, len(t.Classes)); ok {
			figures["AUC"] = append(figures["AUC"], auc)
		}
	}
	measure := "accuracy"
	switch {
	case c.Options.Score == BalancedAccuracy:
		measure = "balanced accuracy"
	case t.Uneven() && figures["AUC"] != nil: // some fold has two classes
		measure = "AUC"
	}
	counts := metrics.NewConfusion(truth, all.Labels, len(t.Classes))
	values := []Figure{{"balanced accuracy", counts.BalancedAccuracy()}, {"accuracy", counts.Accuracy()}}
	if figures["AUC"] != nil {
		values = append([]Figure{{"AUC", metrics.Mean(figures["AUC"])}}, values...)
	}
	values = append(values, t.Rare(examples, all.Scores)...)
	e := Estimate{Measure: measure, Deviation: standardError(figures[measure])}
	for _, f := range values {
		if f.Measure == measure {
			e.Value = f.Value
		} else if t.Uneven() {
			e.Others = append(e.Others, f)
		}
	}
	return e
}

// calibrated gives predictions the probabilities that a learner would have, and the most probable
// classes.
func calibrated(learner learn.Kind, truth []int, p HeldPredictions) HeldPredictions {
	scores := &kernel.Matrix{Rows: len(truth), Cols: len(p.Scores[0]), Data: slices.Concat(p.Scores...)}
	scores = learn.Calibrated(learner, scores, truth)
	out := HeldPredictions{}
	for i := range truth {
		row := scores.Row(i)
		out.Labels, out.Scores = append(out.Labels, slices.Index(row, slices.Max(row))), append(out.Scores, row)
	}
	return out
}
