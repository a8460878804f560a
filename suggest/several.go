package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// Wanted is a goal of one target of several.
type Wanted struct {
	Target string
	Goal
}

// String returns the text that ParseWanted reads.
func (w Wanted) String() string { return w.Target + "=" + w.Goal.String() }

// ParseWanted reads a target and its goal, such as logD=1:3. The goal stands behind the last equals sign.
func ParseWanted(text string) (Wanted, error) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return Wanted{}, fmt.Errorf("goal %q: want the name of a target and its goal, such as logD=1:3", text)
	}
	g, err := ParseGoal(text[at+1:])
	return Wanted{text[:at], g}, err
}

// mostAims is the number of targets that can be wanted as large, as small or as near as possible: the front of more takes too
// many boxes.
const mostAims = 4

// Several says what is wanted of several targets, and what is known. Limits are goals that are ranges. The others are aims.
type Several struct {
	Goals []Goal
	// Known are utilities of the aims where the limits hold, of graphs that are measured. Reference is that of each aim above
	// which more counts; for a single aim the best of Known takes its place.
	Known     [][]float64
	Reference []float64
}

// aims returns the positions of the goals that are not limits.
func (s *Several) aims() (out []int) {
	for j, g := range s.Goals {
		if g.Kind != Range {
			out = append(out, j)
		}
	}
	return out
}

// acquisition returns the function for the goals.
func (s *Several) acquisition(a Acquisition) (Acquisition, error) {
	if slices.ContainsFunc(s.Goals, func(g Goal) bool { return g.Kind == Learn }) {
		return "", errors.New("the goal learn is for one target alone")
	}
	want := Improvement
	switch n := len(s.aims()); {
	case n == 0:
		want = Probability
	case n > mostAims:
		return "", fmt.Errorf("suggest: %d targets with max, min or a number, want at most %d; a range may do for the others", n, mostAims)
	}
	if a != "" && a != want && a != Random {
		return "", fmt.Errorf("acquisition %s is not for these goals of several targets, want %s or %s", a, want, Random)
	}
	if a == "" {
		a = want
	}
	return a, nil
}

// front returns what is known of the aims, nil where nothing counts yet but that the limits hold.
func (s *Several) front() *front {
	switch aims := s.aims(); {
	case len(aims) == 0 || len(aims) == 1 && len(s.Known) == 0:
		return nil
	case len(aims) == 1:
		best := slices.MaxFunc(s.Known, func(a, b []float64) int { return int(math.Copysign(1, a[0]-b[0])) })
		return newFront(best, nil)
	}
	return newFront(s.Reference, s.Known)
}

