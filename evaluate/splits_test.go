package evaluate

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestStratifiedSplits(t *testing.T) {
	var labels []int
	for i := range 103 {
		labels = append(labels, []int{7, 7, 7, -1, 3}[i*i%5])
	}
	const folds, repeats = 10, 4
	s, err := StratifiedSplits(labels, folds, repeats, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(len(labels)); err != nil {
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
	again, _ := StratifiedSplits(labels, folds, 2, 5)
	if !reflect.DeepEqual(again.Fold, s.Fold[:2]) {
		t.Error("the first repeats depend on the number of repeats")
	}
	other, _ := StratifiedSplits(labels, folds, 2, 6)
	if reflect.DeepEqual(other.Fold, again.Fold) {
		t.Error("another seed gives the same splits")
	}
}

func TestValueSplits(t *testing.T) {
	var z []float64
	for i := range 50 {
		z = append(z, float64(i*i%37))
	}
	s, err := ValueSplits(z, 5, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(len(z)); err != nil {
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
			near(t, "mean of a fold", mean(pick(z, test)), mean(z), 3.7)
		}
	}
	again, _ := ValueSplits(z, 5, 3, 1)
	if !reflect.DeepEqual(again, s) {
		t.Error("not reproducible")
	}
}

func TestSplitsRoundTrip(t *testing.T) {
	s, err := StratifiedSplits([]int{0, 1, 0, 1, 0, 1, 1}, 3, 2, 9)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSplits(bytes.NewReader(b.Bytes()), 7)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("read %+v, wrote %+v", got, s)
	}
	for text, want := range map[string]string{
		b.String():                                            "has 7 graphs, want 8",
		`{"folds":2,"fold":[[0,0,0,0,0,0,0,0]]}`:              "fold 1 is empty",
		`{"folds":2,"fold":[[0,0,0,0,0,0,0,2]]}`:              "graph 7 is in fold 2, want 0 to 1",
		`{"folds":2,"fold":[]}`:                               "no repeats",
		`{"folds":1,"fold":[[0,0,0,0,0,0,0,0]]}`:              "1 folds",
		`{"folds":2,"fold":[[0,1,0,1,0,1,0,1]],"seed":"one"}`: "seed",
	} {
		if _, err := ReadSplits(strings.NewReader(text), 8); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	for _, c := range []struct{ n, folds, repeats int }{{5, 1, 1}, {5, 6, 1}, {5, 2, 0}} {
		if _, err := StratifiedSplits(make([]int, c.n), c.folds, c.repeats, 0); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
