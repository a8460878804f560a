package spd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
)

// Without fused multiply-adds values are as good as with them, and 1 for equal matrices.
func TestRounded(t *testing.T) {
	defer setPlain()()
	defer func(fused bool) { dense.Fused = fused }(dense.Fused)
	rng := rand.New(rand.NewPCG(14, 1))
	for _, p := range []int{1, 2, 3, 10, 16, 17, 32} {
		const n = 13
		var want, got [n * n]float64
		for _, kind := range kinds {
			if kind.name != "ordinary" && kind.name != "mixed" {
				continue // rounding errors grow with the condition number
			}
			dense.Fused = true
			matrices := batchOf(t, rng, n, p, kind.next)
			again := NewBatch(n, p)
			Cross(want[:], n, matrices, 0, n, matrices, 0, n)
			dense.Fused = false
			for i := range n {
				if err := again.Set(i, matrices.At(i, nil)); err != nil {
					t.Fatal(err)
				}
			}
			Cross(got[:], n, again, 0, n, again, 0, n)
			for i := range n {
				for j := range n {
					k := got[i*n+j]
					if math.Abs(k-want[i*n+j]) > 1e-12*want[i*n+j] || k != got[j*n+i] || i == j && k != 1 {
						t.Fatalf("p=%d %s: k(%d,%d) = %.17g, transposed %.17g, fused %.17g", p, kind.name, i, j, k, got[j*n+i], want[i*n+j])
					}
				}
			}
		}
	}
	for range 10000 {
		x := 0.5 + 1.5*rng.Float64()
		y := seed(x) * seed(x)
		if got, want := residual(x, y), math.FMA(-x, y, 1); got != want {
			t.Fatalf("1 − %v·%v is %v, want %v", x, y, got, want)
		}
	}
}
