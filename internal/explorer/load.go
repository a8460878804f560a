package explorer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// Choices say which of the fields beside the graphs is what: nil leaves it as the reader has it, an empty
// name is none.
type Choices struct {
	Target, ID, Color *string
	Task              string // classification or regression; empty: by the targets
	TargetName        string // what the targets are called, with their unit; empty: as their column
}

// Load reads a collection to be explored. Whatever cannot be read is an error, unless the options let it be
// left out.
func Load(ctx context.Context, r *dataset.Reader, read dataset.Options, c Choices) (*Data, error) {
	l := &loader{most: math.MaxInt, items: read.Limits.Items}
	if err := l.read(ctx, r, func(int) {}); err != nil {
		return nil, err
	}
	if err := l.choose(&c, read, false); err != nil {
		return nil, err
	}
	l.file = aboutFile(r)
	return l.data(read, c)
}

// loader keeps graphs with the fields beside them.
type loader struct {
	most  int   // graphs to read
	items int64 // graphs, vertices and edges that may still come
	first bool  // of more graphs the first ones are kept, and not an even sample
	all   int   // graphs of the file that were read
	step  int   // every so many-th of them is kept

	graphs  []*graph.Graph
	lines   []int // where they begin in the file, 0 where that is not known
	columns dataset.Columns
	file    about
}

// about is what a reader says of a file that it has read.
type about struct {
	name         string
	format       dataset.Format
	warnings     []string
	skipped      dataset.LeftOut
	nodes, edges []string // keys of their data
	attributes   string   // keys of the data that are attributes
	keyed        bool
}

func aboutFile(r *dataset.Reader) about {
	out := about{name: r.Name(), format: r.Format(), warnings: r.Warnings(), skipped: r.Skipped(), keyed: r.Keyed(), attributes: r.AttributeKeys()}
	out.nodes, out.edges = r.Keys()
	return out
}

// thin drops every second graph, and of those that come.
func (l *loader) thin() {
	var kept []int
	for i, g := range l.graphs {
		if i%2 == 0 {
			kept = append(kept, i)
		} else {
			l.items += 1 + int64(g.N()) + int64(g.M())
		}
	}
	l.step = 2 * max(l.step, 1)
	l.graphs, l.lines, l.columns = choose.Pick(l.graphs, kept), choose.Pick(l.lines, kept), *l.columns.Pick(kept)
}

// read reads graphs and calls tick with their number. Of more than are wanted it keeps an even sample.
func (l *loader) read(ctx context.Context, r *dataset.Reader, tick func(graphs int)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, err := r.Try()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case g == nil:
			continue
		}
		l.all++
		switch full := len(l.graphs) == l.most; {
		case full && l.first:
			return nil
		case l.step > 1 && (l.all-1)%l.step != 0:
			continue
		case full:
			l.thin()
			if (l.all-1)%l.step != 0 {
				continue
			}
		}
		if l.items -= 1 + int64(g.N()) + int64(g.M()); l.items < 0 {
			return fmt.Errorf("%s: too many graphs, vertices and edges together", r.Name())
		}
		l.graphs, l.lines = append(l.graphs, g), append(l.lines, r.Fields().Line)
		if err := l.columns.Add(r.Fields()); err != nil {
			return fmt.Errorf("%s: %w", r.Name(), err)
		}
		l.columns.Roles = r.Roles()
		tick(len(l.graphs))
	}
}

// choose checks the choices. With suggest it also makes the open ones, as the command does.
func (l *loader) choose(c *Choices, read dataset.Options, suggest bool) error {
	for _, choice := range []struct {
		field string
		name  *string
	}{{"target", c.Target}, {"id", c.ID}, {"color", c.Color}} {
		if choice.name != nil && *choice.name != "" && l.columns.Values(*choice.name) == nil {
			return badRequest(choice.field, "%s: no column %q, want one of %s", choice.field, *choice.name, strings.Join(l.columns.Names, ", "))
		}
	}
	if !suggest {
		return nil
	}
	found := l.columns.Suggest(read)
	if c.ID == nil && found.ID.Column != "" {
		c.ID = &found.ID.Column
	}
	if target := found.Target(); c.Target == nil && target != "" {
		c.Target = &target
	} else if c.Target == nil && len(found.Open) > 0 {
		c.Target = &found.Open[len(found.Open)-1] // of several the last, which is where people write it
	}
	return nil
}

// data makes a collection of what was read, which may be done again with other choices.
func (l *loader) data(read dataset.Options, c Choices) (*Data, error) {
	ids, targets := l.chosen(c.ID), withoutMissing(l.chosen(c.Target))
	graphs := slices.Clone(l.graphs)
	for i, g := range graphs {
		id, target := strings.Clone(g.ID()), strings.Clone(g.Target())
		if c.ID != nil {
			id = ids[i]
		}
		if c.Target != nil {
			target = targets[i]
		}
		graphs[i] = g.With(id, target)
	}
	ds := &dataset.Dataset{Name: l.file.name, Graphs: graphs, Warnings: slices.Clone(l.file.warnings), Keyed: l.file.keyed}
	ds.FillLabels()
	read.AttributeKeys, read.EmptyLabels, read.Rows = l.file.attributes, ds.Filled > 0, l.columns.Roles.Row()
	if dataset.LabelsAreNames(read, ds) {
		read = dataset.WithoutLabels(read, ds)
	}
	d, err := fromDataset(ds, read, task(c.Task))
	if err != nil {
		return nil, err
	}
	d.reader = len(l.file.warnings)
	if unread := l.columns.Roles.Unread(); unread != "" {
		d.info.Warnings = append(d.info.Warnings, unread)
	}
	d.smiles = l.columns.Values(l.columns.Roles.Structure.Column)
	if d.targetName = l.columns.Suggest(read).Target(); c.Target != nil {
		d.targetName = *c.Target
	}
	d.targetName = cmp.Or(c.TargetName, d.targetName)
	d.columns = l.others(d, read, c, columnBytes)
	d.remarkOnColumns()
	d.lines, d.skipped = l.lines, l.file.skipped
	d.countUnmeasured()
	if c.Color != nil && *c.Color != "" {
		d.colorName = *c.Color
	}
	return d, nil
}

// countUnmeasured finds the graphs of regression whose target is a text that is no number, which counts as not measured.
func (d *Data) countUnmeasured() {
	for i, g := range d.Graphs {
		if t := g.Target(); d.task != regression || t == "" || d.Targets[i] != "" {
			continue
		}
		if d.unmeasured.Count++; d.unmeasured.Count > mostListed {
			continue
		}
		row := dataset.Skipped{Reason: fmt.Sprintf("%s: %q is not a number, so it counts as not measured", d.quantity(), g.Target())}
		if d.lines != nil {
			row.Line = d.lines[i]
		}
		d.unmeasured.First = append(d.unmeasured.First, row)
	}
}

// mostListed is the number of graphs without a number that are listed.
const mostListed = 100

// chosen returns the values of a chosen column, empty ones for none.
func (l *loader) chosen(name *string) []string {
	if name == nil || *name == "" {
		return make([]string, len(l.graphs))
	}
	return l.columns.Values(*name)
}

// withoutMissing empties the values that say that there is none.
func withoutMissing(values []string) []string {
	out := slices.Clone(values)
	for i, v := range out {
		if dataset.Missing(v) {
			out[i] = ""
		}
	}
	return out
}
