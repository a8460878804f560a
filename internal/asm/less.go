package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// less generates M = G − UUᵀ for a tile of matrices U of m×r, packed, the lower triangle by
// blocks of 2×2 entries. A row of U is r vectors of eight lanes at the offset that at says. The
// vectors of an entry are reduced by the r terms in turn.
func less(v isa) {
	function("less"+v.suffix, "func(dst, from *float64, at *int64, m int, u *float64, r int)",
		"less"+v.suffix+" sets the packed tile dst of order m to G − UUᵀ for the packed matrix G at from and the rows",
		"u+at[i] bytes of U, which have r > 0 entries of eight lanes. If m is odd, it goes on",
		"to a row m that is as long, reads from and at there, and writes dst.")
	parts := v.parts(8)
	p, a := pointers("at", "u", "dst", "from"), GP64()
	at, u, d, g := p[0], p[1], p[2], p[3]
	XORQ(a, a)

	Label("rows")
	two := func(row reg.Register) [2]reg.GPVirtual { // addresses of a row of U and the next
		r := [2]reg.GPVirtual{GP64(), GP64()}
		for i, p := range r {
			MOVQ(Mem{Base: at, Index: row, Scale: 8, Disp: 8 * i}, p)
			ADDQ(u, p)
		}
		return r
	}
	left := two(a)
	// Row a+1 is a+1 entries behind row a.
	d1, g1, b := GP64(), GP64(), GP64()
	MOVQ(a, d1)
	SHLQ(U8(6), d1)
	LEAQ(Mem{Base: d, Index: d1, Scale: 1, Disp: 64}, d1)
	LEAQ(Mem{Base: g, Index: a, Scale: 8, Disp: 8}, g1)
	XORQ(b, b)

	Label("columns")
	right := two(b)
	var acc [2][2][]reg.VecVirtual
	for i, row := range []reg.Register{g, g1} {
		for j := range 2 {
			for range parts {
				acc[i][j] = append(acc[i][j], v.filled(Mem{Base: row, Index: b, Scale: 8, Disp: 8 * j}))
			}
		}
	}
	lessTerms(v, left, right, acc)

	off := GP64()
	MOVQ(b, off)
	SHLQ(U8(6), off)
	store := func(row reg.Register, i, j int) {
		for part := range parts {
			VMOVUPD(acc[i][j][part], Mem{Base: row, Index: off, Scale: 1, Disp: 64*j + part*v.bytes})
		}
	}
	store(d, 0, 0)
	store(d1, 1, 0)
	store(d1, 1, 1)
	CMPQ(b, a)
	JE(LabelRef("diagonal"))
	store(d, 0, 1)
	ADDQ(Imm(2), b)
	JMP(LabelRef("columns"))

	Label("diagonal")
	LEAQ(Mem{Base: d1, Index: off, Scale: 1, Disp: 128}, d)
	LEAQ(Mem{Base: g1, Index: a, Scale: 8, Disp: 16}, g)
	ADDQ(Imm(2), a)
	m := GP64()
	Load(Param("m"), m)
	CMPQ(a, m)
	JL(LabelRef("rows"))
	leave()
}

// lessTerms generates the loop that subtracts the products of two rows with two others from acc.
func lessTerms(v isa, left, right [2]reg.GPVirtual, acc [2][2][]reg.VecVirtual) {
	n, x := GP64(), GP64()
	Load(Param("r"), n)
	XORQ(x, x)
	Label("terms")
	for part := range v.parts(8) {
		var l, r [2]reg.VecVirtual
		for i := range 2 {
			l[i] = v.loaded(Mem{Base: left[i], Index: x, Scale: 1, Disp: part * v.bytes})
			r[i] = v.loaded(Mem{Base: right[i], Index: x, Scale: 1, Disp: part * v.bytes})
		}
		for i := range 2 {
			for j := range 2 {
				VFNMADD231PD(r[j], l[i], acc[i][j][part])
			}
		}
	}
	ADDQ(Imm(64), x)
	DECQ(n)
	JNZ(LabelRef("terms"))
}
