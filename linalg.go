package mlg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// cholesky overwrites the lower triangle of the row-major n×n matrix a with its Cholesky
// factor C, a = C Cᵀ, and returns log|a|. ok is false when a is not numerically positive
// definite. It takes n³/3 operations.
func cholesky(a []float64, n int) (logDet float64, ok bool) {
	det := newDeterminant()
	for i := range n {
		ri := a[i*n : i*n+i+1]
		for j := range i {
			rj := a[j*n : j*n+j+1]
			s := ri[j] - dot(ri[:j], rj[:j])
			ri[j] = s / rj[j]
		}
		d := ri[i] - dot(ri[:i], ri[:i])
		if !(d > 0) || math.IsInf(d, 1) {
			return 0, false
		}
		det.mul(d)
		ri[i] = math.Sqrt(d)
	}
	return det.log(), true
}

// determinant is a product of positive numbers, kept as mantissa and exponent so that it
// neither overflows nor needs a logarithm per factor.
type determinant struct {
	mantissa float64
	exponent int
}

func newDeterminant() determinant { return determinant{mantissa: 1} }

func (d *determinant) mul(x float64) {
	f, e := math.Frexp(d.mantissa * x)
	// A product of a mantissa in [½, 1) and a normal x is normal, or Frexp scales it.
	d.mantissa = f
	d.exponent += e
}

func (d *determinant) log() float64 {
	return math.Log(d.mantissa) + float64(d.exponent)*math.Ln2
}

// split returns exp(x) as mantissa and exponent.
func split(x float64) determinant {
	e := math.Floor(x / math.Ln2)
	return determinant{mantissa: math.Exp(x - e*math.Ln2), exponent: int(e)}
}

// dot returns Σ x_i y_i, summed in four interleaved parts.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// forwardSolve overwrites the rows of b, n×p row-major, with C⁻¹ b for the Cholesky factor
// C in the lower triangle of c.
func forwardSolve(c []float64, n int, b []float64, p int) {
	for i := range n {
		ri := b[i*p : (i+1)*p]
		for j := range i {
			f := c[i*n+j]
			if f == 0 {
				continue
			}
			for k, x := range b[j*p : (j+1)*p] {
				ri[k] -= f * x
			}
		}
		inv := 1 / c[i*n+i]
		for k := range ri {
			ri[k] *= inv
		}
	}
}

// eigenSym returns the eigenvalues of a symmetric row-major n×n matrix, ascending, and its
// eigenvectors as columns of a row-major matrix.
func eigenSym(a []float64, n int) (values, vectors []float64, ok bool) {
	if n == 0 {
		return nil, nil, true
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, a), true) {
		return nil, nil, false
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), v.RawMatrix().Data, true
}

// singularValues returns the singular values of the row-major r×c matrix a, descending.
func singularValues(a []float64, r, c int) ([]float64, bool) {
	if r == 0 || c == 0 {
		return nil, true
	}
	var s mat.SVD
	if !s.Factorize(mat.NewDense(r, c, a), mat.SVDNone) {
		return nil, false
	}
	return s.Values(nil), true
}
