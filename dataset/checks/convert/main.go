// Command convert reads a dataset and writes it in the format of the extension of the
// second path, for the comparisons in this folder.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mlgkernel/mlg/dataset"
)

func main() {
	ctx := context.Background()
	d, err := dataset.Read(ctx, os.Args[1], dataset.DefaultOptions())
	if err == nil {
		err = dataset.WriteDataset(ctx, os.Args[2], d, dataset.Auto)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
