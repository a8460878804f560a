package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

func TestSweepBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	for n := range 23 {
		stride := n + n%3
		a, u, w, v := random(n*stride), random(n), random(n), random(n)
		var first, product []float64
		asmtest.Both(t, &vector, func(t *testing.T) {
			got, y := slices.Clone(a), random(n)
			sweep(got, stride, n, u, w, v, y)
			if first == nil {
				first, product = got, y
			}
			if !slices.Equal(got, first) || !slices.Equal(y, product) {
				t.Fatalf("order %d: %v and %v, but %v and %v without assembly", n, got, y, first, product)
			}
			at := func(i, j int) float64 { return a[i*stride+j] - u[i]*w[j] - w[i]*u[j] }
			for i := range n {
				want := 0.0
				for j := range n {
					want += at(max(i, j), min(i, j)) * v[j]
					if x := got[i*stride+j]; j <= i && math.Abs(x-at(i, j)) > 1e-14*(1+math.Abs(x)) || j > i && x != a[i*stride+j] {
						t.Fatalf("order %d: entry %d, %d is %v", n, i, j, x)
					}
				}
				if math.Abs(y[i]-want) > 1e-12 {
					t.Fatalf("order %d: product %d is %v, want %v", n, i, y[i], want)
				}
			}
		})
	}
}
