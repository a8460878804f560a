package spd

import (
	"context"
	"sync"
	"sync/atomic"
)

// Sides of the squares in which Gram works: small enough to share the work, large enough to
// use what is in the cache. Diagonal squares go by strips of gramStrip rows.
const (
	gramLeast = 32
	gramMost  = 256
	gramShare = 16
	gramStrip = 16
)

// Gram sets dst[i·stride + j] to the kernel of matrices i and j of b (see Cross), for all i
// and j, by the given number of goroutines, at least one. Each pair is computed once. The
// result does not depend on the number of goroutines. Gram stops early and returns ctx's
// error when ctx is done.
func Gram(ctx context.Context, dst []float64, stride int, b *Batch, workers int) error {
	n := b.n
	if n == 0 {
		return ctx.Err()
	}
	if workers < 1 {
		misuse("%d workers, want at least 1", workers)
	}
	if stride < n || len(dst) < (n-1)*stride+n {
		misuse("%d numbers with stride %d for %d×%d values", len(dst), stride, n, n)
	}
	block := min(max(n/gramShare&^(lanes-1), gramLeast), gramMost)
	squares := int64(Size((n + block - 1) / block))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(int64(workers), squares) {
		wg.Go(func() {
			for ctx.Err() == nil {
				s := next.Add(1) - 1
				if s >= squares {
					return
				}
				// Square s is in block row r and block column s − Size(r).
				r := 0
				for int64(Size(r+1)) <= s {
					r++
				}
				gramSquare(dst, stride, b, block, r*block, (int(s)-Size(r))*block)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// gramSquare computes the square of side block with first row i0 and first column j0 ≤ i0, and
// its mirror image.
func gramSquare(dst []float64, stride int, b *Batch, block, i0, j0 int) {
	i1, j1 := min(i0+block, b.n), min(j0+block, b.n)
	if i0 == j0 {
		for i := i0; i < i1; i += gramStrip {
			hi := min(i+gramStrip, i1)
			Cross(dst[i*stride+j0:], stride, b, i, hi, b, j0, hi)
		}
	} else {
		Cross(dst[i0*stride+j0:], stride, b, i0, i1, b, j0, j1)
	}
	// By squares of one cache line.
	for i := i0; i < i1; i += lanes {
		for j := j0; j < min(j1, i+lanes); j += lanes {
			for c := j; c < min(j+lanes, j1); c++ {
				row := dst[c*stride:]
				for r := max(i, c+1); r < min(i+lanes, i1); r++ {
					row[r] = dst[r*stride+c]
				}
			}
		}
	}
}
