package dataset_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
)

func Example() {
	d, err := dataset.Read(context.Background(), "builtin:scales", dataset.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	s := dataset.Info(d)
	fmt.Println(s.Graphs, "graphs,", s.Classes, "classes,", s.NodeLabels, "labels")
	// Output: 200 graphs, 2 classes, 3 labels
}

func ExampleParseSMILES() {
	opts := dataset.DefaultOptions()
	opts.AtomAromatic = true
	g, err := dataset.ParseSMILES("CC(=O)Oc1ccccc1C(=O)O", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.N(), "atoms,", g.M(), "bonds:", strings.Join(g.Labels(), ""))
	_, err = dataset.ParseSMILES("CC(=O", opts)
	fmt.Println(err)
	// Output:
	// 13 atoms, 13 bonds: CCOOccccccCOO
	// SMILES position 3: branch is not closed
}

func ExampleNewReader() {
	src := strings.NewReader("CCO ethanol\nO water\n")
	opts := dataset.DefaultOptions()
	opts.Format = dataset.SMILES
	r, err := dataset.NewReader(src, "drinks.smi", opts)
	if err != nil {
		log.Fatal(err)
	}
	for {
		g, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(g.ID(), g.N())
	}
	// Output:
	// ethanol 3
	// water 1
}
