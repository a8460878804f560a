package choose

import (
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
)

// Clusters are the groups around medoids, and those of a sample where that is smaller. The kernel is fitted once.
func TestClusters(t *testing.T) {
	r := graphtest.Rand(1)
	var graphs []*graph.Graph
	for i := range 60 {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 1 + i, Edge: 0.2}))
	}
	k := &kerneltest.Spy{Scale: 5}
	fitted, err := kernel.NewCollection(graphs).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := fitted.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := cluster.Medoids(t.Context(), gram, 7) // √60
	if err != nil {
		t.Fatal(err)
	}
	all, err := Clusters(t.Context(), fitted, 1000, 3)
	if err != nil || !slices.Equal(all.Of, want.Group) {
		t.Errorf("groups %v, want %v, error %v", all, want.Group, err)
	}
	some, err := Clusters(t.Context(), fitted, 30, 3)
	if err != nil {
		t.Fatal(err)
	}
	if groups := len(slices.Compact(slices.Clone(some.Of))); len(some.Of) != 60 || groups != 7 {
		t.Errorf("%v, want 7 groups of graphs of similar sizes", some.Of)
	}
	if len(k.Fits) != 1 || len(k.Cross) != 0 {
		t.Errorf("fitted %d times, and %d times transformed", len(k.Fits), len(k.Cross))
	}
}
