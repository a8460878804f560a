package draw

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg"
	"gonum.org/v1/gonum/mat"
)

// Embedding is the result of kernel principal component analysis.
type Embedding struct {
	X, Y       []float64  // coordinates of the objects on the two leading components
	Share      [2]float64 // of the variance
	Eigenvalue [2]float64 // of the centred kernel matrix
}

// exactLimit is the order up to which all eigenvectors are computed; beyond, subspace
// iteration gives the leading ones.
const exactLimit = 400

// KernelPCA maps the objects of a kernel matrix to the plane: the two leading eigenpairs
// (λ, u) of the centred matrix
//
//	K' = (I − 1/n) K (I − 1/n),      x_i = √λ · u_i.
//
// Share is λ over the trace of K'. The sign of a component is such that its largest
// coordinate is positive. A component without variance has coordinates 0. The error says
// that the matrix is not square or has an entry that is not finite. It takes O(n³) time up to n = 400,
// then O(n²) for each step of the iteration.
func KernelPCA(k *mlg.Matrix) (*Embedding, error) {
	n := k.Rows
	if err := square(k); err != nil {
		return nil, err
	}
	c := centred(k)
	trace := 0.0
	for i := range n {
		trace += c[i*n+i]
	}
	var values [2]float64
	var vectors [2][]float64
	var err error
	if n <= exactLimit {
		values, vectors, err = leadingExact(c, n)
	} else {
		values, vectors = leadingIterated(c, n)
	}
	if err != nil {
		return nil, err
	}
	e := &Embedding{}
	for a := range 2 {
		xs := make([]float64, n)
		// Rounding leaves eigenvalues of this size where there is none.
		if values[a] > 1e-12*max(trace, 0) && vectors[a] != nil {
			e.Eigenvalue[a] = values[a]
			e.Share[a] = values[a] / trace
			biggest := 0
			for i, u := range vectors[a] {
				if math.Abs(u) > math.Abs(vectors[a][biggest])*(1+1e-9) {
					biggest = i
				}
			}
			scale := math.Copysign(math.Sqrt(values[a]), vectors[a][biggest])
			for i, u := range vectors[a] {
				xs[i] = scale * u
			}
		}
		if a == 0 {
			e.X = xs
		} else {
			e.Y = xs
		}
	}
	return e, nil
}

func square(k *mlg.Matrix) error {
	if k.Rows != k.Cols || k.Rows == 0 {
		return fmt.Errorf("kernel matrix of %d×%d, want a square one", k.Rows, k.Cols)
	}
	for i, v := range k.Data {
		if !finite(v) {
			return fmt.Errorf("kernel matrix: entry (%d, %d) is %v, want a finite number", i/k.Cols, i%k.Cols, v)
		}
	}
	return nil
}

// centred returns the doubly centred matrix, symmetrised.
func centred(k *mlg.Matrix) []float64 {
	n := k.Rows
	row := make([]float64, n)
	total := 0.0
	for i := range n {
		for j := range n {
			row[i] += (k.At(i, j) + k.At(j, i)) / 2 / float64(n)
		}
		total += row[i] / float64(n)
	}
	c := make([]float64, n*n)
	for i := range n {
		for j := range n {
			c[i*n+j] = (k.At(i, j)+k.At(j, i))/2 - row[i] - row[j] + total
		}
	}
	return c
}

func leadingExact(c []float64, n int) (values [2]float64, vectors [2][]float64, err error) {
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(n, c), true) {
		return values, vectors, errors.New("the eigenvalues of the kernel matrix did not converge")
	}
	all := eig.Values(nil)
	var u mat.Dense
	eig.VectorsTo(&u)
	for a := range min(2, n) {
		values[a] = all[n-1-a]
		vectors[a] = mat.Col(nil, n-1-a, &u)
	}
	return values, vectors, nil
}

