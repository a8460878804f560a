package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// explicit is a fitted kernel with explicit features.
type explicit struct {
	idx       *index
	normalize bool
	workers   int
	// mapper checks new graphs and returns the function that gives their features; it is
	// called once per worker.
	mapper func(graphs []*graph.Graph) (func() mapping, error)
}

// mapping gives the features of a new graph. It is used by one goroutine.
type mapping func(ctx context.Context, g *graph.Graph) ([]entry, error)

// Gram returns the kernel matrix of the training graphs.
func (f *explicit) Gram(ctx context.Context) (*mlg.Matrix, error) {
	return f.idx.gram(ctx, f.workers, f.normalize)
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *explicit) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	make1, err := f.mapper(graphs)
	if err != nil {
		return nil, err
	}
	maps := make([]mapping, f.workers)
	return f.idx.cross(ctx, f.workers, len(graphs), f.normalize, func(w, i int) ([]entry, error) {
		if maps[w] == nil {
			maps[w] = make1()
		}
		return maps[w](ctx, graphs[i])
	})
}

func validateWorkers(kernel string, workers int) error {
	if workers < 1 {
		return fmt.Errorf("%s: Workers is %d, want at least 1", kernel, workers)
	}
	return nil
}
