package dense

// sweep subtracts uwᵀ + wuᵀ from a symmetric matrix A of order n, and sets y to the product of what
// is left with v. a has the lower triangle of A in rows that are stride numbers apart. The vectors
// have at least n numbers.
//
// It is the step of reductions to tridiagonal form, for which it reads and writes A once. All
// products are added by fused multiply-adds in a fixed order.
func sweep(a []float64, stride, n int, u, w, v, y []float64) {
	if n < 0 || stride < n || len(a) < (n-1)*stride+n || min(len(u), len(w), len(v), len(y)) < n {
		misuse("sweep of order %d: %d numbers with stride %d, vectors of %d, %d, %d and %d", n, len(a), stride, len(u), len(w), len(v), len(y))
	}
	u, w, v, y = u[:n], w[:n], v[:n], y[:n]
	clear(y)
	var sums [8]float64
	for r := 0; r < n; r += 4 {
		end := min(r+4, n)
		for i := r; i < end; i += 2 {
			row0 := a[i*stride:][:i+1]
			if i+1 == end {
				sweepRow(row0[:r], u, w, v, y, i, sums[:4])
				corner(row0, u, w, v, y, r, sums[:4])
				break
			}
			row1 := a[(i+1)*stride:][:i+2]
			if !asmSweep(row0[:r], row1[:r], u, w, v, y, i, &sums) {
				sweepRow(row0[:r], u, w, v, y, i, sums[:4])
				sweepRow(row1[:r], u, w, v, y, i+1, sums[4:])
			}
			corner(row0, u, w, v, y, r, sums[:4])
			corner(row1, u, w, v, y, r, sums[4:])
		}
	}
}

// sweepRow updates the first columns, a multiple of 4, of row r and adds v_r times them to y.
// sums has their products with v, in four parts.
func sweepRow(row, u, w, v, y []float64, r int, sums []float64) {
	ur, wr, vr := u[r], w[r], v[r]
	u, w, v, y = u[:len(row)], w[:len(row)], v[:len(row)], y[:len(row)]
	clear(sums)
	for j, x := range row {
		x = FMA(-wr, u[j], FMA(-ur, w[j], x))
		row[j] = x
		sums[j&3] = FMA(x, v[j], sums[j&3])
		y[j] = FMA(x, vr, y[j])
	}
}

// corner is the rest of a row, from column c up to the diagonal.
func corner(row, u, w, v, y []float64, c int, sums []float64) {
	r := len(row) - 1
	s := (sums[0] + sums[1]) + (sums[2] + sums[3])
	for j := c; j <= r; j++ {
		x := FMA(-w[r], u[j], FMA(-u[r], w[j], row[j]))
		row[j] = x
		s = FMA(x, v[j], s)
		if j < r {
			y[j] = FMA(x, v[r], y[j])
		}
	}
	y[r] += s
}
