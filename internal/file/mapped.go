package file

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// little says that this machine stores numbers in little-endian order, as files do.
var little = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

// Floats returns little-endian float64 numbers: a view of b where the machine has the same
// order and b is aligned, and a copy otherwise.
func Floats(b []byte) []float64 {
	n := len(b) / 8
	if n == 0 {
		return nil
	}
	if little && uintptr(unsafe.Pointer(&b[0]))%8 == 0 {
		return unsafe.Slice((*float64)(unsafe.Pointer(&b[0])), n)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// Bytes is the inverse of Floats: a view of x where the machine has the order of files, and a copy
// otherwise.
func Bytes(x []float64) []byte {
	if len(x) > 0 && little {
		return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
	}
	out := make([]byte, 0, 8*len(x))
	for _, v := range x {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}
