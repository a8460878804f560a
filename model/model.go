// Package model keeps trained models in files.
//
// A model file has everything that is needed for new graphs: a kernel, which is a sum of products of
// fitted kernels, the learner, and the training graphs with their identifiers and targets. It also
// says how the data was read, and what accuracy was estimated. docs/reference/model-format.md
// describes the format byte by byte.
//
// Reading executes nothing and trusts nothing. Every byte is covered by a checksum, every
// number is checked before it is used, and memory stays within a small multiple of the
// file's size. A model that was read gives the bits of the one that was written.
package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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

// Model is what a model file holds. Its methods change nothing, so a Model may be used
// concurrently.
type Model struct {
	// Kernel is fitted to the training graphs.
	Kernel *kernel.FittedSum

	// Learner was trained on the Gram matrix of the kernel; nil for a model that is only
	// searched. Classes has the name of each of Learner.Classes; nil for values.
	Learner *learn.Learner
	Classes []string

	// IDs and Targets of the training graphs, in their order. Targets is nil where they
	// have none.
	IDs, Targets []string

	// Graphs are the training graphs themselves.
	Graphs []*graph.Graph

	// Nearest has the percentiles 0, 1, …, 100 of the largest similarity of a training
	// graph to another, as Percentiles computes them, or is nil.
	Nearest []float64

	Reader    *dataset.Options  // how the training graphs were read, nil if that is not known
	Created   map[string]string // parameters of training, for the record
	Estimates []choose.Estimate // what was found about the quality of predictions

	known *knownMolecules // nil if they are not kept
}

// knownMolecules are the training graphs, and the scaffolds of those that were learned from, each found when they are first
// needed.
type knownMolecules struct {
	find      sync.Once
	graphs    *dataset.Index // nil for graphs that are no molecules
	scaffold  sync.Once
	scaffolds *chem.ScaffoldSet
	err       error
}

// New returns a kernel fitted to graphs as a model without a learner. A graph without an identifier
// has its number, from 1.
func New(ctx context.Context, graphs []*graph.Graph, k kernel.Kernel) (*Model, error) {
	d := dataset.Dataset{Graphs: graphs}
	m := &Model{Graphs: graphs, IDs: d.IDs(), known: &knownMolecules{}}
	if slices.ContainsFunc(graphs, func(g *graph.Graph) bool { return g.Target() != "" }) {
		m.Targets = d.Targets()
	}
	var err error
	m.Kernel, err = kernel.NewCollection(graphs).Fit(ctx, k)
	return m, err
}

// percentiles is the number of entries of Model.Nearest.
const percentiles = 101

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

// Validate returns an error if the parts of the model do not belong together.
func (m *Model) Validate() error {
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
	if m.Targets != nil && len(m.Targets) != n {
		return fmt.Errorf("%d targets, want %d, one for each training graph", len(m.Targets), n)
	}
	if m.Nearest != nil {
		if len(m.Nearest) != percentiles {
			return fmt.Errorf("%d percentiles of similarity, want %d", len(m.Nearest), percentiles)
		}
		if err := finite("percentile of similarity", m.Nearest); err != nil {
			return err
		}
		if !slices.IsSorted(m.Nearest) {
			return errors.New("percentiles of similarity fall, want them to rise")
		}
	}
	if err := m.validateTexts(); err != nil || m.Learner == nil {
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
	if m.Reader != nil {
		if err := m.Reader.Validate(); err != nil {
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
