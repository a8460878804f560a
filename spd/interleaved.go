package spd

import (
	"fmt"
	"math"
)

// Interleaved returns the batch of n matrices that are given as tiles, in the layout of Dets,
// the last one filled up with anything. The batch keeps the tiles, which must not be changed
// after that; they may be a mapped file. The kernel has the bits that it has for a batch
// filled by Set. It is an error if a matrix is not positive definite or not finite; whether
// it is nearly singular is not looked at as closely as Set does.
//
// It takes about the time in which every matrix is compared with one other.
func Interleaved(tiles []float64, n, p int) (*Batch, error) {
	if n < 0 || p < 1 {
		misuse("batch of %d matrices of order %d, want at least 0 of order at least 1", n, p)
	}
	all := (n + lanes - 1) / lanes * lanes
	if len(tiles) != all*Size(p) {
		misuse("%d numbers in the tiles of %d matrices of order %d, want %d", len(tiles), n, p, all*Size(p))
	}
	b := &Batch{
		p: p, n: n, tiles: tiles,
		roots:  newQuarters(all),
		logDet: make([]float64, n),
	}
	mant, expo := make([]float64, all), make([]int64, all)
	Dets(mant, expo, tiles, p)
	for i := range n {
		if mant[i] < 0 {
			return nil, fmt.Errorf("spd: matrix %d is not positive definite", i)
		}
		b.keep(i, determinant{mant[i], expo[i]})
	}
	for i := n; i < all; i++ {
		b.roots.e[i], b.roots.c[i] = math.NaN(), math.NaN()
	}
	return b, nil
}
