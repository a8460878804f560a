package mlg

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// lowRank is a low-rank kernel with the features of its training graphs.
type lowRank struct {
	*LowRank
	train *Covariances
}

// Fit fits the kernel of graphs as they are, without a half in which bonds are vertices.
func Fit(ctx context.Context, graphs []*graph.Graph, k Kernel) (*lowRank, error) {
	f, err := fit(ctx, graphs, k)
	if err != nil {
		return nil, err
	}
	return &lowRank{f.Map.(*LowRank), f.Train.(*Covariances)}, nil
}

func (m *lowRank) Gram(ctx context.Context) (*kernel.Matrix, error) {
	return kernel.Between(ctx, m.LowRank, m.train, m.train)
}

func (m *lowRank) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	return (&kernel.Fitted{Map: m.LowRank, Train: m.train}).Cross(ctx, graphs)
}
