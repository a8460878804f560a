package dense

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

const epsilon = 0x1p-52

// topEigen returns the p largest eigenvalues of the symmetric row-major n×n matrix a,
// descending, and their eigenvectors as columns of a row-major n×p matrix. It changes a.
//
// The matrix is reduced to tridiagonal form, whose eigenvalues are found by QL iterations and
// eigenvectors one by one by inverse iteration, in O(n³ + n²p) time. ok is false unless the
// vectors are orthonormal and their residuals small, to n·ε.
func topEigen(ctx context.Context, a []float64, n, p, workers int) (values, vectors []float64, ok bool) {
	d, e, tau, err := Tridiagonal(ctx, a, n)
	if err != nil {
		return nil, nil, false
	}
	values, rows, ok := topTridiagonal(d, e, p)
	if !ok {
		return nil, nil, false
	}
	vectors = make([]float64, n*p)
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for j := w; j < p; j += workers {
				x := rows[j]
				for i := 1; i < n; i++ {
					v := a[i*n : i*n+i]
					Axpy(x[:i], -tau[i]*Dot(v, x[:i]), v)
				}
				for i, y := range x {
					vectors[i*p+j] = y
				}
			}
		})
	}
	running.Wait()
	return values, vectors, true
}

// topTridiagonal returns the p largest eigenvalues of the symmetric tridiagonal matrix with
// diagonal d and e beside it, descending, and their eigenvectors.
func topTridiagonal(d, e []float64, p int) (values []float64, vectors [][]float64, ok bool) {
	n := len(d)
	all := slices.Clone(d)
	if !QL(all, slices.Concat(e, []float64{0}), nil, 0) {
		return nil, nil, false
	}
	slices.Sort(all)
	norm := max(math.Abs(all[0]), math.Abs(all[n-1]))
	// What is left of residuals and dot products that are zero in exact arithmetic.
	tolerance := float64(n) * epsilon
	// The start does not matter; it is fixed so that results are reproducible.
	r := rand.New(rand.NewPCG(0x7472696469, uint64(n)))
	s := newShifted(n, norm)
	for j := range p {
		l := all[n-1-j]
		values = append(values, l)
		s.factor(d, e, l)
		x := make([]float64, n)
		for i := range x {
			x[i] = 2*r.Float64() - 1
		}
		// Each iteration shrinks what belongs to other eigenvalues by the rounding error of l
		// over their distance, unless they are nearly equal. Then it is their vectors,
		// to which the one is made orthogonal.
		for range 3 {
			s.solve(x)
			for range 2 {
				for _, v := range vectors {
					Axpy(x, -Dot(v, x), v)
				}
			}
			// Solutions are as large as 1/ε.
			most := 0.0
			for _, v := range x {
				most = max(most, math.Abs(v))
			}
			if !(most > 0) || math.IsInf(most, 1) {
				return nil, nil, false
			}
			for i := range x {
				x[i] /= most
			}
			scale := 1 / math.Sqrt(Dot(x, x))
			for i := range x {
				x[i] *= scale
			}
		}
		worst := 0.0
		for i, v := range x {
			y := float64((d[i] - l) * v)
			if i > 0 {
				y += float64(e[i-1] * x[i-1])
			}
			if i+1 < n {
				y += float64(e[i] * x[i+1])
			}
			worst = max(worst, math.Abs(y))
		}
		if !(worst <= tolerance*norm) {
			return nil, nil, false
		}
		for _, v := range vectors {
			if !(math.Abs(Dot(v, x)) <= tolerance) {
				return nil, nil, false
			}
		}
		vectors = append(vectors, x)
	}
	return values, vectors, true
}

// shifted is the factorisation of T − λI with row exchanges, T symmetric and tridiagonal.
type shifted struct {
	norm             float64 // of T
	diag, up, up2, f []float64
	swap             []bool
}

func newShifted(n int, norm float64) *shifted {
	v := func() []float64 { return make([]float64, n) }
	return &shifted{norm, v(), v(), v(), v(), make([]bool, n)}
}

func (s *shifted) factor(d, e []float64, l float64) {
	n := len(d)
	for i := range n {
		s.diag[i] = d[i] - l
	}
	s.up[n-1] = 0
	copy(s.up, e)
	clear(s.up2)
	// A pivot that vanishes stands for one of the size of T's rounding errors.
	least := epsilon * s.norm
	if least == 0 {
		least = math.SmallestNonzeroFloat64 / epsilon
	}
	for i := range n - 1 {
		below := e[i]
		if s.swap[i] = math.Abs(below) > math.Abs(s.diag[i]); s.swap[i] {
			s.f[i] = s.diag[i] / below
			s.diag[i] = below
			up := s.diag[i+1]
			s.diag[i+1] = s.up[i] - float64(s.f[i]*up)
			s.up[i], s.up2[i] = up, s.up[i+1]
			s.up[i+1] *= -s.f[i]
			continue
		}
		if math.Abs(s.diag[i]) < least {
			s.diag[i] = math.Copysign(least, s.diag[i])
		}
		s.f[i] = below / s.diag[i]
		s.diag[i+1] -= float64(s.f[i] * s.up[i])
	}
	if math.Abs(s.diag[n-1]) < least {
		s.diag[n-1] = math.Copysign(least, s.diag[n-1])
	}
}

// solve overwrites x with (T − λI)⁻¹x.
func (s *shifted) solve(x []float64) {
	n := len(x)
	for i := range n - 1 {
		if s.swap[i] {
			x[i], x[i+1] = x[i+1], x[i]
		}
		x[i+1] -= float64(s.f[i] * x[i])
	}
	for i := n - 1; i >= 0; i-- {
		if i+1 < n {
			x[i] -= float64(s.up[i] * x[i+1])
		}
		if i+2 < n {
			x[i] -= float64(s.up2[i] * x[i+2])
		}
		x[i] /= s.diag[i]
	}
}
