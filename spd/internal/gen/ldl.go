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
// Each entry is reduced by the terms m = 0, 1, … in turn, so its bits do not depend on how
// the loops are blocked. The blocking: panels of four columns; in a panel first the
// 4×4 block on the diagonal, for every group of lanes, then the rows below it in blocks of
// up to v.rows rows, for every group. The chains of divisions on the diagonal of different
// groups overlap in the processor.
//
// Work space of one group, in vectors of v.bytes:
//
//	header 8   product, exponent, least pivot, largest pivot, address of the source
//	inv    p4  1/d_m                        (p4: p rounded up to a multiple of 4)
//	t      4p4 t_cm of the panel's columns c, four to an m
//	u      p   rows of p4+1
const (
	hdrProd = iota
	hdrExpo
	hdrMin
	hdrMax
	hdrSrc
	hdrSize = 8
)

var consts map[string]Mem

func constants() {
	if consts != nil {
		return
	}
	consts = map[string]Mem{
		"one":    vectors("one", F64(1)),
		"mant":   vectors("mantissa", U64(0x800fffffffffffff)),
		"lo":     vectors("pivotMin", U64((1023-255)<<52)),
		"hi":     vectors("pivotMax", U64((1023+255)<<52)),
		"inf":    vectors("infinity", U64(0x7ff0000000000000)),
		"nan":    vectors("notANumber", U64(0x7ff8000000000001)),
		"bias":   vectors("expBias", U64(1023)),
		"three":  vectors("three", U64(3)),
		"big":    vectors("big", U64(1<<30)),
		"bigq":   vectors("bigQuarter", U64(1<<28)),
		"floorq": vectors("floorQuarter", U64(1<<28-1000)),
		"unbias": vectors("unbias", U64(1<<28-1023)),
	}
}

// machine holds the registers of one factorisation.
type machine struct {
	v      isa
	sum    bool         // the source is the sum of a tile and one packed matrix
	j      reg.Register // first column of the panel
	a      reg.Register // packed matrix, when sum
	stride reg.Register // bytes of a row of u
	src    reg.Register // source of the group
	work   reg.Register // work space of the group
	tOff   Mem          // byte offset of t in the work space
	uOff   Mem          // byte offset of the panel's first row of u
}

// entry loads the source's entry at byte offset off of the packed matrix, plus col columns.
func (k *machine) entry(off reg.Register, col int, dst reg.VecVirtual) {
	src := Mem{Base: k.src, Index: off, Scale: 8, Disp: 64 * col}
	if !k.sum {
		VMOVUPD(src, dst)
		return
	}
	VBROADCASTSD(Mem{Base: k.a, Index: off, Scale: 1, Disp: 8 * col}, dst)
	VADDPD(src, dst, dst)
}

// tAt is t_{j+c, m+dm} where ptr is at m.
func (k *machine) tAt(ptr reg.Register, dm, c int) Mem {
	return Mem{Base: ptr, Disp: k.v.bytes * (4*dm + c)}
}

