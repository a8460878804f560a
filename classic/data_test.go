package classic

import (
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// loadDataset reads a real dataset, or skips the test when there is none.
func loadDataset(tb testing.TB, name string) []*graph.Graph {
	tb.Helper()
	ds, err := dataset.Read(tb.Context(), graphtest.Dataset(tb, name), dataset.DefaultOptions())
	if err != nil {
		tb.Fatal(err)
	}
	return ds.Graphs
}
