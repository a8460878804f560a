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

// factors generates the factorisation of a tile, its vectors side by side.
func (k *kernel) factors() []*factor {
	fs := make([]*factor, k.vectors)
	for g := range fs {
		fs[g] = &factor{kernel: k, g: g, u: make([][]*val, k.p), inv: make([]*val, k.p)}
		for r := range k.p {
			fs[g].u[r] = make([]*val, r+1)
		}
	}
	for c := range k.p {
		k.column(fs, c)
	}
	return fs
}

// column factors column c. The pivot comes first, to be inverted while the rows below it are reduced.
func (k *kernel) column(fs []*factor, c int) {
	p := k.p
	n := max(0, min(c, p-2)) // terms to subtract
	ts := make([][]*val, len(fs))
	for i := range ts {
		ts[i] = make([]*val, n)
	}
	if c < k.ahead {
		for i, f := range fs {
			x := k.firsts[f.g]
			f.u[c][c], f.inv[c], ts[i] = x.d[c], x.inv[c], x.t[c]
			f.check(x.d[c], 1)
			f.times(x.d[c], 1)
		}
		k.below(fs, c, ts)
		return
	}
	k.sources(fs, c, c)
	for m := range n {
		for i, f := range fs {
			ts[i][m] = f.mul(f.u[c][m], f.inv[m])
		}
		for i, f := range fs {
			f.update3(VFNMADD231PD, f.u[c][c], ts[i][m], f.u[c][m])
		}
	}
	for _, f := range fs {
		d := f.u[c][c]
		switch {
		case c < p-2:
			f.inv[c] = f.invert(d)
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
			pair := f.mul(u, u)
			f.update3(VFMSUB231PD, pair, f.u[c-1][c-1], d)
			f.check(pair, 2)
			f.times(pair, 2)
		}
	}
	k.below(fs, c, ts)
}

// below reduces the rows below the pivot of column c.
func (k *kernel) below(fs []*factor, c int, ts [][]*val) {
	const rows = 2             // at a time
	first := max(c+1, k.ahead) // the rows above are done
	for r0 := first; r0 < k.p; r0 += rows {
		end := min(r0+rows, k.p)
		for r := r0; r < end; r++ {
			k.sources(fs, r, c)
		}
		for m := range ts[0] {
			for r := r0; r < end; r++ {
				for i, f := range fs {
					f.update3(VFNMADD231PD, f.u[r][c], ts[i][m], f.u[r][m])
				}
			}
		}
	}
}

// first is what is computed ahead for one vector: the pivots of the first columns, their inverses, and
// the factors t of these rows.
type first struct {
	d, inv []*val
	t      [][]*val
}

func (k *kernel) newFirsts() []*first {
	fs := make([]*first, k.vectors)
	for g := range fs {
		f := &first{}
		fs[g] = f
		for c := range k.ahead {
			f.d, f.inv = append(f.d, k.resident1()), append(f.inv, k.resident1())
			f.t = append(f.t, nil)
			for range c {
				f.t[c] = append(f.t[c], k.resident1())
			}
		}
	}
	return fs
}

// pivots computes what is computed ahead, for the sums of the matrix at a and the tile at b.
func (k *kernel) pivots(a, b reg.Register) {
	for g, to := range k.firsts {
		inv := make([]*val, k.ahead)
		t := make([][]*val, k.ahead)
		for c := range k.ahead {
			u := make([]*val, c)
			d := k.sum(a, b, c, c, g)
			for j := range c {
				u[j] = k.sum(a, b, c, j, g)
				for m := range j {
					k.update3(VFNMADD231PD, u[j], t[j][m], u[m])
				}
			}
			t[c] = make([]*val, c)
			for m := range c {
				t[c][m] = k.mul(u[m], inv[m])
				k.update3(VFNMADD231PD, d, t[c][m], u[m])
			}
			inv[c] = k.invert(d)
			// Moved when the factorisation has used what is there. A move takes no pipe.
			k.move(to.inv[c], inv[c])
			k.move(to.d[c], d)
			for m := range c {
				k.move(to.t[c][m], t[c][m])
			}
		}
	}
}

// invert is 1/d.
func (k *kernel) invert(d *val) *val {
	x := k.slow(13, k.op2(VDIVPD, k.c("one"), d))
	k.code[len(k.code)-1].pipe = 3
	return x
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
	f.pivots += n
	f.total += n
	f.four = append(f.four, d)
	switch len(f.four) {
	case 2:
		f.four[0] = f.mul(f.four[0], d)
	case 4:
		f.four[0] = f.mul(f.four[0], f.mul(f.four[2], d))
	}
	if len(f.four) < 4 && f.total < f.p {
		return
	}
	y := f.four[0]
	if len(f.four) == 3 {
		y = f.mul(y, d)
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
	f.det = f.mul(f.det, y)
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
		VBROADCASTSD(Mem{Base: f.r.a, Disp: e}, nan)
		VADDPD(Mem{Base: f.r.b, Disp: e + f.v.bytes*f.g}, nan, nan)
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
