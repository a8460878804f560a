package cluster_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/dataset"
)

// Group the built-in drugs and name a typical one of the largest group.
func Example() {
	ctx := context.Background()
	data, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	check(err)
	k := mlg.Default()
	k.Bonds = mlg.No
	fitted, err := k.Fit(ctx, data.Graphs)
	check(err)
	gram, err := fitted.Gram(ctx)
	check(err)
	groups, err := cluster.Medoids(ctx, gram, 13)
	check(err)
	typical := data.Graphs[groups.Medoids[0]]
	fmt.Println(groups.Sizes[0], "graphs like", typical.ID(), "in class", typical.Target())
	// Output: 24 graphs like cefalexin in class beta-lactam
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
