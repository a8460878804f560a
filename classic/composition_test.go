package classic

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// molecules reads SMILES.
func molecules(t *testing.T, smiles ...string) (out []*graph.Graph) {
	t.Helper()
	for _, s := range smiles {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// referenceComposition is the definition, from counts in a map.
func referenceComposition(width float64, a, b *graph.Graph) float64 {
	counts := map[string]float64{}
	for sign, g := range map[float64]*graph.Graph{1: a, -1: b} {
		for v := range g.N() {
			counts["atom "+g.Label(v)] += sign
		}
		for e := range g.Edges() {
			counts["bond "+e.Label] += sign
		}
	}
	square := 0.0
	for _, c := range counts {
		square += c * c
	}
	return math.Exp(-square / (2 * width * width))
}

func TestComposition(t *testing.T) {
	graphs := molecules(t, "CCO", "OCC", "CC=O", "CCN", "CCCCCCCC", "c1ccccc1", "C", "[NH4+].[Cl-]", "COC")
	for _, width := range []float64{0.5, 3, 30} {
		k := Composition{Width: width, Labels: Auto}
		f, err := k.Fit(t.Context(), graphs[:6])
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Cross(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range graphs {
			for j, h := range graphs[:6] {
				if got, want := m.At(i, j), referenceComposition(width, g, h); math.Abs(got-want) > 1e-14 {
					t.Errorf("width %v, graphs %d and %d: %v, want %v", width, i, j, got, want)
				}
			}
		}
		if m.At(0, 1) != 1 || m.At(8, 0) != 1 || !(m.At(2, 0) < 1) {
			t.Errorf("width %v: %v for equal counts, %v for an ether of an alcohol, %v for another bond", width, m.At(0, 1), m.At(8, 0), m.At(2, 0))
		}
	}
	for _, width := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := (Composition{Width: width, Labels: Auto}).Validate(); err == nil {
			t.Errorf("width %v is valid", width)
		}
	}
	if err := kernel.CheckNormalized(DefaultComposition()); err != nil {
		t.Error(err)
	}
}
