package spd

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// lanes is the number of matrices that a tile interleaves.
const lanes = 8

// direct is the greatest order with assembly of its own (internal/gen/cross.go). Up to it the
// determinant of the last block of order 2 is taken without a division.
const direct = 16

// ldl factors a packed matrix S = U D⁻¹ Uᵀ in place, where D is the diagonal of the lower
// triangular U, and returns its determinant Π d_c = mant·2^expo, 1 ≤ mant < 2:
//
//	u_rc = s_rc − Σ_{m<c} u_rm t_cm,   t_cm = u_cm·(1/d_m),   d_c = u_cc.
//
// The terms are subtracted by fused multiply-adds in the order m = 0, 1, …; four pivots at a
// time are multiplied as (d₀d₁)(d₂d₃), then with those before them. If p ≤ direct, the last two
// pivots make one factor, of d = d_{p−2}, u = u_{p−1,p−2} and the last entry s before its last term,
//
//	d_{p−2} d_{p−1} = ds − u².
//
// This is all that the bits of the result depend on, and the assembly does the same operations.
//
// scratch holds 2p numbers.
func ldl(u []float64, p int, scratch []float64) determinant {
	t, inv := scratch[:p], scratch[p:2*p]
	det := product{mant: 1}
	near := true
	row := u
	for c := range p {
		uc := row[: c+1 : c+1]
		row = row[c+1:]
		t := t[:c]
		paired := p <= direct && c == p-1 && c > 0
		if paired {
			t = t[:c-1]
		}
		d := uc[c]
		for m := range t {
			t[m] = uc[m] * inv[m]
			d = math.FMA(-uc[m], t[m], d)
		}
		if paired {
			before := u[Index(c-1, c-1)]
			pair, x := crossed(before, d, uc[c-1])
			if !(pair >= 0x1p-1022) {
				return determinant{bad: c}
			}
			uc[c] = pair / before
			near = near && x == 0 && 0x1p-256 <= pair && pair < 0x1p256
			det.times(pair)
			det.expo += x
			break
		}
		if !(d >= 0x1p-1022 && d <= math.MaxFloat64) {
			return determinant{bad: c}
		}
		near = near && 0x1p-128 <= d && d < 0x1p128
		uc[c] = d
		inv[c] = 1 / d
		if !(p <= direct && c == p-2) {
			det.times(d)
		}

		// Column c of the rows below, four at a time: their chains of sums are independent.
		rest, r := row, c+1
		for ; r+3 < p; r += 4 {
			r0 := rest[:r+1]
			r1 := rest[r+1:][:r+2]
			r2 := rest[2*r+3:][:r+3]
			r3 := rest[3*r+6:][:r+4]
			s0, s1, s2, s3 := r0[c], r1[c], r2[c], r3[c]
			r0, r1, r2, r3 = r0[:c+1], r1[:c+1], r2[:c+1], r3[:c+1]
			for m, v := range t {
				s0 = math.FMA(-r0[m], v, s0)
				s1 = math.FMA(-r1[m], v, s1)
				s2 = math.FMA(-r2[m], v, s2)
				s3 = math.FMA(-r3[m], v, s3)
			}
			r0[c], r1[c], r2[c], r3[c] = s0, s1, s2, s3
			rest = rest[4*r+10:]
		}
		for ; r < p; r++ {
			r0 := rest[:c+1]
			s := r0[c]
			for m, v := range t {
				s = math.FMA(-r0[m], v, s)
			}
			r0[c] = s
			rest = rest[r+1:]
		}
	}
	mant, expo := det.end()
	return determinant{mant: mant, expo: expo, ok: true, near: near}
}

// determinant is |S| = mant·2^expo, 1 ≤ mant < 2.
type determinant struct {
	mant float64
	expo int64
	ok   bool // all pivots are positive normal numbers
	bad  int  // else the first row whose pivot is not
	near bool // and in the assembly's range: in [2⁻¹²⁸, 2¹²⁸), the last two as a product if p ≤ direct
}

// product is a product of positive normal numbers, multiplied four at a time.
type product struct {
	mant float64
	expo int64
	four [4]float64 // mantissas of the next factors
	n    int        // how many
}

func (p *product) times(x float64) {
	m, e := split(x)
	p.expo += e
	p.four[p.n] = m
	if p.n++; p.n == 4 {
		p.end()
	}
}

