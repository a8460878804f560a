package file

import (
	"encoding/binary"
	"unsafe"
)

// little says that this machine stores numbers in little-endian order, as files do.
var little = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

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
	binary.Decode(b, binary.LittleEndian, out)
	return out
}

// Bytes is the inverse of Floats: a view of x where the machine has the order of files, and a copy
// otherwise.
func Bytes(x []float64) []byte {
	if len(x) > 0 && little {
		return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
	}
	out, _ := binary.Append(nil, binary.LittleEndian, x)
	return out
}
