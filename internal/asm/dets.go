package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The factorisation S = U D⁻¹ Uᵀ of several matrices at once, one matrix to a lane:
//
//	u_rc = s_rc − Σ_{m<c} u_rm t_cm,   t_cm = u_cm / d_m,   d_c = u_cc.
//
// Each entry is reduced by the terms m = 0, 1, … in turn, and the pivots are multiplied in turn, so
// the bits do not depend on how the loops are blocked. Orders up to straightMost have straight-line
// code of their own, larger ones a loop over blocks.
const straightMost = 16

// addresses are those of a matrix a, of the first entry of a vector of matrices, of the work space,
// and of the results.
type addresses struct{ a, b, work, mant, expo reg.GPVirtual }

// dets generates the determinants of sums of matrices.
func dets(v isa) {
	function("dets"+v.suffix, "func(p int, mant *float64, expo *int64, a *float64, tiles int, b, work *float64)",
		"dets"+v.suffix+" computes the determinants mant·4^expo, ½ ≤ mant < 2, of the sums of a matrix a of order p and the",
		"matrices of a positive number of tiles from b on; or of these alone, if a is nil and p > 16. Entries are 64 bytes apart",
		"in both. mant is negative where a pivot is not in [2^-127, 2^127].")
	r := pointers("p", "tiles", "a", "b", "work", "mant", "expo")
	p, left, x := r[0], r[1], addresses{r[2], r[3], r[4], r[5], r[6]}
	// A vector is a tile, or a part of it. Tiles are a gap apart.
	gap := GP64()
	LEAQ(Mem{Base: p, Disp: 1}, gap)
	IMULQ(p, gap)
	SHLQ(Imm(5), gap)
	SUBQ(num(64), gap)
	parts := v.parts(8)
	IMUL3Q(num(parts), left, left)
	next := func(label string) {
		for _, r := range []reg.Register{x.b, x.mant, x.expo} {
			ADDQ(num(v.bytes), r)
		}
		DECQ(left)
		if parts > 1 {
			TESTQ(U32(parts-1), left)
			JNZ(LabelRef(label))
		}
		ADDQ(gap, x.b)
		TESTQ(left, left)
		JNZ(LabelRef(label))
		leave()
	}
	if v.spread {
		spread(v, p, x)
	}
	order := func(n int) string { return fmt.Sprint("order", n) }
	for n := 1; n <= straightMost; n++ {
		CMPQ(p, num(n))
		JE(LabelRef(order(n)))
	}
	// Large matrices need the registers for other things.
	rest := []reg.Register{left, x.a, x.b, x.mant, x.expo, gap}
	saved := []Mem{param("tiles"), param("a"), param("b"), param("mant"), param("expo"), AllocLocal(8)}
	TESTQ(x.a, x.a)
	JZ(LabelRef("alone"))
	for i, label := range []string{"sum", "alone"} {
		Label(label)
		for i, r := range rest {
			MOVQ(r, saved[i])
		}
		large(v, x, label, i == 0)
		for i, r := range rest {
			MOVQ(saved[i], r)
		}
		next(label)
	}
	for n := 1; n <= straightMost; n++ {
		Label(order(n))
		small(v, n, x)
		next(order(n))
	}
}

// spread repeats the numbers of a small matrix a over registers in the work space.
func spread(v isa, p reg.Register, x addresses) {
	left, from, to := GP64(), GP64(), GP64()
	CMPQ(p, num(straightMost+1))
	JGE(LabelRef("spreadEnd"))
	LEAQ(Mem{Base: p, Disp: 1}, left)
	IMULQ(p, left) // twice the number of entries
	MOVQ(x.a, from)
	LEAQ(Mem{Base: x.work, Disp: spreadAt}, to)
	Label("spread")
	VMOVUPD(v.filled(Mem{Base: from}), Mem{Base: to})
	ADDQ(num(64), from)
	ADDQ(num(v.bytes), to)
	SUBQ(num(2), left)
	JNZ(LabelRef("spread"))
	Label("spreadEnd")
}
