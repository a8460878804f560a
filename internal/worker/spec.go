package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// kernelArgs say which kernel is fitted to which graphs, and how.
type kernelArgs struct {
	Kernel    json.RawMessage `json:"kernel"`     // a record, as kernel.Unmarshal reads it
	Workers   int             `json:"workers"`    // 0 for all processors
	MaxMemory float64         `json:"max_memory"` // GB for the tables of exact kernels, 0 for the default
	Batch     batchLayout     `json:"batch"`
}

// work returns the context of the computation.
func (k *kernelArgs) work(ctx context.Context) context.Context {
	return kernel.WithWork(ctx, kernel.Work{Workers: k.Workers, Memory: int64(k.MaxMemory * 1e9)})
}

// fitResult tells what became of a kernel.
type fitResult struct {
	Handle int64           `json:"handle"`
	Kernel string          `json:"kernel"`
	Record json.RawMessage `json:"record"`
	notes
}

// fit fits the kernel to the graphs of a request. The weight of a step of plain walks becomes one
// for which their series converges.
func (k *kernelArgs) fit(ctx context.Context, body []byte) (*model.Model, *fitResult, error) {
	graphs, n, err := decodeGraphs(k.Batch, body)
	if err != nil {
		return nil, nil, err
	}
	record, err := kernel.Unmarshal(k.Kernel)
	if err != nil {
		return nil, nil, err
	}
	if walk, ok := record.(baseline.PlainWalk); ok {
		record = walk.Converging(graphs)
	}
	m, err := model.New(k.work(ctx), graphs, record)
	if err != nil {
		return nil, nil, err
	}
	text, err := kernel.Marshal(record)
	return m, &fitResult{Kernel: record.String(), Record: text, notes: n}, err
}

// diagonal returns the kernel of graphs with themselves before normalisation.
func diagonal(ctx context.Context, m *model.Model, graphs []*graph.Graph) ([]float64, error) {
	if len(m.Kernel.Factors) != 1 {
		return nil, fmt.Errorf("%s: only single kernels have raw values", m.Kernel.Sum)
	}
	f, err := m.Kernel.Factors[0].Fitted(ctx)
	if err != nil {
		return nil, err
	}
	if d, ok := f.(interface {
		Diagonal(context.Context, []*graph.Graph) ([]float64, error)
	}); ok {
		return d.Diagonal(ctx, graphs)
	}
	return slices.Repeat([]float64{1}, len(graphs)), nil // multiscale kernels are normalised by definition
}

// normalized reports whether the kernel of a model has k(G, G) = 1 for all graphs.
func normalized(m *model.Model) bool {
	for _, f := range m.Kernel.Factors {
		for _, p := range kernel.Parameters(f.Kernel) {
			if p.Name == "normalize" && p.Default != true {
				return false
			}
		}
	}
	return true
}
