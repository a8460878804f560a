package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// Read reads a model file.
func Read(path string) (*Model, error) {
	f, err := file.Map(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := Decode(f.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Is tells a model file by its first bytes.
func Is(path string) bool { return file.KindOf(path) == Kind }

// Decode returns the model in the bytes of a model file, which it does not keep.
func Decode(data []byte) (*Model, error) {
	list, err := file.Decode(data, Kind, Version)
	if err != nil {
		return nil, err
	}
	d := decoder{sections: map[string][]byte{}}
	for _, s := range list {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("the model file is %w", err)
		}
		d.sections[s.Name] = s.Data
	}
	m := d.model()
	if d.err != nil {
		return nil, fmt.Errorf("model file: %w", d.err)
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	return m, nil
}

// decoder reads sections. After the first error, which it keeps, it returns zero values.
type decoder struct {
	sections map[string][]byte
	err      error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) has(name string) bool {
	_, ok := d.sections[name]
	return ok
}

func (d *decoder) section(name string) []byte {
	b, ok := d.sections[name]
	if !ok {
		d.fail("section %s is missing", name)
	}
	return b
}

func (d *decoder) json(name string, v any) {
	b := d.section(name)
	if len(b) > maxJSON {
		d.fail("section %s has %d bytes, want at most %d", name, len(b), maxJSON)
	}
	if d.err != nil {
		return
	}
	if err := json.Unmarshal(b, v); err != nil {
		d.fail("section %s: %w", name, err)
	}
}

// words returns a section of 64-bit numbers, converted.
func words[T any](d *decoder, name string, convert func(uint64) T) []T {
	b := d.section(name)
	if len(b)%8 != 0 {
		d.fail("section %s has %d bytes, want 8 for each number", name, len(b))
	}
	if d.err != nil {
		return nil
	}
	out := make([]T, len(b)/8)
	for i := range out {
		out[i] = convert(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

func (d *decoder) floats(name string) []float64 { return words(d, name, math.Float64frombits) }

func (d *decoder) strings(name string) []string {
	le := binary.LittleEndian
	b := d.section(name)
	if d.err != nil {
		return nil
	}
	if len(b) < 8 || le.Uint64(b) > uint64(len(b)-8)/8 {
		d.fail("section %s has %d bytes, too few for its strings", name, len(b))
		return nil
	}
	out := make([]string, le.Uint64(b))
	lengths, rest := b[8:], b[8+8*len(out):]
	for i := range out {
		n := le.Uint64(lengths[8*i:])
		if n > uint64(len(rest)) {
			d.fail("section %s: string %d has %d bytes, and %d are left", name, i, n, len(rest))
			return nil
		}
		out[i], rest = string(rest[:n]), rest[n:]
	}
	if len(rest) > 0 {
		d.fail("section %s: %d bytes behind the last string", name, len(rest))
	}
	return out
}

func (d *decoder) model() *Model {
	var meta metaJSON
	d.json("meta", &meta)
	if meta.Reader != nil { // a field that is absent has its default
		defaults := dataset.DefaultOptions()
		meta.Reader = &defaults
		d.json("meta", &meta)
	}
	m := &Model{Reader: meta.Reader, Created: meta.Created, Estimates: meta.Estimates}
	m.IDs = d.strings("train/ids")
	if d.has("train/targets") {
		m.Targets = d.strings("train/targets")
	}
	if d.has("train/nearest") {
		m.Nearest = d.floats("train/nearest")
	}
	if d.has("train/graphs") && d.err == nil {
		if m.Targets != nil && len(m.Targets) != len(m.IDs) {
			d.fail("%d targets for %d training graphs", len(m.Targets), len(m.IDs))
			return m
		}
		m.Graphs = d.graphs(m.IDs, m.Targets)
	}
	if d.err == nil {
		d.kernel(m, meta.Kernel)
	}
	if meta.Learner != nil && d.err == nil {
		d.learner(m, meta.Learner)
	}
	return m
}

// kernel reads the sum and what was fitted.
func (d *decoder) kernel(m *Model, text []byte) {
	k, err := kernel.Unmarshal(text)
	if err != nil {
		d.fail("section meta: %w", err)
		return
	}
	c := kernel.NewCollection(m.Graphs)
	if m.Kernel, err = c.Sum(k); err != nil {
		d.fail("section meta: %w", err)
		return
	}
	standardized := false
	for i, f := range m.Kernel.Factors {
		standardized = standardized || f.Standardize
		if low, ok := f.Kernel.(mlg.Kernel); ok && !low.Exact {
			f.Adopt(d.lowRank(fmt.Sprintf("factor/%d", i), low, len(m.IDs)))
		}
	}
	if standardized {
		x := d.floats("standard")
		if len(x)%2 != 0 {
			d.fail("section standard has %d numbers, want means and as many deviations", len(x))
		}
		standard := &kernel.Standardization{Mean: x[:len(x)/2], Scale: x[len(x)/2:]}
		if err := standard.Validate(); err != nil {
			d.fail("section standard: %w", err)
		}
		c.Adopt(standard)
	}
}

func (d *decoder) lowRank(name string, k mlg.Kernel, graphs int) kernel.Fitted {
	var head lowRankJSON
	d.json(name, &head)
	k.Base = head.Base
	s := &mlg.Snapshot{Kernel: k, Graphs: graphs}
	for i, l := range head.Levels {
		if d.err != nil {
			return nil
		}
		part := fmt.Sprintf("%s/level/%d/", name, i)
		level := mlg.LevelSnapshot{Explicit: l.Explicit, N: l.Landmarks, P: l.Features}
		if i == 0 {
			level.Descriptors = d.strings(part + "descriptors")
		} else {
			level.Marks = d.floats(part + "marks")
		}
		if !l.Explicit {
			level.W, level.Values = d.floats(part+"weights"), d.floats(part+"eigenvalues")
		}
		s.Levels = append(s.Levels, level)
	}
	parts := 1
	if k.Combine != mlg.Top {
		parts = len(head.Levels)
	}
	for i := range parts {
		s.Train = append(s.Train, d.floats(fmt.Sprintf("%s/train/%d", name, i)))
	}
	if d.err != nil {
		return nil
	}
	m, err := mlg.FromSnapshot(s)
	if err != nil {
		d.fail("%s: %w", name, err)
		return nil
	}
	return m
}

// learner reads a learner that was trained on the graphs of the model.
func (d *decoder) learner(m *Model, head *learnerJSON) {
	l := &svm.Learner{Kind: head.Kind, Classes: head.Classes, Examples: len(m.IDs)}
	if head.Classes != nil {
		m.Classes = d.strings("learner/classes")
	}
	const fields = 4
	table := words(d, "learner/functions", func(x uint64) uint64 { return x })
	coefficients := d.floats("learner/coefficients")
	var support []int
	if head.Kind == svm.SVM {
		support = words(d, "learner/support", func(x uint64) int { return int(x) })
		if len(support) != len(coefficients) {
			d.fail("%d support positions, but %d coefficients", len(support), len(coefficients))
		}
	}
	if len(table)%fields != 0 {
		d.fail("section learner/functions has %d numbers, want %d for each function", len(table), fields)
	}
	for at := 0; at < len(table) && d.err == nil; at += fields {
		n := table[at]
		if n > uint64(len(coefficients)) {
			d.fail("function %d has %d coefficients, and %d are left", at/fields, n, len(coefficients))
			return
		}
		f := svm.Function{Coefficients: coefficients[:n:n], Iterations: int(table[at+1]),
			Bias: math.Float64frombits(table[at+2]), Objective: math.Float64frombits(table[at+3])}
		if head.Kind == svm.SVM {
			f.Support, support = support[:n:n], support[n:]
		}
		coefficients = coefficients[n:]
		l.Functions = append(l.Functions, f)
	}
	if len(coefficients) > 0 {
		d.fail("%d coefficients behind the last function", len(coefficients))
	}
	if d.has("learner/sigmoids") {
		x := d.floats("learner/sigmoids")
		if len(x)%2 != 0 {
			d.fail("section learner/sigmoids has %d numbers, want two for each", len(x))
		}
		for i := 0; i+1 < len(x); i += 2 {
			l.Sigmoids = append(l.Sigmoids, svm.Sigmoid{A: x[i], B: x[i+1]})
		}
	}
	if d.has("learner/leave-one-out") && d.err == nil {
		x := d.floats("learner/leave-one-out")
		if len(x) != l.Examples*len(l.Functions) {
			d.fail("section learner/leave-one-out has %d numbers, want %d for each of %d graphs", len(x), len(l.Functions), l.Examples)
		}
		l.LeaveOneOut = &kernel.Matrix{Rows: l.Examples, Cols: len(l.Functions), Data: x}
	}
	m.Learner = l
}
