//go:build !amd64 || noasm

package spd

func asmWork(int) int { return 0 }

func (*work) asmSumDets(a, tiles []float64, p int) bool { return false }

func (*work) asmDets(mant []float64, expo []int64, tiles []float64, p int) bool { return false }

func (*work) asmCross(dst []float64, stride, rows int, a []float64, qa quarters, tiles []float64, qb quarters, p int) bool {
	return false
}

func (*work) asmRatio(dst, mant []float64, expo []int64, b *quarters, a quarter) bool {
	return false
}

func asmProject(dst, k, w []float64, rows, n, p int) bool { return false }

func asmGram(dst, y []float64, rows, p int) bool { return false }
