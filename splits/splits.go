// Package splits deals examples to the folds of a cross-validation, and keeps the folds in files.
package splits

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Splits says, for every repeat, in which fold each graph is tested.
type Splits struct {
	// Scheme says how the splits were made.
	Scheme string `json:"scheme"`
	// Seed is the one they were drawn from.
	Seed uint64 `json:"seed"`
	// Folds is the number of folds.
	Folds int `json:"folds"`
	// Forward says that a fold is predicted from the graphs of lower folds alone, and not from all others.
	Forward bool `json:"forward,omitempty"`
	// Grouped says that graphs that belong together, such as those with one scaffold, are in one fold.
	Grouped bool `json:"grouped,omitempty"`
	// IDs are the identifiers of the graphs, in a file.
	IDs []string `json:"ids,omitempty"`
	// Fold[r][i] is the fold, 0 … Folds-1, in which repeat r tests graph i, or −1 if it only trains.
	Fold [][]int `json:"fold"`
}

// Repeats returns the number of repeats.
func (s *Splits) Repeats() int { return len(s.Fold) }

// Test returns the graphs that fold f of a repeat tests, ascending.
func (s *Splits) Test(repeat, f int) []int {
	var out []int
	for i, g := range s.Fold[repeat] {
		if g == f {
			out = append(out, i)
		}
	}
	return out
}

// Without returns the graphs of a repeat from which the folds may be predicted, ascending: those that belong
// to none of them, with Forward also to none that is higher.
func (s *Splits) Without(repeat int, folds ...int) []int {
	out := make([]int, 0, len(s.Fold[repeat]))
	for i := range s.Fold[repeat] {
		if !slices.ContainsFunc(folds, func(f int) bool { return !s.Trains(repeat, f, i) }) {
			out = append(out, i)
		}
	}
	return out
}

// Trains reports whether graph i is one of those from which a fold is predicted.
func (s *Splits) Trains(repeat, f, i int) bool {
	g := s.Fold[repeat][i]
	return g != f && (g < f || !s.Forward)
}

// Tuned reports whether the training part of every fold has two folds or more, by which parameters can be chosen.
func (s *Splits) Tuned() bool { return s.Folds > 2 && !s.Forward }

// Random deals examples to folds whose sizes differ by at most 1.
func Random(n, folds, repeats int, seed uint64) (*Splits, error) {
	s, err := Stratified(make([]int, n), folds, repeats, seed)
	if err == nil {
		s.Scheme = "random"
	}
	return s, err
}

// Stratified deals the examples of every class, shuffled, to the folds in turn; a class
// begins where the one before ended. So the numbers of examples of a class in two folds
// differ by at most 1, and so do the sizes of the folds. Repeat r depends on labels, folds,
// seed and r alone.
func Stratified(labels []int, folds, repeats int, seed uint64) (*Splits, error) {
	members := map[int][]int{} // by class
	for i, l := range labels {
		members[l] = append(members[l], i)
	}
	classes := slices.Sorted(maps.Keys(members))
	return newSplits("stratified by class", len(labels), folds, repeats, seed, func(fold []int, random *rand.Rand) {
		next := 0
		for _, c := range classes {
			for _, p := range random.Perm(len(members[c])) {
				fold[members[c][p]] = next % folds
				next++
			}
		}
	})
}

// ByValue is Stratified for targets that are numbers. Examples are sorted by their targets, and each
// run of as many examples as there are folds is dealt to different folds.
func ByValue(targets []float64, folds, repeats int, seed uint64) (*Splits, error) {
	n := len(targets)
	order := make([]int, n)
	return newSplits("stratified by value", n, folds, repeats, seed, func(fold []int, random *rand.Rand) {
		for i := range order {
			order[i] = i
		}
		random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] }) // equal targets
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(targets[a], targets[b]) })
		for lo := 0; lo < n; lo += folds {
			for k, f := range random.Perm(min(folds, n-lo)) {
				fold[order[lo+k]] = f
			}
		}
	})
}

// ByGroup puts the examples of a group into one fold. The groups are sorted by falling size, and
// equal ones are shuffled. Each goes to the smallest fold. scheme names the groups.
func ByGroup(scheme string, groups []int, folds, repeats int, seed uint64) (*Splits, error) {
	members := map[int][]int{}
	for i, g := range groups {
		members[g] = append(members[g], i)
	}
	if len(members) < folds {
		return nil, fmt.Errorf("%d folds, but %d groups %s, want no more folds than groups", folds, len(members), scheme)
	}
	names := slices.Sorted(maps.Keys(members))
	s, err := newSplits(scheme, len(groups), folds, repeats, seed, func(fold []int, random *rand.Rand) {
		order, sizes := slices.Clone(names), make([]int, folds)
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(members[b]), len(members[a])) })
		for _, g := range order {
			f := slices.Index(sizes, slices.Min(sizes))
			for _, i := range members[g] {
				fold[i] = f
			}
			sizes[f] += len(members[g])
		}
	})
	if err == nil {
		s.Grouped = true
	}
	return s, err
}

