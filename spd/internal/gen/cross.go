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

// cross generates the code for all small orders as one function.
func cross(v isa) {
	constants()
	name := "cross" + v.suffix
	TEXT(name, NOSPLIT, "func(p int, dst *float64, stride int, mant *float64, expo *int64, rows int, a, ae, ac *float64, tiles int, b, be, bc, work *float64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s computes the kernel of matrices of order p ≤ %d, in neighbouring lanes from a on, with the matrices of", name, direct),
		"tiles from b on; or, if mant is not nil, the determinants mant·2^expo of the sums for one a, NaN where a pivot",
		"is outside [2^-128, 2^128). ae, ac, be, bc are of quarters; stride is the number of bytes of a row of dst.")
	r := registers{a: GP64(), b: GP64(), nextA: GP64(), nextB: GP64(), work: GP64(), e: GP64(), c: GP64(), ac: GP64(),
		dst: [3]reg.Register{GP64(), GP64(), GP64()}, even: GP64(), odd: GP64(), left: AllocLocal(8)}
	Load(Param("a"), r.a)
	Load(Param("b"), r.b)
	Load(Param("work"), r.work)
	Load(Param("dst"), r.dst[0])
	Load(Param("be"), r.e)
	Load(Param("bc"), r.c)
	Load(Param("ac"), r.ac)
	CMPQ(param("mant"), Imm(0))
	JE(LabelRef("kernel"))
	// Values that nobody wants are computed of the work space into the work space.
	for _, x := range []reg.Register{r.dst[0], r.e, r.c, r.ac} {
		MOVQ(r.work, x)
	}
	Label("kernel")
	MOVQ(r.dst[0], r.dst[1])
	MOVQ(r.dst[0], r.dst[2])
	p := GP64()
	Load(Param("tiles"), p)
	MOVQ(p, r.left)
	Load(Param("p"), p)
	for n := 1; n <= direct; n++ {
		CMPQ(p, num(n))
		JE(LabelRef(fmt.Sprint("order", n)))
	}
	for n := 1; n <= direct; n++ {
		Label(fmt.Sprint("order", n))
		order(v, n, r)
	}
}

// registers hold the addresses of the row's matrix and of the tile, and of those whose pivots are
// computed ahead; of the work space; of the tile's fourth roots and corrections, and of the correction of the row's
// matrix; where the values of this tile, the one before it, and the one before that go; and the
// offsets of what is kept in memory of this tile and of the one before it. left is the number
// of tiles left in the row.
type registers struct {
	a, b, nextA, nextB, work, e, c, ac reg.Register
	dst                                [3]reg.Register
	even, odd                          reg.Register
	left                               Mem
}

// plan says how the code of an order is laid out. The numbers were found by measuring.
type plan struct {
	resident  bool // what goes from one tile's round to the next stays in registers
	ahead     int  // columns whose pivots are computed a round ahead
	live      int  // registers for variables; the rest keep constants and entries of a
	early     bool // k is scaled by its power of 2 before the last operation
	folded    bool // the bias of that power is in the fourth root of a
	scheduled bool // the code is put in order
}

func planFor(v isa, p int) plan {
	l := plan{
		live: v.regs,
		// Scaling early cannot leave a subnormal number on the way: k is at least 2^−62p, and ρ at least
		// 2^−75 or 0.
		early: 62*p+75 < 1022,
		// Up to order 7 it has one bias, and the product of the fourth roots is at most 2^63p.
		folded:    p <= 7,
		scheduled: v.bytes == 64 || p > 4,
	}
	if v.bytes == 64 && p <= 7 {
		l.resident, l.ahead, l.live = true, max(0, min(p-2, 2)), 20
	}
	return l
}

// kernel is the code for one small order, from sums of matrices to kernel values: straight-line code
// for a tile, in a loop over tiles in a loop over rows.
type kernel struct {
	*straight
	plan
	p       int
	r       registers
	vectors int // of a tile
	consts  map[string]*val
	entry   []*val   // of a, that stay in registers
	firsts  []*first // computed ahead, for each vector
}

