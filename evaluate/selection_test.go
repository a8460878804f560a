package evaluate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/splits"
)

// TestInductiveNeverSeesTestGraphs: a kernel is fitted to the training part of every fold,
// and meets the test graphs only as rows of Cross.
func TestInductiveNeverSeesTestGraphs(t *testing.T) {
	ds := numbered(dataset.Scales(40, 1))
	k := &kerneltest.Spy{Scale: 3}
	o := quick(4, 2)
	o.Inductive = true
	o.Combinations = []choose.Combination{choose.MeanAll}
	r, err := Run(t.Context(), ds, []choose.Candidate{single("spy", k)}, o)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int, len(ds.Graphs))
	for i, g := range ds.Graphs {
		labels[i] = slices.Index(r.Classes, g.Target())
	}
	s, err := splits.Stratified(labels, 4, 2, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // training part → test part
	for rep := range 2 {
		for f := range 4 {
			want[fmt.Sprint(s.Without(rep, f))] = fmt.Sprint(s.Test(rep, f))
		}
	}
	if len(k.Fits) != len(want) {
		t.Errorf("fitted %d times, want once for each of %d folds", len(k.Fits), len(want))
	}
	for _, graphs := range k.Fits {
		if _, ok := want[fmt.Sprint(ids(t, graphs))]; !ok {
			t.Errorf("fitted to %v, which is no training part", ids(t, graphs))
		}
	}
	for _, c := range k.Cross {
		train, test := fmt.Sprint(ids(t, c[0])), fmt.Sprint(ids(t, c[1]))
		if want[train] != test {
			t.Errorf("fitted to %s, asked about %s, want %s", train, test, want[train])
		}
	}
}

// TestTargetsNeverReachKernels: in either way to fit.
func TestTargetsNeverReachKernels(t *testing.T) {
	for _, inductive := range []bool{false, true} {
		k := &kerneltest.Spy{Scale: 3}
		o := quick(3, 1)
		o.Inductive = inductive
		if _, err := Run(t.Context(), dataset.Scales(24, 1), []choose.Candidate{single("spy", k)}, o); err != nil {
			t.Fatal(err)
		}
		seen := slices.Concat(k.Fits...)
		for _, c := range k.Cross {
			seen = append(seen, c[1]...)
		}
		if len(seen) == 0 {
			t.Fatalf("inductive %v: the kernel saw no graph", inductive)
		}
		for _, g := range seen {
			if g.Target() != "" {
				t.Fatalf("inductive %v: a kernel got a graph with the target %q", inductive, g.Target())
			}
		}
	}
}