// ByTime cuts the examples, in the order of their times, into folds + 1 parts of about the same size. The
// first only trains; each other one is a fold, which is predicted from all parts before it. Examples of the
// same time are in one part.
func ByTime(times []float64, folds int) (*Splits, error) {
	if folds < 1 || folds >= len(times) {
		return nil, fmt.Errorf("%d folds by time of %d graphs, want at least 1 and fewer than graphs", folds, len(times))
	}
	if i := slices.IndexFunc(times, math.IsNaN); i >= 0 {
		return nil, fmt.Errorf("time %d is not a number", i)
	}
	s := &Splits{Scheme: "by time, each predicted from the earlier ones", Folds: folds, Forward: true, Fold: [][]int{make([]int, len(times))}}
	sorted := slices.Sorted(slices.Values(times))
	for i, t := range times {
		earlier, _ := slices.BinarySearch(sorted, t)
		s.Fold[0][i] = earlier*(folds+1)/len(times) - 1
	}
	for f := -1; f < folds; f++ {
		if !slices.Contains(s.Fold[0], f) {
			return nil, fmt.Errorf("part %d of %d by time is empty: %d graphs have %d different times; want fewer folds",
				f+2, folds+1, len(times), len(slices.Compact(sorted)))
		}
	}
	return s, nil
}

// Fixed tests some examples and trains on the others.
func Fixed(test []bool) (*Splits, error) {
	s := &Splits{Scheme: "fixed", Folds: 1, Fold: [][]int{make([]int, len(test))}}
	for i, t := range test {
		if !t {
			s.Fold[0][i] = -1
		}
	}
	if tested := len(s.Test(0, 0)); tested == 0 || tested == len(test) {
		return nil, fmt.Errorf("%d of %d graphs are tested, want at least 1 and not all", tested, len(test))
	}
	return s, nil
}

// newSplits lets deal set the folds of n examples for each repeat.
func newSplits(scheme string, n, folds, repeats int, seed uint64, deal func(fold []int, random *rand.Rand)) (*Splits, error) {
	switch {
	case folds < 2:
		return nil, fmt.Errorf("%d folds, want at least 2", folds)
	case repeats < 1:
		return nil, fmt.Errorf("%d repeats, want at least 1", repeats)
	case n < folds:
		return nil, fmt.Errorf("%d folds of %d graphs, want no more folds than graphs", folds, n)
	}
	s := &Splits{Scheme: scheme, Seed: seed, Folds: folds}
	for r := range repeats {
		fold := make([]int, n)
		deal(fold, rand.New(rand.NewPCG(seed, uint64(r))))
		s.Fold = append(s.Fold, fold)
	}
	return s, nil
}

// splitsFile is the JSON object of a file.
type splitsFile struct {
	*Splits
	// Checksum is the CRC-32C of the object without it, in hexadecimal. Other programs may leave it out.
	Checksum string `json:"checksum,omitempty"`
}

// sum returns the checksum of the splits.
func (f splitsFile) sum() (string, error) {
	text, err := json.Marshal(f.Splits)
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))), err
}

// Write writes splits as JSON, with the identifiers of the graphs.
func (s *Splits) Write(w io.Writer, ids []string) (err error) {
	named := *s
	named.IDs = ids
	f := splitsFile{Splits: &named}
	if f.Checksum, err = f.sum(); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(f)
}

// Read reads splits that Write wrote, for graphs with these identifiers.
func Read(r io.Reader, ids []string) (*Splits, error) {
	s := &Splits{}
	f := splitsFile{Splits: s}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a file of splits: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("not a file of splits: text after the object")
	}
	sum, err := f.sum()
	if err != nil {
		return nil, err
	}
	if f.Checksum != "" && f.Checksum != sum {
		return nil, errors.New("the splits are damaged, or were changed: they do not match their checksum; remove the member checksum if the change is meant")
	}
	if s.Folds < 1 || len(s.Fold) == 0 {
		return nil, fmt.Errorf("%d folds and %d repeats, want at least 1 of each", s.Folds, len(s.Fold))
	}
	if s.IDs != nil && !slices.Equal(s.IDs, ids) {
		at := 0
		for at < min(len(s.IDs), len(ids)) && s.IDs[at] == ids[at] {
			at++
		}
		return nil, fmt.Errorf("the splits are for other graphs: %d there, %d here, and graph %d is the first that differs",
			len(s.IDs), len(ids), at)
	}
	for r, fold := range s.Fold {
		if len(fold) != len(ids) {
			return nil, fmt.Errorf("repeat %d has %d graphs, want %d as in the data", r, len(fold), len(ids))
		}
		for i, f := range fold {
			if f < -1 || f >= s.Folds {
				return nil, fmt.Errorf("repeat %d: fold %d of graph %d, want -1 to %d", r, f, i, s.Folds-1)
			}
		}
		for f := range s.Folds {
			if len(s.Test(r, f)) == 0 || len(s.Without(r, f)) == 0 {
				return nil, fmt.Errorf("repeat %d: fold %d has no graphs to test or to train on", r, f)
			}
		}
	}
	s.IDs = nil
	return s, nil
}
