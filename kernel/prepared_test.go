package kernel_test

import (
	"context"
	"math"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// spy is a kernel that records the graphs it gets.
type spy struct{ fits, transforms [][]*graph.Graph }

func (k *spy) Name() string    { return "spy" }
func (k *spy) String() string  { return "spy" }
func (k *spy) Validate() error { return nil }

func (k *spy) Fit(_ context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	k.fits = append(k.fits, graphs)
	return &kernel.Fitted{Map: k, Train: &kernel.Graphs{List: graphs}}, nil
}

func (k *spy) Transform(_ context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	k.transforms = append(k.transforms, graphs)
	return &kernel.Graphs{List: graphs}, nil
}

func (k *spy) Decode([]byte) (kernel.Map, error)                        { return k, nil }
func (k *spy) Fill(context.Context, []float64, int, kernel.Block) error { return nil }
func (k *spy) Join(parts ...kernel.Features) kernel.Features            { return kernel.JoinGraphs(parts...) }
func (k *spy) AppendBinary(b []byte) ([]byte, error)                    { return b, nil }
func (k *spy) DecodeFeatures(data []byte) (kernel.Features, error)      { return kernel.DecodeGraphs(data) }

// attributed returns a graph of isolated vertices with attribute rows.
func attributed(t *testing.T, rows ...[]float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(rows))
	for v, r := range rows {
		b.SetAttributes(v, r)
		b.SetLabel(v, "x")
	}
	for v := 1; v < len(rows); v++ {
		b.AddLabeledEdge(v-1, v, 2, "e")
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStandardized: training graphs set mean and scale, new graphs get the same.
func TestStandardized(t *testing.T) {
	// first attribute: 1, 3, 5, 7: mean 4, variance 5; second is constant
	train := []*graph.Graph{attributed(t, []float64{1, 9}, []float64{3, 9}), attributed(t, []float64{5, 9}, []float64{7, 9})}
	s := &spy{}
	k := kernel.Standardized(s)
	f, err := k.Fit(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Cross(t.Context(), []*graph.Graph{attributed(t, []float64{14, 10})}); err != nil {
		t.Fatal(err)
	}
	g := s.fits[0][0]
	near(t, "attribute", g.Attributes(0)[0], -3/math.Sqrt(5), 1e-15)
	near(t, "constant attribute", g.Attributes(0)[1], 0, 1e-15)
	near(t, "new attribute", s.transforms[0][0].Attributes(0)[0], 10/math.Sqrt(5), 1e-15)
	near(t, "new constant attribute", s.transforms[0][0].Attributes(0)[1], 1, 1e-15)
	if g.Label(0) != "x" || g.EdgeLabel(0, 0) != "e" || g.Weights(0)[0] != 2 {
		t.Error("labels or weights are lost")
	}
	if _, err := k.Fit(t.Context(), dataset.Scales(2, 1).Graphs); err == nil {
		t.Error("graphs without attributes were standardised")
	}
	if _, err := f.Cross(t.Context(), dataset.Scales(2, 1).Graphs); err == nil {
		t.Error("new graphs without attributes were accepted")
	}
}

// TestEdgesAreSeen: graphs that differ in the labels of their edges alone are equal to a kernel
// on vertices, and not to the same kernel on graphs whose edges are vertices, or are in the labels of
// their ends.
func TestEdgesAreSeen(t *testing.T) {
	path := func(labels ...string) *graph.Graph {
		b := graph.NewBuilder(len(labels) + 1)
		for v := range len(labels) + 1 {
			b.SetLabel(v, "C")
		}
		for i, l := range labels {
			b.AddLabeledEdge(i, i+1, 1, l)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	graphs := []*graph.Graph{path("-", "-", "="), path("-", "=", "-"), path("=", "-", "-")}
	k := classic.DefaultWL()
	plain, err := k.Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	a, err := plain.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "plain", a.At(0, 1), 1, 1e-12)
	for _, form := range []kernel.Sum{kernel.Subdivided(k), kernel.Incident(k)} {
		f, err := form.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cross, err := f.Cross(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "mirrored", b.At(0, 2), 1, 1e-12)
		if b.At(0, 1) > 0.99 {
			t.Errorf("%s: the place of the double edge makes no difference: %v", form, b.At(0, 1))
		}
		for i, v := range b.Data {
			near(t, "cross", cross.Data[i], v, 1e-12)
		}
	}
}

// What the graphs of a collection decide holds for other graphs that are compared.
func TestCompareAsTheCollectionDecides(t *testing.T) {
	star := func(labels string) *graph.Graph {
		b := graph.NewBuilder(4)
		for v := 1; v < 4; v++ {
			b.AddEdge(0, v)
		}
		for v, l := range labels {
			b.SetLabel(v, string(l))
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	compare := func(k kernel.Kernel, train, g, h *graph.Graph) (float64, error) {
		sum, err := kernel.NewCollection([]*graph.Graph{train}).Sum(k)
		if err != nil {
			t.Fatal(err)
		}
		return sum.Compare(t.Context(), g, h)
	}
	for _, k := range []kernel.Kernel{classic.DefaultWL(), classic.DefaultShortestPath(), classic.DefaultRandomWalk(), classic.DefaultHistogram()} {
		if v, err := compare(k, star(""), star(""), star("")); err != nil || v != 1 {
			t.Errorf("%s: %v, %v, want 1: degrees are compared, as in the collection", k, v, err)
		}
		if v, err := compare(k, star(""), star("CHHH"), star("NHHF")); err == nil {
			t.Errorf("%s: %v for graphs with labels, want an error", k, v)
		}
		if v, err := compare(k, star("OHHH"), star("CHHH"), star("NHHF")); err != nil || !(v < 1) {
			t.Errorf("%s: %v, %v, want less than 1: labels are compared", k, v, err)
		}
		if v, err := compare(k, star("OHHH"), star(""), star("")); err == nil {
			t.Errorf("%s: %v for graphs without labels, want an error", k, v)
		}
	}
	edges := classic.DefaultHistogram()
	edges.Edges = true
	if v, err := compare(edges, star(""), star("CHHH"), star("")); err == nil {
		t.Errorf("%v, want an error: there are no edge labels", v)
	}
}
