//go:build !noasm

package dense

import (
	"sync"

	"golang.org/x/sys/cpu"
)

// vector tells whether the processor has the instructions that the assembly uses.
var vector = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// lastMask[4−n:] is the mask of the first n of four numbers.
var lastMask = [8]int64{-1, -1, -1, -1}

// panels keeps memory for packed panels.
var panels = sync.Pool{New: func() any { return new([]float64) }}

// asmMultiply runs through panels of up to 12 columns of b, packed with zeros after the last
// column.
func asmMultiply(dst, a, b []float64, rows, n, p int) bool {
	if !vector {
		return false
	}
	panel := panels.Get().(*[]float64)
	defer panels.Put(panel)
	for c, left := 0, (p+3)/4; left > 0; {
		vectors := min(left, 3)
		f := multiply3AVX2
		switch {
		case left == 2 || left == 4: // two and two are faster than three and one
			vectors, f = 2, multiply2AVX2
		case left == 1:
			f = multiply1AVX2
		}
		left -= vectors
		width := 4 * vectors
		*panel = Grow(*panel, n*width)
		wide := min(width, p-c)
		for m := range n {
			d := (*panel)[m*width:][:width]
			clear(d[copy(d, b[m*p+c:][:wide]):])
		}
		f(&dst[c], 8*p, &a[0], 8*n, &(*panel)[0], rows, n, &lastMask[width-wide])
		c += width
	}
	return true
}

func asmMultiplyPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	if vector {
		multiply3AVX2(&dst[0], 8*dstStride, &a[0], 8*stride, &panel[0], rows, n, &lastMask[0])
	}
	return vector
}

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool {
	if !vector || len(row0) == 0 {
		return false
	}
	sweepAVX2(&row0[0], &row1[0], len(row0), &u[0], &w[0], &v[0], &y[0], r, &sums[0])
	return true
}
