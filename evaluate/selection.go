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
	x := e.seconds(name, of)
	if e.o.Selection == OnReported {
		e.chooseReported(&x, of)
		return x
	}
	e.fill(&x, func(repeat, f int) int {
		m, _ := e.take(repeat, f, of)
		return m
	})
	return x
}

// chosen makes the row of Chosen.
func (e *engine) chosen(procedures [][]int) Result {
	x := e.seconds(Chosen.String(), slices.Concat(procedures...))
	e.fill(&x, func(repeat, f int) int {
		scores := make([][]float64, len(procedures))
		for i, methods := range procedures {
			scores[i], _ = e.procedure(repeat, f, methods)
		}
		m, _ := e.bestOf(repeat, f, procedures[e.decide(scores, e.weights(repeat, f, -1))], -1)
		return m
	})
	return x
}

// decide returns the position of the procedure to take, given the scores of each on the
// validators: that of the last learned combination, or with Chosen that of the best single
// setting, which comes after it, if it is clearly better.
func (e *engine) decide(scores [][]float64, weight []float64) int {
	learned := len(e.methods) - len(e.settings) - 1
	if learned < 0 {
		return 0
	}
	if slices.Contains(e.o.Combinations, Chosen) && clearlyBetter(scores[learned+1], scores[learned], weight) {
		return learned + 1
	}
	return learned
}

// clearlyBetter reports whether scores a are better than b by more than four standard errors,
//
//	mean(d) > 3 s_d/√n,   d = a − b on the n validators with a weight:
//
// on small data the differences between ways to combine kernels are mostly accidents of the
// folds. With a single validator the larger score is better.
func clearlyBetter(a, b, weight []float64) bool {
	var d, w []float64
	for g, x := range weight {
		if x > 0 {
			d, w = append(d, a[g]-b[g]), append(w, x)
		}
	}
	bound := 0.0
	if n := float64(len(d)); n > 1 {
		bound = 4 * deviation(d) / math.Sqrt(n)
	}
	return weighted(d, w) > bound
}

// seconds begins a row with the time of its methods.
func (e *engine) seconds(name string, of []int) Result {
	x := Result{Name: name}
	for _, m := range of {
		x.KernelSeconds += e.methods[m].kernelSeconds
		x.LearnSeconds += e.methods[m].learnSeconds
	}
	x.Seconds = x.KernelSeconds + x.LearnSeconds
	return x
}

// fill takes the results of the method that choose names for each repeat and fold.
func (e *engine) fill(x *Result, choose func(repeat, f int) int) {
	counts := map[string]int{}
	chosen := make([][]foldResult, e.splits.Repeats())
	for r := range chosen {
		for f := range e.splits.Folds {
			m := choose(r, f)
			fold := e.results[m][r][f]
			chosen[r] = append(chosen[r], fold)
			x.Limited += fold.Limited
			counts[e.choice(m, e.o.grid()[fold.Best])]++
		}
	}
	x.choices(counts)
	e.summarise(x, chosen)
}

// bestOf returns the method, and the value of the grid, with the best mean score on the
// validators of a fold but for the fold skip: the first method of equals.
func (e *engine) bestOf(repeat, f int, of []int, skip int) (m, c int) {
	return e.bestWith(repeat, f, of, e.weights(repeat, f, skip))
}

// bestWith is bestOf for the given weights of the validators.
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

// procedure estimates the scores of choosing among methods, for the training part of fold f:
// each validator is scored with what the others would choose. The score of the winner itself
// is too high, the more so the more there are to choose from. With a single validator there
// is nothing else. known are the scores that people know.
func (e *engine) procedure(repeat, f int, of []int) (scores, known []float64) {
	validators := e.validators(f)
	for i, g := range validators {
		skip := g
		if len(validators) == 1 {
			skip = -1
		}
		m, c := e.bestOf(repeat, f, of, skip)
		r := &e.results[m][repeat][f]
		scores, known = append(scores, r.Inner[c][i]), append(known, r.known()[c][i])
	}
	return scores, known
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
