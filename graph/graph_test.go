package graph_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func build(t *testing.T, f func(b *graph.Builder), n int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(n)
	f(b)
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestBuilder(t *testing.T) {
	g := build(t, func(b *graph.Builder) {
		b.SetID("x")
		b.SetTarget("active")
		b.AddLabeledEdge(3, 1, 2, "=")
		b.AddLabeledEdge(0, 1, 1, "-")
		b.AddLabeledEdge(1, 0, 1, "-") // the same edge again
		b.AddLabeledEdge(2, 2, 1, "-") // a self-loop
		b.SetLabel(0, "C")
		for v := range 4 {
			b.SetAttributes(v, []float64{float64(v), 1})
			b.SetCoordinates(v, float64(v), -1)
		}
	}, 4)
	if g.N() != 4 || g.M() != 2 || g.ID() != "x" || g.Target() != "active" || g.Degree(1) != 2 || g.Degree(2) != 0 {
		t.Errorf("%d vertices, %d edges, id %q, target %q, degrees %d, %d", g.N(), g.M(), g.ID(), g.Target(), g.Degree(1), g.Degree(2))
	}
	if got := g.Neighbors(1); !slices.Equal(got, []int32{0, 3}) {
		t.Errorf("neighbours of 1: %v", got)
	}
	if got := g.Weights(1); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("weights of 1: %v", got)
	}
	if g.EdgeLabel(1, 1) != "=" || g.EdgeLabel(3, 0) != "=" || g.Label(0) != "C" || g.Label(1) != "" {
		t.Errorf("labels %q %q %q %q", g.EdgeLabel(1, 1), g.EdgeLabel(3, 0), g.Label(0), g.Label(1))
	}
	if x, y, ok := g.Coordinates(2); !ok || x != 2 || y != -1 {
		t.Errorf("coordinates %v %v %v", x, y, ok)
	}
	want := []graph.Edge{{U: 0, V: 1, Weight: 1, Label: "-"}, {U: 1, V: 3, Weight: 2, Label: "="}}
	if got := slices.Collect(g.Edges()); !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	if !g.HasEdge(3, 1) || g.HasEdge(0, 3) || g.HasEdge(2, 0) {
		t.Error("HasEdge is wrong")
	}
	l := g.Laplacian(0.5, nil)
	for i, want := range []float64{1.5, -1, 0, 0, -1, 3.5, 0, -2, 0, 0, 0.5, 0, 0, -2, 0, 2.5} {
		if l[i] != want {
			t.Errorf("Laplacian[%d] = %v, want %v", i, l[i], want)
		}
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(b *graph.Builder)
	}{
		{"edge 1 (0, 3): vertex 3 out of range [0, 3)", func(b *graph.Builder) { b.AddEdge(0, 1); b.AddEdge(0, 3) }},
		{"edge 0 (-1, 0): vertex -1 out of range [0, 3)", func(b *graph.Builder) { b.AddEdge(-1, 0) }},
		{"edge 0 (0, 1): weight 0, want a positive, finite number", func(b *graph.Builder) { b.AddWeightedEdge(0, 1, 0) }},
		{"weight -1", func(b *graph.Builder) { b.AddWeightedEdge(0, 1, -1) }},
		{"weight NaN", func(b *graph.Builder) { b.AddWeightedEdge(0, 1, math.NaN()) }},
		{"weight +Inf", func(b *graph.Builder) { b.AddWeightedEdge(0, 1, math.Inf(1)) }},
		{"attributes of vertex 1: a row of length 1, want 2", func(b *graph.Builder) { b.SetAttributes(0, []float64{1, 2}); b.SetAttributes(1, []float64{1}) }},
		{"attributes of vertex 0: empty row", func(b *graph.Builder) { b.SetAttributes(0, nil) }},
		{"attributes of vertex 0: number 1 is NaN", func(b *graph.Builder) { b.SetAttributes(0, []float64{1, math.NaN()}) }},
		{"vertex 1 has no attributes", func(b *graph.Builder) { b.SetAttributes(0, []float64{1}) }},
		{"label: vertex 3 out of range", func(b *graph.Builder) { b.SetLabel(3, "x") }},
	} {
		b := graph.NewBuilder(3)
		c.f(b)
		if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := graph.NewBuilder(-1).Build(); err == nil {
		t.Error("a negative number of vertices was accepted")
	}
}

func TestBall(t *testing.T) {
	r := graphtest.Rand(5)
	var s graph.Scratch
	for range 50 {
		g := graphtest.Random(r, graphtest.Options{N: 1 + r.IntN(12), Edge: 0.2})
		n := g.N()
		// Distances by Floyd and Warshall.
		d := make([]int, n*n)
		for i := range d {
			d[i] = n + 1
		}
		for v := range n {
			d[v*n+v] = 0
			for _, u := range g.Neighbors(v) {
				d[v*n+int(u)] = 1
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					d[i*n+j] = min(d[i*n+j], d[i*n+k]+d[k*n+j])
				}
			}
		}
		v, radius := r.IntN(n), r.IntN(4)
		ball := s.Ball(g, v, radius)
		for i, u := range ball {
			if int(s.Distances()[i]) != d[v*n+int(u)] {
				t.Fatalf("distance of %d from %d is %d, want %d", u, v, s.Distances()[i], d[v*n+int(u)])
			}
		}
		for u := range n {
			if in := slices.Contains(ball, int32(u)); in != (d[v*n+u] <= radius) || in != s.In(int32(u)) {
				t.Fatalf("vertex %d in the ball: %v, In: %v, distance %d, radius %d", u, in, s.In(int32(u)), d[v*n+u], radius)
			}
		}
		comp, count := s.Components(g, nil)
		seen := map[int32]bool{}
		for u := range n {
			seen[comp[u]] = true
			for w := range n {
				if (comp[u] == comp[w]) != (d[u*n+w] <= n) {
					t.Fatalf("components of %d and %d: %d, %d", u, w, comp[u], comp[w])
				}
			}
		}
		if len(seen) != count {
			t.Fatalf("%d components, want %d", count, len(seen))
		}
	}
}

