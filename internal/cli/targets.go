package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
)

// learnFlags say which rows of a table are learned from.
type learnFlags struct {
	dataFlags
	Duplicates string `help:"Molecules, or equal graphs, in several rows: keep all rows, as published results do, or merge them. A merged row has the mean of the values, or the class. If classes disagree, the rows are left out." default:"keep" enum:"keep,merge" group:"Reading data"`
}

// task is a dataset with the values of one column as targets.
type task struct {
	*dataset.Dataset
	read   *dataset.Dataset   // all rows that can be read
	target string             // the column, "" where it is not known
	suffix string             // of files, "" for the only task
	shared *kernel.Collection // of the same graphs, for tasks of which several have these; else nil
	fitted bool               // a task before has fitted the kernels

	left dataset.LeftOut // rows without a value, and molecules whose classes disagree
}

// label is the target in front of a note, "" for the only one.
func (t task) label() string {
	if t.suffix == "" {
		return ""
	}
	return t.target + ": "
}

// file returns the name of a file of the task.
func (t task) file(name string) string {
	if name == "" || t.suffix == "" {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + t.suffix + ext
}

// eachTask does something for every task: a list in JSON, and an empty line between texts.
func eachTask(g *globals, tasks []task, do func(t task) error) error {
	for i, t := range tasks {
		switch {
		case g.JSON && len(tasks) > 1:
			fmt.Fprintln(g.stdout, []string{"[", ","}[min(i, 1)])
		case i > 0:
			fmt.Fprintln(g.stdout)
		}
		tasks[i] = task{} // what nobody else shares can be collected
		if err := do(t); err != nil {
			return err
		}
	}
	if g.JSON && len(tasks) > 1 {
		fmt.Fprintln(g.stdout, "]")
	}
	return nil
}

// tasks reads a dataset and returns one task for every target. Rows without a value are left out
// and reported.
func (f *learnFlags) tasks(g *globals, path, kind string) ([]task, error) {
	ds, err := f.read(g, path)
	if err != nil {
		return nil, err
	}
	var columns []string
	if ds.Columns != nil {
		if open := ds.Columns.Roles.Open; len(open) > 0 {
			return nil, fmt.Errorf("%s: any of %d columns may be the target: %s; "+
				"--target names one or several of them, --target all takes all", path, len(open), strings.Join(open[:min(len(open), 20)], ", "))
		}
		for _, t := range ds.Columns.Roles.Targets {
			columns = append(columns, t.Column)
		}
	}
	if len(columns) <= 1 {
		one, err := f.task(g, path, ds, strings.Join(columns, ""), kind)
		return []task{one}, err
	}
	text := fmt.Sprintf("%s: %d targets: %s; --target takes some of them", ds.Name, len(columns), strings.Join(columns, ", "))
	g.note("%s", table.Wrap(text, 0, 2))
	var out []task
	used := map[string]bool{}
	for _, c := range columns {
		t, err := f.task(g, path, ds, c, kind)
		if err != nil {
			return nil, err
		}
		t.suffix = fileName(c)
		for used[t.suffix] {
			t.suffix += "_"
		}
		used[t.suffix] = true
		t.Name += " " + c
		out = append(out, t)
	}
	return out, nil
}

// share gives tasks with the same graphs one collection of them, so that kernels are fitted once.
func share(tasks []task) {
	first := map[string]*task{}
	for i := range tasks {
		t := &tasks[i]
		key := fmt.Sprint(t.Rows())
		f := first[key]
		if f == nil {
			first[key] = t
			continue
		}
		if f.shared == nil {
			f.shared = kernel.NewCollection(choose.Untargeted(f.Dataset))
		}
		t.shared, t.fitted = f.shared, true
	}
}

// fileName returns a text as part of a file name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, s)
}

// task makes the values of a column the targets. Without a column, the graphs keep their targets.
func (f *learnFlags) task(g *globals, path string, ds *dataset.Dataset, column, kind string) (task, error) {
	named := ds.Name
	if column != "" {
		named += ", " + column
	}
	kinds := map[string]dataset.Kind{"regression": dataset.NumberKind, "classification": dataset.ClassKind}
	set, left, err := ds.Labelled(column, kinds[kind])
	switch {
	case err != nil:
		return task{}, err
	case len(set.Graphs) == 0 && column != "":
		return task{}, fmt.Errorf("%s: line %d: %s; no row has a value", named, left.First[0].Line, left.First[0].Reason)
	case len(set.Graphs) == 0:
		return task{}, fmt.Errorf("%s has no targets to learn; --target names the column or field that has them", path)
	case left.Count > 0 && f.Strict:
		return task{}, fmt.Errorf("%s: %s without a value, the first in line %s; without --strict they are left out",
			named, agree(left.Count, "row", "rows"), strings.TrimSuffix(left.Lines(1), ", …"))
	case left.Count > 0:
		text := fmt.Sprintf("%s: %s without a value left out: lines %s", named, agree(left.Count, "row", "rows"), left.Lines(10))
		g.note("%s", table.Wrap(text, 0, 2))
	}
	out := task{Dataset: set, read: ds, target: column, left: left}
	what := "molecule"
	if !chem.Molecules(set.Graphs) {
		if what = "graph"; f.Duplicates == "keep" { // published results keep them
			return out, nil
		}
	}
	r := set.Repeats()
	if r.Molecules == 0 {
		return out, nil
	}
	text := named + ": " + repeatsText(&r, what)
	if f.Duplicates == "keep" {
		g.note("%s", table.Wrap(text+"; --duplicates merge takes each once", 0, 2))
		return out, nil
	}
	values := kind == "regression" || kind == "auto" && dataset.Info(set).TargetRange != nil
	merged, dropped := set.Merged(r, values)
	g.note("%s", table.Wrap(fmt.Sprintf("%s; each is taken once, %d rows become %d", text, len(set.Graphs), len(merged.Graphs)), 0, 2))
	listLeftOut(g, dropped)
	left.Count += dropped.Count
	left.First = append(left.First, dropped.First...)
	return task{Dataset: merged, read: ds, target: column, left: left}, nil
}
