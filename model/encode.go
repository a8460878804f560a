package model

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// Kind and Version of the container (package file) that a model is.
const (
	Kind    = "model"
	Version = 4
)

// maxJSON bounds a section of JSON: what it decodes to may take many times its bytes.
const maxJSON = 1 << 20

// metaJSON is the section "meta".
type metaJSON struct {
	Kernel    json.RawMessage   `json:"kernel"` // a sum, as kernel.Marshal writes it
	Learner   *learnerJSON      `json:"learner,omitempty"`
	Reader    *dataset.Options  `json:"reader,omitempty"`
	Created   map[string]string `json:"created,omitempty"`
	Estimates []Estimate        `json:"estimates,omitempty"`
}

// learnerJSON is what the sections of a learner do not say.
type learnerJSON struct {
	Kind    svm.Kind `json:"kind"`
	Classes []int    `json:"classes,omitempty"`
}

// lowRankJSON is the section "factor/i" of a low-rank kernel.
type lowRankJSON struct {
	Base   string      `json:"base"` // the one that was chosen, if the kernel does not say
	Levels []levelJSON `json:"levels"`
}

type levelJSON struct {
	Explicit  bool `json:"explicit"`
	Landmarks int  `json:"landmarks"`
	Features  int  `json:"features"`
}

// Write writes a model file. It is there whole or not at all.
func Write(ctx context.Context, path string, m *Model) error {
	if strings.HasSuffix(path, ".gz") {
		return fmt.Errorf("%s: model files are not compressed, want a name without .gz", path)
	}
	return file.Write(ctx, path, func(w io.Writer) error { return Encode(w, m) })
}

// Encode writes a model in the format of a model file. Equal models give equal bytes.
func Encode(w io.Writer, m *Model) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	sum, err := kernel.Marshal(m.Kernel.Sum)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	meta := metaJSON{Kernel: sum, Reader: m.Reader, Created: m.Created, Estimates: m.Estimates}
	if l := m.Learner; l != nil {
		meta.Learner = &learnerJSON{l.Kind, l.Classes}
	}
	var s sections
	s.json("meta", meta)
	if err := s.kernels(m); err != nil {
		return err
	}
	s.learner(m)
	s.strings("train/ids", m.IDs)
	if m.Targets != nil {
		s.strings("train/targets", m.Targets)
	}
	if m.Nearest != nil {
		s.floats("train/nearest", m.Nearest)
	}
	if m.Graphs != nil {
		s.graphs(m.Graphs)
	}
	if s.err != nil {
		return s.err
	}
	return file.Encode(w, Kind, Version, s.list)
}

// Fingerprint identifies the kernel of a model: two models with the same one give the same
// kernel values. It is the SHA-256 hash of a container with the kernel and what was fitted, and
// with the training graphs where a kernel is fitted to them again (docs/model-format.md).
func (m *Model) Fingerprint() ([sha256.Size]byte, error) {
	sum, err := kernel.Marshal(m.Kernel.Sum)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	s := sections{list: []file.Section{{Name: "kernel", Data: sum}}}
	if err := s.kernels(m); err != nil {
		return [sha256.Size]byte{}, err
	}
	for _, f := range m.Kernel.Factors {
		if LowRank(f) == nil {
			s.graphs(m.Graphs)
			break
		}
	}
	h := sha256.New()
	err = file.Encode(h, Kind, Version, s.list)
	return [sha256.Size]byte(h.Sum(nil)), err
}

// sections collects the sections of a file. After the first error, which it keeps, it does nothing.
type sections struct {
	list []file.Section
	err  error
}

func (s *sections) add(name string, data []byte) {
	s.list = append(s.list, file.Section{Name: name, Data: data})
}

func (s *sections) json(name string, v any) {
	b, err := json.Marshal(v)
	if err == nil && len(b) > maxJSON {
		err = fmt.Errorf("%d bytes, want at most %d", len(b), maxJSON)
	}
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("model: section %s: %w", name, err)
	}
	s.add(name, b)
}

func (s *sections) floats(name string, x []float64) { s.add(name, appendFloats(nil, x)) }

// strings adds the number of strings, the length of each, and their bytes.
func (s *sections) strings(name string, x []string) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(x)))
	for _, text := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(text)))
	}
	for _, text := range x {
		b = append(b, text...)
	}
	s.add(name, b)
}

// appendFloats appends numbers, 8 bytes each.
func appendFloats(b []byte, x []float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// kernels adds what was fitted: all of a low-rank kernel, nothing of others.
func (s *sections) kernels(m *Model) error {
	standardized := false
	for i, f := range m.Kernel.Factors {
		standardized = standardized || f.Standardize
		low := LowRank(f)
		if low == nil {
			continue
		}
		name := fmt.Sprintf("factor/%d", i)
		snapshot := low.Snapshot()
		head := lowRankJSON{Base: snapshot.Kernel.Base}
		for _, l := range snapshot.Levels {
			head.Levels = append(head.Levels, levelJSON{l.Explicit, l.N, l.P})
		}
		s.json(name, head)
		for j, l := range snapshot.Levels {
			level := fmt.Sprintf("%s/level/%d/", name, j)
			if j == 0 {
				s.strings(level+"descriptors", l.Descriptors)
			} else {
				s.floats(level+"marks", l.Marks)
			}
			if !l.Explicit {
				s.floats(level+"weights", l.W)
				s.floats(level+"eigenvalues", l.Values)
			}
		}
		for j, t := range snapshot.Train {
			s.floats(fmt.Sprintf("%s/train/%d", name, j), t)
		}
	}
	if standardized {
		x, err := m.Kernel.In.Standardization()
		if err != nil {
			return fmt.Errorf("model: %w", err)
		}
		s.floats("standard", append(append([]float64{}, x.Mean...), x.Scale...))
	}
	return nil
}

// learner adds the functions of a learner: a table with a row for each, and their support
// positions and coefficients one behind the other.
func (s *sections) learner(m *Model) {
	l := m.Learner
	if l == nil {
		return
	}
	if m.Classes != nil {
		s.strings("learner/classes", m.Classes)
	}
	le := binary.LittleEndian
	var table, support, coefficients []byte
	for i := range l.Functions {
		f := &l.Functions[i]
		table = le.AppendUint64(table, uint64(len(f.Coefficients)))
		table = le.AppendUint64(table, uint64(f.Iterations))
		table = appendFloats(table, []float64{f.Bias, f.Objective})
		for _, k := range f.Support {
			support = le.AppendUint64(support, uint64(k))
		}
		coefficients = appendFloats(coefficients, f.Coefficients)
	}
	s.add("learner/functions", table)
	s.add("learner/coefficients", coefficients)
	if l.Kind == svm.SVM {
		s.add("learner/support", support)
	}
	if l.Sigmoids != nil {
		var b []byte
		for _, p := range l.Sigmoids {
			b = appendFloats(b, []float64{p.A, p.B})
		}
		s.add("learner/sigmoids", b)
	}
	if l.LeaveOneOut != nil {
		s.floats("learner/leave-one-out", l.LeaveOneOut.Data)
	}
}