// end multiplies what is left and returns the product.
func (p *product) end() (mant float64, expo int64) {
	if p.n > 0 {
		for p.n < 4 {
			p.four[p.n] = 1
			p.n++
		}
		m, e := split(p.mant * ((p.four[0] * p.four[1]) * (p.four[2] * p.four[3])))
		p.mant, p.n = m, 0
		p.expo += e
	}
	return p.mant, p.expo
}

// crossed returns ds − u² = x·2^expo for a positive normal d.
func crossed(d, s, u float64) (x float64, expo int64) {
	if !(0x1p-400 < d && d < 0x1p400 && 0x1p-400 < s && s < 0x1p400) && s >= 0x1p-1022 && s <= math.MaxFloat64 {
		// Powers of 4 keep it in range: d = d'·4^a, s = s'·4^b.
		_, xd := split(d)
		_, xs := split(s)
		a, b := xd>>1, xs>>1
		d, s, u = scale(scale(d, -a), -a), scale(scale(s, -b), -b), scale(scale(u, -a), -b)
		expo = 2 * (a + b)
	}
	return math.FMA(d, s, -float64(u*u)), expo
}

// scale returns x·2^n for |n| < 1000.
func scale(x float64, n int64) float64 { return x * math.Float64frombits(uint64(n+1023)<<52) }

// split returns a positive normal x as mant·2^expo with 1 ≤ mant < 2.
func split(x float64) (mant float64, expo int64) {
	b := math.Float64bits(x)
	return math.Float64frombits(b&(1<<52-1) | 1023<<52), int64(b>>52) - 1023
}

// logOf returns log(mant·2^expo) for a positive mant near 1.
func logOf(mant float64, expo int64) float64 {
	if -1000 < expo && expo < 1000 {
		return math.Log(mant * math.Float64frombits(uint64(expo+1023)<<52)) // exact product
	}
	return math.Log(mant) + float64(expo)*math.Ln2
}

// quarter is what a matrix A brings to its kernel values: the fourth root |2A|^¼ = e·2^x,
// 1 ≤ e < 2, and a correction c of the size of a rounding error, chosen so that the kernel of A
// with itself is exactly 1.
type quarter struct {
	e, c float64
	x    int64
}

// quarterOf takes the determinant |A| of a matrix of order p.
func quarterOf(det determinant, p int) quarter {
	expo := det.expo + int64(p)
	a := quarter{e: math.Sqrt(math.Sqrt(scale(det.mant, expo&3))), x: expo >> 2}
	// value computes v/√(1−ρ) from v and ρ. With ρ = 1 − v² that is 1.
	m, h := even(det.mant, expo)
	r := seed(m)
	v := scale(r*(a.e*a.e), 2*a.x-h)
	a.c = (math.FMA(-v, v, 1) - math.FMA(-m, r*r, 1)) / 2
	return a
}

// even returns mant·2^expo, 1 ≤ mant < 2, as m·4^h with ½ ≤ m < 2.
func even(mant float64, expo int64) (m float64, h int64) {
	if expo&1 != 0 {
		return mant / 2, (expo + 1) >> 1
	}
	return mant, expo >> 1
}

// seed returns 1/√m, rounded to single precision in each step.
func seed(m float64) float64 {
	return float64(1 / float32(math.Sqrt(float64(float32(m)))))
}

// value returns the kernel y·2^q of matrices A and B for the determinant |A+B| = mant·2^expo:
//
//	k = |2A|^¼ |2B|^¼ / |A+B|^½.
//
// For |A+B| = m·4^h a root r ≈ 1/√m in single precision, whose square is exact in double
// precision, is corrected by two terms of the series 1/√m = r(1 + ½ρ + ⅜ρ² + …), ρ = 1 − mr².
func value(mant float64, expo int64, a, b quarter) (y float64, q int64) {
	m, h := even(mant, expo)
	r := seed(m)
	rho := math.FMA(-m, r*r, 1) + (a.c + b.c)
	y = r * (a.e * b.e)
	return math.FMA(y*rho, math.FMA(0.375, rho, 0.5), y), a.x + b.x - h
}

