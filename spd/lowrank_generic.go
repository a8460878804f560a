//go:build !amd64 || noasm

package spd

func asmPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	return false
}

func asmLess(dst, g []float64, at []int64, m int, u []float64, r int) bool { return false }

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool { return false }
