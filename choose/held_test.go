package choose

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/splits"
)

// On every path, Held has what a learner that was trained on other graphs predicts, in the order of the
// graphs.
func TestHeld(t *testing.T) {
	defer func(n int) { mostFactorised = n }(mostFactorised)
	for _, x := range []struct {
		name             string
		values, loo      bool
		learner          learn.Kind
		sum, indefinite  bool
		examples, factor int // mostFactorised
		folds            int // of which one is left out; 0 for a graph
		tolerance        float64
	}{
		{name: "folds", folds: 4, tolerance: 0.01},
		{name: "folds of values", values: true, folds: 4, tolerance: 0.01},
		{name: "ridges by folds", learner: learn.KernelRidge},
		{name: "all scored", learner: learn.KernelRidge, loo: true, sum: true},
		{name: "all scored, values", learner: learn.KernelRidge, loo: true, sum: true, values: true},
		{name: "factorised", learner: learn.KernelRidge, loo: true, sum: true, examples: 40},
		{name: "factorised, values", learner: learn.KernelRidge, loo: true, sum: true, examples: 40, values: true},
		{name: "factorised, one kernel", learner: learn.KernelRidge, loo: true, examples: 40, values: true},
		{name: "factorised for svm", loo: true, examples: 40},
		{name: "factorised, clipped", learner: learn.KernelRidge, loo: true, examples: 40, indefinite: true},
		{name: "iterated", learner: learn.KernelRidge, loo: true, sum: true, examples: 40, factor: 10, folds: heldOutFolds, tolerance: 0.01},
		{name: "iterated, values", learner: learn.KernelRidge, loo: true, sum: true, examples: 40, factor: 10, folds: heldOutFolds, tolerance: 0.01, values: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			ds := learnable(96, x.values)
			o := quick(5)
			o.Learner, o.LeaveOneOut, o.Probability = x.learner, x.loo, false
			o.Groups = &Groups{By: "thirds", Of: make([]int, 96)}
			for i := range 96 {
				o.Groups.Of[i] = i / 3
			}
			if x.sum {
				o.Combinations = []Combination{MeanAll}
			}
			if x.examples > 0 {
				o.Examples = x.examples
			}
			if mostFactorised = 4096; x.factor > 0 {
				mostFactorised = x.factor
			}
			candidates := []Candidate{single("labels", classic.DefaultHistogram()), single("sp", classic.DefaultShortestPath())}
			if x.indefinite {
				candidates = []Candidate{single("given", indefinite{classic.DefaultHistogram()})}
			}
			p, err := Choose(t.Context(), ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			gram, err := p.Collection.Gram(t.Context(), p.Kernel())
			if err != nil {
				t.Fatal(err)
			}
			parameter, opt := p.Parameter, o.learner()
			if x.loo && x.learner == learn.SVM {
				parameter, opt.Kind = 1/(2*parameter), learn.KernelRidge
			}
			view := learn.Full(gram)
			if x.indefinite {
				c, err := learn.Clip(t.Context(), view)
				if err != nil {
					t.Fatal(err)
				}
				view = learn.Full(c.Gram)
			}
			literal := func(folds [][]int) HeldPredictions {
				var out HeldPredictions
				for _, test := range folds {
					train := slices.DeleteFunc(kernel.UpTo(96), func(i int) bool { return slices.Contains(test, i) })
					predicted, err := p.learn(t.Context(), opt, view.Select(train, train), train, []float64{parameter},
						[]learn.View{view.Select(test, train)}, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					out.put(test, predicted[0][0], 96)
				}
				return out
			}
			tolerance := max(x.tolerance, 1e-6)
			compare := func(what string, got, want HeldPredictions) {
				for i := range 96 {
					if x.values {
						near(t, what+" value", got.Values[i], want.Values[i], tolerance*10) // of a deviation of 10
						continue
					}
					if x.tolerance == 0 && got.Labels[i] != want.Labels[i] {
						t.Errorf("%s: graph %d has the class %d, want %d", what, i, got.Labels[i], want.Labels[i])
					}
					for c := range p.Classes {
						near(t, what+" score", got.Scores[i][c], want.Scores[i][c], tolerance)
					}
				}
			}
			compare("held", p.Held, literal(leftOutGroups(t, p, x.folds, o.Seed)))
			s, err := splits.ByGroup("", o.Groups.Of, heldOutFolds, 1, o.Seed)
			if err != nil {
				t.Fatal(err)
			}
			var folds [][]int
			for f := range s.Folds {
				folds = append(folds, s.Test(0, f))
			}
			compare("held with its group", p.HeldGroups, literal(folds))
			if e := p.GroupEstimate; e == nil || e.Groups != "thirds" || e.Measure != p.Estimate.Measure || !(e.Value > 0) {
				t.Errorf("estimate %+v", e)
			}
			if n, m := len(p.Estimates()), len(metrics.Levels); p.Held.Deviations == nil && n != 2 || p.Held.Deviations != nil && n != 2+2*(1+m)+1 {
				t.Errorf("%d estimates", n)
			}
			if process := p.Process(o.Learner); process != (p.Held.Deviations != nil) || process && slices.Min(p.Held.Deviations) <= 0 {
				t.Errorf("deviations %v", p.Held.Deviations)
			}
			if x.values {
				return
			}
			o.Probability = true
			with, err := Choose(t.Context(), ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			sum, certain := 0.0, 0.0
			for i, row := range with.Held.Scores {
				near(t, "sum of probabilities", row[0]+row[1], 1, 1e-12)
				if row[with.Held.Labels[i]] < 0.5 {
					t.Errorf("graph %d: class %d of probabilities %v", i, with.Held.Labels[i], row)
				}
				sum += row[0]
				if with.Labels[i] == 0 {
					certain++
				}
			}
			if math.Abs(sum-certain) > 4 {
				t.Errorf("probabilities of the first class add up to %.1f, want about its %v graphs", sum, certain)
			}
		})
	}
}

// leftOutGroups returns the graphs that are held out together.
func leftOutGroups(t *testing.T, p *Plan, folds int, seed uint64) [][]int {
	t.Helper()
	var out [][]int
	if folds == 0 {
		for i := range 96 {
			out = append(out, []int{i})
		}
		return out
	}
	s, err := p.Deal(folds, 1, seed)
	if err != nil {
		t.Fatal(err)
	}
	for f := range folds {
		out = append(out, s.Test(0, f))
	}
	return out
}

// Molecules are grouped by scaffold, and other graphs by the kernel. New values are known less well if their
// group is new. Few graphs have no groups.
func TestGroups(t *testing.T) {
	o := DefaultOptions()
	p, err := Choose(t.Context(), learnable(60, true), []Candidate{single("sp", classic.DefaultShortestPath())}, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.GroupEstimate == nil || p.GroupEstimate.Groups != ByCluster || p.Groups != nil {
		t.Errorf("estimate %+v", p.GroupEstimate)
	}
	if p, err = Choose(t.Context(), learnable(12, true), []Candidate{single("sp", classic.DefaultShortestPath())}, o); err != nil || p.GroupEstimate != nil {
		t.Errorf("12 graphs: estimate %+v, error %v", p.GroupEstimate, err)
	}
	var lines strings.Builder
	lines.WriteString("smiles,y\n")
	for i := range 60 { // rings of 3 to 14 atoms with tails of 1 to 5
		ring, tail := 3+i%12, 1+i/12
		fmt.Fprintf(&lines, "C1%sC1%s,%v\n", strings.Repeat("C", ring-2), strings.Repeat("O", tail), float64(ring)+0.1*float64(tail))
	}
	file := filepath.Join(t.TempDir(), "rings.csv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ds, err := dataset.Read(t.Context(), file, dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Choose(t.Context(), ds, []Candidate{single("sp", classic.DefaultShortestPath())}, o); err != nil {
		t.Fatal(err)
	}
	if p.GroupEstimate == nil || p.GroupEstimate.Groups != ByScaffold || slices.Max(p.Groups.Of) != 11 {
		t.Fatalf("estimate %+v, groups %+v", p.GroupEstimate, p.Groups)
	}
	if apart := p.Groups.apart([]int{0, 1, 12}, []int{13, 14, 24}); !slices.Equal(apart, []bool{false, false, false}) {
		t.Errorf("apart %v", apart)
	}
	if apart := p.Groups.apart([]int{0, 1, 2}, []int{12, 14}); !slices.Equal(apart, []bool{false, true, false}) {
		t.Errorf("apart %v", apart)
	}
	g := Groups{Of: []int{4, 7, 4, 5, 7}}
	if a, b := g.alone(nil), g.alone([]int{0, 1, 1, 0, 1}); !slices.Equal(a, []bool{false, false, false, true, false}) ||
		!slices.Equal(b, []bool{false, true, false, true, true}) {
		t.Errorf("alone %v, by folds %v", a, b)
	}
	o.Groups = &Groups{By: "x", Of: []int{1}}
	if _, err := Choose(t.Context(), ds, counting(), o); err == nil || !strings.Contains(err.Error(), "groups by x of 1 graphs, want 60") {
		t.Errorf("error %v", err)
	}
}

// A ridge that is too small for the matrix does not end a choice, and is not chosen. One at the edge of the
// grid is told.
func TestSmallRidges(t *testing.T) {
	r := graphtest.Rand(11)
	const n = 24
	gram := kerneltest.Points(r, n, 2)
	values := make([]float64, n)
	for i := range n {
		gram.Set(i, i, gram.At(i, i)-0.05) // the least eigenvalue is near −0.05
		values[i] = 10*gram.At(i, 0) + r.NormFloat64()/100
	}
	for _, leaveOneOut := range []bool{true, false} {
		o := quick(5)
		o.Learner, o.LeaveOneOut = learn.KernelRidge, leaveOneOut
		o.Ridge = []float64{0.001, 0.01, 0.06, 0.3, 1}
		p, l := learnValues(t, gram, values, o)
		if p.Parameter < 0.06 || p.Edge != (p.Parameter == 1) || l.Process == nil {
			t.Errorf("leave-one-out %v: ridge %v, edge %v", leaveOneOut, p.Parameter, p.Edge)
		}
		o.Ridge = []float64{0.001, 0.01}
		k := kernel.Precomputed{Kernel: classic.DefaultWL(), Matrix: gram}
		if _, err := Choose(t.Context(), valued(t, values), []Candidate{single("given", k)}, o); !errors.Is(err, learn.ErrDefinite) {
			t.Errorf("no ridge is large enough: error %v", err)
		}
	}
	o := DefaultOptions()
	o.Ridge = []float64{1, 10}
	if p, _ := learnValues(t, kerneltest.Points(r, n, 2), values, o); !p.Edge {
		t.Errorf("ridge %v of two is not at the edge", p.Parameter)
	}
}

// indefinite is a kernel that is clipped, although it need not be.
type indefinite struct{ kernel.Kernel }

func (indefinite) Semidefinite() bool { return false }

// Groups of too few values are an error, and not replaced by others.
func TestFewGroups(t *testing.T) {
	ds := dataset.Scales(40, 1)
	o := DefaultOptions()
	o.Groups = &Groups{By: "lab", Of: make([]int, 40)}
	for i := range o.Groups.Of {
		o.Groups.Of[i] = i % 3
	}
	one := []Candidate{single("sp", classic.DefaultShortestPath())}
	if _, err := Choose(t.Context(), ds, one, o); err == nil || !strings.Contains(err.Error(), "groups by lab: want at least 5") {
		t.Errorf("error %v", err)
	}
}

// The largest ridge is taken as far as conjugate gradients came, and no smaller one then.
func TestOpenRidge(t *testing.T) {
	ds := dataset.Scales(60, 1)
	m := matrixOf(t, &kerneltest.Spy{Scale: 300}, ds.Graphs)
	train, err := m.features(t.Context(), kernel.UpTo(60))
	if err != nil {
		t.Fatal(err)
	}
	tiles, err := learn.NewTriangle(t.Context(), m.sum, train)
	if err != nil {
		t.Fatal(err)
	}
	opt := learn.DefaultRidgeOptions()
	opt.Landmarks, opt.MaxIterations = 1, 1
	s, err := learn.NewRidgeSolver(t.Context(), tiles, opt)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 60)
	for i := range values {
		values[i] = float64(i % 7)
	}
	x := &all{choice: &choice{Chooser: Chooser{Targets: &Targets{Values: values}}}}
	for _, needed := range []bool{true, false} {
		held, err := tiled{tiles, s, x, fixedFolds(60, 5).Fold[0]}.HeldOut(t.Context(), []float64{1e-3, 1e-2}, needed)
		if err != nil || held[0] != nil || (held[1] != nil) != needed {
			t.Errorf("%v, error %v, want predictions for the larger ridge if they are needed", held, err)
		}
	}
}
