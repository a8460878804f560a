package evaluate

import (
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/splits"
)

// HeldOut returns the row of a report for what was predicted for all graphs by learners that had not
// seen them, as choose.Plan.Held has it. All graphs count as one fold. A deviation or an interval
// between folds is therefore not known.
func HeldOut(name string, t *choose.Targets, p choose.HeldPredictions) Result {
	n := len(t.Labels) + len(t.Values)
	e := &evaluation{o: &Options{}, graphs: make([]*graph.Graph, n)}
	e.Targets, e.Splits = t, &splits.Splits{Folds: 1, Fold: [][]int{make([]int, n)}}
	out := Result{Name: name, Repeats: 1}
	e.summarise(&out, []choose.HeldPredictions{p})
	return out
}

// Majority is HeldOut for the baseline that sees no graph: always the largest class, or the mean value.
func Majority(t *choose.Targets) Result {
	if t.Regression() {
		n := len(t.Values)
		return HeldOut(meanName, t, choose.HeldPredictions{Values: slices.Repeat([]float64{metrics.Mean(t.Values)}, n)})
	}
	return HeldOut(majorityName, t, t.Always(kernel.UpTo(len(t.Labels)), len(t.Labels)))
}
