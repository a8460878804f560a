package spd

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A batch of tiles gives the bits of one that was filled matrix by matrix.
func TestInterleaved(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []int{1, 2, 5, 10, 17} {
		for _, n := range []int{0, 1, 7, 8, 9, 40} {
			want := NewBatch(n, p)
			tiles := make([]float64, (n+Lanes-1)/Lanes*Lanes*Size(p))
			for i := range tiles {
				tiles[i] = math.NaN() // what fills up the last tile does not matter
			}
			for i := range n {
				m := randomSPD(r, p, p+2, 0.1, 1)
				if err := want.Set(i, m); err != nil {
					t.Fatal(err)
				}
				for e, v := range m {
					tiles[i/Lanes*Lanes*Size(p)+e*Lanes+i%Lanes] = v
				}
			}
			got, err := Interleaved(tiles, n, p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != n || got.Order() != p {
				t.Fatalf("%d matrices of order %d, want %d of order %d", got.Len(), got.Order(), n, p)
			}
			a, b := make([]float64, n*n), make([]float64, n*n)
			Cross(a, n, want, 0, n, want, 0, n)
			Cross(b, n, got, 0, n, got, 0, n)
			for i := range a {
				if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
					t.Fatalf("order %d, %d matrices: value %d is %v, want %v", p, n, i, b[i], a[i])
				}
			}
			for i := range n {
				if got.roots.at(i) != want.roots.at(i) {
					t.Errorf("root of determinant %v, want %v", got.roots.at(i), want.roots.at(i))
				}
			}
			if n > 3 {
				for _, bad := range []float64{math.NaN(), math.Inf(1), -1, 0} {
					old := tiles[3]
					tiles[3] = bad // the first entry of matrix 3
					if _, err := Interleaved(tiles, n, p); err == nil || !strings.Contains(err.Error(), "matrix 3") {
						t.Errorf("entry %v: error %v", bad, err)
					}
					tiles[3] = old
				}
			}
		}
	}
}
