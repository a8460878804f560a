package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The unrolled loop against its formula, for every length of tail.
func TestAddRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for k := range v {
			v[k] = math.Round(8*rng.NormFloat64()) / 4 // sums are exact
		}
		return v
	}
	for round := range 2000 {
		n := round % 13
		f := random(n)
		rows, w := make([][]float64, n%7), random(n%7)
		index := rng.Perm(n)
		for r := range rows {
			rows[r] = random(n)
		}
		want, got := slices.Clone(f), slices.Clone(f)
		for k, c := range index {
			for r := range rows {
				want[k] += w[r] * rows[r][c]
			}
		}
		addRows(got, w, rows, index)
		if !slices.Equal(got, want) { // exact: few binary digits
			t.Fatalf("n = %d, index %v: addRows gives %v, want %v", n, index, got, want)
		}
	}
}
