package learn

import (
	"context"
	"errors"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Clipped is a Gram matrix made positive semi-definite, with what is needed to treat new
// examples in the same way.
type Clipped struct {
	// Gram is K₊ = Σ_{λ≥0} λuuᵀ, where K = Σ λuuᵀ is the matrix given.
	Gram *kernel.Matrix
	// Negative holds the eigenvectors u of the negative eigenvalues as rows.
	Negative *kernel.Matrix
}

// Clip sets the negative eigenvalues of a Gram matrix of training examples to 0. The matrix
// must be symmetric (the upper triangle is read). It takes O(n³) time and looks at the context
// before the eigendecomposition only. What is left of negative eigenvalues is rounding, of
// the order of 1e-16·n times the largest, and the solvers bear it.
func Clip(ctx context.Context, gram View) (*Clipped, error) {
	m, err := copied(ctx, gram)
	if err != nil {
		return nil, err
	}
	n := m.Rows
	values, vectors, ok := dense.Eigen(m.Data, n)
	if !ok {
		return nil, errors.New("learn: the eigenvalues of the Gram matrix were not found")
	}
	negative := 0
	for negative < n && values[negative] < 0 {
		negative++
	}
	c := &Clipped{Gram: m, Negative: kernel.NewMatrix(negative, n)}
	for v := range negative {
		u := c.Negative.Row(v)
		for i := range n {
			u[i] = vectors[i*n+v]
		}
		for i := range n {
			dense.Axpy(c.Gram.Row(i), -values[v]*u[i], u)
		}
	}
	return c, nil
}

// Map returns the kernel values of new examples (rows) with the training examples after
// the same clipping: a row k becomes k − Σ_{λ<0} (k·u)u, the projection on the eigenvectors
// that were kept. It turns row i of the matrix given to Clip into row i of c.Gram. Map
// panics if the numbers of columns and training examples differ.
func (c *Clipped) Map(cross View) *kernel.Matrix {
	m := cross.Matrix()
	if m.Cols != c.Gram.Cols {
		panic("learn: rows to map have another number of columns than the clipped Gram matrix")
	}
	for i := range m.Rows {
		row := m.Row(i)
		for v := range c.Negative.Rows {
			u := c.Negative.Row(v)
			dense.Axpy(row, -dense.Dot(row, u), u)
		}
	}
	return m
}
