package splits

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestStratified(t *testing.T) {
	var labels []int
	for i := range 103 {
		labels = append(labels, []int{7, 7, 7, -1, 3}[i*i%5])
	}
	const folds, repeats = 10, 4
	s, err := Stratified(labels, folds, repeats, 5)
	if err != nil {
		t.Fatal(err)
	}
	for r := range repeats {
		seen := make([]int, len(labels))
		sizes := make([]int, folds)
		byClass := map[int][]int{}
		for f := range folds {
			test, train := s.Test(r, f), s.Without(r, f)
			sizes[f] = len(test)
			for _, i := range test {
				seen[i]++
				if byClass[labels[i]] == nil {
					byClass[labels[i]] = make([]int, folds)
				}
				byClass[labels[i]][f]++
			}
			both := slices.Concat(test, train)
			slices.Sort(both)
			if len(both) != len(labels) || len(slices.Compact(both)) != len(labels) {
				t.Errorf("repeat %d, fold %d: test and training part do not make the whole", r, f)
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Errorf("repeat %d tests graph %d %d times", r, i, n)
			}
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("repeat %d: sizes of folds %v differ by more than 1", r, sizes)
		}
		for c, n := range byClass {
			if slices.Max(n)-slices.Min(n) > 1 {
				t.Errorf("repeat %d: class %d has %v examples in the folds", r, c, n)
			}
		}
	}
	if reflect.DeepEqual(s.Fold[0], s.Fold[1]) {
		t.Error("two repeats are the same")
	}
	again, _ := Stratified(labels, folds, 2, 5)
	if !reflect.DeepEqual(again.Fold, s.Fold[:2]) {
		t.Error("the first repeats depend on the number of repeats")
	}
	other, _ := Stratified(labels, folds, 2, 6)
	if reflect.DeepEqual(other.Fold, again.Fold) {
		t.Error("another seed gives the same splits")
	}
}

func TestByValue(t *testing.T) {
	var z []float64
	for i := range 50 {
		z = append(z, float64(i*i%37))
	}
	s, err := ByValue(z, 5, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 3 {
		for f := range 5 {
			// Each fold has one of the 10 smallest targets' 2 fifths, and so on: its mean is
			// near that of all.
			test := s.Test(r, f)
			if len(test) != 10 {
				t.Errorf("fold of %d, want 10", len(test))
			}
			if d := mean(z, test) - mean(z, s.Without(r)); math.Abs(d) > 3.7 {
				t.Errorf("the mean of a fold differs by %v from that of all", d)
			}
		}
	}
	again, _ := ByValue(z, 5, 3, 1)
	if !reflect.DeepEqual(again, s) {
		t.Error("not reproducible")
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ n, folds, repeats int }{{5, 1, 1}, {5, 6, 1}, {5, 2, 0}} {
		if _, err := Stratified(make([]int, c.n), c.folds, c.repeats, 0); err == nil {
			t.Errorf("%+v: no error", c)
		}
		if _, err := ByValue(make([]float64, c.n), c.folds, c.repeats, 0); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// mean returns that of some values.
func mean(values []float64, at []int) float64 {
	sum := 0.0
	for _, i := range at {
		sum += values[i]
	}
	return sum / float64(len(at))
}
