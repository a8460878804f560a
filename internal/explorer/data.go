package explorer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// Data is what is explored: a dataset, or a model with or without its training graphs.
type Data struct {
	Name string
	// Model has the graphs, their identifiers and targets, how they were read, and the kernel of requests
	// that choose none. That of a dataset is fitted when it is needed.
	*model.Model
	saved bool // it comes from a file, with what was fitted

	read dataset.Options // how graphs of requests are read: as those of the data were
	info dataset.Summary // of the graphs, if they are there

	task      task
	classes   []string  // in natural order, for classification
	class     []int     // of each graph, −1 for none
	value     []float64 // of each graph, for regression
	molecules bool      // the first graph is one

	targetName, colorName string   // of the columns, "" where they are not known
	columns               []column // the fields beside the graphs that have no other use
	smiles                []string // the strings that the graphs were made of, nil for none

	lines      []int           // where graphs begin in the file, nil or 0 where that is not known
	reader     int             // warnings that are those of the reader
	skipped    dataset.LeftOut // what could not be read
	unmeasured dataset.LeftOut // graphs whose target is a text where numbers are wanted
}

// Remarks returns what there is to say of the data beside the warnings of their reader.
func (d *Data) Remarks() []string { return d.info.Warnings[d.reader:] }

// Unmeasured returns the graphs of regression whose target is a text that is no number. It counts as not measured.
func (d *Data) Unmeasured() dataset.LeftOut { return d.unmeasured }

// quantity is what the targets are called.
func (d *Data) quantity() string { return cmp.Or(d.targetName, "target") }

// thing is what a graph of the data is called.
func (d *Data) thing() string {
	switch {
	case d.read.Rows != nil:
		return "row"
	case d.molecules:
		return "molecule"
	}
	return "graph"
}

// task is the kind of the targets.
type task string

const (
	classification task = "classification"
	regression     task = "regression"
	noTask         task = "none"
)

// maxClasses is the largest number of classes to tell apart: there is a machine for every pair.
const maxClasses = 100

// fromDataset returns the data of a dataset that was read with the given options. Without a task,
// the targets decide it.
func fromDataset(ds *dataset.Dataset, read dataset.Options, t task) (*Data, error) {
	if len(ds.Graphs) == 0 {
		return nil, fmt.Errorf("%s: no graphs", ds.Name)
	}
	sum, err := kernel.NewCollection(ds.Graphs).Sum(mlg.Default())
	if err != nil {
		return nil, err
	}
	m := model.Of(ds.Graphs, sum)
	m.ReadBy(read)
	d := newData(ds, m, read)
	d.task = t
	switch {
	case d.info.Targets == 0:
		d.task = noTask
	case t == "" && d.info.Classes == 0:
		d.task = regression
	case t == "":
		d.task = classification
	}
	if err := d.index(); err != nil {
		return nil, err
	}
	if n := len(d.classes); n > maxClasses {
		d.info.Warnings = append(d.info.Warnings, fmt.Sprintf(
			"%d different targets are too many for classes, want at most %d: nothing is predicted", n, maxClasses))
		d.task = noTask
	}
	if d.task == noTask {
		d.Targets = make([]string, len(d.Targets))
	}
	return d, cmp.Or(d.use(mlg.Default()), d.index())
}

// FromModel returns the data of a model.
func FromModel(name string, m *model.Model) (*Data, error) {
	if len(m.Graphs) == 0 {
		return nil, fmt.Errorf("%s: the model has no training graphs", name)
	}
	d := newData(&dataset.Dataset{Name: name, Graphs: m.Graphs}, m, m.Like(dataset.DefaultOptions()))
	d.targetName = m.Target
	switch {
	case !m.HasTargets():
		d.task = noTask
	case m.Task() == model.Regression || m.Task() == model.SearchOnly && dataset.ValueRange(m.Targets) != nil:
		d.task = regression
	}
	d.saved = true
	for _, e := range m.Endpoints() { // further ones are columns
		if e.Target != m.Target {
			d.columns = append(d.columns, newColumn(e.Target, e.Targets))
		}
	}
	return d, d.index()
}

func newData(ds *dataset.Dataset, m *model.Model, read dataset.Options) *Data {
	d := &Data{Name: ds.Name, Model: m, read: read, info: dataset.Info(ds), task: classification}
	m.Graphs = slices.Clone(m.Graphs)
	for i, g := range m.Graphs {
		m.Graphs[i] = g.With(m.IDs[i], m.Targets[i])
	}
	_, err := chem.Of(m.Graphs[0])
	d.molecules = err == nil
	return d
}

// use makes a kernel that of requests that choose none.
func (d *Data) use(k kernel.Kernel) (err error) {
	d.Kernel, err = kernel.NewCollection(d.Graphs).Sum(k)
	return err
}

// index derives classes and values.
func (d *Data) index() error {
	d.classes = nil
	if d.task == classification {
		d.classes, _ = draw.Classes(choose.Pick(d.Targets, d.labelled(kernel.UpTo(len(d.IDs)))))
	}
	d.class = slices.Repeat([]int{-1}, len(d.IDs))
	for i, t := range d.Targets {
		d.class[i] = slices.Index(d.classes, t)
	}
	if d.task != regression {
		return nil
	}
	d.value = make([]float64, len(d.IDs))
	d.Targets = slices.Clone(d.Targets)
	some, odd := false, ""
	for i, t := range d.Targets {
		v, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) { // such as ">10": no value, as in Dataset.Labelled
			v, odd, d.Targets[i] = 0, cmp.Or(odd, t), ""
		}
		d.value[i], some = v, some || d.Targets[i] != ""
	}
	if !some && odd != "" {
		return fmt.Errorf("target %q, want a number", odd)
	}
	return nil
}

// has returns an error unless there is a graph at a position, which a field of a request says.
func (d *Data) has(i int, field string) error {
	if n := len(d.IDs); i < 0 || i >= n {
		return notFound(field, "graph %d, want 0 … %d", i, n-1)
	}
	return nil
}

// hasAll is has for several graphs.
func (d *Data) hasAll(graphs []int) error {
	for k, i := range graphs {
		if err := d.has(i, fmt.Sprintf("graphs[%d]", k)); err != nil {
			return err
		}
	}
	return nil
}

// labelled returns those of the given graphs that have a target.
func (d *Data) labelled(among []int) []int {
	var out []int
	for _, i := range among {
		if d.Targets[i] != "" {
			out = append(out, i)
		}
	}
	return out
}

// classOf returns the targets of graphs as classes, nil unless they are classes.
func (d *Data) classOf(graphs []int) []string {
	if d.task != classification {
		return nil
	}
	return choose.Pick(d.Targets, graphs)
}

// core chooses the graphs that the Gram matrix is about: all, or, of more than a limit, every
// so many-th of each class.
func (d *Data) core(limit, sample int) []int {
	order := kernel.UpTo(len(d.IDs))
	if len(order) <= limit {
		return order
	}
	return d.spread(order, sample)
}

// spread returns a number of some graphs, every so many-th of each class, ascending.
func (d *Data) spread(graphs []int, number int) []int {
	order := slices.Clone(graphs)
	slices.SortStableFunc(order, func(a, b int) int { return d.class[a] - d.class[b] })
	some := every(order, number)
	slices.Sort(some)
	return some
}

// every returns a number of elements of a list at equal distances, or all of fewer.
func every(list []int, number int) []int {
	if len(list) <= number {
		return list
	}
	out := make([]int, number)
	for i := range out {
		out[i] = list[i*len(list)/number]
	}
	return out
}
