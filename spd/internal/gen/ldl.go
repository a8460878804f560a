package main

import (
	"fmt"
	"math/bits"

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
// groups overlap in the processor; with short vectors only if they follow one another
// closely, and so reduced blocks are stored first and factored afterwards (unless v.fused).
//
// Work space of one group, in vectors of v.bytes:
//
//	header 12  address of the source, then the reduced diagonal block
//	piv    2p4 d_m and 1/d_m                (p4: p rounded up to a multiple of 4)
//	t      4p4 t_cm of the panel's columns c, four to an m
//	u      p   rows of p4+1
const (
	hdrSrc   = 0
	hdrBlock = 1
	hdrSize  = 12
)

var consts map[string]Mem

func constants() {
	if consts != nil {
		return
	}
	consts = map[string]Mem{
		"one":          vectors("one", F64(1)),
		"mant":         vectors("mantissa", U64(1<<52-1)),
		"least":        vectors("pivotMin", U64((1023-128)<<52)),
		"top":          vectors("topBits", U64(0xf<<60)),
		"nan":          vectors("notANumber", U64(0x7ff8000000000001)),
		"bias":         vectors("expBias", U64(1023)),
		"oneBit":       vectors("oneBit", U64(1)),
		"big":          vectors("exponentShift", U64(1<<30)),
		"half":         vectors("halfShift", U64(1<<29)),
		"floor":        vectors("leastShift", U64(1<<29-1000)),
		"unbias":       vectors("unbias", U64(1<<29-1023)),
		"splitBias":    vectors("splitBias", U64(1022)),
		"bias1":        vectors("bias1", U64(511<<52)),
		"bias2":        vectors("bias2", U64(2*511<<52)),
		"bias3":        vectors("bias3", U64(3*511<<52)),
		"bias4":        vectors("bias4", U64(4*511<<52)),
		"pairShift":    vectors("pairShift", U64(128<<52)),
		"evenMask":     vectors("evenMask", U64(1<<53-1)),
		"evenBits":     vectors("evenBits", U64(1022<<52)),
		"single":       vectors("oneSingle", U64(0x3f8000003f800000)),
		"threeEighths": vectors("threeEighths", F64(0.375)),
		"oneHalf":      vectors("oneHalf", F64(0.5)),
		"leastPivot":   vectors("leastPivot", F64(0x1p-128)),
		"sign":         vectors("sign", U64(1<<63)),
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
	Pragma("noescape")
	Doc(fmt.Sprintf("%s factors %s, groups of %d lanes each,", name, what, v.bytes/8),
		"and gives their determinants mant·2^expo, NaN where a pivot is outside [2^-128, 2^128). tile is the",
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

	g, tmp := GP64(), GP64()
	Comment("addresses of the sources")
	Load(Param("src"), k.src)
	Load(Param("work"), k.work)
	Load(Param("groups"), g)
	Label("init")
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
	LEAQ(Mem{Base: p4, Index: p4, Scale: 1, Disp: V * hdrSize}, tmp)
	MOVQ(tmp, k.tOff)
	LEAQ(Mem{Base: tmp, Index: p4, Scale: 4}, tmp)
	MOVQ(tmp, k.uOff)

	off := GP64() // byte offset of (j, j) in a packed matrix
	XORQ(k.j, k.j)
	XORQ(off, off)

	Label("panel")
	left := GP64()
	each := func(name string, body func()) {
		Load(Param("work"), k.work)
		Load(Param("groups"), left)
		MOVQ(left, count)
		Label(name)
		body()
		ADDQ(param("stride"), k.work)
		DECQ(count)
		JNZ(LabelRef(name))
	}
	// width branches to the code for the panel: the last one is of order 1 to 4, the others
	// of order 4.
	width := func(name string, body func(w int, last bool)) {
		Load(Param("p"), left)
		SUBQ(k.j, left)
		CMPQ(left, Imm(4))
		JLE(LabelRef(name + "4"))
		each(name+"Each", func() { body(4, false) })
		JMP(LabelRef(name + "Done"))
		for w := 4; w > 0; w-- {
			Label(fmt.Sprint(name, w))
			if w > 1 {
				CMPQ(left, num(w))
				JL(LabelRef(fmt.Sprint(name, w-1)))
			}
			each(fmt.Sprint(name, "Each", w), func() { body(w, true) })
			if w > 1 {
				JMP(LabelRef(name + "Done"))
			}
		}
		Label(name + "Done")
	}
	TESTQ(k.j, k.j)
	JNZ(LabelRef("reduce"))
	width("first", func(w int, last bool) {
		MOVQ(Mem{Base: k.work, Disp: V * hdrSrc}, k.src)
		k.eliminate(w, last, k.source(w, off))
	})
	JMP(LabelRef("eliminated"))
	Label("reduce")
	width("reduce", func(w int, last bool) {
		MOVQ(Mem{Base: k.work, Disp: V * hdrSrc}, k.src)
		acc := k.source(w, off)
		k.reduce(w, last, acc)
		if v.fused {
			k.eliminate(w, last, acc)
		} else {
			k.store(acc)
		}
	})
	if !v.fused {
		width("eliminate", func(w int, last bool) { k.eliminate(w, last, k.block(w)) })
	}
	Label("eliminated")
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
		each("below", func() {
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
			for h := v.rows - 1; h > 0; h-- {
				next := fmt.Sprint("not", h, "Rows")
				CMPQ(left, num(h))
				JNE(LabelRef(next))
				k.rows(h, r, o, u)
				JMP(LabelRef("belowNext"))
				Label(next)
			}
			Label("belowNext")
		})
	}
	ADDQ(Imm(32), off)
	JMP(LabelRef("panel"))

	Label("done")
	k.product()
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

// triangle returns the registers of a lower triangle of order w.
func (k *machine) triangle(w int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, w)
	for r := range acc {
		acc[r] = make([]reg.VecVirtual, r+1)
		for c := range acc[r] {
			acc[r][c] = k.v.vec()
		}
	}
	return acc
}

// source loads the w×w block at (j, j) of the source.
func (k *machine) source(w int, off reg.Register) [][]reg.VecVirtual {
	acc := k.triangle(w)
	o, inc := GP64(), GP64()
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
		for c := range acc[r] {
			k.entry(o, c, acc[r][c])
		}
	}
	return acc
}

// blockAt is where entry (r, c) of the reduced block waits for eliminate.
func (k *machine) blockAt(r, c int) Mem {
	return Mem{Base: k.work, Disp: k.v.bytes * (hdrBlock + r*(r+1)/2 + c)}
}

// store stores the reduced block.
func (k *machine) store(acc [][]reg.VecVirtual) {
	for r := range acc {
		for c := range acc[r] {
			VMOVUPD(acc[r][c], k.blockAt(r, c))
		}
	}
}

// block loads what store stored.
func (k *machine) block(w int) [][]reg.VecVirtual {
	acc := k.triangle(w)
	for r := range w {
		for c := range acc[r] {
			VMOVUPD(k.blockAt(r, c), acc[r][c])
		}
	}
	return acc
}

// reduce subtracts the terms m < j from the w×w block at (j, j), and writes the panel's t
// unless it is the last panel.
func (k *machine) reduce(w int, last bool, acc [][]reg.VecVirtual) {
	V := k.v.bytes
	Comment(fmt.Sprintf("reduce the diagonal block of order %d", w))
	u, piv, t, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(k.uOff, u)
	ADDQ(k.work, u)
	LEAQ(Mem{Base: k.work, Disp: V * hdrSize}, piv)
	MOVQ(k.tOff, t)
	ADDQ(k.work, t)
	u3 := u
	if w == 4 {
		u3 = GP64()
		LEAQ(Mem{Base: u, Index: k.stride, Scale: 1}, u3)
	}
	loop := unique("loop")
	MOVQ(k.j, n)
	Label(loop)
	const unroll = 2
	for dm := range unroll {
		ur := make([]reg.VecVirtual, w)
		for r := range w {
			ur[r] = k.v.vec()
			VMOVUPD(k.uAt(u, u3, r, dm), ur[r])
		}
		iv, tc := k.v.vec(), k.v.vec()
		VMOVUPD(Mem{Base: piv, Disp: V * (2*dm + 1)}, iv)
		for c := range w {
			VMULPD(iv, ur[c], tc)
			if !last {
				VMOVUPD(tc, k.tAt(t, dm, c))
			}
			for r := c; r < w; r++ {
				VFNMADD231PD(ur[r], tc, acc[r][c])
			}
		}
	}
	ADDQ(num(unroll*V), u)
	if w == 4 {
		ADDQ(num(unroll*V), u3)
	}
	ADDQ(num(2*unroll*V), piv)
	ADDQ(num(unroll*4*V), t)
	SUBQ(num(unroll), n)
	JNZ(LabelRef(loop))
}

// eliminate factors the reduced block, and writes its pivots and, unless it is the last, their
// inverses and its t.
func (k *machine) eliminate(w int, last bool, acc [][]reg.VecVirtual) {
	V := k.v.bytes
	Comment(fmt.Sprintf("factor the diagonal block of order %d", w))
	piv, t, n := GP64(), GP64(), GP64()
	MOVQ(k.tOff, t)
	ADDQ(k.work, t)
	MOVQ(k.j, n)
	SHLQ(num(log2(2*V)), n)
	LEAQ(Mem{Base: k.work, Index: n, Scale: 1, Disp: V * hdrSize}, piv)
	LEAQ(Mem{Base: t, Index: n, Scale: 2}, t)
	one := k.v.vec()
	VMOVUPD(consts["one"], one)
	for c := range w {
		d := acc[c][c]
		iv := k.v.vec()
		VMOVUPD(d, Mem{Base: piv, Disp: V * 2 * c})
		if !last || c < w-1 {
			VDIVPD(d, one, iv)
		}
		if !last {
			VMOVUPD(iv, Mem{Base: piv, Disp: V * (2*c + 1)})
		}
		ts := make([]reg.VecVirtual, w)
		for r := c + 1; r < w; r++ {
			ts[r] = k.v.vec()
			VMULPD(iv, acc[r][c], ts[r])
			if !last {
				VMOVUPD(ts[r], k.tAt(t, c, r))
			}
		}
		for c2 := c + 1; c2 < w; c2++ {
			for r := c2; r < w; r++ {
				VFNMADD231PD(acc[r][c], ts[c2], acc[r][c2])
			}
		}
	}
}

func log2(x int) int { return bits.Len(uint(x)) - 1 }

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
