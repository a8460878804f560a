package model

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// Read reads a model file.
func Read(path string) (*Model, error) {
	f, err := file.Map(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var m *Model
	if err := f.Guard(func() (err error) { m, err = Decode(f.Bytes()); return err }); err != nil {
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

// compressed returns a section that is compressed.
func (d *decoder) compressed(name string) []byte {
	b := d.section(name)
	if d.err != nil {
		return nil
	}
	b, err := decompress(b)
	if err != nil {
		d.fail("section %s: %w", name, err)
	}
	return b
}

// json reads a section.
func (d *decoder) json(name string, v any) {
	b := d.section(name)
	if err := bounded(name, b); err != nil {
		d.fail("%w", err)
	}
	if d.err != nil {
		return
	}
	if err := json.Unmarshal(b, v); err != nil {
		d.fail("section %s: %w", name, err)
	}
}

// floats returns a section of numbers.
func (d *decoder) floats(name string) []float64 {
	b := d.section(name)
	if len(b)%8 != 0 {
		d.fail("section %s has %d bytes, want 8 for each number", name, len(b))
	}
	if d.err != nil {
		return nil
	}
	return slices.Clone(file.Floats(b))
}

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
			d.fail("section %s: string %d has %d bytes, but only %d are left", name, i, n, len(rest))
			return nil
		}
		out[i], rest = string(rest[:n]), rest[n:]
	}
	if len(rest) > 0 {
		d.fail("section %s: %d bytes after the last string", name, len(rest))
	}
	return out
}

// maxEndpoints bounds the number of endpoints of a file.
const maxEndpoints = 1 << 12

func (d *decoder) model() *Model {
	var meta metaJSON
	d.json("meta", &meta)
	if meta.Reader != nil { // a field that is absent has its default
		defaults := dataset.DefaultOptions()
		meta = metaJSON{Reader: &defaults}
		d.json("meta", &meta)
	}
	if n := len(meta.Endpoints); n < 1 || n > maxEndpoints {
		d.fail("section meta: %d endpoints, want 1 to %d", n, maxEndpoints)
		return nil
	}
	ids := d.strings("train/ids")
	all := make([]*Model, len(meta.Endpoints))
	var bare []*graph.Graph
	if d.err == nil {
		bare = d.graphs(len(ids))
	}
	for i, e := range meta.Endpoints {
		all[i] = d.endpoint(i, e, &Model{reader: meta.Reader, IDs: ids}, bare, len(all) > 1)
	}
	if d.err == nil {
		d.kernels(all, meta.Endpoints)
	}
	return together(all)
}

// endpoint reads what is an endpoint's own, but for its kernel.
func (d *decoder) endpoint(i int, meta endpointJSON, m *Model, bare []*graph.Graph, several bool) *Model {
	m.known, m.scaffolds, m.Target, m.Created, m.Estimates = &knownMolecules{}, &knownScaffolds{}, meta.Target, meta.Created, meta.Estimates
	name := func(section string) string { return endpointSection(i, section) }
	m.Targets = make([]string, len(m.IDs))
	if d.has(name("targets")) || several {
		m.Targets = d.strings(name("targets"))
	}
	if d.has(name("nearest")) {
		m.Nearest = d.floats(name("nearest"))
	}
	if d.err == nil && len(m.Targets) != len(m.IDs) {
		d.fail("%d targets, want %d, one for each training graph", len(m.Targets), len(m.IDs))
	}
	if d.err != nil {
		return m
	}
	m.Graphs = make([]*graph.Graph, len(bare))
	for k, g := range bare {
		m.Graphs[k] = g.With(m.IDs[k], m.Targets[k])
	}
	if d.has(name("learner")) {
		d.json(name("learner"), &m.Learner)
	}
	if m.Task() == Classification {
		m.Classes = d.strings(name("classes"))
	}
	return m
}

// kernels reads the sums of the endpoints, what was fitted, and the features of the training graphs.
func (d *decoder) kernels(all []*Model, meta []endpointJSON) {
	var kernels []kernel.Kernel
	for _, e := range meta {
		k, err := kernel.Parse(e.Kernel)
		if err != nil {
			d.fail("section meta: %w", err)
			return
		}
		kernels = append(kernels, k)
	}
	fitted, features := slices.Clone(d.section("map")), d.compressed("train/features")
	if d.err != nil {
		return
	}
	sums, err := kernel.DecodeSums(fitted, all[0].Graphs, kernels...)
	if err != nil {
		d.fail("section map: %w", err)
		return
	}
	if err = sums[0].AdoptTrain(features); err != nil {
		d.fail("section train/features: %w", err)
	}
	for i, m := range all {
		m.Kernel = sums[i]
	}
}
