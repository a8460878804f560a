package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// even divides by a power of 4, so that the result is in [½, 2).
func (k *kernel) even(x *val) *val {
	return k.op2(VORPD, k.op2(VANDPD, x, k.c("evenMask")), k.c("evenBits"))
}

// split makes determinants m·4^h, ½ ≤ m < 2, NaN where a pivot is out of range. h is left in the
// place of an exponent, with a bias.
func (k *kernel) split(det, least, half []*val) (m, h []*val) {
	h = k.each(func(g int) *val {
		h := k.imm(VPSRLQ, 53, det[g])
		if half != nil {
			h = k.op2(VPADDQ, half[g], h)
		}
		return k.imm(VPSLLQ, 52, h)
	})
	zero := k.do(nil, false, false, func(d Op, _ []Op) { VXORPD(d, d, d) })
	m = k.each(func(g int) *val {
		// Subtracting the bits of 2^−128 leaves one of the first four bits set unless the least
		// pivot is in range. 0 − 0 is 0, but 0 − 1 to 0 − 15 are NaN.
		bad := k.imm(VPSRLQ, 60, k.op2(VPSUBQ, least[g], k.c("least")))
		return k.op2(VORPD, k.even(det[g]), k.op2(VPSUBQ, zero, bad))
	})
	return m, h
}

// value is value in the library, with k0 for r, up to its last operation, which last does.
func (k *kernel) value(m, k0 []*val, ae, ac *val, at func(reg.Register, int) Mem, e, c reg.Register) (ee, rho, poly []*val) {
	rho = k.each(func(g int) *val { return k.copy(k.c("one")) })
	for g := range rho {
		k.update3(VFNMADD231PD, rho[g], k.op2(VMULPD, k0[g], k0[g]), m[g])
	}
	rho = k.each(func(g int) *val {
		return k.op2(VADDPD, rho[g], k.op2(VADDPD, k.load(at(c, g)), ac))
	})
	ee = k.each(func(g int) *val {
		return k.op2(VMULPD, k.op2(VMULPD, k.load(at(e, g)), ae), k0[g])
	})
	poly = k.each(func(g int) *val { return k.copy(k.c("threeEighths")) })
	for g := range poly {
		k.do(poly[g], true, true, func(d Op, s []Op) { VFMADD213PD(s[1], s[0], d) }, rho[g], k.c("oneHalf"))
	}
	return ee, rho, poly
}

// last does the last operation, ee + (ee·ρ)·poly.
func (k *kernel) last(ee, rho, poly []*val) {
	r := k.each(func(g int) *val { return k.op2(VMULPD, rho[g], ee[g]) })
	for g := range ee {
		k.update3(VFMADD231PD, ee[g], poly[g], r[g])
	}
}

// atMost1 is min(1, x), or x if it is NaN: VMINPD then gives its second source.
func (k *kernel) atMost1(x *val) *val { return k.op2(VMINPD, k.c("one"), x) }

// seed computes 1/√m in single precision.
func (k *kernel) seed(m []*val) []*val {
	single := k.c("single")
	if k.v.bytes == 64 {
		low := func(r Op) reg.Register { return r.(reg.VecPhysical).AsY() }
		root := k.each(func(g int) *val {
			return k.do(nil, false, false, func(d Op, s []Op) {
				VCVTPD2PS(s[0], low(d))
				VSQRTPS(low(d), low(d))
			}, m[g])
		})
		return k.each(func(g int) *val {
			return k.do(nil, false, false, func(d Op, s []Op) {
				VDIVPS(low(s[0]), low(s[1]), low(d))
				VCVTPS2PD(low(d), d)
			}, root[g], single)
		})
	}
	// Two vectors of four make one of eight.
	low := func(r Op) reg.Register { return r.(reg.VecPhysical).AsX() }
	f := k.each(func(g int) *val {
		return k.do(nil, false, false, func(d Op, s []Op) { VCVTPD2PSY(s[0], low(d)) }, m[g])
	})
	y := k.do(nil, false, false, func(d Op, s []Op) {
		VINSERTF128(Imm(1), low(s[1]), s[0], d)
		VSQRTPS(d, d)
	}, f[0], f[1])
	y = k.op2(VDIVPS, single, y)
	return []*val{
		k.do(nil, false, false, func(d Op, s []Op) { VCVTPS2PD(low(s[0]), d) }, y),
		k.do(nil, false, false, func(d Op, s []Op) {
			VEXTRACTF128(Imm(1), s[0], low(d))
			VCVTPS2PD(low(d), d)
		}, y),
	}
}

