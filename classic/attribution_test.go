package classic

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// vertexSet is a vertex or a pair of vertices, as a kernel counts it: by a name, in a block.
type vertexSet struct {
	block, name string
	vertices    []int
}

// vertexSets returns what a kernel counts in a graph, spelled out. With shares, the counts of a block
// are divided by the root of the sum of their squares.
func vertexSets(k kernel.Kernel, g *graph.Graph) (sets []vertexSet, shares bool) {
	add := func(block, name string, vertices ...int) {
		sets = append(sets, vertexSet{block, block + " " + name, slices.Compact(vertices)})
	}
	colours := func(labels Labelling, h int) {
		for i, colour := range referenceColours(labels, h, g) {
			for v, name := range colour {
				add(fmt.Sprint(i), name, v)
			}
		}
	}
	switch k := k.(type) {
	case WL:
		colours(k.Labels, k.H)
	case Histogram:
		colours(k.Labels, 0)
	case ShortestPath:
		dist := floydWarshall(g, func(w float64) float64 {
			if k.Weighted {
				return math.Round(w / k.Resolution)
			}
			return 1
		})
		for i, colour := range referenceColours(k.Labels, k.H, g) {
			for u := range g.N() {
				for v := range g.N() {
					ends := []string{colour[u], colour[v]}
					if !k.Ordered {
						slices.Sort(ends)
					}
					if u != v && (k.Ordered || u < v) && !math.IsInf(dist[u][v], 1) {
						add(fmt.Sprint(i), fmt.Sprint(dist[u][v], ends), u, v)
					}
				}
			}
		}
	case NSPD:
		dist := floydWarshall(g, oneHop)
		for r := range k.R + 1 {
			ball := make([]string, g.N())
			for v := range ball {
				ball[v] = referenceBall(k, g, dist, v, r)
			}
			for u := range ball {
				for v := range ball {
					if dist[u][v] <= float64(k.D) {
						add(fmt.Sprint(r, dist[u][v]), ball[u]+" / "+ball[v], u, v)
					}
				}
			}
		}
		shares = true
	}
	return sets, shares
}

// weightedCounts counts sets of vertices by the product of the factors of their vertices.
func weightedCounts(sets []vertexSet, shares bool, s []float64) map[string]float64 {
	block, count := map[string]string{}, map[string]float64{}
	for _, set := range sets {
		w := 1.0
		for _, v := range set.vertices {
			w *= s[v]
		}
		block[set.name] = set.block
		count[set.name] += w
	}
	if shares {
		squares := map[string]float64{}
		for name, x := range count {
			squares[block[name]] += x * x
		}
		for name := range count {
			count[name] /= math.Sqrt(squares[block[name]])
		}
	}
	return count
}

