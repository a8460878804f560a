package spd

import "github.com/mlgkernel/mlg/internal/dense"

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
				s = dense.FMA(y[r+i], y[r+j], s)
			}
			row[j] += s
		}
	}
}
