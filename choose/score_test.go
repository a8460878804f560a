package choose

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/learn"
)

// TestValidators: the relation between folds that validate each other is symmetric, without
// the fold itself, and has the right size. The part that is everything has all folds.
func TestValidators(t *testing.T) {
	for folds := 3; folds <= 11; folds++ {
		for want := 1; want < folds; want++ {
			c := Chooser{Options: &Options{InnerFolds: want}, Splits: fixedFolds(folds, folds)}
			size := want
			if folds%2 == 1 {
				size += want % 2
			}
			for f := range folds {
				v := c.validators(f)
				if len(v) != size || slices.Contains(v, f) || len(slices.Compact(slices.Clone(v))) != size {
					t.Fatalf("%d folds, %d wanted: fold %d has %v", folds, want, f, v)
				}
				for _, g := range v {
					if !slices.Contains(c.validators(g), f) {
						t.Errorf("%d folds, %d wanted: %d validates %d, but not the other way round", folds, want, g, f)
					}
				}
			}
			if v := c.validators(folds); len(v) != folds {
				t.Errorf("%d folds, %d wanted: everything has %v", folds, want, v)
			}
		}
	}
}

// TestSharedTrainings: choosing with trainings that two folds share gives the scores of
// plain nested cross-validation, computed here fold by fold.
func TestSharedTrainings(t *testing.T) {
	ds := dataset.Scales(50, 4)
	for _, inner := range []int{1, 2, 4} {
		o := quick(5)
		o.InnerFolds = inner
		c := chooserOf(t, ds, &o)
		k := classic.DefaultWL()
		k.H = 3
		m := matrixOf(t, k, ds.Graphs)
		var parts []*TrainingPart
		for f := range 5 {
			parts = append(parts, c.TrainingPart(0, f))
		}
		together, err := c.Score(t.Context(), m, parts)
		if err != nil {
			t.Fatal(err)
		}
		for f, p := range parts {
			alone, err := c.Score(t.Context(), m, []*TrainingPart{p})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(alone[0], together[f]) {
				t.Errorf("fold %d alone: %+v, together %+v", f, alone[0], together[f])
			}
			for j, v := range p.validators {
				set := c.without(0, f, v)
				gram, cross, err := m.On(t.Context(), set)
				if err != nil {
					t.Fatal(err)
				}
				test := c.Splits.Test(0, v)
				learned, err := c.Targets.Of(set.graphs).Train(t.Context(), gram, o.C, learn.DefaultOptions())
				if err != nil {
					t.Fatal(err)
				}
				rows, err := cross(test)
				if err != nil {
					t.Fatal(err)
				}
				for g, l := range learned {
					values, err := l.Values(rows)
					if err != nil {
						t.Fatal(err)
					}
					right := 0.0
					for k, i := range test {
						if l.Class(values.Row(k)) == c.Targets.Labels[i] {
							right++
						}
					}
					near(t, fmt.Sprintf("fold %d, validator %d, C = %g", f, v, o.C[g]), together[f].Inner[g][j], right/float64(len(test)), 1e-12)
				}
			}
		}
	}
}

// TestEstimate: the best of many settings that know nothing looks better than one good
// combination, but not when each validator is scored with what the others would choose.
func TestEstimate(t *testing.T) {
	o := quick(4)
	o.C = []float64{1}
	c := chooserOf(t, dataset.Scales(40, 1), &o)
	p := c.TrainingPart(0, 0) // validated by folds 1, 2, 3, of 10 graphs each
	var settings []*Scores
	for _, inner := range [][]float64{
		{1, 0.9, 0.2},   // mean 0.70
		{0.3, 0.9, 1.0}, // mean 0.73
		{0.9, 0.3, 0.9}, // mean 0.70
		{0.7, 0.7, 0.7}, // a combination
	} {
		s := &Scores{Inner: [][]float64{inner}, predicted: make([][]HeldPredictions, 1)}
		for v, share := range inner { // the first are right
			p := HeldPredictions{Labels: Pick(c.Targets.Labels, p.scored[v]), Scores: make([][]float64, len(p.scored[v]))}
			for i := range p.Labels {
				if p.Scores[i] = make([]float64, 2); float64(i) >= 10*share-0.5 {
					p.Labels[i] = 1 - p.Labels[i]
				}
			}
			s.predicted[0] = append(s.predicted[0], p)
		}
		settings = append(settings, s)
	}
	if k := c.Choose(p, settings[:3]); k != 1 {
		t.Errorf("best of the settings is %d, want 1", k)
	}
	// Without validator 1 the second setting is best (0.95), which scores 0.3 there; without
	// 2 the third (0.9 against 0.6 and 0.65), 0.3; without 3 the first (0.95), 0.2.
	e := c.Estimate(p, settings[:3])
	near(t, "estimate", e.Value, (0.3+0.3+0.2)/3, 1e-12)
	near(t, "its deviation", e.Deviation, math.Sqrt(0.01/3/3), 1e-12)
	near(t, "estimate of one", c.Estimate(p, settings[3:]).Value, 0.7, 1e-12)
	// A validator without graphs, as none of its fold is in the sample, says nothing.
	p.weight[0] = 0
	near(t, "estimate without a validator", c.Estimate(p, settings[1:2]).Value, (0.9+1)/2, 1e-12)
}