// ratio sets dst[i] = min(1, k_i) for the kernel k_i of the matrices of a and b_i and the
// determinant mant[i]·2^expo[i] of their sum. The exponents are applied last, so a value is
// rounded to a subnormal number or to zero only when it is one.
func ratio(dst, mant []float64, expo []int64, b *quarters, a quarter) {
	for i := range dst {
		r, q := value(mant[i], expo[i], a, b.at(i))
		q1 := max(q, -1000)
		q2 := max(q-q1, -1000)
		r *= math.Float64frombits(uint64(q1+1023) << 52)
		r *= math.Float64frombits(uint64(q2+1023) << 52)
		if r > 1 {
			r = 1
		}
		dst[i] = r
	}
}

// logRatio is the logarithm of ratio's value.
func logRatio(mant float64, expo int64, a, b quarter) float64 {
	if v := logOf(value(mant, expo, a, b)); !(v > 0) { // NaN stays
		return v
	}
	return 0
}

// quarters is a slice of quarters, as the assembly wants it.
type quarters struct {
	e, c []float64
	x    []int64
}

func (r *quarters) at(i int) quarter { return quarter{r.e[i], r.c[i], r.x[i]} }

func (r *quarters) slice(i, j int) quarters { return quarters{r.e[i:j], r.c[i:j], r.x[i:j]} }

// Sizes of the loops around the factorisation. They change the speed, not a bit of the result.
const (
	blockBytes = 128 << 10 // tiles of one block, to stay in the second-level cache
	blockTiles = 64        // at most so many
)

// work is the scratch space of one worker.
type work struct {
	a    []float64 // a packed matrix
	u    []float64 // one for the plain factorisation
	buf  []float64 // work space of the assembly, 64-byte aligned
	pack []float64 // packed operands of Project and AddGram
	mant [blockTiles * lanes]float64
	expo [blockTiles * lanes]int64
	k    [lanes * blockTiles * lanes]float64 // rows of values
}

var works = sync.Pool{New: func() any { return new(work) }}

// getWork returns scratch space for matrices of order p; the caller puts it back into works.
func getWork(p int) *work {
	w := works.Get().(*work)
	w.a = grow(w.a, Size(p))
	w.u = grow(w.u, Size(p)+2*p)
	w.buf = grow(w.buf, asmWork(p))
	return w
}

// grow returns a slice of length n, with its first number at a multiple of 64 bytes.
func grow(s []float64, n int) []float64 {
	if n <= cap(s) {
		return s[:n]
	}
	return aligned(n)
}

func aligned(n int) []float64 {
	s := make([]float64, n+7)
	off := 0
	if n > 0 {
		off = int(-uintptr(unsafe.Pointer(&s[0]))&63) / 8
	}
	return s[off : off+n : off+n]
}

// sumDets computes the determinants of a + B for the matrices B of up to blockTiles tiles,
// into w.mant and w.expo; NaN where a pivot is outside the assembly's range. The entries of a are
// lanes apart, as in its tile.
func (w *work) sumDets(a, tiles []float64, p int) {
	if w.asmSumDets(a, tiles, p) {
		return
	}
	size := Size(p)
	for t := 0; t*size*lanes < len(tiles); t++ {
		tile := tiles[t*size*lanes:][:size*lanes]
		for l := range lanes {
			u := w.u[:size]
			for e := range u {
				u[e] = a[e*lanes] + tile[e*lanes+l]
			}
			det := ldl(u, p, w.u[size:])
			if !det.near {
				det.mant = math.NaN()
			}
			w.mant[t*lanes+l], w.expo[t*lanes+l] = det.mant, det.expo
		}
	}
}

// cross computes the kernel of rows matrices in neighbouring lanes of a tile, from a on, with the
// matrices of up to blockTiles tiles, into rows of dst.
func (w *work) cross(dst []float64, stride, rows int, a []float64, qa quarters, tiles []float64, qb quarters, p int) {
	if w.asmCross(dst, stride, rows, a, qa, tiles, qb, p) {
		return
	}
	n := len(qb.e)
	mant, expo := w.mant[:n], w.expo[:n]
	for i := range rows {
		w.sumDets(a[i:], tiles, p)
		k := dst[i*stride:][:n]
		if !w.asmRatio(k, mant, expo, &qb, qa.at(i)) {
			ratio(k, mant, expo, &qb, qa.at(i))
		}
	}
}

// misuse panics with a message about a programmer's error.
func misuse(format string, args ...any) {
	panic("spd: " + fmt.Sprintf(format, args...))
}
