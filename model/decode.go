package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/svm"
)

// Read reads a model file. The model computes with the given number of workers.
func Read(path string, workers int) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := read(f, workers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// read reads no more than the first bytes of a file that is no model file.
func read(f *os.File, workers int) (*Model, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, fmt.Errorf("is a folder, want a model file")
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if err := checkMagic(head[:n]); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if st.Mode().IsRegular() {
		b.Grow(int(min(st.Size(), 1<<30)) + bytes.MinRead) // a hole in a file has no cost yet
	}
	b.Write(head)
	if _, err := b.ReadFrom(f); err != nil {
		return nil, err
	}
	return Decode(b.Bytes(), workers)
}

// Decode returns the model in the bytes of a model file, which it does not keep. The model
// computes with the given number of workers, at least 1.
func Decode(data []byte, workers int) (*Model, error) {
	sections, err := unpack(data)
	if err != nil {
		return nil, err
	}
	d := decoder{sections: sections, factors: map[string]Factor{}}
	m := d.model(workers)
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
	factors  map[string]Factor // those that were read, by name
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

func (d *decoder) model(workers int) *Model {
	var meta metaJSON
	d.json("meta", &meta)
	m := &Model{Reader: meta.Reader, Created: meta.Created, Estimates: meta.Estimates}
	for i := 0; i < meta.Kernels && d.err == nil; i++ {
		m.Kernels = append(m.Kernels, d.kernel(fmt.Sprintf("kernel/%d", i), workers))
	}
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
	if d.has("learner") {
		m.Learner = d.learner(len(m.IDs))
	}
	return m
}

func (d *decoder) kernel(name string, workers int) Kernel {
	var p productJSON
	d.json(name, &p)
	if p.Kind != kindProduct {
		return Kernel{p.Weight, []Factor{d.factor(name, workers)}}
	}
	out := Kernel{Weight: p.Weight}
	for j := 0; j < p.Factors && d.err == nil; j++ {
		out.Factors = append(out.Factors, d.factor(fmt.Sprintf("%s/%d", name, j), workers))
	}
	return out
}

// factor reads a factor of any kind.
func (d *decoder) factor(name string, workers int) Factor {
	var head struct {
		sameJSON
		Standardized bool `json:"standardized"`
		Subdivided   bool `json:"subdivided"`
	}
	d.json(name, &head)
	if d.err != nil {
		return Factor{}
	}
	f := Factor{Subdivided: head.Subdivided}
	switch head.Kind {
	case kindSame:
		f, ok := d.factors[head.As]
		if !ok {
			d.fail("%s is the same as %q, which does not stand before it", name, head.As)
		}
		return f
	case kindLowRank:
		f.Fitted = d.lowRank(name, workers)
	default:
		var b baselineJSON
		d.json(name, &b)
		k, err := b.kernel(workers)
		if err != nil {
			d.fail("%s: %w", name, err)
		}
		f.Baseline = &Baseline{kernel: k}
	}
	if head.Standardized {
		x := d.floats(name + "/standard")
		if len(x)%2 != 0 {
			d.fail("section %s/standard has %d numbers, want means and as many deviations", name, len(x))
			return f
		}
		f.Standard = &evaluate.Standardization{Mean: x[:len(x)/2], Scale: x[len(x)/2:]}
	}
	d.factors[name] = f
	return f
}

func (d *decoder) lowRank(name string, workers int) *mlg.Model {
	var k kernelJSON
	d.json(name, &k)
	s := &mlg.Snapshot{
		Radii: k.Radii, Eta: k.Eta, Gamma: k.Gamma, Base: k.Base, Discount: k.Discount, Power: k.Power,
		Samples: k.Samples, Rank: k.Rank, Seed: k.Seed, Graphs: k.Graphs,
	}
	var err error
	if s.Combine, err = mlg.ParseCombine(k.Combine); err != nil {
		d.fail("%s: %w", name, err)
	}
	if s.Landmarks, err = mlg.ParseLandmarks(k.Landmarks); err != nil {
		d.fail("%s: %w", name, err)
	}
	for i, l := range k.Levels {
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
	if s.Combine != mlg.Top {
		parts = len(k.Levels)
	}
	for i := range parts {
		s.Train = append(s.Train, d.floats(fmt.Sprintf("%s/train/%d", name, i)))
	}
	if d.err != nil {
		return nil
	}
	m, err := mlg.FromSnapshot(s, workers)
	if err != nil {
		d.fail("%s: %w", name, err)
	}
	return m
}

// learner reads a learner that was trained on n examples.
func (d *decoder) learner(n int) *Learner {
	var head learnerJSON
	d.json("learner", &head)
	count := 1
	var names []string
	switch head.Kind {
	case kindClassifier:
		names = d.strings("learner/classes")
		if len(names) != len(head.Labels) || len(names) < 2 {
			d.fail("section learner: %d labels and %d names of classes, want the same number of two or more", len(head.Labels), len(names))
		}
		count = len(names) * (len(names) - 1) / 2
	case kindRegressor, kindRidge:
	default:
		d.fail("learner of kind %q, want %s, %s or %s", head.Kind, kindClassifier, kindRegressor, kindRidge)
	}
	machines := d.machines(&head, count)
	if d.err != nil {
		return nil
	}
	m := &machines[0]
	switch head.Kind {
	case kindClassifier:
		k := 0
		for a, label := range head.Labels {
			for _, other := range head.Labels[a+1:] {
				machines[k].Positive, machines[k].Negative = label, other
				k++
			}
		}
		return &Learner{Classifier: &svm.Classifier{Classes: head.Labels, Examples: n, Machines: machines}, Classes: names}
	case kindRegressor:
		return &Learner{Regressor: &svm.Regressor{Examples: n, Support: m.Support, Coefficients: m.Coefficients,
			Bias: m.Bias, Objective: m.Objective, Iterations: m.Iterations}}
	}
	return &Learner{Ridge: &svm.Ridge{Lambda: head.Lambda, Coefficients: m.Coefficients, Bias: m.Bias, LeaveOneOut: d.floats("learner/leave-one-out")}}
}

// machines reads the table of machines and deals the support positions and coefficients
// out to them.
func (d *decoder) machines(head *learnerJSON, count int) []svm.Machine {
	const fields = 6
	table := words(d, "learner/machines", func(x uint64) uint64 { return x })
	coefficients := d.floats("learner/coefficients")
	support := make([]int, len(coefficients)) // of a ridge: not read
	if head.Kind != kindRidge {
		support = words(d, "learner/support", func(x uint64) int { return int(x) })
	}
	if d.err == nil && len(table) != count*fields {
		d.fail("section learner/machines has %d numbers, want %d for each of %d machines", len(table), fields, count)
	}
	if len(support) != len(coefficients) {
		d.fail("%d support positions, but %d coefficients", len(support), len(coefficients))
	}
	if d.err != nil {
		return nil
	}
	out := make([]svm.Machine, count)
	for i := range out {
		row := table[i*fields:][:fields]
		n := row[0]
		if n > uint64(len(support)) {
			d.fail("machine %d has %d coefficients, and %d are left", i, n, len(support))
			return nil
		}
		out[i] = svm.Machine{
			Support: support[:n:n], Coefficients: coefficients[:n:n], Iterations: int(row[1]),
			Bias: math.Float64frombits(row[2]), Objective: math.Float64frombits(row[3]),
		}
		if head.Probability {
			out[i].Platt = &svm.Sigmoid{A: math.Float64frombits(row[4]), B: math.Float64frombits(row[5])}
		}
		support, coefficients = support[n:], coefficients[n:]
	}
	if len(support) > 0 {
		d.fail("%d coefficients behind the last machine", len(support))
	}
	return out
}
