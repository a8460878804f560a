package mlg_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
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
func ExampleFit() {
	ctx := context.Background()
	graphs := molecules("CCO", "CCN", "CCCO")
	model, err := mlg.Fit(ctx, graphs, mlg.DefaultOptions())
	if err != nil {
		panic(err)
	}
	k, err := model.Gram(ctx)
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
func ExampleModel_Transform() {
	ctx := context.Background()
	model, err := mlg.Fit(ctx, molecules("CCO", "CCN", "CCCO"), mlg.DefaultOptions())
	if err != nil {
		panic(err)
	}
	c, err := model.Transform(ctx, molecules("OCC"))
	if err != nil {
		panic(err)
	}
	k, err := model.Compare(ctx, c, model.Train())
	if err != nil {
		panic(err)
	}
	fmt.Println(k.At(0, 0)) // ethanol, written from the other end
	// Output: 1
}

// Attributes with labels, three levels whose radius doubles, levels summed.
func ExampleOptions() {
	o := mlg.DefaultOptions()
	o.Radii = mlg.Growth(1, 2, 3)
	o.Combine = mlg.Sum
	base, err := mlg.ParseBase("labels*gaussian", mlg.BaseParameters{Bandwidth: 0.5, Beta: []float64{1}, H: 3})
	if err != nil {
		panic(err)
	}
	o.Base = base
	fmt.Println(mlg.NewKernel(o))

	o.Eta = 0
	fmt.Println(o.Validate())
	// Output:
	// mlg eta=0.1 gamma=0.1 radii=1,2,4 base=labels*gaussian(0.5) combine=sum samples=100 rank=10 landmarks=uniform
	// options: Eta = 0, want a positive, finite number
}

// Any kernel is fitted and asked in the same way.
func ExampleKernel() {
	ctx := context.Background()
	var k mlg.Kernel = mlg.NewExactKernel(mlg.DefaultOptions())
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
