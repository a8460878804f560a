package mlg

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

// storedBases has every kind of base kernel and ways to combine them.
var storedBases = []string{
	"labels", "degree", "attributes", "gaussian sigma=0.7", "heat times=0.1,1,1e-07", "wl h=2", "wl h=0",
	"labels*gaussian sigma=0.7", "labels*attributes", "labels*gaussian sigma=0.7*wl h=2", "labels*(degree*attributes)",
	"0.25 labels + 0.3333333333333333 heat times=0.1,1", "1e-07 degree*labels + 1000 (0.5 labels + 0.5 degree)",
	"(0.5 labels + 0.5 degree) * (2 wl h=2 + 3 attributes)",
}

// sameBits demands that two matrices agree to the bit.
func sameBits(t *testing.T, what string, a, b *kernel.Matrix) {
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

// throughBytes encodes a model and the features of its training graphs, and decodes both.
func throughBytes(t *testing.T, m *lowRank) *lowRank {
	t.Helper()
	b, err := m.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := m.kernel.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = m.train.AppendBinary(nil); err != nil {
		t.Fatal(err)
	}
	train, err := back.DecodeFeatures(b)
	if err != nil {
		t.Fatal(err)
	}
	return &lowRank{back.(*LowRank), train.(*Covariances)}
}

// A model that was encoded and decoded gives the bits of the original: for every base kernel, with
// and without explicit features, for every option.
func TestEncodeBits(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(7)
	check := func(t *testing.T, o Kernel) {
		o.Samples, o.Rank = 12, 5
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		got := throughBytes(t, m)
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
		got = throughBytes(t, m)
		y, err := got.Transform(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i := range fresh {
			for l, level := range x.(*Covariances).levels {
				if !slices.Equal(level.At(i, nil), y.(*Covariances).levels[l].At(i, nil)) {
					t.Fatalf("Transform: graph %d differs", i)
				}
			}
		}
		for l := range len(o.Radii) + 1 {
			if m.Rank(l) != got.Rank(l) || !slices.Equal(m.Eigenvalues(l), got.Eigenvalues(l)) {
				t.Errorf("level %d: rank or eigenvalues differ", l)
			}
		}
		if m.attributes() != got.attributes() {
			t.Errorf("%d attributes, want %d", got.attributes(), m.attributes())
		}
	}
	for _, b := range storedBases {
		t.Run(fmt.Sprint("base=", b), func(t *testing.T) {
			o := Default()
			o.Base = b
			check(t, o)
		})
	}
	for _, combine := range []Combine{Top, Sum, Product, GeometricMean} {
		for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
			for _, power := range []int{1, 3} {
				t.Run(fmt.Sprint(combine, how, power), func(t *testing.T) {
					o := Default()
					o.Combine, o.Landmarks, o.Power, o.Discount, o.Seed = combine, how, power, power == 3, 5
					o.Eta, o.Gamma, o.Radii = 0.3, 0.02, []int{0, 1, 3}
					check(t, o)
				})
			}
		}
	}
	t.Run("no radii", func(t *testing.T) {
		o := Default()
		o.Radii = nil
		check(t, o)
	})
}

// Graphs without vertices have no landmark, and one feature that is always 0.
func TestEncodeEmpty(t *testing.T) {
	empty, err := graph.NewBuilder(0).Build()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), []*graph.Graph{empty, empty}, Default())
	if err != nil {
		t.Fatal(err)
	}
	got := throughBytes(t, m)
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
func TestEncodeSmall(t *testing.T) {
	var train []*graph.Graph
	r := graphtest.Rand(3)
	for range 30 {
		train = append(train, graphtest.Random(r, graphtest.Options{N: 20, Edge: 0.2, Labels: 4, Dim: 3}))
	}
	for _, c := range []struct {
		base string
		most int
		dim  int
	}{{"labels", 4, 0}, {"attributes", 1, 3}, {"labels*attributes", 4, 3}} {
		o := Default()
		o.Base = c.base
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		if p := m.projections[0]; p.explicit == nil || len(p.descriptors) > c.most {
			t.Errorf("%s: %d descriptors, want at most %d", c.base, len(p.descriptors), c.most)
		}
		if m.attributes() != c.dim {
			t.Errorf("%s: %d attributes, want %d", c.base, m.attributes(), c.dim)
		}
	}
}

