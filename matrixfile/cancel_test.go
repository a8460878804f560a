package matrixfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// zeros is the map of a kernel whose values are 0. done is called when they are computed.
type zeros struct {
	kernel.Map
	done func()
}

func (m zeros) Fill(_ context.Context, dst []float64, _ int, _ kernel.Block) error {
	clear(dst)
	m.done()
	return nil
}

// endsSoon is a context that ends after it was asked some times.
type endsSoon struct {
	context.Context
	left atomic.Int64
}

func (c *endsSoon) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Work ends between two rows of a block: a disk may be slow.
func TestBlocksEnd(t *testing.T) {
	const n = 500
	dir := t.TempDir()
	ctx := &endsSoon{Context: context.Background()}
	ctx.left.Store(1 << 40)
	path := filepath.Join(dir, "x.npy")
	computed := zeros{done: func() { ctx.left.Store(100) }}
	axis := Axis{IDs: make([]string, n), Targets: make([]string, n)}
	err := WriteBlocks(ctx, path, axis, computed, &kernel.Graphs{List: make([]*graph.Graph, n)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
