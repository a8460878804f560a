package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteJSON writes the report as an indented JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// textWidth is the number of columns of a terminal that the table keeps to.
const textWidth = 80

// table returns the header and the cells of the rows, all but the parameters.
func (r *Report) table() (header []string, rows [][]string) {
	published := false
	for _, x := range r.Results {
		published = published || x.Published != nil
	}
	if r.Classes == nil {
		header = []string{"kernel", "RMSE", "MAE", "R²", "seconds"}
	} else {
		header = []string{"kernel", "accuracy", "95 % interval", "balanced", "AUC", "seconds"}
		for _, x := range r.Results {
			if x.Interval != nil {
				header[2] = fmt.Sprintf("%g %% interval", 100*x.Interval.Level)
			}
		}
		if published {
			header = append(header, "published")
		}
	}
	for _, x := range r.Results {
		row := []string{x.Name}
		switch s, v := x.ClassificationSummary, x.RegressionSummary; {
		case s != nil:
			interval, auc := "-", "-"
			if x.Interval != nil {
				interval = fmt.Sprintf("%.1f–%.1f", 100*x.Interval.Low, 100*x.Interval.High)
			}
			if s.AUC != nil {
				auc = fmt.Sprintf("%.3f", *s.AUC)
			}
			row = append(row, spread("%.2f", 100*s.Accuracy, 100*s.AccuracyStd, x.Repeats), interval, fmt.Sprintf("%.1f", 100*s.Balanced), auc)
		case v != nil:
			row = append(row, spread("%.4g", v.RMSE, v.RMSEStd, x.Repeats), spread("%.4g", v.MAE, v.MAEStd, x.Repeats), spread("%.3f", v.R2, v.R2Std, x.Repeats))
		}
		row = append(row, fmt.Sprintf("%.1f", x.Seconds))
		if published && r.Classes != nil {
			p := "-"
			if x.Published != nil {
				p = fmt.Sprintf("%.2f±%.2f", x.Published.Mean, x.Published.Deviation)
			}
			row = append(row, p)
		}
		rows = append(rows, row)
	}
	return header, rows
}

// spread returns mean±deviation, or the mean alone for a single repeat.
func spread(format string, mean, deviation float64, repeats int) string {
	if repeats < 2 {
		return fmt.Sprintf(format, mean)
	}
	return fmt.Sprintf(format+"±"+format, mean, deviation)
}

// lines are the facts about the protocol that stand above a table.
func (r *Report) lines() []string {
	p := &r.Protocol
	what := "regression"
	if r.Classes != nil {
		what = fmt.Sprintf("%d classes", len(r.Classes))
	}
	out := []string{
		fmt.Sprintf("%s: %d graphs, %s.", r.Dataset, r.Graphs, what),
		fmt.Sprintf("%d × %d-fold cross-validation, %s, seed %d.", p.Repeats, p.Folds, p.Splits, p.Seed),
		fmt.Sprintf("%s, parameters %s, kernels %s.", p.Learner, p.Selection, p.Fitting),
	}
	if !p.Honest {
		out = append(out, "The parameters were tuned on the folds that are reported: these figures are too high.")
	}
	if d := &r.Duplicates; d.Graphs > 0 {
		out = append(out, fmt.Sprintf("%d graphs are isomorphic to others (%d groups, %d graphs with conflicting targets); on average %.1f graphs have a twin in their training part.",
			d.Graphs, d.Groups, d.Conflicting, d.AcrossFolds))
	}
	for _, x := range r.Results {
		if x.Limited > 0 {
			out = append(out, fmt.Sprintf("%d trainings of %s stopped at the limit of iterations.", x.Limited, x.Name))
		}
	}
	return out
}

