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
	Cross [][2][]*graph.Graph // graphs of Fit, graphs that are transformed afterwards
	Scale float64
}

// Name implements kernel.Kernel, as String, Validate, Fit and Decode do.
func (k *Spy) Name() string    { return "spy" }
func (k *Spy) String() string  { return fmt.Sprintf("spy %g", k.Scale) }
func (k *Spy) Validate() error { return nil }

// Fit records the graphs.
func (k *Spy) Fit(_ context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Fits = append(k.Fits, graphs)
	return &kernel.Fitted{Map: spyMap{k, graphs}, Train: &kernel.Graphs{List: graphs}}, nil
}

// Decode returns a map that was fitted to no graphs.
func (k *Spy) Decode([]byte) (kernel.Map, error) { return spyMap{k, nil}, nil }

type spyMap struct {
	k      *Spy
	graphs []*graph.Graph
}

func (m spyMap) Transform(_ context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	m.k.mu.Lock()
	defer m.k.mu.Unlock()
	m.k.Cross = append(m.k.Cross, [2][]*graph.Graph{m.graphs, graphs})
	return &kernel.Graphs{List: graphs}, nil
}

func (m spyMap) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	for i, g := range b.A.(*kernel.Graphs).List[b.I0:b.I1] {
		for j, h := range b.B.(*kernel.Graphs).List[b.J0:b.J1] {
			d := float64(g.N()-h.N()) / m.k.Scale
			dst[i*stride+j] = math.Exp(-d * d)
		}
	}
	return ctx.Err()
}

func (m spyMap) Join(parts ...kernel.Features) kernel.Features { return kernel.JoinGraphs(parts...) }
func (m spyMap) AppendBinary(b []byte) ([]byte, error)         { return b, nil }
func (m spyMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	return kernel.DecodeGraphs(data)
}
