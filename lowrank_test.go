package mlg

import (
	"fmt"
	"testing"
)

// all options that make the low-rank kernel exact: every vertex sampled, full rank.
func fullRank(o Options) Options {
	o.Samples, o.Rank = 1<<20, 1<<20
	return o
}

func TestGoldenFullRank(t *testing.T) {
	gaussian, _ := Gaussian(1)
	for _, f := range []struct {
		name string
		base Base
	}{{"mlg_exact.json", Labels()}, {"flg_features.json", Attributes()}, {"flg_kernel.json", gaussian}} {
		for i, c := range golden(t, f.name) {
			for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
				t.Run(fmt.Sprint(f.name, i, how), func(t *testing.T) {
					o := fullRank(DefaultOptions())
					o.Base, o.Radii, o.Eta, o.Gamma, o.Landmarks = f.base, c.Radii, c.Eta, c.Gamma, how
					m, err := Fit(t.Context(), c.graphs(t), o)
					if err != nil {
						t.Fatal(err)
					}
					k, err := m.Gram(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					checkGram(t, k, c.Gram, goldenTol)
				})
			}
		}
	}
}

func BenchmarkFitGram(b *testing.B) {
	for _, name := range []string{"MUTAG", "PTC", "ENZYMES", "PROTEINS", "NCI1"} {
		b.Run(name, func(b *testing.B) {
			graphs := readData(b, name)
			o := DefaultOptions()
			o.Radii = []int{1, 2, 4}
			for b.Loop() {
				m, err := Fit(b.Context(), graphs, o)
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
