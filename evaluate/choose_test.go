package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/splits"
)

// pairwise returns candidates whose kernel values do not depend on the other graphs that a
// kernel is fitted to, so that matrices of fewer graphs are parts of those of all.
func pairwise() []choose.Candidate {
	return []choose.Candidate{settings("wl", wl(0), wl(2), wl(4)), settings("sp", classic.DefaultShortestPath())}
}

// TestChooseIsWhatRunEvaluates: on the training part of an outer fold choose.Choose takes the
// combination, setting and parameter that Run takes for that fold, and mixes kernels with
// the same weights.
func TestChooseIsWhatRunEvaluates(t *testing.T) {
	graphtest.Long(t)
	all, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	all.Graphs = all.Graphs[:130] // seven classes and a bit
	values := retarget(all, func(i int) string { return fmt.Sprint(float64(all.Graphs[i].M()) + 0.25) })
	for _, c := range []struct {
		name    string
		ds      *dataset.Dataset
		loo     bool
		learner learn.Kind
		score   choose.Score
	}{
		{"classes", all, false, learn.SVM, choose.Accuracy}, {"loo", all, true, learn.SVM, choose.Accuracy}, {"ridge", all, false, learn.KernelRidge, choose.Accuracy},
		{"default", all, true, learn.KernelRidge, choose.Squared}, {"values", values, false, learn.SVM, choose.Accuracy}, {"values ridge", values, true, learn.KernelRidge, choose.Accuracy},
	} {
		for _, combinations := range [][]choose.Combination{everyCombination(), {choose.BestSingle, choose.MeanBest}, nil} {
			t.Run(fmt.Sprint(c.name, " ", combinations), func(t *testing.T) {
				o := quick(5, 1)
				o.LeaveOneOut, o.Learner, o.Score, o.Combinations, o.Examples = c.loo, c.learner, c.score, combinations, 70
				if c.ds == values {
					o.Task = choose.Regression
				}
				sameChoice(t, c.ds, o)
			})
		}
	}
}

// sameChoice compares Choose on most graphs of a dataset with Run on all of them, where these are the
// training part of the last fold.
func sameChoice(t *testing.T, ds *dataset.Dataset, o Options) {
	const graphs, last = 100, 4
	part := &dataset.Dataset{Name: ds.Name}
	var at []int
	for k := range graphs {
		at = append(at, k*len(ds.Graphs)/graphs)
		part.Graphs = append(part.Graphs, ds.Graphs[at[k]])
	}
	p, err := choose.Choose(t.Context(), part, pairwise(), o.Options)
	if err != nil {
		t.Fatal(err)
	}
	// Choose deals the training part as it likes; Run is given the same folds.
	inner, err := p.Targets.Deal(last, 1, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	fold := slices.Repeat([]int{last}, len(ds.Graphs))
	for k, i := range at {
		fold[i] = inner.Fold[0][k]
	}
	o.Splits = &splits.Splits{Folds: last + 1, Fold: [][]int{fold}, Seed: o.Seed}
	e, err := newEvaluation(ds, pairwise(), &o)
	if err != nil {
		t.Fatal(err)
	}
	e.Keep = true
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// What Run chooses for the last fold.
	outer := e.parts[last]
	scores := func(methods []*method) (out []*choose.Scores) {
		for _, m := range methods {
			out = append(out, &m.results[last].Scores)
		}
		return out
	}
	kernels := e.settings[1:] // without the label histogram
	procedures, combinations := [][]*method{}, []choose.Combination{}
	for _, m := range slices.Backward(e.sums) {
		procedures, combinations = append(procedures, []*method{m}), append(combinations, m.combination)
	}
	procedures, combinations = append(procedures, kernels), append(combinations, choose.BestSingle)
	for i, methods := range procedures {
		want := e.Estimate(outer, scores(methods)).Value
		if got := p.Procedures[i]; got.Combination != combinations[i] || math.Abs(got.Value-want) > 1e-12 {
			t.Errorf("%s has the score %v, want %v", got.Combination, got.Value, want)
		}
	}
	if p.Combination != combinations[0] {
		t.Errorf("%s, want %s", p.Combination, combinations[0])
	}
	k := e.Choose(outer, scores(procedures[0]))
	if want := o.Grid()[procedures[0][k].results[last].Best]; p.Parameter != want {
		t.Errorf("parameter %v, want %v", p.Parameter, want)
	}
	want := make([]float64, len(kernels))
	want[k] = 1
	if p.Combination != choose.BestSingle {
		var ingredients []choose.Ingredient
		for _, m := range kernels {
			ingredients = append(ingredients, choose.Ingredient{Kernel: m.kernel})
		}
		mixer := e.Mixer(ingredients, choose.Graphs{In: kernel.NewCollection(e.graphs)}, func(k, _, _ int) *choose.Scores { return &kernels[k].results[last].Scores })
		if want, err = (choose.Mixture{Mixer: mixer, How: p.Combination}).Weights(t.Context(), outer); err != nil {
			t.Fatal(err)
		}
	}
	sum := 0.0
	for i, m := range kernels {
		at := slices.IndexFunc(p.Settings, func(x choose.WeightedSetting) bool { return x.Parameters == m.parameters })
		got := 0.0
		if at >= 0 {
			got = p.Settings[at].Weight
		}
		if math.Abs(got-want[i]) > 1e-9 {
			t.Errorf("%s has weight %v, want %v", m.parameters, got, want[i])
		}
		sum += got
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("weights sum to %v", sum)
	}
	method := "not fully nested"
	if o.LeaveOneOut { // what was chosen on a sample is estimated on all graphs
		method = "of all graphs; 70 of them took part"
	}
	if e := p.Estimate; !(e.Value > 0) || !(e.Deviation >= 0) || !strings.Contains(e.Method, method) {
		t.Errorf("estimate %+v", e)
	}
}
