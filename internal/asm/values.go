package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// values generates the last step from determinants to kernel values; see value and values in the
// library.
func values(v isa) {
	function("values"+v.suffix, "func(dst, mant *float64, expo *int64, n int, ae, ac float64, ax int64, e, c *float64, x *int64)",
		"values"+v.suffix+" is values for n determinants, a positive multiple of 8.")
	r, i := pointers("dst", "mant", "expo", "n", "e", "c", "x"), GP64()
	at := func(k int) Mem { return Mem{Base: r[k], Index: i, Scale: 8} }
	dst, mant, expo, n, e, c, x := at(0), at(1), at(2), r[3], at(4), at(5), at(6)
	ae, ac, ax, unit := v.filled(param("ae")), v.filled(param("ac")), v.filled(param("ax")), v.loaded(constant("one"))
	half, threeEighths := v.loaded(constant("half")), v.loaded(constant("threeEighths"))
	single := v.half()
	VMOVUPS(constant("twoSingles"), single)
	XORQ(i, i)

	Label("loop")
	m, k, root, rho, y, narrow := v.vec(), v.vec(), v.vec(), v.vec(), v.vec(), v.half()
	VMOVUPD(mant, m)
	v.single(m, narrow)
	VSQRTPS(narrow, narrow)
	VDIVPS(narrow, single, narrow)
	VCVTPS2PD(narrow, root)
	VMULPD(root, root, y)
	VMOVAPD(unit, rho)
	VFNMADD231PD(y, m, rho)
	VADDPD(c, ac, y)
	VADDPD(y, rho, rho)
	VMULPD(e, ae, k)
	VMULPD(root, k, k)
	VMULPD(rho, k, y)
	q := v.vec()
	VMOVAPD(half, q)
	VFMADD231PD(rho, threeEighths, q)
	VFMADD231PD(q, y, k)
	VPADDQ(x, ax, q)
	VPSUBQ(expo, q, q)
	v.power(k, q)
	VMINPD(k, unit, k) // k if it is NaN
	VMOVUPD(k, dst)
	ADDQ(num(v.bytes/8), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	leave()
}

// power multiplies k by 2^q.
func (v isa) power(k, q reg.VecVirtual) {
	if v.bytes == 64 {
		VCVTQQ2PD(q, q)
		VSCALEFPD(q, k, k)
		return
	}
	// Half of it at a time, so that only the second time rounds.
	first := v.vec()
	VPADDQ(constant("twoBiases"), q, q)
	VPMAXSD(constant("leastExponent"), q, q)
	VPSRLQ(Imm(1), q, first)
	VPSUBQ(first, q, q)
	for _, s := range []reg.VecVirtual{first, q} {
		VPSLLQ(Imm(52), s, s)
		VMULPD(s, k, k)
	}
}
