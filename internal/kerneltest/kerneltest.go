// Package kerneltest holds the properties that every graph kernel must have, as one suite.
package kerneltest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
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
	// SetFree: the value of two graphs does not depend on the graphs that the kernel is fitted to.
	SetFree bool
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
	t.Run("blocks", func(t *testing.T) { e.blocks(t, f, k) })
	t.Run("encoded", func(t *testing.T) { e.encoded(t, f, k) })
	t.Run("new graphs", func(t *testing.T) { e.newGraphs(t, f) })
	t.Run("vertex order", func(t *testing.T) { e.order(t, f, k) })
	t.Run("workers", func(t *testing.T) { e.workers(t, f, k) })
	t.Run("cancel", func(t *testing.T) { e.cancel(t, f) })
	t.Run("written down", func(t *testing.T) { e.written(t) })
}

func (e *Expect) fit(t *testing.T, workers int, graphs []*graph.Graph) (*kernel.Fitted, *kernel.Matrix) {
	t.Helper()
	ctx := work.WithWorkers(t.Context(), workers)
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

func (e *Expect) cross(t *testing.T, f *kernel.Fitted, k *kernel.Matrix) {
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

// blocks checks that values do not depend on the block, nor on the sets that their graphs stand in.
func (e *Expect) blocks(t *testing.T, f *kernel.Fitted, k *kernel.Matrix) {
	r := graphtest.Rand(3)
	n := f.Train.Len()
	for range 10 {
		rows, cols := someOf(r, n), someOf(r, n)
		a, b := f.Train.Select(rows), f.Train.Select(cols)
		if a.Len() != len(rows) {
			t.Fatalf("%d of %d selected", a.Len(), len(rows))
		}
		rectangles(t, r, "selected", f.Map, a, b, k.Select(rows, cols))
		rectangles(t, r, "selected rows", f.Map, a, f.Train, k.Select(rows, kernel.UpTo(n)))
		rectangles(t, r, "selected columns", f.Map, f.Train, b, k.Select(kernel.UpTo(n), cols))
		both := append(rows, cols...)
		j := f.Join(a, b)
		rectangles(t, r, "joined", f.Map, j, j, k.Select(both, both))
	}
	if empty := f.Train.Select(nil); empty.Len() != 0 || f.Join(empty, f.Train, empty).Len() != n {
		t.Error("no features are not without effect")
	}
	k2 := kernel.NewMatrix(n, n)
	err := kernel.Blocks(t.Context(), f.Map, f.Train, f.Train, func(i0, j0 int, values *kernel.Matrix) error {
		for i := range values.Rows {
			for j, v := range values.Row(i) {
				k2.Set(i0+i, j0+j, v)
				k2.Set(j0+j, i0+i, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "blocks", k2, k, 0)
}

// someOf returns some numbers below n in any order, some of them more than once.
func someOf(r *rand.Rand, n int) []int {
	out := make([]int, r.IntN(n+1))
	for i := range out {
		out[i] = r.IntN(n)
	}
	return out
}

// rectangles compares the whole matrix between two sets, and some blocks of it, with the values that
// they must have to the bit, or to rounding if the map is Whole.
func rectangles(t *testing.T, r *rand.Rand, what string, m kernel.Map, a, b kernel.Features, want *kernel.Matrix) {
	t.Helper()
	_, whole := m.(kernel.Whole)
	for try := range 3 {
		x := kernel.Block{A: a, I1: a.Len(), B: b, J1: b.Len()}
		if try > 0 {
			x.I0, x.J0 = r.IntN(a.Len()+1), r.IntN(b.Len()+1)
			x.I1, x.J1 = x.I0+r.IntN(a.Len()-x.I0+1), x.J0+r.IntN(b.Len()-x.J0+1)
		}
		stride := x.J1 - x.J0 + r.IntN(3)
		dst := make([]float64, (x.I1-x.I0)*stride)
		for i := range dst {
			dst[i] = math.NaN()
		}
		if err := m.Fill(t.Context(), dst, stride, x); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := x.I0; i < x.I1; i++ {
			row := dst[(i-x.I0)*stride:][:stride]
			for j, v := range row {
				switch {
				case j >= x.J1-x.J0 && !math.IsNaN(v):
					t.Fatalf("%s: a value outside the block was set", what)
				case j < x.J1-x.J0 && math.Float64bits(v) != math.Float64bits(want.At(i, x.J0+j)) && !(whole && math.Abs(v-want.At(i, x.J0+j)) <= 1e-10):
					t.Errorf("%s: k(%d,%d) = %.17g, want %.17g", what, i, x.J0+j, v, want.At(i, x.J0+j))
				}
			}
		}
	}
}

// encoded checks that a map and features that come back from bytes give the same values.
func (e *Expect) encoded(t *testing.T, f *kernel.Fitted, k *kernel.Matrix) {
	data, err := f.AppendBinary([]byte("map"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Kernel.Decode(data[3:])
	if err != nil {
		t.Fatal(err)
	}
	data, err = f.Train.AppendBinary([]byte("features"))
	if err != nil {
		t.Fatal(err)
	}
	r := graphtest.Rand(4)
	for what, by := range map[string]kernel.Map{"the map": f.Map, "a decoded map": m} {
		train, err := by.DecodeFeatures(data[8:])
		if err != nil {
			t.Fatal(err)
		}
		rectangles(t, r, "decoded features, "+what, by, train, train, k)
		again, err := by.Transform(t.Context(), e.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		rectangles(t, r, "transformed and decoded features, "+what, by, again, train, k)
		at := someOf(r, train.Len())
		rectangles(t, r, "selected decoded features, "+what, by, train.Select(at), by.Join(again, train), k.Select(at, append(kernel.UpTo(k.Cols), kernel.UpTo(k.Cols)...)))
		selected, err := train.Select(at).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		back, err := by.DecodeFeatures(selected)
		if err != nil {
			t.Fatal(err)
		}
		rectangles(t, r, "encoded selection, "+what, by, back, train, k.Select(at, kernel.UpTo(k.Cols)))
	}
	for i := 0; i < len(data)-8; i += 1 + i/8 {
		if back, err := m.DecodeFeatures(data[8 : 8+i]); err == nil && back.Len() >= f.Train.Len() {
			t.Errorf("%d of %d bytes were decoded", i, len(data)-8)
		}
	}
}

// newGraphs checks that new graphs have the same features alone and in a batch, and that two of them
// have the value that a fit to them gives.
func (e *Expect) newGraphs(t *testing.T, f *kernel.Fitted) {
	graphs := graphtest.Suite(5)
	batch, err := f.Transform(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	var alone []kernel.Features
	for _, g := range graphs {
		x, err := f.Transform(t.Context(), []*graph.Graph{g})
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, x)
	}
	r := graphtest.Rand(6)
	between, err := kernel.Between(t.Context(), f.Map, batch, f.Train)
	if err != nil {
		t.Fatal(err)
	}
	own, err := kernel.Between(t.Context(), f.Map, batch, batch)
	if err != nil {
		t.Fatal(err)
	}
	joined := f.Join(alone...)
	rectangles(t, r, "alone", f.Map, joined, f.Train, between)
	rectangles(t, r, "alone with each other", f.Map, joined, batch, own)
	for i, x := range alone {
		rectangles(t, r, "one graph", f.Map, x, batch, own.Select([]int{i}, kernel.UpTo(len(graphs))))
	}
	if !e.SetFree {
		return
	}
	for range 5 {
		i, j := r.IntN(len(graphs)), r.IntN(len(graphs))
		_, two := e.fit(t, 1, []*graph.Graph{graphs[i], graphs[j]})
		near(t, "two graphs alone", own.Select([]int{i, j}, []int{i, j}), two, 1e-12)
	}
}

func (e *Expect) order(t *testing.T, f *kernel.Fitted, k *kernel.Matrix) {
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

func (e *Expect) workers(t *testing.T, f *kernel.Fitted, k *kernel.Matrix) {
	c, err := f.Cross(work.WithWorkers(t.Context(), 1), e.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []int{2, 7} {
		f2, k2 := e.fit(t, w, e.Graphs)
		near(t, fmt.Sprintf("%d workers", w), k2, k, 0)
		c2, err := f2.Cross(work.WithWorkers(t.Context(), w), e.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("cross, %d workers", w), c2, c, 0)
	}
}

func (e *Expect) cancel(t *testing.T, f *kernel.Fitted) {
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
	if _, err := f.Transform(ctx, e.Graphs); !errors.Is(err, context.Canceled) {
		t.Errorf("Transform: %v, want context.Canceled", err)
	}
	n := f.Train.Len()
	if err := f.Fill(ctx, make([]float64, n*n), n, kernel.Block{A: f.Train, I1: n, B: f.Train, J1: n}); !errors.Is(err, context.Canceled) {
		t.Errorf("Fill: %v, want context.Canceled", err)
	}
	put := func(int, int, *kernel.Matrix) error { return nil }
	if err := kernel.Blocks(ctx, f.Map, f.Train, f.Train, put); !errors.Is(err, context.Canceled) {
		t.Errorf("Blocks: %v, want context.Canceled", err)
	}
}

// written checks that the kernel comes back from its texts.
func (e *Expect) written(t *testing.T) {
	for _, text := range []string{e.Kernel.String(), kernel.FullText(e.Kernel)} {
		if back, err := kernel.Parse(text); err != nil || back.String() != e.Kernel.String() {
			t.Errorf("%s comes back as %v, %v", text, back, err)
		}
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

// ReadNPY reads a matrix that package matrixfile has written.
func ReadNPY(path string) (*kernel.Matrix, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows, cols int
	if _, err := fmt.Sscanf(string(b[min(10, len(b)):]), "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d)", &rows, &cols); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := kernel.NewMatrix(rows, cols)
	if want := 10 + int(b[8]) + int(b[9])<<8 + 8*len(m.Data); len(b) != want {
		return nil, fmt.Errorf("%s: %d bytes, want %d", path, len(b), want)
	}
	return m, binary.Read(bytes.NewReader(b[len(b)-8*len(m.Data):]), binary.LittleEndian, m.Data)
}
