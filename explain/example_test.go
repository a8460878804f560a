package explain_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Diazepam is nordazepam with a methyl group at a nitrogen.
func Example() {
	ctx := context.Background()
	drugs, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		panic(err)
	}
	byName := make(map[string]*graph.Graph)
	for _, g := range drugs.Graphs {
		byName[g.ID()] = g
	}
	g, h := byName["diazepam"], byName["nordazepam"]

	match, err := explain.MatchExact(ctx, g, h, mlg.Default(), 2)
	if err != nil {
		panic(err)
	}
	partner := make([]bool, g.N())
	for _, p := range match.Pairs {
		partner[p.G] = true
	}
	for v := range g.N() {
		if !partner[v] {
			fmt.Printf("only diazepam has %s, vertex %d, neighbours %v\n", g.Label(v), v, g.Neighbors(v))
		}
	}
	sum, err := kernel.NewCollection(drugs.Graphs).Fit(ctx, mlg.Default())
	if err != nil {
		panic(err)
	}
	c, err := explain.Similarity(ctx, sum, g, h, false)
	if err != nil {
		panic(err)
	}
	fmt.Printf("k = %.2f; the atoms of diazepam sum to %.2f, of which the methyl group is %+.2f\n", c.K, c.G.Sum, c.G.Vertices[0])
	// Output:
	// only diazepam has C, vertex 0, neighbours [1]
	// k = 0.93; the atoms of diazepam sum to 0.93, of which the methyl group is -0.25
}
