package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// smallWork is the number of bytes of work space; the library knows it by the same name. Where
// filling a register takes a vector instruction, matrix a is there from spreadAt on, each number as
// often as a register has lanes.
const (
	smallWork = 8192
	spreadAt  = smallWork - straightMost*(straightMost+1)/2*16
)

// small generates straight-line code for one order, in the order of the columns. The processor
// finds what can run side by side, also in the next matrices.
func small(v isa, p int, x addresses) {
	s := &straight{v: v, work: x.work, regs: make([]*val, v.regs)}
	entry := func(r, c int) *val {
		e := 64 * (r*(r+1)/2 + c)
		return s.do(nil, func(d Op, _ []Op) {
			if v.spread {
				VMOVUPD(Mem{Base: x.work, Disp: spreadAt + e/64*v.bytes}, d)
			} else {
				v.fill(Mem{Base: x.a, Disp: e}, d)
			}
			VADDPD(Mem{Base: x.b, Disp: e}, d, d)
		})
	}
	u := make([][]*val, p) // by column
	inverse, t := make([]*val, p), make([]*val, p)
	unit, det := s.constant("one"), product{s: s}
	for c := range p {
		u[c] = make([]*val, p)
		// The pivot first, to be inverted while the rows below it are reduced.
		d := entry(c, c)
		for m := range c {
			t[m] = s.op(VMULPD, u[m][c], inverse[m])
			s.update(VFNMADD231PD, d, t[m], u[m][c])
		}
		if c < p-1 {
			inverse[c] = s.op(VDIVPD, unit, d)
		}
		det.times(d)
		for lo := c + 1; lo < p; lo += v.rows[0] {
			hi := min(lo+v.rows[0], p)
			for r := lo; r < hi; r++ {
				u[c][r] = entry(r, c)
			}
			for m := range c {
				for r := lo; r < hi; r++ {
					s.update(VFNMADD231PD, u[c][r], t[m], u[m][r])
				}
			}
		}
	}
	det.store(x)
	s.emit()
	if n := s.slots * v.bytes; n > spreadAt {
		panic(fmt.Sprintf("order %d takes %d bytes of work space", p, n))
	}
}

// product is a product of pivots.
type product struct {
	s     *straight
	n     int  // pivots so far
	m     *val // their product, divided by a power of 4 after eight
	eight *val // the first eight pivots, if there are more
	least *val // the least pivot
}

// times multiplies by a pivot.
func (f *product) times(d *val) {
	if f.n++; f.n == 1 {
		f.m, f.least = d, d
		return
	}
	f.least = f.s.op(VMINPD, f.least, d) // the second if one is NaN, and then all after it are
	if f.n == 9 {
		f.eight = f.m
		f.m = f.even()
	}
	f.m = f.s.op(VMULPD, f.m, d)
}

// even divides the product by a power of 4, so that it is in [½, 2).
func (f *product) even() *val {
	return f.s.op(VORPD, f.s.op(VANDPD, f.m, f.s.constant("evenMask")), f.s.constant("evenBits"))
}

// store writes the determinant, negative for a matrix that is not positive definite.
func (f *product) store(x addresses) {
	s, h, most, bias := f.s, f.s.shift(53, f.m), f.m, "evenBias"
	if f.n > 8 {
		h = s.op(VPADDQ, h, s.shift(53, f.eight))
		most = s.op(VMAXPD, f.eight, f.m) // the second if one is NaN
		bias = "evenBiases"
	}
	h = s.op(VPSUBQ, h, s.constant(bias))
	bad := s.op(VORPD, s.op(VSUBPD, f.least, s.constant("leastPivot")), s.op(VPADDQ, most, s.constant("overflow")))
	s.store(x.mant, s.op(VORPD, s.op(VANDPD, bad, s.constant("sign")), f.even()))
	s.store(x.expo, h)
}
