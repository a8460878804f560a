package classic_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Isomers that label counts cannot tell apart. By hand: of the colours after one refinement
// the two have only those before it in common, 5/√(8·10); of the paths only two C–O of
// length 1, 2/√(3·5).
func Example() {
	ctx := context.Background()
	var graphs []*graph.Graph
	for _, s := range []string{"CCO", "COC"} {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			panic(err)
		}
		graphs = append(graphs, g)
	}
	wl := classic.DefaultWL()
	wl.H = 1
	for _, k := range []kernel.Kernel{classic.DefaultHistogram(), wl, classic.DefaultShortestPath()} {
		fitted, err := k.Fit(ctx, graphs)
		if err != nil {
			panic(err)
		}
		gram, err := fitted.Gram(ctx)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.3f\n", k, gram.At(0, 1))
	}
	// Output:
	// labels: 1.000
	// wl h=1: 0.559
	// sp: 0.516
}