func TestLoopsDoNotAllocate(t *testing.T) {
	g := graphtest.Labeled(graphtest.Rand(1), graphtest.Grid(6, 7), 2, 0)
	class, key := make([]int32, g.N()), make([]uint64, g.N())
	for v := range class {
		class[v] = int32(v % 3)
		key[v] = uint64(class[v])
	}
	var s graph.Scratch
	var q graph.Quotient
	var walk graph.Scratch
	run := func() {
		for v := range g.N() {
			sig, _ := s.Signature(g, walk.Ball(g, v, 3), key, class, nil)
			q.Decode(sig)
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > 0 {
		t.Errorf("%v allocations in a loop over the vertices", n)
	}
}

func TestInducedAndReweight(t *testing.T) {
	g := graphtest.Labeled(graphtest.Rand(2), graphtest.Cycle(6), 3, 2)
	h := g.Induced([]int32{4, 0, 5})
	if h.N() != 3 || h.M() != 2 || !h.HasEdge(0, 2) || !h.HasEdge(1, 2) || h.Label(1) != g.Label(0) || h.Attributes(2)[1] != g.Attributes(5)[1] {
		t.Errorf("induced subgraph is wrong: %v", slices.Collect(h.Edges()))
	}
	w, err := g.Reweight(func(e graph.Edge) (float64, error) { return float64(e.U + 1), nil })
	if err != nil || !w.Weighted() || w.Weights(1)[1] != 2 || w.Weights(2)[0] != 2 {
		t.Errorf("reweighted: %v, %v", slices.Collect(w.Edges()), err)
	}
	if u, err := w.Reweight(func(graph.Edge) (float64, error) { return 1, nil }); err != nil || u.Weighted() {
		t.Errorf("unit weights: %v, %v", u.Weighted(), err)
	}
	if _, err := g.Reweight(func(graph.Edge) (float64, error) { return -1, nil }); err == nil {
		t.Error("a negative weight was accepted")
	}
}

// Twins are found by their definition, and their balls are equal.
func TestTwins(t *testing.T) {
	r := graphtest.Rand(5)
	graphs := append(graphtest.Suite(3), graphtest.Star(30), graphtest.Complete(9), graphtest.Path(3))
	for range 40 { // hubs with leaves, and few possible neighbours
		b := graph.NewBuilder(14)
		for v := 3; v < 14; v++ {
			for h := range 3 {
				if r.IntN(2) == 0 {
					b.AddEdge(h, v)
				}
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	var s graph.Scratch
	ball := func(g *graph.Graph, v, radius int) []int32 { return slices.Sorted(slices.Values(s.Ball(g, v, radius))) }
	found := 0
	for i, g := range graphs {
		near := func(v int, itself bool) []int32 {
			out := slices.Clone(g.Neighbors(v))
			if itself {
				out = append(out, int32(v))
				slices.Sort(out)
			}
			return out
		}
		twins := g.Twins(nil)
		for v := range g.N() {
			want := v
			for u := v - 1; u >= 0; u-- {
				if g.Degree(v) > 0 && (slices.Equal(near(u, false), near(v, false)) || slices.Equal(near(u, true), near(v, true))) {
					want = u
				}
			}
			if int(twins[v]) != want {
				t.Errorf("graph %d: twin of %d is %d, want %d", i, v, twins[v], want)
			}
			if want == v {
				continue
			}
			found++
			for radius := 1; radius < 4; radius++ {
				if (radius > 1 || g.HasEdge(want, v)) && !slices.Equal(ball(g, want, radius), ball(g, v, radius)) {
					t.Errorf("graph %d: the balls of radius %d around %d and %d differ", i, radius, want, v)
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("%d twins, want many", found)
	}
}

// The quotient of a set around a hub, most of whose neighbours are outside, is that of the induced
// subgraph.
func TestSignatureAtHub(t *testing.T) {
	r := graphtest.Rand(6)
	for _, weighted := range []bool{false, true} {
		const n = 400
		b := graph.NewBuilder(n)
		for v := 1; v < n; v++ {
			w := 1.0
			if weighted {
				w = 1 + r.Float64()
			}
			b.AddWeightedEdge(0, v, w)
			if v%3 == 0 {
				b.AddEdge(v-1, v)
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		key, class := make([]uint64, n), make([]int32, n)
		var s, whole graph.Scratch
		for range 100 {
			set := []int32{0}
			for _, v := range r.Perm(n - 1)[:1+r.IntN(8)] {
				set = append(set, int32(v+1))
			}
			all := make([]int32, len(set))
			for i := range all {
				all[i] = int32(i)
			}
			got, hash := s.Signature(g, set, key, class, nil)
			want, wantHash := whole.Signature(g.Induced(set), all, key, class, nil)
			got, want = slices.Clone(got), slices.Clone(want)
			want[1] = got[1] // a few weights may all be 1
			if !weighted && (!slices.Equal(got, want) || hash != wantHash) || weighted && got[0] != want[0] {
				t.Fatalf("set %v: quotient %v, want %v", set, got, want)
			}
		}
	}
}
