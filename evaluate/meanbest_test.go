package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// TestBestFew: the mean of best predicts a fold like the mean of those ten kernels that have the smallest product of
// errors on its training part (the test of this name in package choose has these by their definition).
func TestBestFew(t *testing.T) {
	graphtest.Slow(t)
	const few = 10
	ds := dataset.Scales(60, 5)
	values := retarget(ds, func(i int) string { return []string{"0.5", "1.25", "2.5", "7.75"}[ds.Graphs[i].N()%4] })
	for _, test := range []struct {
		name      string
		d         *dataset.Dataset
		learner   learn.Kind
		inductive bool
		examples  int
	}{
		{"svm", ds, learn.SVM, false, 99}, {"ridge", ds, learn.KernelRidge, true, 99}, {"values", values, learn.KernelRidge, false, 99},
		{"sample", ds, learn.SVM, false, 25}, {"inductive sample", ds, learn.SVM, true, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := quick(4, 1)
			o.LeaveOneOut, o.Learner, o.Inductive, o.Examples, o.Folder = true, test.learner, test.inductive, test.examples, t.TempDir()
			o.Combinations = []choose.Combination{choose.MeanBest}
			if o.Task = choose.Classification; test.d == values {
				o.Task = choose.Regression
			}
			var kernels []kernel.Kernel
			for i := range few + 3 {
				kernels = append(kernels, &kerneltest.Spy{Scale: 0.3 * float64(1+i*i)})
			}
			candidates := []choose.Candidate{settings("spy", kernels...)}
			e, err := newEvaluation(test.d, candidates, &o)
			if err != nil {
				t.Fatal(err)
			}
			progress := map[string]work.Progress{}
			if err := e.run(work.With(t.Context(), work.Options{Progress: func(p work.Progress) { progress[p.Stage] = p }})); err != nil {
				t.Fatal(err)
			}
			for stage, p := range progress {
				if p.Done != p.Total {
					t.Errorf("%s: %d of %d in the end", stage, p.Done, p.Total)
				}
			}
			var names []string
			report := e.report()
			for _, r := range report.Results[1:] {
				names = append(names, r.Name)
			}
			if want := []string{"labels", "spy", "mean of best"}; !slices.Equal(names, want) {
				t.Fatalf("rows %q, want %q", names, want)
			}
			got := report.Results[3]
			sets := map[string]bool{}
			for f := range 4 {
				products := make([]float64, len(kernels))
				for k, m := range e.settings[1 : 1+len(kernels)] {
					least := slices.MinFunc(m.results[f].Errors, func(a, b choose.Errors) int { return cmp.Compare(a.Squared, b.Squared) })
					products[k] = least.Squared * least.Wrong
				}
				order := make([]int, len(products))
				for k := range order {
					order[k] = k
				}
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(products[a], products[b]) })
				best := order[:few]
				slices.Sort(best)
				sets[fmt.Sprint(best)] = true
				var taken []kernel.Kernel
				for _, k := range best {
					taken = append(taken, kernels[k])
				}
				value := e.sums[0].results[f].Best
				alone := o
				alone.C, alone.Ridge = o.Grid()[value:value+1], o.Grid()[value:value+1]
				alone.Combinations, alone.Folder = nil, ""
				x := runOn(t, test.d, []choose.Candidate{single("mean", kernel.Mean(taken...))}, alone, e.Splits).Results[2]
				for _, i := range e.Splits.Test(0, f) {
					if o.Task == choose.Regression {
						near(t, fmt.Sprintf("graph %d", i), got.Values[0][i], x.Values[0][i], 1e-9)
					} else if got.Predicted[0][i] != x.Predicted[0][i] {
						t.Errorf("graph %d is of class %d, want %d", i, got.Predicted[0][i], x.Predicted[0][i])
					}
				}
			}
			if len(sets) < 2 {
				t.Error("all folds take the same kernels: what one fold takes is not tested")
			}
			again, err := newEvaluation(test.d, candidates, &o)
			if err != nil {
				t.Fatal(err)
			}
			resumes(t, e, again)
		})
	}
}
