package spd

import (
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// Batch is a set of symmetric positive definite matrices of one order, laid out for the
// kernel: eight matrices make a tile, which holds entry e of all eight next to each other.
// The last tile is padded.
type Batch struct {
	p, n   int
	tiles  []float64 // ⌈n/8⌉ tiles of Size(p)×8
	roots  quarters  // fourth roots of the determinants; NaN before Set
	logDet []float64
}

// NewBatch returns a batch of n matrices of order p, none of them set. The kernel with a
// matrix that was not set is NaN.
func NewBatch(n, p int) *Batch {
	if n < 0 || p < 1 {
		misuse("batch of %d matrices of order %d, want at least 0 of order at least 1", n, p)
	}
	t := (n + lanes - 1) / lanes
	b := &Batch{
		p: p, n: n,
		tiles:  dense.Grow(nil, t*lanes*Size(p)),
		roots:  newQuarters(t * lanes),
		logDet: make([]float64, n),
	}
	for i := range b.roots.e {
		b.roots.e[i], b.roots.c[i] = math.NaN(), math.NaN()
	}
	return b
}

// Len returns the number of matrices.
func (b *Batch) Len() int { return b.n }

// Order returns the order of the matrices.
func (b *Batch) Order() int { return b.p }

// Limits of what a batch accepts. Since the pivots of a sum lie between the sum of the
// pivots and the sum of the diagonal entries, they keep the product of eight pivots in the
// kernel inside the range of float64.
const (
	pivotMin = 0x1p-125
	pivotMax = 0x1p+125
)

// Set stores matrix i. It is an error if the matrix is not finite, or not positive definite
// to working precision: a pivot of the Cholesky factorisation must exceed p·2⁻⁵² times its
// diagonal entry (the size of its rounding error), and lie with it in [2⁻¹²⁵, 2¹²⁵].
// Calls for different i may run concurrently.
func (b *Batch) Set(i int, packed []float64) error {
	if i < 0 || i >= b.n {
		misuse("matrix %d out of range [0, %d)", i, b.n)
	}
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
	tile, l := b.tile(i)
	for e, v := range packed {
		tile[e*lanes+l] = v
	}
	b.keep(i, det)
	return nil
}

// keep stores what the kernel needs of the determinant of matrix i.
func (b *Batch) keep(i int, det determinant) {
	b.roots.set(i, quarterOf(det, b.p))
	b.logDet[i] = det.log()
}

// tile returns the tile of matrix i and its lane there.
func (b *Batch) tile(i int) (tile []float64, lane int) {
	n := Size(b.p) * lanes
	return b.tiles[i/lanes*n:][:n:n], i % lanes
}

// Tiles returns the matrices as Interleaved takes them. They must not be changed.
func (b *Batch) Tiles() []float64 { return b.tiles }

// At copies matrix i, packed, to dst, which must have Size(Order()) entries or be nil, and returns it.
func (b *Batch) At(i int, dst []float64) []float64 {
	if i < 0 || i >= b.n {
		misuse("matrix %d out of range [0, %d)", i, b.n)
	}
	if dst == nil {
		dst = make([]float64, Size(b.p))
	}
	if len(dst) != Size(b.p) {
		misuse("%d entries for a matrix of order %d, want %d", len(dst), b.p, Size(b.p))
	}
	tile, l := b.tile(i)
	for e := range dst {
		dst[e] = tile[e*lanes+l]
	}
	return dst
}

// LogDet returns the log-determinant of matrix i.
func (b *Batch) LogDet(i int) float64 {
	if i < 0 || i >= b.n {
		misuse("matrix %d out of range [0, %d)", i, b.n)
	}
	return b.logDet[i]
}
