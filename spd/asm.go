//go:build (amd64 || arm64) && !noasm

package spd

import "github.com/mlgkernel/mlg/internal/dense"

// asmWork returns the number of float64s that factoring matrices of order p takes: for a few
// variables, the inverse pivots, the factors t of four columns, and U; or for what small orders do
// not keep in registers (internal/asm).
func asmWork(p int) int {
	if vector == plain {
		return 0
	}
	return max(smallWork/8, Lanes*(2+5*p+Size(p)))
}

const (
	straightMost = 16   // greatest order with straight-line code of its own
	smallWork    = 8192 // bytes of work space that this code takes at most
)

// zeros stands for the other matrix of a sum where that code is to have none.
var zeros [straightMost * (straightMost + 1) / 2 * Lanes]float64

func (w *work) asmDets(mant []float64, expo []int64, a, tiles []float64, p int) bool {
	n := len(tiles) / (Size(p) * Lanes)
	var first *float64
	switch {
	case a != nil:
		first = &a[0]
	case p <= straightMost:
		first = &zeros[0]
	}
	if vector == plain {
		return false
	}
	vectorDets(p, &mant[0], &expo[0], first, n, &tiles[0], &w.buf[0])
	return true
}

func asmValues(dst, mant []float64, expo []int64, a quarter, b quarters) bool {
	if vector == plain {
		return false
	}
	vectorValues(&dst[0], &mant[0], &expo[0], len(dst), a.e, a.c, a.x, &b.e[0], &b.c[0], &b.x[0])
	return true
}

func asmLess(dst, g []float64, at []int64, u []float64, r int) bool {
	if vector == plain {
		return false
	}
	vectorLess(&dst[0], &g[0], &at[0], len(g), &u[0], r)
	return true
}

func asmGather(dst, from []float64, at []int64) bool {
	if vector == plain {
		return false
	}
	vectorGather(&dst[0], &from[0], &at[0], len(at))
	return true
}

// strip returns the number of fours, at most 3, to take of the given number that are left.
// Two and two are faster than three and one.
func strip(left int) int {
	if left == 4 {
		return 2
	}
	return min(left, 3)
}

// asmGram computes the lower triangle of YᵀY by blocks of 4×12 in a square work space whose
// order is a multiple of 4. Vectors run past the end of a row of y into the next, where
// there is one; the last rows are padded.
func asmGram(dst, y []float64, rows, p int) bool {
	if vector == plain {
		return false
	}
	p4 := (p + 3) &^ 3
	padded := min((p4-1)/p, rows) // rows within p4−p of the end: ⌈(p4−p)/p⌉
	s := works.Get().(*work)
	defer works.Put(s)
	s.gram = dense.Grow(s.gram, p4*p4+padded*p4)
	c, tail := s.gram[:p4*p4], s.gram[p4*p4:]
	clear(s.gram)
	for r := range padded {
		copy(tail[r*p4:], y[(rows-padded+r)*p:][:p])
	}
	if rows > padded {
		gramBlocks(c, y, p, rows-padded)
	}
	if padded > 0 {
		gramBlocks(c, tail, p4, padded)
	}
	for i := range p {
		row := dst[Index(i, 0):][:i+1]
		for j, v := range c[i*p4:][:i+1] {
			row[j] += v
		}
	}
	return true
}

// gramBlocks adds the products of rows of y, stride numbers apart, to the square c.
func gramBlocks(c, y []float64, stride, rows int) {
	p4 := (stride + 3) &^ 3
	for i := 0; i < p4; i += 4 {
		for j, left := 0, i/4+1; left > 0; {
			nv := strip(left)
			left -= nv
			f := gram4
			switch nv {
			case 2:
				f = gram8
			case 3:
				f = gram12
			}
			f(&c[i*p4+j], 8*p4, &y[i], &y[j], 8*stride, rows)
			j += 4 * nv
		}
	}
}
