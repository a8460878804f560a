package spd

// Lanes is the number of matrices in a tile.
const Lanes = lanes

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
	w.dets(mant, expo, nil, tiles, p, leastNormal)
}
