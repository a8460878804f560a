package model_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// Train on the built-in drugs, store the model, and ask the stored model about a molecule.
func Example() {
	ctx := context.Background()
	data, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	check(err)
	fitted, err := kernel.NewCollection(data.Graphs).Fit(ctx, mlg.Default())
	check(err)
	gram, err := fitted.Gram(ctx)
	check(err)

	names := slices.Compact(slices.Sorted(slices.Values(data.Targets())))
	var labels []int
	for _, target := range data.Targets() {
		labels = append(labels, slices.Index(names, target))
	}
	learner, err := svm.Train(ctx, svm.Full(gram), svm.Targets{Labels: labels}, svm.DefaultOptions())
	check(err)

	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "drugs.mlg")
	check(model.Write(ctx, path, &model.Model{
		Kernel:  fitted,
		Learner: learner,
		Classes: names,
		IDs:     data.IDs(),
		Targets: data.Targets(),
		Graphs:  data.Graphs,
		Nearest: model.Percentiles(model.Nearest(gram)),
	}))

	m, err := model.Read(path)
	check(err)
	g, err := dataset.ParseSMILES("O=C1CN=C(c2ccccc2)c2ccccc2N1", dataset.DefaultOptions())
	check(err)
	p, err := m.Predict(ctx, []*graph.Graph{g}, model.PredictOptions{Nearest: 1})
	check(err)
	fmt.Println(p[0].Class, "like", p[0].Nearest[0].ID)
	// Output: benzodiazepine like nordazepam
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
