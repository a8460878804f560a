package suggest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is what is wanted of values.
type Kind int

// The kinds of goals.
const (
	Maximise Kind = iota // large values
	Minimise             // small values
	Reach                // values near Low, which is High
	Range                // values from Low to High
	Learn                // knowledge: what is not known of the values
)

// Goal is what is wanted of a value. Its utility of a value z, of which more is better, is
//
//	Maximise  z             Reach  −|z − Low|
//	Minimise  −z            Range  minus the distance to the range, 0 inside
type Goal struct {
	Kind      Kind
	Low, High float64 // of Reach and Range; they may be infinite
}

// ParseGoal reads max, min, learn, a number to reach, or a range such as 1:3, 1: or :3.
func ParseGoal(text string) (Goal, error) {
	switch text {
	case "max":
		return Goal{}, nil
	case "min":
		return Goal{Kind: Minimise}, nil
	case "learn":
		return Goal{Kind: Learn}, nil
	}
	low, high, isRange := strings.Cut(text, ":")
	g := Goal{Range, math.Inf(-1), math.Inf(1)}
	for _, side := range []struct {
		text string
		to   *float64
	}{{low, &g.Low}, {high, &g.High}} {
		if side.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(side.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Goal{}, fmt.Errorf("goal %q: want max, min, learn, a number to reach, or a range such as 1:3, 1: or :3", text)
		}
		*side.to = v
	}
	switch {
	case !isRange && low != "":
		return Goal{Reach, g.Low, g.Low}, nil
	case low == "" && high == "":
		return Goal{}, fmt.Errorf("goal %q: want max, min, learn, a number to reach, or a range such as 1:3, 1: or :3", text)
	case !(g.Low < g.High):
		return Goal{}, fmt.Errorf("goal %q: want a range that begins below its end", text)
	}
	return g, nil
}

// String returns the text that ParseGoal reads.
func (g Goal) String() string {
	number := func(x float64) string {
		if math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	switch g.Kind {
	case Maximise:
		return "max"
	case Minimise:
		return "min"
	case Learn:
		return "learn"
	case Reach:
		return number(g.Low)
	}
	return number(g.Low) + ":" + number(g.High)
}

// utility returns how good a value is.
func (g Goal) utility(z float64) float64 {
	switch g.Kind {
	case Maximise:
		return z
	case Minimise:
		return -z
	case Learn:
		return 0
	}
	return -max(0, g.Low-z, z-g.High)
}

// improvement returns the logarithm of the expected improvement of a normal variable with this mean and
// deviation over the best utility that is known, E max(0, utility − best). It is exact for a deviation of 0,
// and has all digits where the improvement itself is too small for a float64. Range and Learn have none.
func (g Goal) improvement(mean, deviation, best float64) float64 {
	if deviation == 0 {
		return math.Log(max(0, g.utility(mean)-best))
	}
	switch g.Kind {
	case Maximise, Minimise:
		return math.Log(deviation) + logGain((g.utility(mean)-best)/deviation)
	case Reach:
		if best >= 0 { // nothing is nearer
			return math.Inf(-1)
		}
		return math.Log(deviation) + logTriangle((mean-g.Low)/deviation, -best/deviation)
	}
	panic(fmt.Sprintf("suggest: improvement of the goal %s", g))
}

// probability returns the logarithm of the probability that the utility is above the best that is known, or
// for a Range that the value is in it.
func (g Goal) probability(mean, deviation, best float64) float64 {
	low, high := g.Low, g.High
	switch g.Kind {
	case Maximise:
		low, high = best, math.Inf(1)
	case Minimise:
		low, high = math.Inf(-1), -best
	case Reach:
		low, high = g.Low+best, g.Low-best
	case Learn:
		panic("suggest: probability of the goal learn")
	}
	if deviation == 0 {
		if g.hit(mean, best) {
			return 0
		}
		return math.Inf(-1)
	}
	return logBetween((low-mean)/deviation, (high-mean)/deviation)
}

// hit reports whether a value is what Probability is about.
func (g Goal) hit(z, best float64) bool {
	if g.Kind == Range {
		return z >= g.Low && z <= g.High
	}
	return g.utility(z) > best
}

// bound returns the largest utility within some deviations of the mean.
func (g Goal) bound(mean, deviation, times float64) float64 {
	half := times * deviation
	switch g.Kind {
	case Maximise, Minimise:
		return g.utility(mean) + half
	}
	return min(0, g.utility(mean)+half)
}

// Acquisition is how candidates are compared.
type Acquisition string

// The acquisition functions.
const (
	// Improvement is the expected improvement over the best that is known.
	Improvement Acquisition = "ei"
	// Probability is that of a value that is better than the best, or in the range.
	Probability Acquisition = "probability"
	// Bound is the largest utility within Options.Beta deviations.
	Bound Acquisition = "bound"
	// Thompson takes the best of a draw of the values of all candidates.
	Thompson Acquisition = "thompson"
	// Variance is what measurements tell about all values: the determinant of their covariance.
	Variance Acquisition = "variance"
	// Mean takes the best predictions, whatever is not known of them.
	Mean Acquisition = "mean"
	// Uncertainty of a class is 1 less the largest probability.
	Uncertainty Acquisition = "uncertainty"
	// Random takes any, to compare with.
	Random Acquisition = "random"
)

// suits lists the acquisition functions of each kind of goal, the default first.
var suits = map[Kind][]Acquisition{
	Maximise: {Improvement, Probability, Bound, Thompson, Mean},
	Minimise: {Improvement, Probability, Bound, Thompson, Mean},
	Reach:    {Improvement, Probability, Bound, Thompson, Mean},
	Range:    {Probability, Bound, Thompson, Mean},
	Learn:    {Variance},
}

// Of returns the acquisition function for a goal: the default of the goal where a is empty.
func (a Acquisition) Of(g Goal) (Acquisition, error) {
	list := suits[g.Kind]
	if a == "" {
		return list[0], nil
	}
	if a == Random && g.Kind != Learn || slices.Contains(list, a) {
		return a, nil
	}
	var names []string
	for _, x := range list {
		names = append(names, string(x))
	}
	return "", fmt.Errorf("acquisition %s is not for the goal %s, want %s", a, g, strings.Join(names, ", "))
}
