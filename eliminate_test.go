package mlg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// trivialQuotient is the quotient of g in which every vertex is a cell of its own.
func trivialQuotient(g *graph.Graph) *graph.Quotient {
	q := &graph.Quotient{Off: []int32{0}}
	for v := range g.N() {
		q.Class = append(q.Class, int32(v))
		q.Size = append(q.Size, 1)
		q.Tag = append(q.Tag, 0)
		wt := g.Weights(v)
		for i, u := range g.Neighbors(v) {
			if int(u) < v {
				w := 1.0
				if wt != nil {
					w = wt[i]
				}
				q.Nbr = append(q.Nbr, u)
				q.Weight = append(q.Weight, w)
			}
		}
		q.Off = append(q.Off, int32(len(q.Nbr)))
	}
	return q
}

// Both forms of elimination give YᵀY = Fᵀ A⁻¹ F, as dense Cholesky does.
func TestElimination(t *testing.T) {
	r := graphtest.Rand(1)
	for _, g := range []*graph.Graph{
		graphtest.Path(1), graphtest.Path(40), graphtest.Cycle(30), graphtest.Star(20), graphtest.Complete(12), graphtest.Grid(7, 9),
		graphtest.Random(r, graphtest.Options{N: 60, Edge: 0.05, Weighted: true}),
		graphtest.Random(r, graphtest.Options{N: 64, Edge: 0.2, Weighted: true}),
		graphtest.Union(graphtest.Cycle(5), graphtest.Path(9), graphtest.Path(1)),
		graphtest.Grid(12, 15), graphtest.Path(200), graphtest.Star(100),
		graphtest.Random(r, graphtest.Options{N: 150, Edge: 0.03, Weighted: true}),
	} {
		const p, eta = 3, 0.05
		n := g.N()
		q := trivialQuotient(g)
		f := make([]float64, n*p)
		for i := range f {
			f[i] = r.NormFloat64()
		}
		l := g.Laplacian(eta, nil)
		dense.Cholesky(l, n)
		want := append([]float64(nil), f...)
		dense.ForwardSolve(l, n, want, p)
		var e eliminator
		for name, run := range map[string]func(*graph.Quotient, float64, []float64, int) bool{"small": e.small, "sparse": e.sparse.run} {
			if name == "small" && n > denseCells {
				continue
			}
			for range 2 { // twice: buffers are reused
				y := append([]float64(nil), f...)
				if !run(q, eta, y, p) {
					t.Fatalf("%s: not positive definite", name)
				}
				for a := range p {
					for b := range p {
						var x, z float64
						for i := range n {
							x += y[i*p+a] * y[i*p+b]
							z += want[i*p+a] * want[i*p+b]
						}
						if math.Abs(x-z) > 1e-10*(1+math.Abs(z)) {
							t.Errorf("%s, %d vertices: entry (%d,%d) is %v, want %v", name, n, a, b, x, z)
						}
					}
				}
			}
		}
	}
}

// Fill of the minimum-degree order: none on trees, little on grids.
func TestFill(t *testing.T) {
	tree := func(n int) *graph.Graph {
		r := rand.New(rand.NewPCG(1, 2))
		b := graph.NewBuilder(n)
		for v := 1; v < n; v++ {
			b.AddEdge(v, r.IntN(v))
		}
		g, _ := b.Build()
		return g
	}
	for _, c := range []struct {
		g    *graph.Graph
		most int
	}{
		{graphtest.Path(1000), 999},
		{tree(2000), 1999},
		{graphtest.Star(500), 500},
		{graphtest.Grid(40, 40), 21000}, // the natural order has 62 000
	} {
		q := trivialQuotient(c.g)
		var s sparseFactor
		y := make([]float64, c.g.N())
		if !s.run(q, 0.1, y, 1) {
			t.Fatal("not positive definite")
		}
		got := 0
		for _, column := range s.lower {
			got += len(column)
		}
		if got > c.most {
			t.Errorf("%d vertices, %d edges: %d entries in the factor, want at most %d", c.g.N(), c.g.M(), got, c.most)
		}
	}
}
