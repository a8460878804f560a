package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
// fill the time of its divisions, or at orders 6 and 7 three columns, which is a little faster.
func (k *kernel) factors() []*factor {
	fs := make([]*factor, k.vectors)
	for g := range fs {
		fs[g] = &factor{kernel: k, g: g, u: make([][]*val, k.p), inv: make([]*val, k.p)}
		for r := range k.p {
			fs[g].u[r] = make([]*val, r+1)
		}
	}
	step := 1
	if k.p == 6 || k.p == 7 {
		step = 3
	}
	for j := 0; j < k.p; j += step {
		for _, f := range fs {
			for c := j; c < min(j+step, k.p); c++ {
				f.column(c)
			}
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
	const rows = 2 // at a time
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

// stores writes the determinants that branch has left.
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
