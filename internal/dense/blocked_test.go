package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

// blockOrders are sizes around those of the blocks.
var blockOrders = []int{0, 1, 2, 11, 12, 13, 59, 60, 61, 97, 120, 121, 133, 255, 300, 391}

// squareSPD returns XXᵀ + I/10 for a random X, row by row.
func squareSPD(n int) []float64 {
	rng := rand.New(rand.NewPCG(uint64(n), 17))
	x := make([]float64, n*n)
	for i := range x {
		x[i] = rng.NormFloat64() / math.Sqrt(float64(n))
	}
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			v := Dot(x[i*n:][:n], x[j*n:])
			if i == j {
				v += 0.1
			}
			a[i*n+j], a[j*n+i] = v, v
		}
	}
	return a
}

// equalBits runs f with every set of instructions and wants the same bits.
func equalBits(t *testing.T, f func() []float64) []float64 {
	t.Helper()
	var first []float64
	asmtest.Both(t, &vector, func(t *testing.T) {
		got := f()
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Error("the bits are others than without assembly")
		}
	})
	return first
}

func TestCholesky(t *testing.T) {
	for _, n := range blockOrders {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a := squareSPD(n)
			l := equalBits(t, func() []float64 {
				l := slices.Clone(a)
				if _, ok := Cholesky(l, n); !ok {
					t.Fatal("not positive definite")
				}
				for i := range n {
					clear(l[i*n+i+1 : (i+1)*n])
				}
				return l
			})
			for i := range n {
				for j := range i + 1 {
					if v := Dot(l[i*n:][:j+1], l[j*n:]); math.Abs(v-a[i*n+j]) > 1e-13 {
						t.Fatalf("LLᵀ has %v at %d, %d, want %v", v, i, j, a[i*n+j])
					}
				}
			}
			if n == 0 {
				return
			}
			for i := range n { // which nobody looks at
				for j := i + 1; j < n; j++ {
					l[i*n+j] = math.NaN()
				}
			}
			x := make([]float64, n)
			for i := range x {
				x[i] = Dot(a[i*n:][:n], a[:n]) // A·(first row)
			}
			SolveCholesky(l, n, x)
			for i, v := range x {
				if math.Abs(v-a[i]) > 1e-11 {
					t.Fatalf("solution %d is %v, want %v", i, v, a[i])
				}
			}
			want := make([]float64, n)
			for i := range want {
				e := make([]float64, n)
				e[i] = 1
				SolveCholesky(l, n, e)
				want[i] = e[i]
			}
			diagonal := equalBits(t, func() []float64 {
				d, _ := InverseDiagonal(t.Context(), slices.Clone(l), n, 1) // never over
				return d
			})
			for i, v := range diagonal {
				if !(math.Abs(v-want[i]) <= 1e-12*want[i]) {
					t.Fatalf("the inverse has %v at %d, want %v", v, i, want[i])
				}
			}
			a[n*n-1] = -a[n*n-1]
			if _, ok := Cholesky(a, n); ok {
				t.Error("a negative diagonal entry is taken for positive definite")
			}
		})
	}
}

// Any number of goroutines gives the same bits, and a context that is done ends the work.
func TestWorkers(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range blockOrders {
		a := squareSPD(n)
		var first, diagonal []float64
		for _, workers := range []int{1, 2, 7} {
			l := slices.Clone(a)
			logDet, ok := CholeskyParallel(t.Context(), l, n, workers)
			if !ok {
				t.Fatalf("order %d: not positive definite", n)
			}
			got := append(slices.Clone(l), logDet)
			d, err := InverseDiagonal(t.Context(), l, n, workers)
			if err != nil {
				t.Fatal(err)
			}
			d = append(d, l...)
			if workers == 1 {
				first, diagonal = got, d
			}
			if !slices.Equal(got, first) || !slices.Equal(d, diagonal) {
				t.Errorf("order %d: the bits of %d workers are others than those of one", n, workers)
			}
			if n <= blockColumns { // between blocks the context is looked at
				continue
			}
			if _, ok := CholeskyParallel(cancelled, slices.Clone(a), n, workers); ok {
				t.Errorf("order %d: a factor though the context is done", n)
			}
			if _, err := InverseDiagonal(cancelled, l, n, workers); !errors.Is(err, context.Canceled) {
				t.Errorf("order %d: %v, want that the context is done", n, err)
			}
		}
	}
}

