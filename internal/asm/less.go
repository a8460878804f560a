package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// less generates entries of G − UUᵀ for eight matrices U, two entries at a time. A row of U is r
// vectors of eight lanes at the offset that at says. The vectors of an entry are reduced by the r
// terms in turn.
func less(v isa) {
	function("less"+v.suffix, "func(dst, from *float64, at *int64, n int, u *float64, r int)",
		"less"+v.suffix+" sets entry i of dst, eight lanes, to from[i] − xy for the rows x and y at at[2i] and at[2i+1] bytes of",
		"u, which have r > 0 entries of eight lanes. The number n of entries is even and positive.")
	p := pointers("dst", "from", "at", "n", "u", "r")
	dst, from, at, n, u, r := p[0], p[1], p[2], p[3], p[4], p[5]

	Label("entries")
	var left, right [2]reg.GPVirtual
	var acc [2][]reg.VecVirtual
	for i := range 2 {
		left[i], right[i] = GP64(), GP64()
		for j, row := range []reg.GPVirtual{left[i], right[i]} {
			MOVQ(Mem{Base: at, Disp: 8 * (2*i + j)}, row)
			ADDQ(u, row)
		}
		for range v.parts(8) {
			acc[i] = append(acc[i], v.filled(Mem{Base: from, Disp: 8 * i}))
		}
	}
	x, terms := GP64(), GP64()
	XORQ(x, x)
	MOVQ(r, terms)
	Label("terms")
	for part := range v.parts(8) {
		for i := range 2 {
			l := v.loaded(Mem{Base: left[i], Index: x, Scale: 1, Disp: part * v.bytes})
			VFNMADD231PD(Mem{Base: right[i], Index: x, Scale: 1, Disp: part * v.bytes}, l, acc[i][part])
		}
	}
	ADDQ(Imm(64), x)
	DECQ(terms)
	JNZ(LabelRef("terms"))

	for i := range 2 {
		for part := range v.parts(8) {
			VMOVUPD(acc[i][part], Mem{Base: dst, Disp: 64*i + part*v.bytes})
		}
	}
	ADDQ(Imm(32), at)
	ADDQ(Imm(16), from)
	ADDQ(U32(128), dst)
	SUBQ(Imm(2), n)
	JNZ(LabelRef("entries"))
	leave()
}

// gather generates copies of entries of eight lanes.
func gather(v isa) {
	function("gather"+v.suffix, "func(dst, from *float64, at *int64, n int)",
		"gather"+v.suffix+" sets entry i of dst, eight lanes, to that at at[i] bytes of from, for n > 0 entries.")
	p := pointers("dst", "from", "at", "n")
	dst, from, at, n := p[0], p[1], p[2], p[3]
	Label("entries")
	x := GP64()
	MOVQ(Mem{Base: at}, x)
	for part := range v.parts(8) {
		r := v.loaded(Mem{Base: from, Index: x, Scale: 1, Disp: part * v.bytes})
		VMOVUPD(r, Mem{Base: dst, Disp: part * v.bytes})
	}
	ADDQ(Imm(8), at)
	ADDQ(Imm(64), dst)
	DECQ(n)
	JNZ(LabelRef("entries"))
	leave()
}
