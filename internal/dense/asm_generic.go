//go:build !(amd64 || arm64) || noasm

package dense

// vector tells whether there is assembly.
var vector bool

func asmMultiply(dst, a, b []float64, rows, n, p int) bool { return false }

func asmMultiplyPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) bool {
	return false
}

func asmSweep(row0, row1, u, w, v, y []float64, r int, sums *[8]float64) bool { return false }
