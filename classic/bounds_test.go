package classic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Walks of two graphs that have many vertices with equal labels need more memory than there is.
func TestWalkMemory(t *testing.T) {
	k := classic.DefaultRandomWalk()
	k.P = 0
	graphs := []*graph.Graph{graphtest.Path(3000), graphtest.Path(3001)}
	ctx := work.With(t.Context(), work.Options{Workers: 1, Memory: 100 << 20})
	if _, err := k.Fit(ctx, graphs); err == nil || !strings.Contains(err.Error(), "rw for graphs of 3000 and 3000 vertices would take about 0.14 GB") {
		t.Errorf("error %v", err)
	}
	if _, err := k.Fit(ctx, []*graph.Graph{graphtest.Path(300)}); err != nil {
		t.Error(err)
	}
}

// A graph just above a bound is an error, and one just below it is none where that takes little time.
func TestBounds(t *testing.T) {
	named := func(n int) *graph.Graph {
		labels := make([]string, n)
		for v := range labels {
			labels[v] = strings.Repeat("x", v/100) + string(rune('0'+v%100))
		}
		return graphtest.Path(n).Relabel(labels)
	}
	heavy := func(weight float64) *graph.Graph {
		b := graph.NewBuilder(4)
		b.AddWeightedEdge(0, 1, weight)
		b.AddWeightedEdge(2, 3, weight/2)
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct {
		text  string
		bound string // of the kernel, as in Bounds
		above *graph.Graph
		below *graph.Graph // nil where it takes long
	}{
		{"nspd r=1 d=0", "nspd", graphtest.Star(classic.MaxBall), nil},
		{"pyramid-match", "pyramid-match", graphtest.Path(8193), nil},
		{"hadamard h=1", "hadamard", named(8193), named(500)},
		{"graph-hopper labels=unlabeled", "graph-hopper", graphtest.Path(8192), graphtest.Path(200)},
		{"graph-hopper weighted resolution=1", "graph-hopper weighted", heavy(1 << 52), heavy(1 << 51)},
		{"sp weighted resolution=1", "sp weighted", heavy(1 << 52), heavy(1 << 51)},
	} {
		if !slices.ContainsFunc(classic.Bounds, func(b classic.Bound) bool { return b.Kernel == c.bound }) {
			t.Errorf("no bound of %s", c.bound)
		}
		k, err := kernel.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Fit(t.Context(), []*graph.Graph{c.above}); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s above its bound: error %v", c.text, err)
		}
		if c.below == nil {
			continue
		}
		if _, err := k.Fit(t.Context(), []*graph.Graph{c.below}); err != nil {
			t.Errorf("%s below its bound: %v", c.text, err)
		}
	}
}
