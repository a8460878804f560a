package mlg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// all options that make the low-rank kernel exact: every vertex sampled, full rank.
func fullRank(o Kernel) Kernel {
	o.Samples, o.Rank = 1<<20, 1<<20
	return o
}

func TestGoldenFullRank(t *testing.T) {
	for _, f := range []struct {
		name string
		base string
	}{{"mlg_exact.json", "labels"}, {"flg_features.json", "attributes"}, {"flg_kernel.json", "gaussian"}} {
		for i, c := range golden(t, f.name) {
			for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
				t.Run(fmt.Sprint(f.name, i, how), func(t *testing.T) {
					o := fullRank(Default())
					o.Base, o.Radii, o.Eta, o.Gamma, o.Landmarks = f.base, c.Radii, c.Eta, c.Gamma, how
					m, err := Fit(t.Context(), c.graphs(t), o)
					if err != nil {
						t.Fatal(err)
					}
					k, err := m.Gram(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					checkGram(t, k, c.Gram, goldenTol)
				})
			}
		}
	}
}

// Large sparse graphs go through at the cost of their sparse factors.
func TestLargeGraphs(t *testing.T) {
	r := graphtest.Rand(8)
	shrink := 1
	if testing.Short() {
		shrink = 20
	}
	// A graph like a large protein: a chain with contacts nearby.
	n := 5748 / shrink
	protein := graph.NewBuilder(n)
	for v := range n {
		protein.SetLabel(v, fmt.Sprint(r.IntN(3)))
		if v > 0 {
			protein.AddEdge(v-1, v)
		}
		for range 2 {
			if u := v - 2 - r.IntN(20); u >= 0 {
				protein.AddEdge(u, v)
			}
		}
	}
	p, err := protein.Build()
	if err != nil {
		t.Fatal(err)
	}
	// A graph without small separators, whose factor is full: a ring with random chords.
	n = 10_000 / shrink
	chords := graph.NewBuilder(n)
	for v := range n {
		chords.AddEdge(v, (v+1)%n)
		chords.AddEdge(v, r.IntN(n))
	}
	random, err := chords.Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*graph.Graph{
		"star 200000":  graphtest.Labeled(r, graphtest.Star(200_000/shrink), 1, 0),
		"clique 1000":  graphtest.Labeled(r, graphtest.Complete(1000/shrink), 1, 0),
		"random 10000": graphtest.Labeled(r, random, 1, 0),
		"star, labels": graphtest.Labeled(r, graphtest.Star(5000/shrink), 4000, 0),
		"path 100000":  graphtest.Labeled(r, graphtest.Path(100_000/shrink), 1, 0),
		"path, labels": graphtest.Labeled(r, graphtest.Path(100_000/shrink), 3, 0),
		"grid 300x300": graphtest.Labeled(r, graphtest.Grid(300/shrink, 300), 1, 0),
		"grid, labels": graphtest.Labeled(r, graphtest.Grid(100/shrink, 100), 3, 0),
		"protein":      p,
	} {
		t.Run(name, func(t *testing.T) {
			o := Default()
			o.Radii = []int{1, 2, 4}
			m, err := Fit(t.Context(), []*graph.Graph{g, graphtest.Labeled(r, graphtest.Path(3), 1, 0)}, o)
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if k.At(0, 0) != 1 || !(k.At(0, 1) > 0 && k.At(0, 1) < 1) {
				t.Errorf("k = %v", k.Data)
			}
		})
	}
}

// Transform of the training graphs equals what fitting gave, to the bit, and does not
// depend on the batch. Seeds determine the model.
func TestTransformBits(t *testing.T) {
	gs := append(graphtest.Suite(1), graphtest.Suite(2)...)
	for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
		o := Default()
		o.Samples, o.Rank, o.Combine, o.Landmarks = 15, 6, Sum, how
		m, err := Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, from int, c *Covariances) {
			t.Helper()
			for l, b := range c.levels {
				for i := range b.Len() {
					if !slices.Equal(b.At(i, nil), m.train.levels[l].At(from+i, nil)) {
						t.Errorf("%s, %s: graph %d, level %d: other bits than in fitting", how, what, from+i, l)
					}
				}
			}
		}
		c, err := m.Transform(t.Context(), gs)
		if err != nil {
			t.Fatal(err)
		}
		check("all", 0, c.(*Covariances))
		r := graphtest.Rand(5)
		for i, g := range gs {
			s, _ := graphtest.Shuffle(r, g)
			for _, x := range []*graph.Graph{g, s} {
				if c, err = m.Transform(t.Context(), []*graph.Graph{x}); err != nil {
					t.Fatal(err)
				}
				check("one", i, c.(*Covariances))
			}
		}
		again, err := Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		check("second run", 0, again.train)
		o.Seed = 1
		other, err := Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		if how != Pivoted && slices.Equal(other.train.levels[2].At(0, nil), m.train.levels[2].At(0, nil)) {
			t.Errorf("%s: another seed gives the same model", how)
		}
	}
}