// PickSeveral returns the batch for goals of several targets, as Pick does for one. The gain of a candidate is
//
//	P(all limits hold) · E(volume that its aims add to the front),
//
// of true values, which are independent between targets. For a single aim the volume is its improvement of the best that is
// known. Without aims the gain is the probability that all limits hold, and all of the batch before it fail. What was picked
// before has imagined values in every fantasy, which change the front and what is expected of the others.
func PickSeveral(ctx context.Context, posteriors []*learn.Posterior, s Several, o Options) ([]Picked, error) {
	n := len(posteriors[0].Mean)
	if err := o.check(n); err != nil {
		return nil, err
	}
	a, err := s.acquisition(o.Acquisition)
	if err != nil {
		return nil, err
	}
	b := &severalBatch{Options: o, Several: s, aim: s.aims(), taken: make([]bool, n), rest: o.Budget, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	first := &imagined{front: s.front()}
	for _, p := range posteriors {
		b.values = append(b.values, newConditional(p))
		first.mean = append(first.mean, p.Mean)
	}
	b.Acquisition, b.outcomes, b.order = a, []*imagined{first}, b.rng.Perm(n)
	var out []Picked
	for o.K == 0 || len(out) < o.K {
		i, value, err := b.next(ctx)
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

// severalBatch is what is known while one is chosen.
type severalBatch struct {
	Options
	Several
	aim      []int          // positions of the aims
	values   []*conditional // by goal
	taken    []bool
	rest     float64 // of the budget
	rng      *rand.Rand
	order    []int       // of Random
	outcomes []*imagined // a single one until something was picked
}

// imagined is an imagined outcome of what was picked.
type imagined struct {
	mean  [][]float64 // by goal, of all candidates
	front *front
	hit   bool // without aims: all limits hold for one
}

func (b *severalBatch) cost(i int) float64 {
	if b.Cost == nil {
		return 1
	}
	return b.Cost[i]
}

// next returns the best candidate that can be paid, −1 if there is none, and its acquisition. Of equals it is the first. Where
// nothing is left to gain, fantasies forget what they have gained.
func (b *severalBatch) next(ctx context.Context) (best int, value float64, err error) {
	values := make([]float64, len(b.taken))
	for again := range 2 {
		best = -1
		err := work.Each(ctx, len(values), 16, func(_, i int) error {
			if !b.taken[i] && b.cost(i) <= b.rest {
				values[i] = b.acquisition(i)
			}
			return nil
		})
		if err != nil {
			return -1, 0, err
		}
		top := math.Inf(-1)
		for i, taken := range b.taken {
			if taken || b.cost(i) > b.rest {
				continue
			}
			v := values[i]
			if b.Acquisition.perCost() {
				v -= math.Log(b.cost(i))
			}
			if best < 0 || v > top {
				best, top = i, v
			}
		}
		if again > 0 || best < 0 || !math.IsInf(top, -1) {
			break
		}
		for _, f := range b.outcomes {
			f.front, f.hit = b.front(), false
		}
	}
	if best >= 0 {
		if value = values[best]; b.Acquisition.perCost() {
			value = math.Exp(value)
		}
	}
	return best, value, nil
}

// acquisition returns that of a candidate, in logarithms where it is a gain.
func (b *severalBatch) acquisition(i int) float64 {
	if b.Acquisition == Random {
		return -float64(b.order[i])
	}
	deviation := make([]float64, len(b.values))
	for j, v := range b.values {
		deviation[j] = v.deviation(i)
	}
	most, sum := math.Inf(-1), 0.0
	logs := make([]float64, 0, len(b.outcomes))
	for _, f := range b.outcomes {
		v := math.Inf(-1)
		if !f.hit {
			v = b.gain(f.front, func(j int) (float64, float64) { return f.mean[j][i], deviation[j] })
		}
		logs, most = append(logs, v), max(most, v)
	}
	if math.IsInf(most, -1) {
		return most
	}
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum/float64(len(logs)))
}

// gain returns the logarithm of what a graph adds, whose true values have the means and deviations that of returns by goal.
func (s *Several) gain(known *front, of func(j int) (mean, deviation float64)) float64 {
	out := s.holds(of)
	if known == nil || math.IsInf(out, -1) {
		return out
	}
	aims := s.aims()
	return out + known.gain(func(k int, t float64) float64 {
		mean, deviation := of(aims[k])
		return s.Goals[aims[k]].improvement(mean, deviation, t)
	})
}

// holds returns the logarithm of the probability that all limits hold.
func (s *Several) holds(of func(j int) (mean, deviation float64)) float64 {
	out := 0.0
	for j, g := range s.Goals {
		if g.Kind == Range {
			mean, deviation := of(j)
			out += g.probability(mean, deviation, 0)
		}
	}
	return out
}

// limited reports whether values hold all limits, and returns the utilities of the aims.
func (s *Several) limited(of func(j int) float64) (ok bool, aims []float64) {
	ok = true
	for j, g := range s.Goals {
		if g.Kind == Range {
			ok = ok && g.hit(of(j), 0)
		} else {
			aims = append(aims, g.utility(of(j)))
		}
	}
	return ok, aims
}

// take takes a candidate, and imagines its values as batch.imagine does. Draws of one target are paired with those of another
// at random.
func (b *severalBatch) take(i int) {
	b.taken[i] = true
	b.rest -= b.cost(i)
	if b.Acquisition == Random {
		return
	}
	for len(b.outcomes) < b.Fantasies {
		one := &imagined{front: b.outcomes[0].front, hit: b.outcomes[0].hit}
		for _, mean := range b.outcomes[0].mean {
			one.mean = append(one.mean, slices.Clone(mean))
		}
		b.outcomes = append(b.outcomes, one)
	}
	drawn := make([][]float64, len(b.outcomes)) // by fantasy and goal
	for j, v := range b.values {
		d := v.deviation(i)
		if b.outcomes[0].mean[j] = slices.Clone(b.outcomes[0].mean[j]); d > 0 { // the first was the posterior's
			for k, at := range b.rng.Perm(len(b.outcomes)) {
				z := d * distuv.UnitNormal.Quantile((float64(at)+0.5)/float64(len(b.outcomes)))
				mean := b.outcomes[k].mean[j]
				drawn[k] = append(drawn[k], mean[i]+z)
				v.follow(mean, i, z/(d*d))
			}
		} else {
			for k, f := range b.outcomes {
				drawn[k] = append(drawn[k], f.mean[j][i])
			}
		}
		v.reveal(i, d*d)
	}
	for k, f := range b.outcomes {
		ok, aims := b.limited(func(j int) float64 { return drawn[k][j] })
		switch {
		case !ok:
		case len(b.aim) == 0:
			f.hit = true
		case len(b.aim) == 1 && (f.front == nil || aims[0] > f.front.reference[0]):
			f.front = newFront(aims, nil)
		case len(b.aim) > 1:
			f.front = f.front.with(aims)
		}
	}
}
