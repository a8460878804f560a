//go:build (amd64 || arm64) && !noasm

package dense

import (
	"runtime"
	"sync"

	"golang.org/x/sys/cpu"
)

// vector tells whether the processor has the instructions that the assembly uses.
var vector = runtime.GOARCH == "arm64" || cpu.X86.HasAVX2 && cpu.X86.HasFMA

// panels keeps memory for packed panels.
var panels = sync.Pool{New: func() any { return new([]float64) }}

// asmMultiply runs through panels of up to 12 columns of b, packed with zeros after the last
// column. A panel with such zeros gets its product in memory of its own.
func asmMultiply(dst, a, b []float64, rows, n, p int) bool {
	if !vector {
		return false
	}
	panel := panels.Get().(*[]float64)
	defer panels.Put(panel)
	for c, left := 0, (p+3)/4; left > 0; {
		fours := min(left, 3)
		f := multiply12
		switch {
		case left == 2 || left == 4: // two and two are faster than three and one
			fours, f = 2, multiply8
		case left == 1:
			f = multiply4
		}
		left -= fours
		width := 4 * fours
		wide := min(width, p-c)
		*panel = Grow(*panel, (n+height)*width)
		for m := range n {
			d := (*panel)[m*width:][:width]
			clear(d[copy(d, b[m*p+c:][:wide]):])
		}
		if wide == width {
			f(&dst[c], 8*p, &a[0], 8*n, &(*panel)[0], rows, n)
		} else {
			out := (*panel)[n*width:]
			for r := 0; r < rows; r += height {
				high := min(height, rows-r)
				f(&out[0], 8*width, &a[r*n], 8*n, &(*panel)[0], high, n)
				for i := range high {
					copy(dst[(r+i)*p+c:][:wide], out[i*width:])
				}
			}
		}
		c += width
	}
	return true
}

func asmMultiplyPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	if vector {
		multiply12(&dst[0], 8*dstStride, &a[0], 8*stride, &panel[0], rows, n)
	}
	return vector
}

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool {
	if !vector || len(row0) == 0 {
		return false
	}
	sweepRows(&row0[0], &row1[0], len(row0), &u[0], &w[0], &v[0], &y[0], r, &sums[0])
	return true
}
