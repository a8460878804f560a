//go:build !noasm

package spd

func asmPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	if vector == plain || rows == 0 || n == 0 {
		return false
	}
	project3AVX2(&dst[0], 8*dstStride, &a[0], 8*stride, &panel[0], rows, n, &lastMask[0])
	return true
}

func asmLess(dst, g []float64, at []int64, m int, u []float64, r int) bool {
	switch vector {
	case avx512:
		lessAVX512(&dst[0], &g[0], &at[0], m, &u[0], r)
	case avx2:
		lessAVX2(&dst[0], &g[0], &at[0], m, &u[0], r)
	default:
		return false
	}
	return true
}

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool {
	if vector == plain || len(row0) == 0 {
		return false
	}
	sweepAVX2(&row0[0], &row1[0], len(row0), &u[0], &w[0], &v[0], &y[0], r, &sums[0])
	return true
}
