package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// costly is a kernel that takes time on a clock of its own: some to be fitted, some for every graph, and some for every
// pair of graphs.
type costly struct {
	number                  int
	once, perGraph, perPair time.Duration
	clock                   *time.Time
}

func (k costly) Name() string     { return "costly" }
func (k costly) String() string   { return fmt.Sprint("costly ", k.number) }
func (k costly) Validate() error  { return nil }
func (k costly) Normalized() bool { return true }

func (k costly) Fit(_ context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	*k.clock = k.clock.Add(k.once + time.Duration(len(graphs))*k.perGraph)
	return fittedCostly{k, len(graphs)}, nil
}

type fittedCostly struct {
	costly
	n int
}

func (f fittedCostly) Gram(context.Context) (*kernel.Matrix, error) {
	*f.clock = f.clock.Add(time.Duration(f.n*f.n) * f.perPair)
	m := kernel.NewMatrix(f.n, f.n)
	for i := range f.n {
		m.Row(i)[i] = 1
	}
	return m, nil
}

func (f fittedCostly) Cross(context.Context, []*graph.Graph) (*kernel.Matrix, error) {
	panic("not asked for")
}

// What kernels cost once, for a graph and for a pair is found out. Kernels that stand in several sums are fitted once.
func TestForecast(t *testing.T) {
	var now time.Time
	ds := &dataset.Dataset{Name: "random"}
	for i := range 2000 {
		ds.Graphs = append(ds.Graphs, graphtest.Path(3).With(fmt.Sprint(i), fmt.Sprint(i%2)))
	}
	var singles []kernel.Kernel
	for i := range 12 {
		singles = append(singles, costly{i, 3 * time.Second, 20 * time.Millisecond, 5 * time.Microsecond, &now})
	}
	for _, kernels := range [][]kernel.Kernel{singles[:1], singles[:4], singles,
		{kernel.Mean(singles[:6]...), kernel.Product(kernel.Mean(singles[6:]...), singles[0]), singles[5]}} {
		o := choose.DefaultOptions()
		o.ForCandidates()
		got, err := clock(func() time.Time { return now }).forecast(t.Context(), ds, kernels, o)
		if err != nil {
			t.Fatal(err)
		}
		parts := min(12, len(kernels))
		if len(kernels) == 3 {
			parts = 12
		}
		want := time.Duration(parts) * (3*time.Second + 40*time.Second + 20*time.Second)
		if d := got - want; d.Abs() > time.Millisecond {
			t.Errorf("%d kernels: %v, want %v", len(kernels), got, want)
		}
	}
}
