package mlg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// storedBases has every kind of base kernel and ways to combine them.
var storedBases = []string{
	"labels", "degree", "attributes", "gaussian(0.7)", "heat(0.1,1,1e-07)", "wl(2)", "wl(0)",
	"labels*gaussian(0.7)", "labels*attributes", "labels*gaussian(0.7)*wl(2)", "labels*(degree*attributes)",
	"0.25labels+0.3333333333333333heat(0.1,1)", "1e-07degree*labels+1000(0.5labels+0.5degree)",
	"(0.5labels+0.5degree)*(2wl(2)+3attributes)",
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

func throughSnapshot(t *testing.T, m *Model, train []*graph.Graph) *Model {
	t.Helper()
	got, err := FromSnapshot(m.Snapshot(), train)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A model from its snapshot gives the bits of the original: for every base kernel, with
// and without explicit features, for every option.
func TestSnapshotBits(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(7)
	check := func(t *testing.T, o Kernel) {
		o.Samples, o.Rank = 12, 5
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		got := throughSnapshot(t, m, train)
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
		got = throughSnapshot(t, m, train) // only the graphs with landmarks are looked at
		y, err := got.Transform(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i := range fresh {
			for l := range x.levels {
				if !slices.Equal(x.levels[l].At(i, nil), y.levels[l].At(i, nil)) {
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
func TestSnapshotEmpty(t *testing.T) {
	empty, err := graph.NewBuilder(0).Build()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(t.Context(), []*graph.Graph{empty, empty}, Default())
	if err != nil {
		t.Fatal(err)
	}
	got := throughSnapshot(t, m, []*graph.Graph{empty, empty})
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
		s := m.Snapshot()
		if !s.Levels[0].Explicit || len(s.Levels[0].Descriptors) > c.most {
			t.Errorf("%s: %d descriptors, want at most %d", c.base, len(s.Levels[0].Descriptors), c.most)
		}
		if m.attributes() != c.dim {
			t.Errorf("%s: %d attributes, want %d", c.base, m.attributes(), c.dim)
		}
	}
}

// Every field is checked.
func TestFromSnapshotErrors(t *testing.T) {
	train := graphtest.Suite(1)
	for want, change := range map[string]func(s *Snapshot){
		"eta = NaN":                            func(s *Snapshot) { s.Kernel.Eta = math.NaN() },
		"gamma = 0":                            func(s *Snapshot) { s.Kernel.Gamma = 0 },
		`combine = "best"`:                     func(s *Snapshot) { s.Kernel.Combine = "best" },
		"power = 0":                            func(s *Snapshot) { s.Kernel.Power = 0 },
		"power = 2097152, want 1 to 1048576":   func(s *Snapshot) { s.Kernel.Power = 1 << 21 },
		"radii = -1,2":                         func(s *Snapshot) { s.Kernel.Radii[0] = -1 },
		`base = "nothing"`:                     func(s *Snapshot) { s.Kernel.Base = "nothing" },
		"3 levels for 1 radii":                 func(s *Snapshot) { s.Kernel.Radii = s.Kernel.Radii[:1] },
		"level 0: 12 landmarks with 11":        func(s *Snapshot) { s.Levels[0].Descriptors = s.Levels[0].Descriptors[:11] },
		"level 0: descriptor 3: 0 bytes":       func(s *Snapshot) { s.Levels[0].Descriptors[3] = "" },
		"level 0: descriptor 3: 7 bytes":       func(s *Snapshot) { s.Levels[0].Descriptors[3] = "1234567" },
		"descriptor 3: 8 bytes for gaussian":   func(s *Snapshot) { s.Levels[0].Descriptors[3] = "12345678" },
		"descriptor 3: a number is NaN":        func(s *Snapshot) { s.Levels[0].Descriptors[3] = strings.Repeat("\xff", 16) },
		"level 0: 0 explicit features":         func(s *Snapshot) { s.Levels[0] = LevelSnapshot{Explicit: true} },
		"level 0: 5 explicit features with 60": func(s *Snapshot) { s.Levels[0].Explicit = true },
		"level 1: explicit features or desc":   func(s *Snapshot) { s.Levels[1].Explicit = true },
		"level 1: 0 features of":               func(s *Snapshot) { s.Levels[1].P = 0 },
		"level 1: 1000 features of":            func(s *Snapshot) { s.Levels[1].P = 1000 },
		"level 1: 59 weights, want 12×5":       func(s *Snapshot) { s.Levels[1].W = s.Levels[1].W[1:] },
		"level 1: weight 7 is +Inf":            func(s *Snapshot) { s.Levels[1].W[7] = math.Inf(1) },
		"level 1: 4 eigenvalues, want 5":       func(s *Snapshot) { s.Levels[1].Values = s.Levels[1].Values[1:] },
		"level 1: eigenvalue 0 is -1":          func(s *Snapshot) { s.Levels[1].Values[0] = -1 },
		"level 2: eigenvalue 1":                func(s *Snapshot) { s.Levels[2].Values[0] = 1e-9 },
		"level 2: 11 landmarks with 12":        func(s *Snapshot) { s.Levels[2].N-- },
		"level 2: -1 landmarks with 12":        func(s *Snapshot) { s.Levels[2].N = -1 },
		"level 0: 12 landmarks with 12":        func(s *Snapshot) { s.Levels[0].Places = make([]Place, 2) },
		"landmark 3 is vertex 0 of graph 11":   func(s *Snapshot) { s.Levels[2].Places[3] = Place{11, 0} },
		"landmark 3 is vertex 4294967295 of":   func(s *Snapshot) { s.Levels[2].Places[3].Vertex = math.MaxUint32 },
	} {
		o := Default()
		o.Samples, o.Rank, o.Landmarks = 12, 5, ByClass
		o.Base = "gaussian"
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Snapshot()
		s.Kernel.Radii = slices.Clone(s.Kernel.Radii)
		change(s)
		if _, err := FromSnapshot(s, train); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// A small snapshot may ask for no more than so many numbers.
func TestFromSnapshotSize(t *testing.T) {
	train := graphtest.Suite(1)
	o := Default()
	o.Base, o.Radii, o.Rank, o.Samples = "gaussian", nil, 2000, 2000
	s := &Snapshot{Kernel: o, Levels: []LevelSnapshot{{N: 2000, P: 2000, W: make([]float64, 2000*2000)}}}
	for i := range 2000 {
		s.Levels[0].Descriptors = append(s.Levels[0].Descriptors, strings.Repeat("\x00", 16))
		s.Levels[0].Values = append(s.Levels[0].Values, float64(2001-i))
	}
	if _, err := FromSnapshot(s, train); err != nil {
		t.Error(err)
	}
	if _, err := FromSnapshot(s, slices.Repeat(train, 100)); err == nil || !strings.Contains(err.Error(), "want at most 2147483648") {
		t.Errorf("error %v", err)
	}
}

// Any number of goroutines may be the first to use a model from a snapshot. One that gives up does no harm.
func TestSnapshotConcurrent(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(7)
	m, err := Fit(t.Context(), train, Default())
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Cross(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	got := throughSnapshot(t, m, train)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := got.Transform(over, fresh); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := got.Train(over); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%2 == 0 {
				if _, err := got.Vertices(t.Context(), fresh); err != nil {
					t.Error(err)
				}
			}
			k, err := got.Cross(t.Context(), fresh)
			if err != nil {
				t.Error(err)
				return
			}
			if !slices.Equal(k.Data, want.Data) {
				t.Error("Cross differs")
			}
		})
	}
	wg.Wait()
}