// WriteText writes the report as a table for a terminal of 80 columns, with the protocol
// above, and below the parameters that were chosen most often, the classes in the best row,
// and the comparison of the other rows with it.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.lines() {
		wrapText(&b, "", line)
	}
	b.WriteByte('\n')
	header, rows := r.table()
	width := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for c, s := range row {
			width[c] = max(width[c], utf8.RuneCountInString(s))
		}
	}
	// What is too wide loses the end of its names.
	total := 2 * (len(width) - 1)
	for _, n := range width {
		total += n
	}
	width[0] = max(8, width[0]-max(0, total-textWidth))
	for _, row := range append([][]string{header}, rows...) {
		for c, s := range row {
			if c == 0 {
				b.WriteString(pad(s, width[c], false))
			} else {
				b.WriteString("  " + pad(s, width[c], true))
			}
		}
		b.WriteByte('\n')
	}
	if r.Protocol.Honest {
		b.WriteString("\nChosen most often:\n")
	} else {
		b.WriteString("\nChosen:\n")
	}
	for _, x := range r.Results {
		if x.Parameters != "-" {
			wrapText(&b, "  ", x.Name+": "+strings.TrimPrefix(x.Parameters, x.Name+" ")+share100(x))
		}
	}
	if best := r.best(); best.ClassificationSummary != nil {
		fmt.Fprintf(&b, "\nBy class, %s:\n  %-24s  %8s  %6s  %9s  %5s\n", best.Name, "class", "examples", "recall", "precision", "F1")
		for _, c := range best.ByClass {
			fmt.Fprintf(&b, "  %s  %8d  %6.3f  %9.3f  %5.3f\n", pad(c.Class, 24, false), c.Examples/best.Repeats, c.Recall, c.Precision, c.F1)
		}
	}
	if tests := r.againstBest(); len(tests) > 0 {
		fmt.Fprintf(&b, "\nCorrected resampled t-test against %s:\n", r.best().Name)
		for _, t := range tests {
			fmt.Fprintf(&b, "  %s  %s  p = %.3g\n", pad(t.A, width[0], false), r.difference(t), t.P)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// share100 says for how many folds the parameters were chosen.
func share100(x Result) string {
	if len(x.Choices) == 0 {
		return ""
	}
	all := 0
	for _, c := range x.Choices {
		all += c.Folds
	}
	return fmt.Sprintf(" (%d of %d folds)", x.Choices[0].Folds, all)
}

// best returns the row with the largest accuracy or the smallest RMSE, the first of equals.
func (r *Report) best() *Result {
	best := &r.Results[0]
	for i := range r.Results {
		x := &r.Results[i]
		if x.ClassificationSummary != nil && x.Accuracy > best.Accuracy || x.RegressionSummary != nil && x.RMSE < best.RMSE {
			best = x
		}
	}
	return best
}

// againstBest returns the comparisons of the other rows (A) with the best (B).
func (r *Report) againstBest() []Test {
	best := r.best().Name
	var out []Test
	for _, t := range r.Tests {
		switch best {
		case t.B:
			out = append(out, t)
		case t.A:
			t.A, t.B, t.Difference, t.T = t.B, t.A, -t.Difference, -t.T
			out = append(out, t)
		}
	}
	return out
}

// difference formats that of a test: points of accuracy, or mean squared error.
func (r *Report) difference(t Test) string {
	if r.Classes == nil {
		return fmt.Sprintf("%+10.4g", t.Difference)
	}
	return fmt.Sprintf("%+7.2f", 100*t.Difference)
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", escape(r.Dataset))
	b.WriteString(escape(strings.Join(r.lines(), " ")) + "\n\n")
	header, rows := r.table()
	header = append(header, "parameters chosen most often")
	markdownRow(&b, header)
	b.WriteString("|" + strings.Repeat("---|", len(header)) + "\n")
	for i, row := range rows {
		x := r.Results[i]
		markdownRow(&b, append(row, strings.TrimPrefix(x.Parameters, x.Name+" ")+share100(x)))
	}
	if r.Classes != nil {
		b.WriteString("\n### By class\n\n")
		markdownRow(&b, []string{"kernel", "class", "examples", "recall", "precision", "F1"})
		b.WriteString("|---|---|---|---|---|---|\n")
		for _, x := range r.Results {
			for _, c := range x.ByClass {
				markdownRow(&b, []string{x.Name, c.Class, fmt.Sprint(c.Examples / x.Repeats), fmt.Sprintf("%.3f", c.Recall), fmt.Sprintf("%.3f", c.Precision), fmt.Sprintf("%.3f", c.F1)})
			}
		}
	}
	if tests := r.againstBest(); len(tests) > 0 {
		fmt.Fprintf(&b, "\n### Corrected resampled t-test against %s\n\n", escape(r.best().Name))
		markdownRow(&b, []string{"kernel", "difference", "t", "p"})
		b.WriteString("|---|---|---|---|\n")
		for _, t := range tests {
			markdownRow(&b, []string{t.A, strings.TrimSpace(r.difference(t)), fmt.Sprintf("%.2f", t.T), fmt.Sprintf("%.3g", t.P)})
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownRow(b *strings.Builder, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		b.WriteString(" " + escape(c) + " |")
	}
	b.WriteByte('\n')
}

// escape keeps names from being read as Markdown.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ").Replace(s)
}

// pad fills or cuts s to n columns.
func pad(s string, n int, right bool) string {
	have := utf8.RuneCountInString(s)
	if have > n {
		return string([]rune(s)[:n-1]) + "…"
	}
	if right {
		return strings.Repeat(" ", n-have) + s
	}
	return s + strings.Repeat(" ", n-have)
}

// wrapText writes words in lines of the text width, the later ones indented by two more.
func wrapText(b *strings.Builder, indent, text string) {
	line := indent
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > textWidth {
			b.WriteString(line + "\n")
			line, empty = indent+"  ", true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(line + "\n")
}
