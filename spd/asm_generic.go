//go:build !amd64 || noasm

package spd

func asmWork(int) int { return 0 }

func (*work) asmDets(mant []float64, expo []int64, a, tiles []float64, p int) bool { return false }

func asmValues(dst, mant []float64, expo []int64, a quarter, b quarters) bool { return false }

func asmLess(dst, g []float64, at []int64, m int, u []float64, r int) bool { return false }

func asmGram(dst, y []float64, rows, p int) bool { return false }
