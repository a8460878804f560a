package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// Kind and Version of the container (package file) that a model is.
const (
	Kind    = "model"
	Version = 10
)

// Bounds of sections in JSON: what they decode to may take many times their bytes.
const (
	maxMeta    = 1 << 20 // bytes of those without numbers
	maxObjects = 1 << 18 // more than a learner of 500 classes has
)

// bounded returns an error if a section in JSON is too large to be read: an empty object may become many
// times its bytes. A learner may be large by its numbers, but has few objects.
func bounded(name string, b []byte) error {
	if objects := bytes.Count(b, []byte("{")); objects > maxObjects {
		return fmt.Errorf("section %s has %d objects, want at most %d", name, objects, maxObjects)
	}
	if !strings.HasSuffix(name, "/learner") && len(b) > maxMeta {
		return fmt.Errorf("section %s has %d bytes, want at most %d", name, len(b), maxMeta)
	}
	return nil
}

// metaJSON is the section "meta".
type metaJSON struct {
	Reader    *dataset.Options `json:"reader,omitempty"`
	Endpoints []endpointJSON   `json:"endpoints"`
}

// endpointJSON is what the section "meta" has of an endpoint.
type endpointJSON struct {
	Target    string            `json:"target,omitempty"`
	Kernel    string            `json:"kernel"` // its full text
	Created   map[string]string `json:"created,omitempty"`
	Estimates []choose.Estimate `json:"estimates,omitempty"`
}

// endpointSection returns the name of a section of an endpoint.
func endpointSection(endpoint int, name string) string {
	return fmt.Sprintf("endpoint/%d/%s", endpoint, name)
}

// Write writes a model file. It is there whole or not at all.
func Write(ctx context.Context, path string, m *Model) error {
	if strings.HasSuffix(path, ".gz") {
		return fmt.Errorf("%s: model files are not compressed, want a name without .gz", path)
	}
	return file.Write(ctx, path, func(w io.Writer) error { return Encode(w, m) })
}

// Encode writes a model with all its endpoints in the format of a model file. Equal models give equal bytes.
func Encode(w io.Writer, m *Model) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	var s sections
	meta := metaJSON{Reader: m.reader}
	for _, e := range m.Endpoints() {
		meta.Endpoints = append(meta.Endpoints, endpointJSON{e.Target, kernel.FullText(e.Kernel.Asked), e.Created, e.Estimates})
	}
	s.json("meta", meta)
	s.kernel(m)
	s.strings("train/ids", m.IDs)
	for i, e := range m.Endpoints() {
		if e.Task() != SearchOnly {
			s.json(endpointSection(i, "learner"), &e.Learner)
		}
		if e.Task() == Classification {
			s.strings(endpointSection(i, "classes"), e.Classes)
		}
		if e.HasTargets() {
			s.strings(endpointSection(i, "targets"), e.Targets)
		}
		if e.Nearest != nil {
			s.floats(endpointSection(i, "nearest"), e.Nearest)
		}
	}
	s.graphs(m.Graphs)
	if s.err != nil {
		return s.err
	}
	return file.Encode(w, Kind, Version, s.list)
}

// Fingerprint identifies the kernels of a model: two models with the same ones give the same
// kernel values. It is the SHA-256 hash of a container with the kernels, and what was fitted
// (docs/reference/model-format.md).
func (m *Model) Fingerprint() ([sha256.Size]byte, error) {
	var texts []string
	for _, e := range m.Endpoints() {
		texts = append(texts, kernel.FullText(e.Kernel.Asked))
	}
	s := sections{list: []file.Section{{Name: "kernel", Data: []byte(strings.Join(texts, "\n"))}}}
	s.kernel(m)
	h := sha256.New()
	err := s.err
	if err == nil {
		err = file.Encode(h, Kind, Version, s.list)
	}
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
	if err != nil {
		err = fmt.Errorf("section %s: %w", name, err)
	}
	s.note(cmp.Or(err, bounded(name, b)))
	s.add(name, b)
}

func (s *sections) compressed(name string, data []byte) {
	b, err := compress(data)
	s.note(err)
	s.add(name, b)
}

// note keeps the first error.
func (s *sections) note(err error) {
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("model: %w", err)
	}
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
func appendFloats(b []byte, x []float64) []byte { return append(b, file.Bytes(x)...) }

// kernel adds what was fitted, and the features of the training graphs.
func (s *sections) kernel(m *Model) {
	fitted, err := m.Kernel.AppendBinary(nil)
	if err == nil {
		s.add("map", fitted)
		var train kernel.Features
		if train, err = m.Kernel.Train(context.Background()); err == nil {
			if fitted, err = train.AppendBinary(nil); err == nil {
				s.compressed("train/features", fitted)
			}
		}
	}
	s.note(err)
}
