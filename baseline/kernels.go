package baseline

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// What makes the structs of this package kernels, besides their names and features.

func init() {
	edges := DefaultHistogram()
	edges.Edges = true
	edge, assignment := DefaultWL(), DefaultWL()
	edge.Variant, assignment.Variant = Edge, Assignment
	refined := DefaultShortestPath()
	refined.H = 5
	for _, k := range []kernel.Kernel{
		DefaultHistogram(), edges, DefaultWL(), edge, assignment, DefaultShortestPath(), refined,
		DefaultGraphlet(), DefaultGraphletMix(), DefaultRandomWalk(), DefaultPlainWalk(),
	} {
		kernel.Register(k)
	}
}

// String implements kernel.Kernel.
func (k Histogram) String() string    { return kernel.Text(k) }
func (k WL) String() string           { return kernel.Text(k) }
func (k ShortestPath) String() string { return kernel.Text(k) }
func (k Graphlet) String() string     { return kernel.Text(k) }
func (k GraphletMix) String() string  { return kernel.Text(k) }
func (k RandomWalk) String() string   { return kernel.Text(k) }
func (k PlainWalk) String() string    { return kernel.Text(k) }

// Validate implements kernel.Kernel.
func (k Histogram) Validate() error   { return kernel.Check(k) }
func (k Graphlet) Validate() error    { return kernel.Check(k) }
func (k GraphletMix) Validate() error { return kernel.Check(k) }
func (k RandomWalk) Validate() error  { return kernel.Check(k) }
func (k PlainWalk) Validate() error   { return kernel.Check(k) }

// Fit counts the features of the training graphs.
func (k Histogram) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k WL) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k ShortestPath) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k Graphlet) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k GraphletMix) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k RandomWalk) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k PlainWalk) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}

// Resolve implements kernel.Resolver: Auto becomes what the graphs have.
func (k Histogram) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }
func (k WL) Resolve(graphs []*graph.Graph) (kernel.Kernel, error)        { return resolve(k, graphs) }
func (k ShortestPath) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}
func (k RandomWalk) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }
func (k Graphlet) Resolve([]*graph.Graph) (kernel.Kernel, error)          { return k, nil }
func (k GraphletMix) Resolve([]*graph.Graph) (kernel.Kernel, error)       { return k, nil }
func (k PlainWalk) Resolve([]*graph.Graph) (kernel.Kernel, error)         { return k, nil }

func resolve(k featureKernel, graphs []*graph.Graph) (kernel.Kernel, error) {
	labels, err := k.features().labels.resolve(graphs)
	if err != nil {
		return nil, err
	}
	return kernel.With(k, "labels", string(labels))
}