func ldl(v isa, sum bool) {
	constants()
	name, what := "ldl"+v.suffix, "the matrices of src"
	sig := "func(src *float64, p, groups, tile int, work *float64, stride int, mant *float64, expo *int64)"
	if sum {
		name, what = "ldlSum"+v.suffix, "the sums of the packed matrix a and the matrices of src"
		sig = "func(src, a *float64, p, groups, tile int, work *float64, stride int, mant *float64, expo *int64)"
	}
	TEXT(name, NOSPLIT, sig)
	Doc(fmt.Sprintf("%s factors %s, groups of %d lanes each,", name, what, v.bytes/8),
		"and gives their determinants mant·2^expo, NaN where a pivot is outside 2^±255. tile is the",
		"number of bytes of a tile of eight lanes, stride that of the work space of a group.")
	k := &machine{v: v, sum: sum}
	k.j, k.stride, k.src, k.work = GP64(), GP64(), GP64(), GP64()
	k.tOff, k.uOff = AllocLocal(8), AllocLocal(8)
	count := AllocLocal(8) // groups left
	if sum {
		k.a = GP64()
		Load(Param("a"), k.a)
	}
	V := v.bytes

	// Headers. The exponent starts at −1023 for each of the ⌈p/2⌉ times that the product is split.
	g, tmp := GP64(), GP64()
	Comment("headers")
	Load(Param("src"), k.src)
	Load(Param("work"), k.work)
	Load(Param("groups"), g)
	Load(Param("p"), tmp)
	INCQ(tmp)
	SHRQ(Imm(1), tmp)
	IMUL3Q(num(1023), tmp, tmp)
	NEGQ(tmp)
	one, inf, zero, ex := v.vec(), v.vec(), v.vec(), v.vec()
	VMOVUPD(consts["one"], one)
	VMOVUPD(consts["inf"], inf)
	if V == 64 {
		VPXORQ(zero, zero, zero)
		VPBROADCASTQ(tmp, ex)
	} else {
		VXORPD(zero, zero, zero)
		x := XMM()
		MOVQ(tmp, x)
		VPBROADCASTQ(x, ex)
	}
	Label("init")
	VMOVUPD(one, Mem{Base: k.work, Disp: V * hdrProd})
	VMOVUPD(ex, Mem{Base: k.work, Disp: V * hdrExpo})
	VMOVUPD(inf, Mem{Base: k.work, Disp: V * hdrMin})
	VMOVUPD(zero, Mem{Base: k.work, Disp: V * hdrMax})
	MOVQ(k.src, Mem{Base: k.work, Disp: V * hdrSrc})
	ADDQ(param("stride"), k.work)
	if V == 64 {
		ADDQ(param("tile"), k.src)
	} else {
		// Groups alternate between the halves of a tile.
		ADDQ(Imm(32), k.src)
		odd := GP64()
		Load(Param("groups"), odd)
		XORQ(g, odd)
		TESTQ(U32(1), odd)
		JZ(LabelRef("half"))
		SUBQ(Imm(64), k.src)
		ADDQ(param("tile"), k.src)
		Label("half")
	}
	DECQ(g)
	JNZ(LabelRef("init"))

	// stride of a row of u: (p4+1)·V
	p4 := GP64()
	Load(Param("p"), p4)
	ADDQ(Imm(3), p4)
	ANDQ(I8(-4), p4)
	LEAQ(Mem{Base: p4, Disp: 1}, k.stride)
	IMUL3Q(num(V), k.stride, k.stride)
	IMUL3Q(num(V), p4, p4)
	LEAQ(Mem{Base: p4, Disp: V * hdrSize}, tmp)
	MOVQ(tmp, k.tOff)
	LEAQ(Mem{Base: tmp, Index: p4, Scale: 4}, tmp)
	MOVQ(tmp, k.uOff)

	off := GP64() // byte offset of (j, j) in a packed matrix
	XORQ(k.j, k.j)
	XORQ(off, off)

	Label("panel")
	left := GP64()
	{
		Load(Param("work"), k.work)
		Load(Param("groups"), left)
		MOVQ(left, count)
		Label("diag")
		MOVQ(Mem{Base: k.work, Disp: V * hdrSrc}, k.src)
		Load(Param("p"), left)
		SUBQ(k.j, left)
		CMPQ(left, Imm(4))
		JL(LabelRef("narrow"))
		k.diagonal(4, off)
		JMP(LabelRef("diagNext"))
		Label("narrow")
		CMPQ(left, Imm(2))
		JL(LabelRef("narrow1"))
		JE(LabelRef("narrow2"))
		k.diagonal(3, off)
		JMP(LabelRef("diagNext"))
		Label("narrow2")
		k.diagonal(2, off)
		JMP(LabelRef("diagNext"))
		Label("narrow1")
		k.diagonal(1, off)
		Label("diagNext")
		ADDQ(param("stride"), k.work)
		DECQ(count)
		JNZ(LabelRef("diag"))
	}
	// off of (j+4, j): four rows further, which add j+1 … j+4 entries.
	{
		t := GP64()
		LEAQ(Mem{Base: k.j, Index: k.j, Scale: 1, Disp: 5}, t)
		LEAQ(Mem{Base: off, Index: t, Scale: 8}, off)
		LEAQ(Mem{Base: off, Index: t, Scale: 8}, off)
		LEAQ(Mem{Base: k.stride, Index: k.stride, Scale: 1}, t)
		ADDQ(t, t)
		ADDQ(t, k.uOff)
	}
	ADDQ(Imm(4), k.j)
	CMPQ(k.j, param("p"))
	JGE(LabelRef("done"))
	{
		// From here j is the panel's first row below the diagonal block; its columns are
		// j−4 … j−1.
		Load(Param("work"), k.work)
		Load(Param("groups"), left)
		MOVQ(left, count)
		Label("below")
		MOVQ(Mem{Base: k.work, Disp: V * hdrSrc}, k.src)
		r, o, u := GP64(), GP64(), GP64()
		MOVQ(k.j, r)
		MOVQ(off, o)
		MOVQ(k.uOff, u)
		ADDQ(k.work, u)
		Label("block")
		Load(Param("p"), left)
		SUBQ(r, left)
		CMPQ(left, num(v.rows))
		JL(LabelRef("tail"))
		k.rows(v.rows, r, o, u)
		JMP(LabelRef("block"))
		Label("tail")
		if v.rows == 6 {
			CMPQ(left, Imm(3))
			JL(LabelRef("tail2"))
			k.rows(3, r, o, u)
			JMP(LabelRef("block"))
			Label("tail2")
		}
		CMPQ(left, Imm(1))
		JL(LabelRef("belowNext"))
		JE(LabelRef("single"))
		k.rows(2, r, o, u)
		JMP(LabelRef("belowNext"))
		Label("single")
		k.rows(1, r, o, u)
		Label("belowNext")
		ADDQ(param("stride"), k.work)
		DECQ(count)
		JNZ(LabelRef("below"))
	}
	ADDQ(Imm(32), off)
	JMP(LabelRef("panel"))

	Label("done")
	mant, expo := GP64(), GP64()
	Load(Param("work"), k.work)
	Load(Param("groups"), g)
	Load(Param("mant"), mant)
	Load(Param("expo"), expo)
	Label("out")
	m, x, lo, hi := v.vec(), v.vec(), v.vec(), v.vec()
	VMOVUPD(Mem{Base: k.work, Disp: V * hdrProd}, m)
	VMOVUPD(Mem{Base: k.work, Disp: V * hdrExpo}, x)
	VMOVUPD(Mem{Base: k.work, Disp: V * hdrMin}, lo)
	VMOVUPD(Mem{Base: k.work, Disp: V * hdrMax}, hi)
	// Not (least ≥ lo and largest ≤ hi), true for NaN: predicates not-greater-equal and not-less-equal.
	if V == 64 {
		k1, k2 := K(), K()
		nan := v.vec()
		VMOVUPD(consts["nan"], nan)
		VCMPPD(Imm(9), consts["lo"], lo, k1)
		VCMPPD(Imm(6), consts["hi"], hi, k2)
		KORW(k1, k2, k1)
		VMOVAPD(nan, k1, m)
	} else {
		VCMPPD(Imm(9), consts["lo"], lo, lo)
		VCMPPD(Imm(6), consts["hi"], hi, hi)
		VORPD(lo, hi, lo)
		VBLENDVPD(lo, consts["nan"], m, m)
	}
	VMOVUPD(m, Mem{Base: mant})
	VMOVUPD(x, Mem{Base: expo})
	ADDQ(num(V), mant)
	ADDQ(num(V), expo)
	ADDQ(param("stride"), k.work)
	DECQ(g)
	JNZ(LabelRef("out"))
	VZEROUPPER()
	RET()
}

