package classic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// kernels is the list of kernels that the properties are tested on, with the given number
// of workers and normalisation.
func kernels(normalize bool) []kernel.Kernel {
	var ks []kernel.Kernel
	h := Histogram{Scale: 1, Normalize: normalize, Labels: Auto}
	edges, attributes := h, h
	edges.Edges = true
	attributes.Labels = Attributes
	ks = append(ks, h, edges, attributes)
	for _, v := range []Variant{Subtree, Edge, Assignment} {
		for _, h := range []int{0, 1, 3} {
			ks = append(ks, WL{H: h, Variant: v, Normalize: normalize, Labels: Auto})
		}
	}
	ks = append(ks, WL{H: 2, Labels: Degrees, Normalize: normalize, Variant: Subtree},
		WL{H: 2, Labels: Unlabeled, Normalize: normalize, Variant: Subtree})
	sp := ShortestPath{Resolution: 1e-6, Scale: 1, Normalize: normalize, Labels: Auto}
	ordered, weighted, unlabeled, rows := sp, sp, sp, sp
	ordered.Ordered = true
	weighted.Weighted = true
	unlabeled.Labels = Unlabeled
	rows.Labels, rows.Ordered = Attributes, true
	both := ordered
	both.Weighted = true
	ks = append(ks, sp, ordered, weighted, both, unlabeled, rows)
	for _, h := range []int{1, 3} {
		hops, lengths := sp, both
		hops.H, lengths.H = h, h
		ks = append(ks, hops, lengths)
	}
	for k := 3; k <= 5; k++ {
		ks = append(ks, Graphlet{K: k, Normalize: normalize},
			Graphlet{K: k, Connected: true, Normalize: normalize})
	}
	ks = append(ks, Graphlet{K: 4, Connected: true, Counts: true, Normalize: normalize},
		GraphletMix{K: 5, Samples: 20000, Normalize: normalize})
	for _, s := range []Series{Geometric, Exponential} {
		ks = append(ks, PlainWalk{Series: s, Lambda: 0.01, Normalize: normalize},
			PlainWalk{Series: s, Lambda: 0.3, P: 4, Normalize: normalize})
	}
	for _, p := range []int{1, 5, 8} {
		ks = append(ks, RandomWalk{Series: Geometric, P: p, Lambda: 0.1, Normalize: normalize, Labels: Auto})
	}
	ks = append(ks, RandomWalk{Series: Geometric, Lambda: 0.01, AllPairs: true, Normalize: normalize, Labels: Auto},
		RandomWalk{Series: Exponential, Lambda: 0.2, Normalize: normalize, Labels: Auto},
		RandomWalk{Series: Exponential, P: 3, Lambda: 0.2, AllPairs: true, Normalize: normalize, Labels: Auto},
		RandomWalk{Series: Geometric, P: 25, Lambda: 0.01, Normalize: normalize, Labels: Auto},
		NSPD{R: 2, D: 3, Normalize: normalize, Labels: Auto}, NSPD{R: 1, EdgeLabels: true, Normalize: normalize, Labels: Auto},
		NSPD{R: 4, D: 20, EdgeLabels: true, Normalize: normalize, Labels: Unlabeled},
		OddSth{H: 1, Lambda: 1, Normalize: normalize, Labels: Auto}, OddSth{H: 3, Lambda: 0.5, Normalize: normalize, Labels: Auto},
		OddSth{Lambda: 1, Normalize: normalize, Labels: Unlabeled},
		SubgraphMatching{Weights: []float64{1, 2, 0.5}, Normalize: normalize, Labels: Auto},
		SubgraphMatching{Weights: []float64{1, 0, 1}, EdgeLabels: true, Normalize: normalize, Labels: Auto},
		SubgraphMatching{Weights: []float64{1, 2, 0.5}, Vertices: []string{"L0", "L2"}, VertexValues: []float64{1, 0.5, 0.5, 2}, Normalize: normalize, Labels: Auto},
		SubgraphMatching{Weights: []float64{1, 0, 1}, EdgeLabels: true, Edges: []string{"=", "-"}, EdgeValues: []float64{4, -1, -1, 1}, Normalize: normalize, Labels: Unlabeled},
		Core{Base: "sp", Normalize: normalize}, Core{Base: "labels labels=unlabeled", Least: 2, Normalize: normalize},
		Core{Base: "wl h=2", Normalize: normalize}, Core{Base: `core base="hadamard h=1"`, Normalize: normalize},
		Hadamard{H: 3, Base: histogram, Normalize: normalize, Labels: Auto},
		Hadamard{H: 1, Base: "nspd r=1 d=1", Normalize: normalize, Labels: Degrees},
		WL{H: 2, Variant: Subtree, Base: "sp ordered", Normalize: normalize, Labels: Auto},
		WL{H: 2, Variant: Subtree, Base: histogram, Normalize: normalize, Labels: Auto},
		WL{H: 1, Variant: Subtree, Base: "rw p=2", Normalize: normalize, Labels: Auto},
		WL{H: 2, Variant: Subtree, Base: "odd-sth", Normalize: normalize, Labels: Auto},
		WL{H: 1, Variant: Subtree, Base: "graph-hopper", Normalize: normalize, Labels: Auto},
		Core{Base: "neighborhood-hash", Normalize: normalize}, Hadamard{H: 2, Base: "pyramid-match", Normalize: normalize, Labels: Auto},
		WL{H: 1, Variant: Subtree, Base: "graphlet k=3", Normalize: normalize, Labels: Unlabeled})
	ks = append(ks, slices.Concat(propagations(normalize), graphHoppers(normalize), pyramids(normalize), neighborhoodHashes())...)
	return append(ks, PlainWalk{Series: Exponential, Lambda: 0.5, Normalize: normalize},
		RandomWalk{Series: Geometric, P: 20, Lambda: 0.01, Labels: Degrees, Normalize: normalize})
}