// TestNestedIgnoresTestLabels: other classes in a test fold leave the predictions for that
// TestSplits: by groups, by time and with a fixed part, other classes among the graphs that are tested, or that are tested
// later, leave the predictions for a fold as they are; graphs that are not tested have none.
func TestSplits(t *testing.T) {
	ds := dataset.Scales(72, 3)
	labels, groups, times, test := make([]int, 72), make([]int, 72), make([]float64, 72), make([]bool, 72)
	for i, g := range ds.Graphs {
		if g.Target() == "unlike" {
			labels[i] = 1
		}
		groups[i], times[i], test[i] = i%9, float64(i*i%72), i%3 == 0
	}
	grouped, err := splits.ByGroup("by group", groups, 4, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	forward, err := splits.ByTime(times, 3)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := splits.Fixed(test)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*splits.Splits{grouped, forward, fixed} {
		for _, learner := range []learn.Kind{learn.SVM, learn.KernelRidge} {
			o := quick(4, 1)
			o.Learner, o.LeaveOneOut, o.Combinations = learner, !s.Tuned(), []choose.Combination{choose.BestSingle, choose.MeanAll}
			f := s.Folds / 2
			flipped := retarget(ds, func(i int) string {
				if s.Trains(0, f, i) {
					return ds.Graphs[i].Target()
				}
				return []string{"unlike", "like"}[labels[i]]
			})
			a, b := runOn(t, ds, family(), o, s), runOn(t, flipped, family(), o, s)
			for k, x := range a.Results {
				for _, i := range s.Test(0, f) {
					if got := b.Results[k].Predicted[0][i]; got != x.Predicted[0][i] || got < 0 {
						t.Errorf("%s, %v, %s: class %d of graph %d, with other labels %d", s.Scheme, learner, x.Name, x.Predicted[0][i], i, got)
					}
				}
				for i, fold := range s.Fold[0] {
					if (x.Predicted[0][i] < 0) != (fold < 0) {
						t.Errorf("%s, %s: class %d of graph %d in fold %d", s.Scheme, x.Name, x.Predicted[0][i], i, fold)
					}
				}
			}
			if x := row(t, a, "mlg"); x.Accuracy < 0.8 {
				t.Errorf("%s, %v: accuracy %v", s.Scheme, learner, x.Accuracy)
			}
			if err := a.WriteJSON(io.Discard); err != nil {
				t.Errorf("%s: %v", s.Scheme, err)
			}
		}
		if s.Tuned() {
			continue
		}
		o := quick(4, 1)
		o.Splits = s
		_, err := Run(t.Context(), ds, family(), o)
		if err == nil || !strings.Contains(err.Error(), "leave fewer than two folds to choose parameters on") {
			t.Errorf("%s: %v", s.Scheme, err)
		}
	}
	o := quick(4, 1)
	o.Splits = fixed
	if _, err = Run(t.Context(), dataset.Scales(20, 3), family(), o); err == nil || err.Error() != "splits for 72 graphs, want 20 as in the data" {
		t.Errorf("%v", err)
	}
}

// fold as they are, for every row, and change those for others.
func TestNestedIgnoresTestLabels(t *testing.T) {
	graphtest.Slow(t)
	ds := dataset.Scales(60, 3)
	labels := make([]int, len(ds.Graphs))
	for i, g := range ds.Graphs {
		if g.Target() == "unlike" {
			labels[i] = 1
		}
	}
	dealt, err := splits.Stratified(labels, 5, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	const fold = 2
	flipped := retarget(ds, func(i int) string {
		if dealt.Fold[0][i] == fold {
			return []string{"unlike", "like"}[labels[i]]
		}
		return ds.Graphs[i].Target()
	})
	const kfold, holdout, loo = math.MaxInt, 1, 0
	for _, c := range []struct {
		inner     int // validators, or leave-one-out
		learner   learn.Kind
		inductive bool
		score     choose.Score
		examples  int
	}{
		{kfold, learn.SVM, false, choose.Accuracy, 99}, {holdout, learn.SVM, false, choose.Accuracy, 99}, {loo, learn.SVM, false, choose.Accuracy, 99},
		{loo, learn.KernelRidge, false, choose.Accuracy, 99}, {kfold, learn.KernelRidge, false, choose.Squared, 99}, {kfold, learn.SVM, true, choose.Accuracy, 99},
		{loo, learn.KernelRidge, false, choose.Squared, 30}, {loo, learn.KernelRidge, true, choose.Squared, 30},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			o := quick(5, 1)
			o.Score, o.Examples = c.score, c.examples
			o.Learner, o.Inductive = c.learner, c.inductive
			o.InnerFolds, o.LeaveOneOut = max(1, c.inner), c.inner == loo
			o.Combinations = everyCombination()
			a, b := runOn(t, ds, family(), o, dealt), runOn(t, flipped, family(), o, dealt)
			changed := false
			for k, x := range a.Results {
				y := b.Results[k]
				for i, f := range dealt.Fold[0] {
					same := x.Predicted[0][i] == y.Predicted[0][i]
					if f == fold && !same {
						t.Errorf("%s: the prediction for graph %d depends on the labels of its test fold", x.Name, i)
					}
					changed = changed || f != fold && !same
				}
			}
			if !changed {
				t.Error("labels of training graphs change no prediction: the test shows nothing")
			}
		})
	}
}

