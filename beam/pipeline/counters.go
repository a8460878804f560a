package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counts are the counters of a run. A runner may count a piece of work that it repeated once
// or more than once, and the local runner (prism) may lose counts of bundles that end in the same
// moment. What was written is the same.
type Counts struct {
	Read        int64 `json:"graphs_read"`
	Bad         int64 `json:"graphs_bad"`         // left out
	Transformed int64 `json:"graphs_transformed"` // graphs that became records
	Computed    int64 `json:"tiles_computed"`     // tiles or files of vectors
	Kept        int64 `json:"tiles_kept"`         // good ones that were there
	Replaced    int64 `json:"tiles_replaced"`     // among the computed: damaged ones that were there
}

const namespace = "mlg"

var (
	graphsRead        = beam.NewCounter(namespace, "graphs_read")
	graphsBad         = beam.NewCounter(namespace, "graphs_bad")
	graphsTransformed = beam.NewCounter(namespace, "graphs_transformed")
	tilesComputed     = beam.NewCounter(namespace, "tiles_computed")
	tilesKept         = beam.NewCounter(namespace, "tiles_kept")
	tilesReplaced     = beam.NewCounter(namespace, "tiles_replaced")
)

// CountsOf returns the counters of a finished run.
func CountsOf(r beam.PipelineResult) Counts {
	n := map[string]int64{}
	for _, m := range r.Metrics().AllMetrics().Counters() {
		if m.Namespace() == namespace {
			n[m.Name()] += m.Result()
		}
	}
	return Counts{
		Read: n["graphs_read"], Bad: n["graphs_bad"], Transformed: n["graphs_transformed"],
		Computed: n["tiles_computed"], Kept: n["tiles_kept"], Replaced: n["tiles_replaced"],
	}
}
