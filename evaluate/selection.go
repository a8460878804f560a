package evaluate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// row makes a row from methods among which every fold (or, with OnReported, the whole
// evaluation) chooses one.
func (e *engine) row(name string, of []int) Result {
	x := Result{Name: name}
	for _, m := range of {
		x.KernelSeconds += e.methods[m].kernelSeconds
		x.LearnSeconds += e.methods[m].learnSeconds
	}
	x.Seconds = x.KernelSeconds + x.LearnSeconds
	if e.o.Selection == OnReported {
		e.chooseReported(&x, of)
		return x
	}
	counts := map[string]int{}
	taken := make([][]foldResult, e.splits.Repeats())
	for r := range taken {
		for f := range e.splits.Folds {
			m, _ := e.take(r, f, of)
			fold := e.results[m][r][f]
			taken[r] = append(taken[r], fold)
			x.Limited += fold.Limited
			counts[e.choice(m, e.o.grid()[fold.Best])]++
		}
	}
	x.choices(counts)
	e.summarise(&x, taken)
	return x
}

// bestOf returns the method, and the value of the grid, with the best mean score on the
// validators of a fold: the first method of equals.
func (e *engine) bestOf(repeat, f int, of []int) (m, c int) {
	return e.bestWith(repeat, f, of, e.weights(repeat, f))
}

// bestWith is bestOf for given weights of the validators.
func (e *engine) bestWith(repeat, f int, of []int, weight []float64) (m, c int) {
	best := math.Inf(-1)
	scores := make([]float64, len(e.o.grid()))
	for _, k := range of {
		for i, inner := range e.results[k][repeat][f].Inner {
			scores[i] = weighted(inner, weight)
		}
		if i := e.o.best(scores); scores[i] > best {
			best, m, c = scores[i], k, i
		}
	}
	return m, c
}

// procedure estimates the scores of choosing among methods, as people know them, for the training
// part of fold f: each validator is scored with what the others would choose. The score of the winner
// itself is too high, the more so the more there are to choose from. With a single validator there
// is nothing else.
func (e *engine) procedure(repeat, f int, of []int) []float64 {
	weight := e.weights(repeat, f)
	scores := make([]float64, len(weight))
	for i := range weight {
		others := slices.Clone(weight)
		if others[i] = 0; slices.Max(others) == 0 {
			others = weight
		}
		m, c := e.bestWith(repeat, f, of, others)
		scores[i] = e.results[m][repeat][f].Known[c][i]
	}
	return scores
}

// choices sets Parameters and Choices.
func (x *Result) choices(counts map[string]int) {
	for p, n := range counts {
		x.Choices = append(x.Choices, Choice{p, n})
	}
	slices.SortFunc(x.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(b.Folds, a.Folds), cmp.Compare(a.Parameters, b.Parameters))
	})
	x.Parameters = x.Choices[0].Parameters
}

// chooseReported takes the setting and grid value with the best mean accuracy over all
// repeats on the test folds themselves, the first of equals.
func (e *engine) chooseReported(x *Result, of []int) {
	best := math.Inf(-1)
	var chosen Result
	for _, m := range of {
		for g, v := range e.o.grid() {
			trial := *x
			confusions := make([][]Confusion, e.splits.Repeats())
			for r, folds := range e.results[m] {
				for _, f := range folds {
					confusions[r] = append(confusions[r], f.Confusions[g])
					trial.Limited += f.Limited
				}
			}
			e.summariseConfusions(&trial, confusions)
			score := trial.Accuracy
			if e.o.Score == BalancedAccuracy {
				score = trial.Balanced
			}
			if score > best {
				best, chosen = score, trial
				chosen.Parameters = e.choice(m, v)
			}
		}
	}
	*x = chosen
}

// choice describes a method with a value of the learner's grid.
func (e *engine) choice(m int, value float64) string {
	if e.o.Learner == Ridge {
		return fmt.Sprintf("%s ridge=%g", e.methods[m].parameters, value)
	}
	return fmt.Sprintf("%s C=%g", e.methods[m].parameters, value)
}