// param is an argument as a memory operand.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

var serial int

func unique(s string) string {
	serial++
	return fmt.Sprintf("%s%d", s, serial)
}

// diagonal factors the w×w block at (j, j) of the group: it writes t for the panel, the
// inverse pivots, and updates the header.
func (k *machine) diagonal(w int, off reg.Register) {
	V := k.v.bytes
	Comment(fmt.Sprintf("diagonal block of order %d", w))
	acc := make([][]reg.VecVirtual, w)
	o := GP64()
	inc := GP64()
	MOVQ(off, o)
	LEAQ(Mem{Base: k.j, Disp: 1}, inc)
	SHLQ(Imm(3), inc)
	for r := range w {
		if r > 0 {
			ADDQ(inc, o)
			if r+1 < w {
				ADDQ(Imm(8), inc)
			}
		}
		acc[r] = make([]reg.VecVirtual, r+1)
		for c := range acc[r] {
			acc[r][c] = k.v.vec()
			k.entry(o, c, acc[r][c])
		}
	}
	u, inv, t, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(k.uOff, u)
	ADDQ(k.work, u)
	LEAQ(Mem{Base: k.work, Disp: V * hdrSize}, inv)
	MOVQ(k.tOff, t)
	ADDQ(k.work, t)
	u3 := u
	if w == 4 {
		u3 = GP64()
		LEAQ(Mem{Base: u, Index: k.stride, Scale: 1}, u3)
	}
	end, loop := unique("end"), unique("loop")
	MOVQ(k.j, n)
	TESTQ(n, n)
	JZ(LabelRef(end))
	Label(loop)
	const unroll = 2
	for dm := range unroll {
		ur := make([]reg.VecVirtual, w)
		for r := range w {
			ur[r] = k.v.vec()
			VMOVUPD(k.uAt(u, u3, r, dm), ur[r])
		}
		iv, tc := k.v.vec(), k.v.vec()
		VMOVUPD(Mem{Base: inv, Disp: V * dm}, iv)
		for c := range w {
			VMULPD(iv, ur[c], tc)
			VMOVUPD(tc, k.tAt(t, dm, c))
			for r := c; r < w; r++ {
				VFNMADD231PD(ur[r], tc, acc[r][c])
			}
		}
	}
	ADDQ(num(unroll*V), u)
	if w == 4 {
		ADDQ(num(unroll*V), u3)
	}
	ADDQ(num(unroll*V), inv)
	ADDQ(num(unroll*4*V), t)
	SUBQ(Imm(unroll), n)
	JNZ(LabelRef(loop))
	Label(end)
	for c := range w {
		d := acc[c][c]
		last := w < 4 && c == w-1
		iv := k.v.vec()
		if !last {
			VMOVUPD(consts["one"], iv)
			VDIVPD(d, iv, iv)
			VMOVUPD(iv, Mem{Base: inv, Disp: V * c})
		}
		ts := make([]reg.VecVirtual, w)
		for r := c + 1; r < w; r++ {
			ts[r] = k.v.vec()
			VMULPD(iv, acc[r][c], ts[r])
			VMOVUPD(ts[r], k.tAt(t, c, r))
		}
		for c2 := c + 1; c2 < w; c2++ {
			for r := c2; r < w; r++ {
				VFNMADD231PD(acc[r][c], ts[c2], acc[r][c2])
			}
		}
	}
	// Range and product of the pivots.
	hdr := func(i int) Mem { return Mem{Base: k.work, Disp: V * i} }
	lo, hi, prod, ex := k.v.vec(), k.v.vec(), k.v.vec(), k.v.vec()
	VMOVUPD(hdr(hdrMin), lo)
	VMOVUPD(hdr(hdrMax), hi)
	VMOVUPD(hdr(hdrProd), prod)
	VMOVUPD(hdr(hdrExpo), ex)
	for c := range w {
		// With the pivot as second source a NaN replaces what was there; a NaN pivot makes
		// all later ones NaN, so the last one tells.
		d := acc[c][c]
		VMINPD(d, lo, lo)
		VMAXPD(d, hi, hi)
		VMULPD(d, prod, prod)
		if c%2 == 1 || c == w-1 {
			e := k.v.vec()
			VPSRLQ(Imm(52), prod, e)
			VPADDQ(e, ex, ex)
			VANDPD(consts["mant"], prod, prod)
			VORPD(consts["one"], prod, prod)
		}
	}
	VMOVUPD(lo, hdr(hdrMin))
	VMOVUPD(hi, hdr(hdrMax))
	VMOVUPD(prod, hdr(hdrProd))
	VMOVUPD(ex, hdr(hdrExpo))
}