// Sampling without replacement is uniform: every vertex is drawn equally often.
func TestSample(t *testing.T) {
	const n, k, rounds = 12, 5, 24000
	count := make([]float64, n)
	pairs := make(map[[2]int]float64)
	for seed := range uint64(rounds) {
		s := sample(rand.NewPCG(seed, 0), n, k)
		slices.Sort(s)
		for i, v := range s {
			count[v]++
			for _, w := range s[:i] {
				if v == w {
					t.Fatal("a number was drawn twice")
				}
				pairs[[2]int{w, v}]++
			}
		}
	}
	chi2 := 0.0
	for _, c := range count {
		e := float64(rounds*k) / n
		chi2 += (c - e) * (c - e) / e
	}
	for i := range n {
		for j := range i {
			e := float64(rounds*k*(k-1)) / (n * (n - 1))
			c := pairs[[2]int{j, i}]
			chi2 += (c - e) * (c - e) / e
		}
	}
	// 78 cells, negatively correlated: 130 is five standard deviations above their mean.
	if chi2 > 130 {
		t.Errorf("χ² = %v for vertices and pairs of vertices", chi2)
	}
}

// An attribute dimension that changes within a collection is an error that names the graph.
func TestMixedAttributes(t *testing.T) {
	r := graphtest.Rand(1)
	gs := []*graph.Graph{graphtest.Labeled(r, graphtest.Path(3), 1, 2), graphtest.Labeled(r, graphtest.Path(3), 1, 3)}
	if _, err := Fit(t.Context(), gs, Default()); err == nil || !strings.Contains(err.Error(), "graph 1: number of attributes per vertex is 3, want 2") {
		t.Errorf("error %v", err)
	}
	for _, b := range []string{"attributes", "gaussian", "labels*gaussian"} {
		o := Default()
		o.Base = b
		m, err := Fit(t.Context(), gs[:1], o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Cross(t.Context(), gs[1:]); err == nil || !strings.Contains(err.Error(), "graph 0: number of attributes per vertex is 3, want 2 as in training") {
			t.Errorf("%s: error %v", b, err)
		}
	}
}

// The Gram matrix is computed by squares: every size has the values of Between, row by row.
func TestGramSquares(t *testing.T) {
	r := graphtest.Rand(6)
	var gs []*graph.Graph
	for range 310 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 4, Edge: 0.5, Labels: 2}))
	}
	for _, combine := range []Combine{Top, Product, Mixed} {
		o := Default()
		o.Combine = combine
		m, err := Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 17, 128, 310} {
			c, err := m.Transform(t.Context(), gs[:n])
			if err != nil {
				t.Fatal(err)
			}
			want, err := kernel.Between(t.Context(), m, &Covariances{c.(*Covariances).levels}, c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := kernel.Between(t.Context(), m, c, c)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Data, want.Data) {
				t.Errorf("%s: Gram and Between of %d graphs differ", combine, n)
			}
		}
	}
}

// Mixed is the mean of top, sum and product, in both modes.
func TestMixed(t *testing.T) {
	r := graphtest.Rand(8)
	var gs []*graph.Graph
	for range 12 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.4, Labels: 2}))
	}
	for _, exact := range []bool{false, true} {
		gram := func(c Combine, power int) *kernel.Matrix {
			o := Default()
			o.Combine, o.Power, o.Exact = c, power, exact
			f, err := o.Fit(t.Context(), gs)
			if err != nil {
				t.Fatal(err)
			}
			m, err := f.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		top, sum, product, got, squared := gram(Top, 1), gram(Sum, 1), gram(Product, 1), gram(Mixed, 1), gram(Mixed, 2)
		for i := range got.Data {
			want := (top.Data[i] + sum.Data[i] + product.Data[i]) / 3
			if math.Abs(got.Data[i]-want) > 1e-15 || math.Abs(squared.Data[i]-want*want) > 1e-15 {
				t.Fatalf("exact %v: entry %d is %v and squared %v, want %v", exact, i, got.Data[i], squared.Data[i], want)
			}
		}
	}
}

// No graphs, and graphs without vertices, are legal.
func TestNoVertices(t *testing.T) {
	empty, _ := graph.NewBuilder(0).Build()
	for _, gs := range [][]*graph.Graph{nil, {empty}, {empty, empty}, {empty, graphtest.Path(1)}} {
		for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
			o := Default()
			o.Landmarks = how
			m, err := Fit(t.Context(), gs, o)
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c, err := m.Cross(t.Context(), []*graph.Graph{empty, graphtest.Cycle(3)})
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewExact(t.Context(), gs, o)
			if err != nil {
				t.Fatal(err)
			}
			x, err := e.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if k.Rows != len(gs) || x.Rows != len(gs) || c.Rows != 2 || c.Cols != len(gs) {
				t.Errorf("%d graphs: %d, %d and %d×%d values", len(gs), k.Rows, x.Rows, c.Rows, c.Cols)
			}
			for i := range x.Data {
				if !(k.Data[i] > 0 && k.Data[i] <= 1) {
					t.Errorf("k = %v", k.Data)
				}
			}
		}
	}
}
