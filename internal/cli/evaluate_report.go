package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/explain/draw"
)

// accuracyBars draws the results of an evaluation: accuracies with confidence intervals, or
// root mean squared errors with their deviation between repeats.
func accuracyBars(title string, r *evaluate.Report) (*draw.Picture, error) {
	c := draw.BarChart{Title: title, Axis: "accuracy in %, with 95 % interval", Size: draw.Size{Width: 720, Height: 140 + 34*float64(len(r.Results))}}
	for _, x := range r.Results {
		b := draw.Bar{Name: x.Name}
		switch {
		case x.ClassificationSummary != nil:
			b.Value = 100 * x.Accuracy
			if x.Interval != nil {
				b.Error = 50 * (x.Interval.High - x.Interval.Low)
				c.Axis = fmt.Sprintf("accuracy in %%, with %.0f %% interval", 100*x.Interval.Level)
			}
		default:
			c.Axis = "root mean squared error, with deviation between repeats"
			b.Value, b.Error = x.RMSE, x.RMSEStd
		}
		c.Bars = append(c.Bars, b)
	}
	return c.Picture()
}

// resultTable is the table of an evaluation.
func resultTable(r *evaluate.Report) draw.Table {
	if len(r.Classes) == 0 {
		t := draw.Table{Header: []string{"kernel", "RMSE", "±", "MAE", "R²", "seconds", "parameters"}}
		for _, x := range r.Results {
			t.Rows = append(t.Rows, []string{x.Name, fmt.Sprintf("%.4g", x.RMSE), fmt.Sprintf("%.2g", x.RMSEStd), fmt.Sprintf("%.4g", x.MAE),
				fmt.Sprintf("%.3f", x.R2), fmt.Sprintf("%.1f", x.Seconds), x.Parameters})
		}
		return t
	}
	t := draw.Table{Header: []string{"kernel", "accuracy %", "±", "95 % interval", "balanced %", "AUC", "seconds", "parameters"}}
	for _, x := range r.Results {
		interval, auc := "", ""
		if x.Interval != nil {
			t.Header[3] = fmt.Sprintf("%.0f %% interval", 100*x.Interval.Level)
			interval = fmt.Sprintf("%.1f–%.1f", 100*x.Interval.Low, 100*x.Interval.High)
		}
		if x.AUC != nil {
			auc = fmt.Sprintf("%.3f", *x.AUC)
		}
		t.Rows = append(t.Rows, []string{x.Name, fmt.Sprintf("%.2f", 100*x.Accuracy), fmt.Sprintf("%.2f", 100*x.AccuracyStd), interval,
			fmt.Sprintf("%.1f", 100*x.Balanced), auc, fmt.Sprintf("%.1f", x.Seconds), x.Parameters})
	}
	return t
}

