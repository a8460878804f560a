package kerneltest

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Spy is a kernel on numbers of vertices that records the graphs it gets.
type Spy struct {
	mu    sync.Mutex
	Fits  [][]*graph.Graph
	Cross [][2][]*graph.Graph // graphs of Fit, graphs of Cross
	Scale float64
}

// Name implements kernel.Kernel, as String, Validate and Fit do.
func (k *Spy) Name() string    { return "spy" }
func (k *Spy) String() string  { return fmt.Sprintf("spy %g", k.Scale) }
func (k *Spy) Validate() error { return nil }

// Fit records the graphs.
func (k *Spy) Fit(_ context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Fits = append(k.Fits, graphs)
	return &spyFit{k, graphs}, nil
}

type spyFit struct {
	k      *Spy
	graphs []*graph.Graph
}

func (f *spyFit) value(a, b *graph.Graph) float64 {
	d := float64(a.N()-b.N()) / f.k.Scale
	return math.Exp(-d * d)
}

func (f *spyFit) matrix(rows []*graph.Graph) *kernel.Matrix {
	m := kernel.NewMatrix(len(rows), len(f.graphs))
	for i, a := range rows {
		for j, b := range f.graphs {
			m.Set(i, j, f.value(a, b))
		}
	}
	return m
}

func (f *spyFit) Gram(context.Context) (*kernel.Matrix, error) { return f.matrix(f.graphs), nil }

func (f *spyFit) Cross(_ context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	f.k.Cross = append(f.k.Cross, [2][]*graph.Graph{f.graphs, graphs})
	return f.matrix(graphs), nil
}
