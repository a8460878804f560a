package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
)

// pairwise returns candidates whose kernel values do not depend on the other graphs that a
// kernel is fitted to, so that matrices of fewer graphs are parts of those of all.
func pairwise() []Candidate {
	w := Candidate{Name: "wl"}
	for _, h := range []int{0, 2, 4} {
		k := baseline.DefaultWL()
		k.H = h
		w.Settings = append(w.Settings, Setting{k.String(), k})
	}
	return []Candidate{w, {Name: "sp", Settings: []Setting{{"sp", baseline.DefaultShortestPath()}}}}
}

// TestChooseIsWhatRunEvaluates: on the training part of an outer fold Choose takes the
// combination, setting and parameter that Run takes for that fold, and mixes kernels with
// the same weights.
func TestChooseIsWhatRunEvaluates(t *testing.T) {
	all, err := dataset.Drugs(dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	all.Graphs = all.Graphs[:130] // seven classes and a bit
	values := retarget(all, func(i int) string { return fmt.Sprint(float64(all.Graphs[i].M()) + 0.25) })
	for _, c := range []struct {
		name    string
		ds      *dataset.Dataset
		inner   Inner
		learner Learner
		score   Score
	}{
		{"classes", all, KFold, SVM, Accuracy}, {"loo", all, LeaveOneOut, SVM, Accuracy}, {"ridge", all, KFold, Ridge, Accuracy}, {"default", all, LeaveOneOut, Ridge, Squared},
		{"values", values, KFold, SVM, Accuracy}, {"values ridge", values, LeaveOneOut, Ridge, Accuracy},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := quick(5, 1)
			o.Inner, o.Learner, o.Score, o.Combinations, o.Examples = c.inner, c.learner, c.score, everyCombination(), 70
			if c.ds == values {
				o.Task = Regression
			}
			// Choose deals the training part as it likes; Run is given the same folds.
			const graphs = 100
			part := &dataset.Dataset{Name: c.ds.Name}
			keep := map[int]bool{}
			for k := range graphs {
				i := k * len(c.ds.Graphs) / graphs
				part.Graphs = append(part.Graphs, c.ds.Graphs[i])
				keep[i] = true
			}
			p, err := Choose(t.Context(), part, pairwise(), o)
			if err != nil {
				t.Fatal(err)
			}
			eo := o
			e, err := newEngine(part, pairwise(), &eo)
			if err != nil {
				t.Fatal(err)
			}
			inner, err := StratifiedSplits(e.targets.labels, 4, 1, o.Seed)
			if e.targets.regression() {
				inner, err = ValueSplits(e.targets.values, 4, 1, o.Seed)
			}
			if err != nil {
				t.Fatal(err)
			}
			fold := slices.Repeat([]int{4}, len(c.ds.Graphs))
			next := 0
			for i := range fold {
				if keep[i] {
					fold[i] = inner.Fold[0][next]
					next++
				}
			}
			o.Splits = &Splits{Folds: 5, Fold: [][]int{fold}, Seed: o.Seed}
			run, err := newEngine(c.ds, pairwise(), &o)
			if err != nil {
				t.Fatal(err)
			}
			if err := run.transductive(t.Context()); err != nil {
				t.Fatal(err)
			}
			// What Run chooses for fold 4.
			procedures, names := run.procedures()
			weight := run.weights(0, 4)
			for i, methods := range procedures {
				want := run.shown(weighted(run.procedure(0, 4, methods), weight))
				if got := p.Procedures[i]; got.Combination != names[i] || math.Abs(got.Value-want) > 1e-12 {
					t.Errorf("%s has the score %v, want %v", got.Combination, got.Value, want)
				}
			}
			taken := BestSingle
			for _, how := range o.Combinations {
				if how.learned() {
					taken = how
				}
			}
			if p.Combination != taken || names[0] != taken {
				t.Errorf("%s, %s first, want %s", p.Combination, names[0], taken)
			}
			m, g := run.bestOf(0, 4, procedures[0])
			if p.Parameter != o.grid()[g] {
				t.Errorf("parameter %v, want %v", p.Parameter, o.grid()[g])
			}
			want := make([]float64, len(run.settings)-run.first)
			if m < len(run.settings) {
				want[m-run.first] = 1
			} else {
				var matrices []*mlg.Matrix
				for _, s := range run.settings[run.first:] {
					k, err := run.gram(t.Context(), s.Kernel)
					if err != nil {
						t.Fatal(err)
					}
					matrices = append(matrices, k)
				}
				if want, err = mixerOf(run, matrices...).weights(t.Context(), taken, 0, []int{4}, run.splits.Without(0, 4)); err != nil {
					t.Fatal(err)
				}
			}
			sum := 0.0
			for i, s := range run.settings[run.first:] {
				at := slices.IndexFunc(p.Settings, func(x WeightedSetting) bool { return x.Parameters == s.Parameters })
				got := 0.0
				if at >= 0 {
					got = p.Settings[at].Weight
				}
				if math.Abs(got-want[i]) > 1e-9 {
					t.Errorf("%s has weight %v, want %v", s.Parameters, got, want[i])
				}
				sum += got
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("weights sum to %v", sum)
			}
			if e := p.Estimate; !(e.Value > 0) || !(e.Deviation >= 0) || !strings.Contains(e.Method, "not fully nested") {
				t.Errorf("estimate %+v", e)
			}
		})
	}
}

