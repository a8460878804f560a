package spd

import "math"

// Project sets dst = K·W for K of rows×n and W of n×p, all in row-major order. Each entry is
// the sum over m = 0, 1, … of fused multiply-adds starting from zero, whatever the number of
// rows.
func Project(dst, k, w []float64, rows, n, p int) {
	if rows < 0 || n < 0 || p < 0 {
		misuse("project %d×%d by %d×%d", rows, n, n, p)
	}
	if len(dst) != rows*p || len(k) != rows*n || len(w) != n*p {
		misuse("project %d×%d by %d×%d: slices of %d, %d and %d numbers", rows, n, n, p, len(dst), len(k), len(w))
	}
	if rows == 0 || p == 0 {
		return
	}
	if n > 0 && asmProject(dst, k, w, rows, n, p) {
		return
	}
	plainProduct(dst, p, k, n, w, p, rows, n)
}

// plainProduct sets rows of dst to those of a, strides apart, times n rows of width numbers of b.
func plainProduct(dst []float64, dstStride int, a []float64, stride int, b []float64, width, rows, n int) {
	for r := range rows {
		d := dst[r*dstStride:][:width]
		clear(d)
		for m, x := range a[r*stride:][:n] {
			for c, y := range b[m*width:][:width] {
				d[c] = math.FMA(x, y, d[c])
			}
		}
	}
}

// AddGram adds YᵀY to the packed matrix dst of order p, for Y of rows×p in row-major order.
// Each entry of YᵀY is the sum over the rows in turn of fused multiply-adds starting from
// zero, and is then added to dst.
func AddGram(dst, y []float64, rows, p int) {
	if rows < 0 || p < 0 {
		misuse("Gram matrix of %d×%d", rows, p)
	}
	if len(dst) != Size(p) || len(y) != rows*p {
		misuse("Gram matrix of %d×%d: slices of %d and %d numbers", rows, p, len(dst), len(y))
	}
	if rows == 0 || p == 0 || asmGram(dst, y, rows, p) {
		return
	}
	for i := range p {
		row := dst[Index(i, 0):][:i+1]
		for j := range row {
			s := 0.0
			for r := 0; r < len(y); r += p {
				s = math.FMA(y[r+i], y[r+j], s)
			}
			row[j] += s
		}
	}
}
