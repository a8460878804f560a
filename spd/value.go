package spd

import (
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// quarter is what a matrix A brings to its kernel values: the fourth root |2A|^¼ = e·2^x,
// ½ < e < 2, and a correction c of the size of a rounding error, chosen so that the kernel of A
// with itself is exactly 1.
type quarter struct {
	e, c float64
	x    int64
}

// quarterOf takes the determinant |A| of a matrix of order p.
func quarterOf(a determinant, p int) quarter {
	// |2A|, as the determinant of A+A is
	m, h := split(scale(a.mant, int64(p&1)))
	h += a.expo + int64(p>>1)
	q := fourthRoot(determinant{m, h})
	// value computes v/√(1−ρ) from v and ρ. With ρ = 1 − v² that is 1.
	r := seed(m)
	v := scale(r*(q.e*q.e), 2*q.x-h)
	q.c = (residual(v, v) - residual(m, r*r)) / 2
	return q
}

// fourthRoot returns d^¼, without a correction.
func fourthRoot(d determinant) quarter {
	return quarter{e: math.Sqrt(math.Sqrt(scale(d.mant, 2*(d.expo&1)))), x: d.expo >> 1}
}

// seed returns 1/√m, rounded to single precision in each step.
func seed(m float64) float64 {
	return float64(1 / float32(math.Sqrt(float64(float32(m)))))
}

// residual returns 1 − xy, rounded once, for a product near 1.
func residual(x, y float64) float64 {
	if dense.Fused {
		return math.FMA(-x, y, 1)
	}
	// By Dekker's product: halves of x and y have products without rounding errors.
	half := func(x float64) (high, low float64) {
		c := x * (1<<27 + 1)
		high = c - (c - x)
		return high, x - high
	}
	p := x * y
	x1, x0 := half(x)
	y1, y0 := half(y)
	rest := ((x1*y1 - p) + x1*y0 + x0*y1) + x0*y0
	return (1 - p) - rest
}

// value returns the kernel y·2^q of matrices A and B for the determinant |A+B|:
//
//	k = |2A|^¼ |2B|^¼ / |A+B|^½.
//
// For |A+B| = m·4^h a root r ≈ 1/√m in single precision, whose square is exact in double
// precision, is corrected by two terms of the series 1/√m = r(1 + ½ρ + ⅜ρ² + …), ρ = 1 − mr².
func value(sum determinant, a, b quarter) (y float64, q int64) {
	r := seed(sum.mant)
	rho := residual(sum.mant, r*r) + (a.c + b.c)
	y = r * (a.e * b.e)
	return dense.FMA(y*rho, dense.FMA(0.375, rho, 0.5), y), a.x + b.x - sum.expo
}

// quarters is a slice of quarters, as the assembly wants it.
type quarters struct {
	e, c []float64
	x    []int64
}

func newQuarters(n int) quarters {
	return quarters{make([]float64, n), make([]float64, n), make([]int64, n)}
}

func (r *quarters) at(i int) quarter { return quarter{r.e[i], r.c[i], r.x[i]} }

func (r *quarters) set(i int, q quarter) { r.e[i], r.c[i], r.x[i] = q.e, q.c, q.x }

func (r *quarters) slice(i, j int) quarters { return quarters{r.e[i:j], r.c[i:j], r.x[i:j]} }

// values sets dst[i] to the kernel of A and B_i, at most 1, for the determinant mant[i]·4^expo[i]
// of their sum. It is NaN if mant is negative. The exponents are applied last, so a value is
// rounded to a subnormal number or to zero only when it is one. The number of values is a multiple
// of Lanes; dst may be mant.
func values(dst, mant []float64, expo []int64, a quarter, b quarters) {
	if asmValues(dst, mant, expo, a, b) {
		return
	}
	for i := range dst {
		k, q := value(determinant{mant[i], expo[i]}, a, b.at(i))
		q = max(q, -2040)
		if k = scale(scale(k, q>>1), q-q>>1); k > 1 {
			k = 1
		}
		dst[i] = k
	}
}

// logValue is the logarithm of a value.
func logValue(sum determinant, a, b quarter) float64 {
	if v := logOf(value(sum, a, b)); !(v > 0) { // NaN stays
		return v
	}
	return 0
}
