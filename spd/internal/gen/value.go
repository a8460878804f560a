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

// exponent is h of a determinant m·4^h, ½ ≤ m < 2, in the place of an exponent, with a bias.
func (k *kernel) exponent(f *factor) *val {
	h := k.imm(VPSRLQ, 53, f.det)
	if f.half != nil {
		h = k.op2(VPADDQ, h, f.half)
	}
	return k.imm(VPSLLQ, 52, h)
}

// mantissa is m of a determinant m·4^h, ½ ≤ m < 2, or NaN if a pivot is less than 2^−128.
func (k *kernel) mantissa(f *factor) *val {
	if k.v.bytes == 32 {
		bad := k.do(nil, false, true, func(d Op, s []Op) {
			VCMPPD(Imm(0x19), s[1], s[0], d) // all ones unless greater or equal
		}, f.least, k.c("leastPivot"))
		return k.op2(VORPD, k.even(f.det), bad)
	}
	// Here a comparison would use a pipe of the multiplications. VGETMANTPD does what even does, and makes
	// a NaN of a negative number.
	x := k.op2(VSUBPD, f.least, k.c("leastPivot"))
	k.do(x, true, true, func(d Op, s []Op) { VPTERNLOGQ(Imm(0xea), s[1], s[0], d) }, k.c("sign"), f.det)
	return k.imm(VGETMANTPD, 0b1001, x)
}

// series is y/√m for a root ≈ 1/√m, with corrections cc.
func (k *kernel) series(m, y, root, cc []*val) []*val {
	one, half := k.c("one"), k.c("oneHalf")
	rho := k.each(func(g int) *val {
		x := k.mul(root[g], root[g])
		k.do(x, true, true, func(d Op, s []Op) { VFNMADD132PD(s[1], s[0], d) }, one, m[g])
		return k.op2(VADDPD, x, cc[g])
	})
	y = k.each(func(g int) *val { return k.mul(root[g], y[g]) })
	t := k.each(func(g int) *val { return k.mul(rho[g], y[g]) })
	for g := range y {
		k.do(rho[g], true, true, func(d Op, s []Op) { VFMADD132PD(s[1], s[0], d) }, half, k.c("threeEighths"))
		k.update3(VFMADD231PD, y[g], rho[g], t[g])
	}
	return y
}

// atMost1 is min(1, x), or x if it is NaN: VMINPD then gives its second source.
func (k *kernel) atMost1(x *val) *val { return k.op2(VMINPD, k.c("one"), x) }

// root computes √m in single precision, as one vector of eight.
func (k *kernel) root(m []*val) *val {
	if k.v.bytes == 64 {
		return k.slow(20, k.do(nil, false, false, func(d Op, s []Op) {
			VCVTPD2PS(s[0], half(d))
			VSQRTPS(half(d), half(d))
		}, m[0]))
	}
	f := k.each(func(g int) *val {
		return k.do(nil, false, false, func(d Op, s []Op) { VCVTPD2PSY(s[0], half(d)) }, m[g])
	})
	return k.slow(20, k.do(nil, false, false, func(d Op, s []Op) {
		VINSERTF128(Imm(1), half(s[1]), s[0], d)
		VSQRTPS(d, d)
	}, f[0], f[1]))
}

// inverse computes 1/x in single precision.
func (k *kernel) inverse(x *val) *val {
	return k.slow(11, k.do(nil, false, false, func(d Op, s []Op) {
		if k.v.bytes == 64 {
			d, s[0], s[1] = half(d), half(s[0]), half(s[1])
		}
		VDIVPS(s[0], s[1], d)
	}, x, k.c("single")))
}

// double converts eight numbers to double precision.
func (k *kernel) double(x *val) *val {
	return k.do(nil, false, false, func(d Op, s []Op) { VCVTPS2PD(half(s[0]), d) }, x)
}

// storeSingle stores eight numbers in single precision.
func (k *kernel) storeSingle(m Mem, x *val) {
	k.store(m, x)
	if k.v.bytes == 64 {
		k.code[len(k.code)-1].emit = func(_ Op, s []Op) { VMOVUPS(half(s[0]), m) }
	}
}

// loadSingle loads vector g of them in double precision.
func (k *kernel) loadSingle(m Mem, g int) *val {
	x := k.do(nil, false, false, func(d Op, _ []Op) {
		VCVTPS2PD(Mem{Base: m.Base, Disp: m.Disp + k.v.bytes/2*g}, d)
	})
	k.code[len(k.code)-1].from = m.Asm()
	return x
}

// half is the lower half of a register.
func half(r Op) Op {
	if x := r.(reg.VecPhysical); x.Size() == 64 {
		return x.AsY()
	} else {
		return x.AsX()
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
	ae, ac, ax := k.broadcast("ae"), k.broadcast("ac"), k.broadcast("ax")
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
	y := k.inverse(k.root(m))
	seed := []*val{k.double(y), k.double(k.do(nil, false, false, func(d Op, s []Op) { VEXTRACTF128(Imm(1), s[0], half(d)) }, y))}
	cc := k.each(func(g int) *val { return k.op2(VADDPD, k.load(at(c, g)), ac) })
	ks := k.series(m, k.each(func(g int) *val { return k.mul(k.load(at(e, g)), ae) }), seed, cc)
	for g := range ks {
		// Times 2^q, in two steps of at least 2^−1000 each, so that only the second rounds.
		q1 := k.op2(VPMAXSD, q[g], k.c("floor"))
		q2 := k.op2(VPADDQ, k.op2(VPSUBQ, q[g], q1), k.c("half"))
		q2 = k.op2(VPMAXSD, q2, k.c("floor"))
		r := ks[g]
		for _, s := range []*val{q1, q2} {
			r = k.mul(r, k.imm(VPSLLQ, 52, k.op2(VPSUBQ, s, k.c("unbias"))))
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

// broadcast keeps an argument in every place of a vector.
func (k *kernel) broadcast(name string) *val {
	v, m := k.name(k.v.regs-1), k.slot()
	VBROADCASTSD(param(name), v)
	VMOVUPD(v, m)
	return k.constant(m)
}
