package dense

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"gonum.org/v1/gonum/mat"
)

// Eigenvalues are those of gonum, and the vectors are orthonormal and belong to them; also for
// equal eigenvalues, diagonal matrices, low rank, and numbers far from 1.
func TestEigen(t *testing.T) {
	r := graphtest.Rand(5)
	for _, n := range []int{1, 2, 3, 10, 40, 90} {
		diagonal, low, symmetric := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			diagonal[i*n+i] = float64(i % 3)
			for j := range i + 1 {
				x := r.NormFloat64()
				symmetric[i*n+j], symmetric[j*n+i] = x, x
			}
			for j := range n {
				low[i*n+j] = float64((1 + i%2) * (1 + j%2))
			}
		}
		for name, a := range map[string][]float64{
			"gram": randomGram(n, 2, 7), "diagonal": diagonal, "low rank": low, "symmetric": symmetric, "zero": make([]float64, n*n),
		} {
			var want mat.EigenSym
			if !want.Factorize(mat.NewSymDense(n, slices.Clone(a)), false) {
				t.Fatalf("%s of order %d: no reference", name, n)
			}
			for _, scale := range []float64{1, 1e-200, 1e200} {
				scaled := make([]float64, n*n)
				for i, x := range a {
					scaled[i] = x * scale
				}
				before := slices.Clone(scaled)
				values, vectors, ok := Eigen(scaled, n)
				if !ok {
					t.Fatalf("%s of order %d: did not converge", name, n)
				}
				if !slices.Equal(scaled, before) {
					t.Fatalf("%s of order %d was changed", name, n)
				}
				for j := range values {
					values[j] /= scale
				}
				norm := max(math.Abs(values[0]), math.Abs(values[n-1]))
				for j, l := range want.Values(nil) {
					if !(math.Abs(values[j]-l) <= 1e-14*float64(n)*norm) {
						t.Fatalf("%s of order %d: eigenvalue %d is %v, want %v", name, n, j, values[j], l)
					}
					checkEigenpair(t, a, n, vectors, n, j, values[j], 1e-13*float64(n)*norm)
				}
			}
		}
	}
}
