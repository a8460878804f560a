package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// chunkGraphs is the number of graphs in a chunk. Graphs of a chunk are transformed together
// and share the work on neighbourhoods that they have in common.
const chunkGraphs = 8192

// maxGraphs bounds the graphs of a chunk in a file, so that sums of lengths do not overflow.
const maxGraphs = 1 << 20

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
// interrupted in whatever way, the file stays; a second call with the same model and graphs
// goes on behind its last good chunk. That next gives the same graphs again is checked by their
// identifiers and targets only. A file that was left by another model is an error.
func Write(ctx context.Context, path string, m *model.Model, next func() (*graph.Graph, error)) (Written, error) {
	return write(ctx, path, m, next, chunkGraphs)
}

func write(ctx context.Context, path string, m *model.Model, next func() (*graph.Graph, error), size int) (w Written, err error) {
	var first bytes.Buffer
	if err := model.Encode(&first, m); err != nil {
		return w, err
	}
	log, kept, err := file.Resume(path, Kind, Version, file.Section{Name: "model", Data: first.Bytes()})
	if err != nil {
		return w, err
	}
	defer log.Close() // a second time where all went well
	meter := work.NewMeter(ctx, "transform", 0)
	ctx, cancel := context.WithCancel(work.Quiet(ctx)) // the stages of a chunk are not shown
	batches := make(chan batch)
	defer func() { // next is not called after Write has returned
		cancel()
		for range batches {
		}
	}()
	go read(ctx, next, size, batches)
	for b := range batches {
		if b.err != nil {
			return w, b.err
		}
		n := len(b.graphs)
		name, texts := chunkName(w.Graphs, n), encodeTexts(w.Graphs, b.graphs)
		if len(kept) > 0 {
			if old := kept[0]; old.Name != name || !hasTexts(old.Data, texts) {
				return w, fmt.Errorf("%s: its graphs %d … %d differ from those of the data; delete it to start again", path+file.Partial, w.Graphs, w.Graphs+n-1)
			}
			kept = kept[1:]
			w.Resumed += n
		} else {
			data, err := encode(ctx, m, b.graphs)
			if err != nil {
				return w, fmt.Errorf("graphs %d … %d: %w", w.Graphs, w.Graphs+n-1, err)
			}
			if err := log.Append(name, append(data, texts...)); err != nil {
				return w, err
			}
		}
		w.Graphs += n
		meter.Add(n)
	}
	if err := ctx.Err(); err != nil {
		return w, err
	}
	if len(kept) > 0 {
		return w, fmt.Errorf("%s has more than the %d graphs of the data; delete it to start again", path+file.Partial, w.Graphs)
	}
	return w, log.Commit()
}

// encode returns the features of graphs as a chunk has them.
func encode(ctx context.Context, m *model.Model, graphs []*graph.Graph) ([]byte, error) {
	a, err := m.Kernel.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	data, err := model.EncodeFeatures(a)
	return kernel.AppendSection(nil, data), err
}

// hasTexts reports whether a chunk has these texts behind its features.
func hasTexts(chunk, texts []byte) bool {
	_, have, err := kernel.Section(chunk)
	return err == nil && bytes.Equal(have, texts)
}

// batch is the graphs of a chunk, or an error.
type batch struct {
	graphs []*graph.Graph
	err    error
}

// read collects graphs to batches, ahead of those who use them.
func read(ctx context.Context, next func() (*graph.Graph, error), size int, out chan<- batch) {
	defer close(out)
	for last := false; !last; {
		var b batch
		for len(b.graphs) < size && ctx.Err() == nil {
			g, err := next()
			if errors.Is(err, io.EOF) {
				last = true
				break
			}
			if err != nil {
				b.err, last = err, true
				break
			}
			b.graphs = append(b.graphs, g)
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