// Every field is checked.
func TestDecodeErrors(t *testing.T) {
	train := graphtest.Suite(1)
	for want, change := range map[string]func(k *Kernel, p []projection){
		"eta = NaN":                            func(k *Kernel, p []projection) { k.Eta = math.NaN() },
		"gamma = 0":                            func(k *Kernel, p []projection) { k.Gamma = 0 },
		`combine = "best"`:                     func(k *Kernel, p []projection) { k.Combine = "best" },
		"power = 2097152, want 1 to 1048576":   func(k *Kernel, p []projection) { k.Power = 1 << 21 },
		"radii = -1,2":                         func(k *Kernel, p []projection) { k.Radii[0] = -1 },
		`base = "nothing"`:                     func(k *Kernel, p []projection) { k.Base = "nothing" },
		"base kernel gaussian, want labels":    func(k *Kernel, p []projection) { k.Base = "labels" },
		"3 levels for 1 radii":                 func(k *Kernel, p []projection) { k.Radii = k.Radii[:1] },
		"level 0: 12 landmarks with 11":        func(k *Kernel, p []projection) { p[0].descriptors = p[0].descriptors[:11] },
		"level 0: descriptor 3: 0 bytes":       func(k *Kernel, p []projection) { p[0].descriptors[3] = "" },
		"level 0: descriptor 3: 7 bytes":       func(k *Kernel, p []projection) { p[0].descriptors[3] = "1234567" },
		"descriptor 3: 8 bytes for gaussian":   func(k *Kernel, p []projection) { p[0].descriptors[3] = "12345678" },
		"descriptor 3: a number is NaN":        func(k *Kernel, p []projection) { p[0].descriptors[3] = strings.Repeat("\xff", 16) },
		"level 0: 0 explicit features":         func(k *Kernel, p []projection) { p[0] = projection{explicit: func([]float64, string) {}} },
		"level 0: 5 explicit features with 60": func(k *Kernel, p []projection) { p[0].explicit = func([]float64, string) {} },
		"level 0: 12 landmarks with 12":        func(k *Kernel, p []projection) { p[0].marks = p[1].marks },
		"level 1: explicit features or desc":   func(k *Kernel, p []projection) { p[1].explicit = func([]float64, string) {} },
		"level 1: 0 features of":               func(k *Kernel, p []projection) { p[1].p = 0 },
		"level 1: 1000 features of":            func(k *Kernel, p []projection) { p[1].p = 1000 },
		"level 1: 59 weights, want 12×5":       func(k *Kernel, p []projection) { p[1].w = p[1].w[1:] },
		"level 1: weight 7 is +Inf":            func(k *Kernel, p []projection) { p[1].w[7] = math.Inf(1) },
		"level 1: 4 eigenvalues, want 5":       func(k *Kernel, p []projection) { p[1].values = p[1].values[1:] },
		"level 1: eigenvalue 0 is -1":          func(k *Kernel, p []projection) { p[1].values[0] = -1 },
		"level 1: 0 numbers in the matrices":   func(k *Kernel, p []projection) { p[1].marks = nil },
		"level 2: eigenvalue 1":                func(k *Kernel, p []projection) { p[2].values[0] = 1e-9 },
	} {
		o := Default()
		o.Samples, o.Rank, o.Landmarks = 12, 5, ByClass
		o.Base = "gaussian"
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		k := m.kernel
		k.Radii = slices.Clone(k.Radii)
		change(&k, m.projections)
		b, err := m.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Decode(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// Data that end early, or that are damaged, are errors.
func FuzzDecode(f *testing.F) {
	o := Default()
	o.Samples, o.Rank, o.Radii = 3, 2, []int{1}
	m, err := Fit(f.Context(), graphtest.Suite(1), o)
	if err != nil {
		f.Fatal(err)
	}
	b, err := m.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	features, err := m.train.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(features)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := m.DecodeFeatures(slices.Clone(data)); err == nil && len(data) < 8 {
			t.Error("features of nothing")
		}
		back, err := o.Decode(slices.Clone(data))
		if err != nil {
			return
		}
		back.Transform(t.Context(), graphtest.Suite(2)[:2]) // may fail, must not panic
	})
}
