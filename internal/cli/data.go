package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/fetch"
	"github.com/mlgkernel/mlg/internal/table"
)

type infoCmd struct {
	dataFlags
	Data []string `arg:"" help:"Datasets: paths, or builtin:drugs, builtin:scales."`
}

// Run prints what is in the datasets.
func (c *infoCmd) Run(g *globals) error {
	for i, path := range c.Data {
		ds, err := c.read(g.quietly(), path) // the summary has the warnings
		if err != nil {
			return err
		}
		s := dataset.Survey(ds)
		if g.JSON {
			if err := printJSON(g.stdout, s); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		if _, err := io.WriteString(g.stdout, describeData(s)); err != nil {
			return err
		}
	}
	return nil
}

// describeData returns a summary as lines of at most 80 columns.
func describeData(s dataset.Summary) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, table.Wrap(fmt.Sprintf(format, args...), 12, 12))
	}
	orNone := func(name string, n int, format string, args ...any) {
		if n == 0 {
			format, args = "none", nil
		}
		row(name, format, args...)
	}
	row("dataset", "%s", s.Name)
	empty := ""
	if s.Empty > 0 {
		empty = fmt.Sprintf(", %d without vertices", s.Empty)
	}
	row("graphs", "%d, %d of them connected%s", s.Graphs, s.Connected, empty)
	row("vertices", "%d in all, %.2f on average, at most %d; %d isolated", s.Vertices, s.MeanVertices, s.MaxVertices, s.Isolated)
	row("edges", "%d in all, %.2f on average, at most %d", s.Edges, s.MeanEdges, s.MaxEdges)
	loops := ""
	if s.Loops > 0 {
		loops = fmt.Sprintf("; %s", agree(s.Loops, "self-loop", "self-loops"))
	}
	switch {
	case s.Directed == s.Graphs && s.Graphs > 0:
		row("arcs", "%d in all: the graphs are directed%s", s.Arcs, loops)
	case s.Directed > 0:
		row("arcs", "%d in all: %s directed%s", s.Arcs, agree(s.Directed, "graph is", "graphs are"), loops)
	}
	row("degree", "%.2f on average, at most %d", s.MeanDegree, s.MaxDegree)
	switch {
	case s.TargetRange != nil:
		row("targets", "values from %g to %g", s.TargetRange[0], s.TargetRange[1])
	case s.Classes > 0:
		row("classes", "%d: %s", s.Classes, tally(s.ClassCounts))
	default:
		row("targets", "none")
	}
	if s.Targets > 0 && s.Targets < s.Graphs {
		row("", "%s no target", agree(s.Graphs-s.Targets, "graph has", "graphs have"))
	}
	orNone("node labels", s.NodeLabels, "%d: %s", s.NodeLabels, tally(s.LabelCounts))
	orNone("attributes", s.Attributes, "%d per vertex", s.Attributes)
	orNone("edge labels", s.EdgeLabels, "%d", s.EdgeLabels)
	row("weights", "%s", map[bool]string{true: "given", false: "all 1"}[s.Weighted])
	describeTable(s, row)
	name := "warnings"
	for _, w := range s.Warnings {
		w = withFlag(w)
		row(name, "%s", w)
		name = ""
	}
	for i, x := range s.Skipped.First {
		if i == 10 {
			row("", "and %d more; --json lists the first hundred", s.Skipped.Count-i)
			break
		}
		row("", "line %d: %s", x.Line, x.Reason)
	}
	return b.String()
}

// describeTable describes the rows and columns of a table.
func describeTable(s dataset.Summary, row func(name, format string, args ...any)) {
	if n := s.Salts + s.Mixtures; n > 0 {
		row("fragments", "%s of several: salts and solvates %d, mixtures %d; --largest-fragment keeps the largest",
			agree(n, "molecule", "molecules"), s.Salts, s.Mixtures)
	}
	examples := func(some []dataset.Repeated, different int) {
		for i, e := range some {
			if i == 5 {
				row("", "and %d more with different values", different-i)
				break
			}
			var lines []string
			for k, n := range e.Lines {
				lines = append(lines, fmt.Sprintf("%d (%s)", n, cmp.Or(e.Targets[k], "none")))
			}
			row("", "lines %s", strings.Join(lines, ", "))
		}
	}
	if r := s.Repeats; r != nil && r.Molecules > 0 {
		row("duplicates", "%s", repeatsText(r, "molecule"))
		examples(r.Examples, r.Different)
	}
	if r := s.Repeats; r != nil && r.Stereoisomers > 0 {
		row("stereo", "%s", isomersText(r))
		examples(r.StereoSome, r.StereoApart)
	}
	name := "columns"
	for _, c := range s.Columns {
		row(name, "%s", columnText(c, s.Graphs))
		name = ""
	}
	if len(s.Open) > 0 {
		row("target", "one of %s; --target says which", strings.Join(s.Open, ", "))
	}
}

