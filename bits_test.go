package mlg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// Gram matrices of the low-rank kernel have the same bits on every processor with fused
// multiply-adds, by assembly or plain Go. The hashes are those of amd64 with AVX-512.
func TestGramBits(t *testing.T) {
	rng := graphtest.Rand(24)
	var labelled, weighted []*graph.Graph
	for i := range 24 {
		labelled = append(labelled, graphtest.Random(rng, graphtest.Options{N: 8 + i, Edge: 3 / float64(8+i), Labels: 4}))
		weighted = append(weighted, graphtest.Random(rng, graphtest.Options{N: 8 + i, Edge: 4 / float64(8+i), Dim: 3, Weighted: true}))
	}
	for _, c := range []struct {
		name   string
		graphs []*graph.Graph
		change func(*Kernel)
		want   string
	}{
		{"default", labelled, func(*Kernel) {}, "25d1932dd6629649"},
		{"sum", labelled, func(k *Kernel) { k.Combine, k.Radii = Sum, []int{1, 2, 4} }, "552aaa02a2570fc0"},
		{"rank 32", labelled, func(k *Kernel) { k.Rank = 32 }, "8afeb6bb79e24cc1"},
		{"classes", labelled, func(k *Kernel) { k.Landmarks, k.Combine = ByClass, Mixed }, "bdabfe6998bbd245"},
		{"pivoted", labelled, func(k *Kernel) { k.Landmarks, k.Samples = Pivoted, 40 }, "7b4923df51a9d78d"},
		{"rank 80", labelled, func(k *Kernel) { k.Samples, k.Rank = 120, 80 }, "dc83de063913f6a0"},
		{"weights", weighted, func(k *Kernel) { k.Base = "attributes" }, "d2b6458b9e78d615"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := Default()
			c.change(&k)
			m, err := Fit(t.Context(), c.graphs, k)
			if err != nil {
				t.Fatal(err)
			}
			gram, err := m.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h := sha256.New()
			for _, x := range gram.Data {
				if err := binary.Write(h, binary.LittleEndian, math.Float64bits(x)); err != nil {
					t.Fatal(err)
				}
			}
			if got := hex.EncodeToString(h.Sum(nil)[:8]); got != c.want {
				t.Errorf("bits %s, want %s; first row %s", got, c.want, fmt.Sprintf("%.17g", gram.Row(0)[:4]))
			}
		})
	}
}
