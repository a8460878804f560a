package dataset

import (
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

// corrections counts, in warnings, what makes the edges of a graph other than they were given
// (graph.Builder.Build). Options.Strict refuses parallel edges. name is that of a vertex, nil for its
// number.
func corrections(given graph.Given, opts Options, warn *warnings, name func(v int) string) error {
	if opts.Strict && given.Parallel > 0 {
		if name == nil {
			name = strconv.Itoa
		}
		return fmt.Errorf("edge (%s, %s) is given twice; without strict reading, parallel edges become one",
			name(given.First.U), name(given.First.V))
	}
	warn.add(given.Loops, "self-loop left out", "self-loops left out")
	warn.add(given.Parallel, "parallel edge joined with another", "parallel edges joined with others")
	warn.add(given.Weights, "edge had two directions with different weights and got their mean", "edges had two directions with different weights and got their means")
	warn.add(given.Labels, "edge had two directions with different labels and got both", "edges had two directions with different labels and got both")
	return nil
}
