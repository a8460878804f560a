package choose

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
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

// mixerOf returns a mixer of matrices.
func mixerOf(c *Chooser, scores []*Scores, matrices ...*kernel.Matrix) *Mixer {
	return c.Mixer(slices.Repeat([]Ingredient{{Kernel: baseline.DefaultWL()}}, len(matrices)), func(_ context.Context, k int) (*Matrix, error) { return &Matrix{values: matrices[k]}, nil },
		func(k, _, _ int) *Scores { return scores[k] })
}
