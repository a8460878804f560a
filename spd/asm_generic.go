//go:build !(amd64 || arm64) || noasm

package spd

// simd is the set of instructions in use.
type simd int

const plain simd = 0 // Go only

var instructions = []string{plain: "plain Go"}

var vector = plain

func asmWork(int) int { return 0 }

func (*work) asmDets(mant []float64, expo []int64, a, tiles []float64, p int) bool { return false }

func asmValues(dst, mant []float64, expo []int64, a quarter, b quarters) bool { return false }

func asmLess(dst, g []float64, at []int64, u []float64, r int) bool { return false }

func asmGather(dst, from []float64, at []int64) bool { return false }

func asmGram(dst, y []float64, rows, p int) bool { return false }
