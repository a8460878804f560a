// Package splits deals examples to the folds of a cross-validation.
package splits

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Splits says, for every repeat, in which fold each graph is tested. It is made by
// Stratified or ByValue.
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

// Stratified deals the examples of every class, shuffled, to the folds in turn; a class
// begins where the one before ended. So the numbers of examples of a class in two folds
// differ by at most 1, and so do the sizes of the folds. Repeat r depends on labels, folds,
// seed and r alone.
func Stratified(labels []int, folds, repeats int, seed uint64) (*Splits, error) {
	if err := check(len(labels), folds, repeats); err != nil {
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

// ByValue is Stratified for targets that are numbers: of every run of folds examples in
// the order of their targets, each goes to another fold.
func ByValue(targets []float64, folds, repeats int, seed uint64) (*Splits, error) {
	n := len(targets)
	if err := check(n, folds, repeats); err != nil {
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

func check(n, folds, repeats int) error {
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
