package classic

import (
	"context"
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

// labelledGraph returns a graph with a label per letter of labels and edges as pairs of digits.
func labelledGraph(t testing.TB, labels, edges string) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(labels))
	for v, l := range labels {
		b.SetLabel(v, string(l))
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

// Values that can be checked by hand on the path C-C-O and the triangle C, C, O.
func TestByHand(t *testing.T) {
	graphs := []*graph.Graph{labelledGraph(t, "CCO", "01 12"), labelledGraph(t, "CCO", "01 12 02")}
	for _, c := range []struct {
		kernel        kernel.Kernel
		self0, k, why string
	}{
		{WL{H: 0, Variant: Subtree, Labels: Auto}, "5", "5", "2 C and 1 O: 2·2 + 1·1"},
		// Colours of the path: C(C), C(CO), O(C). Of the triangle: C(CO) twice, O(CC).
		{WL{H: 1, Variant: Subtree, Labels: Auto}, "8", "7", "5, and C(CO): once · twice"},
		{WL{H: 1, Variant: Assignment, Labels: Auto}, "6", "4", "3, and one C(CO)"},
		// Edges C-C, C-O against C-C, C-O, C-O.
		{WL{H: 0, Variant: Edge, Labels: Auto}, "2", "3", "1·1 + 1·2"},
		// Pairs: CC1, CO1, CO2 against CC1, CO1 twice.
		{ShortestPath{Scale: 1, Labels: Auto, Resolution: 1e-6}, "3", "3", "1·1 + 1·2"},
		{ShortestPath{Ordered: true, Scale: 1, Labels: Auto, Resolution: 1e-6}, "8", "8", "CC1: 2·2; CO1 and OC1: 1·2 each"},
		// Walks of one step: the path has CC twice, CO, OC; the triangle CC twice, CO and OC twice.
		{RandomWalk{Series: Geometric, P: 1, Lambda: 0.5, Labels: Auto}, "8", "9", "5 + ½(2·2 + 1·2 + 1·2)"},
		{Graphlet{K: 3}, "1", "0", "one wedge, one triangle"},
		{Histogram{Scale: 1, Labels: Auto}, "5", "5", "2·2 + 1·1"},
		{RandomWalk{Series: Geometric, P: 1, Lambda: 0.5, AllPairs: true, Labels: Auto}, "12", "13", "9 pairs, and ½(2·2 + 1·2 + 1·2)"},
		// Single vertices 5; C-C once, mapped in two ways; C-O once and twice; no path of 3 in a triangle.
		{SubgraphMatching{Weights: []float64{1, 1, 1}, Labels: Auto}, "9", "9", "5 + 2 + 1·2"},
		// Trees of the path: C 3, O 1, C(C) 1, C(CO) 1, O(C) 1. Of the triangle: C 4, O 2, C(CO) 2, O(CC) 1.
		{OddSth{H: 1, Lambda: 1, Labels: Auto}, "13", "16", "3·4 + 1·2 + 1·2"},
		// The labels are the same; no ball of the path is a triangle.
		{NSPD{R: 1, Labels: Auto}, "2", "1", "5/5 + 0"},
		// The path has no 2-core.
		{Core{Base: histogram}, "10", "10", "5 in the 0-core and in the 1-core"},
		// Sums of labels: CC, CCO, CO against CCO three times.
		{Hadamard{H: 1, Base: histogram, Labels: Auto}, "8", "8", "5, and 1·3"},
		{WL{H: 1, Variant: Subtree, Base: "graphlet k=3", Labels: Auto}, "2", "0", "one wedge, one triangle, whatever the colours"},
		{Histogram{Scale: 4, Labels: Auto}, "20", "20", "4 (2·2 + 1·1)"},
		{ShortestPath{Scale: 3, Labels: Auto, Resolution: 1e-6}, "9", "9", "3 (1·1 + 1·2)"},
	} {
		m := fitGram(t, c.kernel, graphs)
		if got := fmt.Sprintf("%.12g", m.At(0, 0)); got != c.self0 {
			t.Errorf("%s: k(path, path) = %s, want %s", c.kernel, got, c.self0)
		}
		if got := fmt.Sprintf("%.12g", m.At(0, 1)); got != c.k {
			t.Errorf("%s: k(path, triangle) = %s, want %s: %s", c.kernel, got, c.k, c.why)
		}
	}
}

// star returns a vertex with n neighbours, all of different labels.
func star(t *testing.T, n int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(n + 1)
	for v := range n + 1 {
		b.SetLabel(v, fmt.Sprint(v))
		if v > 0 {
			b.AddEdge(0, v)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every kernel comes back from its text, with base kernels in quotation marks inside each other.
func TestTexts(t *testing.T) {
	all := append(kernels(true), kernels(false)...)
	inner := WL{H: 1, Variant: Subtree, Base: `hadamard base="nspd r=1"`, Labels: Auto}
	for _, k := range append(all, Core{Base: inner.String()}) {
		if back, err := kernel.Parse(k.String()); err != nil || back.String() != k.String() {
			t.Errorf("%s comes back as %v, %v", k, back, err)
		}
	}
}

// Matches of up to 5 vertices are those that a search finds, on graphs with few of them.
func TestMatchesOfFive(t *testing.T) {
	k := SubgraphMatching{Weights: []float64{1, 0.5, 2, 3, 5}, EdgeLabels: true, Labels: Labels}
	rng := rand.New(rand.NewPCG(4, 4))
	var graphs []*graph.Graph
	for i := range 6 {
		graphs = append(graphs, randomShape(rng, 7, []float64{0.3, 0.5, 0.9}[i%3]).build(t, rng, 2))
	}
	want := reference(k, graphs)
	got := fitGram(t, k, graphs)
	for i := range graphs {
		for j := range graphs {
			if !near(got.At(i, j), want[i][j]) {
				t.Errorf("k(%d, %d) = %v, want %v", i, j, got.At(i, j), want[i][j])
			}
		}
	}
}

// fitLimited fits a kernel of which only graphs with up to limit features have explicit ones.
func fitLimited(ctx context.Context, k kernel.Kernel, graphs []*graph.Graph, limit int) (*kernel.Fitted, error) {
	sequences, classes := maxSequences, maxClasses
	defer func() { maxSequences, maxClasses = sequences, classes }()
	maxSequences, maxClasses = limit, limit
	return k.Fit(ctx, graphs)
}

// Where features are too many, kernels compare pairs of graphs directly, with the same result.
func TestDirectComparison(t *testing.T) {
	ctx := context.Background()
	graphs, more := testGraphs(t, 21, 3), testGraphs(t, 22, 4)
	for _, normalize := range []bool{false, true} {
		paths := ShortestPath{H: 3, Scale: 1, Normalize: normalize, Labels: Auto, Resolution: 1e-6}
		ordered := paths
		ordered.Ordered = true
		rw := RandomWalk{Series: Geometric, P: 4, Lambda: 0.1, Normalize: normalize, Labels: Auto}
		for name, k := range map[string]kernel.Kernel{"wl-sp": paths, "wl-sp ordered": ordered, "rw": rw} {
			var want [2]*kernel.Matrix
			for _, limit := range []int{1 << 20, 30, 0} { // none, some, all that have features
				f, err := fitLimited(ctx, k, graphs, limit)
				if err != nil {
					t.Fatal(err)
				}
				train := f.Train.(*vectors)
				if train.anyLarge != (limit <= 30) {
					t.Fatalf("%s, limit %d: some large is %v", name, limit, train.anyLarge)
				}
				all := !slices.ContainsFunc(train.graphs[1:12], func(g *coloured) bool { return g.large == nil })
				if name == "rw" && all != (limit == 0) {
					t.Fatalf("limit %d: all large is %v", limit, all)
				}
				gram, err := f.Gram(ctx)
				if err != nil {
					t.Fatal(err)
				}
				self, err := f.Cross(ctx, graphs)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(gram.Data, self.Data) {
					t.Errorf("%s, limit %d: Cross on the training graphs is not Gram", name, limit)
				}
				cross, err := f.Cross(ctx, more)
				if err != nil {
					t.Fatal(err)
				}
				if want[0] == nil {
					want = [2]*kernel.Matrix{gram, cross}
				}
				for i, got := range [2]*kernel.Matrix{gram, cross} {
					for j, v := range got.Data {
						if !near(v, want[i].Data[j]) {
							t.Errorf("%s, limit %d: entry %d is %v, want %v", name, limit, j, v, want[i].Data[j])
						}
					}
				}
			}
		}
	}
}

// The counts by formulas are those by enumeration on graphs with many cliques, cycles and
// stars, type by type.
func TestGraphletCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 12 {
		n := 4 + i
		g := randomShape(rng, n, []float64{0.2, 0.5, 0.8, 0.95}[i%4]).build(t, rng, 0)
		for k := 3; k <= 5; k++ {
			table := graphlets(k)
			for _, connected := range []bool{false, true} {
				want := make([]uint64, len(table.graph))
				var rec func(set []int32, from int)
				rec = func(set []int32, from int) {
					if len(set) == k {
						mask, _ := inducedMask(g, set)
						if !connected || connectedMask(mask, k) {
							want[table.typ[mask]]++
						}
						return
					}
					for v := from; v < n; v++ {
						rec(append(set, int32(v)), v+1)
					}
				}
				rec(make([]int32, 0, k), 0)
				var s subgraphCounter
				got, err := s.induced(context.Background(), g, table, connected)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("n=%d k=%d connected=%v: counts %v, want %v", n, k, connected, got, want)
				}
			}
		}
	}
}

// A complete graph has cliques only, even where rows of bits have several words.
func TestGraphletsOfCompleteGraph(t *testing.T) {
	graphtest.Long(t)
	const n = 90
	rng := rand.New(rand.NewPCG(1, 2))
	g := randomShape(rng, n, 1).build(t, rng, 0)
	for k := 3; k <= 5; k++ {
		var s subgraphCounter
		got, err := s.induced(context.Background(), g, graphlets(k), false)
		if err != nil {
			t.Fatal(err)
		}
		for typ, c := range got {
			want := 0.0
			if typ == len(got)-1 {
				want = math.Round(binomialFloat(n, k))
			}
			if float64(c) != want {
				t.Errorf("k=%d: %d subgraphs of type %d, want %v", k, c, typ, want)
			}
		}
	}
}

// The numbers of types are those of the literature.
func TestGraphletTypes(t *testing.T) {
	for k, want := range map[int][2]int{3: {4, 2}, 4: {11, 6}, 5: {34, 21}} {
		table := graphlets(k)
		connected := 0
		for _, c := range table.connected {
			connected += btoi(c)
		}
		if got := [2]int{len(table.graph), connected}; got != want {
			t.Errorf("k=%d: %d types, %d connected, want %v", k, got[0], got[1], want)
		}
	}
}

// Sampled frequencies keep the stated bound: with δ = 1e-6 a failure is no accident.
func TestGraphletSampling(t *testing.T) {
	const epsilon, delta = 0.1, 1e-6
	rng := rand.New(rand.NewPCG(6, 6))
	hub := randomShape(rng, 60, 0.06)
	for v := 1; v < 40; v++ {
		if !slices.Contains(hub.edges, [2]int{v, 0}) {
			hub.edges = append(hub.edges, [2]int{v, 0})
		}
	}
	for i, s := range []shape{randomShape(rng, 40, 0.5), randomShape(rng, 80, 0.05), hub} {
		g := s.build(t, rng, 0)
		for k := 3; k <= 5; k++ {
			table := graphlets(k)
			var c subgraphCounter
			exact, err := c.induced(t.Context(), g, table, false)
			if err != nil {
				t.Fatal(err)
			}
			types := float64(len(table.graph))
			samples := min(int(math.Ceil(2*(types*math.Ln2+math.Log(1/delta))/(epsilon*epsilon))), int(binomialFloat(g.N(), k))-1)
			sampled, err := sampleGraphlets(t.Context(), g, table, samples, 9)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for typ := range exact {
				sum += math.Abs(float64(exact[typ])/total(exact) - float64(sampled[typ])/total(sampled))
			}
			if sum >= epsilon || sum == 0 {
				t.Errorf("graph %d, k=%d: frequencies off by %v, want between 0 and %v", i, k, sum, epsilon)
			}
			again, err := sampleGraphlets(t.Context(), g, table, samples, 9)
			if err != nil || !slices.Equal(again, sampled) {
				t.Errorf("graph %d, k=%d: other samples with the same seed", i, k)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	plain := labelledGraph(t, "AB", "01")
	b := graph.NewBuilder(2)
	b.AddWeightedEdge(0, 1, 1e-9)
	bare, _ := b.Build()
	b = graph.NewBuilder(1)
	b.SetAttributes(0, []float64{1, 2})
	attributed, _ := b.Build()
	b = graph.NewBuilder(1)
	b.SetAttributes(0, []float64{1})
	other, _ := b.Build()
	for _, c := range []struct {
		kernel kernel.Kernel
		graphs []*graph.Graph
		want   string
	}{
		{WL{H: -1, Variant: Subtree, Labels: Auto}, nil, "wl: h = -1, want 0 to 65536"},
		{WL{Variant: "deep", Labels: Auto}, nil, `wl: variant = "deep", want wl, wl-edge or wl-oa`},
		{WL{Variant: Edge, Labels: Attributes}, nil, `wl-edge: labels = "attributes", want auto, labels, degrees or unlabeled`},
		{WL{Variant: Subtree, Labels: Auto}, []*graph.Graph{plain, bare}, "wl: graph 0 has labels, graph 1 has no labels; want labels in all graphs or in none"},
		{WL{Variant: Edge, Base: "sp", Labels: Auto}, nil, `wl-edge: base = "sp", want none`},
		{WL{Variant: Subtree, Base: "sp sp", Labels: Auto}, nil, `wl: base = "sp sp", want a kernel: sp stands behind another kernel, want + or * between them (character 4 of "sp sp")`},
		{Core{Base: "sp h=x"}, nil, `core: base = "sp h=x", want a kernel: sp: h = "x", want a whole number (character 6 of "sp h=x")`},
		{Hadamard{H: 1, Base: "sum", Labels: Auto}, nil, `hadamard: base = "sum", want a kernel: kernel "sum", want one of composition, core, edge-labels, gaussian, graph-hopper, graphlet, graphlet-mix, hadamard, labels, neighborhood-hash, nspd, odd-sth, propagation, pyramid-match, rw, rw-plain, sp, subgraph-matching, wl, wl-edge, wl-oa, wl-sp (character 1 of "sum")`},
		{Hadamard{H: 65, Base: histogram, Labels: Unlabeled}, []*graph.Graph{labelledGraph(t, "aa", "01")}, "hadamard: graph 0: h = 65, want less, because sums of labels exceed 2⁶⁴"},
		{NSPD{R: 1, Labels: Unlabeled}, []*graph.Graph{plain, star(t, 5000)}, "nspd: graph 1: 5001 vertices within 1 steps of vertex 0, want at most 4096, or a smaller r"},
		{Hadamard{H: 1, Base: histogram, Labels: Labels}, []*graph.Graph{star(t, 8200)}, "hadamard: graph 0: 8201 vertices with 8201 different labels, want a product of at most 67108864"},
		{SubgraphMatching{Labels: Auto}, nil, "subgraph-matching: weights = , want 1 to 7 numbers"},
		{SubgraphMatching{Weights: []float64{1}, Vertices: []string{"A"}, Labels: Auto}, nil, "subgraph-matching: vertex_values = , want 1 numbers for 1 labels"},
		{SubgraphMatching{Weights: []float64{1}, Edges: []string{"A"}, EdgeValues: []float64{1}, Labels: Auto}, nil, `subgraph-matching: edge_labels = false, want true, because edges are given`},
		{SubgraphMatching{Weights: []float64{1}, Vertices: []string{"A", "A"}, VertexValues: []float64{1, 1, 1, 1}, Labels: Auto}, nil, `subgraph-matching: vertex_values = 1,1,1,1, want the label "A" once`},
		{SubgraphMatching{Weights: []float64{1}, Vertices: []string{"A", "B"}, VertexValues: []float64{1, 2, 3, 1}, Labels: Auto}, nil, `subgraph-matching: vertex_values = 1,2,3,1, want the same value for "B" and "A", and for "A" and "B"`},
		{RandomWalk{Series: Geometric, Lambda: 1, Labels: Auto}, []*graph.Graph{labelledGraph(t, "aa", "01")}, "rw: graph 0: lambda = 1, want less than 1 for walks of any length"},
		{WL{Labels: Labels, Variant: Subtree}, []*graph.Graph{bare}, "wl: graph 0 has no labels, which the kernel compares"},
		{Histogram{Edges: true, Scale: 1, Labels: Auto}, []*graph.Graph{plain}, "edge-labels: graph 0: no edge labels, want a label on every edge"},
		{Histogram{Labels: Attributes, Scale: 1}, []*graph.Graph{plain}, "labels: graph 0 has no attributes, which the kernel compares"},
		{Histogram{Labels: Attributes, Scale: 1}, []*graph.Graph{attributed, other}, "labels: graph 1: number of attributes per vertex is 1, want 2 as in the graphs before"},
		{Histogram{Labels: "all", Scale: 1}, nil, `labels: labels = "all", want auto, labels, degrees, unlabeled or attributes`},
		{ShortestPath{Weighted: true, Resolution: math.NaN(), Scale: 1, Labels: Auto}, nil, "sp: resolution = NaN, want a positive, finite number"},
		{ShortestPath{Labels: Attributes, Scale: 1, Resolution: 1e-6}, nil, "sp: ordered = false, want true with labels = attributes"},
		{ShortestPath{Weighted: true, Resolution: 1e-6, Scale: 1, Labels: Auto}, []*graph.Graph{bare}, "sp: graph 0: edge (0, 1): weight 1e-09 is 0.001 times the resolution 1e-06, want 1 to 4.5e+15 times"},
		{Graphlet{K: 6}, nil, "graphlet: k = 6, want 3 to 5"},
		{GraphletMix{K: 3}, nil, "graphlet-mix: samples = 0, want 1 to 2147483647"},
		{RandomWalk{Series: Geometric, P: 1001, Lambda: 1, Labels: Auto}, nil, "rw: p = 1001, want 0 to 1000"},
		{RandomWalk{Series: Geometric, P: 1, Labels: Auto}, nil, "rw: lambda = 0, want a positive, finite number"},
		{RandomWalk{Series: Geometric, P: 20, Lambda: 1e300, Labels: Auto}, []*graph.Graph{plain}, "rw: graph 0: a kernel value is not a finite number; want fewer steps, a smaller lambda, or smaller attributes"},
		{PlainWalk{Series: "odd", Lambda: 1}, nil, `rw-plain: series = "odd", want geometric or exponential`},
		{PlainWalk{Lambda: math.Inf(1), Series: Geometric}, nil, "rw-plain: lambda = +Inf, want a positive, finite number"},
		{PlainWalk{Lambda: 1, Series: Geometric}, []*graph.Graph{plain}, "rw-plain: graph 0: lambda = 1, want less than 1 for an adjacency matrix with eigenvalues up to 1"},
		{PlainWalk{Lambda: 1e300, P: 3, Series: Geometric}, []*graph.Graph{plain}, "rw-plain: graph 0: a kernel value is not a finite number; want fewer steps, a smaller lambda, or smaller attributes"},
		{Histogram{Labels: Auto}, nil, "labels: scale = 0, want a positive, finite number"},
		{ShortestPath{H: 1, Ordered: true, Labels: Attributes, Scale: 1, Resolution: 1e-6}, nil, "wl-sp: h = 1, want 0 with labels = attributes"},
	} {
		_, err := c.kernel.Fit(ctx, c.graphs)
		if err == nil || err.Error() != c.want {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
	sp := DefaultShortestPath()
	sp.Weighted = true
	f, err := sp.Fit(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Cross(ctx, []*graph.Graph{plain, bare}); err == nil || !strings.HasPrefix(err.Error(), "sp: ") {
		t.Errorf("Cross returned %v", err)
	}
	f, err = DefaultWL().Fit(ctx, []*graph.Graph{bare})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Cross(ctx, []*graph.Graph{plain}); err == nil || err.Error() != "wl: graph 0 has labels, the training graphs have none" {
		t.Errorf("Cross returned %v", err)
	}
}

// Names are as the command line has them.
func TestNames(t *testing.T) {
	for want, k := range map[string]kernel.Kernel{
		"wl":                                   DefaultWL(),
		"wl-oa h=2 labels=degrees":             WL{H: 2, Variant: Assignment, Labels: Degrees, Normalize: true},
		"sp":                                   DefaultShortestPath(),
		"sp ordered normalize=false":           ShortestPath{Ordered: true, Scale: 1, Labels: Auto, Resolution: 1e-6},
		"wl-sp h=3 scale=2 normalize=false":    ShortestPath{H: 3, Scale: 2, Labels: Auto, Resolution: 1e-6},
		"graphlet":                             DefaultGraphlet(),
		"graphlet k=5 connected":               Graphlet{K: 5, Connected: true, Normalize: true},
		"rw":                                   DefaultRandomWalk(),
		"rw-plain series=exponential lambda=2": PlainWalk{Series: Exponential, Lambda: 2, Normalize: true},
		"labels":                               DefaultHistogram(),
		"edge-labels normalize=false":          Histogram{Edges: true, Scale: 1, Labels: Auto},
	} {
		if k.String() != want {
			t.Errorf("%q, want %q", k, want)
		}
	}
	for _, k := range []interface{ Validate() error }{DefaultWL(), DefaultShortestPath(), DefaultGraphlet(), DefaultRandomWalk(), DefaultPlainWalk(), DefaultGraphletMix(), DefaultHistogram()} {
		if err := k.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Products of self-similarities beyond the range of float64 are no trouble.
func TestNormalizedRange(t *testing.T) {
	for _, a := range []float64{1, 3e-200, 7e200, 1.7e308, 5e-320} {
		if got := normalized(a, a, a); got != 1 {
			t.Errorf("normalized(%v, …) = %v, want 1", a, got)
		}
		if got := normalized(a/2, a, a); math.Abs(got-0.5) > 1e-3 {
			t.Errorf("normalized(%v, …) = %v, want ½", a/2, got)
		}
	}
}

// The values of water and hydronium, by hand: 1ᵀA^i 1 is 3, 4, 6, 8 and 4, 6, 12, 18.
func TestPlainWalkByHand(t *testing.T) {
	water, hydronium := graph.NewBuilder(3), graph.NewBuilder(4)
	for v := 1; v <= 3; v++ {
		if v < 3 {
			water.AddEdge(0, v)
		}
		hydronium.AddEdge(0, v)
	}
	var gs []*graph.Graph
	for _, b := range []*graph.Builder{water, hydronium} {
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, g)
	}
	k := PlainWalk{Lambda: 0.1, P: 3, Series: Geometric}
	if got, want := fitGram(t, k, gs).At(0, 1), 12+0.1*24+0.01*72+0.001*144; !near(got, want) {
		t.Errorf("geometric: %v, want %v", got, want)
	}
	k.Series = Exponential
	if got, want := fitGram(t, k, gs).At(0, 1), 12+0.1*24+0.01/2*72+0.001/6*144; !near(got, want) {
		t.Errorf("exponential: %v, want %v", got, want)
	}
	k = PlainWalk{Lambda: 0.34, Series: Geometric} // 1/3 is the limit of hydronium with itself
	if _, err := k.Fit(t.Context(), gs); err == nil || !strings.Contains(err.Error(), "graph 1") {
		t.Errorf("error %v, want one that names graph 1", err)
	}
	f, err := k.Fit(t.Context(), gs[:1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Cross(t.Context(), gs); err == nil || !strings.Contains(err.Error(), "graph 1") {
		t.Errorf("error %v, want one that names graph 1", err)
	}
}

// Lambda gets smaller only where the series over walks of any length needs it.
func TestConverging(t *testing.T) {
	long := graph.NewBuilder(600) // a cycle: the largest row sum is the eigenvalue 2
	for v := range 600 {
		long.AddEdge(v, (v+1)%600)
	}
	cycle, err := long.Build()
	if err != nil {
		t.Fatal(err)
	}
	star := labelledGraph(t, "ABCD", "01 02 03") // √3
	for _, c := range []struct {
		kernel PlainWalk
		graphs []*graph.Graph
		want   float64
	}{
		{PlainWalk{Lambda: 0.5, Series: Geometric}, []*graph.Graph{star}, 0.9 / 3},
		{PlainWalk{Lambda: 0.5, Series: Geometric}, []*graph.Graph{star, cycle}, 0.9 / 4},
		{PlainWalk{Lambda: 0.3, Series: Geometric}, []*graph.Graph{star}, 0.3},
		{PlainWalk{Lambda: 0.5, Series: Geometric}, nil, 0.5},
		{PlainWalk{Lambda: 0.5, P: 3, Series: Geometric}, []*graph.Graph{star}, 0.5},
		{PlainWalk{Lambda: 0.5, Series: Exponential}, []*graph.Graph{star}, 0.5},
	} {
		if got := c.kernel.Converging(c.graphs).Lambda; !near(got, c.want) {
			t.Errorf("%+v: Lambda %v, want %v", c.kernel, got, c.want)
		}
	}
}

// A walk on two complete graphs of n and n' vertices with one label has (n-1)(n'-1) steps to choose from each time, so that
// the series is nn'/(1 − λ(n-1)(n'-1)). With λ = 0.9/ρ its terms leave the range of float64.
func TestLongWalks(t *testing.T) {
	var gs []*graph.Graph
	for _, n := range []int{3, 5, 12, 40} {
		rng := rand.New(rand.NewPCG(1, 1))
		gs = append(gs, randomShape(rng, n, 1).build(t, rng, 1))
	}
	value := func(a, b *graph.Graph, lambda float64) float64 {
		return float64(a.N()*b.N()) / (1 - lambda*float64(a.N()-1)*float64(b.N()-1))
	}
	k, err := RandomWalk{Series: Geometric, Lambda: 0.1, Labels: Labels}.Converging(t.Context(), gs)
	if err != nil || !near(k.Lambda, 0.9/39/39) {
		t.Fatalf("Lambda = %v, %v, want 0.9/39²", k.Lambda, err)
	}
	m := fitGram(t, k, gs)
	for i, a := range gs {
		for j, b := range gs {
			if got, want := m.At(i, j), value(a, b, k.Lambda); math.Abs(got-want) > 1e-12*want {
				t.Errorf("k(%d, %d) = %v, want %v", i, j, got, want)
			}
		}
	}
	k.Series, k.Lambda = Exponential, 500./39/39
	if got, want := fitGram(t, k, gs[3:]).At(0, 0), 1600*math.Exp(500); math.Abs(got-want) > 1e-11*want {
		t.Errorf("exponential: %v, want %v", got, want)
	}
}

// With Damped, graphs for which the series diverges have steps of the weight 0.9/ρ.
func TestDamped(t *testing.T) {
	var gs []*graph.Graph
	for _, n := range []int{2, 3, 5, 7} {
		b := graph.NewBuilder(n)
		for v := range n {
			b.SetLabel(v, "A")
			for u := range v {
				b.AddEdge(u, v)
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, g)
	}
	lambda := []float64{0.1, 0.1, 0.9 / 16, 0.9 / 36}
	for _, k := range []kernel.Kernel{
		RandomWalk{Series: Geometric, Lambda: 0.1, Labels: Labels, Damped: true}, PlainWalk{Series: Geometric, Lambda: 0.1, Damped: true},
	} {
		m := fitCross(t, k, gs[:2], gs)
		for i, a := range gs {
			for j, b := range gs[:2] {
				want := float64(a.N()*b.N()) / (1 - math.Sqrt(lambda[i]*lambda[j])*float64((a.N()-1)*(b.N()-1)))
				if got := m.At(i, j); math.Abs(got-want) > 1e-11*want {
					t.Errorf("%s: k(%d, %d) = %v, want %v", k, i, j, got, want)
				}
			}
		}
		all := fitGram(t, k, gs)
		if ev := eigenvalues(all); ev[0] < -1e-12*ev[3] {
			t.Errorf("%s: eigenvalues %v", k, ev)
		}
	}
	if n := (PlainWalk{Series: Geometric, Lambda: 0.1}).Diverging(gs); n != 2 {
		t.Errorf("%d graphs diverge, want 2", n)
	}
	if n, err := (RandomWalk{Series: Geometric, Lambda: 0.1, Labels: Labels}).Diverging(t.Context(), gs); n != 2 || err != nil {
		t.Errorf("%d graphs diverge, %v, want 2", n, err)
	}
}

// A graph whose weights are all 1 has the same paths in hops, also beside graphs with weights.
func TestLengthsOfHops(t *testing.T) {
	hops := ShortestPath{Ordered: true, Resolution: 1e-6, Scale: 1, Labels: Auto}
	lengths := hops
	lengths.Weighted = true
	plain := []*graph.Graph{labelledGraph(t, "CCO", "01 12"), labelledGraph(t, "CCOC", "01 12 23")}
	if a, b := fitGram(t, hops, plain), fitGram(t, lengths, plain); !slices.Equal(a.Data, b.Data) {
		t.Errorf("%v by lengths, %v by hops", b.Data, a.Data)
	}
	b := graph.NewBuilder(3) // C-O of length 2 and of length 1
	for v, l := range []string{"C", "O", "C"} {
		b.SetLabel(v, l)
	}
	b.AddWeightedEdge(0, 1, 2)
	b.AddWeightedEdge(1, 2, 1)
	weighted, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	// Of C-C-O: C-O at 1 and at 2, each in both orders.
	if got := fitCross(t, lengths, plain[:1], []*graph.Graph{weighted}).At(0, 0); got != 4 {
		t.Errorf("k = %v, want 4", got)
	}
}

// Sampled numbers of a mix add up to Samples, and are near the expected ones.
func TestGraphletMixSamples(t *testing.T) {
	b := graph.NewBuilder(40)
	for v := 1; v < 40; v++ {
		b.AddEdge(v-1, v)
		b.AddEdge((v*7)%40, (v*11+3)%40)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	count := func(count countFunc) []entry {
		var out vector
		if err := count(t.Context(), &coloured{Graph: g}, &out); err != nil {
			t.Fatal(err)
		}
		return out.entries
	}
	v := count(GraphletMix{K: 5, Samples: 3001, Seed: 5}.count())
	sum := 0.0
	for _, e := range v {
		sum += e.val
	}
	if sum != 3001 {
		t.Errorf("%v samples, want 3001", sum)
	}
	exact := count(Graphlet{K: 3}.count())
	distance := 0.0
	for i, e := range exact {
		if v[i].id != e.id {
			t.Fatalf("type %d, want %d", v[i].id, e.id)
		}
		distance += math.Abs(v[i].val/1001 - e.val)
	}
	if distance > 0.15 { // 861 samples are enough for that with δ = 0.001
		t.Errorf("distance %v of sampled and exact shares", distance)
	}
}

// Without labels, also where there are attributes, degrees stand for them.
func TestAutoIsDegreesWithoutLabels(t *testing.T) {
	b := graph.NewBuilder(3)
	b.AddEdge(0, 1)
	b.AddEdge(1, 2)
	for v := range 3 {
		b.SetAttributes(v, []float64{float64(v), 1})
	}
	attributed, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	b = graph.NewBuilder(4)
	for v := range 3 {
		b.AddEdge(v, v+1)
	}
	bare, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kernel.Names() {
		k, _ := kernel.Named(name)
		degrees, err := kernel.With(k, "labels", "degrees")
		if err != nil {
			continue // it has no labels
		}
		if name == "edge-labels" {
			continue // it compares edges
		}
		graphs := []*graph.Graph{attributed, bare}
		var grams []*kernel.Matrix
		for _, k := range []kernel.Kernel{k, degrees} {
			f, err := k.Fit(t.Context(), graphs)
			if err != nil {
				t.Fatal(name, err)
			}
			m, err := f.Gram(t.Context())
			if err != nil {
				t.Fatal(name, err)
			}
			grams = append(grams, m)
		}
		if !slices.Equal(grams[0].Data, grams[1].Data) {
			t.Errorf("%s: %v with labels = auto, %v with degrees", name, grams[0].Data, grams[1].Data)
		}
	}
}
