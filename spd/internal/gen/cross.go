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

// kernel is the code from sums of matrices of one small order to kernel values. It works on
// several vectors of matrices at once, and does each operation for all of them in turn, so that
// the divisions of one overlap the work on the others.
type kernel struct {
	*straight
	p       int
	a, b    reg.Register
	vectors int // of a tile
	consts  map[string]*val
	entry   []*val // of a, that stay in registers
}

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

// registers hold the arguments, the byte offset i of the tile in be, bc and dst, that of the tile before, and eight times the row.
type registers struct{ a, b, tiles, work, dst, e, c, i, prev, last, row reg.Register }

// live is the number of registers for the variables of an order.
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
	// next; and the determinants of the last.
	type vectors []Mem
	slots := func() vectors {
		m := make(vectors, k.vectors)
		for g := range m {
			m[g] = k.slot()
		}
		return m
	}
	put := func(m vectors, x []*val) {
		for g := range x {
			k.store(m[g], x[g])
		}
	}
	get := func(m vectors) []*val { return k.each(func(g int) *val { return k.load(m[g]) }) }
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

// factor is the factorisation of one vector of matrices.
type factor struct {
	*kernel
	g      int               // which of the tile
	u      [][]*val          // the matrix
	inv    []*val            // inverse pivots
	four   []*val            // up to four factors of the determinant
	det    *val              // product of those before, over a power of 4
	pivots int               // in det and four
	total  int               // with those of the power of 4
	half   *val              // half the exponent of that power of 4, or nil
	splits int               // how often it grew; each adds a bias of 511
	least  *val              // the least pivot
	regs   []reg.VecPhysical // where branch leaves det, least and half
}

// factors generates the factorisation of a tile. One vector after the other goes a column further, to
// fill the time of its divisions.
func (k *kernel) factors() []*factor {
	fs := make([]*factor, k.vectors)
	for g := range fs {
		fs[g] = &factor{kernel: k, g: g, u: make([][]*val, k.p), inv: make([]*val, k.p)}
		for r := range k.p {
			fs[g].u[r] = make([]*val, r+1)
		}
	}
	for c := range k.p {
		for _, f := range fs {
			f.column(c)
		}
	}
	return fs
}

// column factors column c. The pivot comes first, to be inverted while the rows below it are reduced.
func (f *factor) column(c int) {
	p := f.p
	n := max(0, min(c, p-2)) // terms to subtract
	t := make([]*val, n)
	d := f.source(c, c, f.g)
	for m := range t {
		t[m] = f.op2(VMULPD, f.u[c][m], f.inv[m])
		f.update3(VFNMADD231PD, d, t[m], f.u[c][m])
	}
	f.u[c][c] = d
	switch {
	case c < p-2:
		f.inv[c] = f.op2(VDIVPD, f.c("one"), d)
		f.check(d, 1)
		f.times(d, 1)
	case c == p-2:
		f.check(d, 1) // and leave it to the last column
	case c == 0:
		f.check(d, 1)
		f.times(d, 1)
	default:
		// The determinant of the last block of order 2, without a division.
		u := f.u[c][c-1]
		pair := f.op2(VMULPD, u, u)
		f.update3(VFMSUB231PD, pair, f.u[c-1][c-1], d)
		f.check(pair, 2)
		f.times(pair, 2)
	}
	const rows = 2
	for r0 := c + 1; r0 < p; r0 += rows {
		end := min(r0+rows, p)
		for r := r0; r < end; r++ {
			f.u[r][c] = f.source(r, c, f.g)
		}
		for m := range t {
			for r := r0; r < end; r++ {
				f.update3(VFNMADD231PD, f.u[r][c], t[m], f.u[r][m])
			}
		}
	}
}

// check looks at a pivot, which should be at least 2^−128, or at a product of n = 2. That it is less
// than 2^128 follows from the diagonal.
func (f *factor) check(d *val, n int) {
	if n == 2 {
		d = f.op2(VPADDQ, d, f.c("pairShift")) // times 2^128
	}
	if f.least != nil {
		d = f.op2(VMINPD, d, f.least)
	}
	f.least = d
}

