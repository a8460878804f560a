package evaluate

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
)

// many returns a candidate from which is chosen in two stages.
func many() []Candidate {
	c := Candidate{Name: "wl"}
	for h := range few + 3 {
		k := baseline.DefaultWL()
		k.H = h
		c.Settings = append(c.Settings, Setting{k.String(), k})
	}
	return []Candidate{c}
}

// TestFinalists: of many settings the best on a sample of the training graphs are scored on all of
// them, by leave-one-out with the same value of the grid, and the best of these predicts the fold.
func TestFinalists(t *testing.T) {
	ds := dataset.Scales(60, 5)
	values := retarget(ds, func(i int) string { return []string{"0.5", "1.25", "2.5", "7.75"}[ds.Graphs[i].N()%4] })
	for _, d := range []*dataset.Dataset{ds, values} {
		for _, learner := range []Learner{SVM, Ridge} {
			for _, fitting := range []Fitting{Transductive, Inductive} {
				o := quick(5, 2)
				o.Inner, o.Learner, o.Fitting, o.Examples, o.Folder = LeaveOneOut, learner, fitting, 20, t.TempDir()
				if d == values {
					o.Task = Regression
				}
				staged, err := newEngine(d, many(), &o)
				if err != nil {
					t.Fatal(err)
				}
				staged.finalists = 6
				progress := [2]int{}
				o.Progress = func(done, total int) { progress = [2]int{done, total} }
				if err := staged.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if progress[0] != progress[1] {
					t.Errorf("%d of %d results in the end", progress[0], progress[1])
				}
				all := o
				all.Examples, all.Folder = len(d.Graphs), ""
				whole, err := newEngine(d, many(), &all)
				if err != nil {
					t.Fatal(err)
				}
				if err := whole.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				of := staged.families()[0]
				for r := range 2 {
					for f := range 5 {
						weight := staged.weights(r, f)
						sample := func(m int) (score float64, at int) {
							score = math.Inf(-1)
							for c, inner := range staged.results[m][r][f].Inner {
								if s := weighted(inner, weight); s > score || s == score && learner == Ridge {
									score, at = s, c
								}
							}
							return score, at
						}
						var scores []float64
						for _, m := range of {
							s, _ := sample(m)
							scores = append(scores, s)
						}
						slices.Sort(scores)
						least := scores[len(scores)-staged.finalists]
						chosen, value := staged.take(r, f, of)
						best, count := math.Inf(-1), 0
						for _, m := range of {
							x := &staged.results[m][r][f]
							s, at := sample(m)
							if s > least && x.Final == nil || s < least && x.Final != nil {
								t.Errorf("setting %d with %v on the sample, least of the best %v: %v", m, s, least, x.Final)
							}
							if x.Final == nil {
								if x.Labels != nil || x.Values != nil {
									t.Errorf("setting %d predicts fold %d without being a finalist", m, f)
								}
								continue
							}
							count++
							if x.Best != at {
								t.Errorf("value %d of the grid, want %d", x.Best, at)
							}
							want := weighted(whole.results[m][r][f].Inner[at], whole.weights(r, f))
							if math.Abs(*x.Final-want) > 1e-9 {
								t.Errorf("setting %d, repeat %d, fold %d: %v on all training graphs, want %v", m, r, f, *x.Final, want)
							}
							best = max(best, *x.Final)
						}
						x := &staged.results[chosen][r][f]
						if count != staged.finalists || *x.Final != best || value != x.Best {
							t.Errorf("%d finalists, the chosen one with %v at %d, want %v", count, *x.Final, value, best)
						}
						n := len(staged.splits.Test(r, f))
						if len(x.Labels) != n && len(x.Values) != n {
							t.Errorf("%d and %d predictions of %d graphs", len(x.Labels), len(x.Values), n)
						}
					}
				}
				again, err := newEngine(d, many(), &o)
				if err != nil {
					t.Fatal(err)
				}
				again.finalists = 6
				resumes(t, staged, again)
			}
		}
	}
}

// TestChooseFinalists: Choose takes what Run takes for a fold with the same training part.
func TestChooseFinalists(t *testing.T) {
	ds := dataset.Scales(60, 5)
	o := quick(5, 1)
	o.Inner, o.Learner, o.Examples = LeaveOneOut, Ridge, 20
	p, err := Choose(t.Context(), ds, many(), o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEngine(ds, many(), &o)
	if err != nil {
		t.Fatal(err)
	}
	if e.splits, err = StratifiedSplits(e.targets.labels, 4, 1, o.Seed); err != nil {
		t.Fatal(err)
	}
	e.splits.Folds++
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, c := e.take(0, 4, e.families()[0])
	if e.results[m][0][4].Final == nil {
		t.Fatal("there are no finalists")
	}
	if len(p.Settings) != 1 || p.Settings[0].Parameters != e.settings[m].Parameters || p.Parameter != o.grid()[c] {
		t.Errorf("%v with %v, want %v with %v", p.Settings, p.Parameter, e.settings[m].Parameters, o.grid()[c])
	}
}

// TestChooseFinalistsOfAll: a candidate with few settings competes with one that has many.
func TestChooseFinalistsOfAll(t *testing.T) {
	ds := dataset.Scales(60, 5)
	o := quick(5, 1)
	o.Inner, o.Learner, o.Examples = LeaveOneOut, Ridge, 20
	poor := Candidate{Name: "sizes"}
	for i := range few + 3 {
		k := &spy{scale: float64(i + 1)} // all graphs have about the same number of vertices
		poor.Settings = append(poor.Settings, Setting{k.String(), k})
	}
	good := many()[0].Settings[3:4]
	p, err := Choose(t.Context(), ds, []Candidate{poor, {Name: "wl", Settings: good}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Settings) != 1 || p.Settings[0].Parameters != good[0].Parameters {
		t.Errorf("%v, want %s", p.Settings, good[0].Parameters)
	}
}
