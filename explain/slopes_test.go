package explain_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
)

// Attributes are base features that a test can multiply: with them the contribution of a
// vertex is the derivative of the model's own output with respect to its attributes.
func scaled(t *testing.T, g *graph.Graph, s []float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(g.N())
	for e := range g.Edges() {
		b.AddWeightedEdge(e.U, e.V, e.Weight)
	}
	for v := range g.N() {
		row := slices.Clone(g.Attributes(v))
		for i := range row {
			row[i] *= s[v]
		}
		b.SetAttributes(v, row)
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// slope returns the derivative of f at s = 1 in the direction of s_v, by central differences
// extrapolated to an error of order h⁴.
func slope(t *testing.T, g *graph.Graph, v int, f func(g *graph.Graph) float64) float64 {
	t.Helper()
	s := make([]float64, g.N())
	for i := range s {
		s[i] = 1
	}
	at := func(x float64) float64 {
		s[v] = x
		return f(scaled(t, g, s))
	}
	const h = 1e-3
	wide := (at(1+h) - at(1-h)) / (2 * h)
	narrow := (at(1+h/2) - at(1-h/2)) / h
	return (4*narrow - wide) / 3
}

var combinations = []func(o *mlg.Kernel){
	nil,
	func(o *mlg.Kernel) { o.Combine = mlg.Sum },
	func(o *mlg.Kernel) { o.Combine, o.Power = mlg.Product, 2 },
	func(o *mlg.Kernel) { o.Combine, o.Discount = mlg.GeometricMean, true },
}

func attributed(seed uint64, n int) []*graph.Graph {
	r := graphtest.Rand(seed)
	var gs []*graph.Graph
	for i := range n {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 5 + i%4, Edge: 0.4, Dim: 3, Weighted: i%2 == 0}))
	}
	return gs
}

// slopes returns those of a function of the kernel values with the training graphs.
func slopes(t *testing.T, k *kernel.FittedSum, g *graph.Graph, f learn.Function) *explain.Explanation {
	t.Helper()
	train, err := k.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := model.Of(nil, k)
	m.Learner = learn.Learner{Functions: []learn.Function{f}, Examples: train.Len()}
	e, err := explain.Prediction(t.Context(), m, g, explain.Options{Slopes: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func value(t *testing.T, k *kernel.FittedSum, g *graph.Graph, f learn.Function) float64 {
	t.Helper()
	cross, err := k.Cross(t.Context(), []*graph.Graph{g})
	if err != nil {
		t.Fatal(err)
	}
	return f.Value(cross.Row(0))
}

// products returns products of two multiscale kernels with different levels, with each other and alone.
func products() kernel.Kernel {
	one := smallKernel(func(o *mlg.Kernel) { o.Combine = mlg.Sum })
	two := smallKernel(func(o *mlg.Kernel) { o.Radii, o.Eta = []int{1, 2, 3}, 0.5 })
	return kernel.Weighted([]float64{0.4, 0.3, 0.3}, []kernel.Kernel{one, kernel.Product(one, two), kernel.Product(one, two, two)})
}

// Slopes are derivatives of the model's own output, and of the logarithm of a similarity on both sides.
func TestSlopes(t *testing.T) {
	gs := attributed(3, 9)
	g, h := gs[7], gs[8]
	f := learn.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
	kernels := []kernel.Kernel{products()}
	for _, c := range combinations {
		kernels = append(kernels, smallKernel(c))
	}
	for _, k := range kernels {
		m := sum(t, gs[:7], k)
		e := slopes(t, m, g, f)
		if want := value(t, m, g, f); !close(e.Value, want) || !e.Slopes {
			t.Errorf("value %v, want %v", e.Value, want)
		}
		for v, x := range e.Vertices {
			if want := slope(t, g, v, func(g *graph.Graph) float64 { return value(t, m, g, f) }); math.Abs(x-want) > 1e-7*max(1, math.Abs(want)) {
				t.Errorf("%s: vertex %d has slope %v, by differences %v", k, v, x, want)
			}
		}
		c, err := explain.Similarity(t.Context(), m, g, h, true)
		if err != nil {
			t.Fatal(err)
		}
		log := func(g, h *graph.Graph) float64 {
			k, err := m.Compare(t.Context(), g, h)
			if err != nil {
				t.Fatal(err)
			}
			return math.Log(k)
		}
		for v, x := range c.G.Vertices {
			if want := slope(t, g, v, func(g *graph.Graph) float64 { return log(g, h) }); math.Abs(x-want) > 1e-7 {
				t.Errorf("%s: vertex %d of G has slope %v, by differences %v", k, v, x, want)
			}
		}
		for v, x := range c.H.Vertices {
			if want := slope(t, h, v, func(h *graph.Graph) float64 { return log(g, h) }); math.Abs(x-want) > 1e-7 {
				t.Errorf("%s: vertex %d of H has slope %v, by differences %v", k, v, x, want)
			}
		}
	}
}

// Kernels that count vertices have slopes too, in sums and in products: their own, by the product rule.
func TestSlopesOfCounts(t *testing.T) {
	var gs []*graph.Graph
	r := graphtest.Rand(9)
	for range 8 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.3, Labels: 2}))
	}
	oa := classic.DefaultWL()
	oa.Variant, oa.H = classic.Assignment, 2
	one := smallKernel(nil)
	m := sum(t, gs[:7], kernel.Weighted([]float64{0.4, 0.3, 0.3}, []kernel.Kernel{one, kernel.Product(one, oa), oa}))
	f := learn.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
	g := gs[7]
	var rows [2][]float64
	for i := range rows {
		k, err := m.Factors[i].Known().Cross(t.Context(), []*graph.Graph{g})
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = k.Row(0)
	}
	outer := [2][]float64{make([]float64, 7), make([]float64, 7)} // ∂f/∂log k of the two kernels
	for s, i := range f.Support {
		both := 0.3 * rows[0][i] * rows[1][i]
		outer[0][i] = f.Coefficients[s] * (both + 0.4*rows[0][i])
		outer[1][i] = f.Coefficients[s] * (both + 0.3*rows[1][i])
	}
	want, err := m.Factors[0].Known().Map.(*mlg.LowRank).Attribute(t.Context(), g, m.Factors[0].Known().Train, outer[0])
	if err != nil {
		t.Fatal(err)
	}
	counted, err := m.Factors[1].Known().Map.(classic.Attributer).Attribute(t.Context(), g, m.Factors[1].Known().Train, outer[1])
	if err != nil {
		t.Fatal(err)
	}
	for v, x := range counted {
		want[v] += x
	}
	if got := slopes(t, m, g, f).Vertices; !slices.EqualFunc(got, want, close) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// All kernels of the default list have slopes, alone and in products, so that models of train without
