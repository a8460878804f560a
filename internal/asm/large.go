package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blocked is the code for one vector of matrices of any order, by panels of columns. Up to three
// panels of one column are followed by panels of four, which have a multiple of four rows below
// them.
//
// The work space, in vectors: the least pivot, what tells an overflow, p inverse pivots, the t_cm
// of the panel's columns c, four to an m, and U, packed. mant and expo are the determinant so far.
type blocked struct {
	v isa
	addresses
	sum    bool          // the matrices are sums of a and b
	label  string        // before all labels
	t, u   reg.GPVirtual // parts of the work space
	j      reg.GPVirtual // first column of the panel, in bytes of vectors; a and b are at column j
	r, row reg.GPVirtual // the next row, and its place in a packed matrix, in bytes of numbers
	m      reg.GPVirtual // a column before the panel, in bytes of vectors
	saved  [2]Mem        // r and row below the panel
}

// Places in the work space, in vectors.
const (
	leastAt = iota
	overAt
	inverseAt
)

// large generates the code for sums of matrices, or for matrices that stand alone.
func large(v isa, x addresses, label string, sum bool) {
	k := &blocked{v: v, addresses: x, label: label, sum: sum, saved: [2]Mem{AllocLocal(8), AllocLocal(8)}}
	k.t, k.u, k.j, k.r, k.row, k.m = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	n, y := GP64(), v.vec()
	Load(Param("p"), n)
	IMUL3Q(num(v.bytes), n, n)
	LEAQ(Mem{Base: x.work, Index: n, Scale: 1, Disp: v.bytes * inverseAt}, k.t)
	LEAQ(Mem{Base: k.t, Index: n, Scale: 4}, k.u)
	for _, r := range []reg.Register{k.j, k.r, k.row} {
		XORQ(r, r)
	}
	VMOVUPD(constant("one"), y)
	VMOVUPD(y, Mem{Base: x.mant})
	VMOVUPD(y, k.at(leastAt))
	VXORPD(y, y, y)
	VMOVUPD(y, Mem{Base: x.expo})
	VMOVUPD(y, k.at(overAt))

	Label(label + "Panel")
	Load(Param("p"), n)
	SUBQ(k.r, n)
	JZ(LabelRef(label + "Finish"))
	TESTQ(U32(3), n)
	JZ(LabelRef(label + "Four"))
	k.panel(1, 1)
	JMP(LabelRef(label + "Panel"))
	Label(label + "Four")
	k.panel(4, v.rows[1])
	JMP(LabelRef(label + "Panel"))

	Label(label + "Finish")
	bad, mant := v.vec(), pointers("mant")[0]
	VMOVUPD(k.at(leastAt), bad)
	VSUBPD(constant("leastPivot"), bad, bad)
	VORPD(k.at(overAt), bad, bad)
	VANDPD(constant("sign"), bad, bad)
	VORPD(Mem{Base: mant}, bad, bad)
	VMOVUPD(bad, Mem{Base: mant})
}

// at is a vector of the work space.
func (k *blocked) at(i int) Mem { return Mem{Base: k.work, Disp: k.v.bytes * i} }

// factor is t_cm of column c of the panel, where m is dm columns behind k.m.
func (k *blocked) factor(dm, c int) Mem {
	return Mem{Base: k.t, Index: k.m, Scale: 4, Disp: k.v.bytes * (4*dm + c)}
}

// terms runs the body for every column before the panel, and leaves k.m at the panel.
func (k *blocked) terms(label string, body func()) {
	XORQ(k.m, k.m)
	TESTQ(k.j, k.j)
	JZ(LabelRef(label + "End"))
	Label(label)
	body()
	ADDQ(num(k.v.bytes), k.m)
	CMPQ(k.m, k.j)
	JL(LabelRef(label))
	Label(label + "End")
}

// panel factors the next w columns, with h rows at a time below the diagonal block.
func (k *blocked) panel(w, h int) {
	label := func(s string) string { return fmt.Sprint(k.label, s, w) }
	k.diagonal(label("Diagonal"), w)
	MOVQ(k.r, k.saved[0])
	MOVQ(k.row, k.saved[1])
	Label(label("Rows"))
	CMPQ(k.r, param("p"))
	JGE(LabelRef(label("RowsEnd")))
	k.below(label("Below"), w, h)
	JMP(LabelRef(label("Rows")))
	Label(label("RowsEnd"))
	MOVQ(k.saved[0], k.r)
	MOVQ(k.saved[1], k.row)
	ADDQ(num(w*k.v.bytes), k.j)
	ADDQ(num(w*64), k.a)
	ADDQ(num(w*64), k.b)
}

