package dense

import (
	"context"
	"math"
	"testing"
)

// Entries of a tridiagonal form that are far below its norm, as matrices of low rank have them, once
// sent a scaling into a panic.
func TestTopTridiagonalTiny(t *testing.T) {
	for _, scale := range []float64{1, 1e-100, 1e100} {
		for _, tiny := range []float64{1e-60, 1e-130, 1e-200, 1e-300, 5e-324} {
			const n = 40
			d, e := make([]float64, n), make([]float64, n-1)
			d[0], d[1], e[0] = 3*scale, 2*scale, 1*scale
			for i := 2; i < n; i++ {
				d[i] = tiny * scale
				e[i-1] = tiny * scale / 2
			}
			values, _, ok := topTridiagonal(d, e, 2)
			if !ok {
				t.Errorf("scale %g, tiny %g: not found", scale, tiny)
				continue
			}
			for j, want := range []float64{(5 + math.Sqrt(5)) / 2, (5 - math.Sqrt(5)) / 2} {
				if !(math.Abs(values[j]-want*scale) <= 1e-14*scale) {
					t.Errorf("scale %g, tiny %g: value %d is %v, want %v", scale, tiny, j, values[j], want*scale)
				}
			}
		}
	}
}

func TestLeadingEigenLowRank(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		const n = 300
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = math.Pow(0.7, math.Abs(float64(i%ranks-j%ranks)))
			}
		}
		values, _, err := LeadingEigen(context.Background(), a, n, 20, 1)
		if err != nil || !(math.Abs(values[ranks]) < 1e-9) {
			t.Errorf("rank %d: values %v, %v", ranks, values[:ranks+1], err)
		}
	}
}
