package choose

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// On every path, Held has what a learner that was trained on other graphs predicts, in the order of the
// graphs.
func TestHeld(t *testing.T) {
	defer func(n int) { exactMost = n }(exactMost)
	for _, x := range []struct {
		name             string
		values, loo      bool
		learner          svm.Kind
		sum, indefinite  bool
		examples, factor int // exactMost
		folds            int // of which one is left out; 0 for a graph
		tolerance        float64
	}{
		{name: "folds", folds: 4, tolerance: 0.01},
		{name: "folds of values", values: true, folds: 4, tolerance: 0.01},
		{name: "folds of ridges", learner: svm.KernelRidge, folds: 4},
		{name: "all scored", learner: svm.KernelRidge, loo: true, sum: true},
		{name: "all scored, values", learner: svm.KernelRidge, loo: true, sum: true, values: true},
		{name: "factorised", learner: svm.KernelRidge, loo: true, sum: true, examples: 40},
		{name: "factorised, values", learner: svm.KernelRidge, loo: true, sum: true, examples: 40, values: true},
		{name: "factorised, one kernel", learner: svm.KernelRidge, loo: true, examples: 40, values: true},
		{name: "factorised for svm", loo: true, examples: 40},
		{name: "factorised, clipped", learner: svm.KernelRidge, loo: true, examples: 40, indefinite: true},
		{name: "iterated", learner: svm.KernelRidge, loo: true, sum: true, examples: 40, factor: 10, folds: heldOutFolds, tolerance: 5e-3},
		{name: "iterated, values", learner: svm.KernelRidge, loo: true, sum: true, examples: 40, factor: 10, folds: heldOutFolds, tolerance: 0.01, values: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			ds := learnable(96, x.values)
			o := quick(5)
			o.Learner, o.LeaveOneOut, o.Probability = x.learner, x.loo, false
			if x.sum {
				o.Combinations = []Combination{MeanAll}
			}
			if x.examples > 0 {
				o.Examples = x.examples
			}
			if exactMost = 4096; x.factor > 0 {
				exactMost = x.factor
			}
			candidates := []Candidate{single("labels", baseline.DefaultHistogram()), single("sp", baseline.DefaultShortestPath())}
			if x.indefinite {
				candidates = []Candidate{single("given", indefinite{baseline.DefaultHistogram()})}
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
			if x.loo && x.learner == svm.SVM {
				parameter, opt.Kind = 1/(2*parameter), svm.KernelRidge
			}
			view := svm.Full(gram)
			if x.indefinite {
				c, err := svm.Clip(t.Context(), view)
				if err != nil {
					t.Fatal(err)
				}
				view = svm.Full(c.Gram)
			}
			var want Prediction
			for _, test := range leftOutGroups(t, p, x.folds, o.Seed) {
				train := slices.DeleteFunc(upTo(96), func(i int) bool { return slices.Contains(test, i) })
				predicted, err := p.learn(t.Context(), opt, view.Select(train, train), train, []float64{parameter},
					[]svm.View{view.Select(test, train)}, nil)
				if err != nil {
					t.Fatal(err)
				}
				want.put(test, predicted[0][0], 96)
			}
			tolerance := max(x.tolerance, 1e-6)
			for i := range 96 {
				if x.values {
					near(t, "value", p.Held.Values[i], want.Values[i], tolerance*10) // of a deviation of 10
					continue
				}
				if x.tolerance == 0 && p.Held.Labels[i] != want.Labels[i] {
					t.Errorf("graph %d has the class %d, want %d", i, p.Held.Labels[i], want.Labels[i])
				}
				for c := range p.Classes {
					near(t, "score", p.Held.Scores[i][c], want.Scores[i][c], tolerance)
				}
			}
			if process := p.Process(o.Learner) && o.LeaveOneOut; process != (p.Held.Deviations != nil) || process && slices.Min(p.Held.Deviations) <= 0 {
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

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// indefinite is a kernel that is clipped, although it need not be.
type indefinite struct{ kernel.Kernel }

func (indefinite) Semidefinite() bool { return false }