// Derivatives are those of the definition with vertices that count more or less; at equal
// counts the mean of both sides, as central differences have it.
func TestAttribute(t *testing.T) {
	graphtest.Slow(t)
	type option struct {
		kernel    kernel.Kernel
		scale     float64
		normalize bool
	}
	var options []option
	for _, n := range []bool{false, true} {
		for _, k := range []kernel.Kernel{
			WL{H: 3, Normalize: n, Variant: Subtree, Labels: Auto},
			WL{H: 3, Normalize: n, Variant: Assignment, Labels: Auto},
			WL{Normalize: n, Variant: Assignment, Labels: Degrees},
			Histogram{Scale: 1, Normalize: n, Labels: Auto},
			ShortestPath{Scale: 1, Normalize: n, Labels: Auto, Resolution: 1e-6},
			ShortestPath{Scale: 1, Normalize: n, Labels: Unlabeled, Resolution: 1e-6},
			ShortestPath{Scale: 1, Normalize: n, Labels: Degrees, Ordered: true, Resolution: 1e-6},
			ShortestPath{Scale: 1, Normalize: n, Labels: Auto, Ordered: true, H: 2, Resolution: 1e-6},
			ShortestPath{Scale: 1, Normalize: n, Labels: Auto, Weighted: true, Resolution: 1e-6},
			ShortestPath{Scale: 1, Normalize: n, Labels: Unlabeled, Weighted: true, H: 1, Resolution: 0.1},
			NSPD{Normalize: n, Labels: Auto},
			NSPD{R: 2, D: 5, EdgeLabels: true, Normalize: n, Labels: Auto},
			NSPD{R: 2, D: 5, Normalize: n, Labels: Auto},
			NSPD{R: 2, Normalize: n, Labels: Degrees},
			NSPD{D: 20, Normalize: n, Labels: Unlabeled},
		} {
			options = append(options, option{k, 1, n})
		}
		options = append(options, option{Histogram{Scale: 2.5, Normalize: n, Labels: Auto}, 2.5, n},
			option{ShortestPath{Scale: 2.5, Normalize: n, Labels: Auto, Resolution: 1e-6}, 2.5, n})
	}
	for _, labels := range []int{3, 0} {
		train := testGraphs(t, uint64(labels), labels)
		fresh := append(testGraphs(t, 99, 2*labels), train[6])
		for _, o := range options {
			fitted, err := o.kernel.Fit(t.Context(), train)
			if err != nil {
				t.Fatal(err)
			}
			a, ok := fitted.Map.(Attributer)
			if !ok {
				t.Fatalf("%s has no attribution", o.kernel)
			}
			product := func(a, b map[string]float64) float64 {
				sum := 0.0
				for name, x := range a {
					if k, ok := o.kernel.(WL); ok && k.Variant == Assignment {
						sum += min(x, b[name])
					} else {
						sum += o.scale * x * b[name]
					}
				}
				return sum
			}
			counts := make([]map[string]float64, len(train))
			for i, g := range train {
				sets, shares := vertexSets(o.kernel, g)
				counts[i] = weightedCounts(sets, shares, ones(g.N()))
			}
			for n, g := range fresh {
				sets, shares := vertexSets(o.kernel, g)
				values := func(s []float64) []float64 { // with the training graphs
					c := weightedCounts(sets, shares, s)
					out := make([]float64, len(train))
					for i, d := range counts {
						if out[i] = product(c, d); o.normalize {
							out[i] = normalized(out[i], product(c, c), product(d, d))
						}
					}
					return out
				}
				slopes := values(ones(g.N()))
				coefficient := func(i int) float64 { return math.Cos(float64(i)) }
				for i := range slopes {
					slopes[i] *= coefficient(i)
				}
				got, err := a.Attribute(t.Context(), g, fitted.Train, slopes)
				if err != nil {
					t.Fatal(err)
				}
				for v := range g.N() {
					const h = 1e-6 // small, because minima have kinks
					s := ones(g.N())
					s[v] = 1 + h
					up := values(s)
					s[v] = 1 - h
					want := 0.0
					for i, down := range values(s) {
						want += coefficient(i) * (up[i] - down) / (2 * h)
					}
					if math.Abs(got[v]-want) > 1e-6*max(1, math.Abs(want)) {
						t.Errorf("%s, labels %d, graph %d: vertex %d has slope %v, want %v", o.kernel, labels, n, v, got[v], want)
					}
				}
			}
		}
	}
}

func TestAttributeSpecial(t *testing.T) {
	train := graphtest.Suite(1)
	for _, k := range []kernel.Kernel{WL{H: 1, Variant: Edge, Labels: Auto}, WL{H: 1, Variant: Subtree, Base: "nspd r=1", Labels: Auto},
		ShortestPath{Ordered: true, Scale: 1, Labels: Attributes, Resolution: 1e-6}, Histogram{Labels: Attributes, Scale: 1}, DefaultGraphlet()} {
		f, err := k.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := f.Map.(Attributer); ok {
			t.Errorf("%s counts other things than vertices and pairs, but has an attribution", k)
		}
	}
	slopes := ones(len(train))
	attribute := func(k kernel.Kernel, g *graph.Graph, limit int) ([]float64, error) {
		f, err := fitLimited(t.Context(), k, train, limit)
		if err != nil {
			t.Fatal(err)
		}
		return f.Map.(Attributer).Attribute(t.Context(), g, f.Train, slopes)
	}
	// A graph with labels that no training graph has is like none of them.
	b := graph.NewBuilder(2)
	b.AddEdge(0, 1)
	b.SetLabel(0, "new")
	b.SetLabel(1, "too")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []kernel.Kernel{DefaultWL(), DefaultShortestPath(), DefaultNSPD()} {
		got, err := attribute(k, g, math.MaxInt)
		if err != nil || got[0] != 0 || got[1] != 0 {
			t.Errorf("%s: %v, %v, want zeros", k, got, err)
		}
	}
	// Pairs at distance 0 are vertices, counted by label.
	pairs, err := attribute(NSPD{Labels: Auto, Normalize: true}, train[1], math.MaxInt)
	vertices, err2 := attribute(DefaultHistogram(), train[1], math.MaxInt)
	if err != nil || err2 != nil || !slices.EqualFunc(pairs, vertices, near) {
		t.Errorf("%v of pairs at distance 0, %v of vertices; %v, %v", pairs, vertices, err, err2)
	}
	paths := ShortestPath{H: 2, Scale: 1, Labels: Auto, Resolution: 1e-6}
	if _, err := attribute(paths, train[4], 5); err == nil || err.Error() != "wl-sp: graph 0: no slopes for so many features, want fewer refinements or smaller graphs" {
		t.Errorf("training graphs have more features than the index: %v", err)
	}
	if _, err := attribute(DefaultWL(), graphtest.Path(2), math.MaxInt); err == nil || !strings.Contains(err.Error(), "wl: graph 0 has no labels") {
		t.Errorf("error %v", err)
	}
}
