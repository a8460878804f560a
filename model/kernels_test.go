package model

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// combined returns a model with a kernel of every form: a multiscale kernel, its product with
// a baseline, baselines alone, and, where the graphs have attributes, standardised ones.
func combined(t testing.TB, graphs []*graph.Graph, o mlg.Kernel) *Model {
	t.Helper()
	oa := classic.DefaultWL()
	oa.Variant, oa.H = classic.Assignment, 2
	weights := []float64{0.5, 0.25, 0.125, 0.125, 0.125}
	kernels := []kernel.Kernel{o, kernel.Product(o, oa), oa, classic.DefaultShortestPath(), kernel.Subdivided(kernel.Product(o, classic.DefaultWL()))}
	for _, g := range graphs {
		if g.AttributeDim() == 0 {
			continue
		}
		scaled := o
		scaled.Base = "gaussian sigma=0.7"
		h := classic.DefaultHistogram()
		h.Labels = classic.Attributes
		weights = append(weights, 0.0625, 0.0625)
		kernels = append(kernels, kernel.Standardized(scaled), kernel.Product(kernel.Standardized(h), o))
		break
	}
	return of(t, graphs, kernel.Weighted(weights, kernels))
}

func TestRoundTripCombined(t *testing.T) {
	d := drugs(t)
	m := combined(t, d.Graphs[:30], small())
	classify(t, m, true)
	roundTrip(t, m, d.Graphs[30:40])
	roundTrip(t, combined(t, graphtest.Suite(1), small()), graphtest.Suite(2))
}

// The kernel of a model is the sum of products that it says it is.
func TestCombinedValues(t *testing.T) {
	graphs, fresh := graphtest.Suite(1), graphtest.Suite(2)
	m := combined(t, graphs, small())
	got, err := m.Kernel.Cross(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	want := kernel.NewMatrix(got.Rows, got.Cols)
	for _, term := range m.Kernel.Sum.Terms {
		product := slices.Repeat([]float64{term.Weight}, len(want.Data))
		for _, f := range term.Factors {
			train, test := graphs, fresh
			if f.Standardize {
				s, err := kernel.Standardize(graphs)
				if err != nil {
					t.Fatal(err)
				}
				if train, err = s.Apply(graphs); err != nil {
					t.Fatal(err)
				}
				if test, err = s.Apply(fresh); err != nil {
					t.Fatal(err)
				}
			}
			if f.Subdivide {
				whole, other := train, test
				train, test = nil, nil
				for i := range whole {
					train, test = append(train, whole[i].Subdivide()), append(test, other[i].Subdivide())
				}
			}
			fit, err := f.Kernel.Fit(t.Context(), train)
			if err != nil {
				t.Fatal(err)
			}
			x, err := fit.Cross(t.Context(), test)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x.Data {
				product[i] *= v
			}
		}
		for i, v := range product {
			want.Data[i] += v
		}
	}
	for i, v := range want.Data {
		if math.Abs(got.Data[i]-v) > 1e-15 {
			t.Fatalf("value %d is %v, want %v", i, got.Data[i], v)
		}
	}
	// Gram and Cross of the training graphs are the same bits.
	gram, err := m.Kernel.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross, err := m.Kernel.Cross(t.Context(), graphs)
	if err != nil || !slices.Equal(gram.Data, cross.Data) {
		t.Errorf("Gram and Cross differ, %v", err)
	}
}

// A factor that occurs in several kernels is stored once.
func TestSharedFactors(t *testing.T) {
	graphs := drugs(t).Graphs[:20]
	wl := classic.DefaultWL()
	one := of(t, graphs, small())
	all := of(t, graphs, kernel.Mean(small(), kernel.Product(small(), small())))
	if a, b := len(encoded(t, all)), len(encoded(t, one)); a-b > 2000 {
		t.Errorf("%d bytes with, %d without the kernels that share factors", a, b)
	}
	all = of(t, graphs, kernel.Mean(small(), kernel.Product(small(), wl), kernel.Product(small(), small())))
	got, err := Decode(encoded(t, all))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kernel.Factors) != 2 {
		t.Errorf("%d factors after reading, want two", len(got.Kernel.Factors))
	}
}

// Graphs come back as they were: order of vertices, labels, weights, attributes, positions.
func TestGraphs(t *testing.T) {
	graphs := graphtest.Suite(3)
	b := graph.NewBuilder(3)
	b.AddLabeledEdge(2, 0, 0.3, "=")
	b.AddLabeledEdge(1, 2, 12345.5, "")
	for v, l := range []string{"C", "", "\xff\x00"} {
		b.SetLabel(v, l)
		b.SetCoordinates(v, float64(v), -1.0/3)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	graphs = append(graphs, g, drugs(t).Graphs[0], graphtest.Complete(4))
	o := small()
	o.Base = "degree"
	m := of(t, graphs, o)
	for i, g := range graphs {
		m.IDs[i], m.Targets[i] = fmt.Sprint("g", i), fmt.Sprint(i%2)
		m.Graphs[i] = g.With(m.IDs[i], m.Targets[i])
	}
	got, err := Decode(encoded(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got.Graphs {
		if !g.Equal(m.Graphs[i]) {
			t.Errorf("graph %d:\n%+v\nwant\n%+v", i, g, m.Graphs[i])
		}
	}
}

// A section of graphs that does not say what it should. (Package graph tests what can be wrong.)
func TestWrongGraphs(t *testing.T) {
	valid := split(t, encoded(t, combined(t, graphtest.Suite(1), small())))
	i := slices.IndexFunc(valid, func(s file.Section) bool { return s.Name == "train/graphs" })
	all, err := decompress(valid[i].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want string
		data []byte
	}{
		{"section train/graphs: 2 numbers of graphs and strings", nil},
		{"section train/graphs: ", all[:len(all)-1]},
		{"section train/graphs has 1 graphs, want 11", graph.Encode(graphtest.Suite(1)[:1])},
		{"finite number", bytes.Replace(all, file.Bytes([]float64{0.5}), file.Bytes([]float64{math.NaN()}), 1)},
	} {
		parts := slices.Clone(valid)
		if parts[i].Data, err = compress(c.data); err != nil {
			t.Fatal(err)
		}
		wantError(t, c.want, join(t, parts), c.want)
	}
}

// The fingerprint of a model depends on the training graphs.
func TestFingerprintGraphs(t *testing.T) {
	print := func(graphs []*graph.Graph) string {
		f, err := of(t, graphs, classic.DefaultWL()).Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", f)
	}
	d := drugs(t).Graphs
	if print(d[:3]) == print(d[1:4]) {
		t.Error("the same for other graphs")
	}
	if again := slices.Clone(d[:3]); print(d[:3]) != print(again) {
		t.Error("not the same for the same graphs")
	}
}

func TestUnlike(t *testing.T) {
	p := make(Percentiles, 101)
	for i := range p {
		p[i] = float64(i) / 100
	}
	if !p.Unlike(0.005) || p.Unlike(0.01) || p.Unlike(0.5) || Percentiles(nil).Unlike(0) {
		t.Error("unlike is below the first percentile")
	}
}

// Dense graphs and graphs without edges are what takes most memory for its bytes.
func TestBoundedGraphs(t *testing.T) {
	isolated, err := graph.NewBuilder(300_000).Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*graph.Graph{graphtest.Complete(1000), isolated, graphtest.Path(200_000)} {
		if decode(t, encoded(t, of(t, []*graph.Graph{g}, classic.DefaultHistogram()))) == nil {
			t.Error("not read")
		}
	}
}
