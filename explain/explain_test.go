package explain_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

func smallKernel(change func(o *mlg.Kernel)) mlg.Kernel {
	o := mlg.Default()
	o.Samples, o.Rank = 20, 6
	if change != nil {
		change(&o)
	}
	return o
}

// sum returns a kernel fitted to graphs.
func sum(t testing.TB, graphs []*graph.Graph, k kernel.Kernel) *kernel.FittedSum {
	t.Helper()
	s, err := kernel.NewCollection(graphs).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func close(x, y float64) bool { return math.Abs(x-y) <= 1e-7*(math.Abs(x)+math.Abs(y))+1e-10 }

// train trains a model on a kernel, or on the best sum of the default candidates if that is nil.
func train(t testing.TB, d *dataset.Dataset, task choose.Task, k kernel.Kernel) *model.Model {
	t.Helper()
	o := model.DefaultLearnOptions()
	o.Task, o.Folds = task, 3
	candidates := choose.DefaultCandidates(dataset.Info(d))
	if k != nil {
		o.ForSVM()
		o.C, candidates = []float64{10}, choose.Each(k)
	} else {
		o.ForCandidates()
	}
	m, _, err := model.Learn(t.Context(), d, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t testing.TB, name string) *dataset.Dataset {
	t.Helper()
	d, err := dataset.Read(t.Context(), name, dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// masses returns the built-in molecules with the mass of their heavy atoms as values.
func masses(t testing.TB) *dataset.Dataset {
	mass := map[string]float64{"C": 12.011, "N": 14.007, "O": 15.999, "F": 18.998, "S": 32.06, "Cl": 35.45, "Br": 79.904, "P": 30.974, "I": 126.904}
	d := read(t, "builtin:drugs")
	for i, g := range d.Graphs {
		sum := 0.0
		for _, l := range g.Labels() {
			sum += mass[l]
		}
		d.Graphs[i] = g.With(g.ID(), fmt.Sprint(sum))
	}
	return d
}

// checkSum: contributions add up to what is predicted, from the baseline, with its sign.
func checkSum(t *testing.T, m *model.Model, g *graph.Graph, e *explain.Explanation) {
	t.Helper()
	said, err := m.Predict(t.Context(), []*graph.Graph{g}, model.PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := said[0].Value
	if m.Task() == model.Classification {
		want = said[0].Decision[slices.Index(m.Classes, e.Class)]
		if e.Class != said[0].Class || e.Baseline != 0 {
			t.Errorf("%s: class %s from %v, predicted %s", g.ID(), e.Class, e.Baseline, said[0].Class)
		}
		if !(e.Sum > 0) {
			t.Errorf("%s: %s is predicted, and contributions to it add up to %v", g.ID(), e.Class, e.Sum)
		}
	}
	sum := 0.0
	for _, x := range e.Vertices {
		sum += x
	}
	size := 1 + math.Abs(want)
	if math.Abs(e.Value-want) > 1e-9*size || math.Abs(sum-(want-e.Baseline)) > 1e-9*size || math.Abs(sum-e.Sum) > 1e-12*size {
		t.Errorf("%s: value %v, %v + contributions of %v (%v), want %v", g.ID(), e.Value, e.Baseline, sum, e.Sum, want)
	}
	terms := e.Bias
	for _, x := range e.Graphs {
		terms += x.Value
	}
	if math.Abs(terms-e.Value) > 1e-9*size {
		t.Errorf("%s: terms add up to %v, want %v", g.ID(), terms, e.Value)
	}
}

// Over whole collections, contributions add up to the prediction and have its sign. In short mode that is tried on
// every tenth graph, and not for the sums that training chooses, which take long.
func TestCollections(t *testing.T) {
	graphtest.Slow(t)
	collections := map[string]func(t *testing.T) (*dataset.Dataset, choose.Task){
		"drugs": func(t *testing.T) (*dataset.Dataset, choose.Task) {
			return read(t, "builtin:drugs"), choose.Classification
		},
		"masses": func(t *testing.T) (*dataset.Dataset, choose.Task) { return masses(t), choose.Regression },
		"MUTAG": func(t *testing.T) (*dataset.Dataset, choose.Task) {
			return read(t, graphtest.Dataset(t, "MUTAG")), choose.Classification
		},
	}
	for name, get := range collections {
		for _, k := range []kernel.Kernel{smallKernel(nil), classic.DefaultWL(), nil} {
			title := "chosen"
			if k != nil {
				title = k.Name()
			}
			t.Run(name+"/"+title, func(t *testing.T) {
				if k == nil {
					graphtest.Long(t)
				}
				if k == nil && name != "MUTAG" {
					graphtest.Assembled(t)
				}
				d, task := get(t)
				m := train(t, d, task, k)
				try := func(t *testing.T, step int) {
					for i := 0; i < len(d.Graphs); i += step {
						e, err := explain.Prediction(t.Context(), m, d.Graphs[i], explain.Options{})
						if err != nil {
							t.Fatal(err)
						}
						checkSum(t, m, d.Graphs[i], e)
					}
				}
				switch {
				case k == nil:
					try(t, 40)
					t.Run("all", func(t *testing.T) {
						graphtest.Assembled(t)
						try(t, 1)
					})
				case testing.Short():
					try(t, 10)
				default:
					try(t, 1)
				}
			})
		}
	}
}

// families returns a kernel of every kind, and a sum of products of them.
func families(t testing.TB) []kernel.Kernel {
	t.Helper()
	var all []kernel.Kernel
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		switch x := k.(type) {
		case mlg.Kernel:
			k = smallKernel(func(o *mlg.Kernel) { o.Radii, o.Exact = x.Radii, x.Exact })
		case classic.PlainWalk:
			x.Lambda = 0.01
			k = x
		case mlg.LGKernel, kernel.Sum, classic.NumberGaussian:
			continue // of graphs on the same vertices; of others; of attributes
		}
		all = append(all, k)
	}
	sp, rw, o := classic.DefaultShortestPath(), all[slices.IndexFunc(all, func(k kernel.Kernel) bool { return k.Name() == "rw" })], smallKernel(nil)
	return append(all, kernel.Weighted([]float64{0.4, 0.3, 0.2, 0.1}, []kernel.Kernel{o, kernel.Product(o, sp), rw, kernel.Subdivided(kernel.Product(o, classic.DefaultWL()))}))
}

// literal returns contributions by their definition, one graph at a time.
func literal(g *graph.Graph, baseline float64, f func(g *graph.Graph) float64) []float64 {
	n, value := g.N(), f(g)
	out, rest := make([]float64, n), value-baseline
	for v := range n {
		var kept []int32
		for u := range n {
			if u != v {
				kept = append(kept, int32(u))
			}
		}
		out[v] = value - f(g.Induced(kept))
		rest -= out[v]
	}
	for v := range out {
		out[v] += rest / float64(n)
	}
	return out
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for v, x := range want {
		if !(math.Abs(got[v]-x) <= 1e-8*(1+math.Abs(x))) {
			t.Errorf("%s: vertex %d has %v, want %v", what, v, got[v], x)
		}
	}
}

// Every kernel has contributions, which are what the definition says: to a class, to a class against
// another, to a value and to the similarity of two graphs.
func TestEveryKernel(t *testing.T) {
	graphtest.Slow(t)
	d := read(t, "builtin:drugs")
	d.Graphs = d.Graphs[:60]
	values := masses(t)
	values.Graphs = values.Graphs[:60]
	for _, k := range families(t) {
		t.Run(k.Name(), func(t *testing.T) {
			classes, regression := train(t, d, choose.Classification, k), train(t, values, choose.Regression, k)
			g := d.Graphs[7]
			e, err := explain.Prediction(t.Context(), classes, g, explain.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSum(t, classes, g, e)
			class := slices.Index(classes.Classes, e.Class)
			decision := func(class int) func(g *graph.Graph) float64 {
				return func(g *graph.Graph) float64 {
					said, err := classes.Predict(t.Context(), []*graph.Graph{g}, model.PredictOptions{})
					if err != nil {
						t.Fatal(err)
					}
					return said[0].Decision[class]
				}
			}
			near(t, "class", e.Vertices, literal(g, 0, decision(class)))
			other := (class + 1) % len(classes.Classes)
			if e, err = explain.Prediction(t.Context(), classes, g, explain.Options{Class: classes.Classes[other]}); err != nil {
				t.Fatal(err)
			}
			near(t, "other class", e.Vertices, literal(g, 0, decision(other)))
			if e, err = explain.Prediction(t.Context(), regression, values.Graphs[7], explain.Options{}); err != nil {
				t.Fatal(err)
			}
			checkSum(t, regression, values.Graphs[7], e)
			checkPair(t, classes.Kernel, g, d.Graphs[50])
		})
	}
}

// checkPair: contributions of the vertices of either graph to their similarity are those of the definition.
func checkPair(t *testing.T, sum *kernel.FittedSum, g, h *graph.Graph) {
	t.Helper()
	c, err := explain.Similarity(t.Context(), sum, g, h, false)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(g, h *graph.Graph) float64 {
		k, err := sum.Compare(t.Context(), g, h)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if k := compare(g, h); math.Abs(c.K-k) > 1e-9 || math.Abs(c.G.Sum-k) > 1e-9 || math.Abs(c.H.Sum-k) > 1e-9 {
		t.Errorf("k = %v, sums %v and %v, want %v", c.K, c.G.Sum, c.H.Sum, k)
	}
	near(t, "G", c.G.Vertices, literal(g, 0, func(g *graph.Graph) float64 { return compare(g, h) }))
	near(t, "H", c.H.Vertices, literal(h, 0, func(h *graph.Graph) float64 { return compare(g, h) }))
}

// Standardised attributes are those of the training graphs in comparisons too.
func TestStandardized(t *testing.T) {
	gs := attributed(8, 8)
	k := smallKernel(func(o *mlg.Kernel) { o.Base = "gaussian sigma=0.7" })
	checkPair(t, sum(t, gs[:6], kernel.Weighted([]float64{0.5, 0.5}, []kernel.Kernel{kernel.Standardized(k), k})), gs[6], gs[7])
}

// Vertices that a symmetry exchanges have equal contributions, to the bit; the order of the vertices
// and the number of workers do not matter.
func TestSymmetry(t *testing.T) {
	d := read(t, "builtin:drugs")
	m := train(t, d, choose.Classification, kernel.Weighted([]float64{0.5, 0.5}, []kernel.Kernel{smallKernel(nil), classic.DefaultShortestPath()}))
	ring := graphtest.Labeled(graphtest.Rand(1), graphtest.Cycle(9), 1, 0)
	b := graph.NewBuilder(ring.N())
	for e := range ring.Edges() {
		b.AddLabeledEdge(e.U, e.V, 1, "-")
	}
	for v := range ring.N() {
		b.SetLabel(v, "C")
	}
	ring, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	e, err := explain.Prediction(t.Context(), m, ring, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for v, x := range e.Vertices {
		if x != e.Vertices[0] {
			t.Errorf("vertex %d of a ring has %v, the first %v", v, x, e.Vertices[0])
		}
	}
	g := d.Graphs[0] // diazepam: the ortho and the meta carbons of its phenyl ring
	shuffled, at := graphtest.Shuffle(graphtest.Rand(2), g)
	one, err := explain.Prediction(work.WithWorkers(t.Context(), 1), m, g, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := explain.Prediction(work.WithWorkers(t.Context(), 3), m, shuffled, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for v, x := range one.Vertices {
		if math.Abs(two.Vertices[at[v]]-x) > 1e-9 {
			t.Errorf("vertex %d has %v, shuffled %v", v, x, two.Vertices[at[v]])
		}
	}
	if x := one.Vertices; x[8] != x[12] || x[9] != x[11] || x[8] == x[9] {
		t.Errorf("phenyl ring: %v", x[7:13])
	}
}

// In large graphs neighbouring vertices share their effect, and contributions still add up.
func TestLargeGraphs(t *testing.T) {
	r := graphtest.Rand(3)
	var gs []*graph.Graph
	for i := range 8 {
		gs = append(gs, graphtest.Labeled(r, graphtest.Grid(2+i%2, 3+i), 2, 0).With(fmt.Sprint(i), fmt.Sprint(i%2)))
	}
	m := train(t, &dataset.Dataset{Graphs: gs}, choose.Classification, classic.DefaultWL())
	for n, together := range map[int]int{1: 1, 256: 1, 257: 2, 2000: 62} {
		g := graphtest.Labeled(r, graphtest.Grid(1, n), 2, 0)
		e, err := explain.Prediction(t.Context(), m, g, explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSum(t, m, g, e)
		distinct := slices.Compact(slices.Clone(e.Vertices))
		if e.Together != together || len(distinct) > (n+together-1)/together {
			t.Errorf("%d vertices: %d together, %d values", n, e.Together, len(distinct))
		}
	}
}

func TestRefuses(t *testing.T) {
	d := read(t, "builtin:drugs")
	d.Graphs = d.Graphs[:60]
	m := train(t, d, choose.Classification, classic.DefaultGraphlet())
	values := train(t, masses(t), choose.Regression, classic.DefaultWL())
	for _, c := range []struct {
		m    *model.Model
		g    *graph.Graph
		o    explain.Options
		want string
	}{
		{model.Of(nil, m.Kernel), d.Graphs[0], explain.Options{}, "has no learner"},
		{m, d.Graphs[0], explain.Options{Class: "x"}, "class x, want one of"},
		{m, d.Graphs[0], explain.Options{Class: m.Classes[0], Against: m.Classes[0]}, "want two of the classes"},
		{m, d.Graphs[0], explain.Options{Slopes: true}, "graphlet has no slopes"},
		{values, d.Graphs[0], explain.Options{Class: "x"}, "predicts values"},
	} {
		if _, err := explain.Prediction(t.Context(), c.m, c.g, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// A graph without vertices has a prediction and a similarity, to which nothing contributes.
func TestEmpty(t *testing.T) {
	gs := graphtest.Suite(9)
	for i, g := range gs {
		gs[i] = g.With(fmt.Sprint(i), fmt.Sprint(i%2))
	}
	m := train(t, &dataset.Dataset{Graphs: gs}, choose.Classification, smallKernel(nil))
	empty := gs[slices.IndexFunc(gs, func(g *graph.Graph) bool { return g.N() == 0 })]
	e, err := explain.Prediction(t.Context(), m, empty, explain.Options{})
	if err != nil || e.Vertices == nil || len(e.Vertices) > 0 || e.Sum != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	for _, g := range gs {
		c, err := explain.Similarity(t.Context(), m.Kernel, g, empty, false)
		if err != nil || len(c.G.Vertices) != g.N() || len(c.H.Vertices) > 0 || g.N() > 0 && math.Abs(c.G.Sum-c.K) > 1e-12 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// What is explained is said in words.
func TestSays(t *testing.T) {
	graphtest.Slow(t)
	d := masses(t)
	m := train(t, d, choose.Regression, classic.DefaultWL())
	m.Target = "mass"
	said := map[string]bool{}
	for _, g := range d.Graphs {
		e, err := explain.Prediction(t.Context(), m, g, explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		side := "above"
		if e.Sum < 0 {
			side = "below"
		}
		said[side] = true
		want := fmt.Sprintf("%s: mass %.1f, %s %s the mean of %.1f", g.ID(), e.Value, explain.Number(math.Abs(e.Sum)), side, e.Baseline)
		if got := e.Headline(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(said) != 2 {
		t.Errorf("sides: %v", said)
	}
	for x, want := range map[float64]string{0: "0.000", -0.00001: "0.000", 0.12345: "0.123", -12.345: "-12.35", 123.456: "123.5", 98765.4: "98765"} {
		if got := explain.Number(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
