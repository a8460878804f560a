package spd

import (
	"math"
	"slices"
)

// Sizes of blocks: depth×panelWidth numbers of a right factor stay in the first-level cache,
// height×depth of a left one in the second.
const (
	depth        = 256
	height       = 128
	blockColumns = 10 * panelWidth
)

// right is the right factor of products, laid out for the inner loop: chunks of up to depth rows,
// each in panels of panelWidth columns, with zeros after the last column.
type right struct {
	rows, columns int
	data          []float64
	out           [height * panelWidth]float64
}

// pack takes rows×columns numbers of b, whose rows are stride apart, or with transposed the
// transpose of columns×rows numbers.
func (f *right) pack(b []float64, stride, rows, columns int, transposed bool) {
	f.rows, f.columns = rows, columns
	width := (columns + panelWidth - 1) / panelWidth * panelWidth
	f.data = grow(f.data, rows*width)
	for k := 0; k < rows; k += depth {
		deep := min(depth, rows-k)
		for c := 0; c < width; c += panelWidth {
			panel := f.data[k*width+c*deep:][:deep*panelWidth]
			wide := min(panelWidth, columns-c)
			if wide < panelWidth {
				clear(panel)
			}
			if transposed {
				for j := range wide {
					for i, x := range b[(c+j)*stride+k:][:deep] {
						panel[i*panelWidth+j] = x
					}
				}
				continue
			}
			for i := range deep {
				copy(panel[i*panelWidth:], b[(k+i)*stride+c:][:wide])
			}
		}
	}
}

// subtract subtracts a·f from dst, for rows of a and dst that are strides apart. The sums over up
// to depth terms are by fused multiply-adds in turn, starting from zero.
func (f *right) subtract(dst []float64, dstStride int, a []float64, stride, rows int) {
	width := (f.columns + panelWidth - 1) / panelWidth * panelWidth
	for k := 0; k < f.rows; k += depth {
		deep := min(depth, f.rows-k)
		for r := 0; r < rows; r += height {
			high := min(height, rows-r)
			for c := 0; c < f.columns; c += panelWidth {
				multiply(f.out[:], panelWidth, a[r*stride+k:], stride, f.data[k*width+c*deep:][:deep*panelWidth], high, deep)
				for i := range high {
					d := dst[(r+i)*dstStride+c:]
					d = d[:min(panelWidth, f.columns-c)]
					for j, x := range f.out[i*panelWidth:][:len(d)] {
						d[j] -= x
					}
				}
			}
		}
	}
}

// multiply sets rows of dst, dstStride apart, to the products of rows of a, stride apart, with a
// panel of n×panelWidth numbers: each entry the sum of fused multiply-adds in turn, starting from
// zero.
func multiply(dst []float64, dstStride int, a []float64, stride int, panel []float64, rows, n int) {
	if !asmPanel(dst, dstStride, a, stride, panel, rows, n) {
		plainProduct(dst, dstStride, a, stride, panel, panelWidth, rows, n)
	}
}

// Cholesky overwrites the lower triangle of the symmetric row-major n×n matrix a, which is all it
// looks at, with L such that A = LLᵀ; what is above becomes undefined. It reports false if a
// pivot is not positive.
//
// Blocks of columns are reduced by all columns before them, inside a block panels likewise, and
// only the last panelWidth columns are solved for one after the other.
func Cholesky(a []float64, n int) bool {
	if n < 0 || len(a) != n*n {
		misuse("Cholesky factor of order %d: %d numbers", n, len(a))
	}
	var before right
	for b := 0; b < n; b += blockColumns {
		wide := min(blockColumns, n-b)
		if b > 0 {
			before.pack(a[b*n:], n, b, wide, true)
			before.subtract(a[b*n+b:], n, a[b*n:], n, n-b)
		}
		for c := b; c < b+wide; c += panelWidth {
			w := min(panelWidth, b+wide-c)
			if c > b {
				before.pack(a[c*n+b:], n, c-b, w, true)
				before.subtract(a[c*n+c:], n, a[c*n+b:], n, n-c)
			}
			if !choleskyColumns(a, n, c, w) {
				return false
			}
		}
	}
	return true
}

// choleskyColumns finishes w columns from c on.
func choleskyColumns(a []float64, n, c, w int) bool {
	var top [panelWidth][panelWidth]float64 // L of the diagonal block
	var inverse [panelWidth]float64
	for i := c; i < n; i++ {
		row := a[i*n+c:][:w]
		for j := range row {
			x := row[j]
			for k := range j {
				x = math.FMA(-row[k], top[j][k], x)
			}
			if i == c+j {
				if !(x > 0) {
					return false
				}
				row[j] = math.Sqrt(x)
				inverse[j] = 1 / row[j]
				copy(top[j][:], row[:j])
				break
			}
			row[j] = x * inverse[j]
			if i < c+w {
				top[i-c][j] = row[j]
			}
		}
	}
	return true
}

// SolveCholesky overwrites x with the solution of LLᵀy = x.
func SolveCholesky(l []float64, n int, x []float64) {
	if n < 0 || len(l) != n*n || len(x) != n {
		misuse("solution of order %d: %d and %d numbers", n, len(l), len(x))
	}
	for i := range n {
		x[i] = (x[i] - dot(l[i*n:][:i], x)) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] /= l[i*n+i]
		y := x[i]
		for j, v := range l[i*n:][:i] {
			x[j] = math.FMA(-y, v, x[j])
		}
	}
}