// ratio turns determinants of larger matrices into kernel values; see ratio in the library.
func ratio() {
	TEXT("ratioAVX2", NOSPLIT, "func(dst, mant *float64, expo *int64, n int, e, c *float64, x *int64, ae, ac float64, ax int64, work *float64)")
	Pragma("noescape")
	Doc("ratioAVX2 is ratio for n a positive multiple of 8.")
	dst, mant, expo, e, c, x, n, work, i := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	for _, l := range []struct {
		name string
		r    reg.Register
	}{{"dst", dst}, {"mant", mant}, {"expo", expo}, {"n", n}, {"e", e}, {"c", c}, {"x", x}, {"work", work}} {
		Load(Param(l.name), l.r)
	}
	k := &kernel{straight: newStraight(avx2, work), vectors: 2}
	ae, ac, ax := k.broadcast("ae", nil), k.broadcast("ac", nil), k.broadcast("ax", nil)
	XORQ(i, i)
	at := func(b reg.Register, g int) Mem { return Mem{Base: b, Index: i, Scale: 8, Disp: 32 * g} }
	Label("loop")
	// With o the last bit of expo: m = mant·2^−o, h = (expo + o)/2.
	odd := k.each(func(g int) *val { return k.op2(VANDPD, k.load(at(expo, g)), k.c("oneBit")) })
	m := k.each(func(g int) *val { return k.op2(VPSUBQ, k.load(at(mant, g)), k.imm(VPSLLQ, 52, odd[g])) })
	// q = ax + x − h, plus 2²⁹ to be positive
	q := k.each(func(g int) *val {
		h := k.op2(VPADDQ, odd[g], k.constant(at(expo, g)))
		h = k.op2(VPADDQ, h, k.c("big"))
		h = k.imm(VPSRLQ, 1, h)
		q := k.op2(VPADDQ, k.load(at(x, g)), ax)
		q = k.op2(VPADDQ, q, k.c("big"))
		return k.op2(VPSUBQ, q, h)
	})
	ee, rho, poly := k.value(m, k.seed(m), ae, ac, at, e, c)
	k.last(ee, rho, poly)
	for g := range ee {
		// Times 2^q, in two steps of at least 2^−1000 each, so that only the second rounds.
		q1 := k.op2(VPMAXSD, q[g], k.c("floor"))
		q2 := k.op2(VPADDQ, k.op2(VPSUBQ, q[g], q1), k.c("half"))
		q2 = k.op2(VPMAXSD, q2, k.c("floor"))
		r := ee[g]
		for _, s := range []*val{q1, q2} {
			r = k.op2(VMULPD, r, k.imm(VPSLLQ, 52, k.op2(VPSUBQ, s, k.c("unbias"))))
		}
		k.store(at(dst, g), k.atMost1(r))
	}
	k.emit()
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// broadcast keeps an argument, or what it points to at offset i, in every place of a vector.
func (k *kernel) broadcast(name string, i reg.Register) *val {
	src := param(name)
	if i != nil {
		p := GP64()
		Load(Param(name), p)
		src = Mem{Base: p, Index: i, Scale: 1}
	}
	v, m := k.name(k.v.regs-1), k.slot()
	VBROADCASTSD(src, v)
	VMOVUPD(v, m)
	return k.constant(m)
}
