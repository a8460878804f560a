package evaluate

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
)

// TestInductiveNeverSeesTestGraphs: a kernel is fitted to the training part of every fold,
// and meets the test graphs only as rows of Cross.
func TestInductiveNeverSeesTestGraphs(t *testing.T) {
	ds := numbered(dataset.Scales(40, 1))
	k := &spy{scale: 3}
	o := quick(4, 2)
	o.Fitting = Inductive
	o.Combinations = []Combination{MeanAll}
	r, err := Run(t.Context(), ds, []Candidate{{Name: "spy", Settings: []Setting{{"", k}}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]int, len(ds.Graphs))
	for i, g := range ds.Graphs {
		labels[i] = slices.Index(r.Classes, g.Target())
	}
	s, err := StratifiedSplits(labels, 4, 2, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // training part → test part
	for rep := range 2 {
		for f := range 4 {
			want[fmt.Sprint(s.Without(rep, f))] = fmt.Sprint(s.Test(rep, f))
		}
	}
	if len(k.fits) != len(want) {
		t.Errorf("fitted %d times, want once for each of %d folds", len(k.fits), len(want))
	}
	for _, graphs := range k.fits {
		if _, ok := want[fmt.Sprint(ids(t, graphs))]; !ok {
			t.Errorf("fitted to %v, which is no training part", ids(t, graphs))
		}
	}
	for _, c := range k.cross {
		train, test := fmt.Sprint(ids(t, c[0])), fmt.Sprint(ids(t, c[1]))
		if want[train] != test {
			t.Errorf("fitted to %s, asked about %s, want %s", train, test, want[train])
		}
	}
}

// TestTargetsNeverReachKernels: in either way to fit.
func TestTargetsNeverReachKernels(t *testing.T) {
	for _, fitting := range []Fitting{Transductive, Inductive} {
		k := &spy{scale: 3}
		o := quick(3, 1)
		o.Fitting = fitting
		if _, err := Run(t.Context(), dataset.Scales(24, 1), []Candidate{{Name: "spy", Settings: []Setting{{"", k}}}}, o); err != nil {
			t.Fatal(err)
		}
		seen := slices.Concat(k.fits...)
		for _, c := range k.cross {
			seen = append(seen, c[1]...)
		}
		if len(seen) == 0 {
			t.Fatalf("%s: the kernel saw no graph", fitting)
		}
		for _, g := range seen {
			if g.Target() != "" {
				t.Fatalf("%s: a kernel got a graph with the target %q", fitting, g.Target())
			}
		}
	}
}

// TestNestedIgnoresTestLabels: other classes in a test fold leave the predictions for that
// fold as they are, for every row, and change those for others.
func TestNestedIgnoresTestLabels(t *testing.T) {
	ds := dataset.Scales(60, 3)
	labels := make([]int, len(ds.Graphs))
	for i, g := range ds.Graphs {
		if g.Target() == "unlike" {
			labels[i] = 1
		}
	}
	splits, err := StratifiedSplits(labels, 5, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	const fold = 2
	flipped := retarget(ds, func(i int) string {
		if splits.Fold[0][i] == fold {
			return []string{"unlike", "like"}[labels[i]]
		}
		return ds.Graphs[i].Target()
	})
	for _, c := range []struct {
		inner    Inner
		learner  Learner
		fitting  Fitting
		score    Score
		examples int
	}{
		{KFold, SVM, Transductive, Accuracy, 99}, {HoldOut, SVM, Transductive, Accuracy, 99}, {LeaveOneOut, SVM, Transductive, Accuracy, 99},
		{LeaveOneOut, Ridge, Transductive, Accuracy, 99}, {KFold, Ridge, Transductive, Squared, 99}, {KFold, SVM, Inductive, Accuracy, 99},
		{LeaveOneOut, Ridge, Transductive, Squared, 30}, {LeaveOneOut, Ridge, Inductive, Squared, 30},
	} {
		t.Run(fmt.Sprint(c.inner, c.learner, c.fitting, c.score, c.examples), func(t *testing.T) {
			o := quick(5, 1)
			o.Score, o.Examples = c.score, c.examples
			o.Splits, o.Inner, o.Learner, o.Fitting = splits, c.inner, c.learner, c.fitting
			o.Combinations = everyCombination()
			a, err := Run(t.Context(), ds, family(), o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Run(t.Context(), flipped, family(), o)
			if err != nil {
				t.Fatal(err)
			}
			changed := false
			for k, x := range a.Results {
				y := b.Results[k]
				for i, f := range splits.Fold[0] {
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

// TestInnerFolds: the relation between folds that validate each other is symmetric, without
// the fold itself, and has the right size.
func TestInnerFolds(t *testing.T) {
	for folds := 3; folds <= 11; folds++ {
		for want := 1; want < folds; want++ {
			o := Options{InnerFolds: want}
			size := want
			if folds%2 == 1 {
				size += want % 2
			}
			for f := range folds {
				v := validation(&o, folds, f)
				if len(v) != size || slices.Contains(v, f) || len(slices.Compact(slices.Clone(v))) != size {
					t.Fatalf("%d folds, %d wanted: fold %d has %v", folds, want, f, v)
				}
				for _, g := range v {
					if !slices.Contains(validation(&o, folds, g), f) {
						t.Errorf("%d folds, %d wanted: %d validates %d, but not the other way round", folds, want, g, f)
					}
				}
			}
		}
	}
}

// TestSharedTrainings: choosing with trainings that two folds share gives the inner scores of
// plain nested cross-validation, computed here fold by fold.
func TestSharedTrainings(t *testing.T) {
	ds := dataset.Scales(50, 4)
	o := quick(5, 1)
	e, err := newEngine(ds, family(), &o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.gram(t.Context(), family()[0].Settings[1].Kernel)
	if err != nil {
		t.Fatal(err)
	}
	src := fixed{m: k}
	var together storedUnit
	if err := e.unit(t.Context(), 0, src, part{folds: []int{0, 1, 2, 3, 4}}, &together); err != nil {
		t.Fatal(err)
	}
	for f := range 5 {
		var alone storedUnit
		if err := e.unit(t.Context(), 0, src, part{folds: []int{f}}, &alone); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(alone.Results[0], together.Results[f]) {
			t.Errorf("fold %d alone: %+v, together %+v", f, alone.Results[0], together.Results[f])
		}
	}
}

func TestReportedIsMarked(t *testing.T) {
	ds := dataset.Scales(40, 1)
	o := quick(4, 2)
	nested, err := Run(t.Context(), ds, family(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Selection = OnReported
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

// TestProcedure: the best of many settings that know nothing looks better than one good
// combination, but not when each validator is scored with what the others would choose.
func TestProcedure(t *testing.T) {
	o := quick(4, 1)
	o.C = []float64{1}
	o.Combinations = []Combination{MeanAll}
	e, err := newEngine(dataset.Scales(40, 1), family(), &o)
	if err != nil {
		t.Fatal(err)
	}
	// validators of fold 0: folds 1, 2, 3, of 10 graphs each
	inner := [][]float64{
		{1, 1, 1},       // the label histogram, which combinations do not use
		{1, 0.9, 0.2},   // mean 0.70
		{0.3, 0.9, 1.0}, // mean 0.73
		{0.9, 0.3, 0.9}, // mean 0.70
		{0.7, 0.7, 0.7}, // the combination
	}
	for m, scores := range inner {
		e.results[m][0][0] = foldResult{Inner: [][]float64{scores}, Known: [][]float64{scores}}
	}
	if m, _ := e.bestOf(0, 0, []int{1, 2, 3}); m != 2 {
		t.Errorf("best of the settings is %d, want 2", m)
	}
	// Without validator 1 the second setting is best (0.95), which scores 0.3 there; without
	// 2 the third (0.9 against 0.6 and 0.65), 0.3; without 3 the first (0.95), 0.2.
	near(t, "procedure", mean(e.procedure(0, 0, []int{1, 2, 3})), (0.3+0.3+0.2)/3, 1e-12)
	near(t, "procedure of one", mean(e.procedure(0, 0, []int{4})), 0.7, 1e-12)
}

// TestTies: where all values of the grid predict every graph from the others, the one with the smallest squared
// error is taken.
func TestTies(t *testing.T) {
	ds := dataset.Scales(60, 7)
	k := baseline.DefaultWL()
	o := quick(3, 1)
	o.Inner, o.C = LeaveOneOut, decades(-1, 3)
	e, err := newEngine(ds, []Candidate{single("wl", k)}, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for f, r := range e.results[1][0] {
		weight := e.weights(0, f)
		best := 0
		for c, m := range r.Missed {
			if right := weighted(r.Known[c], weight); right != 1 {
				t.Fatalf("C = %g: %v right, want all: nothing is tested", o.C[c], right)
			}
			if m.Squared < r.Missed[best].Squared {
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

// TestOnlyLeadersAreTested: of the settings of a candidate only those that may be chosen predict
// the test fold, which leaves the row as it is when every setting does; and results in a folder
// serve settings in another order.
func TestOnlyLeadersAreTested(t *testing.T) {
	ds := dataset.Scales(60, 7)
	// run adds to leaders the settings that were best so far for some fold when their turn came.
	run := func(o Options, hs []int, leaders map[string]bool) (want, got Result, tested int) {
		var together Candidate
		var alone []Candidate
		for _, h := range hs {
			k := baseline.DefaultWL()
			k.H = h
			together.Settings = append(together.Settings, Setting{k.String(), k})
			alone = append(alone, Candidate{Name: fmt.Sprint("h = ", h), Settings: together.Settings[len(alone):]})
		}
		together.Name = "wl"
		e, err := newEngine(ds, []Candidate{together}, &o)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for repeat := range e.splits.Repeats() {
			for f := range e.splits.Folds {
				best := math.Inf(-1)
				for m := e.first; m < len(e.settings); m++ {
					r := &e.results[m][repeat][f]
					if r.Labels != nil {
						tested++
					}
					if s := weighted(r.Inner[r.Best], e.weights(repeat, f)); s > best {
						best = s
						leaders[fmt.Sprint(e.settings[m].Parameters, repeat, f)] = true
					}
				}
			}
		}
		o.Folder, o.Combinations = "", []Combination{BestSingle}
		all, err := Run(t.Context(), ds, alone, o)
		if err != nil {
			t.Fatal(err)
		}
		return row(t, all, BestSingle.String()), row(t, e.report(), "wl"), tested
	}
	for _, inner := range []Inner{KFold, LeaveOneOut} {
		for _, fitting := range []Fitting{Transductive, Inductive} {
			o := quick(5, 2)
			o.Inner, o.Fitting, o.Folder = inner, fitting, t.TempDir()
			leaders := map[string]bool{} // also those of the order before, which the folder has
			for _, hs := range [][]int{{3, 1, 2, 0}, {3, 1, 2, 0}, {0, 1, 2, 3}, {3, 1, 2, 0}} {
				want, got, tested := run(o, hs, leaders)
				if !reflect.DeepEqual(got.FoldScores, want.FoldScores) || !reflect.DeepEqual(got.Choices, want.Choices) {
					t.Errorf("%v, %v, h = %v: %v in %v, want %v in %v", inner, fitting, hs, got.FoldScores, got.Choices, want.FoldScores, want.Choices)
				}
				if tested != len(leaders) || tested < 10 || tested == 40 {
					t.Errorf("%v, %v, h = %v: %d of 40 results predict their fold, want %d", inner, fitting, hs, tested, len(leaders))
				}
			}
		}
	}
}
