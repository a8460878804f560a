//go:build !amd64 || noasm

package spd

import "math"

func asmPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	return false
}

func asmLess(dst, g []float64, at []int64, m int, u []float64, r int) bool { return false }

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool { return false }

func asmStep(f, a, b, up []float64, t float64) (m float64, i, done int) { return math.Inf(1), 0, 0 }

func asmPartner(f, dn, a, diag []float64, m, aii, least float64) (gap, best float64, j, done int) {
	return 0, 0, -1, 0
}