// SolveRows solves each row with L, alone or among others.
func TestSolveRows(t *testing.T) {
	for _, n := range blockOrders {
		l := squareSPD(n)
		Cholesky(l, n)
		const rows = 150
		b := normals(rand.New(rand.NewPCG(uint64(n), 3)), rows*n)
		x := equalBits(t, func() []float64 {
			x := slices.Clone(b)
			SolveRows(l, n, x, rows)
			return x
		})
		for r := range rows {
			for i := range n {
				if v := Dot(l[i*n:][:i+1], x[r*n:]); math.Abs(v-b[r*n+i]) > 1e-12 {
					t.Fatalf("order %d: row %d solves to %v at %d, want %v", n, r, v, i, b[r*n+i])
				}
			}
		}
		if n > 0 {
			alone := slices.Clone(b[n:][:n])
			SolveRows(l, n, alone, 1)
			if !slices.Equal(alone, x[n:][:n]) {
				t.Errorf("order %d: a row has other bits alone", n)
			}
		}
	}
}

// TestOrthogonal: Q is orthogonal and QTQᵀ is what Tridiagonal was given.
func TestOrthogonal(t *testing.T) {
	for _, n := range blockOrders {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			a := squareSPD(n)
			var d, e []float64
			q := equalBits(t, func() []float64 {
				q := slices.Clone(a)
				var tau []float64
				d, e, tau, _ = Tridiagonal(t.Context(), q, n) // never over
				Orthogonal(t.Context(), q, n, tau)
				return q
			})
			row := make([]float64, n)
			for i := range n {
				for k := range n { // row i of QT
					row[k] = q[i*n+k] * d[k]
					if k > 0 {
						row[k] += q[i*n+k-1] * e[k-1]
					}
					if k < n-1 {
						row[k] += q[i*n+k+1] * e[k]
					}
				}
				for j := range i + 1 {
					one := 0.0
					if i == j {
						one = 1
					}
					if v := Dot(q[i*n:][:n], q[j*n:]); math.Abs(v-one) > 1e-13 {
						t.Fatalf("QQᵀ has %v at %d, %d", v, i, j)
					}
					if v := Dot(row, q[j*n:]); math.Abs(v-a[i*n+j]) > 1e-13 {
						t.Fatalf("QTQᵀ has %v at %d, %d, want %v", v, i, j, a[i*n+j])
					}
				}
			}
		})
	}
}

// BenchmarkBlocked measures the factorisations of large matrices; operations are multiply-adds.
func BenchmarkBlocked(b *testing.B) {
	for _, n := range []int{100, 1000, 4096} {
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = 1 / (1 + math.Abs(float64(i-j)))
			}
			a[i*n+i] = 10
		}
		work := make([]float64, n*n)
		cube := float64(n) * float64(n) * float64(n)
		run := func(name string, operations float64, f func()) {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					copy(work, a)
					b.StartTimer()
					f()
				}
				b.ReportMetric(operations*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "op/ns")
			})
		}
		for _, workers := range []int{1, 2} {
			run(fmt.Sprintf("cholesky/workers=%d", workers), cube/6, func() { CholeskyParallel(b.Context(), work, n, workers) })
		}
		Cholesky(a, n)
		for _, workers := range []int{1, 2} {
			run(fmt.Sprintf("inverse diagonal/workers=%d", workers), cube/6, func() { InverseDiagonal(b.Context(), work, n, workers) })
		}
		if n < 2000 {
			tau := make([]float64, n)
			run("tridiagonal", 2*cube/3, func() { _, _, tau, _ = Tridiagonal(b.Context(), work, n) })
			run("orthogonal", 2*cube/3, func() { Orthogonal(b.Context(), work, n, tau) })
		}
	}
}
