package dense

import (
	"math"
)

// Cholesky overwrites the lower triangle of the symmetric row-major n×n matrix a, which is all it
// looks at, with L such that A = LLᵀ, and returns log|A|. What is above becomes undefined. ok is
// false if A is not positive definite in floating point.
//
// Blocks of columns are reduced by all columns before them, inside a block panels likewise, and
// only the last PanelWidth columns are solved for one after the other. Small matrices are factored
// row by row.
func Cholesky(a []float64, n int) (logDet float64, ok bool) {
	if n < 0 || len(a) != n*n {
		misuse("Cholesky factor of order %d: %d numbers", n, len(a))
	}
	det := product{mantissa: 1}
	if n <= rowsMost {
		ok = choleskyRows(a, n, &det)
		return det.log(), ok
	}
	var before right
	for b := 0; b < n; b += blockColumns {
		wide := min(blockColumns, n-b)
		if b > 0 {
			before.pack(a[b*n:], n, b, wide, true)
			before.subtract(a[b*n+b:], n, a[b*n:], n, n-b)
		}
		for c := b; c < b+wide; c += PanelWidth {
			w := min(PanelWidth, b+wide-c)
			if c > b {
				before.pack(a[c*n+b:], n, c-b, w, true)
				before.subtract(a[c*n+c:], n, a[c*n+b:], n, n-c)
			}
			if !choleskyColumns(a, n, c, w, &det) {
				return 0, false
			}
		}
	}
	return det.log(), true
}

// rowsMost is about the greatest order that is factored as fast row by row.
const rowsMost = 40

// choleskyRows is Cholesky row by row.
func choleskyRows(a []float64, n int, det *product) bool {
	for i := range n {
		row := a[i*n:][:i+1]
		for j := range i {
			above := a[j*n:][:j+1]
			row[j] = (row[j] - Dot(row[:j], above)) / above[j]
		}
		d := row[i] - Dot(row[:i], row)
		if !det.times(d) {
			return false
		}
		row[i] = math.Sqrt(d)
	}
	return true
}

// choleskyColumns finishes w columns from c on.
func choleskyColumns(a []float64, n, c, w int, det *product) bool {
	var top [PanelWidth][PanelWidth]float64 // L of the diagonal block
	var inverse [PanelWidth]float64
	for i := c; i < n; i++ {
		row := a[i*n+c:][:w]
		for j := range row {
			x := row[j]
			for k := range j {
				x = FMA(-row[k], top[j][k], x)
			}
			if i == c+j {
				if !det.times(x) {
					return false
				}
				row[j] = math.Sqrt(x)
				inverse[j] = 1 / row[j]
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

// product is a product of positive numbers, kept as mantissa and exponent so that it
// neither overflows nor needs a logarithm for each factor.
type product struct {
	mantissa float64
	exponent int
}

// times multiplies by x, or reports false if it is not positive and finite.
func (p *product) times(x float64) bool {
	if !(x > 0 && x <= math.MaxFloat64) {
		return false
	}
	m, e := math.Frexp(p.mantissa * x)
	p.mantissa = m
	p.exponent += e
	return true
}

func (p *product) log() float64 { return math.Log(p.mantissa) + float64(p.exponent)*math.Ln2 }

// ForwardSolve overwrites the rows of b, n×p row-major, with L⁻¹ b.
func ForwardSolve(l []float64, n int, b []float64, p int) {
	for i := range n {
		row := b[i*p : (i+1)*p]
		for j := range i {
			f := l[i*n+j]
			if f == 0 {
				continue
			}
			for k, x := range b[j*p : (j+1)*p] {
				row[k] -= float64(f * x)
			}
		}
		inverse := 1 / l[i*n+i]
		for k := range row {
			row[k] *= inverse
		}
	}
}

// SolveCholesky overwrites x with the solution of LLᵀy = x.
func SolveCholesky(l []float64, n int, x []float64) {
	if n < 0 || len(l) != n*n || len(x) != n {
		misuse("solution of order %d: %d and %d numbers", n, len(l), len(x))
	}
	for i := range n {
		x[i] = (x[i] - Dot(l[i*n:][:i], x)) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] /= l[i*n+i]
		y := x[i]
		for j, v := range l[i*n:][:i] {
			x[j] = FMA(-y, v, x[j])
		}
	}
}

// InverseDiagonal returns the diagonal of (LLᵀ)⁻¹. It reads the lower triangle of l. It overwrites
// it with the inverse of L, and the rest with zeros.
func InverseDiagonal(l []float64, n int) []float64 {
	if n < 0 || len(l) != n*n {
		misuse("inverse of order %d: %d numbers", n, len(l))
	}
	const rows = 5 * PanelWidth
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
					row[j] = FMA(-x, v, row[j])
				}
			}
			inverse := 1 / left[i*n+b+i]
			for j := range row {
				row[j] *= inverse
				out[j] = FMA(row[j], row[j], out[j])
			}
		}
	}
	return out
}
