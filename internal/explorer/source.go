package explorer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// Source is what is explored: a dataset, or a model with or without its training graphs.
type Source struct {
	Name string
	// Graphs are nil for a model that does not hold them.
	Graphs       []*graph.Graph
	IDs, Targets []string // Targets is nil where there are none
	Warnings     []string
	// Model is nil for a dataset.
	Model *model.Model
	// Read and Weight say how graphs of requests are read: as those of the source were.
	Read   dataset.Options
	Weight dataset.EdgeWeight
	// Reader is the same as a model file keeps it.
	Reader map[string]string

	task    task
	classes []string  // in natural order, for classification
	class   []int     // of each graph, −1 for none
	value   []float64 // of each graph, for regression
	labels  map[string]bool
}

// task is what the targets are.
type task string

const (
	classification task = "classification"
	regression     task = "regression"
	noTask         task = "none"
)

// DataSource returns the source of a dataset that was read with the given options.
func DataSource(ds *dataset.Dataset, read dataset.Options, weight dataset.EdgeWeight) (*Source, error) {
	if len(ds.Graphs) == 0 {
		return nil, fmt.Errorf("%s: no graphs", ds.Name)
	}
	s := &Source{Name: ds.Name, Graphs: ds.Graphs, IDs: ds.IDs(), Targets: ds.Targets(), Read: read, Weight: weight}
	for _, w := range ds.Warnings {
		s.Warnings = append(s.Warnings, w.String())
	}
	info := dataset.Info(ds)
	switch {
	case info.Targets == 0:
		s.task, s.Targets = noTask, nil
	case info.Classes > 0:
		s.task = classification
	default:
		s.task = regression
	}
	return s, s.index()
}

// ModelSource returns the source of a model file. read says how graphs of requests are read.
func ModelSource(name string, m *model.Model, read dataset.Options, weight dataset.EdgeWeight) (*Source, error) {
	if m.Examples() == 0 {
		return nil, fmt.Errorf("%s: a model without training graphs", name)
	}
	s := &Source{Name: name, Graphs: m.Graphs, IDs: m.IDs, Targets: m.Targets, Model: m, Read: read, Weight: weight, task: noTask}
	switch {
	case m.Targets == nil:
	case m.Learner != nil && m.Learner.Classifier == nil:
		s.task = regression
	default:
		s.task = classification
	}
	return s, s.index()
}

// index derives classes, values and labels.
func (s *Source) index() error {
	s.class = make([]int, len(s.IDs))
	for i := range s.class {
		s.class[i] = -1
	}
	switch s.task {
	case classification:
		for _, t := range s.Targets {
			if t != "" {
				s.classes = append(s.classes, t)
			}
		}
		slices.SortFunc(s.classes, naturally)
		s.classes = slices.Compact(s.classes)
		place := map[string]int{}
		for c, name := range s.classes {
			place[name] = c
		}
		for i, t := range s.Targets {
			if t != "" {
				s.class[i] = place[t]
			}
		}
	case regression:
		s.value = make([]float64, len(s.IDs))
		for i, t := range s.Targets {
			v, err := strconv.ParseFloat(t, 64)
			if t != "" && err != nil {
				return fmt.Errorf("target of graph %d (%s): %q, want a number", i, s.IDs[i], t)
			}
			s.value[i] = v
		}
	}
	if s.Graphs != nil {
		s.labels = map[string]bool{}
		for _, g := range s.Graphs {
			for _, l := range g.Labels() {
				s.labels[l] = true
			}
		}
	}
	return nil
}

// naturally orders texts that are numbers by value, before all others.
func naturally(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil && x != y:
		if x < y {
			return -1
		}
		return 1
	case errX == nil && errY != nil:
		return -1
	case errX != nil && errY == nil:
		return 1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// labelled returns those of the given graphs that have a target.
func (s *Source) labelled(among []int) []int {
	if s.task == noTask {
		return nil
	}
	var out []int
	for _, i := range among {
		if s.Targets[i] != "" {
			out = append(out, i)
		}
	}
	return out
}

// graph returns training graph i.
func (s *Source) graph(i int) (*graph.Graph, error) {
	if i < 0 || i >= len(s.IDs) {
		return nil, notFound("graph %d, want 0 … %d", i, len(s.IDs)-1)
	}
	if s.Graphs == nil {
		return nil, &apiError{422, "the model file holds no graphs, only what was learned from them"}
	}
	return s.Graphs[i], nil
}

var errNoLearner = errors.New("there is nothing to predict: the graphs have no targets, or all the same")
