package choose

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// The predictions of a weighted sum for a validator are those of the sum that the errors of the others give.
func TestNested(t *testing.T) {
	ds := dataset.Scales(60, 5)
	values := retarget(ds, func(i int) string { return []string{"0.5", "1.25", "2.5", "7.75"}[ds.Graphs[i].N()%4] })
	for _, d := range []*dataset.Dataset{ds, values} {
		o := DefaultOptions()
		o.ForCandidates()
		o.Combinations, o.Probability, o.Folds = []Combination{Weighted}, false, 6
		var candidates []Candidate
		var grams []*kernel.Matrix
		for _, scale := range []float64{5, 8, 12} {
			k := &kerneltest.Spy{Scale: scale}
			candidates = append(candidates, single(fmt.Sprint(scale), k))
			grams = append(grams, valuesOf(t, matrixOf(t, k, d.Graphs)))
		}
		p, err := Choose(t.Context(), d, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Folds--
		c := chooserOf(t, d, &o)
		graphs := c.Splits.Without(0, o.Folds)
		n := len(graphs)
		differ := false
		for fold := range o.Folds {
			test, others := c.Splits.Test(0, fold), c.Splits.Without(0, fold)
			var weights []float64
			for _, gram := range grams {
				weights = append(weights, literalWeight(t, c, gram, others))
			}
			sum := kernel.NewMatrix(n, n)
			for k, gram := range grams {
				if weights[k] < slices.Max(weights)/50 {
					continue
				}
				for i, v := range gram.Data {
					sum.Data[i] += weights[k] * v
				}
			}
			total := 0.0
			for _, w := range weights {
				if w >= slices.Max(weights)/50 {
					total += w
				}
			}
			for i := range sum.Data {
				sum.Data[i] /= total
			}
			predicted, err := c.Targets.leaveOneOut(t.Context(), learn.Full(sum), graphs, []float64{p.Parameter})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range test {
				if d == values {
					near(t, fmt.Sprintf("value of graph %d", i), p.Held.Values[i], predicted[0].Values[i], 1e-9)
					continue
				}
				for k, v := range predicted[0].Scores[i] {
					near(t, fmt.Sprintf("score of graph %d", i), p.Held.Scores[i][k], v, 1e-9)
				}
			}
			for k, w := range weights {
				at := slices.IndexFunc(p.Settings, func(s WeightedSetting) bool { return s.Candidate == candidates[k].Name })
				differ = differ || at >= 0 && math.Abs(w/total-p.Settings[at].Weight) > 1e-3
			}
		}
		if !differ {
			t.Error("the weights of folds are those of all graphs: nothing is tested")
		}
	}
}

// literalWeight returns the weight of a kernel, up to a factor, from its errors on some graphs.
func literalWeight(t *testing.T, c *Chooser, gram *kernel.Matrix, some []int) float64 {
	t.Helper()
	all := c.Splits.Without(0, c.Splits.Folds)
	predicted, err := c.Targets.leaveOneOut(t.Context(), learn.Full(gram), all, c.Options.ridges())
	if err != nil {
		t.Fatal(err)
	}
	best := Errors{Squared: math.Inf(1)}
	for _, p := range predicted {
		if e := c.Targets.errors(some, []HeldPredictions{p.At(some)})[0]; e.Squared < best.Squared {
			best = e
		}
	}
	exponent := max(4, float64(len(some))/150)
	if c.Targets.Regression() {
		exponent = float64(len(some)) / 10
	}
	return math.Pow(best.product(), -exponent)
}

// Where targets have nothing to do with the graphs, a sum of many kernels does not seem to predict them.
func TestNestedIsNotTooHigh(t *testing.T) {
	graphtest.Slow(t)
	var many []Candidate
	for h := range 12 {
		k := classic.DefaultWL()
		k.H = h
		many = append(many, single(k.String(), k))
	}
	mean := 0.0
	const runs = 12
	for seed := range uint64(runs) {
		ds := dataset.Scales(60, seed)
		ds = retarget(ds, func(i int) string { return fmt.Sprint((uint64(i)*2654435761 + seed*40503) >> 7 % 2) })
		o := DefaultOptions()
		o.ForCandidates()
		o.Folds, o.Combinations = 6, []Combination{Weighted}
		p, err := Choose(t.Context(), ds, many, o)
		if err != nil {
			t.Fatal(err)
		}
		mean += p.Estimate.Value / runs
	}
	if mean > 0.55 {
		t.Errorf("mean estimate %v for targets that mean nothing, want about 0.5", mean)
	}
}
