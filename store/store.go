package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mlgkernel/mlg/internal/mapped"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/spd"
)

// Store is a file of transformed graphs, mapped into memory. It is a Source. Its methods may
// be called concurrently.
type Store struct {
	path   string
	file   *mapped.File
	model  *model.Model
	space  *Space
	head   *head
	chunks []*opened
	n      int
}

// opened is a chunk that is checked when it is first used.
type opened struct {
	chunk
	once   sync.Once
	err    error
	floats []float64 // the matrices
	block  *Block
}

// Is tells whether the file at a path is a store.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [len(magic)]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && IsStore(b[:])
}

// Open opens a store. The heads of all its parts are checked now, the rest of a chunk when it
// is first used. Its model computes with the given number of workers.
func Open(path string, workers int) (*Store, error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, file: f}
	if err := s.open(f.Bytes(), workers); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open(data []byte, workers int) error {
	var err error
	if s.head, err = decodeHead(data); err != nil {
		return err
	}
	if s.model, err = model.Decode(s.head.model, workers); err != nil {
		return err
	}
	if s.space, err = NewSpace(s.model); err != nil {
		return err
	}
	if s.space.fingerprint != s.head.fingerprint || s.space.size != s.head.size {
		return errors.New("the head of the store is not that of its model")
	}
	chunks, rest, err := walk(data[s.head.length:], s.head)
	if err != nil {
		return err
	}
	for i := range chunks {
		s.chunks = append(s.chunks, &opened{chunk: chunks[i]})
		s.n += chunks[i].n
		if i < len(chunks)-1 && chunks[i].n != s.head.capacity {
			return fmt.Errorf("%d graphs in a chunk that is not the last, want %d", chunks[i].n, s.head.capacity)
		}
	}
	if want := encodeEnd(len(data), s.n, len(chunks)); string(rest) != string(want) {
		return errors.New("the store is damaged: it breaks off, or its end does not match what is before it")
	}
	return nil
}

// walk returns the chunks that follow each other and what is behind the last one.
func walk(data []byte, h *head) (chunks []chunk, rest []byte, err error) {
	for first := 0; bytes.HasPrefix(data, []byte(chunkMagic)); {
		c, err := decodeChunk(data, h, first)
		if err != nil {
			return chunks, data, err
		}
		chunks = append(chunks, *c)
		first += c.n
		data = data[len(c.data):]
	}
	return chunks, data, nil
}

// Close ends the mapping: nothing of the store may be used after it.
func (s *Store) Close() error { return s.file.Close() }

// Model returns the model that made the store.
func (s *Store) Model() *model.Model { return s.model }

// Space returns the space of the model.
func (s *Store) Space() *Space { return s.space }

// Len returns the number of graphs.
func (s *Store) Len() int { return s.n }

// check checks a chunk, once.
func (s *Store) check(c *opened) error {
	c.once.Do(func() {
		if c.err = c.chunk.check(); c.err == nil {
			c.floats = mapped.Floats(c.data[partSize:][:8*c.matrices])
			c.block, c.err = s.space.interleaved(c.floats, c.n)
		}
		if c.err != nil {
			c.err = fmt.Errorf("%s: %w", s.path, c.err)
		}
	})
	return c.err
}

// interleaved returns the block of n records that are laid out as in a chunk.
func (s *Space) interleaved(matrices []float64, n int) (*Block, error) {
	b := &Block{n: n}
	for k, f := range s.factors {
		var levels []*spd.Batch
		for _, p := range s.orders[k] {
			size := (n + lanes - 1) / lanes * lanes * spd.Size(p)
			batch, err := spd.Interleaved(matrices[:size], n, p)
			if err != nil {
				return nil, err
			}
			levels = append(levels, batch)
			matrices = matrices[size:]
		}
		c, err := f.fitted.CovariancesOf(levels)
		if err != nil {
			return nil, err
		}
		b.factors = append(b.factors, c)
	}
	return b, nil
}

// Records implements Source. They are a copy.
func (s *Store) Records(lo, hi int) ([]float64, error) {
	if lo < 0 || lo > hi || hi > s.n {
		panic(fmt.Sprintf("store: records %d to %d of %d", lo, hi, s.n))
	}
	out := make([]float64, (hi-lo)*s.space.size)
	for at := lo; at < hi; {
		c := s.chunks[at/s.head.capacity]
		if err := s.check(c); err != nil {
			return nil, err
		}
		to := min(hi, c.first+c.n)
		s.space.separate(out[(at-lo)*s.space.size:], c.floats, c.n, at-c.first, to-c.first)
		at = to
	}
	return out, nil
}

// Text returns identifier and target of graph i. A graph that had no target has an empty one.
func (s *Store) Text(i int) (id, target string, err error) {
	ids, targets, err := s.TextsOf(i, i+1)
	if err != nil {
		return "", "", err
	}
	return ids[0], targets[0], nil
}

// Texts returns the identifiers and targets of all graphs.
func (s *Store) Texts() (ids, targets []string, err error) { return s.TextsOf(0, s.n) }

// TextsOf returns the identifiers and targets of the graphs lo … hi-1.
func (s *Store) TextsOf(lo, hi int) (ids, targets []string, err error) {
	if lo < 0 || lo > hi || hi > s.n {
		panic(fmt.Sprintf("store: graphs %d to %d of %d", lo, hi, s.n))
	}
	for at := lo; at < hi; {
		c := s.chunks[at/s.head.capacity]
		if err := s.check(c); err != nil {
			return nil, nil, err
		}
		if err := c.chunk.texts(func(i int, id, target string) bool {
			if c.first+i >= lo {
				ids, targets = append(ids, id), append(targets, target)
			}
			return c.first+i+1 < hi
		}); err != nil {
			return nil, nil, err
		}
		at = c.first + c.n
	}
	return ids, targets, nil
}

// Verify checks every byte.
func (s *Store) Verify() error {
	_, _, err := s.Texts()
	return err
}
