package spd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomSPD returns γI + YᵀY for a random Y with the given number of rows.
func randomSPD(rng *rand.Rand, p, rows int, gamma, scale float64) []float64 {
	y := make([]float64, rows*p)
	for i := range y {
		y[i] = rng.NormFloat64() * scale
	}
	s := make([]float64, Size(p))
	for i := range p {
		for j := range i + 1 {
			for r := range rows {
				s[Index(i, j)] += y[r*p+i] * y[r*p+j]
			}
		}
		s[Index(i, i)] += gamma
	}
	return s
}

func randomBatch(t testing.TB, rng *rand.Rand, n, p int) *Batch {
	t.Helper()
	b := NewBatch(n, p)
	for i := range n {
		if err := b.Set(i, randomSPD(rng, p, 1+rng.IntN(2*p), 0.1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for p := 1; p <= 70; p++ {
		a, b := randomBatch(t, rng, 3, p), randomBatch(t, rng, 45, p)
		var want []float64
		for _, v := range []simd{plain, avx2, avx512} {
			vector = v
			got := make([]float64, 3*45)
			Cross(got, 45, a, 0, 3, b, 0, 45)
			if want == nil {
				want = got
			}
			for i := range got {
				if got[i] != want[i] || math.IsNaN(want[i]) {
					t.Fatalf("p=%d simd %d: value %d is %g, want %g", p, v, i, got[i], want[i])
				}
			}
		}
	}
}