// shape is a graph without labels.
type shape struct {
	n     int
	edges [][2]int
}

func randomShape(rng *rand.Rand, n int, p float64) shape {
	s := shape{n: n}
	for u := range n {
		for v := range u {
			if rng.Float64() < p {
				s.edges = append(s.edges, [2]int{u, v})
			}
		}
	}
	return s
}

// build gives a shape random labels, weights and attributes.
func (s shape) build(t testing.TB, rng *rand.Rand, labels int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(s.n)
	for v := range s.n {
		if labels > 0 {
			b.SetLabel(v, fmt.Sprintf("L%d", rng.IntN(labels)))
			b.SetAttributes(v, []float64{rng.NormFloat64(), rng.NormFloat64()})
		}
	}
	for _, e := range s.edges {
		w := float64(1+rng.IntN(4)) / 10
		if rng.IntN(2) == 0 {
			w = 1
		}
		b.AddLabeledEdge(e[0], e[1], w, []string{"-", "="}[rng.IntN(2)])
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// testGraphs returns graphs of all kinds; without labels when labels is 0.
func testGraphs(t testing.TB, seed uint64, labels int) []*graph.Graph {
	rng := rand.New(rand.NewPCG(seed, 7))
	complete := randomShape(rng, 6, 1)
	path := shape{n: 16}
	for v := 1; v < path.n; v++ {
		path.edges = append(path.edges, [2]int{v - 1, v})
	}
	star := shape{n: 9}
	for v := 1; v < star.n; v++ {
		star.edges = append(star.edges, [2]int{0, v})
	}
	star.edges = append(star.edges, [2]int{1, 2})
	twoParts := randomShape(rng, 5, 0.7)
	for _, e := range randomShape(rng, 6, 0.6).edges {
		twoParts.edges = append(twoParts.edges, [2]int{e[0] + 5, e[1] + 5})
	}
	twoParts.n = 13 // two isolated vertices
	shapes := []shape{
		{n: 0}, {n: 1}, {n: 1}, {n: 4}, {n: 2, edges: [][2]int{{0, 1}}},
		complete, path, star, twoParts,
		randomShape(rng, 8, 0.3), randomShape(rng, 9, 0.5), randomShape(rng, 10, 0.7), randomShape(rng, 12, 0.2), {n: 0},
	}
	var graphs []*graph.Graph
	for _, s := range shapes {
		graphs = append(graphs, s.build(t, rng, labels))
	}
	return graphs
}

// fits reports whether a kernel applies to graphs without labels and attributes.
func fits(k kernel.Kernel, labels int) bool {
	return labels > 0 || !strings.Contains(k.String(), "attributes")
}

func forKernels(t *testing.T, f func(t *testing.T, k kernel.Kernel, graphs []*graph.Graph, labels int)) {
	for _, labels := range []int{3, 0} {
		graphs := testGraphs(t, uint64(labels), labels)
		for _, k := range kernels(true) {
			if fits(k, labels) {
				t.Run(fmt.Sprintf("%s/labels=%d", k, labels), func(t *testing.T) { f(t, k, graphs, labels) })
			}
		}
	}
}

func fitCross(t testing.TB, k kernel.Kernel, train, graphs []*graph.Graph) *kernel.Matrix {
	t.Helper()
	f, err := k.Fit(context.Background(), train)
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	m, err := f.Cross(context.Background(), graphs)
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	return m
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-12*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// whole reports whether the values of a kernel are whole numbers and so exact.
func whole(k kernel.Kernel) bool {
	switch k := k.(type) {
	case WL:
		return k.Base == "" || k.Base == "sp ordered" || k.Base == histogram
	case Core:
		return k.Base != "neighborhood-hash"
	case Hadamard:
		return k.Base == histogram
	case OddSth:
		return k.Lambda == 1
	case ShortestPath:
		return k.Labels != Attributes
	case Histogram:
		return k.Labels != Attributes
	}
	return false
}

// Gram is the definition, and Cross too, raw and normalised, for new graphs with labels and
// structures that training has not seen.
func TestDefinition(t *testing.T) {
	graphtest.Slow(t)
	for _, labels := range []int{3, 0} {
		graphs, more := testGraphs(t, uint64(labels), labels), testGraphs(t, 99, 2*labels)
		normalized := kernels(true)
		for n, k := range kernels(false) {
			if !fits(k, labels) {
				continue
			}
			want := reference(k, slices.Concat(graphs, more))
			gram := fitGram(t, k, graphs)
			for i := range graphs {
				for j := range graphs {
					if g, w := gram.At(i, j), want[i][j]; whole(k) && g != w || !near(g, w) {
						t.Errorf("%s: k(%d, %d) = %v, want %v", k, i, j, g, w)
					}
				}
			}
			raw, got := fitCross(t, k, graphs, more), fitCross(t, normalized[n], graphs, more)
			for i := range more {
				for j := range graphs {
					r := len(graphs) + i
					w := want[r][j]
					if g := raw.At(i, j); whole(k) && g != w || !near(g, w) {
						t.Errorf("%s: k(new %d, %d) = %v, want %v", k, i, j, g, w)
					}
					switch a, b := want[r][r], want[j][j]; {
					case a == 0 && b == 0:
						w = 1
					case a == 0 || b == 0:
						w = 0
					default:
						w /= math.Sqrt(a * b)
					}
					if g := got.At(i, j); !near(g, w) {
						t.Errorf("%s, normalised: k(new %d, %d) = %v, want %v", k, i, j, g, w)
					}
				}
			}
		}
	}
}

// Diagonal has the raw kernels of graphs with themselves, whatever was fitted.
func TestDiagonal(t *testing.T) {
	for _, labels := range []int{3, 0} {
		graphs, more := testGraphs(t, uint64(labels), labels), testGraphs(t, 99, 2*labels)
		raw := kernels(false)
		for n, k := range kernels(true) {
			if !fits(k, labels) {
				continue
			}
			gram := fitGram(t, raw[n], more)
			for _, train := range [][]*graph.Graph{graphs, nil} {
				f, err := k.Fit(t.Context(), train)
				if err != nil {
					t.Fatal(err)
				}
				features, err := f.Transform(t.Context(), more)
				if err != nil {
					t.Fatal(err)
				}
				for i, got := range f.Map.(interface {
					Diagonal(kernel.Features) []float64
				}).Diagonal(features) {
					if want := gram.At(i, i); whole(k) && got != want || !near(got, want) {
						t.Errorf("%s: k(%d, %d) = %v, want %v", k, i, i, got, want)
					}
				}
			}
		}
	}
}

func TestProperties(t *testing.T) {
	graphtest.Slow(t)
	forKernels(t, func(t *testing.T, k kernel.Kernel, graphs []*graph.Graph, _ int) {
		m := fitGram(t, k, graphs)
		for i := range graphs {
			if m.At(i, i) != 1 {
				t.Errorf("k(%d, %d) = %v, want 1", i, i, m.At(i, i))
			}
			for j := range graphs {
				if m.At(i, j) != m.At(j, i) {
					t.Errorf("k(%d, %d) = %v, but k(%d, %d) = %v", i, j, m.At(i, j), j, i, m.At(j, i))
				}
				if m.At(i, j) > 1 {
					t.Errorf("k(%d, %d) = %v, want at most 1", i, j, m.At(i, j))
				}
			}
		}
		ev := eigenvalues(m)
		if ev[0] < -1e-12*ev[len(ev)-1] {
			t.Errorf("eigenvalues from %v to %v, want none under rounding errors", ev[0], ev[len(ev)-1])
		}
		if c := fitCross(t, k, graphs, graphs); !slices.Equal(c.Data, m.Data) {
			t.Error("Cross on the training graphs is not Gram")
		}
		rng := rand.New(rand.NewPCG(3, 3))
		shuffled := make([]*graph.Graph, len(graphs))
		for i, g := range graphs {
			shuffled[i], _ = graphtest.Shuffle(rng, g)
		}
		s := fitGram(t, k, shuffled)
		for i, v := range s.Data {
			if whole(k) && v != m.Data[i] || !near(v, m.Data[i]) {
				t.Errorf("entry %d is %v, after a change of the order of vertices %v", i, m.Data[i], v)
			}
		}
	})
}

// A large collection has the values of small ones.
func TestManyGraphs(t *testing.T) {
	graphtest.Long(t)
	const parts = 6
	var graphs []*graph.Graph
	var part [parts][]*graph.Graph
	for i := range part {
		part[i] = testGraphs(t, uint64(40+i), 3)
		graphs = append(graphs, part[i]...)
	}
	size := len(part[0])
	for _, normalize := range []bool{false, true} {
		for _, k := range kernels(normalize) {
			big := fitGram(t, k, graphs)
			if cross := fitCross(t, k, graphs, graphs); !slices.Equal(big.Data, cross.Data) {
				t.Errorf("%s: Cross on the training graphs is not Gram", k)
			}
			for a := range part {
				b := (a + 1) % parts
				small := fitCross(t, k, part[a], part[b])
				for i := range small.Rows {
					for j := range small.Cols {
						if g, w := big.At(b*size+i, a*size+j), small.At(i, j); whole(k) && g != w || !near(g, w) {
							t.Errorf("%s: k = %v in a large collection, %v in a small one", k, g, w)
						}
					}
				}
			}
		}
	}
}

// A collection of several sections, with frequent features, has the bits of pairs in other sets: in
// blocks across sections, in shuffled sets, and beside graphs with values that are not whole.
func TestSections(t *testing.T) {
	var graphs []*graph.Graph
	for i := 0; len(graphs) <= 2*sectionGraphs; i++ {
		graphs = append(graphs, testGraphs(t, uint64(60+i), 3)...)
	}
	n := len(graphs)
	rng := rand.New(rand.NewPCG(9, 9))
	for _, k := range []kernel.Kernel{
		DefaultWL(), WL{H: 2, Variant: Assignment, Labels: Auto}, ShortestPath{Ordered: true, Scale: 0.3, Labels: Auto, Resolution: 1e-6},
		NSPD{R: 2, D: 4, Labels: Auto}, RandomWalk{Series: Geometric, P: 3, Lambda: 0.1, Labels: Auto}, Graphlet{K: 3},
		Histogram{Labels: Attributes, Scale: 1}, PyramidMatch{Depth: 2, Dim: 2, Labels: Auto}, Core{Base: "sp"},
	} {
		f, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		gram, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		order := rng.Perm(n)
		shuffled, some := f.Train.Select(order), f.Train.Select(order[:20])
		for range 3 {
			b := kernel.Block{A: shuffled, I0: rng.IntN(n), B: f.Train, J0: rng.IntN(n)}
			b.I1, b.J1 = b.I0+1+rng.IntN(n-b.I0), b.J0+1+rng.IntN(n-b.J0)
			checkBlock(t, k, f.Map, b, func(i, j int) float64 { return gram.At(order[i], j) })
			b.A = f.Train
			checkBlock(t, k, f.Map, b, gram.At)
			b.A, b.I0, b.I1 = some, 0, 20
			checkBlock(t, k, f.Map, b, func(i, j int) float64 { return gram.At(order[i], j) })
		}
		for range 50 {
			i, j := rng.IntN(n), rng.IntN(n)
			two, err := f.Transform(t.Context(), []*graph.Graph{graphs[i], graphs[j]})
			if err != nil {
				t.Fatal(err)
			}
			checkBlock(t, k, f.Map, kernel.Block{A: two, I0: 0, I1: 1, B: two, J0: 1, J1: 2}, func(int, int) float64 { return gram.At(i, j) })
		}
	}
}

// checkBlock compares a block with the values that it must have to the bit.
func checkBlock(t *testing.T, k kernel.Kernel, m kernel.Map, b kernel.Block, want func(i, j int) float64) {
	t.Helper()
	width := b.J1 - b.J0
	dst := make([]float64, (b.I1-b.I0)*width)
	if err := m.Fill(t.Context(), dst, width, b); err != nil {
		t.Fatal(err)
	}
	for at, v := range dst {
		if i, j := b.I0+at/width, b.J0+at%width; v != want(i, j) {
			t.Fatalf("%s: k(%d, %d) = %v, want %v", k, i, j, v, want(i, j))
		}
	}
}

// No training graph, or one without vertices, is no special case.
func TestFewGraphs(t *testing.T) {
	forKernels(t, func(t *testing.T, k kernel.Kernel, graphs []*graph.Graph, _ int) {
		if m := fitGram(t, k, nil); m.Rows != 0 || m.Cols != 0 {
			t.Errorf("Gram of no graphs is %d×%d", m.Rows, m.Cols)
		}
		if m := fitCross(t, k, nil, graphs); m.Rows != len(graphs) || m.Cols != 0 {
			t.Errorf("Cross with no training graphs is %d×%d, want %d×0", m.Rows, m.Cols, len(graphs))
		}
		empty := graphs[:1]
		c := fitCross(t, k, empty, graphs)
		for i, g := range graphs {
			if want := fitGram(t, k, []*graph.Graph{g, graphs[0]}).At(0, 1); c.At(i, 0) != want {
				t.Errorf("k(%d, empty) = %v, want %v as in a Gram matrix", i, c.At(i, 0), want)
			}
		}
	})
}

func TestWorkersDoNotChangeBits(t *testing.T) {
	for _, labels := range []int{3, 0} {
		few, more := testGraphs(t, 5, labels), testGraphs(t, 8, labels)
		// More than the largest piece of work of one goroutine: 32 rows, in mirror, which all kernels share.
		many := slices.Concat(few, testGraphs(t, 6, labels), testGraphs(t, 7, labels))
		for n, k := range kernels(true) {
			if !fits(k, labels) {
				continue
			}
			graphs := few
			if labels > 0 && (n == 0 || !testing.Short()) {
				graphs = many
			}
			gram, cross := fitGram(t, k, graphs), fitCross(t, k, graphs, more)
			for _, workers := range []int{1, 7, 2} {
				if workers == 2 && testing.Short() { // the number of cores, above, is rarely less
					continue
				}
				ctx := work.WithWorkers(t.Context(), workers)
				f, err := k.Fit(ctx, graphs)
				if err != nil {
					t.Fatal(err)
				}
				g, err := f.Gram(ctx)
				if err != nil || !slices.Equal(gram.Data, g.Data) {
					t.Errorf("%s: other bits with %d workers, %v", k, workers, err)
				}
				if g, err = f.Cross(ctx, more); err != nil || !slices.Equal(cross.Data, g.Data) {
					t.Errorf("%s: other bits of Cross with %d workers, %v", k, workers, err)
				}
			}
		}
	}
}

func TestConcurrentCross(t *testing.T) {
	graphs, more := testGraphs(t, 5, 3), testGraphs(t, 6, 5)
	for _, k := range kernels(true) {
		f, err := k.Fit(context.Background(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Cross(context.Background(), more)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := f.Cross(context.Background(), more)
				if err != nil || !slices.Equal(got.Data, want.Data) {
					t.Errorf("%s: concurrent Cross differs (%v)", k, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestCancelled(t *testing.T) {
	graphtest.Slow(t)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	graphs := testGraphs(t, 5, 3)
	rng := rand.New(rand.NewPCG(1, 1))
	heavy := []*graph.Graph{randomShape(rng, 1200, 0.2).build(t, rng, 3)}
	for _, k := range slices.Concat(kernels(true), []kernel.Kernel{WL{H: 2000, Variant: Subtree, Labels: Auto}, GraphletMix{K: 5, Samples: 1e9}}) {
		if _, err := k.Fit(done, graphs); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Fit returned %v, want context.Canceled", k, err)
		}
		f, err := k.Fit(context.Background(), graphs[:12])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Gram(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Gram returned %v, want context.Canceled", k, err)
		}
		if _, err := f.Cross(done, graphs); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Cross returned %v, want context.Canceled", k, err)
		}
		// The bound is far above what a check needs, for slow machines, and far below what
		// the slower kernels take.
		soon, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		start := time.Now()
		_, err = k.Fit(soon, heavy)
		if wait := time.Since(start); wait > 10*time.Second {
			t.Errorf("%s: Fit took %v to notice the end of its context", k, wait)
		}
		// The graph has eigenvalues too large for some series, which is an earlier error.
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "want less than") {
			t.Errorf("%s: Fit returned %v, want context.DeadlineExceeded", k, err)
		}
		cancel()
	}
}
