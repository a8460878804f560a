package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// direct is the greatest order that has code of its own; the library knows it by the same name.
const direct = 16

// crossWork is the number of bytes of work space that the library gives to this code.
const crossWork = 6144

// kernel is the code for one small order, from sums of matrices to kernel values: straight-line code
// for a tile, in a loop over tiles in a loop over rows.
type kernel struct {
	*straight
	p       int
	a, b    reg.Register
	vectors int // of a tile
	consts  map[string]*val
	entry   []*val // of a, that stay in registers
}

// cross generates the code for all small orders as one function.
func cross(v isa) {
	constants()
	name := "cross" + v.suffix
	TEXT(name, NOSPLIT, "func(p int, dst *float64, stride int, mant *float64, expo *int64, rows int, a, ae, ac *float64, tiles int, b, be, bc, work *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s computes the kernel of matrices of order p ≤ %d, in neighbouring lanes from a on, with the matrices of", name, direct),
		"tiles from b on; or, if dst is nil, the determinants mant·2^expo of the sums for one a, NaN where a pivot",
		"is outside [2^-128, 2^128). ae, ac, be, bc are of quarters; stride is the number of bytes of a row of dst.")
	r := registers{b: GP64(), a: GP64(), tiles: GP64(), work: GP64(), dst: GP64(), e: GP64(), c: GP64(), i: GP64(), prev: GP64(), last: GP64(), row: GP64()}
	for _, l := range []struct {
		name string
		r    reg.Register
	}{{"a", r.a}, {"work", r.work}, {"dst", r.dst}, {"be", r.e}, {"bc", r.c}, {"p", r.i}} {
		Load(Param(l.name), l.r)
	}
	XORQ(r.row, r.row)
	for p := 1; p <= direct; p++ {
		CMPQ(r.i, num(p))
		JE(LabelRef(fmt.Sprint("order", p)))
	}
	for p := 1; p <= direct; p++ {
		Label(fmt.Sprint("order", p))
		order(v, p, r)
	}
}

// registers hold the arguments; the byte offset i of the tile in be, bc and dst, that of the tile
// before, and that of the tile whose values are computed; and eight times the row.
type registers struct{ a, b, tiles, work, dst, e, c, i, prev, last, row reg.Register }

// live is the number of registers for the variables of an order. The rest keep constants and entries of
// a. The numbers were found by measuring.
func live(v isa, p int) int {
	if v.bytes == 64 {
		return min(6+p*p/4+p, 32)
	}
	return 15
}

