package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/mapped"
	"github.com/mlgkernel/mlg/model"
)

// Capacity is the number of graphs in a chunk. Graphs of a chunk are transformed together
// and share the work on neighbourhoods that they have in common.
const Capacity = 8192

// partial is what is added to the name of a store that is not complete.
const partial = ".part"

// WriteOptions say how a store is written.
type WriteOptions struct {
	// Capacity is the number of graphs in a chunk, a multiple of 8.
	Capacity int
	// Progress, when set, is called after every chunk with the number of graphs so far.
	Progress func(graphs int)
}

// Written says what Write did.
type Written struct {
	Graphs  int
	Resumed int // of them, those that an interrupted run had left
}

// Write transforms graphs and writes their store, in memory that depends on the largest
// chunk only. next returns one graph after the other and io.EOF after the last; a graph
// without identifier gets its 1-based number.
//
// The store is written to PATH.part and gets its name when it is complete. When Write is
// interrupted in whatever way, the file stays; a second call with the same model, options
// and graphs goes on behind its last good chunk. That next gives the same graphs again is
// checked by their identifiers and targets only. A file that was left by another model is an
// error.
func Write(ctx context.Context, path string, m *model.Model, next func() (*graph.Graph, error), o WriteOptions) (w Written, err error) {
	if o.Capacity < lanes || o.Capacity%lanes != 0 || o.Capacity > maxCapacity {
		return w, fmt.Errorf("chunks of %d graphs, want a multiple of %d, at most %d", o.Capacity, lanes, maxCapacity)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return w, fmt.Errorf("%s is there and not a regular file", path)
	}
	space, err := NewSpace(m)
	if err != nil {
		return w, err
	}
	var file bytes.Buffer
	if err := model.Encode(&file, m); err != nil {
		return w, err
	}
	f, old, size, err := begin(path+partial, encodeHead(file.Bytes(), space, o.Capacity))
	if err != nil {
		return w, err
	}
	defer f.Close() // a second time where all went well
	batches := make(chan batch)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // next is not called after Write has returned
		cancel()
		for range batches {
		}
	}()
	go read(ctx, next, o.Capacity, batches)
	chunks := 0
	for b := range batches {
		if b.err != nil {
			return w, b.err
		}
		if chunks < len(old) {
			if err := old[chunks].same(&b); err != nil {
				return w, fmt.Errorf("%s: %w; delete it to start anew", path+partial, err)
			}
			w.Resumed += old[chunks].n
		} else {
			records, err := space.Transform(ctx, b.graphs)
			if err != nil {
				return w, fmt.Errorf("graphs %d … %d: %w", w.Graphs, w.Graphs+len(b.graphs)-1, err)
			}
			data := encodeChunk(space, w.Graphs, records, b.ids, b.targets)
			if _, err := f.Write(data); err != nil {
				return w, err
			}
			size += len(data)
		}
		chunks++
		w.Graphs += len(b.graphs)
		if o.Progress != nil {
			o.Progress(w.Graphs)
		}
	}
	if err := ctx.Err(); err != nil {
		return w, err
	}
	if chunks < len(old) {
		return w, fmt.Errorf("%s has more than the %d graphs there are now; delete it to start anew", path+partial, w.Graphs)
	}
	if _, err := f.Write(encodeEnd(size+partSize, w.Graphs, chunks)); err != nil {
		return w, err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return w, err
	}
	if err := os.Rename(path+partial, path); err != nil {
		return w, err
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		d.Sync() // not every system can
		d.Close()
	}
	return w, nil
}

// begin opens a file to be written, with the head, and what an interrupted run has left of it.
func begin(path string, head []byte) (f *os.File, old []summary, size int, err error) {
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, nil, 0, err
	}
	if err = mapped.Lock(f); err == nil {
		old, size, err = leftover(path, head)
	}
	if err == nil {
		err = f.Truncate(int64(size))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil && size == 0 {
		size, err = f.Write(head)
	}
	if err != nil {
		f.Close()
		return nil, nil, 0, err
	}
	return f, old, size, nil
}

// batch is the graphs of a chunk, or an error.
type batch struct {
	graphs       []*graph.Graph
	ids, targets []string
	err          error
}

// read collects graphs to batches, ahead of those who use them.
func read(ctx context.Context, next func() (*graph.Graph, error), capacity int, out chan<- batch) {
	defer close(out)
	for n, last := 0, false; !last; {
		var b batch
		for len(b.graphs) < capacity && ctx.Err() == nil {
			g, err := next()
			if errors.Is(err, io.EOF) {
				last = true
				break
			}
			if err != nil {
				b.err, last = err, true
				break
			}
			n++
			id := g.ID()
			if id == "" {
				id = fmt.Sprint(n)
			}
			b.graphs = append(b.graphs, g)
			b.ids, b.targets = append(b.ids, id), append(b.targets, g.Target())
		}
		if len(b.graphs) == 0 && b.err == nil || ctx.Err() != nil {
			return
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return
		}
	}
}

// same returns an error unless the batch has the identifiers and targets of the chunk.
func (c *summary) same(b *batch) error {
	if sha256.Sum256(appendTexts(nil, b.ids, b.targets)) != c.texts {
		return fmt.Errorf("its graphs %d … %d are not those that there are now", c.first, c.first+c.n-1)
	}
	return nil
}

// summary is what a second run needs to know of a chunk.
type summary struct {
	first, n int
	texts    Digest // the hash of the texts
}

// leftover returns the full, good chunks of a file that an interrupted run has left, and the
// number of bytes up to the end of the last one. It is an error if the file does not begin
// with head.
func leftover(path string, head []byte) (chunks []summary, size int, err error) {
	f, err := mapped.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data := f.Bytes()
	if len(data) < len(head) && bytes.HasPrefix(head, data) {
		return nil, 0, nil // the run was killed before it had written its head
	}
	if !bytes.HasPrefix(data, head) {
		return nil, 0, fmt.Errorf("%s was left by another model, or with other chunks; delete it to start anew", path)
	}
	h, err := decodeHead(data)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	all, _, _ := walk(data[len(head):], h) // what is behind the last chunk is dropped
	size = len(head)
	for i := range all {
		c := &all[i]
		if c.n < h.capacity || c.check() != nil {
			break
		}
		chunks = append(chunks, summary{c.first, c.n, sha256.Sum256(c.textual())})
		size += len(c.data)
	}
	return chunks, size, nil
}
