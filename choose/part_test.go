package choose

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/learn"
)

// PredictBest predicts a fold as a learner does that is trained by hand on the rest, whether the matrix is
// factorised or not, also where the rest has not all classes.
func TestPredictBest(t *testing.T) {
	defer func(n int) { mostFactorised = n }(mostFactorised)
	ds := dataset.Scales(90, 3)
	for name, d := range map[string]*dataset.Dataset{
		"classes":     ds,
		"a lost one":  retarget(ds, func(i int) string { return []string{"a", "b", "a", "b", "c", "c"}[i/30*2+i%2] }),
		"real values": retarget(ds, func(i int) string { return fmt.Sprint(float64(ds.Graphs[i].N()) + 0.5*math.Sin(float64(i))) }),
	} {
		o := DefaultOptions()
		o.Folds = 3
		o.ForCandidates()
		o.Examples = 30
		c := chooserOf(t, d, &o)
		c.Splits = fixedFolds(90, 3)
		if name == "a lost one" { // the last class is in one fold alone
			for i := range 90 {
				c.Splits.Fold[0][i] = i / 30
			}
		}
		m := matrixOf(t, &kerneltest.Spy{Scale: 8}, d.Graphs)
		gram := learn.Full(valuesOf(t, m))
		const best = 5
		for _, mostFactorised = range []int{4096, 40} {
			tolerance := 1e-9
			if mostFactorised < 60 {
				tolerance = 5e-3 // that of the solver, and single precision
			}
			p := c.TrainingPart(0, 2)
			got, at, _, err := c.PredictBest(t.Context(), m, p, best)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			opt := learn.DefaultOptions()
			opt.Kind = learn.KernelRidge
			path, err := c.Targets.Of(p.graphs).Train(t.Context(), gram.Select(p.graphs, p.graphs), []float64{o.Ridge[at]}, opt)
			if err != nil {
				t.Fatal(err)
			}
			test := c.Splits.Test(0, 2)
			values, err := path[0].Values(gram.Select(test, p.graphs))
			if err != nil {
				t.Fatal(err)
			}
			if name == "real values" {
				_, _, scale := learn.StandardScores(c.Targets.Values, nil)
				for k, v := range got.Values {
					near(t, name, v/scale, values.Data[k]/scale, tolerance)
					if !(got.Deviations[k] > 0) {
						t.Errorf("%s: deviation %v", name, got.Deviations[k])
					}
				}
				continue
			}
			for k, l := range got.Labels {
				row := values.Row(k)
				if top := slices.Sorted(slices.Values(row)); top[len(top)-1]-top[len(top)-2] < 0.05 {
					continue // probabilities may decide otherwise
				}
				if want := path[0].Classes[slices.Index(row, slices.Max(row))]; l != want {
					t.Errorf("%s: graph %d is of class %d, want %d", name, test[k], l, want)
				}
				if name == "a lost one" && got.Scores[k][2] != 0 {
					t.Errorf("%s: probability %v of a class that is not there", name, got.Scores[k][2])
				}
			}
		}
	}
}
