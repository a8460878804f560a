package graph_test

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// complete returns the complete graph with the given weights, and labels on vertices and edges.
func complete(t *testing.T, n int, weight func(u, v int) float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(n)
	for v := range n {
		b.SetLabel(v, string(rune('A'+v%3)))
		for u := range v {
			b.AddLabeledEdge(u, v, weight(u, v), string(rune('a'+(u+v)%2)))
		}
	}
	b.SetID("x")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDistances(t *testing.T) {
	random := graphtest.Rand(1)
	for n := 4; n < 12; n++ {
		x := make([][3]float64, n)
		for i := range x {
			x[i] = [3]float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
		}
		distance := func(u, v int) float64 {
			return math.Hypot(math.Hypot(x[u][0]-x[v][0], x[u][1]-x[v][1]), x[u][2]-x[v][2])
		}
		g := complete(t, n, distance)
		if got := g.Distances(); got != (n >= 5) {
			t.Errorf("%d points: Distances is %v", n, got)
		}
		if complete(t, n, func(u, v int) float64 { return math.Exp(-2 * distance(u, v)) }).Distances() {
			t.Errorf("%d points: likenesses are taken for distances", n)
		}
		if complete(t, n, func(u, v int) float64 { return 1 + distance(u, v)/100 }).Distances() {
			t.Errorf("%d points: nearly equal weights are taken for distances", n)
		}
		near := g.Nearest()
		if near.Weighted() || near.ID() != "x" || near.Label(1) != "B" {
			t.Error("weights, identifier or labels are wrong")
		}
		for v := range n {
			for u := range v {
				want := true
				for k := range n {
					want = want && !(k != u && k != v && distance(u, k) < distance(u, v) && distance(v, k) < distance(u, v))
				}
				if near.HasEdge(u, v) != want {
					t.Errorf("%d points: edge (%d, %d) is %v, want %v", n, u, v, near.HasEdge(u, v), want)
				}
			}
		}
		for e := range near.Edges() {
			if e.Label != string(rune('a'+(e.U+e.V)%2)) {
				t.Errorf("edge (%d, %d) has the label %q", e.U, e.V, e.Label)
			}
		}
	}
	path := graphtest.Path(6)
	if path.Distances() || path.Nearest().M() != path.M() {
		t.Error("a path is not as it was")
	}
}