// sources loads w columns of the next h rows of the matrix, or their lower triangle, and for each
// row the address of its place in U. It moves to the row after them.
func (k *blocked) sources(h, w int, triangle bool) (s [][]reg.VecVirtual, u []reg.GPVirtual) {
	length := GP64() // of a row
	LEAQ(Mem{Base: k.r, Disp: 1}, length)
	SHLQ(Imm(3), length)
	for i := range h {
		if triangle {
			w = i + 1
		}
		row, to := make([]reg.VecVirtual, w), GP64()
		LEAQ(Mem{Base: k.u, Index: k.row, Scale: uint8(k.v.bytes / 8)}, to)
		for c := range row {
			entry := Mem{Base: k.b, Index: k.row, Scale: 8, Disp: 64 * c}
			if k.sum {
				row[c] = k.v.filled(Mem{Base: k.a, Index: k.row, Scale: 8, Disp: 64 * c})
				VADDPD(entry, row[c], row[c])
			} else {
				row[c] = k.v.loaded(entry)
			}
		}
		s, u = append(s, row), append(u, to)
		ADDQ(length, k.row)
		ADDQ(Imm(8), length)
	}
	ADDQ(num(h), k.r)
	return s, u
}

// diagonal factors the block of order w on the diagonal.
func (k *blocked) diagonal(label string, w int) {
	v := k.v
	s, u := k.sources(w, w, true)
	inverse := func(dm int) Mem {
		return Mem{Base: k.work, Index: k.m, Scale: 1, Disp: v.bytes * (inverseAt + dm)}
	}
	inv, t := v.vec(), v.vec()
	k.terms(label, func() {
		row := make([]reg.VecVirtual, w)
		for r := range row {
			row[r] = v.loaded(Mem{Base: u[r], Index: k.m, Scale: 1})
		}
		VMOVUPD(inverse(0), inv)
		for c := range w {
			VMULPD(inv, row[c], t)
			VMOVUPD(t, k.factor(0, c))
			for r := c; r < w; r++ {
				VFNMADD231PD(row[r], t, s[r][c])
			}
		}
	})
	unit := v.vec()
	VMOVUPD(constant("one"), unit)
	for m := range w {
		VDIVPD(s[m][m], unit, inv)
		VMOVUPD(inv, inverse(m))
		for c := m + 1; c < w; c++ {
			VMULPD(inv, s[c][m], t)
			VMOVUPD(t, k.factor(m, c))
			for r := c; r < w; r++ {
				VFNMADD231PD(s[r][m], t, s[r][c])
			}
		}
	}
	k.multiply(s)
}

// multiply multiplies the determinant by the pivots of a diagonal block.
func (k *blocked) multiply(s [][]reg.VecVirtual) {
	x := pointers("mant", "expo")
	det, least, y := k.v.vec(), k.v.vec(), k.v.vec()
	VMOVUPD(Mem{Base: x[0]}, det)
	VMOVUPD(k.at(leastAt), least)
	for c := range s {
		VMULPD(s[c][c], det, det)
		VMINPD(s[c][c], least, least) // the second if one is NaN, and then all after it are
	}
	VMOVUPD(least, k.at(leastAt))
	VPADDQ(constant("overflow"), det, y)
	VORPD(k.at(overAt), y, y)
	VMOVUPD(y, k.at(overAt))
	VPSRLQ(Imm(53), det, y)
	VPSUBQ(constant("evenBias"), y, y)
	VPADDQ(Mem{Base: x[1]}, y, y)
	VMOVUPD(y, Mem{Base: x[1]})
	VANDPD(constant("evenMask"), det, det)
	VORPD(constant("evenBits"), det, det)
	VMOVUPD(det, Mem{Base: x[0]})
}

// below reduces the panel's columns of the next h rows.
func (k *blocked) below(label string, w, h int) {
	v := k.v
	s, u := k.sources(h, w, false)
	t := v.vec()
	k.terms(label, func() {
		row := make([]reg.VecVirtual, h)
		for i := range row {
			row[i] = v.loaded(Mem{Base: u[i], Index: k.m, Scale: 1})
		}
		for c := range w {
			VMOVUPD(k.factor(0, c), t)
			for i := range row {
				VFNMADD231PD(t, row[i], s[i][c])
			}
		}
	})
	for c := range w {
		for m := range c {
			VMOVUPD(k.factor(m, c), t)
			for i := range s {
				VFNMADD231PD(t, s[i][m], s[i][c])
			}
		}
		for i := range s {
			VMOVUPD(s[i][c], Mem{Base: u[i], Index: k.m, Scale: 1, Disp: v.bytes * c})
		}
	}
}
