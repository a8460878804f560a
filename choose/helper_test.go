package choose

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/splits"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// retarget returns the dataset with other targets.
func retarget(ds *dataset.Dataset, target func(i int) string) *dataset.Dataset {
	out := &dataset.Dataset{Name: ds.Name}
	for i, g := range ds.Graphs {
		out.Graphs = append(out.Graphs, g.With(g.ID(), target(i)))
	}
	return out
}

// quick returns options for few folds.
func quick(folds int) Options {
	o := DefaultOptions()
	o.ForSVM()
	o.Folds, o.C = folds, []float64{0.1, 1, 10, 100}
	return o
}

// everyCombination returns every way to combine.
func everyCombination() []Combination {
	return []Combination{BestSingle, MeanAll, MeanBest, Weighted}
}

// chooserOf returns a chooser on one repeat of folds.
func chooserOf(t *testing.T, d *dataset.Dataset, o *Options) *Chooser {
	t.Helper()
	targets, err := ReadTargets(d, o.Task)
	if err != nil {
		t.Fatal(err)
	}
	s, err := targets.Deal(o.Folds, 1, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return &Chooser{Options: o, Targets: targets, Splits: s}
}

// fixedFolds returns splits of n graphs to k folds in turn.
func fixedFolds(n, k int) *splits.Splits {
	s := &splits.Splits{Folds: k, Fold: [][]int{make([]int, n)}}
	for i := range n {
		s.Fold[0][i] = i % k
	}
	return s
}

// known returns graphs between which the values of some kernels are known, and these kernels.
func known(matrices ...*kernel.Matrix) (Graphs, []kernel.Kernel) {
	var kernels []kernel.Kernel
	for i, m := range matrices {
		kernels = append(kernels, kernel.Precomputed{Kernel: &kerneltest.Spy{Scale: float64(1 + i)}, Matrix: m})
	}
	return Graphs{In: kernel.NewCollection(slices.Repeat([]*graph.Graph{graphtest.Path(1)}, matrices[0].Rows))}, kernels
}

// matrixOf returns the matrix of a kernel on graphs.
func matrixOf(t *testing.T, k kernel.Kernel, graphs []*graph.Graph) *Matrix {
	t.Helper()
	m, err := (Graphs{In: kernel.NewCollection(graphs)}).Of(k)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// valuesOf returns the values of a matrix between all graphs.
func valuesOf(t *testing.T, m *Matrix) *kernel.Matrix {
	t.Helper()
	values, err := m.sum.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// mixerOf returns a mixer of matrices.
func mixerOf(c *Chooser, scores []*Scores, matrices ...*kernel.Matrix) *Mixer {
	graphs, kernels := known(matrices...)
	var parts []Ingredient
	for _, k := range kernels {
		parts = append(parts, Ingredient{Kernel: k})
	}
	return c.Mixer(parts, graphs, func(k, _, _ int) *Scores { return scores[k] })
}
