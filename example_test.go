package mlg_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// molecules parses SMILES.
func molecules(smiles ...string) []*graph.Graph {
	var out []*graph.Graph
	for _, s := range smiles {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			panic(err)
		}
		out = append(out, g)
	}
	return out
}

// The Gram matrix of three molecules.
func ExampleKernel_Fit_gram() {
	ctx := context.Background()
	o := mlg.Default()
	o.Bonds = mlg.No
	fitted, err := o.Fit(ctx, molecules("CCO", "CCN", "CCCO"))
	if err != nil {
		panic(err)
	}
	k, err := fitted.Gram(ctx)
	if err != nil {
		panic(err)
	}
	for i := range k.Rows {
		fmt.Printf("%.3f\n", k.Row(i))
	}
	// Output:
	// [1.000 0.117 0.200]
	// [0.117 1.000 0.090]
	// [0.200 0.090 1.000]
}

// A new graph gets the features that it would have had in training.
func ExampleLowRank_Transform() {
	ctx := context.Background()
	fitted, err := mlg.Default().Fit(ctx, molecules("CCO", "CCN", "CCCO"))
	if err != nil {
		panic(err)
	}
	c, err := fitted.Transform(ctx, molecules("OCC"))
	if err != nil {
		panic(err)
	}
	k, err := kernel.Between(ctx, fitted.Map, c, fitted.Train)
	if err != nil {
		panic(err)
	}
	fmt.Println(k.At(0, 0)) // ethanol, written from the other end
	// Output: 1
}

// Attributes with labels, three levels whose radius doubles, levels summed.
func ExampleKernel() {
	o := mlg.Default()
	o.Radii = []int{1, 2, 4}
	o.Combine = mlg.Sum
	o.Base = "labels*gaussian sigma=0.5"
	fmt.Println(o)

	o.Eta = 0
	fmt.Println(o.Validate())
	// Output:
	// mlg radii=1,2,4 base=(labels*gaussian sigma=0.5) combine=sum
	// mlg: eta = 0, want a positive, finite number
}

// Any kernel is fitted and asked in the same way.
func ExampleKernel_Fit() {
	ctx := context.Background()
	exact := mlg.Default()
	exact.Exact = true
	var k kernel.Kernel = exact
	fitted, err := k.Fit(ctx, molecules("CCO", "CCN"))
	if err != nil {
		panic(err)
	}
	cross, err := fitted.Cross(ctx, molecules("CCS"))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d×%d\n", cross.Rows, cross.Cols)
	// Output: 1×2
}