// leadingIterated finds the leading pairs by orthogonal iteration on a block of six, with
// a Rayleigh-Ritz step at the end. The start is random with a fixed seed.
func leadingIterated(c []float64, n int) (values [2]float64, vectors [2][]float64) {
	const block, rounds = 6, 60
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	start := make([]float64, n*block)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	a := mat.NewSymDense(n, c)
	q := mat.NewDense(n, block, start)
	var z mat.Dense
	for range rounds {
		orthonormalise(q)
		z.Mul(a, q)
		q.Copy(&z)
	}
	orthonormalise(q)
	var small mat.Dense
	z.Mul(a, q)
	small.Mul(q.T(), &z)
	sym := mat.NewSymDense(block, nil)
	for i := range block {
		for j := i; j < block; j++ {
			sym.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(sym, true) {
		return values, vectors // a matrix of order 6 with finite entries converges
	}
	var u, ritz mat.Dense
	eig.VectorsTo(&u)
	ritz.Mul(q, &u)
	all := eig.Values(nil)
	for k := range 2 {
		values[k] = all[block-1-k]
		vectors[k] = mat.Col(nil, block-1-k, &ritz)
	}
	return values, vectors
}

// orthonormalise makes the columns orthonormal by Gram-Schmidt, twice for accuracy; a
// column that depends on those before becomes zero.
func orthonormalise(q *mat.Dense) {
	n, k := q.Dims()
	for j := range k {
		before := 0.0
		for pass := range 2 {
			for i := range j {
				d := 0.0
				for r := range n {
					d += q.At(r, i) * q.At(r, j)
				}
				for r := range n {
					q.Set(r, j, q.At(r, j)-d*q.At(r, i))
				}
			}
			norm := 0.0
			for r := range n {
				norm += q.At(r, j) * q.At(r, j)
			}
			norm = math.Sqrt(norm)
			f := 0.0
			if norm > 1e-14*before && norm > 0 {
				f = 1 / norm
			}
			if pass == 0 {
				before = 1
			}
			for r := range n {
				q.Set(r, j, q.At(r, j)*f)
			}
		}
	}
}

// Scatter describes points in the plane, coloured by class.
type Scatter struct {
	Title, XAxis, YAxis string
	X, Y                []float64
	Class               []string // one for each point, or nil
	Size                Size
}

// Map draws the kernel PCA map of a kernel matrix; class may be nil.
func Map(title string, k *mlg.Matrix, class []string, size Size) (*Picture, error) {
	e, err := KernelPCA(k)
	if err != nil {
		return nil, err
	}
	name := func(a int) string { return fmt.Sprintf("component %d (%.1f %% of the variance)", a+1, 100*e.Share[a]) }
	return Scatter{title, name(0), name(1), e.X, e.Y, class, size}.Picture()
}

// Picture draws the points. Points of rare classes lie on top. The error names the size, or
// the point that is not finite.
func (s Scatter) Picture() (*Picture, error) {
	if err := s.Size.check(); err != nil {
		return nil, err
	}
	if len(s.X) != len(s.Y) || s.Class != nil && len(s.Class) != len(s.X) || len(s.X) == 0 {
		return nil, fmt.Errorf("scatter %q: %d x, %d y, %d classes, want as many of each", s.Title, len(s.X), len(s.Y), len(s.Class))
	}
	for i := range s.X {
		if !finite(s.X[i], s.Y[i]) {
			return nil, fmt.Errorf("scatter %q: point %d is (%v, %v), want finite numbers", s.Title, i, s.X[i], s.Y[i])
		}
	}
	names, number := classNames(s.Class, len(s.X))
	count := make([]int, len(names))
	order := make([]int, len(s.X))
	for i := range order {
		order[i] = i
		count[number[i]]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[number[b]] - count[number[a]] })
	x, y := axis{lo: slices.Min(s.X), hi: slices.Max(s.X)}, axis{lo: slices.Min(s.Y), hi: slices.Max(s.Y)}
	x.lo, x.hi = niceRange(x.lo, x.hi)
	y.lo, y.hi = niceRange(y.lo, y.hi)
	f := newFrame(s.Size, s.Title, s.XAxis, s.YAxis, x, y, names, true, 0)
	r := min(max(60/math.Sqrt(float64(len(s.X))), 2), 5)
	for _, i := range order {
		mark(f.Picture, point{f.x.at(s.X[i]), f.y.at(s.Y[i])}, r, number[i], white)
	}
	return f.Picture, nil
}

// classNames returns the distinct classes in natural order and the number of each object's.
func classNames(class []string, n int) ([]string, []int) {
	number := make([]int, n)
	if class == nil {
		return []string{""}, number
	}
	names := slices.Clone(class)
	slices.SortFunc(names, naturally)
	names = slices.Compact(names)
	at := map[string]int{}
	for i, s := range names {
		at[s] = i
	}
	for i, s := range class {
		number[i] = at[s]
	}
	return names, number
}
