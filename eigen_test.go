package mlg

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// randomGram is a kernel matrix with fast decaying spectrum: Gaussians of random points.
func randomGram(n, dim int, seed uint64) []float64 {
	r := graphtest.Rand(seed)
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	k := make([]float64, n*n)
	for i := range n {
		for j := range n {
			var s float64
			for d := range dim {
				e := x[i*dim+d] - x[j*dim+d]
				s += e * e
			}
			k[i*n+j] = math.Exp(-s / 2)
		}
	}
	return k
}

func TestLeadingEigen(t *testing.T) {
	for _, c := range []struct{ n, dim, p int }{{5, 2, 9}, {50, 3, 10}, {300, 3, 10}, {300, 8, 32}, {401, 2, 40}, {500, 30, 10}} {
		k := randomGram(c.n, c.dim, 1)
		want, _, ok := eigenSym(append([]float64(nil), k...), c.n)
		if !ok {
			t.Fatal("eigenvalues did not converge")
		}
		values, vectors, err := leadingEigen(append([]float64(nil), k...), c.n, c.p)
		if err != nil {
			t.Fatal(err)
		}
		p := min(c.n, c.p)
		if len(values) != p {
			t.Fatalf("%d values, want %d", len(values), p)
		}
		for j, l := range values {
			if math.Abs(l-want[c.n-1-j]) > 1e-12*values[0] {
				t.Errorf("%v: eigenvalue %d is %v, want %v", c, j, l, want[c.n-1-j])
			}
			// K v = λ v, and unit vectors.
			var norm, residual float64
			for i := range c.n {
				var s float64
				for m := range c.n {
					s += k[i*c.n+m] * vectors[m*p+j]
				}
				residual += math.Pow(s-l*vectors[i*p+j], 2)
				norm += vectors[i*p+j] * vectors[i*p+j]
			}
			if math.Sqrt(residual) > 1e-11*values[0] || math.Abs(norm-1) > 1e-12 {
				t.Errorf("%v: eigenvector %d has residual %.2g and norm² %v", c, j, math.Sqrt(residual), norm)
			}
		}
	}
}

// A matrix with few, repeated eigenvalues exhausts the Krylov space early.
func TestLeadingEigenRepeated(t *testing.T) {
	const n = 300
	k := make([]float64, n*n)
	for i := range n {
		for j := range n {
			if i%3 == j%3 {
				k[i*n+j] = 1
			}
		}
	}
	values, _, err := leadingEigen(k, n, 5)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{100, 100, 100, 0, 0} {
		if math.Abs(values[j]-want) > 1e-10 {
			t.Errorf("eigenvalue %d is %v, want %v", j, values[j], want)
		}
	}
}

func BenchmarkLeadingEigen(b *testing.B) {
	for _, c := range []struct {
		name string
		n, p int
	}{{"100x10", 100, 10}, {"300x20", 300, 20}, {"600x32", 600, 32}, {"1000x32", 1000, 32}} {
		b.Run(c.name, func(b *testing.B) {
			k := randomGram(c.n, 8, 1)
			for b.Loop() {
				if _, _, err := leadingEigen(append([]float64(nil), k...), c.n, c.p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
