package pipeline

import (
	"context"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counts are the counters of a run. A runner may count a piece of work that it repeated once
// or more than once; what was written is the same.
type Counts struct {
	Read        int64 `json:"graphs_read"`
	Bad         int64 `json:"graphs_bad"`         // left out
	Transformed int64 `json:"graphs_transformed"` // graphs whose features were computed
	Added       int64 `json:"graphs_added"`       // to what is learned from
	Untargeted  int64 `json:"graphs_untargeted"`  // not added, because they have no target
	Predicted   int64 `json:"graphs_predicted"`
	Computed    int64 `json:"tiles_computed"` // tiles, files of vectors or predictions, or models
	Kept        int64 `json:"tiles_kept"`     // good ones that were there
	Replaced    int64 `json:"tiles_replaced"` // among the computed: damaged ones that were there
}

const namespace = "mlg"

var (
	graphsRead        = newCounter("graphs_read")
	graphsBad         = newCounter("graphs_bad")
	graphsTransformed = newCounter("graphs_transformed")
	graphsAdded       = newCounter("graphs_added")
	graphsUntargeted  = newCounter("graphs_untargeted")
	graphsPredicted   = newCounter("graphs_predicted")
	tilesComputed     = newCounter("tiles_computed")
	tilesKept         = newCounter("tiles_kept")
	tilesReplaced     = newCounter("tiles_replaced")
)

// counter is a counter of Beam that also knows what this process has counted. When two bundles of a
// step end in the same moment, the local runner (prism) may lose the counts of one. It runs them in
// this process.
type counter struct {
	beam.Counter
	name string
	here atomic.Int64
}

var counters []*counter

func newCounter(name string) *counter {
	c := &counter{Counter: beam.NewCounter(namespace, name), name: name}
	counters = append(counters, c)
	return c
}

func (c *counter) add(ctx context.Context, n int) {
	c.Inc(ctx, int64(n))
	c.here.Add(int64(n))
}

// countedHere returns what this process has counted so far.
func countedHere() map[*counter]int64 {
	out := map[*counter]int64{}
	for _, c := range counters {
		out[c] = c.here.Load()
	}
	return out
}

// Counts returns the counters of the job's finished run.
func (j *Job) Counts(r beam.PipelineResult) Counts {
	told := map[string]int64{} // by the runner
	for _, m := range r.Metrics().AllMetrics().Counters() {
		if m.Namespace() == namespace {
			told[m.Name()] += m.Result()
		}
	}
	here := countedHere()
	of := func(c *counter) int64 { return max(told[c.name], here[c]-j.before[c]) }
	return Counts{of(graphsRead), of(graphsBad), of(graphsTransformed), of(graphsAdded), of(graphsUntargeted), of(graphsPredicted), of(tilesComputed), of(tilesKept), of(tilesReplaced)}
}
