package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// Options say how a batch is chosen. Start from DefaultOptions.
type Options struct {
	Goal        Goal
	Acquisition Acquisition // empty for the default of the goal
	K           int         // how many; 0 for as many as Budget allows
	// Best is the largest utility that is known, −Inf if nothing is.
	Best float64
	// Cost of each candidate, nil for 1. Improvement, Probability and Variance are compared by gain per cost, the
	// others as they are. Budget bounds the sum of costs; +Inf is none.
	Cost   []float64
	Budget float64
	// Beta is the number of deviations of Bound.
	Beta float64
	// Fantasies is the number of imagined outcomes of the graphs that were picked before.
	Fantasies int
	Seed      uint64
}

// DefaultOptions returns 20 graphs without a budget, two deviations and 128 fantasies.
func DefaultOptions() Options {
	return Options{K: 20, Best: math.Inf(-1), Budget: math.Inf(1), Beta: 2, Fantasies: 128}
}

// Picked is a candidate that was picked, with its acquisition when it was: the expected improvement or the
// probability beyond those that were picked before it, the bound, the utility that was drawn or predicted, or for
// Variance what is learned, ½ log(1 + variance/noise²), in nats.
type Picked struct {
	Index       int
	Acquisition float64
}

// perCost reports whether an acquisition function is a gain, of which that per cost counts.
func (a Acquisition) perCost() bool { return a == Improvement || a == Probability || a == Variance }

// isValue reports whether an acquisition function is the utility of a value.
func (a Acquisition) isValue() bool { return a == Bound || a == Thompson || a == Mean }

// check returns an error unless the options suit so many candidates.
func (o *Options) check(n int) error {
	switch {
	case o.K < 0:
		return fmt.Errorf("suggest: %d graphs, want 0 or more", o.K)
	case o.K == 0 && math.IsInf(o.Budget, 1):
		return errors.New("suggest: neither a number of graphs nor a budget")
	case !(o.Budget > 0):
		return fmt.Errorf("suggest: budget %v, want more than 0", o.Budget)
	case !(o.Beta >= 0) || math.IsInf(o.Beta, 1):
		return fmt.Errorf("suggest: %v deviations, want 0 or more", o.Beta)
	case o.Fantasies < 1:
		return fmt.Errorf("suggest: %d fantasies, want at least 1", o.Fantasies)
	case o.Cost != nil && len(o.Cost) != n:
		return fmt.Errorf("suggest: %d costs of %d candidates", len(o.Cost), n)
	}
	for i, c := range o.Cost {
		if !(c > 0) || math.IsInf(c, 1) {
			return fmt.Errorf("suggest: cost of candidate %d is %v, want a positive number", i, c)
		}
	}
	return nil
}

// Pick returns the batch, the best candidate first. It is chosen one by one, so that each adds most to those
// before it.
//
//	Improvement  adds to E max(0, best utility of the batch − Best), of true values. That of one more candidate
//	             is its expected improvement after the others became known, in the mean over fantasies: joint
//	             draws of the values of those that were picked.
//	Probability  adds to the probability that at least one of the batch hits.
//	Variance     adds to the determinant of the covariance of measured values, and
//	Bound        counts what stays unknown when the others are measured.
//	Thompson     takes the best of a joint draw for each.
//
// Where all fantasies leave nothing to gain, the batch is full of what was wanted, and fantasies begin anew: more
// of the same is then looked for, with what is known. It takes n² multiplications for each of the batch, and n³/3
// for Thompson.
func Pick(ctx context.Context, p *learn.Posterior, o Options) ([]Picked, error) {
	n := len(p.Mean)
	if err := o.check(n); err != nil {
		return nil, err
	}
	a, err := o.Acquisition.Of(o.Goal)
	if err != nil {
		return nil, err
	}
	b := &batch{Options: o, conditional: &conditional{p: p}, taken: make([]bool, n), rest: o.Budget, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	b.Acquisition = a
	if o.K == 0 || o.K > n {
		b.K = n
	}
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	var out []Picked
	for len(out) < b.K {
		i, value, err := b.next(ctx, len(out))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			break
		}
		out = append(out, Picked{i, value})
		b.take(i)
	}
	return out, nil
}

