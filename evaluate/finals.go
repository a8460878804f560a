package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/svm"
)

// Of many settings the best on a sample of the training graphs is mostly lucky. So where a candidate has
// more than few, up to finalists with the best scores on the sample are scored again on all
// (docs/evaluation.md).
const (
	few       = 5
	finalists = 30
)

// sharedFrom is the number of folds from which on one inverse for all graphs is faster than their
// own factorisations.
const sharedFrom = 3

// twoStages reports whether many settings are chosen from in two stages where there are many
// training graphs. Scores on a sample and on all graphs do not compare, so not where combinations
// use both.
func (e *engine) twoStages() bool {
	return e.o.Inner == LeaveOneOut && e.o.Selection == Nested && len(e.o.Combinations) == 0
}

// families returns the settings of each candidate that has more than few, if the choice is in two
// stages.
func (e *engine) families() [][]int {
	if !e.twoStages() {
		return nil
	}
	var of [][]int
	for c := range e.candidates {
		of = append(of, e.settingsOf(c))
	}
	return slices.DeleteFunc(of, func(f []int) bool { return len(f) <= few })
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
	weight := e.weights(repeat, f)
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
	order = order[:min(e.finalists, len(order))]
	slices.Sort(order)
	return order
}

// steps returns how many steps of progress the result of a finalist counts: about what it takes
// longer than one on a sample.
func (e *engine) steps(repeat, f int) int {
	x := float64(e.training(repeat, f)) / float64(e.o.Examples)
	if e.o.Fitting == Inductive {
		return max(1, int(x*x*x/6))
	}
	return max(1, int(x*x/6)) // thanks to inverses
}

// finalSteps returns the steps of progress of all finalists.
func (e *engine) finalSteps() int {
	n, settings := 0, 0
	for _, of := range e.families() {
		settings += min(e.finalists, len(of))
	}
	for r := range e.splits.Repeats() {
		for f := range e.splits.Folds {
			if e.training(r, f) > e.o.Examples {
				n += settings * e.steps(r, f)
			}
		}
	}
	return n
}

// final scores a setting on all training graphs of a fold with the value of the grid that was best on
// the sample, and predicts the fold if no finalist before it is as good.
func (e *engine) final(ctx context.Context, m int, s source, repeat int, r *foldResult) error {
	train, test := e.splits.Without(repeat, r.Fold), e.splits.Test(repeat, r.Fold)
	var fit regressor
	if x, ok := s.(fixed); ok && x.inverses[r.Best] != nil {
		rest, err := x.inverses[r.Best].Without(test)
		if err != nil {
			return fmt.Errorf("repeat %d, fold %d left out: %w", repeat, r.Fold, err)
		}
		fit = fromInverse{rest}
	} else {
		gram, _, err := s.part(ctx, repeat, []int{r.Fold}, train)
		if err != nil {
			return err
		}
		fit = fromGram{gram}
	}
	p, err := e.targets.leaveOneOut(ctx, fit, train, e.ridges()[r.Best:][:1])
	if err != nil {
		return fmt.Errorf("repeat %d, fold %d left out: %w", repeat, r.Fold, err)
	}
	score := e.score(train, p[0])
	r.Final = &score
	r.Labels, r.Scores, r.Values = nil, nil, nil
	if len(test) == 0 {
		return nil
	}
	return e.test(ctx, m, s, repeat, r)
}

// invert returns a source with the inverses that many of a finalist's parts have in common, for those that are
// missing, and the time that they took.
func (e *engine) invert(ctx context.Context, m int, s fixed, parts, missing []part) (fixed, float64, error) {
	count := func(parts []part) map[int]int {
		n := map[int]int{}
		for _, p := range parts {
			for _, f := range p.folds {
				n[e.results[m][p.repeat][f].Best]++
			}
		}
		return n
	}
	if s.clip { // differently for every part
		return s, 0, nil
	}
	var wanted []int
	all := count(parts)
	for c := range count(missing) {
		if all[c] >= sharedFrom {
			wanted = append(wanted, c)
		}
	}
	found := make([]*svm.Inverse, len(wanted))
	seconds := make([]float64, len(wanted))
	err := e.pool.each(ctx, len(wanted), func(k int) (err error) {
		start := e.clock()
		found[k], err = svm.Invert(ctx, svm.Full(s.m), e.ridges()[wanted[k]])
		seconds[k] = e.clock() - start
		return err
	})
	s.inverses = map[int]*svm.Inverse{}
	spent := 0.0
	for k, c := range wanted {
		s.inverses[c] = found[k]
		spent += seconds[k]
	}
	return s, spent, err
}

// finalScore returns the score of a finalist, and −∞ for others.
func (r *foldResult) finalScore() float64 {
	if r.Final == nil {
		return math.Inf(-1)
	}
	return *r.Final
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
		return e.bestOf(repeat, f, of)
	}
	return m, c
}
