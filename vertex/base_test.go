package vertex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func describeOne(t *testing.T, b Kernel, g *graph.Graph) []string {
	t.Helper()
	d, err := b.Describe(g)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// gramOf returns the values of a base kernel on all vertices of g.
func gramOf(t *testing.T, b Kernel, g *graph.Graph) *mat.Dense {
	t.Helper()
	d := describeOne(t, b, g)
	m := mat.NewDense(g.N(), g.N(), nil)
	b.Gram(m.RawMatrix().Data, d, d)
	return m
}

func must(t testing.TB, s string) Kernel {
	t.Helper()
	k, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestBaseKernels(t *testing.T) {
	g := graphtest.Labeled(graphtest.Rand(1), graphtest.Random(graphtest.Rand(2), graphtest.Options{N: 9, Edge: 0.4}), 3, 2)
	same := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	sq := func(v, w int) float64 {
		x, y := g.Attributes(v), g.Attributes(w)
		return (x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1])
	}
	gaussian := func(v, w int) float64 { return math.Exp(-sq(v, w) / (2 * 0.25)) }
	label := func(v, w int) float64 { return same(g.Label(v) == g.Label(w)) }
	degree := func(v, w int) float64 { return same(g.Degree(v) == g.Degree(w)) }
	for _, c := range []struct {
		name string
		want func(v, w int) float64
	}{
		{"labels", label},
		{"degree", degree},
		{"attributes", func(v, w int) float64 { return dense.DotInOrder(g.Attributes(v), g.Attributes(w)) }},
		{"gaussian sigma=0.5", gaussian},
		{"labels*gaussian sigma=0.5", func(v, w int) float64 { return label(v, w) * gaussian(v, w) }},
		{"labels*degree*attributes", func(v, w int) float64 {
			return label(v, w) * degree(v, w) * dense.DotInOrder(g.Attributes(v), g.Attributes(w))
		}},
		{"0.25 labels + 0.5 (labels+degree)*labels", func(v, w int) float64 {
			return 0.25*label(v, w) + 0.25*(label(v, w)+degree(v, w))*label(v, w)
		}},
		{"labels+gaussian sigma=0.5", func(v, w int) float64 { return (label(v, w) + gaussian(v, w)) / 2 }},
		{"labels*degree + gaussian sigma=0.5 + attributes*labels", func(v, w int) float64 {
			return (label(v, w)*degree(v, w) + gaussian(v, w) + dense.DotInOrder(g.Attributes(v), g.Attributes(w))*label(v, w)) / 3
		}},
	} {
		b := must(t, c.name)
		k := gramOf(t, b, g)
		desc := describeOne(t, b, g)
		f, dim, _ := b.Features(desc, 1000)
		for v := range g.N() {
			for w := range g.N() {
				if math.Abs(k.At(v, w)-c.want(v, w)) > 1e-14 {
					t.Errorf("%s: κ(%d,%d) = %v, want %v", c.name, v, w, k.At(v, w), c.want(v, w))
				}
				if dim > 0 {
					x, y := make([]float64, dim), make([]float64, dim)
					f(x, desc[v])
					f(y, desc[w])
					if math.Abs(dense.DotInOrder(x, y)-c.want(v, w)) > 1e-14 {
						t.Errorf("%s: features give κ(%d,%d) = %v, want %v", c.name, v, w, dense.DotInOrder(x, y), c.want(v, w))
					}
				}
			}
		}
		if strings.Contains(c.name, "gaussian") == (dim > 0) {
			t.Errorf("%s: %d explicit features", c.name, dim)
		}
	}
}

// texts has every kind of base kernel and ways to combine them, as String writes them.
var texts = []string{
	"labels", "degree", "attributes", "gaussian sigma=0.7", "heat times=0.1,1,1e-07", "wl h=2", "wl h=0",
	"labels * gaussian sigma=0.7", "labels * gaussian sigma=0.7 * wl h=2", "labels * (gaussian sigma=0.7 * wl h=2)",
	"0.25 labels + 0.3333333333333333 heat times=0.1,1",
	"1e-07 degree * labels + 1000 (0.5 labels + 0.5 degree)",
	"(0.5 labels + 0.5 degree) * (2 wl h=2 + 3 attributes)", "2 labels", "configuration", "0.5 configuration + 0.5 labels",
}

// Kinds and descriptors count half each, wherever charges and the prefix of edges stand. What has no descriptor shares none.
func TestConfiguration(t *testing.T) {
	labels := []string{"C R", "C S", "C", "C+1 R", "Cl R", "Xe ?", "Hg ?", "edge = Z", "edge = E", "edge =", "edge : Z"}
	b := graph.NewBuilder(len(labels))
	for i, x := range labels {
		b.SetLabel(i, x)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	k := gramOf(t, must(t, "configuration"), g)
	for _, c := range []struct {
		i, j int
		want float64
	}{
		{0, 0, 1}, {0, 1, 0.5}, {0, 2, 0.5}, {2, 2, 0.5}, {0, 3, 1}, {0, 4, 0.5}, {1, 4, 0}, {5, 6, 1}, {7, 8, 0.5}, {7, 9, 0.5},
		{7, 10, 0.5}, {8, 10, 0}, {0, 7, 0},
	} {
		if x := k.At(c.i, c.j); math.Abs(x-c.want) > 1e-15 {
			t.Errorf("%q and %q: %v, want %v", labels[c.i], labels[c.j], x, c.want)
		}
	}
	if _, err := must(t, "configuration").Describe(graphtest.Path(2)); err == nil || !strings.Contains(err.Error(), "needs vertex labels") {
		t.Errorf("without labels: %v", err)
	}
}

func TestParse(t *testing.T) {
	for _, s := range texts {
		if got := must(t, s).String(); got != s {
			t.Errorf("%q read as %q", s, got)
		}
	}
	for s, want := range map[string]string{
		"gaussian sigma=1": "gaussian", "heat times=0.5,1,2": "heat", "wl h=3": "wl", " labels*wl h=1 ": "labels * wl h=1",
		"labels+degree": "0.5 labels + 0.5 degree", "((labels))": "labels", "gaussian sigma=1.50": "gaussian sigma=1.5",
	} {
		if got := must(t, s).String(); got != want {
			t.Errorf("%q read as %q, want %q", s, got, want)
		}
	}
}

// Numbers of any size keep their bits.
func TestParseNumbers(t *testing.T) {
	r := graphtest.Rand(1)
	for range 2000 {
		x := math.Abs(math.Float64frombits(r.Uint64()))
		if !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		k := must(t, fmt.Sprintf("%v labels + 1 degree", x)).(*combined)
		if math.Float64bits(k.weights[0]) != math.Float64bits(x) {
			t.Errorf("%v read as %v", x, k.weights[0])
		}
	}
}

func TestParseErrors(t *testing.T) {
	for s, want := range map[string]string{
		"":                         "the end, want a name",
		"lables":                   `kernel on vertices "lables", want one of labels, attributes`,
		"sp":                       `kernel on vertices "sp", want one of labels, attributes`,
		"labels!":                  `kernel on vertices "labels!"`,
		"labels*":                  "the end, want a name (character 8",
		"lab els":                  `kernel on vertices "lab"`,
		"labels h=1":               "labels: no parameter h, because it has none (character 8",
		"gaussian s=1":             "gaussian: no parameter s, want one of sigma (character 10",
		"gaussian sigma=1,2":       `gaussian: sigma = "1,2", want a number`,
		"gaussian sigma=0":         "gaussian: sigma = 0, want a positive, finite number (character 16",
		"gaussian sigma=1e+999":    "want a number",
		"gaussian sigma=-1":        "sigma = -1, want a positive",
		"gaussian sigma=NaN":       "want a number",
		"heat times=":              "heat: times = 0 numbers, want 1 to 64",
		"heat times=1,":            "want numbers with commas",
		"heat times=1,-1":          "times = 1,-1, want a positive, finite number for each",
		"wl h=x":                   "want a whole number",
		"wl h=65":                  "want 0 to 64",
		"wl h=-1":                  "want 0 to 64",
		"wl h=1.5":                 "want a whole number",
		"labels subdivide":         "labels: no parameter subdivide, because it has none",
		"(labels + degree) h=1":    "the brackets: no parameter h, because it has none",
		"0.5 labels + degree":      "weights of some terms, want all or none to have one (character 14",
		"(0.5 labels + 0.5 degree": "want a closing bracket",
		"0 labels + 1 degree":      "the weight 0, want a positive",
		strings.Repeat("(", 1e6):   "more than 64 brackets",
		strings.Repeat("labels*", 1e5) + "labels": "more than 64 kernels",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q in it", s, err, want)
		} else if len(err.Error()) > 500 {
			t.Errorf("%.40q: an error of %d bytes", s, len(err.Error()))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := Parse(s)
		if err != nil {
			return
		}
		if back, err := Parse(k.String()); err != nil || back.String() != k.String() {
			t.Errorf("%q read as %q, that as %v, %v", s, k, back, err)
		}
	})
}

// Descriptors that a kernel makes pass its check; others do not make it panic.
func TestCheck(t *testing.T) {
	g := graphtest.Labeled(graphtest.Rand(1), graphtest.Random(graphtest.Rand(2), graphtest.Options{N: 9, Edge: 0.4}), 3, 2)
	for _, s := range texts {
		k := must(t, s)
		d := describeOne(t, k, g)
		attributes, err := Check(k, d)
		want := 0
		if strings.Contains(s, "attributes") || strings.Contains(s, "gaussian") {
			want = 2
		}
		if err != nil || attributes != want {
			t.Errorf("%s: %d attributes, %v, want %d", s, attributes, err, want)
		}
		f, dim, needed := k.Features(d, 1000)
		if dim == 0 {
			continue
		}
		var some []string
		for _, i := range needed {
			some = append(some, d[i])
		}
		few, fewDim, all := k.Features(some, 1000)
		if fewDim != dim || len(all) != len(some) {
			t.Errorf("%s: %d features from the descriptors that are needed, want %d", s, fewDim, dim)
			continue
		}
		for _, x := range d {
			a, b := make([]float64, dim), make([]float64, dim)
			f(a, x)
			few(b, x)
			if !slices.Equal(a, b) {
				t.Errorf("%s: features %v and %v", s, a, b)
			}
		}
	}
	for s, bad := range map[string][]string{
		"attributes":        {"", "1234567", "12345678\x00\x00\x00\x00\x00\x00\xf8\x7f"},
		"wl h=1":            {"too short"},
		"labels*attributes": {"", "\xff", "\x05abc", "\x01a1234567"},
		"heat times=1,2":    {"12345678"},
	} {
		for _, d := range bad {
			if _, err := Check(must(t, s), []string{d}); err == nil {
				t.Errorf("%s: descriptor %q was accepted", s, d)
			}
		}
	}
}

func TestBaseNeedsData(t *testing.T) {
	g := graphtest.Path(3)
	for _, s := range []string{"labels", "attributes", "gaussian", "labels*degree"} {
		if _, err := must(t, s).Describe(g); err == nil || !strings.Contains(err.Error(), "needs vertex") {
			t.Errorf("%s: %v", s, err)
		}
	}
	if b := Choose([]*graph.Graph{g}); b != "degree" {
		t.Errorf("base of a graph without labels: %s", b)
	}
	if b := Choose([]*graph.Graph{graphtest.Labeled(graphtest.Rand(1), g, 0, 2)}); b != "attributes" {
		t.Errorf("base of a graph with attributes: %s", b)
	}
	if b := Choose([]*graph.Graph{graphtest.Labeled(graphtest.Rand(1), g, 2, 2)}); b != "labels" {
		t.Errorf("base of a graph with labels and attributes: %s", b)
	}
}

// hubs returns a graph of 150 leaves and more around two hubs, with weights of 1 and ½ where it has some.
func hubs(t *testing.T, weighted bool) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(162)
	for v := 2; v < 160; v++ {
		w := 1.0
		if weighted && v%3 == 0 {
			w = 0.5
		}
		b.AddWeightedEdge(v%8/6, v, w)
	}
	b.AddEdge(0, 1)
	b.AddEdge(160, 7)
	b.AddEdge(160, 2)
	b.AddEdge(161, 2)
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Vertices of a class have the same neighbours and weights, and others have not.
func TestFold(t *testing.T) {
	for weighted, want := range map[bool]int{false: 8, true: 10} {
		g := hubs(t, weighted)
		f, err := fold(g)
		if err != nil {
			t.Fatal(err)
		}
		for v, c := range f.class {
			for u, d := range f.class {
				if same := slices.Equal(g.Neighbors(v), g.Neighbors(u)) && slices.Equal(g.Weights(v), g.Weights(u)); same != (c == d) {
					t.Errorf("vertices %d and %d are in the classes %d and %d", v, u, c, d)
				}
			}
		}
		if f.N() != want {
			t.Errorf("weighted %v: %d classes, want %d", weighted, f.N(), want)
		}
	}
}

// Eigenvalues and first entries of eigenvectors of a tridiagonal matrix, as those of a dense one.
func TestTridiagonal(t *testing.T) {
	r := graphtest.Rand(5)
	for trial := range 200 {
		k := 1 + r.IntN(40)
		scale := math.Pow(10, float64(r.IntN(300)-150))
		var q quadrature
		dense := mat.NewSymDense(k, nil)
		for i := range k {
			x, y := scale*r.NormFloat64(), scale*r.NormFloat64()
			if r.IntN(6) == 0 {
				y = 0
			}
			if trial%5 == 0 {
				x = scale
			}
			q.alpha = append(q.alpha, x)
			dense.SetSym(i, i, x)
			if i > 0 {
				q.off = append(q.off, y)
				dense.SetSym(i, i-1, y)
			}
		}
		if !q.diagonalise() {
			t.Fatal("it does not converge")
		}
		var e mat.EigenSym
		if !e.Factorize(dense, true) {
			t.Fatal("gonum does not converge")
		}
		for _, power := range []int{1, 2, 3} { // moments of both quadratures, which multiple eigenvalues do not disturb
			var vectors mat.Dense
			e.VectorsTo(&vectors)
			got, want := 0.0, 0.0
			for i, l := range e.Values(nil) {
				want += vectors.At(0, i) * vectors.At(0, i) * math.Pow(l/scale, float64(power))
				got += q.first[i] * q.first[i] * math.Pow(q.values[i]/scale, float64(power))
			}
			if math.Abs(got-want) > 1e-11 {
				t.Fatalf("trial %d, order %d: moment %d is %v, want %v", trial, k, power, got, want)
			}
		}
	}
}

// Heat values by the matrix exponential, by diagonalisation and by quadrature.
func TestHeat(t *testing.T) {
	r := graphtest.Rand(3)
	beta := []float64{0.1, 1, 7}
	for _, g := range []*graph.Graph{
		graphtest.Path(1), graphtest.Random(r, graphtest.Options{N: 20, Edge: 0.2, Weighted: true}),
		graphtest.Union(graphtest.Cycle(5), graphtest.Path(1)), graphtest.Star(40), graphtest.Grid(12, 13), hubs(t, false), hubs(t, true),
	} {
		n := g.N()
		got, err := heatValues(g, beta)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fold(g)
		if err != nil {
			t.Fatal(err)
		}
		var q quadrature
		for b, x := range beta {
			m := mat.NewDense(n, n, g.Laplacian(0, nil))
			m.Scale(-x, m)
			var e mat.Dense
			e.Exp(m)
			for v := range n {
				one := make([]float64, 1)
				if err := q.heat(f, f.class[v], []float64{x}, one); err != nil {
					t.Fatal(err)
				}
				want := e.At(v, v)
				if math.Abs(got[v*len(beta)+b]-want) > 1e-10*want || math.Abs(one[0]-want) > 1e-10*want {
					t.Fatalf("%d vertices, β = %v: vertex %d has %v and %v, want %v", n, x, v, got[v*len(beta)+b], one[0], want)
				}
			}
		}
	}
	// Vertices that a symmetry exchanges have the same descriptor.
	b := must(t, "heat times=0.5,2")
	for _, g := range []*graph.Graph{graphtest.Cycle(7), graphtest.Cycle(200)} {
		if d := describeOne(t, b, g); len(slices.Compact(d)) != 1 {
			t.Errorf("a cycle of %d vertices has different heat values", g.N())
		}
	}
}

func TestWLBase(t *testing.T) {
	b := must(t, "wl h=2")
	// A path a-b-c-d-e: ends alike, their neighbours alike, the middle by itself.
	k := gramOf(t, b, graphtest.Path(5))
	for _, c := range []struct {
		v, w int
		want float64
	}{
		{0, 4, 1}, {1, 3, 1}, {2, 2, 1},
		{0, 1, 0},       // degrees differ
		{1, 2, 1. / 3.}, // degrees agree, neighbours' degrees do not
	} {
		if k.At(c.v, c.w) != c.want {
			t.Errorf("κ(%d,%d) = %v, want %v", c.v, c.w, k.At(c.v, c.w), c.want)
		}
	}
}

// Damaged descriptors are refused or do no harm.
func TestDamagedDescriptors(t *testing.T) {
	r := graphtest.Rand(4)
	g := graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.5, Labels: 2, Dim: 2})
	for _, s := range texts {
		k := must(t, s)
		desc := describeOne(t, k, g)
		for range 300 {
			d := damage(r, desc[0])
			if _, err := Check(k, append(slices.Clone(desc), d)); err == nil {
				k.Gram(make([]float64, len(desc)+1), []string{d}, append([]string{d}, desc...))
			}
		}
	}
}

func damage(r *rand.Rand, d string) string {
	b := []byte(d)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			break
		}
		switch i := r.IntN(len(b)); r.IntN(3) {
		case 0:
			b[i] = byte(r.Uint32())
		case 1:
			b = b[:i]
		case 2:
			b = append(b, byte(r.Uint32()))
		}
	}
	return string(b)
}
