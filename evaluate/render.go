package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/metrics"
)

// WriteJSON writes the report as an indented JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Facts returns sentences about the data and the protocol.
func (r *Report) Facts() []string {
	p := &r.Protocol
	what := "regression"
	if r.Classes != nil {
		what = fmt.Sprintf("%d classes", len(r.Classes))
	}
	folds := fmt.Sprintf("%d × %d-fold cross-validation, %s, seed %d.", p.Repeats, p.Folds, p.Splits, p.Seed)
	switch {
	case p.Folds == 1:
		folds = fmt.Sprintf("One training and one test part, %s.", p.Splits)
	case r.Splits != nil && r.Splits.Forward:
		folds = fmt.Sprintf("%d folds %s.", p.Folds, p.Splits)
	}
	out := []string{
		fmt.Sprintf("%s: %d graphs, %s.", r.Dataset, r.Graphs, what),
		folds,
		fmt.Sprintf("%s, parameters %s, kernels %s.", p.Learner, p.Selection, p.Fitting),
	}
	if !p.Honest {
		out = append(out, "The parameters were tuned on the reported folds. So these figures are too high.")
	}
	if r.Uneven {
		out = append(out, "The classes are uneven, so accuracy says little. AUC and balanced accuracy say more.")
	}
	if d := &r.Duplicates; d.Graphs > 0 {
		out = append(out, fmt.Sprintf("%d graphs are isomorphic to others (groups: %d, graphs with conflicting targets: %d). On average, %.1f graphs have an isomorphic graph in their training part.",
			d.Graphs, d.Groups, d.Conflicting, d.AcrossFolds))
	}
	for _, x := range r.Results {
		if x.Limited > 0 {
			out = append(out, fmt.Sprintf("Trainings of %s that stopped at the limit of iterations: %d.", x.Name, x.Limited))
		}
	}
	if x := r.Best(); x.Edge > 0 {
		out = append(out, fmt.Sprintf("Folds of %s whose ridge is at the edge of those that were tried: %d. One beyond it may be better.", x.Name, x.Edge))
	}
	return out
}

