package draw

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/kernel"
	"gonum.org/v1/gonum/mat"
)

// Embedding is the result of kernel principal component analysis.
type Embedding struct {
	X, Y       []float64  // coordinates of the objects on the two leading components
	Share      [2]float64 // of the variance
	Eigenvalue [2]float64 // of the centred kernel matrix

	rowMean []float64 // of the kernel matrix
	mean    float64   // of all its entries
}

// KernelPCA maps the objects of a kernel matrix to the plane: the two leading eigenpairs
// (λ, u) of the centred matrix
//
//	K' = (I − 1/n) K (I − 1/n),      x_i = √λ · u_i.
//
// Share is λ over the trace of K'. The sign of a component is such that its largest
// coordinate is positive. A component without variance has coordinates 0. The error says
// that the matrix is not square or has an entry that is not finite. It takes O(n³) time up to n = 400,
// then O(n²) for each step of an iteration.
func KernelPCA(k *kernel.Matrix) (*Embedding, error) {
	n := k.Rows
	if n != k.Cols || n == 0 {
		return nil, fmt.Errorf("kernel matrix of %d×%d, want a square one", k.Rows, k.Cols)
	}
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if v := k.At(i, j); !finite(v) {
				return nil, fmt.Errorf("kernel matrix: entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			c.Set(i, j, (k.At(i, j)+k.At(j, i))/2)
		}
	}
	rowMean, mean := centre(c)
	trace := mat.Trace(c)
	values, vectors, err := leading(mat.NewSymDense(n, c.RawMatrix().Data))
	if err != nil {
		return nil, err
	}
	e := &Embedding{X: make([]float64, n), Y: make([]float64, n), rowMean: rowMean, mean: mean}
	for a, coordinates := range [2][]float64{e.X, e.Y} {
		// Rounding leaves eigenvalues of this size where there is none.
		if a >= len(values) || !(values[a] > 1e-12*trace) {
			continue
		}
		e.Eigenvalue[a], e.Share[a] = values[a], values[a]/trace
		mat.Col(coordinates, a, vectors)
		largest := 0.0
		for _, u := range coordinates {
			if math.Abs(u) > math.Abs(largest)*(1+1e-9) {
				largest = u
			}
		}
		scale := math.Copysign(math.Sqrt(values[a]), largest)
		for i := range coordinates {
			coordinates[i] *= scale
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
	for i, v := range k {
		c := v - mean - e.rowMean[i] + e.mean
		x += c * e.X[i]
		y += c * e.Y[i]
	}
	scale := func(v, lambda float64) float64 {
		if lambda > 0 {
			return v / lambda
		}
		return 0
	}
	return scale(x, e.Eigenvalue[0]), scale(y, e.Eigenvalue[1])
}

// centre subtracts the means of rows and columns: all rows and columns add up to 0 then. It returns
// the means of the rows and of all entries.
func centre(m *mat.Dense) (row []float64, all float64) {
	rows, columns := m.Dims()
	row, column := make([]float64, rows), make([]float64, columns)
	for i := range rows {
		for j, v := range m.RawRowView(i) {
			row[i] += v / float64(columns)
			column[j] += v / float64(rows)
		}
		all += row[i] / float64(rows)
	}
	for i := range rows {
		for j := range columns {
			m.Set(i, j, m.At(i, j)-row[i]-column[j]+all)
		}
	}
	return row, all
}

// exactLimit is the order up to which all eigenvectors are computed; beyond, orthogonal
// iteration finds the space of the leading ones.
const exactLimit = 400

// leading returns the eigenvalues of a symmetric matrix, largest first, with the eigenvectors as
// columns; of a large matrix the six leading ones, the first of which are accurate.
func leading(a *mat.SymDense) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	if n > exactLimit {
		return leadingOfLarge(a)
	}
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		return nil, nil, errors.New("the eigenvalues of the kernel matrix did not converge")
	}
	values, vectors := make([]float64, n), mat.NewDense(n, n, nil)
	var ascending mat.Dense
	eig.VectorsTo(&ascending)
	for i, v := range eig.Values(nil) {
		values[n-1-i] = v
		vectors.SetCol(n-1-i, mat.Col(nil, i, &ascending))
	}
	return values, vectors, nil
}

// leadingOfLarge multiplies a block of vectors with the matrix and makes them orthonormal, again and
// again, and solves the problem in the space that they span. The start is random with a fixed seed.
func leadingOfLarge(a *mat.SymDense) ([]float64, *mat.Dense, error) {
	const block, rounds = 6, 60
	n := a.SymmetricDim()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	q := mat.NewDense(n, block, nil)
	for i := range n * block {
		q.Set(i/block, i%block, rng.NormFloat64())
	}
	var product, small, vectors mat.Dense
	var svd mat.SVD
	for range rounds {
		product.Mul(a, q)
		if !svd.Factorize(&product, mat.SVDThin) {
			return nil, nil, errors.New("the components of the kernel matrix did not converge")
		}
		svd.UTo(q)
	}
	product.Mul(a, q)
	small.Mul(q.T(), &product)
	values, u, err := leading(mat.NewSymDense(block, small.RawMatrix().Data))
	if err != nil {
		return nil, nil, err
	}
	vectors.Mul(q, u)
	return values, &vectors, nil
}

// Map draws the kernel PCA map of a kernel matrix; class may be nil.
func Map(title string, k *kernel.Matrix, class []string, size Size) (*Picture, error) {
	e, err := KernelPCA(k)
	if err != nil {
		return nil, err
	}
	name := func(a int) string { return fmt.Sprintf("component %d (%.1f %% of the variance)", a+1, 100*e.Share[a]) }
	return Scatter{title, name(0), name(1), e.X, e.Y, class, size}.Picture()
}
