package dense

import (
	"context"
	"errors"
	"math"
	"slices"
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

// Most vertices have a colour of their own, and few coarse colours. The matrix of the colours that
// they share has one eigenvalue hundreds of times, far below the largest.
func TestManyfoldEigenvalue(t *testing.T) {
	graphtest.Slow(t)
	const n = 600
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for _, colours := range []int{10, 80, 400, n} {
				if i*7919%colours == j*7919%colours {
					a[i*n+j] += 0.25
				}
			}
		}
	}
	values, vectors, err := LeadingEigen(context.Background(), slices.Clone(a), n, 32, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j, l := range values {
		checkEigenpair(t, a, n, vectors, 32, j, l, 1e-13*n*values[0])
	}
	all, vectors, ok := Eigen(a, n)
	if !ok {
		t.Fatal("did not converge")
	}
	for j, l := range all {
		checkEigenpair(t, a, n, vectors, n, j, l, 1e-13*n*values[0])
	}
}

func TestLeadingEigen(t *testing.T) {
	for _, c := range []struct {
		method    string
		n, dim, p int
	}{
		{"leading", 5, 2, 9}, {"leading", 50, 3, 10}, {"leading", 50, 3, 40}, {"leading", 181, 8, 32},
		{"top", 2, 1, 1}, {"top", 51, 1, 51}, {"top", 200, 3, 10}, {"top", 201, 2, 40}, {"top", 250, 30, 10},
		{"top", 300, 2, 4}, {"top", 301, 1, 5},
	} {
		k := randomGram(c.n, c.dim, 1)
		want, _, ok := Eigen(slices.Clone(k), c.n)
		if !ok {
			t.Fatal("eigenvalues did not converge")
		}
		var values, vectors []float64
		switch c.method {
		case "leading":
			var err error
			if values, vectors, err = LeadingEigen(context.Background(), slices.Clone(k), c.n, c.p, 2); err != nil {
				t.Fatal(err)
			}
		case "top":
			values, vectors, ok = topEigen(context.Background(), slices.Clone(k), c.n, c.p, 2)
		}
		if !ok {
			t.Errorf("%v: did not converge", c)
			continue
		}
		p := min(c.n, c.p)
		if len(values) != p {
			t.Fatalf("%v: %d values, want %d", c, len(values), p)
		}
		for j, l := range values {
			if math.Abs(l-want[c.n-1-j]) > 1e-12*values[0] {
				t.Errorf("%v: eigenvalue %d is %v, want %v", c, j, l, want[c.n-1-j])
			}
			checkEigenpair(t, k, c.n, vectors, p, j, l, 1e-11*values[0])
		}
	}
}

// checkEigenpair checks that K v = λ v for column j of the vectors, and that it is a unit vector
// orthogonal to the columns before.
func checkEigenpair(t *testing.T, k []float64, n int, vectors []float64, p, j int, l, tolerance float64) {
	t.Helper()
	var residual float64
	for i := range n {
		var s float64
		for m := range n {
			s += k[i*n+m] * vectors[m*p+j]
		}
		residual += math.Pow(s-l*vectors[i*p+j], 2)
	}
	if math.Sqrt(residual) > tolerance {
		t.Errorf("eigenvector %d of %d: residual %.2g", j, n, math.Sqrt(residual))
	}
	for b := range j + 1 {
		var s, want float64
		for i := range n {
			s += vectors[i*p+j] * vectors[i*p+b]
		}
		if b == j {
			want = 1
		}
		if math.Abs(s-want) > 1e-12 {
			t.Errorf("eigenvectors %d and %d of %d: dot product %v, want %v", j, b, n, s, want)
		}
	}
}