// flags have them.
func TestSlopesOfDefaultCandidates(t *testing.T) {
	molecules := read(t, "builtin:drugs")
	molecules.Graphs = molecules.Graphs[:20]
	for _, c := range []struct {
		d    *dataset.Dataset
		want string // a kernel that only such data have
	}{
		{molecules, "mlg bonds"},
		{&dataset.Dataset{Graphs: attributed(4, 20)}, "mlg attributes"},
	} {
		var terms []kernel.Kernel
		var names []string
		for _, candidate := range choose.DefaultCandidates(dataset.Info(c.d)) {
			names = append(names, candidate.Name)
			for _, s := range candidate.Settings {
				terms = append(terms, s.Kernel)
			}
		}
		for _, name := range []string{"mlg labels", "wl-oa", "nspd", "sp", "nspd × sp", c.want} {
			if !slices.Contains(names, name) {
				t.Errorf("no candidate %q: the test shows nothing", name)
			}
		}
		m := sum(t, c.d.Graphs[1:], kernel.Mean(terms...))
		f := learn.Function{Support: []int{0, 2, 5}, Coefficients: []float64{1.5, -0.7, 0.4}, Bias: 0.25}
		g := c.d.Graphs[0]
		e := slopes(t, m, g, f)
		if want := value(t, m, g, f); !close(e.Value, want) {
			t.Errorf("value %v, want %v", e.Value, want)
		}
		if len(e.Vertices) != g.N() || slices.ContainsFunc(e.Vertices, math.IsNaN) || slices.Min(e.Vertices) == slices.Max(e.Vertices) {
			t.Errorf("slopes %v", e.Vertices)
		}
		same, err := explain.Similarity(t.Context(), m, g, g, true)
		if err != nil || slices.ContainsFunc(same.G.Vertices, func(x float64) bool { return !close(x, 0) }) {
			t.Errorf("slopes %+v where the similarity is largest, want zeros; %v", same, err)
		}
	}
}

// Vertices that have their edges in their labels are vertices with other labels.
func TestSlopesIncident(t *testing.T) {
	drugs, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	gs := drugs.Graphs[:8]
	var relabelled []*graph.Graph
	for _, g := range gs {
		relabelled = append(relabelled, g.Incident())
	}
	f := learn.Function{Support: []int{0, 4}, Coefficients: []float64{1, -0.5}}
	k := kernel.Product(smallKernel(nil), classic.DefaultWL())
	got, want := slopes(t, sum(t, gs[:7], kernel.Incident(k)), gs[7], f), slopes(t, sum(t, relabelled[:7], k), relabelled[7], f)
	if got.Value != want.Value || !slices.Equal(got.Vertices, want.Vertices) {
		t.Errorf("%v\nwant %v", got.Vertices, want.Vertices)
	}
}

// The slope of an edge where it is a vertex goes to its ends, half and half.
func TestSlopesSubdivided(t *testing.T) {
	var gs, subdivided []*graph.Graph
	r := graphtest.Rand(10)
	for i := range 8 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Labels: 2}))
		subdivided = append(subdivided, gs[i].Subdivide())
	}
	k := kernel.Product(smallKernel(nil), classic.DefaultWL())
	f := learn.Function{Support: []int{0, 4}, Coefficients: []float64{1, -0.5}}
	got, all := slopes(t, sum(t, gs[:7], kernel.Subdivided(k)), gs[7], f), slopes(t, sum(t, subdivided[:7], k), subdivided[7], f)
	want := slices.Clone(all.Vertices[:5])
	at := 5
	for e := range gs[7].Edges() {
		want[e.U] += all.Vertices[at] / 2
		want[e.V] += all.Vertices[at] / 2
		at++
	}
	if !close(got.Value, all.Value) || !close(got.Sum, all.Sum) || !slices.EqualFunc(got.Vertices, want, close) {
		t.Errorf("%v\nwant %v", got.Vertices, want)
	}
}
