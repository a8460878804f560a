package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// numbers are the constants, each repeated over the widest register.
var numbers = []struct {
	name  string
	value Constant
}{
	{"one", F64(1)},
	{"half", F64(0.5)},
	{"threeEighths", F64(0.375)},
	{"twoSingles", U64(0x3f8000003f800000)}, // 1 and 1, in single precision
	{"eight", U64(8)},
	{"laneIndex", nil}, // 0, 1, …, 7

	// of determinants m·4^h, ½ ≤ m < 2
	{"sign", U64(1 << 63)},
	{"evenMask", U64(1<<53 - 1)},
	{"evenBits", U64(1022 << 52)},
	{"evenBias", U64(511)},
	{"evenBiases", U64(2 * 511)},
	{"leastPivot", F64(0x1p-127)},
	{"overflow", U64(8 << 52)}, // sets the sign if added to 2^1016 or more, an infinity or NaN

	// of exponents with twice the bias
	{"twoBiases", U64(2046)},
	{"leastExponent", U64(6)},
}

var table *Mem

// constant is where a constant is.
func constant(name string) Mem {
	if table == nil {
		m := GLOBL("numbers", 8|16) // RODATA|NOPTR
		table = &m
		for n, c := range numbers {
			for i := range 8 {
				value := c.value
				if value == nil {
					value = U64(i)
				}
				DATA(64*n+8*i, value)
			}
		}
	}
	for n, c := range numbers {
		if c.name == name {
			return table.Offset(64 * n)
		}
	}
	panic("no constant " + name)
}