// order is the code for one order.
func order(v isa, p int, r registers) {
	label := func(s string) string { return fmt.Sprint(s, p) }
	k := &kernel{straight: newStraight(v, r.work), p: p, a: r.a, b: r.b, vectors: 64 / v.bytes}
	at := func(b reg.Register, g int) Mem {
		return Mem{Base: b, Index: r.last, Scale: 1, Disp: v.bytes * g}
	}
	spare := live(v, p)
	for _, name := range []string{"one", "least", "evenMask", "evenBits", "threeEighths", "oneHalf", "single", "pairShift"} {
		if c := k.c(name); k.reserve(c, spare) {
			VMOVUPD(c.home, k.name(c.reg))
		}
	}
	for e := range p * (p + 1) / 2 {
		x := &val{home: Mem{Base: r.a, Disp: 64 * e}}
		if !k.reserve(x, spare) {
			break
		}
		k.entry = append(k.entry, x)
	}
	fs := k.factors()
	bias := k.c(fmt.Sprint("bias", fs[0].splits+1))
	TESTQ(r.dst, r.dst)
	JZ(LabelRef(label("tiles")))
	Label(label("row"))
	ae, ac := k.broadcast("ae", r.row), k.broadcast("ac", r.row)
	Label(label("tiles"))
	for _, x := range k.entry {
		VBROADCASTSD(x.home, k.name(x.reg))
	}
	Load(Param("b"), r.b)
	Load(Param("tiles"), r.tiles)
	XORQ(r.i, r.i)
	XORQ(r.prev, r.prev)
	XORQ(r.last, r.last)
	Label(label("loop"))
	k.branch(fs, func() {
		TESTQ(r.dst, r.dst)
		JZ(LabelRef(label("determinants")))
	})
	// Three tiles are under way: the values of one, whose roots are ready by now; the roots of the
	// next; and the factorisation of the last. In the first two rounds there is nothing to take on,
	// and what is computed from old numbers goes to the row's first tile, which is written again.
	// Shorter chains of operations in a round are worth the way of these numbers through memory.
	type place []Mem
	slots := func() place {
		m := make(place, k.vectors)
		for g := range m {
			m[g] = k.slot()
		}
		return m
	}
	put := func(m place, x []*val) {
		for g := range x {
			k.store(m[g], x[g])
		}
	}
	get := func(m place) []*val { return k.each(func(g int) *val { return k.load(m[g]) }) }
	atDet, atLeast, atHalf, atM, atH, atRoot := slots(), slots(), slots(), slots(), slots(), slots()
	values := func() {
		m, h, k0 := get(atM), get(atH), get(atRoot)
		ee, rho, poly := k.value(m, k0, ae, ac, at, r.e, r.c)
		// The exponent −h comes before the last operation if that cannot leave a subnormal number
		// on the way: k is at least 2^−62p, and ρ at least 2^−75 or 0.
		early := 62*p+75 < 1022
		if early {
			ee = k.each(func(g int) *val { return k.op2(VPADDQ, k.op2(VPSUBQ, ee[g], h[g]), bias) })
		}
		k.last(ee, rho, poly)
		for g := range ee {
			if !early {
				power := k.op2(VPADDQ, k.op2(VPSUBQ, k.copy(k.c("one")), h[g]), bias)
				ee[g] = k.op2(VMULPD, ee[g], power)
			}
			k.store(at(r.dst, g), k.atMost1(ee[g]))
		}
	}
	roots := func() {
		var half []*val
		if fs[0].half != nil {
			half = get(atHalf)
		}
		m, h := k.split(get(atDet), get(atLeast), half)
		put(atM, m)
		put(atH, h)
		put(atRoot, k.seed(m))
	}
	values()
	roots()
	put(atDet, k.each(func(g int) *val { return fs[g].det }))
	put(atLeast, k.each(func(g int) *val { return fs[g].least }))
	if fs[0].half != nil {
		put(atHalf, k.each(func(g int) *val { return fs[g].half }))
	}
	k.emit()
	MOVQ(r.prev, r.last)
	MOVQ(r.i, r.prev)
	Label(label("next"))
	ADDQ(Imm(64), r.i)
	ADDQ(num(64*p*(p+1)/2), r.b)
	DECQ(r.tiles)
	JNZ(LabelRef(label("loop")))
	TESTQ(r.dst, r.dst)
	JZ(LabelRef(label("end")))
	values()
	roots()
	k.emit()
	MOVQ(r.prev, r.last)
	values()
	k.emit()
	if n := k.slots * v.bytes; n > crossWork {
		panic(fmt.Sprintf("order %d takes %d bytes of work space", p, n))
	}
	ADDQ(param("stride"), r.dst)
	ADDQ(Imm(8), r.a)
	ADDQ(Imm(8), r.row)
	DECQ(param("rows"))
	JNZ(LabelRef(label("row")))
	Label(label("end"))
	VZEROUPPER()
	RET()
	Label(label("determinants"))
	Load(Param("mant"), r.e)
	Load(Param("expo"), r.c)
	MOVQ(r.i, r.last)
	k.stores(fs, func(g int) Mem { return at(r.e, g) }, func(g int) Mem { return at(r.c, g) })
	JMP(LabelRef(label("next")))
}

// c is a constant.
func (k *kernel) c(name string) *val {
	if k.consts == nil {
		k.consts = map[string]*val{}
	}
	if k.consts[name] == nil {
		k.consts[name] = k.constant(consts[name])
	}
	return k.consts[name]
}

// each runs f for every vector.
func (k *kernel) each(f func(g int) *val) []*val {
	r := make([]*val, k.vectors)
	for g := range r {
		r[g] = f(g)
	}
	return r
}

// source is the sum of entry (r, c) of a and of the tile.
func (k *kernel) source(r, c, g int) *val {
	e := r*(r+1)/2 + c
	am, bm := Mem{Base: k.a, Disp: 64 * e}, Mem{Base: k.b, Disp: 64*e + k.v.bytes*g}
	if e < len(k.entry) {
		return k.op2(VADDPD, k.entry[e], k.constant(bm))
	}
	return k.do(nil, false, false, func(d Op, _ []Op) {
		if k.v.bytes == 64 {
			VMOVUPD(bm, d)
			VADDPD_BCST(am, d, d)
		} else {
			VBROADCASTSD(am, d)
			VADDPD(bm, d, d)
		}
	})
}
