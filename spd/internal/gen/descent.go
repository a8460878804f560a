package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// descent generates the passes of Step and Partner over a positive multiple of eight variables. Each of eight
// lanes keeps its own best value and the first index that has it.
func descent() {
	lanes := GLOBL("laneIndex", 8|16) // RODATA|NOPTR
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	eight := vectors("eight", U64(8))

	// both runs f for the lower and the upper four lanes.
	both := func(f func(g int)) {
		for g := range 2 {
			f(g)
		}
	}
	pair := func() (v [2]reg.VecVirtual) {
		both(func(g int) { v[g] = YMM() })
		return v
	}
	half := func(m Mem, g int) Mem { m.Disp += 32 * g; return m }
	broadcast := func(name string) reg.VecVirtual {
		x := YMM()
		VBROADCASTSD(param(name), x)
		return x
	}
	pointer := func(name string) reg.GPVirtual {
		p := GP64()
		Load(Param(name), p)
		return p
	}

	TEXT("stepAVX2", NOSPLIT, "func(f, a, b, up *float64, n int, t float64, low *float64, at *int64)")
	Pragma("noescape")
	Doc("stepAVX2 adds t(a − b) to f and lowers low, eight numbers, to those of f + up that are less, with their index in at.")
	f, a, b, up, n := pointer("f"), pointer("a"), pointer("b"), pointer("up"), pointer("n")
	low, at, t := pointer("low"), pointer("at"), broadcast("t")
	k, best, where, index, next := GP64(), pair(), pair(), pair(), YMM()
	in := func(p reg.Register, g int) Mem { return Mem{Base: p, Index: k, Scale: 8, Disp: 32 * g} }
	begin := func(value, at reg.Register) {
		XORQ(k, k)
		VMOVUPD(eight, next)
		both(func(g int) {
			VMOVUPD(half(Mem{Base: value}, g), best[g])
			VMOVUPD(half(Mem{Base: at}, g), where[g])
			VMOVUPD(half(lanes, g), index[g])
		})
	}
	loop := func(name string) {
		both(func(g int) { VPADDQ(next, index[g], index[g]) })
		ADDQ(Imm(8), k)
		CMPQ(k, n)
		JL(LabelRef(name))
	}
	end := func(value, at reg.Register) {
		both(func(g int) {
			VMOVUPD(best[g], half(Mem{Base: value}, g))
			VMOVUPD(where[g], half(Mem{Base: at}, g))
		})
	}
	begin(low, at)
	Label("step")
	both(func(g int) {
		x, better := YMM(), YMM()
		VMOVUPD(in(a, g), x)
		VSUBPD(in(b, g), x, x)
		VMULPD(t, x, x)
		VADDPD(in(f, g), x, x)
		VMOVUPD(x, in(f, g))
		VADDPD(in(up, g), x, x)
		VCMPPD(Imm(0x11), best[g], x, better) // less than
		VBLENDVPD(better, x, best[g], best[g])
		VBLENDVPD(better, index[g], where[g], where[g])
	})
	loop("step")
	end(low, at)
	VZEROUPPER()
	RET()

	TEXT("partnerAVX2", NOSPLIT, "func(f, dn, a, diag *float64, n int, m, aii, least float64, gain *float64, at *int64, gap *float64)")
	Pragma("noescape")
	Doc("partnerAVX2 raises gain, eight numbers, to those quotients of Partner that are greater, with their index in at, and",
		"gap to the largest violations.")
	f, a, n = pointer("f"), pointer("a"), pointer("n")
	dn, diag, gain, gaps := pointer("dn"), pointer("diag"), pointer("gain"), pointer("gap")
	at = pointer("at")
	m, aii, least, zero := broadcast("m"), broadcast("aii"), broadcast("least"), YMM()
	k, best, where, index, next = GP64(), pair(), pair(), pair(), YMM()
	gap := pair()
	begin(gain, at)
	VXORPD(zero, zero, zero)
	both(func(g int) { VMOVUPD(half(Mem{Base: gaps}, g), gap[g]) })
	Label("partner")
	both(func(g int) {
		d, h, x, better := YMM(), YMM(), YMM(), YMM()
		VMOVUPD(in(f, g), d)
		VSUBPD(in(dn, g), d, d)
		VSUBPD(m, d, d)
		VMAXPD(zero, d, d) // 0 if it is NaN: the second source, which is first here
		VMAXPD(d, gap[g], gap[g])
		VADDPD(in(diag, g), aii, h)
		VMOVUPD(in(a, g), x)
		VADDPD(x, x, x)
		VSUBPD(x, h, h)
		VMAXPD(h, least, h) // NaN stays
		VMULPD(d, d, d)
		VDIVPD(h, d, d)
		VCMPPD(Imm(0x1e), best[g], d, better) // greater than
		VBLENDVPD(better, d, best[g], best[g])
		VBLENDVPD(better, index[g], where[g], where[g])
	})
	loop("partner")
	end(gain, at)
	both(func(g int) { VMOVUPD(gap[g], half(Mem{Base: gaps}, g)) })
	VZEROUPPER()
	RET()
}
