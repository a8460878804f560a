package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
)

// Splits says, for every repeat, in which fold each graph is tested. It is made by
// StratifiedSplits or ValueSplits, or read from a file by ReadSplits, so that other programs can
// be compared on the same folds.
type Splits struct {
	// Scheme says how the splits were made.
	Scheme string `json:"scheme"`
	// Seed is the one they were drawn from.
	Seed uint64 `json:"seed"`
	// Folds is the number of folds.
	Folds int `json:"folds"`
	// Fold[r][i] is the fold, 0 … Folds-1, in which repeat r tests graph i.
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

// Without returns the graphs of a repeat that belong to none of the folds, ascending.
func (s *Splits) Without(repeat int, folds ...int) []int {
	out := make([]int, 0, len(s.Fold[repeat]))
	for i, g := range s.Fold[repeat] {
		if !slices.Contains(folds, g) {
			out = append(out, i)
		}
	}
	return out
}

// Validate returns an error unless every repeat deals n graphs to folds that exist and are
// not empty.
func (s *Splits) Validate(n int) error {
	if s.Folds < 2 {
		return fmt.Errorf("splits: %d folds, want at least 2", s.Folds)
	}
	if len(s.Fold) == 0 {
		return fmt.Errorf("splits: no repeats, want at least 1")
	}
	for r, row := range s.Fold {
		if len(row) != n {
			return fmt.Errorf("splits: repeat %d has %d graphs, want %d", r, len(row), n)
		}
		size := make([]int, s.Folds)
		for i, f := range row {
			if f < 0 || f >= s.Folds {
				return fmt.Errorf("splits: repeat %d: graph %d is in fold %d, want 0 to %d", r, i, f, s.Folds-1)
			}
			size[f]++
		}
		for f, n := range size {
			if n == 0 {
				return fmt.Errorf("splits: repeat %d: fold %d is empty", r, f)
			}
		}
	}
	return nil
}

// Write writes the splits as a JSON object with the fields scheme, seed, folds and fold.
func (s *Splits) Write(w io.Writer) error {
	return json.NewEncoder(w).Encode(s)
}

// ReadSplits reads what Write wrote, for n graphs.
func ReadSplits(r io.Reader, n int) (*Splits, error) {
	var s Splits
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return nil, fmt.Errorf("splits: %w", err)
	}
	if err := s.Validate(n); err != nil {
		return nil, err
	}
	return &s, nil
}

// StratifiedSplits deals the examples of every class, shuffled, to the folds in turn; a class
// begins where the one before ended. So the numbers of examples of a class in two folds
// differ by at most 1, and so do the sizes of the folds. Repeat r depends on labels, folds,
// seed and r alone.
func StratifiedSplits(labels []int, folds, repeats int, seed uint64) (*Splits, error) {
	if err := checkSplits(len(labels), folds, repeats); err != nil {
		return nil, err
	}
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	members := make([][]int, len(classes))
	for i, l := range labels {
		c, _ := slices.BinarySearch(classes, l)
		members[c] = append(members[c], i)
	}
	s := &Splits{Scheme: "stratified by class", Seed: seed, Folds: folds}
	for r := range repeats {
		random := rand.New(rand.NewPCG(seed, uint64(r)))
		fold := make([]int, len(labels))
		next := 0
		for _, m := range members {
			for _, p := range random.Perm(len(m)) {
				fold[m[p]] = next % folds
				next++
			}
		}
		s.Fold = append(s.Fold, fold)
	}
	return s, nil
}

// ValueSplits is StratifiedSplits for targets that are numbers: of every run of folds examples in
// the order of their targets, each goes to another fold.
func ValueSplits(targets []float64, folds, repeats int, seed uint64) (*Splits, error) {
	n := len(targets)
	if err := checkSplits(n, folds, repeats); err != nil {
		return nil, err
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	s := &Splits{Scheme: "stratified by value", Seed: seed, Folds: folds}
	for r := range repeats {
		random := rand.New(rand.NewPCG(seed, uint64(r)))
		slices.Sort(order)
		random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] }) // equal targets
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(targets[a], targets[b]) })
		fold := make([]int, n)
		for lo := 0; lo < n; lo += folds {
			deal := random.Perm(min(folds, n-lo))
			for k, f := range deal {
				fold[order[lo+k]] = f
			}
		}
		s.Fold = append(s.Fold, fold)
	}
	return s, nil
}

func checkSplits(n, folds, repeats int) error {
	switch {
	case folds < 2:
		return fmt.Errorf("%d folds, want at least 2", folds)
	case repeats < 1:
		return fmt.Errorf("%d repeats, want at least 1", repeats)
	case n < folds:
		return fmt.Errorf("%d folds of %d graphs, want no more folds than graphs", folds, n)
	}
	return nil
}
