package mlg

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// precise computes MLG kernels in 400-bit arithmetic by eq. (3), an identity:
//
//	k² = √(|L₁||L₂||L₁+K₁₁/γ||L₂+K₂₂/γ|) / |diag(L₁,L₂) + K/(2γ)|.
type precise struct {
	graphs     []*graph.Graph
	eta, gamma float64
	radii      []int
	base       string                    // labels, or attributes whose products float64 holds
	known      map[vertexPair]*big.Float // by mls
}

// vertexPair is a level, and two vertices with their graphs.
type vertexPair struct{ level, a, v, b, w int }

func num(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

// bigDet returns the determinant of a symmetric matrix, of which it reads and overwrites the upper triangle.
func bigDet(a [][]*big.Float) *big.Float {
	n := len(a)
	det, f, x := num(1), num(0), num(0)
	for k := range n {
		det.Mul(det, a[k][k])
		for i := k + 1; i < n; i++ {
			f.Quo(a[k][i], a[k][k])
			for j := i; j < n; j++ {
				a[i][j].Sub(a[i][j], x.Mul(f, a[k][j]))
			}
		}
	}
	return det
}

// flg returns the FLG kernel of two graphs, where k(i, j) for i ≤ j is the kernel of their vertices.
func (p *precise) flg(g, h *graph.Graph, k func(i, j int) *big.Float) *big.Float {
	n1, n := g.N(), g.N()+h.N()
	build := func(lo, hi int, scale *big.Float) [][]*big.Float {
		out := make([][]*big.Float, hi-lo)
		for i := range out {
			out[i] = make([]*big.Float, hi-lo)
			for j := i; j < hi-lo; j++ {
				x := num(0)
				if i == j {
					x.SetFloat64(p.eta)
				}
				if scale != nil {
					x.Add(x, num(0).Mul(scale, k(lo+i, lo+j)))
				}
				out[i][j] = x
			}
		}
		for _, x := range []struct {
			*graph.Graph
			at int
		}{{g, -lo}, {h, n1 - lo}} {
			if x.at < 0 || x.at+x.N() > hi-lo {
				continue
			}
			for e := range x.Edges() {
				u, v, w := x.at+min(e.U, e.V), x.at+max(e.U, e.V), num(e.Weight)
				out[u][u].Add(out[u][u], w)
				out[v][v].Add(out[v][v], w)
				out[u][v].Sub(out[u][v], w)
			}
		}
		return out
	}
	full := num(0).Quo(num(1), num(p.gamma))
	half := num(0).Quo(full, num(2))
	top := num(1)
	for _, part := range [][2]int{{0, n1}, {n1, n}} {
		top.Mul(top, bigDet(build(part[0], part[1], nil)))
		top.Mul(top, bigDet(build(part[0], part[1], full)))
	}
	top.Sqrt(top)
	top.Quo(top, bigDet(build(0, n, half)))
	return top.Sqrt(top)
}

// mls returns the kernel of vertex v of graph a and vertex w of graph b. Each value is computed once.
func (p *precise) mls(level, a, v, b, w int) *big.Float {
	if a > b || a == b && v > w {
		a, v, b, w = b, w, a, v
	}
	if p.known == nil {
		p.known = make(map[vertexPair]*big.Float)
	}
	key := vertexPair{level, a, v, b, w}
	if k := p.known[key]; k != nil {
		return k
	}
	var k *big.Float
	switch g, h := p.graphs[a], p.graphs[b]; {
	case level == 0 && p.base == "attributes":
		k = num(dense.Dot(g.Attributes(v), h.Attributes(w)))
	case level == 0:
		k = num(labelKernel(g, v, h, w))
	default:
		sets := balls(p.radii...)
		na, nb := sets(g, v, level), sets(h, w, level)
		k = p.flg(g.Induced(na), h.Induced(nb), p.below(level-1, a, na, b, nb))
	}
	p.known[key] = k
	return k
}

// below returns the kernel of the i-th and the j-th of some vertices of graph a and then some of graph b.
func (p *precise) below(level, a int, na []int32, b int, nb []int32) func(i, j int) *big.Float {
	at := func(i int) (int, int) {
		if i < len(na) {
			return a, int(na[i])
		}
		return b, int(nb[i-len(na)])
	}
	return func(i, j int) *big.Float {
		g, v := at(i)
		h, w := at(j)
		return p.mls(level, g, v, h, w)
	}
}

func (p *precise) mlg(level, a, b int) float64 {
	all := func(g *graph.Graph) []int32 {
		var out []int32
		for v := range g.N() {
			out = append(out, int32(v))
		}
		return out
	}
	g, h := p.graphs[a], p.graphs[b]
	x, _ := p.flg(g, h, p.below(level, a, all(g), b, all(h))).Float64()
	return x
}

// check compares exact and low-rank Gram matrices of graphs with 400-bit arithmetic. It returns the
// largest relative error of the exact one, or false if it was refused.
func (p *precise) check(t *testing.T, name string) (worst float64, given bool) {
	t.Helper()
	o := Default()
	o.Base, o.Eta, o.Gamma, o.Radii, o.Samples, o.Rank = cmp.Or(p.base, "labels"), p.eta, p.gamma, p.radii, 1000, 1000
	levels := len(p.radii)
	e, err := NewExact(t.Context(), p.graphs, o)
	if err != nil {
		if levels == 0 || p.gamma*p.eta >= 0.99e-4 || !strings.Contains(err.Error(), "too small for") {
			t.Errorf("%s: %v", name, err)
		}
		return 0, false
	}
	k, err := e.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), p.graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	low, err := m.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self, err := selfValues(e.base, e.levels[0].descriptor)
	if err != nil {
		t.Fatal(err)
	}
	_, estimate, _ := o.precision(o.extent(p.graphs, self, true))
	tol := max(4*estimate, 1e-13) // the logarithms are rounded too
	for i := range p.graphs {
		for j := range i {
			want := p.mlg(levels, i, j)
			rel := func(k float64) float64 { return math.Abs(k-want) / want }
			worst = max(worst, rel(k.At(i, j)))
			if !(rel(k.At(i, j)) <= tol) {
				t.Errorf("%s: k(%d,%d) = %.17g, want %.17g (relative difference %.2g, expected %.2g)", name, i, j, k.At(i, j), want, rel(k.At(i, j)), tol)
			}
			// Eigenvalues of the landmarks' Gram matrix below rounding error are dropped.
			if p.gamma*p.eta >= 0.99e-2 && !(rel(low.At(i, j)) <= max(tol, 1e-10)) {
				t.Errorf("%s: low rank k(%d,%d) = %.17g, want %.17g", name, i, j, low.At(i, j), want)
			}
		}
	}
	return worst, true
}

