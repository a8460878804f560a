// Package model keeps trained models in files.
//
// A model file has all that is needed for new graphs: a kernel, which is a sum of products of
// fitted kernels, the learner, the training graphs with their identifiers and targets, how
// the data was read, and what accuracy was estimated. The format is described byte by byte
// in docs/model-format.md.
//
// Reading executes nothing and trusts nothing: every byte is covered by a checksum, every
// number is checked before it is used, and memory stays within a small multiple of the
// file's size. A model that was read gives the bits of the one that was written.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/svm"
)

// Model is what a model file holds. Its methods change nothing, so a Model may be used
// concurrently.
type Model struct {
	// Kernels are fitted to the same training graphs; the kernel of the model is the sum of
	// their values times their weights,
	//
	//	k(G, H) = Σ_t Weight_t · Π_j k_tj(G, H).
	Kernels []Kernel

	// Learner predicts; nil for a model that is only searched.
	Learner *Learner

	// IDs and Targets of the training graphs, in their order. Targets is nil where they
	// have none.
	IDs, Targets []string

	// Graphs are the training graphs themselves, or nil. Baseline kernels need them.
	Graphs []*graph.Graph

	// Nearest has the percentiles 0, 1, …, 100 of the largest similarity of a training
	// graph to another, as Percentiles computes them, or is nil.
	Nearest []float64

	Reader    map[string]string // how the training data was read
	Created   map[string]string // parameters of training, for the record
	Estimates []Estimate
}

// Kernel is a product of fitted kernels with its weight in a sum.
type Kernel struct {
	Weight  float64 // positive
	Factors []Factor
}

// NewKernel returns the kernel of a fitted model with a weight.
func NewKernel(weight float64, m *mlg.Model) Kernel { return Kernel{weight, []Factor{{Fitted: m}}} }

// Learner is one of the learners of package svm, trained on the Gram matrix of the kernel.
type Learner struct {
	Classifier *svm.Classifier
	Classes    []string // of the classifier: the name of each of Classifier.Classes

	Regressor *svm.Regressor
	Ridge     *svm.Ridge
}

// Estimate is what was found about the quality of predictions.
type Estimate struct {
	Measure   string  `json:"measure"` // "accuracy", "rmse", …
	Value     float64 `json:"value"`
	Deviation float64 `json:"deviation"` // standard deviation of the value, 0 if not known
	Method    string  `json:"method"`    // as in "10-fold cross-validation, 10 repeats"
}

// percentiles is the number of entries of Model.Nearest.
const percentiles = 101

// Examples returns the number of training graphs.
func (m *Model) Examples() int { return len(m.IDs) }

// Validate returns an error if the parts of the model do not belong together.
func (m *Model) Validate() error {
	n := m.Examples()
	if len(m.Kernels) == 0 {
		return errors.New("no kernel")
	}
	for i, k := range m.Kernels {
		if !(k.Weight > 0) || math.IsInf(k.Weight, 1) {
			return fmt.Errorf("kernel %d: weight %v, want a positive, finite number", i, k.Weight)
		}
		if len(k.Factors) == 0 {
			return fmt.Errorf("kernel %d: nothing fitted", i)
		}
		for _, f := range k.Factors {
			if err := f.validate(n, m.Graphs != nil); err != nil {
				return fmt.Errorf("kernel %d: %w", i, err)
			}
		}
	}
	if m.Graphs != nil && len(m.Graphs) != n {
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
	for _, x := range []map[string]string{m.Reader, m.Created} {
		for k, v := range x {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return fmt.Errorf("parameter %q = %q, want valid UTF-8", k, v)
			}
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
	if m.Learner == nil {
		return nil
	}
	return m.Learner.validate(n)
}

// validate returns an error unless exactly one learner is there, for n examples.
func (l *Learner) validate(n int) error {
	count, examples := 0, n
	var err error
	if c := l.Classifier; c != nil {
		count++
		examples = c.Examples
		if err = c.Validate(); err == nil {
			err = l.checkClassifier()
		}
	}
	if r := l.Regressor; r != nil {
		count++
		examples = r.Examples
		if err = r.Validate(); err == nil {
			err = finite("coefficient", append([]float64{r.Bias, r.Objective}, r.Coefficients...))
		}
	}
	if r := l.Ridge; r != nil {
		count++
		examples = len(r.Coefficients)
		if err = finite("coefficient", append([]float64{r.Bias, r.Lambda}, r.Coefficients...)); err == nil && len(r.LeaveOneOut) != examples {
			err = fmt.Errorf("%d leave-one-out values for %d examples", len(r.LeaveOneOut), examples)
		}
	}
	switch {
	case count != 1:
		return fmt.Errorf("learner: %d of them, want exactly one of classifier, regressor and ridge", count)
	case err != nil:
		return fmt.Errorf("learner: %w", err)
	case examples != n:
		return fmt.Errorf("learner: trained on %d graphs, want %d", examples, n)
	}
	return nil
}

// checkClassifier checks what svm.Classifier.Validate does not know of.
func (l *Learner) checkClassifier() error {
	c := l.Classifier
	if len(l.Classes) != len(c.Classes) {
		return fmt.Errorf("%d names for %d classes", len(l.Classes), len(c.Classes))
	}
	for i := range c.Machines {
		m := &c.Machines[i]
		if (m.Platt == nil) != (c.Machines[0].Platt == nil) {
			return errors.New("probabilities in some machines only, want all or none")
		}
		x := append([]float64{m.Bias, m.Objective}, m.Coefficients...)
		if m.Platt != nil {
			x = append(x, m.Platt.A, m.Platt.B)
		}
		if err := finite("number", x); err != nil {
			return fmt.Errorf("machine %d: %w", i, err)
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
