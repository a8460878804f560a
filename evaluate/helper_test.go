package evaluate

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/splits"
)

// real reads a benchmark dataset.
func real(t testing.TB, name string) *dataset.Dataset {
	t.Helper()
	ds, err := dataset.Read(t.Context(), graphtest.Dataset(t, name), dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// retarget returns the dataset with other targets.
func retarget(ds *dataset.Dataset, target func(i int) string) *dataset.Dataset {
	out := &dataset.Dataset{Name: ds.Name}
	for i, g := range ds.Graphs {
		out.Graphs = append(out.Graphs, g.With(g.ID(), target(i)))
	}
	return out
}

// numbered gives every graph its position as identifier.
func numbered(ds *dataset.Dataset) *dataset.Dataset {
	out := &dataset.Dataset{Name: ds.Name}
	for i, g := range ds.Graphs {
		out.Graphs = append(out.Graphs, g.With(strconv.Itoa(i), g.Target()))
	}
	return out
}

// quick returns options for a small run.
func quick(folds, repeats int) Options {
	o := DefaultOptions()
	o.ForSVM()
	o.Folds, o.Repeats = folds, repeats
	o.C = []float64{0.1, 1, 10, 100}
	return o
}

// ids returns the identifiers of graphs as numbers.
func ids(t *testing.T, graphs []*graph.Graph) []int {
	t.Helper()
	out := make([]int, len(graphs))
	for i, g := range graphs {
		n, err := strconv.Atoi(g.ID())
		if err != nil {
			t.Fatal(err)
		}
		out[i] = n
	}
	return out
}

// row returns the row of a report with a name.
func row(t testing.TB, r *Report, name string) Result {
	t.Helper()
	for _, x := range r.Results {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("the report has no row %q", name)
	return Result{}
}

// everyCombination returns every way to combine.
func everyCombination() []choose.Combination {
	return []choose.Combination{choose.BestSingle, choose.MeanAll, choose.MeanBest, choose.Weighted}
}

// single returns a candidate with one setting.
func single(name string, k kernel.Kernel) choose.Candidate {
	return choose.Candidate{Name: name, Settings: []choose.Setting{{Parameters: name, Kernel: k}}}
}

// settings returns a candidate whose settings have the names of kernels.
func settings(name string, kernels ...kernel.Kernel) choose.Candidate {
	c := choose.Candidate{Name: name}
	for _, k := range kernels {
		c.Settings = append(c.Settings, choose.Setting{Parameters: k.String(), Kernel: k})
	}
	return c
}

// wl returns a Weisfeiler-Lehman kernel.
func wl(h int) kernel.Kernel {
	k := classic.DefaultWL()
	k.H = h
	return k
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// runOn is Run for given folds.
func runOn(t *testing.T, ds *dataset.Dataset, candidates []choose.Candidate, o Options, folds *splits.Splits) *Report {
	t.Helper()
	o.Splits = folds
	e, err := newEvaluation(ds, candidates, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e.report()
}

// resumes tests that an evaluation takes all results of one that has run from their folder.
func resumes(t *testing.T, done, again *evaluation) {
	t.Helper()
	again.o.Clock = func() time.Duration { t.Error("something is computed again"); return 0 }
	if err := again.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, m := range slices.Concat(again.settings, again.sums) {
		if !reflect.DeepEqual(m.results, slices.Concat(done.settings, done.sums)[i].results) {
			t.Errorf("a second run with the folder has other results of %s %s", m.name, m.parameters)
		}
	}
}
