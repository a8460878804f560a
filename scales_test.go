package mlg

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func readData(t testing.TB, name string) []*graph.Graph {
	t.Helper()
	ds, err := dataset.Read(context.Background(), filepath.Join(graphtest.Datasets(t), name), dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return ds.Graphs
}

// The numbers of classes are those that an independent implementation found (docs/math.md).
func TestClassCounts(t *testing.T) {
	for _, c := range []struct {
		name string
		want []int
	}{
		{"MUTAG", []int{31, 603, 2028}},
		{"ENZYMES", []int{1763, 13715, 10877}},
		{"NCI1", []int{303, 23718, 67747}},
	} {
		t.Run(c.name, func(t *testing.T) {
			graphs := readData(t, c.name)
			o := DefaultOptions()
			o.Radii = []int{1, 2, 4}
			s, err := describe(t.Context(), graphs, Labels(), &o)
			if err != nil {
				t.Fatal(err)
			}
			for l, want := range c.want {
				if s, err = neighbourhoods(t.Context(), graphs, s, l+1, &o); err != nil {
					t.Fatal(err)
				}
				if s.classes() != want {
					t.Errorf("radius %d: %d classes, want %d", o.Radii[l], s.classes(), want)
				}
			}
		})
	}
}
