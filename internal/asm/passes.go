package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pass is the code of a pass over a positive multiple of eight variables. Each of eight lanes keeps
// its own best value and the first index that has it.
type pass struct {
	v                  isa
	k                  reg.GPVirtual // first of eight variables
	best, where, index []reg.VecVirtual
}

// lanes is the part of a pass for the lanes of one register.
type lanes struct {
	*pass
	g int
}

// part is what belongs to the lanes of eight numbers.
func (l lanes) part(m Mem) Mem { return m.Offset(l.v.bytes * l.g) }

// at is the lanes' part of the eight numbers at k.
func (l lanes) at(p reg.Register) Mem { return l.part(Mem{Base: p, Index: l.k, Scale: 8}) }

// keep takes values that a comparison calls better.
func (l lanes) keep(comparison uint64, value reg.VecVirtual) {
	better := l.v.vec()
	VCMPPD(Imm(comparison), l.best[l.g], value, better)
	VBLENDVPD(better, value, l.best[l.g], l.best[l.g])
	VBLENDVPD(better, l.index[l.g], l.where[l.g], l.where[l.g])
}

// load returns a part of eight numbers for all lanes.
func (p *pass) load(m Mem) []reg.VecVirtual {
	var x []reg.VecVirtual
	p.each(func(l lanes) { x = append(x, p.v.loaded(l.part(m))) })
	return x
}

// store writes eight numbers.
func (p *pass) store(x []reg.VecVirtual, m Mem) {
	p.each(func(l lanes) { VMOVUPD(x[l.g], l.part(m)) })
}

// each runs f for all lanes.
func (p *pass) each(f func(lanes)) {
	for g := range p.v.parts(8) {
		f(lanes{p, g})
	}
}

// run generates the loop over n variables. The best values and their indices are read from value
// and at before, and written there afterwards.
func (p *pass) run(n, value, at reg.Register, body func(lanes)) {
	p.k = GP64()
	XORQ(p.k, p.k)
	next := p.v.loaded(constant("eight"))
	p.best, p.where, p.index = p.load(Mem{Base: value}), p.load(Mem{Base: at}), p.load(constant("laneIndex"))
	Label("loop")
	p.each(body)
	p.each(func(l lanes) { VPADDQ(next, p.index[l.g], p.index[l.g]) })
	ADDQ(Imm(8), p.k)
	CMPQ(p.k, n)
	JL(LabelRef("loop"))
	p.store(p.best, Mem{Base: value})
	p.store(p.where, Mem{Base: at})
}

// Comparisons of VCMPPD.
const (
	lessThan    = 0x11
	greaterThan = 0x1e
)

func step(v isa) {
	function("stepEights", "func(f, a, b, up *float64, n int, t float64, low *float64, at *int64)",
		"stepEights adds t(a − b) to f and lowers low, eight numbers, to those of f + up that are less, with their index in at.")
	r, t := pointers("f", "a", "b", "up", "n", "low", "at"), v.filled(param("t"))
	f, a, b, up := r[0], r[1], r[2], r[3]
	(&pass{v: v}).run(r[4], r[5], r[6], func(l lanes) {
		x := v.vec()
		VMOVUPD(l.at(a), x)
		VSUBPD(l.at(b), x, x)
		VMULPD(t, x, x)
		VADDPD(l.at(f), x, x)
		VMOVUPD(x, l.at(f))
		VADDPD(l.at(up), x, x)
		l.keep(lessThan, x)
	})
	leave()
}

func partner(v isa) {
	function("partnerEights", "func(f, dn, a, diag *float64, n int, m, aii, least float64, gain *float64, at *int64, gap *float64)",
		"partnerEights raises gain, eight numbers, to those quotients of partner that are greater, with their index in at, and",
		"gap to the largest violations.")
	r := pointers("f", "dn", "a", "diag", "n", "gain", "at", "gap")
	f, dn, a, diag, gaps := r[0], r[1], r[2], r[3], Mem{Base: r[7]}
	m, aii, least, zero := v.filled(param("m")), v.filled(param("aii")), v.filled(param("least")), v.vec()
	p := &pass{v: v}
	VXORPD(zero, zero, zero)
	gap := p.load(gaps)
	p.run(r[4], r[5], r[6], func(l lanes) {
		d, h, x := v.vec(), v.vec(), v.vec()
		VMOVUPD(l.at(f), d)
		VSUBPD(l.at(dn), d, d)
		VSUBPD(m, d, d)
		VCMPPD(Imm(greaterThan), zero, d, x)
		VANDPD(x, d, d) // 0 if it is not positive, or NaN
		VMAXPD(d, gap[l.g], gap[l.g])
		VADDPD(l.at(diag), aii, h)
		VMOVUPD(l.at(a), x)
		VADDPD(x, x, x)
		VSUBPD(x, h, h)
		VMAXPD(h, least, h) // NaN stays
		VMULPD(d, d, d)
		VDIVPD(h, d, d)
		l.keep(greaterThan, d)
	})
	p.store(gap, gaps)
	leave()
}
