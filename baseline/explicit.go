package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// explicit is a fitted kernel with explicit features.
type explicit struct {
	name      string // for errors
	idx       *index
	normalize bool
	workers   int
	// mapper checks new graphs and returns a function that each worker calls for its mapping.
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
	newMapping, err := f.mapper(graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	maps := make([]mapping, f.workers)
	m, err := f.idx.cross(ctx, f.workers, len(graphs), f.normalize, func(w, i int) ([]entry, error) {
		if maps[w] == nil {
			maps[w] = newMapping()
		}
		return maps[w](ctx, graphs[i])
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return m, nil
}

func validateWorkers(kernel string, workers int) error {
	if workers < 1 {
		return fmt.Errorf("%s: Workers is %d, want at least 1", kernel, workers)
	}
	return nil
}
