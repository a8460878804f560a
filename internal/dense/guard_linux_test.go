package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

// Nothing outside its arguments is read or written.

func TestGuardedMultiply(t *testing.T) {
	asmtest.Both(t, &vector, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 1))
		for p := 1; p <= 40; p++ {
			for _, rows := range []int{1, 4, 6} {
				for _, low := range []bool{true, false} {
					const n = 9
					a, b, want := normals(rng, rows*n), normals(rng, n*p), make([]float64, rows*p)
					plainMultiply(want, p, a, n, b, p, rows, n)
					got := asmtest.Guarded[float64](t, rows*p, low)
					Multiply(got, asmtest.Copy(t, a, low), asmtest.Copy(t, b, low), rows, n, p)
					if !slices.Equal(got, want) {
						t.Fatalf("product of %d×%d and %d×%d: %v, want %v", rows, n, n, p, got, want)
					}
				}
			}
		}
	})
}

func TestGuardedSweep(t *testing.T) {
	asmtest.Both(t, &vector, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 1))
		for n := 1; n <= 17; n++ {
			for _, low := range []bool{true, false} {
				a, u, w, v := normals(rng, n*n), normals(rng, n), normals(rng, n), normals(rng, n)
				want, product := slices.Clone(a), make([]float64, n)
				has := vector
				vector = false
				sweep(want, n, n, u, w, v, product)
				vector = has
				got, y := asmtest.Copy(t, a, low), asmtest.Guarded[float64](t, n, low)
				sweep(got, n, n, asmtest.Copy(t, u, low), asmtest.Copy(t, w, low), asmtest.Copy(t, v, low), y)
				if !slices.Equal(got, want) || !slices.Equal(y, product) {
					t.Fatalf("order %d: %v and %v, want %v and %v", n, got, y, want, product)
				}
			}
		}
	})
}
