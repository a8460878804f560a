package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// Kind and Version of the container (package file) that a store is: a section "model" with the
// model file, then sections of graphs.
const (
	Kind    = "store"
	Version = 2
)

// Store is a file of the features of graphs, mapped into memory. Its methods may be called
// concurrently.
type Store struct {
	path   string
	file   *file.Mapped
	model  *model.Model
	chunks []*chunk // all but the last have the same number of graphs
	n      int

	mu     sync.Mutex
	recent []*chunk // those that were decoded and used last
}

// recentChunks is the number of chunks whose decoded features stay, for blocks of graphs that are asked
// for one after the other.
const recentChunks = 4

// chunk is a section of graphs, which is checked when it is first used.
type chunk struct {
	file.Section
	first, n int // graphs first … first+n-1
	once     sync.Once
	err      error
	encoded  []byte // features
	texts    []byte

	mu   sync.Mutex
	kept kernel.Features // decoded; nil for those that are not in recent, unless they are used in place
}

// chunkName returns the name of the section of the graphs first … first+n-1.
func chunkName(first, n int) string { return fmt.Sprintf("graphs/%d/%d", first, n) }

// Is tells a store by its first bytes.
func Is(path string) bool { return file.KindOf(path) == Kind }

// Open opens a store. Its model and the heads of all its sections are checked now, the data of a
// chunk when they are first used.
func Open(path string) (*Store, error) {
	f, err := file.Map(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, file: f}
	if err := f.Guard(func() error { return s.open(f.Bytes()) }); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open(data []byte) error {
	sections, err := file.Decode(data, Kind, Version)
	if err != nil {
		return err
	}
	if len(sections) == 0 || sections[0].Name != "model" {
		return errors.New("the store file does not begin with a model")
	}
	if err := sections[0].Check(); err != nil {
		return fmt.Errorf("the store file is %w", err)
	}
	if s.model, err = model.Decode(sections[0].Data); err != nil {
		return err
	}
	for _, section := range sections[1:] {
		c := &chunk{Section: section, first: s.n}
		var first int
		if fmt.Sscanf(c.Name, "graphs/%d/%d", &first, &c.n); c.n < 1 || c.n > maxGraphs || c.Name != chunkName(s.n, c.n) {
			return fmt.Errorf("the store file has section %s after %d graphs", c.Name, s.n)
		}
		if last := len(s.chunks) - 1; last >= 0 && (s.chunks[last].n != s.chunks[0].n || c.n > s.chunks[0].n) {
			return fmt.Errorf("the store file has %d graphs in section %s, want at most %d as in the sections before", c.n, c.Name, s.chunks[0].n)
		}
		s.chunks = append(s.chunks, c)
		s.n += c.n
	}
	return nil
}

// Close ends the mapping: nothing of the store may be used after it.
func (s *Store) Close() error { return s.file.Close() }

// Model returns the model that made the store.
func (s *Store) Model() *model.Model { return s.model }

// Len returns the number of graphs.
func (s *Store) Len() int { return s.n }

// check checks a chunk, once.
func (s *Store) check(c *chunk) error {
	c.once.Do(func() {
		c.err = s.guard(func() (err error) {
			if err := c.Section.Check(); err != nil {
				return fmt.Errorf("the store file is %w", err)
			}
			if c.encoded, c.texts, err = kernel.Section(c.Data); err != nil {
				err = fmt.Errorf("section %s: %w", c.Name, err)
			}
			return err
		})
	})
	return c.err
}

// with calls f with the features of a chunk, which must not be used after that.
func (s *Store) with(c *chunk, f func(a kernel.Features) error) error {
	if err := s.check(c); err != nil {
		return err
	}
	return s.guard(func() error {
		a, err := s.decode(c)
		if err != nil {
			return fmt.Errorf("section %s: %w", c.Name, err)
		}
		return f(a)
	})
}

// decode returns the features of a chunk.
func (s *Store) decode(c *chunk) (kernel.Features, error) {
	a, err := c.decode(s.model.Kernel)
	if err == nil && !kernel.InPlace(a) {
		s.use(c)
	}
	return a, err
}

func (c *chunk) decode(m kernel.Map) (kernel.Features, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept != nil {
		return c.kept, nil
	}
	a, err := model.DecodeFeatures(m, c.encoded)
	if err == nil && a.Len() != c.n {
		err = fmt.Errorf("features of %d graphs, want %d", a.Len(), c.n)
	}
	if err == nil {
		c.kept = a
	}
	return a, err
}

// use notes that a chunk was used, and lets another one go.
func (s *Store) use(c *chunk) {
	s.mu.Lock()
	if i := slices.Index(s.recent, c); i >= 0 {
		s.recent = slices.Delete(s.recent, i, i+1)
	}
	s.recent = append(s.recent, c)
	var old *chunk
	if len(s.recent) > recentChunks {
		old, s.recent = s.recent[0], slices.Clone(s.recent[1:])
	}
	s.mu.Unlock()
	if old != nil {
		old.mu.Lock()
		old.kept = nil
		old.mu.Unlock()
	}
}

// guard calls read, which reads the mapped file, and names the file in its error.
func (s *Store) guard(read func() error) error {
	if err := s.file.Guard(read); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// each calls f with the chunks that have the graphs lo … hi-1, and which of their graphs those are.
func (s *Store) each(lo, hi int, f func(c *chunk, from, to int) error) error {
	if lo < 0 || lo > hi || hi > s.n {
		panic(fmt.Sprintf("store: graphs %d to %d of %d", lo, hi, s.n))
	}
	for lo < hi {
		c := s.chunks[lo/s.chunks[0].n]
		to := min(hi, c.first+c.n)
		if err := f(c, lo-c.first, to-c.first); err != nil {
			return err
		}
		lo = to
	}
	return nil
}

// Features returns the features of the graphs lo … hi-1. They are a copy.
func (s *Store) Features(lo, hi int) (kernel.Features, error) {
	var parts []kernel.Features
	err := s.each(lo, hi, func(c *chunk, from, to int) error {
		return s.with(c, func(a kernel.Features) error {
			parts = append(parts, kernel.Range(a, from, to))
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case len(parts) == 1:
		return parts[0], nil
	case len(parts) == 0:
		train, err := s.model.Kernel.Train(context.Background())
		if err != nil {
			return nil, err
		}
		return train.Select(nil), nil
	}
	return s.model.Kernel.Join(parts...), nil
}

// Texts returns the identifiers and targets of the graphs lo … hi-1. A graph that had no target
// has an empty one.
func (s *Store) Texts(lo, hi int) (ids, targets []string, err error) {
	err = s.each(lo, hi, func(c *chunk, from, to int) error {
		if err := s.check(c); err != nil {
			return err
		}
		return s.guard(func() error { return c.read(from, to, &ids, &targets) })
	})
	return ids, targets, err
}

// read appends the texts of the graphs from … to-1 of a chunk.
func (c *chunk) read(from, to int, ids, targets *[]string) error {
	rest := c.texts
	for i := range to {
		var pair [2]string
		for j := range pair {
			n, w := binary.Uvarint(rest)
			if w <= 0 || n > uint64(len(rest)-w) {
				return fmt.Errorf("the texts of graph %d end too early", c.first+i)
			}
			pair[j] = string(rest[w:][:n])
			rest = rest[w+int(n):]
		}
		if i >= from {
			*ids, *targets = append(*ids, pair[0]), append(*targets, pair[1])
		}
	}
	return nil
}

// encodeTexts returns the identifiers and targets of graphs first, first+1, … as a chunk has them.
func encodeTexts(first int, graphs []*graph.Graph) []byte {
	var b []byte
	for i, g := range graphs {
		for _, text := range []string{cmp.Or(g.ID(), fmt.Sprint(first+i+1)), g.Target()} {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return b
}
