package choose

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// Gram gives the kernel matrices of training sets. It may have learned weights of kernels from each.
type Gram interface {
	// From returns the matrix for a training set.
	From(ctx context.Context, t trainingSet) (*Matrix, error)
}

// trainingSet is the graphs to learn from: those outside one or two folds of a repeat, or a sample
// of them.
type trainingSet struct {
	repeat, first, last int // the folds, first ≤ last, equal if it is one
	graphs              []int
}

// Graphs are the graphs that matrices are about.
type Graphs struct {
	In *kernel.Collection
	// At has the graphs of the collection by their positions among all graphs, ascending; nil if it has all.
	At []int
}

// at returns the places of graphs in the collection.
func (g Graphs) at(graphs []int) []int {
	if g.At == nil {
		return graphs
	}
	out := make([]int, len(graphs))
	for k, i := range graphs {
		out[k], _ = slices.BinarySearch(g.At, i)
	}
	return out
}

// Matrix is a kernel between graphs. It computes the blocks that are asked for.
type Matrix struct {
	Graphs
	sum        *kernel.FittedSum
	indefinite bool // negative eigenvalues are set to 0 on every training set
}

// Of returns the matrix of a kernel.
func (g Graphs) Of(k kernel.Kernel) (*Matrix, error) {
	sum, err := g.In.Sum(k)
	return &Matrix{g, sum, !kernel.Semidefinite(k)}, err
}

// features returns those of graphs.
func (m *Matrix) features(ctx context.Context, graphs []int) (kernel.Features, error) {
	all, err := m.sum.Train(ctx)
	if err != nil {
		return nil, err
	}
	return all.Select(m.at(graphs)), nil
}

// From implements Gram: it is the same for all training sets.
func (m *Matrix) From(context.Context, trainingSet) (*Matrix, error) { return m, nil }

// On returns the kernel matrix of a training set, and a function that returns the matrix between other
// graphs (rows) and it.
func (m *Matrix) On(ctx context.Context, t trainingSet) (learn.View, func([]int) (learn.View, error), error) {
	train, err := m.features(ctx, t.graphs)
	if err != nil {
		return learn.View{}, nil, err
	}
	between := func(a kernel.Features) (learn.View, error) {
		values, err := kernel.Between(ctx, m.sum, a, train)
		if err != nil {
			return learn.View{}, err
		}
		return learn.Full(values), nil
	}
	cross := func(rows []int) (learn.View, error) {
		a, err := m.features(ctx, rows)
		if err != nil {
			return learn.View{}, err
		}
		return between(a)
	}
	gram, err := between(train)
	if err != nil || !m.indefinite {
		return gram, cross, err
	}
	c, err := learn.Clip(ctx, gram)
	if err != nil {
		return learn.View{}, nil, err
	}
	return learn.Full(c.Gram), func(rows []int) (learn.View, error) {
		values, err := cross(rows)
		if err != nil {
			return learn.View{}, err
		}
		return learn.Full(c.Map(values)), nil
	}, nil
}

// leaveOneOut predicts every graph of a training set from the others, with each of some ridges.
func (m *Matrix) leaveOneOut(ctx context.Context, t trainingSet, of *Targets, ridges []float64) ([]HeldPredictions, error) {
	gram, _, err := m.On(ctx, t)
	if err != nil {
		return nil, err
	}
	return of.leaveOneOut(ctx, gram, t.graphs, ridges)
}

// Self returns the kernel of graphs with themselves.
func (m *Matrix) Self(ctx context.Context, graphs []int) ([]float64, error) {
	a, err := m.features(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return kernel.Self(ctx, m.sum, a)
}