// Over the whole range of γ and η values are right, or refused with an error.
func TestPrecision(t *testing.T) {
	graphtest.Slow(t)
	for level := range 4 {
		worst, refused, given := 0.0, 0, 0
		for _, gamma := range []float64{1e-8, 1e-6, 1e-4, 1e-2, 1, 1e2, 1e4} {
			for _, eta := range []float64{1e-6, 1e-4, 1e-2, 1, 1e2, 1e4} {
				p := &precise{graphs: smallGraphs()[:3], eta: eta, gamma: gamma, radii: []int{1, 2, 2}[:level]}
				rel, ok := p.check(t, fmt.Sprintf("level %d, γ = %g, η = %g", level, gamma, eta))
				if worst = max(worst, rel); ok {
					given++
				} else {
					refused++
				}
			}
		}
		t.Logf("level %d: %d settings computed, largest relative error %.2g; %d refused", level, given, worst, refused)
	}
}

// Edge weights may lie as far apart as they like.
func TestWideWeights(t *testing.T) {
	graphtest.Long(t)
	for _, decades := range []float64{1, 3, 6, 9, 12, 15} {
		for _, x := range []float64{0.1, 1} {
			worst := 0.0
			for level := range 3 {
				p := &precise{graphs: wideGraphs(decades), eta: x, gamma: x, radii: []int{1, 2}[:level]}
				rel, ok := p.check(t, fmt.Sprintf("%g decades, %d levels, γ = η = %g", decades, level, x))
				if worst = max(worst, rel); !ok {
					t.Error("refused")
				}
			}
			t.Logf("%g decades, γ = η = %g: largest relative error %.2g", decades, x, worst)
		}
	}
}

// wideGraphs have edge weights that are spread evenly over decades.
func wideGraphs(decades float64) []*graph.Graph {
	r := graphtest.Rand(11)
	var out []*graph.Graph
	for range 3 {
		g := graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.5})
		b := graph.NewBuilder(g.N())
		for e := range g.Edges() {
			b.AddWeightedEdge(e.U, e.V, math.Pow(10, decades*(r.Float64()-0.5)))
		}
		g, err := b.Build()
		if err != nil {
			panic(err)
		}
		out = append(out, graphtest.Labeled(r, g, 2, 2))
	}
	return out
}

// The base kernel may have large values, and features of which some are much larger than others.
func TestLargeValues(t *testing.T) {
	for _, exponent := range []int{0, 10, 20} {
		r := graphtest.Rand(3)
		var graphs []*graph.Graph
		for range 3 {
			b := graph.NewBuilder(6)
			for v := range 6 {
				b.SetAttributes(v, []float64{math.Ldexp(float64(r.IntN(17)-8), exponent), float64(r.IntN(17) - 8)})
				for u := range v {
					if r.IntN(2) == 0 {
						b.AddEdge(u, v)
					}
				}
			}
			g, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			graphs = append(graphs, g)
		}
		for level := range 2 {
			p := &precise{graphs: graphs, eta: 0.1, gamma: 0.1, radii: []int{1}[:level], base: "attributes"}
			rel, ok := p.check(t, fmt.Sprintf("attributes up to 2^%d, %d levels", exponent+3, level))
			if !ok || rel > 1e-10 {
				t.Errorf("attributes up to 2^%d, %d levels: relative error %.2g, computed: %v", exponent+3, level, rel, ok)
			}
		}
	}
}

// Errors grow from level to level, which the estimate says.
func TestDeepLevels(t *testing.T) {
	graphtest.Long(t)
	var graphs []*graph.Graph
	for _, g := range []*graph.Graph{graphtest.Path(6), graphtest.Star(6), graphtest.Grid(2, 3), graphtest.Complete(4)} {
		graphs = append(graphs, graphtest.Labeled(graphtest.Rand(1), g, 1, 1))
	}
	for _, radius := range []int{1, 2} {
		for _, gammaEta := range []float64{0.1, 0.4, 1} {
			p := &precise{graphs: graphs, eta: math.Sqrt(gammaEta), gamma: math.Sqrt(gammaEta), radii: slices.Repeat([]int{radius}, 10)}
			rel, ok := p.check(t, fmt.Sprintf("γη = %g", gammaEta))
			t.Logf("γη = %g: relative error %.2g, computed: %v", gammaEta, rel, ok)
		}
	}
}
