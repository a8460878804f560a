package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pass is the code of a pass over a positive multiple of eight variables, four at a time. Each of
// eight lanes keeps its own best value and the first index that has it.
type pass struct {
	k                  reg.GPVirtual // first of eight variables
	best, where, index [2]reg.VecVirtual
}

// lane is the part of a pass for four lanes, the lower or the upper ones.
type lane struct {
	*pass
	g int
}

// half is the part of a vector of eight numbers that belongs to the lane.
func (l lane) half(m Mem) Mem { m.Disp += 32 * l.g; return m }

// at is the lane's part of the eight numbers at k.
func (l lane) at(p reg.Register) Mem { return l.half(Mem{Base: p, Index: l.k, Scale: 8}) }

// keep takes values that a comparison calls better.
func (l lane) keep(comparison uint64, value reg.VecVirtual) {
	better := YMM()
	VCMPPD(Imm(comparison), l.best[l.g], value, better)
	VBLENDVPD(better, value, l.best[l.g], l.best[l.g])
	VBLENDVPD(better, l.index[l.g], l.where[l.g], l.where[l.g])
}

// run generates the loop over n variables. The best values and their indices are read from value
// and at before, and written there afterwards.
func (p *pass) run(n, value, at reg.Register, body func(lane)) {
	next := YMM()
	p.k = GP64()
	XORQ(p.k, p.k)
	VMOVUPD(constant("eight"), next)
	both(p, func(l lane) {
		p.best[l.g], p.where[l.g], p.index[l.g] = YMM(), YMM(), YMM()
		VMOVUPD(l.half(Mem{Base: value}), p.best[l.g])
		VMOVUPD(l.half(Mem{Base: at}), p.where[l.g])
		VMOVUPD(l.half(constant("laneIndex")), p.index[l.g])
	})
	Label("loop")
	both(p, body)
	both(p, func(l lane) { VPADDQ(next, p.index[l.g], p.index[l.g]) })
	ADDQ(Imm(8), p.k)
	CMPQ(p.k, n)
	JL(LabelRef("loop"))
	both(p, func(l lane) {
		VMOVUPD(p.best[l.g], l.half(Mem{Base: value}))
		VMOVUPD(p.where[l.g], l.half(Mem{Base: at}))
	})
}

func both(p *pass, f func(lane)) {
	f(lane{p, 0})
	f(lane{p, 1})
}

func step() {
	function("stepAVX2", "func(f, a, b, up *float64, n int, t float64, low *float64, at *int64)",
		"stepAVX2 adds t(a − b) to f and lowers low, eight numbers, to those of f + up that are less, with their index in at.")
	r, t := pointers("f", "a", "b", "up", "n", "low", "at"), broadcast("t")
	f, a, b, up := r[0], r[1], r[2], r[3]
	new(pass).run(r[4], r[5], r[6], func(l lane) {
		x := YMM()
		VMOVUPD(l.at(a), x)
		VSUBPD(l.at(b), x, x)
		VMULPD(t, x, x)
		VADDPD(l.at(f), x, x)
		VMOVUPD(x, l.at(f))
		VADDPD(l.at(up), x, x)
		l.keep(0x11, x) // less than
	})
	leave()
}

func partner() {
	function("partnerAVX2", "func(f, dn, a, diag *float64, n int, m, aii, least float64, gain *float64, at *int64, gap *float64)",
		"partnerAVX2 raises gain, eight numbers, to those quotients of partner that are greater, with their index in at, and",
		"gap to the largest violations.")
	r := pointers("f", "dn", "a", "diag", "n", "gain", "at", "gap")
	f, dn, a, diag, gaps := r[0], r[1], r[2], r[3], Mem{Base: r[7]}
	m, aii, least, zero := broadcast("m"), broadcast("aii"), broadcast("least"), YMM()
	gap, p := [2]reg.VecVirtual{YMM(), YMM()}, new(pass)
	VXORPD(zero, zero, zero)
	both(p, func(l lane) { VMOVUPD(l.half(gaps), gap[l.g]) })
	p.run(r[4], r[5], r[6], func(l lane) {
		d, h, x := YMM(), YMM(), YMM()
		VMOVUPD(l.at(f), d)
		VSUBPD(l.at(dn), d, d)
		VSUBPD(m, d, d)
		VMAXPD(zero, d, d) // 0 if it is NaN: the second source, which is first here
		VMAXPD(d, gap[l.g], gap[l.g])
		VADDPD(l.at(diag), aii, h)
		VMOVUPD(l.at(a), x)
		VADDPD(x, x, x)
		VSUBPD(x, h, h)
		VMAXPD(h, least, h) // NaN stays
		VMULPD(d, d, d)
		VDIVPD(h, d, d)
		l.keep(0x1e, d) // greater than
	})
	both(p, func(l lane) { VMOVUPD(gap[l.g], l.half(gaps)) })
	leave()
}

// broadcast loads a number into every lane.
func broadcast(name string) reg.VecVirtual {
	x := YMM()
	VBROADCASTSD(param(name), x)
	return x
}
