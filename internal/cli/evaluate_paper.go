package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/paper"
)

// paperTables are the paper's tables for one dataset.
type paperTables struct {
	// The report of the nested evaluation, or that on the reported folds where only that was
	// asked for.
	*evaluate.Report
	// Reported are the rows with parameters chosen on the reported folds, as in the paper.
	Reported []evaluate.Result `json:"reported,omitempty"`
	// Published are the accuracies that the paper prints, by row.
	Published       map[string]*paper.Accuracy `json:"published,omitempty"`
	Statistics      paper.Statistics           `json:"statistics"`
	PaperStatistics *paper.Statistics          `json:"paper_statistics,omitempty"`
	PaperSeconds    float64                    `json:"paper_mlg_seconds,omitempty"`
	settings        map[string]int             // of the candidates, by name
}

// paperName is the name by which the paper knows a dataset.
func paperName(ds *dataset.Dataset) string { return filepath.Base(strings.TrimSuffix(ds.Name, ".zip")) }

// paper evaluates the kernels of the paper on the datasets that are there.
func (c *evaluateCmd) paper(g *globals) error {
	paths := []string{c.Data}
	if st, err := os.Stat(c.Data); err == nil && st.IsDir() {
		var inside []string
		for _, name := range paper.Datasets() {
			if st, err := os.Stat(filepath.Join(c.Data, name)); err == nil && st.IsDir() {
				inside = append(inside, filepath.Join(c.Data, name))
			}
		}
		if len(inside) > 0 {
			paths = inside
		}
	}
	if len(paths) > 1 && (c.Plot != "" || c.Report != "") {
		return usageError(fmt.Sprintf("--plot and --report take one dataset, but %s has %d", c.Data, len(paths)))
	}
	var all []paperTables
	for _, path := range paths {
		ds, err := c.read(g, path)
		if err != nil {
			return err
		}
		t := paperTables{
			Statistics: paper.Describe(ds.Graphs), PaperStatistics: paper.Printed(paperName(ds)), PaperSeconds: paper.Seconds(paperName(ds)),
			Published: map[string]*paper.Accuracy{}, settings: map[string]int{},
		}
		candidates := paper.Candidates(ds.Graphs)
		for _, x := range candidates {
			t.settings[x.Name] = len(x.Settings)
			if f := paper.Published(x.Name, paperName(ds)); f != nil {
				t.Published[x.Name] = f
			}
		}
		if c.Select != reported {
			if t.Report, err = c.nested(g, ds, candidates); err != nil {
				return err
			}
		}
		if c.Select != nested {
			o, err := c.options(g, ds, true)
			if err != nil {
				return err
			}
			r, err := c.evaluate(g, ds, candidates, o)
			if err != nil {
				return err
			}
			if t.Reported = r.Results; t.Report == nil {
				t.Report = r
			}
		}
		if err := c.pictures(g, ds, t.Report); err != nil {
			return err
		}
		if g.JSON {
			all = append(all, t)
			continue
		}
		if err := t.write(g, c.Markdown); err != nil {
			return err
		}
	}
	switch {
	case !g.JSON:
		return nil
	case len(paths) == 1:
		return printJSON(g.stdout, all[0])
	}
	return printJSON(g.stdout, map[string]any{"datasets": all})
}

// nested evaluates the kernels of the paper with choices inside the training parts. Unless asked for something else, that
// among the 144 settings of mlg, the first, is by leave-one-out, which is cheap, and the mean of the ten best
// stands beside it; the others choose by cross-validation, on as many folds as it takes to score about as many
// graphs as leave-one-out does.
func (c *evaluateCmd) nested(g *globals, ds *dataset.Dataset, candidates []choose.Candidate) (*evaluate.Report, error) {
	o, err := c.options(g, ds, false)
	if err != nil {
		return nil, err
	}
	many := o
	if c.Inner == "auto" {
		many.LeaveOneOut = true
		if c.InnerN == 0 {
			o.InnerFolds = max(1, (o.Examples*o.Folds+len(ds.Graphs)-1)/len(ds.Graphs))
		}
	}
	if many.LeaveOneOut {
		many.Combinations = []choose.Combination{choose.MeanBest}
	}
	others, err := c.evaluate(g, ds, candidates[1:], o)
	if err != nil {
		return nil, err
	}
	r, err := c.evaluate(g, ds, candidates[:1], many)
	if err != nil {
		return nil, err
	}
	if r.Protocol.Selection != others.Protocol.Selection {
		r.Protocol.Selection = fmt.Sprintf("%s; %s %s", others.Protocol.Selection, candidates[0].Name, r.Protocol.Selection)
	}
	return r, r.Add(others)
}

