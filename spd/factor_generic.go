//go:build !amd64 || noasm

package spd

func asmWork(int) int { return 0 }

func (*work) asmSumDets(a, tiles []float64, p int) bool { return false }

func (*work) asmDets(mant []float64, expo []int64, tiles []float64, p int) bool { return false }

func asmRatio(dst, mant []float64, expo []int64, b *roots, a root) bool {
	return false
}

func asmProject(dst, k, w []float64, rows, n, p int) bool { return false }

func asmGram(dst, y []float64, rows, p int) bool { return false }