// times multiplies the determinant by a product of n pivots, four factors at a time.
func (f *factor) times(d *val, n int) {
	f.four = append(f.four, d)
	f.pivots += n
	f.total += n
	if len(f.four) < 4 && f.total < f.p {
		return
	}
	y := f.four[0]
	switch len(f.four) {
	case 2:
		y = f.op2(VMULPD, y, f.four[1])
	case 3:
		y = f.op2(VMULPD, f.op2(VMULPD, y, f.four[1]), f.four[2])
	case 4:
		y = f.op2(VMULPD, f.op2(VMULPD, y, f.four[1]), f.op2(VMULPD, f.four[2], f.four[3]))
	}
	f.four = nil
	if f.det == nil {
		f.det = y
		return
	}
	if f.pivots > 7 {
		// So many could leave the range of float64.
		h := f.imm(VPSRLQ, 53, f.det)
		if f.half != nil {
			h = f.op2(VPADDQ, f.half, h)
		}
		f.half = h
		f.det = f.even(f.det)
		f.splits++
		f.pivots = 4
	}
	f.det = f.op2(VMULPD, f.det, y)
}

// even divides by a power of 4, so that the result is in [½, 2).
func (k *kernel) even(x *val) *val {
	return k.op2(VORPD, k.op2(VANDPD, x, k.c("evenMask")), k.c("evenBits"))
}

// branch leaves the code by leave, with determinants in registers, for which see store.
func (k *kernel) branch(fs []*factor, leave func()) {
	var src []*val
	for _, f := range fs {
		src = append(src, f.det, f.least)
		if f.half != nil {
			src = append(src, f.half)
		}
	}
	k.do(&val{reg: noReg}, false, false, func(_ Op, s []Op) {
		n := len(s) / len(fs)
		for i, f := range fs {
			f.regs = nil
			for _, r := range s[n*i:][:n] {
				f.regs = append(f.regs, r.(reg.VecPhysical))
			}
		}
		leave()
	}, src...)
}

// stores writes the determinants.
func (k *kernel) stores(fs []*factor, mant, expo func(g int) Mem) {
	used := map[reg.Register]bool{}
	for i, x := range k.regs {
		used[k.name(i)] = x != nil // which is kept
	}
	for _, f := range fs {
		for _, r := range f.regs {
			used[r] = true
		}
	}
	var free []reg.VecPhysical
	for i := range k.v.regs {
		if n := k.name(i); !used[n] {
			free = append(free, n)
		}
	}
	for g, f := range fs {
		f.store(free, mant(g), expo(g))
	}
}

func (f *factor) store(free []reg.VecPhysical, mant, expo Mem) {
	r := f.regs
	m, x, nan := free[0], free[1], free[2]
	VANDPD(consts["mant"], r[0], m)
	VORPD(consts["one"], m, m)
	VPSRLQ(Imm(52), r[0], x)
	VPSUBQ(consts["bias"], x, x)
	if len(r) > 2 {
		VPADDQ(r[2], r[2], r[2])
		VPADDQ(r[2], x, x)
		for range f.splits {
			VPSUBQ(consts["splitBias"], x, x)
		}
	}
	// A pivot is not greater than its diagonal entry.
	bad := r[0]
	VPSUBQ(consts["least"], r[1], bad)
	for c := range f.p {
		e := 64 * (c*(c+1)/2 + c)
		VBROADCASTSD(Mem{Base: f.a, Disp: e}, nan)
		VADDPD(Mem{Base: f.b, Disp: e + f.v.bytes*f.g}, nan, nan)
		VPSUBQ(consts["least"], nan, nan)
		VORPD(nan, bad, bad)
	}
	VPSRLQ(Imm(60), bad, bad)
	VXORPD(nan, nan, nan)
	VPSUBQ(bad, nan, nan)
	VORPD(nan, m, m)
	VMOVUPD(m, mant)
	VMOVUPD(x, expo)
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

// value computes what is left of value in the library after its last operation, which last does.
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

func (k *kernel) last(ee, rho, poly []*val) {
	r := k.each(func(g int) *val { return k.op2(VMULPD, rho[g], ee[g]) })
	for g := range ee {
		k.update3(VFMADD231PD, ee[g], poly[g], r[g])
	}
}

func (k *kernel) atMost1(x *val) *val {
	one := k.c("one")
	return k.do(nil, false, false, func(d Op, s []Op) { VMINPD(s[1], s[0], d) }, one, x) // a NaN in the second source stays
}

// seed computes 1/√m in single precision.
func (k *kernel) seed(m []*val) []*val {
	single := k.c("single")
	if k.v.bytes == 64 {
		low := func(o Op) reg.Register { return o.(reg.VecPhysical).AsY() }
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
	low := func(o Op) reg.Register { return o.(reg.VecPhysical).AsX() }
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
