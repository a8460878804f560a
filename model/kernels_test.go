package model

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// combined returns a model with a kernel of every form: a multiscale kernel, its product with
// a baseline, baselines alone, and, where the graphs have attributes, standardised ones.
func combined(t testing.TB, graphs []*graph.Graph, o mlg.Options) *Model {
	t.Helper()
	ctx := context.Background()
	fit := func(graphs []*graph.Graph, o mlg.Options) *mlg.Model {
		f, err := mlg.Fit(ctx, graphs, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	base := func(k mlg.Kernel) *Baseline {
		b, err := NewBaseline(k)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	oa := baseline.DefaultWL()
	oa.Variant, oa.H, oa.Workers = baseline.Assignment, 2, 1
	var subdivided []*graph.Graph
	for _, g := range graphs {
		subdivided = append(subdivided, g.Subdivide())
	}
	first := Factor{Fitted: fit(graphs, o)}
	second := Factor{Baseline: base(oa)}
	m := &Model{Kernels: []Kernel{
		{0.5, []Factor{first}},
		{0.25, []Factor{first, second}},
		{0.125, []Factor{second}},
		{0.125, []Factor{{Baseline: base(baseline.DefaultShortestPath())}}},
		{0.125, []Factor{{Fitted: fit(subdivided, o), Subdivided: true}, {Baseline: base(baseline.DefaultWL()), Subdivided: true}}},
	}}
	for _, g := range graphs {
		if g.AttributeDim() == 0 {
			continue
		}
		s, err := evaluate.Standardize(graphs)
		if err != nil {
			t.Fatal(err)
		}
		scaled, err := s.Apply(graphs)
		if err != nil {
			t.Fatal(err)
		}
		if o.Base, err = mlg.Gaussian(0.7); err != nil {
			t.Fatal(err)
		}
		h := baseline.DefaultHistogram()
		h.Labels = baseline.Attributes
		m.Kernels = append(m.Kernels,
			Kernel{0.0625, []Factor{{Fitted: fit(scaled, o), Standard: s}}},
			Kernel{0.0625, []Factor{{Baseline: base(h), Standard: s}, first}})
		break
	}
	d := &dataset.Dataset{Graphs: graphs}
	m.IDs, m.Targets = d.IDs(), d.Targets()
	for i, g := range graphs {
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
	}
	k, err := m.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.Nearest = Percentiles(k)
	return m
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
	got, err := m.Cross(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	want := mlg.NewMatrix(got.Rows, got.Cols)
	for _, k := range m.Kernels {
		product := slices.Repeat([]float64{k.Weight}, len(want.Data))
		for _, f := range k.Factors {
			train, test := graphs, fresh
			if f.Subdivided {
				train, test = nil, nil
				for i := range graphs {
					train, test = append(train, graphs[i].Subdivide()), append(test, fresh[i].Subdivide())
				}
			}
			if f.Standard != nil {
				if train, err = f.Standard.Apply(graphs); err != nil {
					t.Fatal(err)
				}
				if test, err = f.Standard.Apply(fresh); err != nil {
					t.Fatal(err)
				}
			}
			var kernel mlg.Kernel
			if f.Fitted != nil {
				kernel = mlg.NewKernel(f.Fitted.Options())
			} else {
				kernel = f.Baseline.Kernel()
			}
			fit, err := kernel.Fit(t.Context(), train)
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
	gram, err := m.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross, err := m.Cross(t.Context(), graphs)
	if err != nil || !slices.Equal(gram.Data, cross.Data) {
		t.Errorf("Gram and Cross differ, %v", err)
	}
}

// A factor that occurs in several kernels is stored once.
func TestSharedFactors(t *testing.T) {
	m := combined(t, drugs(t).Graphs[:20], small())
	one := *m
	one.Kernels = m.Kernels[:1]
	all := *m
	all.Kernels = m.Kernels[:4]
	if a, b := len(encoded(t, &all)), len(encoded(t, &one)); a-b > 2000 {
		t.Errorf("%d bytes with, %d without the kernels that share factors", a, b)
	}
	got, err := Decode(encoded(t, m), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kernels[0].Factors[0] != got.Kernels[1].Factors[0] || got.Kernels[1].Factors[1] != got.Kernels[2].Factors[0] {
		t.Error("shared factors are separate after reading")
	}
}

// Every kernel of package baseline comes back with its parameters.
func TestBaselines(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(2)
	var kernels []mlg.Kernel
	for v := baseline.Subtree; v <= baseline.Path; v++ {
		kernels = append(kernels, baseline.WL{H: int(v), Variant: v, Labels: baseline.Degrees, Normalize: v > 0, Workers: 2})
	}
	kernels = append(kernels,
		baseline.ShortestPath{Weighted: true, Resolution: 0.0625, Labels: baseline.Unlabeled, Normalize: true, Workers: 2},
		baseline.ShortestPath{Ordered: true, Resolution: 1, Labels: baseline.Attributes, Workers: 2},
		baseline.Histogram{Labels: baseline.Labels, Normalize: true, Workers: 2},
		baseline.Graphlet{K: 3, Connected: true, Samples: 10, Seed: math.MaxUint64, Normalize: true, Workers: 2},
		baseline.RandomWalk{P: 3, Lambda: 0.5, Normalize: true, Workers: 2},
		baseline.InfiniteWalk{Series: baseline.Exponential, Lambda: 0.01, Normalize: true, Workers: 2})
	for _, k := range kernels {
		t.Run(fmt.Sprintf("%T %s", k, k), func(t *testing.T) {
			b, err := NewBaseline(k)
			if err != nil {
				t.Fatal(err)
			}
			d := dataset.Dataset{Graphs: train}
			m := &Model{Kernels: []Kernel{{1, []Factor{{Baseline: b}}}}, IDs: d.IDs()}
			for i, g := range train {
				m.Graphs = append(m.Graphs, g.With(m.IDs[i], ""))
			}
			roundTrip(t, m, fresh)
			got, err := Decode(encoded(t, m), 2)
			if err != nil || !reflect.DeepEqual(got.Kernels[0].Factors[0].Baseline.Kernel(), k) {
				t.Errorf("%+v, %v, want %+v", got.Kernels[0].Factors[0].Baseline.Kernel(), err, k)
			}
		})
	}
	if _, err := NewBaseline(mlg.LGKernel{Eta: 1, Gamma: 1}); err == nil || !strings.Contains(err.Error(), "cannot hold the kernel lg") {
		t.Errorf("error %v", err)
	}
	if _, err := NewBaseline(baseline.WL{H: -1, Workers: 1}); err == nil {
		t.Error("a kernel that is not valid is taken")
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
	m := &Model{}
	for i, g := range graphs {
		m.IDs, m.Targets = append(m.IDs, fmt.Sprint("g", i)), append(m.Targets, fmt.Sprint(i%2))
		m.Graphs = append(m.Graphs, g.With(m.IDs[i], m.Targets[i]))
	}
	o := small()
	o.Base = mlg.Degree()
	f, err := mlg.Fit(t.Context(), graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	m.Kernels = []Kernel{NewKernel(1, f)}
	got, err := Decode(encoded(t, m), 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got.Graphs {
		if !reflect.DeepEqual(g, m.Graphs[i]) {
			t.Errorf("graph %d:\n%+v\nwant\n%+v", i, g, m.Graphs[i])
		}
	}
}

// Sections of graphs that do not say what they should.
func TestWrongGraphs(t *testing.T) {
	valid := split(t, encoded(t, combined(t, graphtest.Suite(1), small())))
	for _, c := range []struct {
		section, want string
		data          []byte
	}{
		{"train/graphs", "cut off", nil},
		{"train/graphs", "number 200, want at most", []byte{200, 1, 0}},
		{"train/graphs", "has 1 graphs, want 11", []byte{1, 0, 0}},
		{"train/graphs", "graph 0: an integer is cut off", []byte{11, 3, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128}},
		{"train/graphs", "graph 0: number 2, want at most 1", []byte{11, 3, 0, 1, 2, 2, 0, 0, 0, 0, 0, 0}},
		{"train/graphs", "graph 0: number 32, want at most 31", []byte{11, 3, 32, 1, 2, 2, 0, 0, 0, 0, 0, 0}},
		{"train/graphs", "graph 0: attributes of dimension 0", []byte{11, 3, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"train/graphs", "numbers behind the last graph", append([]byte{11}, make([]byte, 22)...)},
		{"train/graphs/labels", "train/graphs/labels has", nil},
		{"train/graphs/labels", "graph 0: number", appendStrings(nil, nil)},
		{"train/graphs/numbers", "graph 0: number 2, want at most 0", nil},
		{"train/graphs/numbers", "numbers wanted, 0 left", make([]byte, 16)},
		{"train/graphs/numbers", "want a finite number", bytes.Repeat([]byte{255}, 1<<13)},
	} {
		parts := slices.Clone(valid)
		i := slices.IndexFunc(parts, func(s section) bool { return s.name == c.section })
		parts[i].data = c.data
		if c.want == "want a finite number" { // as many numbers as there were
			parts[i].data = c.data[:len(valid[i].data)]
		}
		var b bytes.Buffer
		if err := pack(&b, parts); err != nil {
			t.Fatal(err)
		}
		wantError(t, fmt.Sprint(c.section, c.data[:min(len(c.data), 8)]), b.Bytes(), c.want)
	}
}

// The fingerprint of a model with baselines depends on the training graphs.
func TestFingerprintGraphs(t *testing.T) {
	of := func(graphs []*graph.Graph) string {
		b, err := NewBaseline(baseline.DefaultWL())
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{Kernels: []Kernel{{1, []Factor{{Baseline: b}}}}, Graphs: graphs, IDs: (&dataset.Dataset{Graphs: graphs}).IDs()}
		f, err := m.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", f)
	}
	d := drugs(t).Graphs
	if of(d[:3]) == of(d[1:4]) {
		t.Error("the same for other graphs")
	}
	if again := slices.Clone(d[:3]); of(d[:3]) != of(again) {
		t.Error("not the same for the same graphs")
	}
}

func TestTop(t *testing.T) {
	r := graphtest.Rand(5)
	for n := range 40 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(8)) // ties
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(x[b] - x[a]) })
		for k := -1; k <= n+1; k++ {
			if got := Top(x, k); !slices.Equal(got, order[:max(0, min(k, n))]) {
				t.Fatalf("the %d largest of %v: %v, want %v", k, x, got, order)
			}
		}
	}
}

func TestUnlike(t *testing.T) {
	m := &Model{Nearest: make([]float64, percentiles)}
	for i := range m.Nearest {
		m.Nearest[i] = float64(i) / 100
	}
	if !m.Unlike(0.005) || m.Unlike(0.01) || m.Unlike(0.5) || (&Model{}).Unlike(0) {
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
		b, err := NewBaseline(baseline.DefaultHistogram())
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{Kernels: []Kernel{{1, []Factor{{Baseline: b}}}}, Graphs: []*graph.Graph{g.With("a", "")}, IDs: []string{"a"}}
		if decode(t, encoded(t, m)) == nil {
			t.Error("not read")
		}
	}
}
