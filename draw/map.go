package draw

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Embedding is the result of kernel principal component analysis.
type Embedding struct {
	Axes  [2][]float64 // coordinates of the objects on the two leading components
	Share [2]float64   // of the variance

	eigenvalue [2]float64 // of the centred kernel matrix
	rowMean    []float64  // of the kernel matrix
	mean       float64    // of all its entries
}

// KernelPCA maps the objects of a kernel matrix to the plane: the two leading eigenpairs
// (λ, u) of the centred matrix
//
//	K' = (I − 1/n) K (I − 1/n),      x_i = √λ · u_i.
//
// Share is λ over the trace of K'. The sign of a component is such that its largest
// coordinate is positive. A component without variance has coordinates 0. The error says
// that the matrix is not square or has an entry that is not finite. It takes O(n³) time.
func KernelPCA(ctx context.Context, k *kernel.Matrix) (*Embedding, error) {
	n := k.Rows
	if n != k.Cols || n == 0 {
		return nil, fmt.Errorf("kernel matrix of %d×%d, want a square one", k.Rows, k.Cols)
	}
	c := make([]float64, n*n)
	for i := range n {
		for j, v := range k.Row(i) {
			if !finite(v) {
				return nil, fmt.Errorf("kernel matrix: entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			c[i*n+j] = (v + k.At(j, i)) / 2
		}
	}
	e := &Embedding{Axes: [2][]float64{make([]float64, n), make([]float64, n)}}
	e.rowMean, e.mean = centre(c, n)
	trace := 0.0
	for i := range n {
		trace += c[i*n+i]
	}
	values, vectors, err := dense.LeadingEigen(ctx, c, n, 2, 2)
	if err != nil {
		return nil, err
	}
	for a, lambda := range values {
		if !(lambda > 1e-12*trace) { // rounding leaves this much where there is none
			continue
		}
		e.eigenvalue[a], e.Share[a] = lambda, lambda/trace
		for i := range n {
			e.Axes[a][i] = math.Sqrt(lambda) * vectors[i*len(values)+a]
		}
	}
	return e, nil
}

// Project returns the coordinates of another object on the components, from its kernel k with the
// objects of the embedding,
//
//	x = Σ_i k'_i x_i / λ,   k'_i = k_i − mean(k) − mean_i + mean,
//
// mean_i and mean being the means of row i and of all entries of their kernel matrix. An object of
// the embedding gets its own coordinates.
func (e *Embedding) Project(k []float64) (x, y float64) {
	mean := 0.0
	for _, v := range k {
		mean += v / float64(len(k))
	}
	var at [2]float64
	for a, lambda := range e.eigenvalue {
		if lambda == 0 {
			continue
		}
		for i, v := range k {
			at[a] += (v - mean - e.rowMean[i] + e.mean) * e.Axes[a][i]
		}
		at[a] /= lambda
	}
	return at[0], at[1]
}

// centre subtracts the means of rows and columns from a row-major matrix: all rows and columns add
// up to 0 then. It returns the means of the rows and of all entries.
func centre(m []float64, columns int) (row []float64, all float64) {
	rows := len(m) / columns
	row, column := make([]float64, rows), make([]float64, columns)
	for i := range rows {
		for j, v := range m[i*columns:][:columns] {
			row[i] += v / float64(columns)
			column[j] += v / float64(rows)
		}
		all += row[i] / float64(rows)
	}
	for i := range m {
		m[i] = m[i] - row[i/columns] - column[i%columns] + all
	}
	return row, all
}

// Map draws the kernel PCA map of a kernel matrix; class may be nil.
func Map(ctx context.Context, title string, k *kernel.Matrix, class []string, size Size) (*Picture, error) {
	e, err := KernelPCA(ctx, k)
	if err != nil {
		return nil, err
	}
	name := func(a int) string { return fmt.Sprintf("component %d (%.1f %% of the variance)", a+1, 100*e.Share[a]) }
	return Scatter{Title: title, XAxis: name(0), YAxis: name(1), X: e.Axes[0], Y: e.Axes[1], Class: class, Size: size}.Picture()
}
