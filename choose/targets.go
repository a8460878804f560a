package choose

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/splits"
)

// Targets are what is to be learned, of all graphs.
type Targets struct {
	// Classes are the names of the classes and Labels the class of each graph, a position in
	// Classes. Both are nil for regression, where Values has the targets.
	Classes []string
	Labels  []int
	Values  []float64
	// Groups are the graphs that belong together, nil if that is not known: molecules with one scaffold.
	Groups *Groups
	// Weights are those of learn.Targets, which the learner of a plan gets; nil for 1. What it predicts for
	// graphs that are held out depends on them. Weights of values say how much noise each has, so they count
	// where kernels and ridges are scored. Those of classes have no part in that.
	Weights learn.Weights
}

// Regression reports whether the targets are values.
func (t *Targets) Regression() bool { return t.Classes == nil }

// OneClassError says that all graphs have one class.
type OneClassError struct {
	Class   string
	Numeric bool // the class is a number
}

func (e *OneClassError) Error() string {
	return fmt.Sprintf("all graphs have the target %q, want at least two classes", e.Class)
}

// ReadTargets turns the texts of a dataset's targets into classes or values. Classes are in the
// order of their values if all are numbers, else in that of their names. Every graph needs a target.
func ReadTargets(d *dataset.Dataset, task Task) (*Targets, error) {
	if len(d.Graphs) == 0 {
		return nil, errors.New("no graphs")
	}
	regression := task == Regression || task == AutoTask && dataset.Info(d).TargetRange != nil
	numbers := make(map[string]float64)
	numeric := true
	for i, g := range d.Graphs {
		target := g.Target()
		if target == "" {
			return nil, fmt.Errorf("graph %d (%s) has no target, want a target for every graph", i, g.ID())
		}
		x, err := strconv.ParseFloat(target, 64)
		if regression && math.Abs(x) > dataset.MaxTarget {
			return nil, fmt.Errorf("graph %d (%s): target %q, want a number of at most %g", i, g.ID(), target, dataset.MaxTarget)
		}
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			if regression {
				return nil, fmt.Errorf("graph %d (%s): target %q, want a finite number for regression", i, g.ID(), target)
			}
			numeric = false
		}
		numbers[target] = x
	}
	t := &Targets{Groups: ownGroups(d)}
	if regression {
		for _, g := range d.Graphs {
			t.Values = append(t.Values, numbers[g.Target()])
		}
		return t, nil
	}
	t.Classes = slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		if numeric {
			return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	if len(t.Classes) < 2 {
		return nil, &OneClassError{t.Classes[0], numeric}
	}
	for _, g := range d.Graphs {
		t.Labels = append(t.Labels, slices.Index(t.Classes, g.Target()))
	}
	return t, nil
}

// Uneven reports whether accuracy says little about the classes, as metrics.Uneven does.
func (t *Targets) Uneven() bool { return !t.Regression() && metrics.Uneven(t.counts()) }

func (t *Targets) counts() []int {
	counts := make([]int, len(t.Classes))
	for _, l := range t.Labels {
		counts[l]++
	}
	return counts
}

// RareClass returns the name of the class that is rare (metrics.Rarest), "" if none is.
func (t *Targets) RareClass() string {
	if t.Regression() {
		return ""
	}
	if class, rare := metrics.Rarest(t.counts()); rare {
		return t.Classes[class]
	}
	return ""
}

// Rare says how well the scores of graphs find the class that is rare (metrics.Rarest): the average
// precision, and the enrichment among the best 1 and 5 %. It returns nothing if no class is rare.
func (t *Targets) Rare(graphs []int, scores [][]float64) []Figure {
	class := slices.Index(t.Classes, t.RareClass())
	if class < 0 {
		return nil
	}
	positive, score := make([]bool, len(graphs)), make([]float64, len(graphs))
	for k, i := range graphs {
		positive[k], score[k] = t.Labels[i] == class, scores[k][class]
	}
	ap, ok := metrics.AveragePrecision(positive, score)
	if !ok {
		return nil
	}
	one, _ := metrics.Enrichment(positive, score, 0.01)
	five, _ := metrics.Enrichment(positive, score, 0.05)
	return []Figure{{"average precision", ap}, {"enrichment at 1 %", one}, {"enrichment at 5 %", five}}
}

// Deal deals the graphs to folds, each class or range of values evenly.
func (t *Targets) Deal(folds, repeats int, seed uint64) (*splits.Splits, error) {
	if t.Regression() {
		return splits.ByValue(t.Values, folds, repeats, seed)
	}
	return splits.Stratified(t.Labels, folds, repeats, seed)
}

// score returns what the choice of parameters maximises, for predictions of examples.
func (t *Targets) score(how Score, examples []int, p HeldPredictions) float64 {
	n := float64(len(examples))
	sum := 0.0
	switch {
	case t.Regression():
		return -t.mean(examples, func(k int) float64 {
			d := t.Values[examples[k]] - p.Values[k]
			return d * d
		})
	case how == Squared:
		for c := range t.Classes {
			for k, i := range examples {
				z := -1.0
				if t.Labels[i] == c {
					z = 1
				}
				d := z - p.Scores[k][c]
				sum += d * d
			}
		}
		return -sum / n
	}
	c := metrics.NewConfusion(Pick(t.Labels, examples), p.Labels, len(t.Classes))
	if how == BalancedAccuracy {
		return c.BalancedAccuracy()
	}
	return c.Accuracy()
}

// sure bounds the log density of predictions that are exactly right, or exactly wrong.
const sure = 1e9

// density returns the mean log predictive density of examples. It compares ridges and kernels:
// unlike the squared error it sees whether deviations are as large as errors are.
func (t *Targets) density(examples []int, p HeldPredictions) float64 {
	return t.mean(examples, func(k int) float64 {
		return max(-sure, min(sure, metrics.LogDensity(t.Values[examples[k]], p.Values[k], p.Deviations[k])))
	})
}

// mean returns the mean by weight of what is said of each example.
func (t *Targets) mean(examples []int, of func(k int) float64) float64 {
	sum, all := 0.0, 0.0
	for k, i := range examples {
		w := t.Weights.Of(i)
		sum += float64(w * of(k))
		all += w
	}
	return sum / all
}

// Pick returns the entries of x at the given positions, none of nil.
func Pick[T any](x []T, at []int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = x[i]
	}
	return out
}
