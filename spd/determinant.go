package spd

import (
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// determinant is |S| = mant·4^expo, ½ ≤ mant < 2.
type determinant struct {
	mant float64
	expo int64
}

// ldl factors a packed matrix S = U D⁻¹ Uᵀ in place, where D is the diagonal of the lower
// triangular U, and returns its determinant Π d_c:
//
//	u_rc = s_rc − Σ_{m<c} u_rm t_cm,   t_cm = u_cm·(1/d_m),   d_c = u_cc.
//
// The terms are subtracted by fused multiply-adds in the order m = 0, 1, …, and the pivots are
// multiplied in turn. This is all that the bits of the result depend on, and the assembly does the
// same operations.
//
// bad is the first row whose pivot is less than least, a positive normal number, or not finite; −1
// if there is none. scratch holds 2p numbers.
func ldl(u []float64, p int, least float64, scratch []float64) (det determinant, bad int) {
	t, inv := scratch[:p], scratch[p:2*p] // −t and −1/d
	det.mant = 1
	for c := range p {
		row := u[: c+1 : c+1]
		u = u[c+1:]
		t := t[:c]
		d := row[c]
		for m := range t {
			t[m] = row[m] * inv[m]
			d = dense.FMA(row[m], t[m], d)
		}
		row[c] = d
		if !(d >= least && d <= math.MaxFloat64) {
			return det, c
		}
		inv[c] = -1 / d
		det.times(d)
		reduce(u, p, c, t)
	}
	return det, -1
}

// reduce adds the products with t to column c of the rows below row c, four at a time: their chains
// of sums are independent.
func reduce(u []float64, p, c int, t []float64) {
	r := c + 1
	for ; r+3 < p && dense.Fused; r += 4 {
		r0 := u[:r+1]
		r1 := u[r+1:][:r+2]
		r2 := u[2*r+3:][:r+3]
		r3 := u[3*r+6:][:r+4]
		s0, s1, s2, s3 := r0[c], r1[c], r2[c], r3[c]
		r0, r1, r2, r3 = r0[:c+1], r1[:c+1], r2[:c+1], r3[:c+1]
		for m, v := range t {
			s0 = math.FMA(r0[m], v, s0)
			s1 = math.FMA(r1[m], v, s1)
			s2 = math.FMA(r2[m], v, s2)
			s3 = math.FMA(r3[m], v, s3)
		}
		r0[c], r1[c], r2[c], r3[c] = s0, s1, s2, s3
		u = u[4*r+10:]
	}
	for ; r < p; r++ {
		row := u[:c+1]
		s := row[c]
		for m, v := range t {
			s = dense.FMA(row[m], v, s)
		}
		row[c] = s
		u = u[r+1:]
	}
}

// leastNormal is the least pivot that can be inverted.
const leastNormal = 0x1p-1022

// times multiplies by a positive normal number.
func (d *determinant) times(x float64) {
	if x < 0x1p-1000 || x > 0x1p+1000 { // the product could overflow
		m, e := split(x)
		x, d.expo = m, d.expo+e
	}
	m, e := split(d.mant * x)
	d.mant, d.expo = m, d.expo+e
}

// split returns a positive normal x as mant·4^expo with ½ ≤ mant < 2.
func split(x float64) (mant float64, expo int64) {
	b := math.Float64bits(x)
	return math.Float64frombits(b&(1<<53-1) | 1022<<52), int64(b>>53) - 511
}

// scale returns x·2^n for |n| < 1023.
func scale(x float64, n int64) float64 { return x * math.Float64frombits(uint64(n+1023)<<52) }

// logOf returns log(x·2^n) for a positive x near 1.
func logOf(x float64, n int64) float64 {
	if -1000 < n && n < 1000 {
		return math.Log(scale(x, n)) // exact product
	}
	return math.Log(x) + float64(n)*math.Ln2
}