// bestRow returns the result with the highest accuracy or the smallest error.
func bestRow(r *evaluate.Report) evaluate.Result {
	return slices.MaxFunc(r.Results, func(a, b evaluate.Result) int {
		x, y := math.Inf(-1), math.Inf(-1)
		switch {
		case a.ClassificationSummary != nil && b.ClassificationSummary != nil:
			x, y = a.Accuracy, b.Accuracy
		case a.RegressionSummary != nil && b.RegressionSummary != nil:
			x, y = -a.RMSE, -b.RMSE
		}
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

// evaluationSection is the part of a report that has the figures of an evaluation.
func evaluationSections(r *evaluate.Report) ([]draw.Section, error) {
	bars, err := accuracyBars("", r)
	if err != nil {
		return nil, err
	}
	p := r.Protocol
	how := fmt.Sprintf("%d × %d-fold cross-validation, %s, seed %d. Learner: %s, of the grid %s; parameters: %s; kernels: %s.",
		p.Repeats, p.Folds, p.Splits, p.Seed, p.Learner, p.Grid, p.Selection, p.Fitting)
	if !p.Honest {
		how += "\n\nParameters were chosen on the folds that are reported: the figures are too high."
	}
	if d := r.Duplicates; d.Graphs > 0 {
		how += fmt.Sprintf("\n\n%d graphs are isomorphic to another one; on average %.0f have an isomorphic graph in the training part of the fold that tests them.", d.Graphs, d.AcrossFolds)
	}
	out := []draw.Section{{Heading: "Results", Blocks: []draw.Block{draw.Paragraph(how), draw.Figure{Picture: bars}, resultTable(r)}}}

	best := bestRow(r)
	unit, scale := "difference in %", 100.0
	if best.ClassificationSummary == nil {
		unit, scale = "difference of squared errors", 1
	}
	tests := draw.Table{Caption: "Corrected resampled t-test of " + best.Name + " against the others, two-sided.", Header: []string{"against", unit, "t", "p"}}
	for _, t := range r.Tests {
		other, sign := "", 1.0
		switch best.Name {
		case t.A:
			other = t.B
		case t.B:
			other, sign = t.A, -1
		default:
			continue
		}
		tests.Rows = append(tests.Rows, []string{other, fmt.Sprintf("%+.4g", scale*sign*t.Difference), fmt.Sprintf("%.2f", sign*t.T), fmt.Sprintf("%.2g", t.P)})
	}
	if len(tests.Rows) > 0 {
		out = append(out, draw.Section{Heading: "Comparison with the best row", Blocks: []draw.Block{tests}})
	}
	if best.ClassificationSummary != nil {
		t := draw.Table{Caption: "Classes as " + best.Name + " recognises them.", Header: []string{"class", "graphs", "recall", "precision", "F1"}}
		for _, c := range best.ByClass {
			t.Rows = append(t.Rows, []string{c.Class, fmt.Sprint(c.Examples / max(1, best.Repeats)), fmt.Sprintf("%.3f", c.Recall), fmt.Sprintf("%.3f", c.Precision), fmt.Sprintf("%.3f", c.F1)})
		}
		out = append(out, draw.Section{Heading: "Classes", Blocks: []draw.Block{t}})
	}
	return out, nil
}

// report makes the report of an evaluation. The pictures of a kernel matrix are those of mlg
// where it was evaluated, else of the first kernel.
func (c *evaluateCmd) report(g *globals, ds *dataset.Dataset, r *evaluate.Report) (*draw.Report, error) {
	sections, err := evaluationSections(r)
	if err != nil {
		return nil, err
	}
	name := c.Kernel[0]
	if c.Default || c.Paper || slices.Contains(c.Kernel, "mlg") {
		name = "mlg"
	}
	heading := "The kernel " + name
	if len(ds.Graphs) > largestPicture {
		sections = append(sections, draw.Section{Heading: heading, Blocks: []draw.Block{draw.Paragraph(fmt.Sprintf("No pictures of the kernel matrix: more than %d graphs.", largestPicture))}})
	} else {
		quiet := *g
		quiet.Quiet = true
		k, err := c.kernel(&quiet, name, ds.Graphs, newBar(&quiet))
		if err != nil {
			return nil, err
		}
		f, err := k.Fit(g.ctx, ds.Graphs)
		if err != nil {
			return nil, err
		}
		m, err := f.Gram(g.ctx)
		if err != nil {
			return nil, err
		}
		blocks, err := kernelFigures(name, f, m, classesOf(ds))
		if err != nil {
			return nil, err
		}
		sections = append(sections, draw.Section{Heading: heading, Blocks: append([]draw.Block{draw.Code(k.String())}, blocks...)})
	}
	what := "values"
	if n := len(r.Classes); n > 0 {
		what = fmt.Sprintf("%d classes", n)
	}
	return &draw.Report{Title: "Kernels on " + strings.TrimPrefix(r.Dataset, "builtin:"), Summary: fmt.Sprintf("%d graphs, %s.", r.Graphs, what),
		Sections: sections, Footer: footer(commandLine())}, nil
}
