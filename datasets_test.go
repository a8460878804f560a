package mlg_test

import (
	"context"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func readData(t testing.TB, name string) []*graph.Graph {
	t.Helper()
	ds, err := dataset.Read(context.Background(), graphtest.Dataset(t, name), dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return ds.Graphs
}

// The numbers of classes are those that an independent implementation found (docs/explanation/math.md).
func TestClassCounts(t *testing.T) {
	graphtest.Slow(t)
	for _, c := range []struct {
		name string
		want []int
	}{
		{"MUTAG", []int{7, 31, 603, 2028}},
		{"ENZYMES", []int{3, 1763, 13715, 10877}},
		{"NCI1", []int{37, 303, 23718, 67747}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := mlg.Default()
			o.Radii = []int{1, 2, 4}
			e, err := mlg.NewExact(t.Context(), readData(t, c.name), o)
			if err != nil {
				t.Fatal(err)
			}
			for l, want := range c.want {
				if got := e.Classes(l); got != want {
					t.Errorf("level %d: %d classes, want %d", l, got, want)
				}
			}
		})
	}
}

// Full rank and all vertices sampled, the low-rank kernel is the exact one on real data too.
func TestFullRankIsExact(t *testing.T) {
	graphs := readData(t, "MUTAG")[:40]
	o := mlg.Default()
	o.Samples, o.Rank = 1<<20, 1<<20
	m, err := mlg.Fit(t.Context(), graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	low, err := m.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := mlg.NewExact(t.Context(), graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := e.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range exact.Data {
		if d := low.Data[i] - v; d > 1e-9*v || d < -1e-9*v {
			t.Fatalf("entry %d: low-rank %.15g, exact %.15g", i, low.Data[i], v)
		}
	}
}

func BenchmarkExactGram(b *testing.B) {
	for _, name := range []string{"MUTAG", "PTC"} {
		b.Run(name, func(b *testing.B) {
			graphs := readData(b, name)
			for b.Loop() {
				e, err := mlg.NewExact(b.Context(), graphs, mlg.Default())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Gram(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFitGram(b *testing.B) {
	for _, name := range []string{"MUTAG", "PTC", "ENZYMES", "PROTEINS", "NCI1"} {
		b.Run(name, func(b *testing.B) {
			graphs := readData(b, name)
			o := mlg.Default()
			o.Radii = []int{1, 2, 4}
			for b.Loop() {
				m, err := mlg.Fit(b.Context(), graphs, o)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := m.Gram(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFitWide fits kernels with 600 landmarks and rank 32.
func BenchmarkFitWide(b *testing.B) {
	for _, name := range []string{"PTC", "ENZYMES", "NCI1"} {
		for _, base := range []string{"labels", "wl h=1", "wl h=3", "heat times=0.5,1,2"} {
			b.Run(name+"/"+base, func(b *testing.B) {
				graphs := readData(b, name)
				o := mlg.Default()
				o.Samples, o.Rank, o.Combine = 600, 32, mlg.Mixed
				o.Base = base
				for b.Loop() {
					if _, err := mlg.Fit(b.Context(), graphs, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
