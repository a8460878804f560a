// Package kerneltest holds the properties that every graph kernel must have, as one suite.
package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// Expect says which properties a kernel is expected to have.
type Expect struct {
	Kernel kernel.Kernel
	// Graphs are those on which the kernel is tried; graphtest.Suite when nil.
	Graphs []*graph.Graph
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
	f, k := e.fit(t, 1, e.Graphs)
	t.Run("range", func(t *testing.T) { e.inRange(t, k) })
	t.Run("positive semi-definite", func(t *testing.T) { e.semidefinite(t, k) })
	t.Run("cross equals gram", func(t *testing.T) { e.cross(t, f, k) })
	t.Run("vertex order", func(t *testing.T) { e.order(t, f, k) })
	t.Run("workers", func(t *testing.T) { e.workers(t, f, k) })
	t.Run("cancel", func(t *testing.T) { e.cancel(t, f) })
	t.Run("written down", func(t *testing.T) { e.written(t) })
}

func (e *Expect) fit(t *testing.T, workers int, graphs []*graph.Graph) (kernel.Fitted, *kernel.Matrix) {
	t.Helper()
	ctx := kernel.WithWorkers(t.Context(), workers)
	f, err := e.Kernel.Fit(ctx, graphs)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return f, k
}

func (e *Expect) inRange(t *testing.T, k *kernel.Matrix) {
	for i := range k.Rows {
		for j := range k.Cols {
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
}

func (e *Expect) semidefinite(t *testing.T, k *kernel.Matrix) {
	if !kernel.Semidefinite(e.Kernel) {
		return
	}
	n := k.Rows
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(n, append([]float64(nil), k.Data...)), false) {
		t.Fatal("eigenvalues did not converge")
	}
	v := eig.Values(nil)
	if v[0] < -1e-12*float64(n)*v[n-1] {
		t.Errorf("eigenvalues from %v to %v", v[0], v[n-1])
	}
}

func (e *Expect) cross(t *testing.T, f kernel.Fitted, k *kernel.Matrix) {
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
		near(t, fmt.Sprintf("row %d", i), c, &kernel.Matrix{Rows: 1, Cols: k.Cols, Data: k.Row(i)}, e.Tolerance)
	}
	if c, err := f.Cross(t.Context(), nil); err != nil || c.Rows != 0 || c.Cols != k.Cols {
		t.Errorf("cross of no graphs: %v, %v", c, err)
	}
}

func (e *Expect) order(t *testing.T, f kernel.Fitted, k *kernel.Matrix) {
	r := graphtest.Rand(2)
	shuffled := make([]*graph.Graph, len(e.Graphs))
	for i, g := range e.Graphs {
		shuffled[i], _ = graphtest.Shuffle(r, g)
	}
	c, err := f.Cross(t.Context(), shuffled)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "transformed", c, k, e.Tolerance)
	if e.OrderFree {
		_, k2 := e.fit(t, 1, shuffled)
		near(t, "fitted", k2, k, e.Tolerance)
	}
}

func (e *Expect) workers(t *testing.T, f kernel.Fitted, k *kernel.Matrix) {
	c, err := f.Cross(kernel.WithWorkers(t.Context(), 1), e.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{2, 7} {
		f2, k2 := e.fit(t, w, e.Graphs)
		near(t, fmt.Sprintf("%d workers", w), k2, k, 0)
		c2, err := f2.Cross(kernel.WithWorkers(t.Context(), w), e.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("cross, %d workers", w), c2, c, 0)
	}
}

func (e *Expect) cancel(t *testing.T, f kernel.Fitted) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Kernel.Fit(ctx, e.Graphs); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Fit: %v, want context.Canceled", err)
	}
	if _, err := f.Gram(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Gram: %v, want context.Canceled", err)
	}
	if _, err := f.Cross(ctx, e.Graphs); !errors.Is(err, context.Canceled) {
		t.Errorf("Cross: %v, want context.Canceled", err)
	}
}

// written checks that the kernel comes back from JSON, and from its text, with the same text.
func (e *Expect) written(t *testing.T) {
	b, err := kernel.Marshal(e.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	back, err := kernel.Unmarshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if back.String() != e.Kernel.String() {
		t.Errorf("%s comes back from JSON as %s", e.Kernel, back)
	}
	if back, err = kernel.Parse(e.Kernel.String()); err != nil || back.String() != e.Kernel.String() {
		t.Errorf("%s comes back from its text as %v, %v", e.Kernel, back, err)
	}
}

// near compares matrices; with the tolerance 0 the bits must be the same.
func near(t *testing.T, what string, got, want *kernel.Matrix, tol float64) {
	t.Helper()
	for i, w := range want.Data {
		g := got.Data[i]
		if math.Float64bits(g) != math.Float64bits(w) && !(tol > 0 && math.Abs(g-w) <= tol*math.Abs(w)) {
			t.Errorf("%s: k(%d,%d) = %.17g, want %.17g", what, i/want.Cols, i%want.Cols, g, w)
		}
	}
}

// Points returns the matrix of exp(−½|x−y|²) for n random points of a square.
func Points(r *rand.Rand, n int, side float64) *kernel.Matrix {
	x := make([][2]float64, n)
	for i := range x {
		x[i] = [2]float64{side * r.Float64(), side * r.Float64()}
	}
	k := kernel.NewMatrix(n, n)
	for i := range x {
		for j := range x {
			k.Set(i, j, math.Exp(-(math.Pow(x[i][0]-x[j][0], 2)+math.Pow(x[i][1]-x[j][1], 2))/2))
		}
	}
	return k
}
