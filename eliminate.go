package mlg

import (
	"math"
	"math/bits"

	"github.com/mlgkernel/mlg/graph"
)

// eliminator computes covariances S = γI + qᵀ N L_q⁻¹ q of quotients (docs/explanation/math.md, eq.
// 4) by sparse elimination in minimum-degree order. With A = N L_q = C Cᵀ and Y = C⁻¹ N q, S = γI +
// YᵀY. Eliminating a cell with pivot d gives a row of Y: the cell's row of N q, as far as
// eliminated, over √d. Pivots come from the sums of rows (factorLaplacian). It holds the buffers of
// one worker.
type eliminator struct {
	a    []float64 // A off the diagonal, stride 64
	sums []float64 // of the rows of A
	mask []uint64  // by cell: neighbours not yet eliminated

	sparse    sparseFactor
	iteration iteration
}

// denseCells is the largest number of cells whose adjacency fits a word.
const denseCells = 64

// small overwrites y, the m×p matrix N q in row-major order, with the rows of Y in order of
// elimination. It eliminates in a dense array whose nonzeros are bits of a word per cell. It returns
// false when a sum of edge weights is not finite.
func (e *eliminator) small(q *graph.Quotient, eta float64, y []float64, p int) bool {
	m := q.Cells()
	if e.a == nil {
		e.a = make([]float64, denseCells*denseCells)
		e.mask = make([]uint64, denseCells)
	}
	e.sums = rowSums(q, eta, e.sums)
	a, sums, mask := e.a, e.sums, e.mask
	for i := range m {
		mask[i] = 0
		for k := q.Off[i]; k < q.Off[i+1]; k++ {
			j, w := int(q.Nbr[k]), q.Weight[k]
			a[i*denseCells+j], a[j*denseCells+i] = -w, -w
			mask[i] |= 1 << j
			mask[j] |= 1 << i
		}
	}
	left := uint64(1)<<m - 1 // all bits for m = denseCells
	for left != 0 {
		// The cell with the fewest neighbours, the first of them.
		best, least := 0, 65
		for r := left; r != 0; r &= r - 1 {
			i := bits.TrailingZeros64(r)
			if d := bits.OnesCount64(mask[i]); d < least {
				best, least = i, d
				if d <= 1 {
					break
				}
			}
		}
		left &^= 1 << best
		d, around := sums[best], mask[best]
		for r := around; r != 0; r &= r - 1 {
			d -= a[best*denseCells+bits.TrailingZeros64(r)]
		}
		if !(d <= math.MaxFloat64) {
			return false
		}
		scale := 1 / math.Sqrt(d)
		total := sums[best] * scale
		row := y[best*p : best*p+p]
		for c := range row {
			row[c] *= scale
		}
		for r := around; r != 0; r &= r - 1 { // column best of C, in place
			a[bits.TrailingZeros64(r)*denseCells+best] *= scale
		}
		for r := around; r != 0; r &= r - 1 {
			j := bits.TrailingZeros64(r)
			aj := a[j*denseCells : j*denseCells+denseCells]
			f := aj[best]
			sums[j] -= float64(f * total)
			mask[j] = (mask[j] | around) &^ (1<<best | 1<<j)
			for s := r & (r - 1); s != 0; s &= s - 1 {
				k := bits.TrailingZeros64(s)
				v := float64(f * a[k*denseCells+best])
				if mask[k]>>j&1 == 0 { // fill-in
					aj[k], a[k*denseCells+j] = -v, -v
				} else {
					aj[k] -= v
					a[k*denseCells+j] = aj[k]
				}
				mask[k] |= 1 << j
			}
			yj := y[j*p : j*p+p]
			for c, v := range row {
				yj[c] -= float64(f * v)
			}
		}
	}
	return true
}
