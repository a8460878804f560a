package baseline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
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
		kernel        mlg.Kernel
		self0, k, why string
	}{
		{WL{H: 0, Workers: 1}, "5", "5", "2 C and 1 O: 2·2 + 1·1"},
		// Colours of the path: C(C), C(CO), O(C). Of the triangle: C(CO) twice, O(CC).
		{WL{H: 1, Workers: 1}, "8", "7", "5, and C(CO): once · twice"},
		{WL{H: 1, Variant: Assignment, Workers: 1}, "6", "4", "3, and one C(CO)"},
		// Edges C-C, C-O against C-C, C-O, C-O.
		{WL{H: 0, Variant: Edge, Workers: 1}, "2", "3", "1·1 + 1·2"},
		// Pairs: CC1, CO1, CO2 against CC1, CO1 twice.
		{ShortestPath{Workers: 1}, "3", "3", "1·1 + 1·2"},
		{ShortestPath{Ordered: true, Workers: 1}, "8", "8", "CC1: 2·2; CO1 and OC1: 1·2 each"},
		// Walks of one step: the path has CC twice, CO, OC; the triangle CC twice, CO and OC twice.
		{RandomWalk{P: 1, Lambda: 0.5, Workers: 1}, "8", "9", "5 + ½(2·2 + 1·2 + 1·2)"},
		{Graphlet{K: 3, Workers: 1}, "1", "0", "one wedge, one triangle"},
		{Histogram{Workers: 1}, "5", "5", "2·2 + 1·1"},
	} {
		m := fitGram(t, c.kernel, graphs)
		if got := fmt.Sprint(m.At(0, 0)); got != c.self0 {
			t.Errorf("%s: k(path, path) = %s, want %s", c.kernel, got, c.self0)
		}
		if got := fmt.Sprint(m.At(0, 1)); got != c.k {
			t.Errorf("%s: k(path, triangle) = %s, want %s: %s", c.kernel, got, c.k, c.why)
		}
	}
}

