package spd

import (
	"fmt"
	"sync"

	"github.com/mlgkernel/mlg/internal/dense"
)

// Lanes is the number of matrices that a tile interleaves.
const Lanes = 8

// Sizes of the loops around the factorisation. They change the speed, not a bit of the result.
const (
	blockBytes = 128 << 10 // tiles of one block, to stay in the second-level cache
	blockTiles = 64        // at most so many
)

// work is the scratch space of one worker.
type work struct {
	u    []float64 // a packed matrix, and 2p numbers for its factorisation
	buf  []float64 // work space of the assembly
	four []four    // work space of plainDets
	gram []float64 // a square of sums, and padded rows
	mant [blockTiles * Lanes]float64
	expo [blockTiles * Lanes]int64
}

var works = sync.Pool{New: func() any { return new(work) }}

// getWork returns scratch space for matrices of order p; the caller puts it back into works.
func getWork(p int) *work {
	w := works.Get().(*work)
	w.u = dense.Grow(w.u, Size(p)+2*p)
	w.buf = dense.Grow(w.buf, asmWork(p))
	return w
}

// Instructions names what computes kernels on this processor: AVX-512, AVX2, NEON, or plain Go.
func Instructions() string { return instructions[vector] }

// leastPivot is the least pivot of a sum of matrices: less than what Set accepts, so that only
// rounding errors go below it. The product of eight pivots that are not less is a normal number.
const leastPivot = 0x1p-127

// dets computes the determinants mant·4^expo of A + B for the matrices B of some tiles. A is one
// matrix, whose entries are lanes apart, as in its tile, or nil for 0. mant is negative where a
// pivot is less than least, or not finite. Assembly gives up at pivots outside [2⁻¹²⁷, 2¹²⁷].
// Unless least is leastPivot, these matrices are factored again.
func (w *work) dets(mant []float64, expo []int64, a, tiles []float64, p int, least float64) {
	if !w.asmDets(mant, expo, a, tiles, p) {
		w.plainDets(mant, expo, a, tiles, p, least)
		return
	}
	if least == leastPivot {
		return
	}
	size := Size(p)
	u, scratch := w.u[:size], w.u[size:]
	for i := range mant {
		if mant[i] > 0 {
			continue
		}
		tile := tiles[i/Lanes*size*Lanes+i%Lanes:]
		for e := range u {
			u[e] = tile[e*Lanes]
			if a != nil {
				u[e] += a[e*Lanes]
			}
		}
		det, bad := ldl(u, p, least, scratch)
		if bad >= 0 {
			det.mant = -1
		}
		mant[i], expo[i] = det.mant, det.expo
	}
}

// Dets computes the determinants of the matrices of some tiles,
//
//	|S| = mant·4^expo,   ½ ≤ mant < 2,
//
// without a logarithm. Entry e of packed matrix l of tile t is at
// tiles[(t·Size(p) + e)·Lanes + l]; mant and expo have Lanes numbers for each tile. mant is
// negative for a matrix that is not positive definite or not finite. The tiles are not changed.
// Several tiles in one call are faster than one, for small p. It takes O(p³) time for a matrix.
func Dets(mant []float64, expo []int64, tiles []float64, p int) {
	if p < 1 {
		misuse("order %d, want at least 1", p)
	}
	size := Size(p) * Lanes
	n := len(tiles) / size
	if len(tiles) != n*size {
		misuse("%d numbers in tiles of order %d, want a multiple of %d", len(tiles), p, size)
	}
	if len(mant) != n*Lanes || len(expo) != n*Lanes {
		misuse("%d mantissas and %d exponents for %d tiles, want %d of each", len(mant), len(expo), n, n*Lanes)
	}
	if n == 0 {
		return
	}
	w := getWork(p)
	defer works.Put(w)
	w.dets(mant, expo, nil, tiles, p, leastNormal)
}

// misuse panics with a message about a programmer's error.
func misuse(format string, args ...any) {
	panic("spd: " + fmt.Sprintf(format, args...))
}
