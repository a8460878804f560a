package choose

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
)

// TestChooseFixed: with one kernel and one C nothing is chosen, and the estimate is that of
// plain cross-validation.
func TestChooseFixed(t *testing.T) {
	ds := dataset.Scales(60, 1)
	o := quick(7)
	o.C = []float64{10}
	one := []Candidate{single("sp", classic.DefaultShortestPath())}
	p, err := Choose(t.Context(), ds, one, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Settings) != 1 || p.Settings[0].Weight != 1 || p.Parameter != 10 || p.Combination != BestSingle || p.Estimate.Method != "6-fold cross-validation" {
		t.Errorf("%+v", p)
	}
	// by hand: six folds, each predicted from the others
	o.Folds = 6
	c := chooserOf(t, ds, &o)
	m := matrixOf(t, classic.DefaultShortestPath(), ds.Graphs)
	right := 0
	for f := range 6 {
		predicted, _, err := c.Predict(t.Context(), m, c.TrainingPart(0, f))
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range c.Splits.Test(0, f) {
			if predicted[0].Labels[k] == c.Targets.Labels[i] {
				right++
			}
		}
	}
	if want := float64(right) / 60; math.Abs(want-p.Estimate.Value) > 1e-12 {
		t.Errorf("estimate %v, cross-validation gives %v", p.Estimate.Value, want)
	}
}

// TestChooseEstimateIsNotTooHigh: on targets that have nothing to do with the graphs the best
// of many settings looks better than chance, and the estimate does not.
func TestChooseEstimateIsNotTooHigh(t *testing.T) {
	many := Candidate{Name: "noise"}
	for h := range 12 {
		k := classic.DefaultWL()
		k.H = h
		many.Settings = append(many.Settings, Setting{k.String(), k})
	}
	sum := 0.0
	const runs = 8
	for seed := range uint64(runs) {
		ds := dataset.Scales(60, seed)
		ds = retarget(ds, func(i int) string { return fmt.Sprint((uint64(i)*2654435761 + seed*40503) >> 7 % 2) })
		o := quick(6)
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

// What was fitted for other targets of the same graphs changes nothing, and is not fitted again.
func TestChooseShared(t *testing.T) {
	ds := dataset.Scales(60, 1)
	other := retarget(ds, func(i int) string { return fmt.Sprint(i % 2) })
	o := quick(7)
	candidates := []Candidate{single("wl", classic.DefaultWL()), single("sp", classic.DefaultShortestPath())}
	first, err := Choose(t.Context(), other, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Choose(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Collection = first.Collection
	shared, err := Choose(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	if shared.Collection != first.Collection || shared.Parameter != alone.Parameter || !reflect.DeepEqual(shared.Estimate, alone.Estimate) ||
		shared.Kernel().String() != alone.Kernel().String() {
		t.Errorf("%v with %g, %+v; alone %v with %g, %+v", shared.Kernel(), shared.Parameter, shared.Estimate,
			alone.Kernel(), alone.Parameter, alone.Estimate)
	}
}

func TestChooseRefuses(t *testing.T) {
	ds := dataset.Scales(2, 1)
	few := []Candidate{single("wl", classic.DefaultWL())}
	if _, err := Choose(t.Context(), ds, few, quick(5)); err == nil || !strings.Contains(err.Error(), "want at least 3") {
		t.Errorf("error %v", err)
	}
	if _, err := Choose(t.Context(), dataset.Scales(20, 1), nil, quick(5)); err == nil || !strings.Contains(err.Error(), "no candidates") {
		t.Errorf("error %v", err)
	}
	one := retarget(dataset.Scales(20, 1), func(int) string { return "same" })
	if _, err := Choose(t.Context(), one, few, quick(5)); err == nil || !strings.Contains(err.Error(), "at least two classes") {
		t.Errorf("error %v", err)
	}
}