// batch is what is known while one is chosen.
type batch struct {
	Options
	*conditional
	taken []bool
	rest  float64 // of the budget
	rng   *rand.Rand

	outcomes []*fantasy  // a single one until something was picked
	draws    [][]float64 // of Thompson
	order    []int       // of Random
}

// fantasy is an imagined outcome of what was picked.
type fantasy struct {
	mean []float64 // of all candidates
	best float64   // utility
	hit  bool
}

func (b *batch) prepare(ctx context.Context) error {
	n := len(b.p.Mean)
	switch b.Acquisition {
	case Thompson:
		m, err := b.p.Sample(ctx, b.K, b.Seed)
		if err != nil {
			return err
		}
		for k := range m.Rows {
			b.draws = append(b.draws, m.Row(k))
		}
		return nil
	case Random:
		b.order = b.rng.Perm(n)
		return nil
	}
	b.conditional = newConditional(b.p)
	b.outcomes = []*fantasy{{mean: b.p.Mean, best: b.Best}}
	return nil
}

// cost returns that of a candidate.
func (b *batch) cost(i int) float64 {
	if b.Cost == nil {
		return 1
	}
	return b.Cost[i]
}

// next returns the best candidate that can be paid, −1 if there is none, and its acquisition. Of equals it is the
// one with the best prediction, then the first.
func (b *batch) next(ctx context.Context, rank int) (best int, value float64, err error) {
	best = -1
	var top, mean float64
	values := make([]float64, len(b.taken))
	for again := range 2 {
		err := work.Each(ctx, len(values), 16, func(_, i int) error {
			if !b.taken[i] && b.cost(i) <= b.rest {
				values[i] = b.acquisition(i, rank)
			}
			return nil
		})
		if err != nil {
			return -1, 0, err
		}
		for i, taken := range b.taken {
			if taken || b.cost(i) > b.rest {
				continue
			}
			x := values[i]
			v := x
			if b.Acquisition.perCost() {
				v -= math.Log(b.cost(i))
			}
			if u := b.Goal.utility(b.p.Mean[i]); best < 0 || v > top || v == top && u > mean {
				best, top, mean, value = i, v, u, x
			}
		}
		if again > 0 || best < 0 || !math.IsInf(top, -1) || b.outcomes == nil || !b.restart() {
			break
		}
		best = -1
	}
	if best >= 0 && b.Acquisition.perCost() {
		value = math.Exp(value)
	}
	return best, value, nil
}

// acquisition returns that of a candidate, in logarithms where it is a gain.
func (b *batch) acquisition(i, rank int) float64 {
	switch b.Acquisition {
	case Thompson:
		return b.Goal.utility(b.draws[rank][i])
	case Random:
		return -float64(b.order[i])
	case Mean:
		return b.Goal.utility(b.p.Mean[i])
	case Bound:
		return b.Goal.bound(b.p.Mean[i], b.deviation(i), b.Beta)
	case Variance:
		noise := max(b.p.Noise*b.p.Noise, known*b.before[i])
		return math.Log(math.Log1p(max(0, b.variance[i])/noise) / 2)
	}
	most, sum, d := math.Inf(-1), 0.0, b.deviation(i)
	logs := make([]float64, 0, len(b.outcomes))
	for _, f := range b.outcomes {
		v := math.Inf(-1)
		switch {
		case b.Acquisition == Improvement:
			v = b.Goal.improvement(f.mean[i], d, f.best)
		case !f.hit:
			v = b.Goal.probability(f.mean[i], d, b.Best)
		}
		logs, most = append(logs, v), max(most, v)
	}
	if math.IsInf(most, 0) { // nothing to gain, or nothing known to compare with
		return most
	}
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum/float64(len(logs)))
}

