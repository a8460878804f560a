package evaluate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
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

// Facts returns sentences about the data and the protocol.
func (r *Report) Facts() []string {
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

// Table is a table of a report. The first column has names.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// Tables returns the results, the parameters that were chosen, the classes in the best row, and the
// comparison of the other rows with it.
func (r *Report) Tables() []Table {
	results := Table{Title: "Results", Header: []string{"kernel", "accuracy", fmt.Sprintf("%g %% interval", 100*confidence), "balanced", "AUC", "seconds"}}
	chosen := Table{Title: "Chosen", Header: []string{"kernel", "parameters"}}
	if r.Protocol.Honest {
		chosen.Title = "Chosen most often"
	}
	if r.Classes == nil {
		results.Header = []string{"kernel", "RMSE", "MAE", "R²", "seconds"}
	}
	for _, x := range r.Results {
		results.Rows = append(results.Rows, x.cells())
		if x.Parameters == "-" {
			continue
		}
		parameters := strings.TrimPrefix(x.Parameters, x.Name+" ")
		if len(x.Choices) > 0 {
			parameters += fmt.Sprintf(" (%d of %d folds)", x.Choices[0].Folds, r.Protocol.Folds*x.Repeats)
		}
		chosen.Rows = append(chosen.Rows, []string{x.Name, parameters})
	}
	out := []Table{results, chosen}
	best := r.best()
	if best.ClassificationSummary != nil {
		t := Table{Title: "By class, " + best.Name, Header: []string{"class", "examples", "recall", "precision", "F1"}}
		for _, c := range best.ByClass {
			t.Rows = append(t.Rows, []string{c.Class, fmt.Sprint(c.Examples / best.Repeats), fmt.Sprintf("%.3f", c.Recall), fmt.Sprintf("%.3f", c.Precision), fmt.Sprintf("%.3f", c.F1)})
		}
		out = append(out, t)
	}
	tests := Table{Title: "Corrected resampled t-test against " + best.Name, Header: []string{"kernel", "difference", "t", "p"}}
	for i := range r.Results {
		if r.Results[i].Name == best.Name {
			continue
		}
		x := r.test(&r.Results[i], best)
		difference := fmt.Sprintf("%+.4g", x.Difference) // of squared errors
		if r.Classes != nil {                            // of accuracies in per cent
			difference = fmt.Sprintf("%+.2f", 100*x.Difference)
		}
		tests.Rows = append(tests.Rows, []string{x.A, difference, fmt.Sprintf("%.2f", x.T), fmt.Sprintf("%.3g", x.P)})
	}
	return append(out, tests)
}

// cells returns the cells of a row of results.
func (x *Result) cells() []string {
	out := []string{x.Name}
	if v := x.RegressionSummary; v != nil {
		out = append(out, spread("%.4g", v.RMSE, v.RMSEStd, x.Repeats), spread("%.4g", v.MAE, v.MAEStd, x.Repeats), spread("%.3f", v.R2, v.R2Std, x.Repeats))
	} else {
		interval, auc := "-", "-"
		if x.Interval != nil {
			interval = fmt.Sprintf("%.1f–%.1f", 100*x.Interval.Low, 100*x.Interval.High)
		}
		if x.AUC != nil {
			auc = fmt.Sprintf("%.3f", *x.AUC)
		}
		out = append(out, spread("%.2f", 100*x.Accuracy, 100*x.AccuracyStd, x.Repeats), interval, fmt.Sprintf("%.1f", 100*x.Balanced), auc)
	}
	return append(out, fmt.Sprintf("%.1f", x.Seconds))
}

// spread returns mean±deviation, or the mean alone for a single repeat.
func spread(format string, mean, deviation float64, repeats int) string {
	if repeats < 2 {
		return fmt.Sprintf(format, mean)
	}
	return fmt.Sprintf(format+"±"+format, mean, deviation)
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

// textWidth is the number of columns of a terminal that the tables keep to.
const textWidth = 80

// WriteText writes the report for a terminal of 80 columns.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Facts() {
		wrapText(&b, "", line)
	}
	for i, t := range r.Tables() {
		b.WriteByte('\n')
		if i > 0 {
			b.WriteString(t.Title + ":\n")
		}
		if t.Header[1] == "parameters" { // long texts
			for _, row := range t.Rows {
				wrapText(&b, "  ", row[0]+": "+row[1])
			}
			continue
		}
		t.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeText writes columns. What is too wide loses the end of its names.
func (t *Table) writeText(b *strings.Builder) {
	rows := slices.Concat([][]string{t.Header}, t.Rows)
	width := make([]int, len(t.Header))
	total := -2
	for c := range width {
		for _, row := range rows {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
		total += width[c] + 2
	}
	width[0] = max(8, width[0]-max(0, total-textWidth))
	for _, row := range rows {
		b.WriteString(pad(row[0], width[0], false))
		for c, s := range row[1:] {
			b.WriteString("  " + pad(s, width[c+1], true))
		}
		b.WriteByte('\n')
	}
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", escape(r.Dataset), escape(strings.Join(r.Facts(), " ")))
	for i, t := range r.Tables() {
		b.WriteByte('\n')
		if i > 0 {
			fmt.Fprintf(&b, "### %s\n\n", escape(t.Title))
		}
		for k, row := range slices.Concat([][]string{t.Header}, t.Rows) {
			b.WriteByte('|')
			for _, c := range row {
				b.WriteString(" " + escape(c) + " |")
			}
			b.WriteByte('\n')
			if k == 0 {
				b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
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
