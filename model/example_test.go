package model_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// From graphs to predictions: learn from the built-in drugs, keep the model, and ask it about a molecule.
func Example() {
	ctx := context.Background()
	data, err := dataset.Read(ctx, "builtin:drugs", dataset.DefaultOptions())
	check(err)
	k, err := kernel.Parse("0.5 mlg + 0.5 wl h=3")
	check(err)
	m, plan, err := model.Learn(ctx, data, choose.Each(k), model.DefaultLearnOptions())
	check(err)
	fmt.Printf("%s %.2f\n", plan.Estimate.Measure, plan.Estimate.Value)

	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "drugs.mlg")
	check(model.Write(ctx, path, m))

	m, err = model.Read(path)
	check(err)
	g, err := dataset.ParseSMILES("O=C1CN=C(c2ccccc2)c2ccccc2N1", dataset.DefaultOptions())
	check(err)
	p, err := m.Predict(ctx, []*graph.Graph{g}, model.DefaultPredictOptions())
	check(err)
	fmt.Println(m.Kernel, "says", p[0].Class, "like", p[0].Nearest[0].ID)
	// Output:
	// accuracy 0.99
	// 0.5 mlg + 0.5 wl h=3 says benzodiazepine like nordazepam
}

// Choose a kernel, train with it, and ask the model about a molecule.
func ExampleLearn() {
	ctx := context.Background()
	data, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	check(err)
	o := mlg.Default()
	sum := o
	sum.Combine = mlg.Sum
	candidates := []choose.Candidate{{Name: "mlg", Settings: []choose.Setting{{Parameters: "top", Kernel: o}, {Parameters: "sum", Kernel: sum}}}}
	options := model.DefaultLearnOptions()
	options.Created = map[string]string{"data": "builtin:drugs"}
	m, _, err := model.Learn(ctx, data, candidates, options)
	check(err)

	g, err := dataset.ParseSMILES("CN1CCC23C4Oc5c(OC)ccc(CC1C2C=CC4O)c35", dataset.DefaultOptions())
	check(err)
	p, err := m.Predict(ctx, []*graph.Graph{g}, model.PredictOptions{Nearest: 1})
	check(err)
	fmt.Println(p[0].Class, "like", p[0].Nearest[0].ID, p[0].Unlike)
	// Output: opioid like codeine false
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
