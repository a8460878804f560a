package dense

import (
	"context"
	"math"
)

// Cholesky overwrites the lower triangle of the symmetric row-major n×n matrix a, which is all it
// looks at, with L such that A = LLᵀ, and returns log|A|. What is above becomes undefined. ok is
// false if A is not positive definite in floating point. Small matrices are factored row by row,
// others as CholeskyParallel does with one goroutine.
func Cholesky(a []float64, n int) (logDet float64, ok bool) {
	return CholeskyParallel(context.Background(), a, n, 1)
}

// CholeskyParallel is Cholesky with so many goroutines, which share rows. The bits do not depend on
// their number. It looks at ctx between blocks. ok is false as well if ctx is done.
//
// Blocks of columns are reduced by all columns before them. The block on the diagonal is factored,
// and the rows below are solved with it. Both go by panels of PanelWidth columns, of which only
// the columns of one panel are solved for one after the other.
func CholeskyParallel(ctx context.Context, a []float64, n, workers int) (logDet float64, ok bool) {
	if n < 0 || len(a) != n*n {
		misuse("Cholesky factor of order %d: %d numbers", n, len(a))
	}
	det := product{mantissa: 1}
	if n <= rowsMost {
		ok = choleskyRows(a, n, &det)
		return det.log(), ok
	}
	strips := func(first int) int { return (n - first + height - 1) / height }
	var before right
	inside := make([]right, max(1, min(workers, strips(0)))) // for each worker
	for b := 0; b < n; b += blockColumns {
		block, wide := a[b*n+b:], min(blockColumns, n-b)
		if b > 0 {
			before.pack(a[b*n:], n, b, wide, true)
			ok = each(ctx, len(inside), strips(b), func(w, k int) {
				r := b + k*height
				before.subtract(a[r*n+b:], n, a[r*n:], n, min(height, n-r))
			})
			if !ok {
				return 0, false
			}
		}
		for c := 0; c < wide; c += PanelWidth {
			w := min(PanelWidth, wide-c)
			inside[0].reduceColumns(block, n, c, w, block[c*n:], n, wide-c)
			if !choleskyTop(block[c*n+c:], n, w, &det) {
				return 0, false
			}
			if c+w < wide {
				solveColumns(block[c*n+c:], n, w, block[(c+w)*n+c:], n, wide-c-w)
			}
		}
		below := b + wide
		ok = each(ctx, len(inside), strips(below), func(w, k int) {
			r := below + k*height
			inside[w].solveRows(block, n, wide, a[r*n+b:], n, min(height, n-r))
		})
		if !ok {
			return 0, false
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

// choleskyTop factors the first w ≤ PanelWidth rows and columns of a.
func choleskyTop(a []float64, stride, w int, det *product) bool {
	for i := range w {
		row := a[i*stride:][:i+1]
		for j := range row {
			above, x := a[j*stride:][:j+1], row[j]
			for k := range j {
				x = FMA(-row[k], above[k], x)
			}
			if j < i {
				row[j] = x * (1 / above[j])
				continue
			}
			if !det.times(x) {
				return false
			}
			row[j] = math.Sqrt(x)
		}
	}
	return true
}

// solveColumns overwrites rows of w ≤ PanelWidth numbers of b with B L⁻ᵀ, for the first w rows and
// columns of l.
func solveColumns(l []float64, stride, w int, b []float64, bStride, rows int) {
	var top [PanelWidth][PanelWidth]float64
	var inverse [PanelWidth]float64
	for j := range w {
		copy(top[j][:], l[j*stride:][:j])
		inverse[j] = 1 / l[j*stride+j]
	}
	for i := range rows {
		row := b[i*bStride:][:w]
		for j := range row {
			x := row[j]
			for k := range j {
				x = FMA(-row[k], top[j][k], x)
			}
			row[j] = x * inverse[j]
		}
	}
}

// reduceColumns subtracts B_k L_ckᵀ, k the columns before c, from w columns of rows of b from c on.
func (f *right) reduceColumns(l []float64, stride, c, w int, b []float64, bStride, rows int) {
	if c > 0 {
		f.pack(l[c*stride:], stride, c, w, true)
		f.subtract(b[c:], bStride, b, bStride, rows)
	}
}

// solveRows overwrites rows of b with B L⁻ᵀ, for L of order n. It uses the memory of f.
func (f *right) solveRows(l []float64, stride, n int, b []float64, bStride, rows int) {
	for c := 0; c < n; c += PanelWidth {
		w := min(PanelWidth, n-c)
		f.reduceColumns(l, stride, c, w, b, bStride, rows)
		solveColumns(l[c*stride+c:], stride, w, b[c:], bStride, rows)
	}
}

// SolveRows overwrites b, of rows×n in row-major order, with B L⁻ᵀ: each row x with L⁻¹x. It reads
// the lower triangle of l. A row has the same bits among any others.
func SolveRows(l []float64, n int, b []float64, rows int) {
	if n < 0 || rows < 0 || len(l) != n*n || len(b) != rows*n {
		misuse("solution of %d rows of order %d: %d and %d numbers", rows, n, len(l), len(b))
	}
	var f right
	f.solveRows(l, n, n, b, n, rows)
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

// InverseDiagonal returns the diagonal of (LLᵀ)⁻¹, with so many goroutines, which share columns. The
// bits do not depend on their number. It reads the lower triangle of l. It overwrites it with the
// inverse of L, and the rest with zeros. The error is that of ctx.
func InverseDiagonal(ctx context.Context, l []float64, n, workers int) ([]float64, error) {
	if n < 0 || len(l) != n*n {
		misuse("inverse of order %d: %d numbers", n, len(l))
	}
	const rows = 5 * PanelWidth
	above := make([]right, max(1, min(workers, (n+blockColumns-1)/blockColumns))) // for each worker
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
		ok := each(ctx, len(above), (b+high+blockColumns-1)/blockColumns, func(w, k int) {
			c := k * blockColumns
			end := min(c+blockColumns, b+high)
			if c < b { // X has no rows above its column
				above[w].pack(l[c*n+c:], n, b-c, min(blockColumns, b-c), false)
				above[w].subtract(l[b*n+c:], n, left[c:], n, high)
			}
			for i := range high {
				row := l[(b+i)*n+c:][:max(0, min(end, b+i+1)-c)]
				for k := range i {
					x := left[i*n+b+k]
					for j, v := range l[(b+k)*n+c:][:max(0, min(end, b+k+1)-c)] {
						row[j] = FMA(-x, v, row[j])
					}
				}
				inverse := 1 / left[i*n+b+i]
				for j := range row {
					row[j] *= inverse
					out[c+j] = FMA(row[j], row[j], out[c+j])
				}
			}
		})
		if !ok {
			return nil, ctx.Err()
		}
	}
	return out, nil
}