// uAt is u of row r and column m+dm, where u is at row 0 and u3 at row 1 or 3.
func (k *machine) uAt(u, u3 reg.Register, r, dm int) Mem {
	d := k.v.bytes * dm
	switch r {
	case 0:
		return Mem{Base: u, Disp: d}
	case 1, 2:
		return Mem{Base: u, Index: k.stride, Scale: uint8(r), Disp: d}
	case 3:
		return Mem{Base: u3, Index: k.stride, Scale: 2, Disp: d}
	}
	panic("row out of range")
}

// rows reduces h rows below the diagonal block and moves r, o and u to the next row.
func (k *machine) rows(h int, r, o, u reg.Register) {
	V := k.v.bytes
	Comment(fmt.Sprintf("%d rows", h))
	acc := make([][4]reg.VecVirtual, h)
	inc := GP64()
	LEAQ(Mem{Base: r, Disp: 1}, inc)
	SHLQ(Imm(3), inc)
	for i := range h {
		for c := range 4 {
			acc[i][c] = k.v.vec()
			k.entry(o, c, acc[i][c])
		}
		ADDQ(inc, o)
		if i+1 < h {
			ADDQ(Imm(8), inc)
		}
	}
	ADDQ(num(h), r)
	ptr, ptr3, t, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(u, ptr)
	if h > 3 {
		LEAQ(Mem{Base: u, Index: k.stride, Scale: 2}, ptr3)
		ADDQ(k.stride, ptr3)
	}
	MOVQ(k.tOff, t)
	ADDQ(k.work, t)
	at := func(i, dm int) Mem {
		b := ptr
		if i >= 3 {
			b, i = ptr3, i-3
		}
		m := Mem{Base: b, Disp: V * dm}
		if i > 0 {
			m.Index, m.Scale = k.stride, uint8(i)
		}
		return m
	}
	end, loop := unique("end"), unique("loop")
	LEAQ(Mem{Base: k.j, Disp: -4}, n)
	TESTQ(n, n)
	JZ(LabelRef(end))
	Label(loop)
	const unroll = 4
	for dm := range unroll {
		ur := make([]reg.VecVirtual, h)
		for i := range h {
			ur[i] = k.v.vec()
			VMOVUPD(at(i, dm), ur[i])
		}
		tc := k.v.vec()
		for c := range 4 {
			VMOVUPD(k.tAt(t, dm, c), tc)
			for i := range h {
				VFNMADD231PD(tc, ur[i], acc[i][c])
			}
		}
	}
	ADDQ(num(unroll*V), ptr)
	if h > 3 {
		ADDQ(num(unroll*V), ptr3)
	}
	ADDQ(num(unroll*4*V), t)
	SUBQ(Imm(unroll), n)
	JNZ(LabelRef(loop))
	Label(end)
	for c := range 4 {
		for m := range c {
			tc := k.v.vec()
			VMOVUPD(k.tAt(t, m, c), tc)
			for i := range h {
				VFNMADD231PD(tc, acc[i][m], acc[i][c])
			}
		}
		for i := range h {
			VMOVUPD(acc[i][c], at(i, c))
		}
	}
	for range h {
		ADDQ(k.stride, u)
	}
}