// Tables returns the results, the parameters that were chosen, the classes in the best row, and the
// comparison of the other rows with it.
func (r *Report) Tables() []table.Table {
	interval := fmt.Sprintf("%g %% interval", 100*confidence)
	results := table.Table{Caption: "Results", Header: []string{"kernel", "accuracy", interval, "balanced", "AUC", "seconds"}}
	if r.Uneven {
		results.Header = []string{"kernel", "AUC", interval, "balanced", "accuracy", "seconds"}
	}
	probabilities := table.Table{Caption: "Probabilities", Header: []string{"kernel", "log loss", "calibration error"}}
	finding := table.Table{Caption: "Finding class " + r.Rare, Header: []string{"kernel"}}
	chosen := table.Table{Caption: "Chosen", Header: []string{"kernel", "parameters"}}
	if r.Protocol.Honest {
		chosen.Caption = "Chosen most often"
	}
	if r.Classes == nil {
		results.Header = []string{"kernel", "RMSE", "MAE", "R²", "seconds"}
	}
	for _, x := range r.Results {
		results.Add(x.cells(r.Uneven)...)
		if c := x.ClassificationSummary; c != nil && c.LogLoss != nil {
			probabilities.Add(x.Name, fmt.Sprintf("%.3f", *c.LogLoss), fmt.Sprintf("%.3f", *c.CalibrationError))
		}
		if c := x.ClassificationSummary; c != nil && len(c.Finding) > 0 {
			row := []string{x.Name}
			finding.Header = []string{"kernel"}
			for _, f := range c.Finding {
				row, finding.Header = append(row, fmt.Sprintf("%.3g", f.Value)), append(finding.Header, f.Measure)
			}
			finding.Add(row...)
		}
		if x.Parameters == "-" {
			continue
		}
		parameters := strings.TrimPrefix(x.Parameters, x.Name+" ")
		if len(x.Choices) > 0 {
			parameters += fmt.Sprintf(" (%d of %d folds)", x.Choices[0].Folds, r.Protocol.Folds*x.Repeats)
		}
		chosen.Add(x.Name, parameters)
	}
	out := []table.Table{results}
	for _, t := range []table.Table{finding, probabilities, r.calibration()} {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	out = append(out, chosen)
	best := r.Best()
	if best.ClassificationSummary != nil {
		t := table.Table{Caption: "By class, " + best.Name, Header: []string{"class", "examples", "recall", "precision", "F1"}}
		for _, c := range best.ByClass {
			t.Add(c.Class, fmt.Sprint(c.Examples/best.Repeats), fmt.Sprintf("%.3f", c.Recall), fmt.Sprintf("%.3f", c.Precision), fmt.Sprintf("%.3f", c.F1))
		}
		out = append(out, t)
	}
	if len(slices.Concat(best.FoldScores...)) < 2 { // nothing to test by
		return out
	}
	tests := table.Table{Caption: "Corrected resampled t-test against " + best.Name, Header: []string{"kernel", "difference", "t", "p"}}
	for i := range r.Results {
		if r.Results[i].Name == best.Name {
			continue
		}
		x := r.test(&r.Results[i], best)
		difference := fmt.Sprintf("%+.4g", x.Difference) // of squared errors
		if r.Classes != nil && !r.Uneven {               // of accuracies in per cent
			difference = fmt.Sprintf("%+.2f", 100*x.Difference)
		}
		tests.Add(x.A, difference, fmt.Sprintf("%.2f", x.T), fmt.Sprintf("%.3g", x.P))
	}
	return append(out, tests)
}

// Calibration is the caption of the table that Gaussian processes have.
const Calibration = "Calibration: share of values in the intervals"

// calibration returns the table of what deviations are worth, without rows for learners that know none.
func (r *Report) calibration() table.Table {
	t := table.Table{Caption: Calibration, Header: []string{"kernel", "NLPD"}}
	for _, level := range metrics.Levels {
		t.Header = append(t.Header, fmt.Sprintf("%g %%", 100*level))
	}
	for _, x := range r.Results {
		if x.RegressionSummary == nil || x.Coverage == nil {
			continue
		}
		row := []string{x.Name, "-"}
		if x.NLPD != nil {
			row[1] = spread("%.3f", *x.NLPD, *x.NLPDStd, x.Repeats)
		}
		for _, level := range metrics.Levels {
			row = append(row, fmt.Sprintf("%.1f", 100*x.Covered(level)))
		}
		t.Add(row...)
	}
	return t
}

// cells returns the cells of a row of results.
func (x *Result) cells(uneven bool) []string {
	out := []string{x.Name}
	if v := x.RegressionSummary; v != nil {
		out = append(out, measured(v.RMSE, v.RMSEStd, x.Repeats), measured(v.MAE, v.MAEStd, x.Repeats),
			spread("%.3f", v.R2, v.R2Std, x.Repeats))
	} else {
		interval, auc := "-", "-"
		if i := x.Interval; i != nil && uneven && x.AUC != nil {
			interval = fmt.Sprintf("%.3f–%.3f", i.Low, i.High)
		} else if i != nil {
			interval = fmt.Sprintf("%.1f–%.1f", 100*i.Low, 100*i.High)
		}
		if x.AUC != nil {
			auc = fmt.Sprintf("%.3f", *x.AUC)
		}
		scores := []string{x.AccuracyText(), interval, fmt.Sprintf("%.1f", 100*x.Balanced), auc}
		if uneven {
			if x.AUC != nil {
				scores[3] = spread("%.3f", *x.AUC, *x.AUCStd, x.Repeats)
			}
			scores[0], scores[3] = scores[3], scores[0]
		}
		out = append(out, scores...)
	}
	return append(out, fmt.Sprintf("%.1f", x.Seconds))
}

// AccuracyText returns the accuracy in per cent, with its deviation between repeats.
func (x *Result) AccuracyText() string {
	return spread("%.2f", 100*x.Accuracy, 100*x.AccuracyStd, x.Repeats)
}

// spread returns mean±deviation, or the mean alone for a single repeat.
func spread(format string, mean, deviation float64, repeats int) string {
	if repeats < 2 {
		return fmt.Sprintf(format, mean)
	}
	return fmt.Sprintf(format+"±"+format, mean, deviation)
}

// measured is spread of an error, which may be of any size.
func measured(mean, deviation float64, repeats int) string {
	if repeats < 2 {
		return fmt.Sprintf("%.4g", mean)
	}
	v, d := table.Spread(4, mean, deviation)
	return v + "±" + d
}

// Best returns the row with the largest accuracy or AUC, or the smallest RMSE, the first of equals.
func (r *Report) Best() *Result {
	best := &r.Results[0]
	for i := range r.Results {
		if x := &r.Results[i]; x.lead(r.Uneven) > best.lead(r.Uneven) {
			best = x
		}
	}
	return best
}

// lead is what rows are ordered by.
func (x *Result) lead(uneven bool) float64 {
	switch {
	case x.RegressionSummary != nil:
		return -x.RMSE
	case uneven && x.AUC != nil:
		return *x.AUC
	}
	return x.Accuracy
}

// WriteText writes the report for a terminal of 80 columns.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Facts() {
		b.WriteString(table.Wrap(line, 0, 2) + "\n")
	}
	for i, t := range r.Tables() {
		b.WriteByte('\n')
		if i > 0 {
			b.WriteString(t.Caption + ":\n")
		}
		if t.Header[1] == "parameters" { // long texts
			for _, row := range t.Rows {
				fmt.Fprintf(&b, "  %s\n", table.Wrap(row[0]+": "+row[1], 2, 4))
			}
			continue
		}
		t.Write(&b, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", table.Escape(r.Dataset), table.Escape(strings.Join(r.Facts(), " ")))
	for i, t := range r.Tables() {
		b.WriteByte('\n')
		if i > 0 {
			fmt.Fprintf(&b, "### %s\n\n", table.Escape(t.Caption))
		}
		t.WriteMarkdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
