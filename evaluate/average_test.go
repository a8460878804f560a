package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
)

// TestAverages: the average of a candidate predicts a fold like the mean of those ten kernels that have the smallest
// product of errors on its training part, which predictions that leave one out give, as does the value of the grid.
func TestAverages(t *testing.T) {
	ds := dataset.Scales(60, 5)
	values := retarget(ds, func(i int) string { return []string{"0.5", "1.25", "2.5", "7.75"}[ds.Graphs[i].N()%4] })
	for _, test := range []struct {
		name     string
		d        *dataset.Dataset
		learner  Learner
		fitting  Fitting
		examples int
	}{
		{"svm", ds, SVM, Transductive, 99}, {"ridge", ds, Ridge, Inductive, 99}, {"values", values, Ridge, Transductive, 99},
		{"finalists", ds, SVM, Transductive, 25}, {"inductive finalists", ds, SVM, Inductive, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := quick(4, 1)
			o.Inner, o.Learner, o.Fitting, o.Examples, o.Averages, o.Folder = LeaveOneOut, test.learner, test.fitting, test.examples, true, t.TempDir()
			if o.Task = Classification; test.d == values {
				o.Task = Regression
			}
			family := Candidate{Name: "spy"}
			for i := range bestFew + 3 {
				k := &spy{scale: 0.3 * float64(1+i*i)}
				family.Settings = append(family.Settings, Setting{k.String(), k})
			}
			few := Candidate{Name: "few", Settings: family.Settings[:bestFew]}
			e, err := newEngine(test.d, []Candidate{family, few}, &o)
			if err != nil {
				t.Fatal(err)
			}
			progress := [2]int{}
			o.Progress = func(done, total int) { progress = [2]int{done, total} }
			if err := e.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if progress[0] != progress[1] {
				t.Errorf("%d of %d results in the end", progress[0], progress[1])
			}
			var names []string
			report := e.report()
			for _, r := range report.Results[1:] {
				names = append(names, r.Name)
			}
			if want := []string{"labels", "spy", "spy, ten best", "few"}; !slices.Equal(names, want) {
				t.Fatalf("rows %q, want %q", names, want)
			}
			got := report.Results[3]
			sets := map[string]bool{}
			for f := range 4 {
				train := e.splits.Without(0, f)
				sample := e.sample(0, []int{f}, train)
				// product returns that of the errors of a kernel with one of some ridges.
				product := func(k mlg.Kernel, ridges []float64) float64 {
					m, err := e.gram(t.Context(), k)
					if err != nil {
						t.Fatal(err)
					}
					bare := &engine{o: &Options{Ridge: ridges}, targets: e.targets, splits: e.splits}
					squared, wrong := leftOut(t, bare, m, sample)
					return squared * wrong
				}
				products := make([]float64, len(family.Settings))
				for k, s := range family.Settings {
					products[k] = product(s.Kernel, e.ridges())
				}
				order := make([]int, len(products))
				for k := range order {
					order[k] = k
				}
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(products[a], products[b]) })
				best := order[:bestFew]
				slices.Sort(best)
				sets[fmt.Sprint(best)] = true
				var kernels []mlg.Kernel
				for _, k := range best {
					kernels = append(kernels, family.Settings[k].Kernel)
				}
				var scores []float64
				for _, r := range e.ridges() {
					scores = append(scores, -product(Mean(kernels...), []float64{r}))
				}
				c := o.best(scores)
				alone := o
				alone.C, alone.Ridge = o.grid()[c:c+1], o.grid()[c:c+1]
				alone.Averages, alone.Folder, alone.Splits = false, "", e.splits
				want, err := Run(t.Context(), test.d, []Candidate{single("mean", Mean(kernels...))}, alone)
				if err != nil {
					t.Fatal(err)
				}
				x := want.Results[2]
				for _, i := range e.splits.Test(0, f) {
					if o.Task == Regression {
						near(t, fmt.Sprintf("graph %d", i), got.Values[0][i], x.Values[0][i], 1e-9)
					} else if got.Predicted[0][i] != x.Predicted[0][i] {
						t.Errorf("graph %d is of class %d, want %d", i, got.Predicted[0][i], x.Predicted[0][i])
					}
				}
			}
			if len(sets) < 2 {
				t.Error("all folds take the same kernels: what one fold takes is not tested")
			}
			again, err := newEngine(test.d, []Candidate{family, few}, &o)
			if err != nil {
				t.Fatal(err)
			}
			resumes(t, e, again)
		})
	}
}

// TestAveragesRefused: where the choice does not give errors, and where names clash.
func TestAveragesRefused(t *testing.T) {
	ds := dataset.Scales(24, 1)
	o := quick(3, 1)
	o.Averages = true
	if _, err := Run(t.Context(), ds, nil, o); err == nil {
		t.Error("averages with k-fold cross-validation: no error")
	}
	o.Inner = LeaveOneOut
	family := Candidate{Name: "spy"}
	for i := range bestFew + 1 {
		k := &spy{scale: float64(1 + i)}
		family.Settings = append(family.Settings, Setting{k.String(), k})
	}
	if _, err := Run(t.Context(), ds, []Candidate{family, single("spy, ten best", &spy{scale: 1})}, o); err == nil {
		t.Error("a candidate with the name of an average: no error")
	}
}