// order is the code for one order. Three tiles are under way in a round of the loop: the values of one,
// whose roots are ready by now; the roots of the next; and the factorisation of the last, whose first pivots
// may come from the round before. So the long chain from a matrix to its value is cut in parts that
// overlap, also from one row to the next. In the first two rounds there is nothing to take on, and what is
// computed from old numbers goes to the first tile, which is written again.
func order(v isa, p int, r registers) {
	label := func(s string) string { return fmt.Sprint(s, p) }
	k := &kernel{straight: newStraight(v, r.work), plan: planFor(v, p), p: p, r: r, vectors: 64 / v.bytes}
	for range k.vectors {
		k.slot() // to be written by who wants determinants only
	}
	s := k.newPassed()
	if k.ahead > 0 {
		k.firsts = k.newFirsts()
	}
	for _, name := range []string{"one", "oneHalf", "leastPivot", "sign", "threeEighths", "single", "pairShift"} {
		if c := k.c(name); k.reserve(c, k.live) {
			VMOVUPD(c.home, k.name(c.reg))
		}
	}
	for e := range p * (p + 1) / 2 {
		x := &val{home: Mem{Base: r.a, Disp: 64 * e}}
		if !k.reserve(x, k.live) {
			break
		}
		k.entry = append(k.entry, x)
	}
	ae := k.constant(k.slot())
	size := num(64 * p * (p + 1) / 2)

	var fs []*factor
	determinants := func() {
		k.branch(fs, func() {
			CMPQ(param("mant"), Imm(0))
			JNE(LabelRef(label("determinants")))
		})
	}
	inOrder := func(f func()) { // which takes few registers
		n := len(k.code)
		f()
		for i := range k.code[n:] {
			k.code[n+i].ordered = !k.resident
		}
	}
	inOrder(func() { fs = k.factors() })
	if k.ahead == 0 {
		determinants()
	}
	k.value(s)
	k.roots(s)
	inOrder(func() { k.pass(s, fs, ae) })
	if k.ahead > 0 {
		k.pivots(r.nextA, r.nextB)
		determinants()
		k.code[len(k.code)-1].last = true
	}
	if k.scheduled {
		k.schedule()
	}
	round := k.code
	k.code = nil

	tmp := GP64()
	if k.ahead > 0 {
		k.pivots(r.a, r.b)
		k.emit()
		MOVQ(r.a, r.nextA)
		MOVQ(r.b, r.nextB)
		ADDQ(size, r.nextB)
	}
	XORQ(r.even, r.even)
	MOVQ(U32(s.bytes), r.odd)
	Label(label("row"))
	Load(Param("ae"), tmp)
	TESTQ(tmp, tmp)
	JZ(LabelRef(label("tiles")))
	vec := k.name(v.regs - 1)
	VBROADCASTSD(Mem{Base: tmp}, vec)
	if k.folded {
		VPADDQ(consts["bias1"], vec, vec)
	}
	VMOVUPD(vec, ae.home)
	Label(label("tiles"))
	for _, x := range k.entry {
		VBROADCASTSD(x.home, k.name(x.reg))
	}
	Label(label("loop"))
	if k.ahead > 0 {
		CMPQ(r.left, Imm(1))
		JE(LabelRef(label("turn")))
		Label(label("tile"))
	}
	k.code = round
	k.emit()
	turn := func() {
		MOVQ(r.dst[1], r.dst[2])
		if !k.resident {
			XCHGQ(r.even, r.odd)
		}
	}
	turn()
	MOVQ(r.dst[0], r.dst[1])
	ADDQ(Imm(64), r.dst[0])
	ADDQ(Imm(64), r.e)
	ADDQ(Imm(64), r.c)
	next := func() {
		if k.ahead > 0 {
			MOVQ(r.nextB, r.b)
			ADDQ(size, r.nextB)
		} else {
			ADDQ(size, r.b)
		}
		DECQ(r.left)
		JNZ(LabelRef(label("loop")))
	}
	next()
	DECQ(param("rows"))
	JZ(LabelRef(label("end")))
	Load(Param("stride"), tmp)
	ADDQ(tmp, param("dst"))
	Load(Param("dst"), r.dst[0])
	Load(Param("b"), r.b)
	Load(Param("be"), r.e)
	Load(Param("bc"), r.c)
	Load(Param("tiles"), tmp)
	MOVQ(tmp, r.left)
	ADDQ(Imm(8), param("ae"))
	ADDQ(Imm(8), r.ac)
	ADDQ(Imm(8), r.a)
	JMP(LabelRef(label("row")))
	if k.ahead > 0 {
		// The last tile of a row is followed by the first of the next row, if there is one.
		Label(label("turn"))
		Load(Param("b"), r.nextB)
		CMPQ(param("rows"), Imm(1))
		JE(LabelRef(label("tile")))
		ADDQ(Imm(8), r.nextA)
		JMP(LabelRef(label("tile")))
	}
	Label(label("end"))
	k.value(s)
	k.roots(s)
	k.emit()
	turn()
	k.value(s)
	k.emit()
	if n := k.slots * v.bytes; n > crossWork {
		panic(fmt.Sprintf("order %d takes %d bytes of work space", p, n))
	}
	Label(label("done"))
	VZEROUPPER()
	RET()
	Label(label("determinants"))
	mant, expo := r.dst[1], r.dst[2] // which nobody wants
	Load(Param("mant"), mant)
	Load(Param("expo"), expo)
	at := func(b reg.Register) func(g int) Mem {
		return func(g int) Mem { return Mem{Base: b, Disp: v.bytes * g} }
	}
	k.stores(fs, at(mant), at(expo))
	MOVQ(r.work, r.dst[1])
	MOVQ(r.work, r.dst[2])
	ADDQ(Imm(64), param("mant"))
	ADDQ(Imm(64), param("expo"))
	next()
	JMP(LabelRef(label("done")))
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

// sources sets entry (r, c) of the given vectors to the sum of those of a and of the tile.
func (k *kernel) sources(fs []*factor, r, c int) {
	e := r*(r+1)/2 + c
	if e >= len(k.entry) && k.v.bytes == 64 {
		fs[0].u[r][c] = k.sum(k.r.a, k.r.b, r, c, 0)
		return
	}
	var x *val
	if e < len(k.entry) {
		x = k.entry[e]
	} else {
		x = k.do(nil, false, false, func(d Op, _ []Op) { VBROADCASTSD(Mem{Base: k.r.a, Disp: 64 * e}, d) })
	}
	for _, f := range fs {
		f.u[r][c] = k.op2(VADDPD, x, k.constant(Mem{Base: k.r.b, Disp: 64*e + k.v.bytes*f.g}))
	}
}

// sum is the sum of entries (r, c) of the matrix at a and vector g of the tile at b.
func (k *kernel) sum(a, b reg.Register, r, c, g int) *val {
	e := r*(r+1)/2 + c
	return k.plus(Mem{Base: a, Disp: 64 * e}, Mem{Base: b, Disp: 64*e + k.v.bytes*g})
}

// plus adds a number to a vector in memory.
func (k *kernel) plus(number, vector Mem) *val {
	return k.do(nil, false, false, func(d Op, _ []Op) {
		if k.v.bytes == 64 {
			VMOVUPD(vector, d)
			VADDPD_BCST(number, d, d)
		} else {
			VBROADCASTSD(number, d)
			VADDPD(vector, d, d)
		}
	})
}
