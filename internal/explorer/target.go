package explorer

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
)

// targetRequest makes a column of the data their targets.
type targetRequest struct {
	Column string `json:"column,omitempty" want:"0 to 1000" help:"name of the column; by default what the targets are now"`
	Task   string `json:"task,omitempty" default:"auto" want:"one of auto classification regression" help:"kind of the targets; auto decides by their values"`
	Name   string `json:"name,omitempty" want:"0 to 100" help:"what the targets are called, with their unit; by default as the column"`
	Check  bool   `json:"check,omitempty" help:"say what the targets would be, but make no data"`
}

// targetAnswer says what the targets are.
type targetAnswer struct {
	Source     string          `json:"source" help:"name of the new data in requests; empty after a check"`
	Task       task            `json:"task" want:"one of classification regression none"`
	Numeric    bool            `json:"numeric" help:"the values of the column are numbers"`
	Classes    []string        `json:"classes" help:"for classification"`
	Graphs     int             `json:"graphs" help:"those with a target"`
	Unmeasured dataset.LeftOut `json:"unmeasured" help:"graphs whose target is a text where numbers are wanted: their number, and the first of them; they count as not measured"`
	Warnings   []string        `json:"warnings"`
	Gone       []string        `json:"gone" help:"names of files that the server does not keep any more"`
}

// mayHaveTargets says that a column can become the targets.
func (d *Data) mayHaveTargets() bool { return !d.saved && len(d.columns) > 0 }

// postTarget makes new data, which differ in what is predicted. Targets that there are become a column.
func postTarget(q *request, in *targetRequest) (*targetAnswer, error) {
	if q.s.o.ReadOnly && !in.Check {
		return nil, &apiError{http.StatusForbidden, "this server keeps no data but those it was started with", "body"}
	}
	d := q.s.data
	if d.saved {
		return nil, cannot("a model has the targets that it was trained with")
	}
	c := d.formerTarget()
	if in.Column != "" {
		var err error
		if c, err = d.column(in.Column); err != nil {
			return nil, err
		}
	} else if c == nil {
		return nil, badRequest("column", "column: none, and the data have no targets")
	}
	made, err := d.withTarget(c, in)
	if err != nil {
		return nil, &apiError{http.StatusUnprocessableEntity, err.Error(), "column"}
	}
	out := &targetAnswer{Task: made.task, Numeric: c.numeric, Classes: append([]string{}, made.classes...), Graphs: len(made.labelled(kernel.UpTo(len(made.IDs)))),
		Unmeasured: made.unmeasured, Warnings: append([]string{}, made.Remarks()...), Gone: []string{}}
	if !in.Check {
		x := q.s.newSource(made)
		out.Source, out.Gone = x.id, q.s.add(x)
	}
	return out, nil
}

// withTarget returns data with a column as their targets.
func (d *Data) withTarget(c *column, in *targetRequest) (*Data, error) {
	name := in.Name
	if name == "" {
		name = c.name
	}
	ds := &dataset.Dataset{Name: strings.TrimSuffix(d.Name, ": "+d.targetName) + ": " + name, Warnings: slices.Clone(d.info.Warnings[:d.reader])}
	for i, g := range d.Graphs {
		ds.Graphs = append(ds.Graphs, g.With(d.IDs[i], c.values[i]))
	}
	kind := task(in.Task)
	if in.Task == "auto" {
		kind = ""
	}
	out, err := fromDataset(ds, d.read, kind)
	if err != nil {
		return nil, err
	}
	out.reader, out.targetName, out.colorName = d.reader, name, d.colorName
	out.smiles, out.lines, out.skipped = d.smiles, d.lines, d.skipped
	if former := d.formerTarget(); former != nil && in.Column != "" {
		out.columns = append(out.columns, *former)
	}
	for _, other := range d.columns {
		if other.name != c.name {
			out.columns = append(out.columns, other)
		}
	}
	if out.colorName == c.name {
		out.colorName = ""
	}
	out.remarkOnColumns()
	out.countUnmeasured()
	return out, out.use(d.Kernel.Asked)
}

// formerTarget returns the targets as a column, nil for none.
func (d *Data) formerTarget() *column {
	if d.task == noTask && d.targetName == "" {
		return nil
	}
	values := make([]string, len(d.Graphs))
	for i, g := range d.Graphs {
		values[i] = g.Target()
	}
	name := d.quantity()
	if slices.ContainsFunc(d.columns, func(c column) bool { return c.name == name }) {
		return nil
	}
	c := newColumn(name, withoutMissing(values))
	return &c
}
