package spd

import (
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// Size returns the number of entries of a packed matrix of order p.
func Size(p int) int { return p * (p + 1) / 2 }

// Index returns the place of entry (i, j), j ≤ i, in a packed matrix.
func Index(i, j int) int { return i*(i+1)/2 + j }

// Batch is a set of symmetric positive definite matrices of one order, laid out for the
// kernel: eight matrices make a tile, which holds entry e of all eight next to each other.
// The last tile is padded.
type Batch struct {
	p, n  int
	tiles []float64 // ⌈n/8⌉ tiles of Size(p)×8
	roots quarters  // fourth roots of the determinants; NaN before Set
}

// NewBatch returns a batch of n matrices of order p, none of them set. The kernel with a
// matrix that was not set is NaN.
func NewBatch(n, p int) *Batch {
	b := newBatch(n, p)
	b.tiles = dense.Grow(nil, len(b.roots.e)*Size(p))
	return b
}

// newBatch returns a batch without tiles.
func newBatch(n, p int) *Batch {
	if n < 0 || p < 1 {
		misuse("batch of %d matrices of order %d, want at least 0 of order at least 1", n, p)
	}
	b := &Batch{p: p, n: n, roots: newQuarters((n + Lanes - 1) / Lanes * Lanes)}
	for i := range b.roots.e {
		b.roots.set(i, quarter{e: math.NaN(), c: math.NaN()})
	}
	return b
}

// Interleaved returns the batch of n matrices that are given as tiles, in the layout of Dets; the
// last tile may be filled up with anything. The batch keeps the tiles, which must not be changed
// after that. They may be a mapped file. Kernel values have the same bits as for a batch filled by
// Set. It is an error if a matrix is not positive definite or not finite. Nearly singular matrices
// are not checked as closely as by Set.
//
// It takes about the time in which every matrix is compared with one other.
func Interleaved(tiles []float64, n, p int) (*Batch, error) {
	b := newBatch(n, p)
	all := len(b.roots.e)
	if len(tiles) != all*Size(p) {
		misuse("%d numbers in the tiles of %d matrices of order %d, want %d", len(tiles), n, p, all*Size(p))
	}
	b.tiles = tiles
	mant, expo := make([]float64, all), make([]int64, all)
	Dets(mant, expo, tiles, p)
	for i := range n {
		if mant[i] < 0 {
			return nil, fmt.Errorf("spd: matrix %d is not positive definite", i)
		}
		b.roots.set(i, quarterOf(determinant{mant[i], expo[i]}, p))
	}
	return b, nil
}

// Len returns the number of matrices.
func (b *Batch) Len() int { return b.n }

// Order returns the order of the matrices.
func (b *Batch) Order() int { return b.p }

// Limits of what a batch accepts. The pivots of a sum lie between the sum of the pivots and the sum
// of the diagonal entries. So these limits keep the product of eight pivots in the kernel inside
// the range of float64.
const (
	pivotMin = 0x1p-125
	pivotMax = 0x1p+125
)

// Set stores matrix i. It is an error if the matrix is not finite, or not positive definite
// to working precision: a pivot of the Cholesky factorisation must exceed p·2⁻⁵² times its
// diagonal entry (the size of its rounding error), and lie with it in [2⁻¹²⁵, 2¹²⁵].
// Calls for different i may run concurrently.
func (b *Batch) Set(i int, packed []float64) error {
	tile, l := b.tile(i)
	size := Size(b.p)
	if len(packed) != size {
		return fmt.Errorf("spd: matrix %d has %d entries, want %d for order %d", i, len(packed), size, b.p)
	}
	w := getWork(b.p)
	defer works.Put(w)
	u := w.u[:size]
	copy(u, packed)
	for r := range b.p {
		d := packed[Index(r, r)]
		if !(pivotMin <= d && d <= pivotMax) {
			return fmt.Errorf("spd: matrix %d: diagonal entry %d is %g, want it in [2^-125, 2^125]", i, r, d)
		}
	}
	det, bad := ldl(u, b.p, leastNormal, w.u[size:])
	if bad >= 0 {
		return fmt.Errorf("spd: matrix %d is not positive definite: pivot %d is %g", i, bad, u[Index(bad, bad)])
	}
	for r := range b.p {
		d, s := u[Index(r, r)], packed[Index(r, r)]
		if !(d >= pivotMin && d > float64(b.p)*0x1p-52*s) {
			return fmt.Errorf("spd: matrix %d is singular to working precision: pivot %d is %g beside the diagonal entry %g", i, r, d, s)
		}
	}
	for e, v := range packed {
		tile[e*Lanes+l] = v
	}
	b.roots.set(i, quarterOf(det, b.p))
	return nil
}

// tile returns the tile of matrix i and its lane there.
func (b *Batch) tile(i int) (tile []float64, lane int) {
	if i < 0 || i >= b.n {
		misuse("matrix %d out of range [0, %d)", i, b.n)
	}
	n := Size(b.p) * Lanes
	return b.tiles[i/Lanes*n:][:n:n], i % Lanes
}

// Tiles returns the matrices as Interleaved takes them. They must not be changed.
func (b *Batch) Tiles() []float64 { return b.tiles }

// At copies matrix i, packed, to dst, which must have Size(Order()) entries or be nil, and returns it.
func (b *Batch) At(i int, dst []float64) []float64 {
	tile, l := b.tile(i)
	if dst == nil {
		dst = make([]float64, Size(b.p))
	}
	if len(dst) != Size(b.p) {
		misuse("%d entries for a matrix of order %d, want %d", len(dst), b.p, Size(b.p))
	}
	for e := range dst {
		dst[e] = tile[e*Lanes+l]
	}
	return dst
}

// Range returns what the kernel knows of the matrices lo … hi-1: the tiles that have them, and of
// each matrix |2A|^¼ = e·2^x with the correction c. They must not be changed.
func (b *Batch) Range(lo, hi int) (tiles, e, c []float64, x []int64) {
	size := Size(b.p) * Lanes
	r := b.roots.slice(lo, hi)
	return b.tiles[lo/Lanes*size : (hi+Lanes-1)/Lanes*size], r.e, r.c, r.x
}
