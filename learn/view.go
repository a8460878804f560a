package learn

import (
	"fmt"

	"github.com/mlgkernel/mlg/kernel"
)

// View is a kernel matrix, or some rows and columns of one, without a copy. A fold of a
// cross-validation is Full(gram).Select(train, train) for training and Full(gram).Select(test,
// train) for prediction.
//
// The solvers copy a row of a view into contiguous memory when they first need it. That costs no
// more than a copy of the whole block, and less where few rows are needed
// (bench/runs/2026-11-15-svm). So a caller need not copy.
//
// A View is a small value. It stays valid as long as the matrix is not changed.
type View struct {
	m          *kernel.Matrix
	rows, cols []int // nil: all, in order
}

// Full returns the view of a whole matrix.
func Full(m *kernel.Matrix) View {
	if len(m.Data) != m.Rows*m.Cols {
		panic(fmt.Sprintf("learn: matrix of %d×%d has %d entries", m.Rows, m.Cols, len(m.Data)))
	}
	return View{m: m}
}

// Select returns the view of the given rows and columns of v, in that order; nil means
// all. An index may occur more than once. Select panics if an index is out of range. It
// keeps neither slice.
func (v View) Select(rows, cols []int) View {
	r, c := v.Dims()
	return View{m: v.m, rows: compose(v.rows, rows, r, "row"), cols: compose(v.cols, cols, c, "column")}
}

// compose returns the indices outer[inner[k]], where nil stands for the identity.
func compose(outer, inner []int, n int, what string) []int {
	if inner == nil {
		return outer
	}
	out := make([]int, len(inner))
	for k, i := range inner {
		if i < 0 || i >= n {
			panic(fmt.Sprintf("learn: %s %d of a view with %d", what, i, n))
		}
		if outer != nil {
			i = outer[i]
		}
		out[k] = i
	}
	return out
}

// Dims returns the numbers of rows and columns. Those of the zero View are 0.
func (v View) Dims() (rows, cols int) {
	if v.m == nil {
		return 0, 0
	}
	rows, cols = v.m.Rows, v.m.Cols
	if v.rows != nil {
		rows = len(v.rows)
	}
	if v.cols != nil {
		cols = len(v.cols)
	}
	return rows, cols
}

// At returns the entry in row i and column j.
func (v View) At(i, j int) float64 {
	if v.cols != nil {
		j = v.cols[j]
	}
	return v.base(i)[j]
}

// Matrix copies the view to a matrix of its own.
func (v View) Matrix() *kernel.Matrix {
	m := kernel.NewMatrix(v.Dims())
	for i := range m.Rows {
		copy(m.Row(i), v.row(i, m.Row(i)))
	}
	return m
}

// base returns the row of the underlying matrix that holds row i.
func (v View) base(i int) []float64 {
	if v.rows != nil {
		i = v.rows[i]
	}
	return v.m.Row(i)
}

// row returns row i, in place where it has all columns and else gathered in buf.
func (v View) row(i int, buf []float64) []float64 {
	if v.cols == nil {
		return v.base(i)
	}
	gather(buf, v.base(i), v.cols)
	return buf
}

// gather sets dst[k] = src[index[k]].
func gather(dst, src []float64, index []int) {
	dst = dst[:len(index)]
	for k, j := range index {
		dst[k] = src[j]
	}
}

// square returns an error unless the view can be the Gram matrix of n examples.
func (v View) square(n int) error {
	r, c := v.Dims()
	if r != c {
		return fmt.Errorf("learn: Gram matrix is %d×%d, want a square one", r, c)
	}
	if r != n {
		return fmt.Errorf("learn: Gram matrix of %d examples and %d targets, want the same number", r, n)
	}
	return nil
}
