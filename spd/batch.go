package spd

import (
	"fmt"
	"math"
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
		tiles:  aligned(t * lanes * Size(p)),
		roots:  quarters{make([]float64, t*lanes), make([]float64, t*lanes), make([]int64, t*lanes)},
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
// pivots and the sum of the diagonal entries, they keep the product of four pivots in the
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
	det := ldl(u, b.p, w.u[size:])
	if !det.ok {
		return fmt.Errorf("spd: matrix %d is not positive definite: pivot %d is %g", i, det.bad, pivot(packed, u, det.bad))
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
	r := quarterOf(det, b.p)
	if b.p <= direct {
		r.e, r.x = scale(r.e, r.x), 0 // in range, as the assembly wants it
	}
	b.roots.e[i], b.roots.c[i], b.roots.x[i] = r.e, r.c, r.x
	b.logDet[i] = logOf(det.mant, det.expo)
}

// tile returns the tile of matrix i and its lane there.
func (b *Batch) tile(i int) (tile []float64, lane int) {
	n := Size(b.p) * lanes
	return b.tiles[i/lanes*n:][:n:n], i % lanes
}

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

// Cross sets dst[(i−i0)·stride + (j−j0)] to the Bhattacharyya kernel
//
//	k = |A_i|^¼ |B_j|^¼ / |½(A_i+B_j)|^½
//
// of matrix i of a and matrix j of b, for i0 ≤ i < i1 and j0 ≤ j < j1. A value depends on
// the two matrices alone, not on their places or order; it is at most 1, and 1 for two
// equal matrices. It is NaN if a matrix was not set, or if two nearly singular matrices
// have a sum that rounding makes singular.
//
// Cross runs in the calling goroutine and allocates nothing once its scratch space exists.
// It takes O(p³) time for a pair.
func Cross(dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int) {
	cross(dst, stride, a, i0, i1, b, j0, j1, false)
}

// LogCross is Cross for log k, which does not underflow.
func LogCross(dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int) {
	cross(dst, stride, a, i0, i1, b, j0, j1, true)
}

func cross(dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int, logs bool) {
	if a.p != b.p {
		misuse("matrices of orders %d and %d", a.p, b.p)
	}
	if i0 < 0 || i0 > i1 || i1 > a.n {
		misuse("rows [%d, %d) of %d matrices", i0, i1, a.n)
	}
	if j0 < 0 || j0 > j1 || j1 > b.n {
		misuse("columns [%d, %d) of %d matrices", j0, j1, b.n)
	}
	if i0 == i1 || j0 == j1 {
		return
	}
	if stride < j1-j0 || len(dst) < (i1-i0-1)*stride+j1-j0 {
		misuse("%d numbers with stride %d for %d×%d values", len(dst), stride, i1-i0, j1-j0)
	}
	p := a.p
	w := getWork(p)
	defer works.Put(w)
	tileSize := Size(p) * lanes
	block := min(max(blockBytes/(8*tileSize), 4), blockTiles) * lanes
	for lo := j0 &^ (lanes - 1); lo < j1; lo += block {
		hi := min(lo+block, (j1+lanes-1)&^(lanes-1))
		rb := b.roots.slice(lo, hi)
		from, to := max(lo, j0), min(hi, j1)
		tiles := b.tiles[lo/lanes*tileSize : hi/lanes*tileSize]
		for i := i0; i < i1; {
			tile, lane := a.tile(i)
			rows := min(lanes-lane, i1-i)
			qa := a.roots.slice(i, i+rows)
			out := dst[(i-i0)*stride+from-j0:]
			switch {
			case logs:
				for r := range rows {
					w.sumDets(tile[lane+r:], tiles, p)
					for j := range to - from {
						l := from - lo + j
						out[r*stride+j] = logRatio(w.mant[l], w.expo[l], qa.at(r), rb.at(l))
					}
				}
			case to-from == hi-lo:
				w.cross(out, stride, rows, tile[lane:], qa, tiles, rb, p)
			default:
				// The block has columns that are not wanted.
				w.cross(w.k[:], hi-lo, rows, tile[lane:], qa, tiles, rb, p)
				for r := range rows {
					copy(out[r*stride:][:to-from], w.k[r*(hi-lo)+from-lo:])
				}
			}
			i += rows
		}
	}
}
