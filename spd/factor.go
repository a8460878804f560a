package spd

import (
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// lanes is the number of matrices that a tile interleaves.
const lanes = 8

// ldl factors a packed matrix S = U D⁻¹ Uᵀ in place, where D is the diagonal of the lower
// triangular U, and returns its determinant Π d_c = mant·2^expo, 1 ≤ mant < 2:
//
//	u_rc = s_rc − Σ_{m<c} u_rm t_cm,   t_cm = u_cm·(1/d_m),   d_c = u_cc.
//
// The terms are subtracted by fused multiply-adds in the order m = 0, 1, …; four pivots at a
// time are multiplied as (d₀d₁)(d₂d₃), then with those before them. This is all that the
// bits of the result depend on, and the assembly does the same operations. ok is false if a
// pivot is not a positive normal number; bad is then the row of the first such pivot.
//
// scratch holds 2p numbers.
func ldl(u []float64, p int, scratch []float64) (mant float64, expo int64, bad int, ok bool) {
	t, inv := scratch[:p], scratch[p:2*p]
	mant = 1
	four := [4]float64{1, 1, 1, 1} // mantissas of pivots
	row := u
	for c := range p {
		uc := row[: c+1 : c+1]
		row = row[c+1:]
		t := t[:c]
		d := uc[c]
		for m := range t {
			t[m] = uc[m] * inv[m]
			d = math.FMA(-uc[m], t[m], d)
		}
		if !(d >= 0x1p-1022 && d <= math.MaxFloat64) {
			return 0, 0, c, false
		}
		uc[c] = d
		inv[c] = 1 / d
		m, x := split(d)
		four[c&3] = m
		expo += x
		if c&3 == 3 || c == p-1 {
			mant, x = split(mant * ((four[0] * four[1]) * (four[2] * four[3])))
			expo += x
			four = [4]float64{1, 1, 1, 1}
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
	return mant, expo, 0, true
}

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

// root is the square root (hi+lo)·2^half of a determinant, 1 ≤ hi+lo < 2. Its relative error is
// about 2⁻¹⁰⁴, so that the product of two equal ones rounds to the determinant.
type root struct {
	hi, lo float64
	half   int64
}

func rootOf(mant float64, expo int64) root {
	if expo&1 != 0 {
		mant *= 2
	}
	hi := math.Sqrt(mant)
	return root{hi, math.FMA(-hi, hi, mant) / (2 * hi), expo >> 1}
}

// times returns the product y·2^x of two roots, 1 ≤ y ≤ 4, whatever their order.
func (a root) times(b root) (y float64, x int64) {
	y = a.hi * b.hi
	c := float64(a.hi*b.lo) + float64(a.lo*b.hi)
	return y + (c + math.FMA(a.hi, b.hi, -y)), a.half + b.half
}

// ratio sets dst[i] = min(1, (ab_i/s_i)^½) for the roots a and b_i of two determinants and a
// third determinant s_i = mant[i]·2^expo[i]. It is exactly 1 if all three determinants are
// equal. The exponents are applied last, so a value is rounded to a subnormal number or to
// zero only when it is one.
func ratio(dst, mant []float64, expo []int64, b *roots, a root) {
	for i := range dst {
		y, e := a.times(b.at(i))
		r := y / mant[i]
		e -= expo[i]
		r *= math.Float64frombits(uint64(e&1+1023) << 52)
		r = math.Sqrt(r)
		q := e >> 1
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
func logRatio(m float64, x int64, a, b root) float64 {
	y, e := a.times(b)
	if v := logOf(y/m, e-x) / 2; !(v > 0) { // NaN stays
		return v
	}
	return 0
}

// roots is a slice of roots, as the assembly wants it.
type roots struct {
	hi, lo []float64
	half   []int64
}

func (r *roots) at(i int) root { return root{r.hi[i], r.lo[i], r.half[i]} }

func (r *roots) slice(i, j int) roots { return roots{r.hi[i:j], r.lo[i:j], r.half[i:j]} }

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
	k    [blockTiles * lanes]float64
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
// into w.mant and w.expo; NaN where a pivot is outside the assembly's range.
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
				u[e] = a[e] + tile[e*lanes+l]
			}
			m, x, _, ok := ldl(u, p, w.u[size:])
			for r := range p {
				d := u[Index(r, r)]
				ok = ok && 0x1p-128 <= d && d < 0x1p128
			}
			if !ok {
				m = math.NaN()
			}
			w.mant[t*lanes+l], w.expo[t*lanes+l] = m, x
		}
	}
}

// misuse panics with a message about a programmer's error.
func misuse(format string, args ...any) {
	panic("spd: " + fmt.Sprintf(format, args...))
}