// InverseDiagonal returns the diagonal of (LLᵀ)⁻¹. It overwrites l, of which it looks at the lower triangle,
// with the inverse of L, and what is above with zeros.
func InverseDiagonal(l []float64, n int) []float64 {
	if n < 0 || len(l) != n*n {
		misuse("inverse of order %d: %d numbers", n, len(l))
	}
	const rows = 5 * panelWidth
	var above right
	left := make([]float64, rows*n)
	out := make([]float64, n)
	for i := range n {
		clear(l[i*n+i+1:][:n-i-1]) // blocks reach beyond the diagonal
	}
	for b := 0; b < n; b += rows {
		// With X = L⁻¹, the rows of X are those of −L·X above them, solved with the block of L on
		// the diagonal.
		high := min(rows, n-b)
		for i := range high {
			row := l[(b+i)*n:][:b+high]
			copy(left[i*n:], row)
			clear(row)
			row[b+i] = 1
		}
		for c := 0; c < b; c += blockColumns { // X has no rows above its column
			above.pack(l[c*n+c:], n, b-c, min(blockColumns, b-c), false)
			above.subtract(l[b*n+c:], n, left[c:], n, high)
		}
		for i := range high {
			row := l[(b+i)*n:][:b+i+1]
			for k := range i {
				x := left[i*n+b+k]
				for j, v := range l[(b+k)*n:][:b+k+1] {
					row[j] = math.FMA(-x, v, row[j])
				}
			}
			inverse := 1 / left[i*n+b+i]
			for j := range row {
				row[j] *= inverse
				out[j] = math.FMA(row[j], row[j], out[j])
			}
		}
	}
	return out
}

// InvertCholesky overwrites l, of which it looks at the lower triangle, with (LLᵀ)⁻¹.
func InvertCholesky(l []float64, n int) {
	InverseDiagonal(l, n)
	// With X = L⁻¹ the inverse is XᵀX; entry (r, c), r ≥ c, takes the rows of X from r on. −Xᵀ goes above the diagonal of l.
	x := slices.Clone(l)
	for i := range n {
		for j := range i + 1 {
			l[j*n+i] = -l[i*n+j]
		}
	}
	transposed := make([]float64, blockColumns*n)
	var below right
	for r := 0; r < n; r += blockColumns {
		high := min(blockColumns, n-r)
		for i := range high {
			row := transposed[i*n:][:n-r]
			clear(row[:i])
			copy(row[i:], l[(r+i)*n+r+i:][:n-r-i])
			clear(l[(r+i)*n:][:r+high])
		}
		for c := 0; c <= r; c += blockColumns {
			below.pack(x[r*n+c:], n, n-r, min(blockColumns, n-c), false)
			below.subtract(l[r*n+c:], n, transposed, n, high)
		}
	}
	for i := range n {
		for j := range i {
			l[j*n+i] = l[i*n+j]
		}
	}
}

// Orthogonal overwrites a, τ being what Tridiagonal has left, with Q.
//
// From the first reflection on, a block of them H_{e−1} ⋯ H_s = I − VᵀTV, the rows of V being the
// v, is applied to the product of those before, which differs from I in its first s−1 rows and
// columns.
func Orthogonal(a []float64, n int, tau []float64) {
	if n < 0 || len(a) != n*n || len(tau) != n {
		misuse("orthogonal matrix of order %d: %d and %d numbers", n, len(a), len(tau))
	}
	const most = 8 * panelWidth
	var f right
	v, vt := make([]float64, most*n), make([]float64, most*n)
	w, y := make([]float64, most*n), make([]float64, most*n)
	var g, t [most * most]float64
	identity := func(lo, hi int) {
		for i := range lo {
			clear(a[i*n+lo : i*n+hi])
		}
		for i := lo; i < hi; i++ {
			clear(a[i*n : i*n+hi])
			a[i*n+i] = 1
		}
	}
	for s := 1; s < n; s += most {
		e := min(s+most, n)
		count, m := e-s, e-1
		for r := range count {
			row := v[r*m:][:m]
			clear(row[copy(row, a[(s+r)*n:][:s+r]):])
			for i, x := range row {
				vt[i*count+r] = x
			}
		}
		identity(s-1, m)
		// T: each reflection times those before
		f.pack(v, m, m, count, true)
		clear(g[:])
		f.subtract(g[:], most, v, m, count)
		for r := range count {
			row := t[r*most:][:r]
			clear(row)
			for k, x := range g[r*most:][:r] {
				for j, z := range t[k*most:][:k+1] {
					row[j] = math.FMA(x, z, row[j])
				}
			}
			for j := range row {
				row[j] *= tau[s+r]
			}
			t[r*most+r] = tau[s+r]
			clear(t[r*most+r+1 : r*most+count])
		}
		// W = −VQ, Y = −TW, Q − VᵀY
		for r := range count {
			row := w[r*m:][:m]
			clear(row[:s-1])
			for j := s - 1; j < m; j++ {
				row[j] = -v[r*m+j]
			}
		}
		if s > 1 {
			f.pack(a, n, s-1, s-1, false)
			f.subtract(w, m, v, m, count)
		}
		f.pack(w, m, count, m, false)
		clear(y[:count*m])
		f.subtract(y, m, t[:], most, count)
		f.pack(y, m, count, m, false)
		f.subtract(a, n, vt, count, m)
	}
	if n > 0 {
		identity(n-1, n)
	}
}
