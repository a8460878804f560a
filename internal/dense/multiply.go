package dense

// PanelWidth is the number of columns of a panel.
const PanelWidth = 12

// Multiply sets dst = A·B for A of rows×n and B of n×p, all in row-major order. Each entry is
// the sum over m = 0, 1, … of fused multiply-adds starting from zero, whatever the number of
// rows.
func Multiply(dst, a, b []float64, rows, n, p int) {
	if rows < 0 || n < 0 || p < 0 {
		misuse("product of %d×%d and %d×%d", rows, n, n, p)
	}
	if len(dst) != rows*p || len(a) != rows*n || len(b) != n*p {
		misuse("product of %d×%d and %d×%d: slices of %d, %d and %d numbers", rows, n, n, p, len(dst), len(a), len(b))
	}
	if rows == 0 || p == 0 {
		return
	}
	if n == 0 || !asmMultiply(dst, a, b, rows, n, p) {
		plainMultiply(dst, p, a, n, b, p, rows, n)
	}
}

// MultiplyPanel sets rows of dst, dstStride apart, to the products of rows of a, stride apart, with
// a panel of n×PanelWidth numbers, with the sums of Multiply.
func MultiplyPanel(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) {
	if rows == 0 || n == 0 || !asmMultiplyPanel(dst, dstStride, a, stride, panel, rows, n) {
		plainMultiply(dst, dstStride, a, stride, panel, PanelWidth, rows, n)
	}
}

// plainMultiply sets rows of dst to those of a, strides apart, times n rows of width numbers of b.
func plainMultiply(dst []float64, dstStride int, a []float64, stride int, b []float64, width, rows, n int) {
	for r := range rows {
		d := dst[r*dstStride:][:width]
		clear(d)
		for m, x := range a[r*stride:][:n] {
			for c, y := range b[m*width:][:width] {
				d[c] = FMA(x, y, d[c])
			}
		}
	}
}