// repeatsText says how many molecules stand several times, or sets of them.
func repeatsText(r *dataset.Repeats, what string) string {
	if r.Structures != nil {
		what = "set of structures (" + strings.Join(r.Structures, ", ") + ")"
		return fmt.Sprintf("%s several times, in %d rows, which may differ in other columns: %d with equal values, %d with different ones",
			agree(r.Molecules, what+" stands", strings.Replace(what, "set", "sets", 1)+" stand"), r.Graphs, r.Molecules-r.Different, r.Different)
	}
	return fmt.Sprintf("%s several times, in %d rows: %d with equal values, %d with different ones",
		agree(r.Molecules, what+" stands", what+"s stand"), r.Graphs, r.Molecules-r.Different, r.Different)
}

// isomersText says how many molecules differ in stereochemistry alone.
func isomersText(r *dataset.Repeats) string {
	return fmt.Sprintf("%s with different stereochemistry, in %d rows: %d with equal values, %d with different ones",
		agree(r.Stereoisomers, "molecule stands", "molecules stand"), r.StereoGraphs, r.Stereoisomers-r.StereoApart, r.StereoApart)
}

// columnText describes a column.
func columnText(c dataset.Column, rows int) string {
	out := []string{c.Name + ": " + string(c.Kind)}
	switch {
	case c.Kind == dataset.NumberKind:
		out = append(out, fmt.Sprintf("%g to %g", c.Range[0], c.Range[1]))
	case c.Kind == dataset.ClassKind:
		var classes []string
		for i, k := range c.Classes {
			if i == 5 {
				classes = append(classes, "…")
				break
			}
			classes = append(classes, fmt.Sprintf("%s (%d)", k.Name, k.Count))
		}
		out = append(out, strings.Join(classes, " "))
	}
	if c.Missing > 0 {
		out = append(out, fmt.Sprintf("%d of %d missing", c.Missing, rows))
	}
	if c.Odd > 0 {
		out = append(out, fmt.Sprintf("%d of %d not a number", c.Odd, rows))
	}
	if c.Role != "" {
		out = append(out, fmt.Sprintf("taken for the %s (%s)", c.Role, c.Why))
	}
	return strings.Join(out, ", ")
}

// tally lists up to 20 keys with their counts, the most frequent first.
func tally(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	var out []string
	for i, k := range keys {
		if i == 20 {
			out = append(out, "…")
			break
		}
		name := table.Clip(k, 32) // it may be a whole block of a program
		if k == "" {
			name = `""`
		}
		out = append(out, fmt.Sprintf("%s (%d)", name, counts[k]))
	}
	return strings.Join(out, ", ")
}

type convertCmd struct {
	dataFlags
	Data string         `arg:"" help:"Dataset to read."`
	Out  string         `arg:"" help:"File or folder to write: .jsonl, .graphml, or a folder for a TUDataset."`
	To   dataset.Format `help:"Format to write: jsonl, graphml, tudataset. auto goes by the name of OUT." default:"auto" enum:"auto,jsonl,graphml,tudataset"`
}

// Run converts a dataset.
func (c *convertCmd) Run(g *globals) error {
	if name := strings.TrimSuffix(c.Out, ".gz"); c.To == dataset.Auto && filepath.Ext(name) != "" {
		if err := checkFile("OUT", name, []string{".jsonl", ".ndjson", ".json", ".graphml"}); err != nil {
			return err
		}
	}
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	if err := g.write(c.Out, func() error { return dataset.WriteDataset(g.ctx, c.Out, ds, c.To) }); err != nil {
		return err
	}
	return g.result(map[string]any{"graphs": len(ds.Graphs), "file": c.Out, "warnings": ds.Warnings},
		"wrote %s to %s", agree(len(ds.Graphs), "graph", "graphs"), c.Out)
}

type fetchCmd struct {
	Names []string `arg:"" help:"Names of collections, such as MUTAG."`
	Force bool     `help:"Download again, even if it is in the cache."`
	URL   string   `help:"Address of the folder with the zip files." name:"url" placeholder:"URL"`
}

// Run downloads collections.
func (c *fetchCmd) Run(g *globals) error {
	o, err := fetch.DefaultOptions()
	if err != nil {
		return err
	}
	o.Force = c.Force
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return usageError(fmt.Sprintf("--url %s: want http or https and a host", c.URL))
		}
		o.BaseURL = c.URL
	}
	type fetched struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	var all []fetched
	for _, name := range c.Names {
		o.Progress = func(done, total int64) { g.bar.show("download "+name, done, total, "B") }
		path, err := fetch.Collection(g.ctx, name, o)
		if err != nil {
			return err
		}
		all = append(all, fetched{name, path})
		if !g.JSON {
			fmt.Fprintln(g.stdout, path)
		}
	}
	if g.JSON {
		return printJSON(g.stdout, all)
	}
	return nil
}