// TestChooseFixed: with one kernel and one C nothing is chosen, and the estimate is that of
// plain cross-validation.
func TestChooseFixed(t *testing.T) {
	ds := dataset.Scales(60, 1)
	o := quick(7, 1)
	o.C = []float64{10}
	one := []Candidate{{Name: "sp", Settings: []Setting{{"sp", baseline.DefaultShortestPath()}}}}
	p, err := Choose(t.Context(), ds, one, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Settings) != 1 || p.Settings[0].Weight != 1 || p.Parameter != 10 || p.Combination != BestSingle || p.Estimate.Method != "6-fold cross-validation" {
		t.Errorf("%+v", p)
	}
	o.Folds = 6
	r, err := Run(t.Context(), ds, one, o)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Results, func(x Result) bool { return x.Name == "sp" })
	if math.Abs(r.Results[i].Accuracy-p.Estimate.Value) > 1e-12 {
		t.Errorf("estimate %v, cross-validation gives %v", p.Estimate.Value, r.Results[i].Accuracy)
	}
}

// TestChooseEstimateIsNotTooHigh: on targets that have nothing to do with the graphs the best
// of many settings looks better than chance, and the estimate does not.
func TestChooseEstimateIsNotTooHigh(t *testing.T) {
	many := Candidate{Name: "noise"}
	for h := range 12 {
		k := baseline.DefaultWL()
		k.H = h
		many.Settings = append(many.Settings, Setting{k.String(), k})
	}
	sum := 0.0
	const runs = 8
	for seed := range uint64(runs) {
		ds := dataset.Scales(60, seed)
		ds = retarget(ds, func(i int) string { return fmt.Sprint((uint64(i)*2654435761 + seed*40503) >> 7 % 2) })
		o := quick(6, 1)
		p, err := Choose(t.Context(), ds, []Candidate{many}, o)
		if err != nil {
			t.Fatal(err)
		}
		sum += p.Estimate.Value / runs
	}
	// A fold of 60 graphs has a standard deviation of 6 points, the mean of 8 of 2.3.
	if sum > 0.57 {
		t.Errorf("mean estimate %.3f on random targets", sum)
	}
}

func TestChooseRefuses(t *testing.T) {
	ds := dataset.Scales(2, 1)
	if _, err := Choose(t.Context(), ds, pairwise(), quick(5, 1)); err == nil || !strings.Contains(err.Error(), "want at least 3") {
		t.Errorf("error %v", err)
	}
	if _, err := Choose(t.Context(), dataset.Scales(20, 1), nil, quick(5, 1)); err == nil || !strings.Contains(err.Error(), "no candidates") {
		t.Errorf("error %v", err)
	}
	one := retarget(dataset.Scales(20, 1), func(int) string { return "same" })
	if _, err := Choose(t.Context(), one, pairwise(), quick(5, 1)); err == nil || !strings.Contains(err.Error(), "at least two classes") {
		t.Errorf("error %v", err)
	}
}

// TestTerms: what is written out as a sum of products has the values of the kernel.
func TestTerms(t *testing.T) {
	graphs := dataset.Scales(8, 1).Graphs
	wl := func(h int) mlg.Kernel {
		k := baseline.DefaultWL()
		k.H = h
		return k
	}
	s := Share(wl(3))
	k := Product(Mean(wl(1), s, OverSeeds(small(1), 2)), Mean(wl(2), Product(s, wl(0))))
	terms, err := Terms(k)
	if err != nil {
		t.Fatal(err)
	}
	if len(terms) != 8 {
		t.Errorf("%d terms, want 8", len(terms))
	}
	gram := func(k mlg.Kernel) *mlg.Matrix {
		f, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := gram(k)
	got := mlg.NewMatrix(want.Rows, want.Cols)
	shared := 0
	for _, x := range terms {
		product := slices.Repeat([]float64{x.Weight}, len(got.Data))
		for _, f := range x.Factors {
			if f.Shared != nil {
				shared++
			}
			for i, v := range gram(f.Kernel).Data {
				product[i] *= v
			}
		}
		for i, v := range product {
			got.Data[i] += v
		}
	}
	if shared != 2+1*4 {
		t.Errorf("%d shared factors", shared)
	}
	for i, v := range want.Data {
		if math.Abs(got.Data[i]-v) > 1e-14 {
			t.Fatalf("value %d is %v, want %v", i, got.Data[i], v)
		}
	}
	if x, err := Terms(Standardized(wl(1))); err != nil || !x[0].Factors[0].Standardized {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := Terms(Indefinite(wl(1))); err == nil || !strings.Contains(err.Error(), "not positive semi-definite") {
		t.Errorf("error %v", err)
	}
	if _, err := Terms(Standardized(Standardized(wl(1)))); err == nil {
		t.Error("standardised twice")
	}
}