func TestReportedIsMarked(t *testing.T) {
	ds := dataset.Scales(40, 1)
	o := quick(4, 2)
	nested, err := Run(t.Context(), ds, family(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.OnReported = true
	r, err := Run(t.Context(), ds, family(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Protocol.Honest || !nested.Protocol.Honest {
		t.Error("honest is wrong")
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "too high") {
		t.Errorf("the table does not warn:\n%s", text.String())
	}
	// The best of all settings on the test folds is at least any mixture's setting there.
	if a, b := row(t, r, "wl").Accuracy, row(t, nested, "wl").Accuracy; a < b {
		t.Errorf("accuracy %v tuned on the test folds, %v nested", a, b)
	}
}

// TestTies: where all values of the grid predict every graph from the others, the one with the smallest squared
// error is taken.
func TestTies(t *testing.T) {
	ds := dataset.Scales(60, 7)
	o := quick(3, 1)
	o.LeaveOneOut, o.C = true, []float64{0.1, 1, 10, 100, 1000}
	e, err := newEvaluation(ds, []choose.Candidate{single("wl", wl(5))}, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for f, r := range e.settings[1].results {
		best := 0
		for c, m := range r.Errors {
			if m.Wrong != r.Errors[best].Wrong || m.Wrong > 0.03 { // (0+1)/(40+1)
				t.Fatalf("C = %g: a share of %v is wrong, want none: nothing is tested", o.C[c], m.Wrong)
			}
			if m.Squared < r.Errors[best].Squared {
				best = c
			}
		}
		if best == 0 || r.Best != best {
			t.Errorf("fold %d: C = %g, want %g", f, o.C[r.Best], o.C[best])
		}
	}
	if a := e.report().Results[2].Accuracy; a != 1 {
		t.Errorf("accuracy %v, want 1", a)
	}
}

// TestOnlyChosenAreTested: of the settings of a candidate only the one that is chosen predicts the test
// fold, which leaves the row as it is when every setting does; and results in a folder serve settings in another
// order.
func TestOnlyChosenAreTested(t *testing.T) {
	graphtest.Slow(t)
	ds := dataset.Scales(60, 7)
	// run adds to chosen the settings that are best for some fold.
	run := func(o Options, hs []int, chosen map[string]bool) (want, got Result, tested int) {
		var kernels []kernel.Kernel
		var alone []choose.Candidate
		for _, h := range hs {
			kernels = append(kernels, wl(h))
			alone = append(alone, settings(fmt.Sprint("h = ", h), wl(h)))
		}
		e, err := newEvaluation(ds, []choose.Candidate{settings("wl", kernels...)}, &o)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, p := range e.parts {
			var scores []*choose.Scores
			for _, m := range e.settings[1:] {
				r := &m.results[i]
				if r.Labels != nil {
					tested++
				}
				scores = append(scores, &r.Scores)
			}
			chosen[fmt.Sprint(e.settings[1+e.Choose(p, scores)].parameters, i)] = true
		}
		o.Folder, o.Combinations = "", []choose.Combination{choose.BestSingle}
		all, err := Run(t.Context(), ds, alone, o)
		if err != nil {
			t.Fatal(err)
		}
		return row(t, all, choose.BestSingle.String()), row(t, e.report(), "wl"), tested
	}
	for _, loo := range []bool{false, true} {
		for _, inductive := range []bool{false, true} {
			o := quick(5, 2)
			o.LeaveOneOut, o.Inductive, o.Folder = loo, inductive, t.TempDir()
			chosen := map[string]bool{} // also those of the order before, which the folder has
			for _, hs := range [][]int{{3, 1, 2, 0}, {3, 1, 2, 0}, {0, 1, 2, 3}, {3, 1, 2, 0}} {
				want, got, tested := run(o, hs, chosen)
				if !reflect.DeepEqual(got.FoldScores, want.FoldScores) || !reflect.DeepEqual(got.Choices, want.Choices) {
					t.Errorf("leave-one-out %v, inductive %v, h = %v: %v in %v, want %v in %v", loo, inductive, hs, got.FoldScores, got.Choices, want.FoldScores, want.Choices)
				}
				if tested != len(chosen) || tested < 10 || tested == 40 {
					t.Errorf("leave-one-out %v, inductive %v, h = %v: %d of 40 results predict their fold, want %d", loo, inductive, hs, tested, len(chosen))
				}
			}
		}
	}
}

// With Combined the rows of combinations are the same, and those of candidates are left out.
func TestCombined(t *testing.T) {
	ds := dataset.Scales(60, 7)
	candidates := []choose.Candidate{settings("one", wl(1)), settings("two", wl(2)), settings("three", wl(3))}
	o := quick(5, 1)
	o.LeaveOneOut, o.Learner = true, learn.KernelRidge
	o.Combinations = []choose.Combination{choose.BestSingle, choose.MeanAll, choose.Weighted}
	all, err := Run(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Combined = true
	few, err := Run(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(few.Results), len(all.Results)-len(candidates); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	for _, x := range few.Results {
		if want := row(t, all, x.Name); !reflect.DeepEqual(x.Predicted, want.Predicted) || !reflect.DeepEqual(x.Choices, want.Choices) {
			t.Errorf("%s: other predictions or choices", x.Name)
		}
	}
}