// Where features are too many, kernels compare pairs of graphs directly, with the same result.
func TestDirectComparison(t *testing.T) {
	ctx := context.Background()
	graphs, more := testGraphs(t, 21, 3), testGraphs(t, 22, 4)
	for _, normalize := range []bool{false, true} {
		wl := WL{H: 3, Variant: Path, Normalize: normalize, Workers: 2}
		rw := RandomWalk{P: 4, Lambda: 0.1, Normalize: normalize, Workers: 2}
		for name, fit := range map[string]func(limit int) (mlg.Fitted, error){
			"wl-sp": func(limit int) (mlg.Fitted, error) { return wl.fit(ctx, graphs, limit) },
			"rw":    func(limit int) (mlg.Fitted, error) { return rw.fit(ctx, graphs, limit) },
		} {
			var want [2]*mlg.Matrix
			for _, limit := range []int{1 << 20, 30, 0} { // none, some, all that have features
				f, err := fit(limit)
				if err != nil {
					t.Fatal(err)
				}
				switch large := f.(type) {
				case *wlPaths:
					if large.large != (limit <= 30) {
						t.Fatalf("limit %d: some large is %v", limit, large.large)
					}
				case *walkFitted:
					if some := slices.Contains(large.many, true); some != (limit <= 30) {
						t.Fatalf("limit %d: some large is %v", limit, some)
					}
					if all := !slices.Contains(large.many[1:12], false); all != (limit == 0) {
						t.Fatalf("limit %d: all large is %v", limit, all)
					}
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
					want = [2]*mlg.Matrix{gram, cross}
				}
				for i, got := range [2]*mlg.Matrix{gram, cross} {
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
		// Cayley: the complete graph has k^(k-2) spanning trees.
		if trees := table.trees[len(table.trees)-1]; trees != uint64(math.Pow(float64(k), float64(k-2))) {
			t.Errorf("k=%d: %d spanning trees of the complete graph", k, trees)
		}
	}
}

// Sampled frequencies keep the stated bound: with δ = 1e-6 a failure is no accident.
func TestGraphletSampling(t *testing.T) {
	const epsilon, delta = 0.1, 1e-6
	rng := rand.New(rand.NewPCG(6, 6))
	hub := randomShape(rng, 60, 0.06)
	for v := 1; v < 40; v++ {
		hub.edges = append(hub.edges, [2]int{0, v})
	}
	shapes := []shape{randomShape(rng, 40, 0.5), randomShape(rng, 80, 0.05), {n: hub.n}}
	for _, e := range hub.edges { // once per edge
		if e[0] < e[1] {
			e[0], e[1] = e[1], e[0]
		}
		if !slices.Contains(shapes[2].edges, e) {
			shapes[2].edges = append(shapes[2].edges, e)
		}
	}
	for i, s := range shapes {
		g := s.build(t, rng, 0)
		for k := 3; k <= 5; k++ {
			for _, connected := range []bool{false, true} {
				table := graphlets(k)
				kernel := Graphlet{K: k, Connected: connected, Seed: 9, Workers: 1}
				var c subgraphCounter
				exact, err := kernel.features(context.Background(), g, table, &c)
				if err != nil {
					t.Fatal(err)
				}
				kernel.Samples = min(GraphletSamples(k, connected, epsilon, delta), int(binomialFloat(g.N(), k))-1)
				sampled, err := kernel.features(context.Background(), g, table, &c)
				if err != nil {
					t.Fatal(err)
				}
				difference := make([]float64, len(table.graph))
				for _, e := range exact {
					difference[e.id] += e.val
				}
				for _, e := range sampled {
					difference[e.id] -= e.val
				}
				sum := 0.0
				for _, d := range difference {
					sum += math.Abs(d)
				}
				if sum >= epsilon || sum == 0 {
					t.Errorf("graph %d, k=%d connected=%v: frequencies off by %v, want between 0 and %v", i, k, connected, sum, epsilon)
				}
				again, err := kernel.features(context.Background(), g, table, &c)
				if err != nil || !slices.Equal(again, sampled) {
					t.Errorf("graph %d, k=%d: other samples with the same seed", i, k)
				}
			}
		}
	}
	// Disjoint triangles have no connected set of 4 vertices, but paths to propose.
	triangles := shape{n: 30}
	for v := 0; v < 30; v += 3 {
		triangles.edges = append(triangles.edges, [2]int{v + 1, v}, [2]int{v + 2, v}, [2]int{v + 2, v + 1})
	}
	none, err := Graphlet{K: 4, Connected: true, Samples: 10}.features(context.Background(), triangles.build(t, rng, 0), graphlets(4), new(subgraphCounter))
	if err != nil || len(none) != 0 {
		t.Errorf("disjoint triangles have features %v (%v), want none", none, err)
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
		kernel mlg.Kernel
		graphs []*graph.Graph
		want   string
	}{
		{WL{H: -1, Workers: 1}, nil, "wl: H is -1, want 0 to 65536"},
		{WL{Variant: 9, Workers: 1}, nil, "wl: Variant is 9, want Subtree, Edge, Assignment or Path"},
		{WL{Variant: Edge, Labels: Attributes, Workers: 1}, nil, "wl-edge: Labels is attributes, want Auto, Labels, Degrees or Unlabeled"},
		{WL{}, nil, "wl: Workers is 0, want at least 1"},
		{WL{Workers: 1}, []*graph.Graph{plain, bare}, "wl: graph 0 has labels, graph 1 has no labels; want labels in all graphs or in none"},
		{WL{Workers: 1}, []*graph.Graph{attributed}, "wl: graph 0 has attributes but no discrete labels, which this kernel compares; set Labels to Degrees or Unlabeled to do without"},
		{WL{Labels: Labels, Workers: 1}, []*graph.Graph{bare}, "wl: graph 0 has no labels, want discrete labels as in the other graphs"},
		{Histogram{Edges: true, Workers: 1}, []*graph.Graph{plain}, "label histogram: graph 0 has no edge labels, want a label on every edge"},
		{Histogram{Labels: Attributes, Workers: 1}, []*graph.Graph{plain}, "label histogram: graph 0 has no attributes, want a row of numbers per vertex"},
		{Histogram{Labels: Attributes, Workers: 1}, []*graph.Graph{attributed, other}, "label histogram: graph 1: 1 attributes per vertex, want 2 as in the graphs before"},
		{Histogram{Labels: 7, Workers: 1}, nil, "label histogram: Labels is Source(7), want Auto, Labels, Degrees, Unlabeled or Attributes"},
		{ShortestPath{Weighted: true, Resolution: math.NaN(), Workers: 1}, nil, "shortest path: Resolution is NaN, want a positive, finite number"},
		{ShortestPath{Labels: Attributes, Workers: 1}, nil, "shortest path: Ordered is false, want true with Labels = Attributes"},
		{ShortestPath{Weighted: true, Resolution: 1e-6, Workers: 1}, []*graph.Graph{bare}, "shortest path: graph 0: edge (0, 1): weight 1e-09 is 0.001 times the Resolution 1e-06, want 1 to 4.5e+15 times"},
		{Graphlet{K: 6, Workers: 1}, nil, "graphlet: K is 6, want 3, 4 or 5"},
		{Graphlet{K: 3, Samples: -1, Workers: 1}, nil, "graphlet: Samples is -1, want 0 (exact counts) or more"},
		{RandomWalk{P: 21, Lambda: 1, Workers: 1}, nil, "random walk: P is 21, want 1 to 20"},
		{RandomWalk{P: 1, Workers: 1}, nil, "random walk: Lambda is 0, want a positive, finite number"},
		{RandomWalk{P: 20, Lambda: 1e300, Workers: 1}, []*graph.Graph{plain}, "random walk: graph 0: kernel value is not a finite number; want fewer steps, a smaller Lambda, or smaller attributes"},
		{InfiniteWalk{Series: 2, Lambda: 1, Workers: 1}, nil, "infinite walk: Series is 2, want Geometric or Exponential"},
		{InfiniteWalk{Lambda: math.Inf(1), Workers: 1}, nil, "geometric walk: Lambda is +Inf, want a positive, finite number"},
		{InfiniteWalk{Lambda: 1, Workers: 1}, []*graph.Graph{plain}, "geometric walk: graph 0: the series needs a Lambda under 1 for adjacency matrices with eigenvalues of up to 1 and 1, it is 1"},
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
	if _, err := f.Cross(ctx, []*graph.Graph{plain, bare}); err == nil || !strings.HasPrefix(err.Error(), "shortest path: ") {
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
	for want, k := range map[string]mlg.Kernel{
		"wl h=5":                        DefaultWL(),
		"wl-oa h=2 labels=degrees":      WL{H: 2, Variant: Assignment, Labels: Degrees},
		"sp":                            DefaultShortestPath(),
		"sp ordered":                    ShortestPath{Ordered: true},
		"graphlet k=4":                  DefaultGraphlet(),
		"graphlet k=5 connected":        Graphlet{K: 5, Connected: true},
		"rw p=5 lambda=0.1":             DefaultRandomWalk(),
		"rw-exponential lambda=0.5":     InfiniteWalk{Series: Exponential, Lambda: 0.5},
		"labels":                        DefaultHistogram(),
		"edge-labels":                   Histogram{Edges: true},
		"graphlet k=3 samples=9 seed=2": Graphlet{K: 3, Samples: 9, Seed: 2},
	} {
		if k.String() != want {
			t.Errorf("%q, want %q", k, want)
		}
	}
	for _, k := range []interface{ Validate() error }{DefaultWL(), DefaultShortestPath(), DefaultGraphlet(), DefaultRandomWalk(), DefaultInfiniteWalk(), DefaultHistogram()} {
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
	k := PlainWalk{Lambda: 0.1, P: 3, Workers: 1}
	if got, want := fitGram(t, k, gs).At(0, 1), 12+0.1*24+0.01*72+0.001*144; !near(got, want) {
		t.Errorf("geometric: %v, want %v", got, want)
	}
	k.Series = Exponential
	if got, want := fitGram(t, k, gs).At(0, 1), 12+0.1*24+0.01/2*72+0.001/6*144; !near(got, want) {
		t.Errorf("exponential: %v, want %v", got, want)
	}
	k = PlainWalk{Lambda: 0.34, Workers: 1} // 1/3 is the limit of hydronium with itself
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
	var s subgraphCounter
	v, err := GraphletMix{K: 5, Samples: 3001, Seed: 5, Workers: 1}.features(t.Context(), g, &s)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, e := range v {
		sum += e.val
	}
	if sum != 3001 {
		t.Errorf("%v samples, want 3001", sum)
	}
	exact, err := Graphlet{K: 3, Workers: 1}.features(t.Context(), g, graphlets(3), &s)
	if err != nil {
		t.Fatal(err)
	}
	distance := 0.0
	for i, e := range exact {
		if v[i].id != e.id {
			t.Fatalf("type %d, want %d", v[i].id, e.id)
		}
		distance += math.Abs(v[i].val/1001 - e.val)
	}
	if distance > 0.15 { // GraphletSamples(3, false, 0.15, 0.001) = 861 samples are enough
		t.Errorf("distance %v of sampled and exact shares", distance)
	}
}