// write prints the tables: statistics, accuracies, and times of kernel matrices.
func (t *paperTables) write(g *globals, markdown bool) error {
	p := &t.Protocol
	lines := []string{
		fmt.Sprintf("Edges are counted twice, as in the paper. %d of the graphs are not connected.", t.Statistics.Disconnected),
		fmt.Sprintf("%d × %d-fold cross-validation, %s, seed %d; %s, C = %s.", p.Repeats, p.Folds, p.Splits, p.Seed, p.Learner, p.Grid),
	}
	if p.Honest {
		lines = append(lines, fmt.Sprintf("Parameters %s.", p.Selection))
	}
	if slices.ContainsFunc(t.Results, func(x evaluate.Result) bool { return x.Name == choose.MeanBest.String() }) {
		lines = append(lines, "Row mean of best: the mean of the ten mlg kernels with the smallest errors on the training part, instead of one.")
	}
	if t.Reported != nil {
		lines = append(lines, "Column tuned: parameters chosen on the reported folds, as in the paper; too high.")
	}
	statistics, rows := t.statistics(), t.table()
	w := g.stdout
	if markdown {
		statistics.WriteMarkdown(w)
		fmt.Fprintf(w, "\n%s\n\n", strings.Join(lines, " "))
		rows.WriteMarkdown(w)
	} else {
		statistics.Write(w, "")
		fmt.Fprintln(w)
		for _, l := range lines {
			fmt.Fprintln(w, table.Wrap(l, 0, 2))
		}
		fmt.Fprintln(w)
		rows.Write(w, "")
	}
	_, err := fmt.Fprintln(w)
	return err
}

// statistics are those of the dataset, above what the paper's Table 2 prints.
func (t *paperTables) statistics() *table.Table {
	out := &table.Table{Header: []string{t.Dataset, "graphs", "labels", "vertices", "edges", "diameter", "classes"}}
	out.Add(append([]string{"here"}, t.Statistics.Cells()...)...)
	if t.PaperStatistics != nil {
		out.Add(append([]string{"paper"}, t.PaperStatistics.Cells()...)...)
	}
	return out
}

// table has a row for each kernel, with the figures of the paper.
func (t *paperTables) table() *table.Table {
	out := &table.Table{Header: []string{"kernel"}}
	if t.Protocol.Honest {
		out.Header = append(out.Header, "nested")
	}
	if t.Reported != nil {
		out.Header = append(out.Header, "tuned")
	}
	out.Header = append(out.Header, "paper", "s/matrix", "paper s")
	for i := range t.Results {
		x := &t.Results[i]
		row := []string{x.Name}
		if t.Protocol.Honest {
			row = append(row, x.AccuracyText())
		}
		if t.Reported != nil {
			tuned := "-"
			if k := slices.IndexFunc(t.Reported, func(y evaluate.Result) bool { return y.Name == x.Name }); k >= 0 {
				tuned = t.Reported[k].AccuracyText()
			}
			row = append(row, tuned)
		}
		published, seconds, theirs := "-", "-", "-"
		if f := t.Published[x.Name]; f != nil {
			published = fmt.Sprintf("%.2f±%.2f", f.Mean, f.Deviation)
		}
		if n := t.settings[x.Name]; n > 0 {
			seconds = fmt.Sprintf("%.3g", x.KernelSeconds/float64(n))
			if x.Name == "mlg" && t.PaperSeconds > 0 {
				theirs = fmt.Sprintf("%.3g", t.PaperSeconds)
			}
		}
		out.Add(append(row, published, seconds, theirs)...)
	}
	return out
}
