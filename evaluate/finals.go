package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// finalists is the number of settings that are scored again on all training graphs, where more
// have been scored on a sample: of many settings the best on a sample is mostly lucky
// (docs/evaluation.md).
const finalists = 5

// twoStages reports whether many settings are chosen from in two stages where there are many
// training graphs. Scores on a sample and on all graphs do not compare, so not where combinations
// use both.
func (e *engine) twoStages() bool {
	return e.o.Inner == LeaveOneOut && e.o.Selection == Nested && len(e.o.Combinations) == 0
}

// families returns the settings of each candidate that has more than finalists, if the choice is
// in two stages.
func (e *engine) families() [][]int {
	if !e.twoStages() {
		return nil
	}
	of := make([][]int, len(e.candidates))
	for m, s := range e.settings {
		of[s.candidate] = append(of[s.candidate], m)
	}
	return slices.DeleteFunc(of, func(f []int) bool { return len(f) <= finalists })
}

// staged reports whether a setting is chosen for a fold in two stages.
func (e *engine) staged(m, repeat, f int) bool {
	return m < len(e.settings) && e.training(repeat, f) > e.o.Examples &&
		slices.ContainsFunc(e.families(), func(of []int) bool { return slices.Contains(of, m) })
}

// finalistsOf returns the settings of a family that are scored again for a fold, ascending: those
// with the best scores on the sample, the first of equals. There are none where the sample is
// everything.
func (e *engine) finalistsOf(of []int, repeat, f int) []int {
	if e.training(repeat, f) <= e.o.Examples {
		return nil
	}
	weight := e.weights(repeat, f, -1)
	score := func(m int) float64 {
		r := &e.results[m][repeat][f]
		best := math.Inf(-1)
		for _, inner := range r.Inner {
			best = max(best, weighted(inner, weight))
		}
		return best
	}
	order := slices.Clone(of)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	order = order[:finalists]
	slices.Sort(order)
	return order
}

// steps returns how many steps of progress the result of a finalist counts: about what it takes
// longer than one on a sample.
func (e *engine) steps(repeat, f int) int {
	x := float64(e.training(repeat, f)) / float64(e.o.Examples)
	return max(1, int(x*x*x/2))
}

// finalSteps returns the steps of progress of all finalists.
func (e *engine) finalSteps() int {
	n, families := 0, len(e.families())
	for r := range e.splits.Repeats() {
		for f := range e.splits.Folds {
			if e.training(r, f) > e.o.Examples {
				n += finalists * families * e.steps(r, f)
			}
		}
	}
	return n
}

// final scores a setting on all training graphs of a fold with the values of the grid that are
// next to the best on the sample, and predicts the fold if no finalist before it is as good.
func (e *engine) final(ctx context.Context, m int, s source, repeat int, r *foldResult) error {
	train := e.splits.Without(repeat, r.Fold)
	gram, _, err := s.part(ctx, repeat, []int{r.Fold}, train)
	if err != nil {
		return err
	}
	ridges := e.ridges()
	r.From, r.Final = max(0, r.Best-1), nil
	for _, lambda := range ridges[r.From:min(len(ridges), r.Best+2)] {
		p, err := e.targets.leaveOneOut(ctx, gram, train, []float64{lambda})
		if err != nil {
			return fmt.Errorf("repeat %d, fold %d left out: %w", repeat, r.Fold, err)
		}
		r.Final = append(r.Final, e.targets.score(e.o.Score, train, p[0]))
	}
	r.Best = r.From + e.o.best(r.Final)
	r.Labels, r.Scores, r.Values = nil, nil, nil
	if len(e.splits.Test(repeat, r.Fold)) == 0 {
		return nil
	}
	return e.test(ctx, m, s, repeat, r)
}

// finalScore returns the best score of a finalist, and −∞ for others.
func (r *foldResult) finalScore() float64 {
	if r.Final == nil {
		return math.Inf(-1)
	}
	return r.Final[r.Best-r.From]
}

// take returns the method, and the value of the grid, that is chosen for a fold: the first of the
// best finalists, or without any the best on the validators.
func (e *engine) take(repeat, f int, of []int) (m, c int) {
	best := math.Inf(-1)
	for _, k := range of {
		if r := &e.results[k][repeat][f]; r.finalScore() > best {
			best, m, c = r.finalScore(), k, r.Best
		}
	}
	if math.IsInf(best, -1) {
		return e.bestOf(repeat, f, of, -1)
	}
	return m, c
}
