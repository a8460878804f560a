package choose

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// Gram gives the kernel matrices of training sets.
type Gram interface {
	// On returns the kernel matrix of a training set, and a function that returns the matrix
	// between other graphs (rows) and it.
	On(ctx context.Context, t TrainingSet) (gram svm.View, cross func(rows []int) svm.View, err error)
	// Self returns the kernel of graphs with themselves.
	Self(graphs []int) []float64
}

// TrainingSet is the graphs to learn from: those outside one or two folds of a repeat, or a sample
// of them.
type TrainingSet struct {
	repeat, first, last int // the folds, first ≤ last, equal if it is one
	graphs              []int
}

// Matrix is a kernel matrix between graphs. Columns of graphs that the kernel was not fitted to are
// NaN. So nothing can be learned from them.
type Matrix struct {
	values     *kernel.Matrix
	graphs     []int     // ascending, whose rows and columns values has; nil for all
	self       []float64 // kernel of every graph with itself
	indefinite bool      // negative eigenvalues are set to 0 on every training set
}

// at returns the rows of graphs.
func (m *Matrix) at(graphs []int) []int {
	if m.graphs == nil {
		return graphs
	}
	out := make([]int, len(graphs))
	for k, i := range graphs {
		out[k], _ = slices.BinarySearch(m.graphs, i)
	}
	return out
}

// Fit returns the matrix of a kernel that is fitted to all graphs of a collection.
func Fit(ctx context.Context, k kernel.Kernel, all *kernel.Grams) (*Matrix, error) {
	gram, err := all.Gram(ctx, k)
	if err != nil {
		return nil, err
	}
	self := make([]float64, gram.Rows)
	for i := range self {
		self[i] = gram.At(i, i)
	}
	return &Matrix{gram, all.Of, self, !kernel.Semidefinite(k)}, nil
}

// FitTo returns the matrix of a kernel that is fitted to training graphs and compares the graphs
// test with them. The training graphs are those at the positions train of all.
func FitTo(ctx context.Context, k kernel.Kernel, training *kernel.Grams, all []*graph.Graph, train, test []int) (*Matrix, error) {
	gram, err := training.Gram(ctx, k)
	if err != nil {
		return nil, err
	}
	f, err := training.In.Fit(ctx, k)
	if err != nil {
		return nil, err
	}
	cross, err := f.Cross(ctx, Pick(all, test))
	if err != nil {
		return nil, err
	}
	m := &Matrix{values: kernel.NewMatrix(len(all), len(all)), indefinite: !kernel.Semidefinite(k)}
	if m.self, err = f.Diagonal(ctx, all); err != nil {
		return nil, err
	}
	for i := range m.values.Data {
		m.values.Data[i] = math.NaN()
	}
	scatter := func(rows []int, from *kernel.Matrix) {
		for a, i := range rows {
			to := m.values.Row(i)
			for b, j := range train {
				to[j] = from.At(a, b)
			}
		}
	}
	scatter(train, gram)
	scatter(test, cross)
	return m, nil
}

// On takes rows and columns out of the matrix.
func (m *Matrix) On(ctx context.Context, t TrainingSet) (svm.View, func([]int) svm.View, error) {
	all := svm.Full(m.values)
	cols := m.at(t.graphs)
	gram := all.Select(cols, cols)
	cross := func(rows []int) svm.View { return all.Select(m.at(rows), cols) }
	if m.indefinite {
		return clip(ctx, gram, cross)
	}
	return gram, cross, nil
}

// Self implements Gram.
func (m *Matrix) Self(graphs []int) []float64 { return Pick(m.self, m.at(graphs)) }

// clip makes the matrices of a training set positive semi-definite.
func clip(ctx context.Context, gram svm.View, cross func([]int) svm.View) (svm.View, func([]int) svm.View, error) {
	c, err := svm.Clip(ctx, gram)
	if err != nil {
		return svm.View{}, nil, err
	}
	return svm.Full(c.Gram), func(rows []int) svm.View { return svm.Full(c.Map(cross(rows))) }, nil
}
