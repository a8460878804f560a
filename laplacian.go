package mlg

import (
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
)

// laplacian writes A, the quotient of the regularised Laplacian times the sizes of the
// cells, into dst as a dense symmetric row-major matrix and returns it.
func laplacian(q *graph.Quotient, eta float64, dst []float64) []float64 {
	m := q.Cells()
	dst = dense.Grow(dst, m*m)
	clear(dst)
	for i := range m {
		dst[i*m+i] += float64(eta * float64(q.Size[i]))
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			j, w := int(q.Nbr[e]), q.Weight[e]
			dst[i*m+j], dst[j*m+i] = -w, -w
			dst[i*m+i] += w
			dst[j*m+j] += w
		}
	}
	return dst
}

// rowSums writes the sums of the rows of A to dst and returns it.
func rowSums(q *graph.Quotient, eta float64, dst []float64) []float64 {
	dst = dense.Grow(dst, q.Cells())
	for i, n := range q.Size {
		dst[i] = eta * float64(n)
	}
	return dst
}

// factorLaplacian overwrites the lower triangle of A, of order m, with its Cholesky factor C and
// returns log|A|. The entries of A off its diagonal are not positive. The diagonal is not read,
// because large edge weights have drowned the sums of rows in it. It follows from these sums, which
// are positive, and are overwritten. Nothing is subtracted (the elimination of Grassmann, Taksar
// and Heyman). So all entries of C and C⁻¹ are right to a few units in the last place, however far
// the weights lie apart.
func factorLaplacian(a, sums []float64, m int) (logDet float64, ok bool) {
	for k := range m {
		d := sums[k]
		for i := k + 1; i < m; i++ {
			d -= a[i*m+k]
		}
		if !(d <= math.MaxFloat64) {
			return 0, false
		}
		logDet += math.Log(d)
		root := math.Sqrt(d)
		a[k*m+k] = root
		for i := k + 1; i < m; i++ {
			a[i*m+k] /= root
			c := a[i*m+k]
			sums[i] -= float64(c * (sums[k] / root))
			for j := k + 1; j < i; j++ {
				a[i*m+j] -= float64(c * a[j*m+k])
			}
		}
	}
	return logDet, true
}
