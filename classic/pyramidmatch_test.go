package classic

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// pyramids are the kernels of this kind in the list of all.
func pyramids(normalize bool) []kernel.Kernel {
	return []kernel.Kernel{
		PyramidMatch{Depth: 4, Dim: 6, Labels: Auto, Normalize: normalize},
		PyramidMatch{Depth: 0, Dim: 2, Labels: Auto, Normalize: normalize},
		PyramidMatch{Depth: 7, Dim: 20, Labels: Degrees, Normalize: normalize},
		PyramidMatch{Depth: 3, Dim: 3, Labels: Unlabeled, Normalize: normalize},
	}
}

// referenceCoordinates takes the eigenvectors of the adjacency matrix itself. Those whose eigenvalues have the same
// absolute value have their root mean square.
func referenceCoordinates(g *graph.Graph, dim int) [][]float64 {
	n := g.N()
	points := make([][]float64, n)
	if n == 0 {
		return points
	}
	a := mat.NewSymDense(n, nil)
	for e := range g.Edges() {
		a.SetSym(e.U, e.V, e.Weight)
	}
	var eigen mat.EigenSym
	eigen.Factorize(a, true)
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	left := n
	for used := map[int]bool{}; left > 0; {
		largest := 0.0
		for i, x := range values {
			if !used[i] {
				largest = max(largest, math.Abs(x))
			}
		}
		var same []int
		for i, x := range values {
			if !used[i] && math.Abs(x) > largest-1e-7 {
				same, used[i] = append(same, i), true
				left--
			}
		}
		for v := range points {
			square := 0.0
			for _, i := range same {
				square += vectors.At(v, i) * vectors.At(v, i) / float64(len(same))
			}
			for range same {
				if len(points[v]) < dim {
					points[v] = append(points[v], math.Sqrt(square))
				}
			}
		}
	}
	return points
}

// referencePyramid counts matches level by level.
func referencePyramid(k PyramidMatch, graphs []*graph.Graph) [][]float64 {
	count := make([][]map[string]float64, len(graphs))
	for i, g := range graphs {
		points := referenceCoordinates(g, k.Dim)
		for l := range k.Depth + 1 {
			count[i] = append(count[i], map[string]float64{})
			for v, p := range points {
				for d, x := range p {
					cells := math.Pow(2, float64(l))
					cell := min(math.Floor((x+1e-6)*cells), cells-1)
					count[i][l][fmt.Sprint(referenceLabel(k.Labels, g, v), " ", d, cell)]++
				}
			}
		}
	}
	return pairsOf(len(graphs), func(i, j int) float64 {
		matches := make([]float64, k.Depth+1)
		for l := range matches {
			for cell, x := range count[i][l] {
				matches[l] += min(x, count[j][l][cell])
			}
		}
		sum := matches[k.Depth]
		for l := range k.Depth {
			sum += (matches[l] - matches[l+1]) / math.Pow(2, float64(k.Depth-l))
		}
		return sum
	})
}

// The first two coordinates of both vertices of an edge are √½. Those of a path of three vertices are √½ in the
// middle and ½ at the ends. All of them are in the same cells of side ¼, and those of ½ in another of side ⅛.
func TestPyramidMatchByHand(t *testing.T) {
	graphs := []*graph.Graph{labelledGraph(t, "aa", "01"), labelledGraph(t, "aaa", "01 12")}
	for levels, want := range map[int]float64{0: 4, 2: 4, 3: 2 + 2.0/2, 4: 2 + 2.0/4} {
		k := PyramidMatch{Depth: levels, Dim: 2, Labels: Labels}
		if got := fitGram(t, k, graphs).At(0, 1); got != want {
			t.Errorf("%d levels: %v, want %v", levels, got, want)
		}
	}
	// Different labels never meet.
	other := labelledGraph(t, "bb", "01")
	if got := fitGram(t, DefaultPyramidMatch(), []*graph.Graph{graphs[0], other}).At(0, 1); got != 0 {
		t.Errorf("other labels: %v, want 0", got)
	}
}

// Large graphs, whose leading eigenvectors are computed alone, have the points of the definition: with simple
// eigenvalues, with a few equal ones, with a multiple 0, and without edges.
func TestCoordinates(t *testing.T) {
	const n = 90
	grid, star, edges := graph.NewBuilder(n), graph.NewBuilder(n), graph.NewBuilder(n)
	for v := range n {
		if v%9 < 8 {
			grid.AddEdge(v, v+1)
		}
		if v+9 < n {
			grid.AddEdge(v, v+9)
		}
		if v > 0 {
			star.AddEdge(0, v)
		}
		if v%2 == 1 {
			edges.AddEdge(v-1, v)
		}
	}
	for name, b := range map[string]*graph.Builder{"grid": grid, "star": star, "edges": edges, "none": graph.NewBuilder(n)} {
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		got, dim, err := coordinates(t.Context(), g, 6)
		if err != nil || dim != 6 {
			t.Fatal(name, dim, err)
		}
		for v, p := range referenceCoordinates(g, dim) {
			for i, x := range p {
				if math.Abs(got[v*dim+i]-x) > 1e-7 {
					t.Fatalf("%s: coordinate %d of vertex %d is %v, want %v", name, i, v, got[v*dim+i], x)
				}
			}
		}
	}
	large, err := graph.NewBuilder(maxEigenvectors + 1).Build()
	if err != nil {
		t.Fatal(err)
	}
	_, err = DefaultPyramidMatch().Fit(t.Context(), []*graph.Graph{large})
	if err == nil || !strings.Contains(err.Error(), "want at most 8192") {
		t.Errorf("error %v", err)
	}
}
