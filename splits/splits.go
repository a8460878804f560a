// Package splits deals examples to the folds of a cross-validation.
package splits

import (
	"cmp"
	"fmt"
	"maps"
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

// ByValue is Stratified for targets that are numbers: of every run of folds examples in
// the order of their targets, each goes to another fold.
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
