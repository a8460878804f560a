package spd

import "math"

// Lanes is the number of matrices in a tile.
const Lanes = lanes

// Dets computes the determinants of the matrices of some tiles,
//
//	|S| = mant·2^expo,   1 ≤ mant < 2,
//
// without a logarithm. Entry e of packed matrix l of tile t is at
// tiles[(t·Size(p) + e)·Lanes + l]; mant and expo have Lanes numbers for each tile. mant is
// NaN for a matrix that is not positive definite or not finite. The tiles are not changed.
// Several tiles in one call are faster than one, for small p. It takes O(p³) time for a matrix.
func Dets(mant []float64, expo []int64, tiles []float64, p int) {
	if p < 1 {
		misuse("order %d, want at least 1", p)
	}
	size := Size(p) * lanes
	n := len(tiles) / size
	if len(tiles) != n*size {
		misuse("%d numbers in tiles of order %d, want a multiple of %d", len(tiles), p, size)
	}
	if len(mant) != n*lanes || len(expo) != n*lanes {
		misuse("%d mantissas and %d exponents for %d tiles, want %d of each", len(mant), len(expo), n, n*lanes)
	}
	if n == 0 {
		return
	}
	w := getWork(p)
	defer works.Put(w)
	w.dets(mant, expo, tiles, p)
}

func (w *work) dets(mant []float64, expo []int64, tiles []float64, p int) {
	size := Size(p) * lanes
	done := w.asmDets(mant, expo, tiles, p)
	for i := range mant {
		// The assembly gives up beyond a range of pivots that the plain code does not have.
		if done && !math.IsNaN(mant[i]) {
			continue
		}
		tile, l := tiles[i/lanes*size:][:size], i%lanes
		u := w.u[:Size(p)]
		for e := range u {
			u[e] = tile[e*lanes+l]
		}
		det := ldl(u, p, w.u[len(u):])
		if !det.ok {
			det.mant = math.NaN()
		}
		mant[i], expo[i] = det.mant, det.expo
	}
}

// LogDets is Dets for the logarithms of the determinants: dst has Lanes numbers for each tile.
func LogDets(dst, tiles []float64, p int) {
	if p < 1 {
		misuse("order %d, want at least 1", p)
	}
	const block = 8 * lanes
	var expo [block]int64
	size := Size(p)
	for len(dst) > 0 {
		n := min(len(dst), block)
		if len(tiles) < n*size {
			misuse("%d numbers in tiles for %d more matrices of order %d", len(tiles), len(dst), p)
		}
		Dets(dst[:n], expo[:n], tiles[:n*size], p)
		for i, m := range dst[:n] {
			dst[i] = logOf(m, expo[i])
		}
		dst, tiles = dst[n:], tiles[n*size:]
	}
}