// Equal eigenvalues, all in one cluster or many in clusters that the tridiagonal matrix does
// not separate, still have orthogonal vectors.
func TestTopEigenClusters(t *testing.T) {
	const n, p = 120, 50
	r := graphtest.Rand(7)
	for name, value := range map[string]func(i int) float64{
		"one":    func(int) float64 { return 2 },
		"zero":   func(int) float64 { return 0 },
		"pairs":  func(i int) float64 { return float64(1 + i/2) },
		"blocks": func(i int) float64 { return float64(1 + i/30) },
		"close":  func(i int) float64 { return 1 + 1e-15*float64(i) },
		"wide":   func(i int) float64 { return math.Pow(10, -float64(i)/5) },
	} {
		// Reflections of a diagonal matrix.
		k := make([]float64, n*n)
		for i := range n {
			k[i*n+i] = value(i)
		}
		for range 5 {
			v := make([]float64, n)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			s := 2 / Dot(v, v)
			for range 2 { // rows, then columns
				for i := range n {
					row := k[i*n : (i+1)*n]
					Axpy(row, -s*Dot(row, v), v)
				}
				for i := range n {
					for j := range i {
						k[i*n+j], k[j*n+i] = k[j*n+i], k[i*n+j]
					}
				}
			}
		}
		for i := range n {
			for j := range i {
				k[i*n+j] = k[j*n+i]
			}
		}
		values, vectors, ok := topEigen(context.Background(), slices.Clone(k), n, p, 1)
		if !ok {
			t.Errorf("%s: did not converge", name)
			continue
		}
		var want []float64
		for i := range n {
			want = append(want, value(i))
		}
		slices.Sort(want)
		for j, l := range values {
			if math.Abs(l-want[n-1-j]) > 1e-12*want[n-1] {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, j, l, want[n-1-j])
			}
			checkEigenpair(t, k, n, vectors, p, j, l, 1e-12*want[n-1])
		}
	}
}

// A matrix with few, repeated eigenvalues.
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
	values, _, err := LeadingEigen(context.Background(), k, n, 5, 1)
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
	}{{"100x10", 100, 10}, {"300x20", 300, 20}, {"600x32", 600, 32}, {"1000x32", 1000, 32}, {"2000x32", 2000, 32}} {
		b.Run(c.name, func(b *testing.B) {
			k := randomGram(c.n, 8, 1)
			for b.Loop() {
				if _, _, err := LeadingEigen(context.Background(), append([]float64(nil), k...), c.n, c.p, 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What nobody waits for is given up.
func TestCancelled(t *testing.T) {
	graphtest.Slow(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const n = 40
	a := randomGram(n, 3, 1)
	if _, _, err := LeadingEigen(ctx, slices.Clone(a), n, 2, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("eigenvectors: %v, want cancelled", err)
	}
	if _, _, _, err := Tridiagonal(ctx, slices.Clone(a), n); !errors.Is(err, context.Canceled) {
		t.Errorf("tridiagonal form: %v, want cancelled", err)
	}
	if err := Orthogonal(ctx, slices.Clone(a), n, make([]float64, n)); !errors.Is(err, context.Canceled) {
		t.Errorf("orthogonal matrix: %v, want cancelled", err)
	}
}

// A matrix whose last part is tiny, or that is tiny or huge as a whole, has its eigenvalues.
func TestLeadingEigenTiny(t *testing.T) {
	const n = 60
	for _, c := range []struct{ first, rest float64 }{{1, 1e-130}, {1e3, 1e-300}, {1e-130, 1e-130}, {1e140, 1e140}, {1, 0}, {1e160, 1e-160}} {
		a := make([]float64, n*n)
		for i := range n {
			a[i*n+i] = 2 * c.rest
			if i > 20 {
				a[i*n+i-1], a[(i-1)*n+i] = c.rest, c.rest
			}
			if i < 20 {
				a[i*n+i] = c.first * float64(n-i)
			}
		}
		values, _, err := LeadingEigen(t.Context(), a, n, 5, 1)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		for j, v := range values {
			if want := c.first * float64(n-j); math.Abs(v-want) > 1e-13*want {
				t.Errorf("%+v: eigenvalue %d is %v, want %v", c, j, v, want)
			}
		}
	}
}
