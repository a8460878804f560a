package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sweep generates the step of a tridiagonalisation for the first columns of two rows: the update,
// and the shares of the entries in the product.
func sweep() {
	function("sweepAVX2", "func(row0, row1 *float64, columns int, u, w, v, y *float64, r int, sums *float64)",
		"sweepAVX2 subtracts u_r w + w_r u from the first columns, a positive multiple of 4, of rows r and r+1,",
		"adds v_r times a row to y, and writes the four parts of the product of each row with v to sums.")
	p := pointers("row0", "row1", "columns", "u", "w", "v", "y", "r", "sums")
	rows, n, u, w, v, y, r, sums := p[:2], p[2], p[3], p[4], p[5], p[6], p[7], p[8]
	var ur, wr, vr, sum [2]reg.VecVirtual
	for i := range 2 {
		ur[i], wr[i], vr[i], sum[i] = YMM(), YMM(), YMM(), YMM()
		VBROADCASTSD(Mem{Base: u, Index: r, Scale: 8, Disp: 8 * i}, ur[i])
		VBROADCASTSD(Mem{Base: w, Index: r, Scale: 8, Disp: 8 * i}, wr[i])
		VBROADCASTSD(Mem{Base: v, Index: r, Scale: 8, Disp: 8 * i}, vr[i])
		VXORPD(sum[i], sum[i], sum[i])
	}
	j := GP64()
	XORQ(j, j)
	Label("loop")
	at := func(p reg.Register) Mem { return Mem{Base: p, Index: j, Scale: 8} }
	uj, wj, vj, yj := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(at(u), uj)
	VMOVUPD(at(w), wj)
	VMOVUPD(at(v), vj)
	VMOVUPD(at(y), yj)
	for i := range 2 {
		x := YMM()
		VMOVUPD(at(rows[i]), x)
		VFNMADD231PD(ur[i], wj, x)
		VFNMADD231PD(wr[i], uj, x)
		VMOVUPD(x, at(rows[i]))
		VFMADD231PD(x, vj, sum[i])
		VFMADD231PD(x, vr[i], yj)
	}
	VMOVUPD(yj, at(y))
	ADDQ(Imm(4), j)
	CMPQ(j, n)
	JL(LabelRef("loop"))
	for i := range 2 {
		VMOVUPD(sum[i], Mem{Base: sums, Disp: 32 * i})
	}
	leave()
}
