// Package model keeps trained models in files.
//
// A model file has everything that is needed for new graphs: the training graphs with their identifiers, and one
// or several endpoints. An endpoint has a kernel, which is a sum of products of fitted kernels, a learner, and the
// targets of the graphs. Endpoints share what was fitted. The file also
// says how the data was read, and what accuracy was estimated. docs/reference/model-format.md
// describes the format byte by byte.
//
// Reading executes nothing and trusts nothing. Every byte is covered by a checksum, every
// number is checked before it is used, and memory stays within a small multiple of the
// file's size. A model that was read gives the bits of the one that was written.
package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// Model is an endpoint of a model file, with the graphs that all endpoints share. Its methods change nothing, so a
// Model may be used concurrently.
type Model struct {
	// Target names what the endpoint is: the column of its targets; "" where that is not known.
	Target string

	// Kernel is fitted to the training graphs. The kernels of endpoints share their factors (kernel.Collection.Joint).
	Kernel *kernel.FittedSum

	// Learner was trained on the Gram matrix of the kernel, unless Task is SearchOnly. Classes has the name of each
	// of Learner.Classes.
	Learner learn.Learner
	Classes []string

	// IDs and Targets of the training graphs, in their order. A graph without a target has "".
	IDs, Targets []string

	// Graphs are the training graphs themselves.
	Graphs []*graph.Graph

	Nearest   Percentiles       // of the largest similarity of a training graph to another
	Created   map[string]string // parameters of training, for the record
	Estimates []choose.Estimate // what was found about the quality of predictions

	reader    *dataset.Options // how the training graphs were read, nil if that is not known
	known     *knownMolecules  // endpoints share them
	scaffolds *knownScaffolds
	endpoints []*Model // all of the file, nil for this one alone
	measured  []int    // graphs with a target, where not all have one; nil for all, and for a single endpoint
}

// Task is what a model does with graphs.
type Task int

const (
	SearchOnly     Task = iota // it finds similar training graphs, and predicts nothing
	Classification             // it predicts classes
	Regression                 // it predicts values
)

// Task returns what the model does, by its learner.
func (m *Model) Task() Task {
	switch {
	case m.Learner.Functions == nil:
		return SearchOnly
	case m.Learner.Classes != nil:
		return Classification
	}
	return Regression
}

// HasTargets reports whether a training graph has a target.
func (m *Model) HasTargets() bool {
	return slices.ContainsFunc(m.Targets, func(t string) bool { return t != "" })
}

// ReadBy notes how the training graphs were read.
func (m *Model) ReadBy(o dataset.Options) { m.reader = &o }

// Like returns options that read graphs like the training graphs, as far as it is known how these were read.
func (m *Model) Like(o dataset.Options) dataset.Options { return o.Like(m.reader) }

// Endpoints returns all endpoints of the file, in their order.
func (m *Model) Endpoints() []*Model {
	if m.endpoints == nil {
		return []*Model{m}
	}
	return m.endpoints
}

// Endpoint returns the endpoint with a target, by its name with or without regard to case.
func (m *Model) Endpoint(target string) (*Model, error) {
	var names []string
	for _, e := range m.Endpoints() {
		if e.Target == target {
			return e, nil
		}
		names = append(names, cmp.Or(e.Target, "one without a name"))
	}
	for _, e := range m.Endpoints() {
		if strings.EqualFold(e.Target, strings.TrimSpace(target)) {
			return e, nil
		}
	}
	return nil, fmt.Errorf("the model has no target %q, want one of %s", target, strings.Join(names, ", "))
}

// Only returns the model with some of its endpoints alone, in the given order. What was fitted is shared.
func (m *Model) Only(targets ...string) (*Model, error) {
	var some []*Model
	for _, t := range targets {
		e, err := m.Endpoint(t)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(some, func(x *Model) bool { return x.Target == e.Target }) {
			return nil, fmt.Errorf("the target %q is named twice", t)
		}
		copied := *e
		copied.endpoints = nil
		some = append(some, &copied)
	}
	if len(some) == 0 {
		return nil, errors.New("no target is named")
	}
	return together(some), nil
}

// Measured returns the positions of the graphs that have a value for the endpoint; nil for all.
func (m *Model) Measured() []int { return m.measured }

// together makes models of the same graphs the endpoints of one file, and returns the first.
func together(all []*Model) *Model {
	if len(all) > 1 {
		for _, e := range all {
			e.endpoints, e.measured, e.known = all, nil, all[0].known
			for i, t := range e.Targets {
				if t != "" {
					e.measured = append(e.measured, i)
				}
			}
			if len(e.measured) == len(e.IDs) {
				e.measured = nil
			}
		}
	}
	return all[0]
}

// knownMolecules are the training graphs, found when they are first needed.
type knownMolecules struct {
	find   sync.Once
	graphs *dataset.Index // nil for graphs that are no molecules
}

