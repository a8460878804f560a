package mlg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func mustBase(t testing.TB) func(b Base, err error) Base {
	return func(b Base, err error) Base {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// storedBases has every kind of base kernel and ways to combine them.
func storedBases(t testing.TB) []Base {
	must := mustBase(t)
	gaussian := must(Gaussian(0.7))
	heat := must(Heat(0.1, 1, 1e-7))
	wl := must(WL(2))
	sum := must(Plus(0.25, Labels(), 1.0/3, heat))
	return []Base{
		Labels(), Degree(), Attributes(), gaussian, heat, wl, must(WL(0)),
		Times(Labels(), gaussian),
		Times(Labels(), Attributes()),
		Times(Times(Labels(), gaussian), wl),
		Times(Labels(), Times(gaussian, wl)),
		Times(Labels(), Times(Degree(), Attributes())),
		sum,
		must(Plus(1e-7, Times(Degree(), Labels()), 1000, sum)),
		must(Plus(0.5, must(Plus(0.5, Labels(), 0.5, Degree())), 123456789, Times(sum, gaussian))),
		Times(sum, must(Plus(2, wl, 3, Attributes()))),
	}
}

func TestBaseFromString(t *testing.T) {
	for _, b := range storedBases(t) {
		s, err := spell(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := BaseFromString(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if got.String() != b.String() {
			t.Errorf("%s: read as %s", b, got)
		}
		if !sameShape(got, b) {
			t.Errorf("%s: read with another grouping", s)
		}
		if _, err := BaseFromString(b.String()); err != nil {
			t.Errorf("what String prints: %v", err)
		}
	}
}

// sameShape compares the trees of two base kernels, numbers by their bits.
func sameShape(a, b Base) bool {
	x, ok := a.(*pair)
	y, ok2 := b.(*pair)
	if !ok || !ok2 {
		return ok == ok2 && a.String() == b.String()
	}
	return x.product == y.product && math.Float64bits(x.wa) == math.Float64bits(y.wa) &&
		math.Float64bits(x.wb) == math.Float64bits(y.wb) && sameShape(x.a, y.a) && sameShape(x.b, y.b)
}

// Numbers of any size keep their bits.
func TestBaseFromStringNumbers(t *testing.T) {
	r := graphtest.Rand(1)
	for range 2000 {
		x := math.Abs(math.Float64frombits(r.Uint64()))
		if !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		b := mustBase(t)(Plus(x, Labels(), 1/float64(1+r.IntN(1000)), mustBase(t)(Gaussian(x))))
		got, err := BaseFromString(b.String())
		if err != nil {
			t.Fatal(err)
		}
		if !sameShape(got, b) {
			t.Errorf("%s read as %s", b, got)
		}
	}
}

// Random nested kernels come back.
func TestBaseFromStringNested(t *testing.T) {
	r := graphtest.Rand(2)
	bases := storedBases(t)[:7]
	var make func(depth int) Base
	make = func(depth int) Base {
		switch k := r.IntN(4); {
		case depth == 0 || k == 0:
			return bases[r.IntN(len(bases))]
		case k == 1:
			return mustBase(t)(Plus(r.Float64()+1e-9, make(depth-1), r.ExpFloat64()+1e-9, make(depth-1)))
		}
		return Times(make(depth-1), make(depth-1))
	}
	for range 500 {
		b := make(4)
		s, err := spell(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := BaseFromString(s)
		if err != nil || !sameShape(got, b) {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
}

func TestBaseFromStringErrors(t *testing.T) {
	for s, want := range map[string]string{
		"":                             `"", want labels`,
		"label":                        `"label", want labels`,
		"labels ":                      `" " behind the end`,
		"labels*":                      `"", want labels`,
		"gaussian":                     `"gaussian", want labels`,
		"gaussian()":                   `")", want a number`,
		"gaussian(1":                   `"", want ")"`,
		"gaussian(1,2)":                "2 bandwidths, want one",
		"gaussian(0)":                  "bandwidth = 0",
		"gaussian(1.0)":                `want it written as "gaussian(1)"`,
		"gaussian(1e+999)":             "want a number",
		"gaussian(-1)":                 "want a number",
		"gaussian(NaN)":                "want a number",
		"heat()":                       "want a number",
		"heat(1,)":                     "want a number",
		"wl(x)":                        `"x" refinements`,
		"wl(65)":                       "want 0 to 64",
		"wl(+2)":                       `want it written as "wl(2)"`,
		"(labels)":                     `want it written as "labels"`,
		"(0.5labels)":                  `want "+"`,
		"(0.5labels+degree)":           "want a number",
		"(0.5labels+0.5degree":         `want ")"`,
		"(0labels+1degree)":            "weight = 0",
		strings.Repeat("(", 1e6):       "more than 64 kernels or brackets",
		strings.Repeat("labels*", 1e5): "more than 64 kernels or brackets",
	} {
		if _, err := BaseFromString(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q in it", s, err, want)
		} else if len(err.Error()) > 500 {
			t.Errorf("%.40q: an error of %d bytes", s, len(err.Error()))
		}
	}
}

func FuzzBaseFromString(f *testing.F) {
	for _, b := range storedBases(f) {
		s, _ := spell(b)
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := BaseFromString(s)
		if err != nil {
			return
		}
		if same, err := spell(b); err != nil || same != s {
			t.Errorf("%q read as %q, %v", s, same, err)
		}
	})
}

// sameBits demands that two matrices agree to the bit.
func sameBits(t *testing.T, what string, a, b *Matrix) {
	t.Helper()
	if a.Rows != b.Rows || a.Cols != b.Cols {
		t.Fatalf("%s: %d×%d and %d×%d", what, a.Rows, a.Cols, b.Rows, b.Cols)
	}
	for i := range a.Data {
		if math.Float64bits(a.Data[i]) != math.Float64bits(b.Data[i]) {
			t.Fatalf("%s: entry %d is %v and %v", what, i, a.Data[i], b.Data[i])
		}
	}
}

func throughSnapshot(t *testing.T, m *Model, workers int) *Model {
	t.Helper()
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	got, err := FromSnapshot(s, workers)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A model from its snapshot gives the bits of the original: for every base kernel, with
// and without explicit features, for every option.
func TestSnapshotBits(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(7)
	check := func(t *testing.T, o Options) {
		o.Samples, o.Rank = 12, 5
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		got := throughSnapshot(t, m, 2)
		a, err := m.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := got.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "Gram", a, b)
		if a, err = m.Cross(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
		if b, err = got.Cross(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
		sameBits(t, "Cross", a, b)
		x, err := m.Transform(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		y, err := got.Transform(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i := range fresh {
			p, n, d := x.Matrix(i)
			q, k, e := y.Matrix(i)
			if !slices.Equal(p, q) || n != k || d != e {
				t.Fatalf("Transform: graph %d differs", i)
			}
		}
		for l := range len(o.Radii) + 1 {
			if m.Rank(l) != got.Rank(l) || !slices.Equal(m.Eigenvalues(l), got.Eigenvalues(l)) {
				t.Errorf("level %d: rank or eigenvalues differ", l)
			}
		}
		if m.Attributes() != got.Attributes() {
			t.Errorf("%d attributes, want %d", got.Attributes(), m.Attributes())
		}
	}
	for _, b := range storedBases(t) {
		t.Run(fmt.Sprint("base=", b), func(t *testing.T) {
			o := DefaultOptions()
			o.Base = b
			check(t, o)
		})
	}
	for _, combine := range []Combine{Top, Sum, Product, GeometricMean} {
		for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
			for _, power := range []int{1, 3} {
				t.Run(fmt.Sprint(combine, how, power), func(t *testing.T) {
					o := DefaultOptions()
					o.Combine, o.Landmarks, o.Power, o.Discount, o.Seed = combine, how, power, power == 3, 5
					o.Eta, o.Gamma, o.Radii = 0.3, 0.02, []int{0, 1, 3}
					check(t, o)
				})
			}
		}
	}
	t.Run("no radii", func(t *testing.T) {
		o := DefaultOptions()
		o.Radii = nil
		check(t, o)
	})
}

// Graphs without vertices have no landmark, and one feature that is always 0.
func TestSnapshotEmpty(t *testing.T) {
	empty, err := graph.NewBuilder(0).Build()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), []*graph.Graph{empty, empty}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	got := throughSnapshot(t, m, 1)
	k, err := got.Cross(t.Context(), []*graph.Graph{empty, graphtest.Cycle(4)})
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Cross(t.Context(), []*graph.Graph{empty, graphtest.Cycle(4)})
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, "Cross", k, want)
}

// Explicit features need few descriptors, however many vertices were seen.
func TestSnapshotSmall(t *testing.T) {
	var train []*graph.Graph
	r := graphtest.Rand(3)
	for range 30 {
		train = append(train, graphtest.Random(r, graphtest.Options{N: 20, Edge: 0.2, Labels: 4, Dim: 3}))
	}
	for _, c := range []struct {
		base Base
		most int
		dim  int
	}{{Labels(), 4, 0}, {Attributes(), 1, 3}, {Times(Labels(), Attributes()), 4, 3}} {
		o := DefaultOptions()
		o.Base = c.base
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !s.Levels[0].Explicit || len(s.Levels[0].Descriptors) > c.most {
			t.Errorf("%s: %d descriptors, want at most %d", c.base, len(s.Levels[0].Descriptors), c.most)
		}
		if m.Attributes() != c.dim {
			t.Errorf("%s: %d attributes, want %d", c.base, m.Attributes(), c.dim)
		}
	}
}

type customBase struct{ Base }

func TestSnapshotRefuses(t *testing.T) {
	train := graphtest.Suite(1)
	fit := func(change func(o *Options)) *Model {
		o := DefaultOptions()
		change(&o)
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	big := Labels()
	for range maxBases {
		big = Times(big, Degree())
	}
	for want, m := range map[string]*Model{
		"base kernel labels cannot be stored":   fit(func(o *Options) { o.Base = customBase{Labels()} }),
		"base kernel degree cannot be stored":   fit(func(o *Options) { o.Base = Times(Labels(), customBase{Degree()}) }),
		"Neighbourhoods of its own":             fit(func(o *Options) { o.Neighbourhoods = Doubling(1) }),
		"more than 64 kernels":                  fit(func(o *Options) { o.Base = big }),
		"Power = 1048577, want at most 1048576": fit(func(o *Options) { o.Power = maxPower + 1 }),
	} {
		if _, err := m.Snapshot(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// Every field is checked.
func TestFromSnapshotErrors(t *testing.T) {
	train := graphtest.Suite(1)
	for want, change := range map[string]func(s *Snapshot){
		"Eta = NaN":                            func(s *Snapshot) { s.Eta = math.NaN() },
		"Gamma = 0":                            func(s *Snapshot) { s.Gamma = 0 },
		"Combine = 9":                          func(s *Snapshot) { s.Combine = 9 },
		"Power = 0":                            func(s *Snapshot) { s.Power = 0 },
		"Power = 2097152, want at most":        func(s *Snapshot) { s.Power = 1 << 21 },
		"Radii[0] = -1":                        func(s *Snapshot) { s.Radii[0] = -1 },
		`base kernel "nothing"`:                func(s *Snapshot) { s.Base = "nothing" },
		"3 levels for 1 radii":                 func(s *Snapshot) { s.Radii = s.Radii[:1] },
		"level 0: 12 landmarks with 11":        func(s *Snapshot) { s.Levels[0].Descriptors = s.Levels[0].Descriptors[:11] },
		"level 0: descriptor 3: 0 bytes":       func(s *Snapshot) { s.Levels[0].Descriptors[3] = "" },
		"level 0: descriptor 3: 7 bytes":       func(s *Snapshot) { s.Levels[0].Descriptors[3] = "1234567" },
		"descriptor 3: 1 numbers for":          func(s *Snapshot) { s.Levels[0].Descriptors[3] = "12345678" },
		"descriptor 3: number 0 is NaN":        func(s *Snapshot) { s.Levels[0].Descriptors[3] = strings.Repeat("\xff", 16) },
		"level 0: 0 explicit features":         func(s *Snapshot) { s.Levels[0] = LevelSnapshot{Explicit: true} },
		"level 0: 5 explicit features with 60": func(s *Snapshot) { s.Levels[0].Explicit = true },
		"level 1: explicit features or desc":   func(s *Snapshot) { s.Levels[1].Explicit = true },
		"level 1: 0 features of":               func(s *Snapshot) { s.Levels[1].P = 0 },
		"level 1: 1000 features of":            func(s *Snapshot) { s.Levels[1].P = 1000 },
		"level 1: 59 weights, want 12×5":       func(s *Snapshot) { s.Levels[1].W = s.Levels[1].W[1:] },
		"level 1: weight 7 is +Inf":            func(s *Snapshot) { s.Levels[1].W[7] = math.Inf(1) },
		"level 1: 4 eigenvalues of 5":          func(s *Snapshot) { s.Levels[1].Values = s.Levels[1].Values[1:] },
		"level 1: eigenvalue 0 is -1":          func(s *Snapshot) { s.Levels[1].Values[0] = -1 },
		"level 2: eigenvalue 1":                func(s *Snapshot) { s.Levels[2].Values[0] = 1e-9 },
		"level 2: 180 numbers for 11":          func(s *Snapshot) { s.Levels[2].N-- },
		"level 2: 180 numbers for -1":          func(s *Snapshot) { s.Levels[2].N = -1 },
		"level 2: covariance entry 3 is NaN":   func(s *Snapshot) { s.Levels[2].Marks[3] = math.NaN() },
		"level 2: spd: matrix 0: diagonal":     func(s *Snapshot) { s.Levels[2].Marks[2] = -1 },
		"level 2: spd: matrix 0 is not":        func(s *Snapshot) { s.Levels[2].Marks[1] = 1e9 },
		"training covariances of 0 levels":     func(s *Snapshot) { s.Train = nil },
		"training graphs, part 0: 165 numbers": func(s *Snapshot) { s.Graphs = 12 },
		"part 0: covariance entry 164 is -Inf": func(s *Snapshot) { s.Train[0][164] = math.Inf(-1) },
		"part 0: spd: matrix 10: diagonal":     func(s *Snapshot) { s.Train[0][164] = 0 },
		"part 0: 165 numbers for 1073741824":   func(s *Snapshot) { s.Graphs = 1 << 30 },
		"Workers = 0":                          nil,
	} {
		o := DefaultOptions()
		o.Samples, o.Rank, o.Landmarks = 12, 5, ByClass
		o.Base = mustBase(t)(Gaussian(1))
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		workers := 1
		if change == nil {
			workers = 0
		} else {
			change(s)
		}
		if _, err := FromSnapshot(s, workers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// Descriptors of every base kernel pass, damaged ones are refused or do no harm.
func TestCheckDescriptor(t *testing.T) {
	r := graphtest.Rand(4)
	g := graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.5, Labels: 2, Dim: 2})
	for _, b := range storedBases(t) {
		desc, err := b.Describe(g)
		if err != nil {
			t.Fatal(err)
		}
		dim := 0
		for _, d := range desc {
			if err := checkDescriptor(b, d, &dim); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
		for range 300 {
			d := damage(r, desc[0])
			dim := dim
			if err := checkDescriptor(b, d, &dim); err == nil {
				b.Gram(make([]float64, len(desc)+1), []string{d}, append([]string{d}, desc...))
			}
		}
	}
	if err := checkDescriptor(customBase{Labels()}, "", new(int)); err == nil {
		t.Error("a custom kernel passes")
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
