// Package kerneltest holds the properties that every graph kernel must have, as one suite.
package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// Expect says which properties a kernel is expected to have.
type Expect struct {
	// Kernel makes the kernel with the given number of workers.
	Kernel func(workers int) mlg.Kernel
	// Graphs are those on which the kernel is tried; graphtest.Suite when nil.
	Graphs []*graph.Graph
	// Indefinite exempts the kernel from the test for positive semi-definiteness.
	Indefinite bool
	// Unnormalized exempts the kernel from k(G,G) = 1 and 0 ≤ k ≤ 1.
	Unnormalized bool
	// OrderFree: fitting to graphs in another vertex order gives the same kernel. Kernels
	// that sample vertices do not have it.
	OrderFree bool
	// Zero allows kernel values of 0.
	Zero bool
	// Tolerance is the relative error allowed between values that are equal in exact
	// arithmetic; 1e-10 when 0.
	Tolerance float64
}

// Run tries the whole suite.
func Run(t *testing.T, e Expect) {
	t.Helper()
	if e.Graphs == nil {
		e.Graphs = graphtest.Suite(1)
	}
	if e.Tolerance == 0 {
		e.Tolerance = 1e-10
	}
	fit := func(t *testing.T, workers int, gs []*graph.Graph) (mlg.Fitted, *mlg.Matrix) {
		t.Helper()
		f, err := e.Kernel(workers).Fit(t.Context(), gs)
		if err != nil {
			t.Fatal(err)
		}
		k, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f, k
	}
	f, k := fit(t, 1, e.Graphs)
	n := len(e.Graphs)

	t.Run("range", func(t *testing.T) {
		for i := range n {
			for j := range n {
				v := k.At(i, j)
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("k(%d,%d) = %v", i, j, v)
				}
				if math.Float64bits(v) != math.Float64bits(k.At(j, i)) {
					t.Errorf("k(%d,%d) = %v, k(%d,%d) = %v", i, j, v, j, i, k.At(j, i))
				}
				if e.Unnormalized {
					continue
				}
				if v < 0 || v > 1 || v == 0 && !e.Zero {
					t.Errorf("k(%d,%d) = %v, want it in (0, 1]", i, j, v)
				}
				if i == j && v != 1 {
					t.Errorf("k(%d,%d) = %.17g, want 1", i, i, v)
				}
			}
		}
	})
	t.Run("positive semi-definite", func(t *testing.T) {
		if e.Indefinite {
			t.Skip("this kernel is not positive semi-definite in general")
		}
		var eig mat.EigenSym
		if !eig.Factorize(mat.NewSymDense(n, append([]float64(nil), k.Data...)), false) {
			t.Fatal("eigenvalues did not converge")
		}
		v := eig.Values(nil)
		if v[0] < -1e-12*float64(n)*v[n-1] {
			t.Errorf("eigenvalues from %v to %v", v[0], v[n-1])
		}
	})
	t.Run("cross equals gram", func(t *testing.T) {
		c, err := f.Cross(t.Context(), e.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "cross", c, k, e.Tolerance)
		// One graph at a time, and none.
		for i, g := range e.Graphs {
			c, err := f.Cross(t.Context(), []*graph.Graph{g})
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("row %d", i), c, &mlg.Matrix{Rows: 1, Cols: n, Data: k.Row(i)}, e.Tolerance)
		}
		if c, err := f.Cross(t.Context(), nil); err != nil || c.Rows != 0 || c.Cols != n {
			t.Errorf("cross of no graphs: %v, %v", c, err)
		}
	})
	t.Run("vertex order", func(t *testing.T) {
		r := graphtest.Rand(2)
		shuffled := make([]*graph.Graph, n)
		for i, g := range e.Graphs {
			shuffled[i], _ = graphtest.Shuffle(r, g)
		}
		c, err := f.Cross(t.Context(), shuffled)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "transformed", c, k, e.Tolerance)
		if e.OrderFree {
			_, k2 := fit(t, 1, shuffled)
			near(t, "fitted", k2, k, e.Tolerance)
		}
	})
	t.Run("workers", func(t *testing.T) {
		for _, w := range []int{2, 7} {
			f2, k2 := fit(t, w, e.Graphs)
			same(t, fmt.Sprintf("%d workers", w), k2, k)
			c, err := f.Cross(t.Context(), e.Graphs)
			if err != nil {
				t.Fatal(err)
			}
			c2, err := f2.Cross(t.Context(), e.Graphs)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("cross, %d workers", w), c2, c)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Kernel(2).Fit(ctx, e.Graphs); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Fit: %v, want context.Canceled", err)
		}
		if _, err := f.Gram(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Gram: %v, want context.Canceled", err)
		}
		if _, err := f.Cross(ctx, e.Graphs); !errors.Is(err, context.Canceled) {
			t.Errorf("Cross: %v, want context.Canceled", err)
		}
	})
}

func near(t *testing.T, what string, got, want *mlg.Matrix, tol float64) {
	t.Helper()
	for i := range want.Data {
		if !(math.Abs(got.Data[i]-want.Data[i]) <= tol*math.Abs(want.Data[i])) {
			t.Errorf("%s: k(%d,%d) = %.17g, want %.17g", what, i/want.Cols, i%want.Cols, got.Data[i], want.Data[i])
		}
	}
}

func same(t *testing.T, what string, got, want *mlg.Matrix) {
	t.Helper()
	for i := range want.Data {
		if math.Float64bits(got.Data[i]) != math.Float64bits(want.Data[i]) {
			t.Errorf("%s: k(%d,%d) = %.17g, want the same bits as %.17g", what, i/want.Cols, i%want.Cols, got.Data[i], want.Data[i])
		}
	}
}
