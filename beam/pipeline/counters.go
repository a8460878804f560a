package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Counts are the counters of a run. A runner may count a piece of work that it repeated once
// or more than once; what was written is the same.
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
	var c Counts
	where := map[string]*int64{
		"graphs_read": &c.Read, "graphs_bad": &c.Bad, "graphs_transformed": &c.Transformed,
		"tiles_computed": &c.Computed, "tiles_kept": &c.Kept, "tiles_replaced": &c.Replaced,
	}
	for _, m := range r.Metrics().AllMetrics().Counters() {
		if to := where[m.Name()]; to != nil && m.Namespace() == namespace {
			*to += m.Result()
		}
	}
	return c
}