// take takes a candidate.
func (b *batch) take(i int) {
	b.taken[i] = true
	b.rest -= b.cost(i)
	if b.covariance == nil || b.Acquisition == Mean {
		return
	}
	d := b.deviation(i)
	measured := d * d
	if b.Acquisition == Variance || b.Acquisition == Bound {
		measured += b.p.Noise * b.p.Noise
	} else {
		b.imagine(i, d)
	}
	b.reveal(i, measured)
}

// imagine draws the true value of a candidate in every fantasy, and adds what it tells. Draws are stratified: one
// from each of as many parts of equal probability.
func (b *batch) imagine(i int, d float64) {
	if len(b.outcomes) < b.Fantasies {
		one := b.outcomes[0]
		for len(b.outcomes) < b.Fantasies {
			b.outcomes = append(b.outcomes, &fantasy{slices.Clone(one.mean), one.best, one.hit})
		}
		b.outcomes[0] = &fantasy{slices.Clone(one.mean), one.best, one.hit} // its mean is the posterior's
	}
	for k, at := range b.rng.Perm(len(b.outcomes)) {
		f := b.outcomes[k]
		z := d * distuv.UnitNormal.Quantile((float64(at)+0.5)/float64(len(b.outcomes)))
		value := f.mean[i] + z
		f.best = max(f.best, b.Goal.utility(value))
		f.hit = f.hit || b.Goal.hit(value, b.Best)
		if d == 0 {
			continue
		}
		b.follow(f.mean, i, z/(d*d))
	}
}

// restart forgets what fantasies have gained, and keeps what they know. It reports whether that changes anything.
func (b *batch) restart() bool {
	changed := false
	for _, f := range b.outcomes {
		changed = changed || f.hit || f.best > b.Best
		f.best, f.hit = b.Best, false
	}
	return changed
}

// spread returns a batch of candidates that are good by themselves and unlike each other: one by one, that which
// makes the determinant of
//
//	√q_i k(x_i, x_j) √q_j
//
// largest, for qualities q from 0 to 1 and the Gram matrix of the kernel. The acquisition of a candidate is its
// quality, times the share of k(x, x) that is left when the others are known. Candidates with k(x, x) = 0 are all
// alike, and unlike the others.
func spread(ctx context.Context, gram *kernel.Matrix, quality []float64, o Options) ([]Picked, error) {
	n := len(quality)
	if err := o.check(n); err != nil {
		return nil, err
	}
	if o.K == 0 || o.K > n {
		o.K = n
	}
	left, taken, rest := make([]float64, n), make([]bool, n), o.Budget
	for i := range left {
		left[i] = gram.At(i, i)
	}
	cost := func(i int) float64 {
		if o.Cost == nil {
			return 1
		}
		return o.Cost[i]
	}
	nothing := 1.0 // share of k(x, x) = 0 that is left
	share := func(i int) float64 {
		if all := gram.At(i, i); all > 0 {
			return max(0, left[i]) / all
		}
		return nothing
	}
	var rows [][]float64 // of the factor, for those that were picked
	var out []Picked
	for len(out) < o.K {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best, top, value := -1, 0.0, 0.0
		for i := range n {
			if taken[i] || cost(i) > rest {
				continue
			}
			gain := quality[i] * share(i)
			if v := gain / cost(i); best < 0 || v > top || v == top && quality[i] > quality[best] {
				best, top, value = i, v, gain
			}
		}
		if best < 0 {
			break
		}
		out, taken[best], rest = append(out, Picked{best, value}), true, rest-cost(best)
		if all := gram.At(best, best); left[best] <= known*all {
			if !(all > 0) {
				nothing = 0
			}
			continue
		}
		row, root := slices.Clone(gram.Row(best)), math.Sqrt(left[best])
		for _, r := range rows {
			dense.Axpy(row, -r[best], r)
		}
		for i := range row {
			row[i] /= root
			left[i] -= float64(row[i] * row[i])
		}
		rows = append(rows, row)
	}
	return out, nil
}
