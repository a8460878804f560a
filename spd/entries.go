package spd

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
)

// entries are those of the matrices X + G/(2γ) − UUᵀ of Factors.Cross, each distinct one once. An
// entry is known by two rows of Q and its entry of X. Overlapping neighbourhoods of a graph have
// most of them in common.
type entries struct {
	g       []float64  // by entry: that of X + G/(2γ)
	product []float64  // by entry: that of G/γ
	rows    [][2]int32 // by entry
	x       []float64  // by entry
	at      []int64    // by entry: the bytes at which its rows are in U
	where   []int64    // by entry of every matrix: the bytes at which it is among the distinct ones

	first, next []int32 // lists of entries with the same hash; −1 ends them
	shift       int
}

// clear removes all entries and makes room for those of matrices with so many.
func (s *entries) clear(total int) {
	s.g, s.product, s.rows, s.x = s.g[:0], s.product[:0], s.rows[:0], s.x[:0]
	s.where, s.next = s.where[:0], s.next[:0]
	width := bits.Len(uint(total / 4)) // few are distinct
	s.first, s.shift = slices.Grow(s.first[:0], 1<<width)[:1<<width], 64-width
	for i := range s.first {
		s.first[i] = -1
	}
}

// find returns the next entry of a matrix, and whether it was known before.
func (s *entries) find(c, d int32, x float64) (k int32, known bool) {
	rows := [2]int32{max(c, d), min(c, d)}
	h := (uint64(rows[0])<<32 | uint64(rows[1])) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ math.Float64bits(x)) * 0xbf58476d1ce4e5b9 >> s.shift
	for k = s.first[h]; k >= 0 && (s.rows[k] != rows || math.Float64bits(s.x[k]) != math.Float64bits(x)); {
		k = s.next[k]
	}
	if known = k >= 0; !known {
		k = int32(len(s.rows))
		s.rows, s.x, s.next = append(s.rows, rows), append(s.x, x), append(s.next, s.first[h])
		s.first[h] = k
	}
	s.where = append(s.where, int64(k)*Lanes*8)
	return k, known
}

// even makes the number of entries even, as less wants it.
func (s *entries) even() {
	if len(s.g)%2 == 1 {
		s.rows, s.g = append(s.rows, s.rows[0]), append(s.g, s.g[0])
	}
}

// place sets at for a U with so many columns.
func (s *entries) place(columns int) {
	s.at = s.at[:0]
	for _, r := range s.rows {
		s.at = append(s.at, int64(r[0])*int64(columns)*8, int64(r[1])*int64(columns)*8)
	}
}

// less sets the entries of dst, of Lanes numbers, to those of G − UUᵀ: each one of g is reduced by
// r fused multiply-adds in turn. Its two rows of U begin at bytes 2i and 2i+1 of at. The number of
// entries is even.
func less(dst, g []float64, at []int64, u []float64, r int) {
	if asmLess(dst, g, at, u, r) {
		return
	}
	for i, first := range g {
		x, y := u[at[2*i]/8:][:r*Lanes], u[at[2*i+1]/8:][:r*Lanes]
		var s [Lanes]float64
		for l := range s {
			s[l] = first
		}
		for b := 0; b < len(x); b += Lanes {
			for l := range s {
				s[l] = dense.FMA(-x[b+l], y[b+l], s[l])
			}
		}
		copy(dst[i*Lanes:], s[:])
	}
}

// gather copies entries of Lanes numbers, which begin at the given bytes of from, to dst.
func gather(dst, from []float64, at []int64) {
	if asmGather(dst, from, at) {
		return
	}
	for i, x := range at {
		copy(dst[i*Lanes:][:Lanes], from[x/8:])
	}
}
