package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sweep generates the step of a tridiagonalisation for the first columns of two rows: the update,
// and the shares of the entries in the product.
func sweep(v isa) {
	function("sweepRows", "func(row0, row1 *float64, columns int, u, w, v, y *float64, r int, sums *float64)",
		"sweepRows subtracts u_r w + w_r u from the first columns, a positive multiple of 4, of rows r and r+1,",
		"adds v_r times a row to y, and writes the four parts of the product of each row with v to sums.")
	p := pointers("row0", "row1", "columns", "u", "w", "v", "y", "r", "sums")
	rows, n, vectors, y, r, sums := p[:2], p[2], p[3:6], p[6], p[7], p[8]
	var of [3][2]reg.VecVirtual // u_r, w_r and v_r
	sum := newBlock(v, 2, 4)
	for i := range 2 {
		for k, x := range vectors {
			of[k][i] = v.filled(Mem{Base: x, Index: r, Scale: 8, Disp: 8 * i})
		}
	}
	sum.each(func(_, _ int, s reg.VecVirtual) { VXORPD(s, s, s) })
	j := GP64()
	XORQ(j, j)
	Label("loop")
	for part := range sum[0] {
		at := func(p reg.Register) Mem { return Mem{Base: p, Index: j, Scale: 8, Disp: part * v.bytes} }
		load := func(p reg.Register) reg.VecVirtual { return v.loaded(at(p)) }
		uj, wj, vj, yj := load(vectors[0]), load(vectors[1]), load(vectors[2]), load(y)
		for i := range 2 {
			x := load(rows[i])
			VFNMADD231PD(of[0][i], wj, x)
			VFNMADD231PD(of[1][i], uj, x)
			VMOVUPD(x, at(rows[i]))
			VFMADD231PD(x, vj, sum[i][part])
			VFMADD231PD(x, of[2][i], yj)
		}
		VMOVUPD(yj, at(y))
	}
	ADDQ(Imm(4), j)
	CMPQ(j, n)
	JL(LabelRef("loop"))
	sum.each(func(i, part int, s reg.VecVirtual) { VMOVUPD(s, Mem{Base: sums, Disp: 32*i + part*v.bytes}) })
	leave()
}
