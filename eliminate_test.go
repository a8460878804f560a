package mlg

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/spd"
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
		sparse := func(q *graph.Quotient, eta float64, y []float64, p int) bool {
			e.sparse.order(q, math.Inf(1))
			return e.sparse.forward(q, eta, y, p)
		}
		for name, run := range map[string]func(*graph.Quotient, float64, []float64, int) bool{"small": e.small, "sparse": sparse} {
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
		s.order(q, math.Inf(1))
		if !s.forward(q, 0.1, y, 1) {
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

// Conjugate gradients give the same ZᵀA⁻¹Z as a factor, also where they must be factored after all.
func TestIteration(t *testing.T) {
	r := graphtest.Rand(2)
	before := mostFill
	defer func() { mostFill = before }()
	for name, g := range map[string]*graph.Graph{
		"path":      graphtest.Path(300),
		"star":      graphtest.Star(200),
		"two parts": graphtest.Union(graphtest.Cycle(100), graphtest.Path(1), graphtest.Grid(9, 9)),
		"random":    graphtest.Random(r, graphtest.Options{N: 400, Edge: 0.02}),
		"weights":   graphtest.Random(r, graphtest.Options{N: 300, Edge: 0.03, Weighted: true}),
	} {
		for _, eta := range []float64{1, 0.1, 1e-3} {
			const p = 3
			n := g.N()
			q := trivialQuotient(g)
			for i := range q.Size {
				q.Size[i] = 1 + int32(i%3)
			}
			y := make([]float64, n*p)
			for i := range y {
				y[i] = r.NormFloat64()
			}
			var got [2][]float64
			var e eliminator
			for k, most := range []float64{math.Inf(1), 0} {
				mostFill = most
				got[k] = make([]float64, spd.Size(p))
				if !e.gram(got[k], q, eta, append([]float64(nil), y...), p) {
					t.Fatalf("%s, η = %g: no result", name, eta)
				}
			}
			for i, want := range got[0] {
				if math.Abs(got[1][i]-want) > 1e-11*got[0][0] {
					t.Errorf("%s, η = %g: entry %d is %v, want %v", name, eta, i, got[1][i], want)
				}
			}
			if want := e.iteration.run(q, eta, y, p, func(int) bool { return true }, func(_, _ float64) {}); want {
				t.Errorf("%s: it went on though nobody waits", name)
			}
		}
	}
	// A result that is far from settled is not taken.
	q := trivialQuotient(graphtest.Path(2 * mostIterations))
	y := make([]float64, q.Cells())
	y[0] = 1
	var e eliminator
	if e.iteration.run(q, 1e-16, y, 1, func(int) bool { return false }, func(_, _ float64) {}) {
		t.Error("a path with η = 1e-16 settled")
	}
}
