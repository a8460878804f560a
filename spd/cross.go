package spd

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
	if !CheckCross(dst, stride, a, i0, i1, b, j0, j1) {
		return
	}
	p := a.p
	w := getWork(p)
	defer works.Put(w)
	tileSize := Size(p) * Lanes
	block := min(max(blockBytes/(8*tileSize), 4), blockTiles) * Lanes
	for lo := j0 &^ (Lanes - 1); lo < j1; lo += block {
		hi := min(lo+block, (j1+Lanes-1)&^(Lanes-1))
		tiles := b.tiles[lo/Lanes*tileSize : hi/Lanes*tileSize]
		roots := b.roots.slice(lo, hi)
		from, to := max(lo, j0), min(hi, j1)
		mant, expo := w.mant[:hi-lo], w.expo[:hi-lo]
		for i := i0; i < i1; i++ {
			tile, lane := a.tile(i)
			w.dets(mant, expo, tile[lane:], tiles, p, leastPivot)
			root := a.roots.at(i)
			out := dst[(i-i0)*stride+from-j0:][:to-from]
			switch {
			case logs:
				for j := range out {
					l := from - lo + j
					out[j] = logValue(determinant{mant[l], expo[l]}, root, roots.at(l))
				}
			case len(out) == len(mant):
				values(out, mant, expo, root, roots)
			default: // some columns are not wanted
				values(mant, mant, expo, root, roots)
				copy(out, mant[from-lo:])
			}
		}
	}
}

// CheckCross panics if the arguments of Cross do not fit together. It reports whether there is
// anything to compute.
func CheckCross(dst []float64, stride int, a *Batch, i0, i1 int, b *Batch, j0, j1 int) bool {
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
		return false
	}
	if stride < j1-j0 || len(dst) < (i1-i0-1)*stride+j1-j0 {
		misuse("%d numbers with stride %d for %d×%d values", len(dst), stride, i1-i0, j1-j0)
	}
	return true
}
