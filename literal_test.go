package mlg

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// literal computes the kernels by the letter of docs/explanation/math.md, section 1: eigendecompositions
// of joint Gram matrices, explicit inverses, one row per vertex, no classes.
type literal struct {
	graphs     []*graph.Graph
	eta, gamma float64
	sets       func(g *graph.Graph, v, level int) []int32
	discount   bool
	rank       int
	kappa      vertexKernel
}

// flg is eq. (1) for the joint Gram matrix k of the vertices of two graphs.
func (l *literal) flg(g, h *graph.Graph, k *mat.SymDense) float64 {
	n1, n2 := g.N(), h.N()
	n := n1 + n2
	if n == 0 {
		return 1
	}
	var e mat.EigenSym
	if !e.Factorize(k, true) {
		panic("eigenvalues did not converge")
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	var keep []int
	for i := n - 1; i >= 0; i-- {
		if values[i] > 1e-12*values[n-1] && (l.rank == 0 || len(keep) < l.rank) {
			keep = append(keep, i)
		}
	}
	p := len(keep)
	q := mat.NewDense(n, p, nil)
	for j, i := range keep {
		for r := range n {
			q.Set(r, j, vectors.At(r, i)*math.Sqrt(values[i]))
		}
	}
	cov := func(g *graph.Graph, from int) *mat.Dense {
		s := mat.NewDense(p, p, nil)
		if g.N() > 0 {
			var inv, t mat.Dense
			if err := inv.Inverse(mat.NewDense(g.N(), g.N(), g.Laplacian(l.eta, nil))); err != nil {
				panic(err)
			}
			rows := q.Slice(from, from+g.N(), 0, p)
			t.Mul(&inv, rows)
			s.Mul(rows.T(), &t)
		}
		for i := range p {
			s.Set(i, i, s.At(i, i)+l.gamma)
		}
		return s
	}
	s1, s2 := cov(g, 0), cov(h, n1)
	var i1, i2, mean, back mat.Dense
	if i1.Inverse(s1) != nil || i2.Inverse(s2) != nil {
		panic("singular")
	}
	mean.Add(&i1, &i2)
	mean.Scale(0.5, &mean)
	if back.Inverse(&mean) != nil {
		panic("singular")
	}
	return math.Sqrt(mat.Det(&back)) / math.Pow(mat.Det(s1)*mat.Det(s2), 0.25)
}

func joint(g, h *graph.Graph, f func(a, v, b, w int) float64) *mat.SymDense {
	n := g.N() + h.N()
	if n == 0 {
		return nil
	}
	k := mat.NewSymDense(n, nil)
	at := func(i int) (int, int) {
		if i < g.N() {
			return 0, i
		}
		return 1, i - g.N()
	}
	for i := range n {
		for j := range i + 1 {
			a, v := at(i)
			b, w := at(j)
			k.SetSym(i, j, f(a, v, b, w))
		}
	}
	return k
}

// mls returns 𝔎_level of all pairs of vertices of all graphs: [graph][vertex][graph][vertex].
func (l *literal) mls(level int) func(a, v, b, w int) float64 {
	if level == 0 {
		return func(a, v, b, w int) float64 { return l.kappa(l.graphs[a], v, l.graphs[b], w) }
	}
	below := l.mls(level - 1)
	memo := make(map[[4]int]float64)
	return func(a, v, b, w int) float64 {
		key := [4]int{a, v, b, w}
		if k, ok := memo[key]; ok {
			return k
		}
		ga, gb := l.graphs[a], l.graphs[b]
		na, nb := l.sets(ga, v, level), l.sets(gb, w, level)
		da, db := l.distances(ga, v), l.distances(gb, w)
		sa, sb := ga.Induced(na), gb.Induced(nb)
		k := l.flg(sa, sb, joint(sa, sb, func(x, i, y, j int) float64 {
			side := func(s, i int) (int, int, float64) {
				if s == 0 {
					return a, int(na[i]), da[na[i]]
				}
				return b, int(nb[i]), db[nb[i]]
			}
			g1, v1, d1 := side(x, i)
			g2, v2, d2 := side(y, j)
			return d1 * d2 * below(g1, v1, g2, v2)
		}))
		memo[key] = k
		return k
	}
}

func (l *literal) distances(g *graph.Graph, v int) []float64 {
	out := make([]float64, g.N())
	var s graph.Scratch
	for i, u := range s.Ball(g, v, g.N()) {
		out[u] = 1
		if l.discount {
			out[u] = 1 / (1 + float64(s.Distances()[i]))
		}
	}
	return out
}

func (l *literal) mlg(level, a, b int) float64 {
	below := l.mls(level)
	return l.flg(l.graphs[a], l.graphs[b], joint(l.graphs[a], l.graphs[b], func(x, v, y, w int) float64 {
		pick := []int{a, b}
		return below(pick[x], v, pick[y], w)
	}))
}

func balls(radii ...int) func(g *graph.Graph, v, level int) []int32 {
	return func(g *graph.Graph, v, level int) []int32 {
		var s graph.Scratch
		return append([]int32(nil), s.Ball(g, v, radii[level-1])...)
	}
}

func labelKernel(g *graph.Graph, v int, h *graph.Graph, w int) float64 {
	if g.Label(v) == h.Label(w) {
		return 1
	}
	return 0
}

func smallGraphs() []*graph.Graph {
	r := graphtest.Rand(4)
	gs := []*graph.Graph{
		graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.5}),
		graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.3, Weighted: true}),
		graphtest.Union(graphtest.Cycle(3), graphtest.Path(2), graphtest.Path(1)),
		graphtest.Star(5),
	}
	for i, g := range gs {
		gs[i] = graphtest.Labeled(r, g, 2, 2)
	}
	return gs
}

// The exact kernel agrees with the letter of the definition: balls, arbitrary
// neighbourhoods, discount, truncated pairs, other base kernels.
func TestExactIsLiteral(t *testing.T) {
	gs := smallGraphs()
	for _, c := range []struct {
		name string
		o    func(o *Kernel)
		l    func(l *literal)
		tol  float64
	}{
		{"balls", func(*Kernel) {}, func(*literal) {}, 1e-9},
		{"discount", func(o *Kernel) { o.Discount = true }, func(l *literal) { l.discount = true }, 1e-9},
		{"pair rank 3", func(o *Kernel) { o.PairRank = 3; o.Radii = []int{1} }, func(l *literal) { l.rank = 3 }, 1e-9},
		{"gaussian", func(o *Kernel) { o.Base = "gaussian sigma=0.8" }, func(l *literal) {
			l.kappa = func(g *graph.Graph, v int, h *graph.Graph, w int) float64 {
				x, y := g.Attributes(v), h.Attributes(w)
				return math.Exp(-((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1])) / (2 * 0.64))
			}
		}, 1e-9},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Default()
			o.Base = "labels"
			c.o(&o)
			l := &literal{graphs: gs, eta: o.Eta, gamma: o.Gamma, kappa: labelKernel, sets: balls(o.Radii...)}
			c.l(l)
			e, err := NewExact(t.Context(), gs, o)
			if err != nil {
				t.Fatal(err)
			}
			k, err := e.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range gs {
				for j := range gs {
					checkClose(t, fmt.Sprintf("k(%d,%d)", i, j), k.At(i, j), l.mlg(len(o.Radii), i, j), c.tol)
				}
			}
		})
	}
}