// knownScaffolds are those of the graphs that were learned from, found when they are first needed.
type knownScaffolds struct {
	find sync.Once
	set  *chem.ScaffoldSet
	err  error
}

// New returns a kernel fitted to graphs as a model without a learner. A graph without an identifier
// has its number, from 1.
func New(ctx context.Context, graphs []*graph.Graph, k kernel.Kernel) (*Model, error) {
	sum, err := kernel.NewCollection(graphs).Fit(ctx, k)
	return Of(graphs, sum), err
}

// Of returns a model of graphs without a learner, whose kernel is fitted, or is only to be described.
func Of(graphs []*graph.Graph, k *kernel.FittedSum) *Model {
	d := dataset.Dataset{Graphs: graphs}
	return &Model{Kernel: k, Graphs: graphs, IDs: d.IDs(), Targets: d.Targets(), known: &knownMolecules{}, scaffolds: &knownScaffolds{}}
}

// Examples returns the number of training graphs.
func (m *Model) Examples() int { return len(m.IDs) }

// LowRank returns the low-rank kernel that a factor was fitted as, nil if it is of another kind.
func LowRank(f *kernel.FittedFactor) *mlg.LowRank {
	fitted := f.Known()
	if fitted == nil {
		return nil
	}
	m, _ := fitted.Map.(*mlg.LowRank)
	return m
}

// Validate returns an error if the parts of the model, or its endpoints, do not belong together.
func (m *Model) Validate() error {
	all := m.Endpoints()
	for i, e := range all {
		err := e.validate()
		if err == nil && len(all) > 1 {
			switch {
			case !e.HasTargets():
				err = errors.New("no targets")
			case e.Kernel.In != all[0].Kernel.In || len(e.Kernel.Factors) != len(all[0].Kernel.Factors):
				err = errors.New("other factors of kernels than the first endpoint")
			case !slices.Equal(e.IDs, all[0].IDs):
				err = errors.New("other graphs than the first endpoint")
			}
			for _, other := range all[:i] {
				if err == nil && other.Target == e.Target {
					err = errors.New("two endpoints of this name")
				}
			}
		}
		if err != nil && len(all) > 1 {
			err = fmt.Errorf("endpoint %d (%s): %w", i, e.Target, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) validate() error {
	n := m.Examples()
	if m.Kernel == nil {
		return errors.New("no kernel")
	}
	for _, f := range m.Kernel.Factors {
		fitted := f.Known()
		if fitted == nil || fitted.Train == nil {
			return fmt.Errorf("%s is not fitted", f)
		}
		if fitted.Train.Len() != n {
			return fmt.Errorf("%s: %d training graphs, want %d, one for each identifier", f, fitted.Train.Len(), n)
		}
	}
	if len(m.Graphs) != n {
		return fmt.Errorf("%d training graphs in the model, want %d, one for each identifier", len(m.Graphs), n)
	}
	if len(m.Targets) != n {
		return fmt.Errorf("%d targets, want %d, one for each training graph", len(m.Targets), n)
	}
	if m.Nearest != nil {
		if len(m.Nearest) != 101 {
			return fmt.Errorf("%d percentiles of similarity, want 101", len(m.Nearest))
		}
		if err := finite("percentile of similarity", m.Nearest); err != nil {
			return err
		}
		if !slices.IsSorted(m.Nearest) {
			return errors.New("percentiles of similarity fall, want them to rise")
		}
	}
	if err := m.validateTexts(); err != nil || m.Task() == SearchOnly {
		return err
	}
	if err := m.Learner.Validate(); err != nil {
		return fmt.Errorf("learner: %w", err)
	}
	if len(m.Classes) != len(m.Learner.Classes) {
		return fmt.Errorf("learner: %d names for %d classes", len(m.Classes), len(m.Learner.Classes))
	}
	if m.Learner.Examples != n {
		return fmt.Errorf("learner: trained on %d graphs, want %d", m.Learner.Examples, n)
	}
	return nil
}

// validateTexts checks what is for the record.
func (m *Model) validateTexts() error {
	if !utf8.ValidString(m.Target) {
		return fmt.Errorf("target %q, want valid UTF-8", m.Target)
	}
	if m.reader != nil {
		if err := m.reader.Validate(); err != nil {
			return fmt.Errorf("how the training graphs were read: %w", err)
		}
	}
	for k, v := range m.Created {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("parameter %q = %q, want valid UTF-8", k, v)
		}
	}
	for i, e := range m.Estimates {
		if !utf8.ValidString(e.Measure) || !utf8.ValidString(e.Method) {
			return fmt.Errorf("estimate %d: %q, %q, want valid UTF-8", i, e.Measure, e.Method)
		}
		if err := finite("estimate", []float64{e.Value, e.Deviation}); err != nil {
			return err
		}
	}
	return nil
}

func finite(what string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s %d is %v, want a finite number", what, i, v)
		}
	}
	return nil
}
