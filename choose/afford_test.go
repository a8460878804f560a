package choose

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// scaleFree returns a graph that grows by vertices with m edges, to others in proportion to their degrees.
func scaleFree(r *rand.Rand, n, m int) *graph.Graph {
	b := graph.NewBuilder(n)
	ends := []int{0}
	for v := 1; v < n; v++ {
		for range min(m, v) {
			u := ends[r.IntN(len(ends))]
			b.AddEdge(u, v)
			ends = append(ends, u)
		}
		for range m {
			ends = append(ends, v)
		}
	}
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

func repeated(n int, graphs ...*graph.Graph) []*graph.Graph {
	var out []*graph.Graph
	for range n {
		out = append(out, graphs...)
	}
	return out
}

// What the default candidates cost decides which of them are taken, and with which radii.
func TestAfford(t *testing.T) {
	graphtest.Slow(t)
	r := graphtest.Rand(1)
	free := []*graph.Graph{scaleFree(r, 1000, 3), scaleFree(r, 1000, 3)}
	for name, c := range map[string]struct {
		graphs []*graph.Graph
		want   string // beginnings of the changes
	}{
		"small":               {repeated(4000, graphtest.Grid(5, 5)), ""},
		"paths":               {repeated(500, graphtest.Path(1000)), ""},
		"grid":                {repeated(2, graphtest.Grid(100, 100)), ""},
		"two scale-free":      {free, ""},
		"thousand scale-free": {repeated(500, free...), "mlg heat is left out; nspd is left out"},
		"large grids":         {repeated(2, graphtest.Grid(300, 300)), ""},
		"many scale-free":     {repeated(2500, free...), "mlg labels gets radii=1; mlg labels sharp gets radii=1; mlg wl gets radii=1; mlg heat is left out; nspd is left out"},
		"leaves of hubs":      {repeated(10, graphtest.Star(8000)), "nspd is left out"},
		"a long path":         {[]*graph.Graph{graphtest.Path(200_000)}, "sp is left out"},
		"cliques":             {repeated(20, graphtest.Complete(400)), ""},
	} {
		all := DefaultCandidates(dataset.Info(&dataset.Dataset{Graphs: c.graphs}))
		list, changes := Afford(c.graphs, all)
		got, without := []string{}, 0
		for _, x := range changes {
			said, _, _ := strings.Cut(x, ":")
			got = append(got, said)
			if strings.HasSuffix(said, "is left out") {
				without++
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", name, changes, c.want)
		}
		kernels := 7 - without
		if want := kernels * (kernels + 1) / 2; len(list) != want {
			t.Errorf("%s: %d candidates, want %d of %d kernels", name, len(list), want, kernels)
		}
		for i, x := range list {
			if c.want == "" && x.Settings[0].Kernel.String() != all[i].Settings[0].Kernel.String() {
				t.Errorf("%s: %s changed without a word", name, x.Name)
			}
			for _, said := range got {
				gone, left := strings.CutSuffix(said, " is left out")
				if left && slices.Contains(strings.Split(x.Name, " × "), gone) {
					t.Errorf("%s: %s is there", name, x.Name)
				}
				if smaller, ok := strings.CutSuffix(said, " gets radii=1"); ok && x.Name == smaller && !strings.Contains(x.Settings[0].Kernel.String(), "radii=1") {
					t.Errorf("%s: %s is %s", name, x.Name, x.Settings[0].Kernel)
				}
			}
		}
		again, same := Afford(c.graphs, all)
		if len(again) != len(list) || !slices.Equal(same, changes) {
			t.Errorf("%s: it is not the same again", name)
		}
	}
}

// Nothing is left out of the kernels for the datasets of the published figures.
func TestAffordDatasets(t *testing.T) {
	for _, name := range []string{"MUTAG", "ENZYMES", "PROTEINS", "NCI1", "IMDB-BINARY", "MSRC_9"} {
		d, err := dataset.Read(t.Context(), graphtest.Dataset(t, name), dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		all := DefaultCandidates(dataset.Info(d))
		list, changes := Afford(d.Graphs, all)
		if len(changes) > 0 || len(list) != len(all) {
			t.Errorf("%s: %q", name, changes)
		}
	}
}
