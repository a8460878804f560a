package dense

import (
	"fmt"
	"unsafe"
)

// Dot returns Σ x_i y_i, summed in four interleaved parts.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += float64(x[i] * y[i]) // the conversion: not fused, on any machine
		s1 += float64(x[i+1] * y[i+1])
		s2 += float64(x[i+2] * y[i+2])
		s3 += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		s0 += float64(x[i] * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// DotInOrder returns Σ x_i y_i, summed from the first to the last.
func DotInOrder(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// Axpy adds a·x to dst.
func Axpy(dst []float64, a float64, x []float64) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] += float64(a * v)
	}
}

// Grow returns a slice of length n with the memory of s, or if that is too short, with new memory
// whose first number is at a multiple of 64 bytes.
func Grow(s []float64, n int) []float64 {
	if n <= cap(s) {
		return s[:n]
	}
	s = make([]float64, n+7)
	off := int(-uintptr(unsafe.Pointer(&s[0]))&63) / 8
	return s[off : off+n : off+n]
}

// misuse panics with a message about a programmer's error.
func misuse(format string, args ...any) {
	panic("dense: " + fmt.Sprintf(format, args...))
}
