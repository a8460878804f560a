// Command gram writes a small kernel matrix in all formats into a folder, for gram.py.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	mlg "github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder string) error {
	const n, dim = 60, 5
	rng := rand.New(rand.NewPCG(1, 1))
	points, gram := mlg.NewMatrix(n, dim), mlg.NewMatrix(n, n)
	var rows dataset.Axis
	for i := range n {
		class := []string{"left", "right"}[i%2]
		for j := range dim {
			points.Set(i, j, rng.NormFloat64()+6*float64(i%2))
		}
		rows.IDs = append(rows.IDs, fmt.Sprintf("g, %d", i))
		rows.Targets = append(rows.Targets, class)
	}
	for i := range n {
		for j := range n {
			sum := 0.0
			for k := range dim {
				sum += points.At(i, k) * points.At(j, k)
			}
			gram.Set(i, j, sum)
		}
	}
	ctx := context.Background()
	for _, f := range []string{"gram.npy", "gram.csv", "gram.libsvm"} {
		if err := dataset.WriteGram(ctx, filepath.Join(folder, f), gram, rows, nil); err != nil {
			return err
		}
	}
	columns := dataset.Axis{IDs: []string{"1", "2", "3", "4", "5"}}
	return dataset.WriteGram(ctx, filepath.Join(folder, "points.npy"), points, rows, &columns)
}
