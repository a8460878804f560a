package splits

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
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

func TestRandom(t *testing.T) {
	s, err := Random(23, 5, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 2 {
		for f := range 5 {
			if n := len(s.Test(r, f)); n != 4 && n != 5 {
				t.Errorf("fold of %d", n)
			}
		}
	}
	if s.Scheme != "random" || slices.IsSorted(s.Fold[0]) {
		t.Errorf("%+v", s)
	}
}

// Groups stay together, and no exchange of the smallest group between the fullest and the emptiest fold would even them out.
func TestByGroup(t *testing.T) {
	var groups []int
	for g, size := range []int{30, 12, 12, 7, 5, 5, 4, 3, 2, 1, 1, 1, 1} {
		groups = append(groups, slices.Repeat([]int{g * 3}, size)...)
	}
	s, err := ByGroup("by scaffold", groups, 4, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 5 {
		of := map[int]int{}
		var sizes []int
		for i, f := range s.Fold[r] {
			if g, known := of[groups[i]]; known && g != f {
				t.Errorf("group %d is in folds %d and %d", groups[i], g, f)
			}
			of[groups[i]] = f
		}
		for f := range 4 {
			sizes = append(sizes, len(s.Test(r, f)))
		}
		if slices.Sort(sizes); sizes[3] != 30 || sizes[0] < 17 { // 54 for the three others
			t.Errorf("sizes %v", sizes)
		}
	}
	if !s.Grouped || reflect.DeepEqual(s.Fold[0], s.Fold[1]) {
		t.Error("two repeats are the same")
	}
	_, err = ByGroup("by scaffold", groups, 14, 1, 0)
	if err == nil || err.Error() != "14 folds, but 13 groups by scaffold, want no more folds than groups" {
		t.Errorf("%v", err)
	}
}

// Every fold is later than all from which it is predicted, and equal times stay together.
func TestByTime(t *testing.T) {
	times := []float64{5, 1, 2, 2, 9, 8, 7, 3, 4, 6, 2, 0}
	s, err := ByTime(times, 3)
	if err != nil {
		t.Fatal(err)
	}
	at := func(graphs []int) (out []float64) {
		for _, i := range graphs {
			out = append(out, times[i])
		}
		slices.Sort(out)
		return out
	}
	for f, want := range []struct{ train, test []float64 }{
		{[]float64{0, 1, 2, 2, 2}, []float64{3}}, // the twos belong together
		{[]float64{0, 1, 2, 2, 2, 3}, []float64{4, 5, 6}},
		{[]float64{0, 1, 2, 2, 2, 3, 4, 5, 6}, []float64{7, 8, 9}},
	} {
		if train, test := at(s.Without(0, f)), at(s.Test(0, f)); !slices.Equal(train, want.train) || !slices.Equal(test, want.test) {
			t.Errorf("fold %d: %v from %v, want %v", f, test, train, want)
		}
	}
	if s.Repeats() != 1 || len(s.Without(0, s.Folds)) != len(times) || s.Tuned() {
		t.Errorf("%+v", s)
	}
	_, err = ByTime([]float64{1, 1, 1, 2}, 3)
	if err == nil || err.Error() != "part 2 of 4 by time is empty: 4 graphs have 2 different times; want fewer folds" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		times []float64
		folds int
		want  string
	}{
		{[]float64{1, 2}, 0, "0 folds by time of 2 graphs, want at least 1 and fewer than graphs"},
		{[]float64{1, 2}, -1, "-1 folds by time of 2 graphs, want at least 1 and fewer than graphs"},
		{[]float64{1, 2}, 2, "2 folds by time of 2 graphs, want at least 1 and fewer than graphs"},
		{nil, 1, "1 folds by time of 0 graphs, want at least 1 and fewer than graphs"},
		{[]float64{1, math.NaN(), 3}, 1, "time 1 is not a number"},
	} {
		if _, err := ByTime(c.times, c.folds); err == nil || err.Error() != c.want {
			t.Errorf("%v, %d folds: %v, want %s", c.times, c.folds, err, c.want)
		}
	}
}

func TestFixed(t *testing.T) {
	s, err := Fixed([]bool{false, true, false})
	if err != nil || !slices.Equal(s.Test(0, 0), []int{1}) || !slices.Equal(s.Without(0, 0), []int{0, 2}) || s.Tuned() {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Fixed([]bool{true, true}); err == nil || err.Error() != "2 of 2 graphs are tested, want at least 1 and not all" {
		t.Errorf("%v", err)
	}
}

func TestFile(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	s, err := ByTime([]float64{4, 1, 3, 2}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, ids); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := Read(&b, ids)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v, want %+v", got, err, s)
	}
	// A flipped bit is noticed, or it changes nothing.
	for i := range text {
		for bit := range 8 {
			bad := []byte(text)
			bad[i] ^= 1 << bit
			if got, err := Read(bytes.NewReader(bad), ids); err == nil && !reflect.DeepEqual(got, s) {
				t.Fatalf("bit %d of byte %d makes other splits: %s", bit, i, bad)
			}
		}
	}
	damaged := strings.Replace(text, "[1,", "[0,", 1)
	before, _, _ := strings.Cut(text, `,"checksum"`)
	text = before + "}" // as other programs write it
	if got, err := Read(strings.NewReader(text), ids); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v, want %+v", got, err, s)
	}
	for _, c := range []struct{ text, want string }{
		{damaged, "they do not match their checksum"}, {text + "{}", "text after the object"},
		{strings.Replace(text, `"b"`, `"x"`, 1), "other graphs: 4 there, 4 here, and graph 1 is the first that differs"},
		{strings.Replace(text, `,"d"`, ``, 1), "other graphs: 3 there, 4 here, and graph 3"},
		{`{"folds":2,"fold":[[0,1,0]]}`, "repeat 0 has 3 graphs, want 4 as in the data"},
		{`{"folds":2,"fold":[[0,1,0,2]]}`, "repeat 0: fold 2 of graph 3, want -1 to 1"},
		{`{"folds":2,"fold":[[0,0,0,0]]}`, "repeat 0: fold 0 has no graphs to test or to train on"},
		{`{"folds":0,"fold":[[0,0,0,0]]}`, "0 folds and 1 repeats"},
		{`{"fold":[]}`, "0 folds and 0 repeats"},
		{`{"folds":"x"}`, "not a file of splits: "}, {`{"nodes":2}`, "not a file of splits: "}, {``, "not a file of splits: "},
	} {
		if _, err := Read(strings.NewReader(c.text), ids); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
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

// Splits that can be read test and train every fold, and are the same when they are written and read again.
func FuzzRead(f *testing.F) {
	ids := []string{"a", "b", "c", "d"}
	for _, make := range []func() (*Splits, error){
		func() (*Splits, error) { return Random(4, 2, 2, 1) },
		func() (*Splits, error) { return ByTime([]float64{1, 2, 3, 4}, 2) },
		func() (*Splits, error) { return Fixed([]bool{true, false, false, true}) },
	} {
		s, err := make()
		if err != nil {
			f.Fatal(err)
		}
		var text bytes.Buffer
		if err := s.Write(&text, ids); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
	}
	f.Add([]byte(`{"scheme":"x","folds":2,"fold":[[0,1,0,1]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(bytes.NewReader(text), ids)
		if err != nil {
			return
		}
		for r := range s.Repeats() {
			for fold := range s.Folds {
				if len(s.Test(r, fold)) == 0 || len(s.Without(r, fold)) == 0 {
					t.Errorf("repeat %d, fold %d of %+v is empty", r, fold, s)
				}
			}
		}
		var again bytes.Buffer
		if err := s.Write(&again, ids); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(&again, ids); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, %v, want %+v", got, err, s)
		}
	})
}
