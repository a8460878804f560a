package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// numbers are the constants, repeated over the widest register; besides them there is laneIndex: 0,
// 1, …, 7.
var numbers = map[string]Constant{
	"one":          F64(1),
	"half":         F64(0.5),
	"threeEighths": F64(0.375),
	"twoSingles":   U64(0x3f8000003f800000), // 1 and 1, in single precision
	"eight":        U64(8),

	// of determinants m·4^h, ½ ≤ m < 2
	"sign":       U64(1 << 63),
	"evenMask":   U64(1<<53 - 1),
	"evenBits":   U64(1022 << 52),
	"evenBias":   U64(511),
	"evenBiases": U64(2 * 511),
	"leastPivot": F64(0x1p-127),
	"overflow":   U64(8 << 52), // sets the sign if added to 2^1016 or more, an infinity or NaN

	// of exponents with twice the bias
	"twoBiases":     U64(2046),
	"leastExponent": U64(6),
}

var placed = map[string]Mem{}

// constant is where a constant is.
func constant(name string) Mem {
	if _, ok := placed[name]; !ok {
		placed[name] = GLOBL(name, 8|16) // RODATA|NOPTR
		for i := range 8 {
			if name == "laneIndex" {
				DATA(8*i, U64(i))
			} else {
				DATA(8*i, numbers[name])
			}
		}
	}
	return placed[name]
}
