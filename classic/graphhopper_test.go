package classic

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// graphHoppers are the kernels of this kind in the list of all.
func graphHoppers(normalize bool) []kernel.Kernel {
	var ks []kernel.Kernel
	for _, s := range []Similarity{Linear, Gaussian, Bridge} {
		k := GraphHopper{Similarity: s, Mu: 0.7, Resolution: 1e-6, Labels: Auto, Normalize: normalize}
		rows := k
		rows.Labels = Attributes
		ks = append(ks, k)
		if s != Bridge { // not positive semi-definite
			ks = append(ks, rows)
		}
		rows.Weighted = true
		if s == Gaussian {
			ks = append(ks, rows)
		}
	}
	return append(ks, GraphHopper{Similarity: Linear, Mu: 1, Weighted: true, Resolution: 1e-6, Labels: Auto, Normalize: normalize},
		GraphHopper{Similarity: Linear, Mu: 1, Resolution: 1e-6, Labels: Degrees, Normalize: normalize})
}

// shortestPaths lists all shortest paths, as vertices.
func shortestPaths(k GraphHopper, g *graph.Graph) [][]int {
	length := func(w float64) float64 {
		if k.Weighted {
			return math.Round(w / k.Resolution)
		}
		return 1
	}
	d := floydWarshall(g, length)
	var out [][]int
	var extend func(path []int, run float64)
	extend = func(path []int, run float64) {
		v := path[len(path)-1]
		if d[path[0]][v] != run {
			return
		}
		out = append(out, slices.Clone(path))
		for i, u := range g.Neighbors(v) {
			w := 1.0
			if g.Weighted() {
				w = g.Weights(v)[i]
			}
			extend(append(path, int(u)), run+length(w))
		}
	}
	for v := range g.N() {
		extend([]int{v}, 0)
	}
	return out
}

// referenceHopper compares all pairs of paths.
func referenceHopper(k GraphHopper, graphs []*graph.Graph) [][]float64 {
	paths := map[*graph.Graph][][]int{}
	for _, g := range graphs {
		paths[g] = shortestPaths(k, g)
	}
	similarity := func(a, b *graph.Graph, v, u int) float64 {
		dot, square := 0.0, 0.0
		if k.Labels == Attributes {
			for i, x := range a.Attributes(v) {
				y := b.Attributes(u)[i]
				dot, square = dot+x*y, square+(x-y)*(x-y)
			}
		} else if referenceLabel(k.Labels, a, v) == referenceLabel(k.Labels, b, u) {
			dot = 1
		} else {
			square = 2
		}
		switch k.Similarity {
		case Gaussian:
			return math.Exp(-k.Mu * square)
		case Bridge:
			return max(0, 1-math.Sqrt(square)/4)
		}
		return dot
	}
	return pairs(graphs, func(a, b *graph.Graph) float64 {
		s := pairsOf(max(a.N(), b.N()), func(v, u int) float64 {
			if v < a.N() && u < b.N() {
				return similarity(a, b, v, u)
			}
			return 0
		})
		sum := 0.0
		for _, p := range paths[a] {
			for _, q := range paths[b] {
				for i := range p {
					if len(p) == len(q) {
						sum += s[p[i]][q[i]]
					}
				}
			}
		}
		return sum
	})
}

// attributed returns a graph with rows of attributes.
func attributed(t testing.TB, edges string, rows ...[]float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(rows))
	for v, x := range rows {
		b.SetAttributes(v, x)
	}
	for _, e := range strings.Fields(edges) {
		b.AddEdge(int(e[0]-'0'), int(e[1]-'0'))
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A path with the rows x, y, z: the sums over places are x+y+z for paths of one vertex, x+2y+z at both places
// of two, x+z, 2y and x+z at those of three.
func TestGraphHopperByHand(t *testing.T) {
	x, y, z := []float64{0, 1}, []float64{2, 1}, []float64{3, 0}
	graphs := []*graph.Graph{attributed(t, "01 12", x, y, z), attributed(t, "01 12", y, x, z), attributed(t, "01", x, y)}
	k := GraphHopper{Similarity: Linear, Mu: 1, Resolution: 1e-6, Labels: Attributes}
	if got, want := fitGram(t, k, graphs).Data, []float64{185, 153, 54, 153, 153, 46, 54, 46, 24}; !slices.Equal(got, want) {
		t.Errorf("linear: %v, want %v", got, want)
	}
	// An edge with itself: ⟨M(v), M(u)⟩ is 3 for all vertices, whose distance is 2.
	for s, apart := range map[Similarity]float64{Gaussian: math.Exp(-4), Bridge: 0.5} {
		k.Similarity = s
		if got, want := fitGram(t, k, graphs).At(2, 2), 6+6*apart; !near(got, want) {
			t.Errorf("%s: %v, want %v", s, got, want)
		}
	}
	// A square has 4 paths of one vertex, 8 of two and 8 of three, two for each pair of opposite vertices.
	k.Similarity = Linear
	one := []float64{1}
	if got := fitGram(t, k, []*graph.Graph{attributed(t, "01 12 23 30", one, one, one, one)}).At(0, 0); got != 16+2*64+3*64 {
		t.Errorf("square: %v, want 336", got)
	}
}

// The bridge of several attributes is compared as the definition says, though it is not positive semi-definite.
func TestBridge(t *testing.T) {
	graphs := testGraphs(t, 3, 3)
	k := GraphHopper{Similarity: Bridge, Mu: 1, Resolution: 1e-6, Labels: Attributes}
	want, got := referenceHopper(k, graphs), fitGram(t, k, graphs)
	for i := range graphs {
		for j := range graphs {
			if !near(got.At(i, j), want[i][j]) {
				t.Errorf("k(%d, %d) = %v, want %v", i, j, got.At(i, j), want[i][j])
			}
		}
	}
	if kernel.Semidefinite(k) || !kernel.Semidefinite(DefaultGraphHopper()) {
		t.Error("the bridge alone is not positive semi-definite")
	}
}

// Paths that are too long for what is kept of them are an error that says so.
func TestGraphHopperLongPaths(t *testing.T) {
	const n = 9000
	b := graph.NewBuilder(n)
	for v := 1; v < n; v++ {
		b.AddEdge(v-1, v)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	k := DefaultGraphHopper()
	k.Labels = Unlabeled
	want := fmt.Sprintf("graph-hopper: graph 0: shortest paths of %d vertices in a component of %d need", n, n)
	if _, err := k.Fit(t.Context(), []*graph.Graph{g}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s …", err, want)
	}
}
