package classic

import (
	"context"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Composition is the Gaussian kernel of what a graph consists of:
//
//	k(G, G') = exp(−|c(G) − c(G')|²/(2w²)),
//
// where c(G) has the numbers of vertices and of edges by label, and w is Width. Where differences are far smaller than w, it is
// nearly a constant plus products of counts. So a Gaussian process with it learns what adds up over the parts of a graph, as a
// linear regression on counts does, and is the less sure of graphs the larger they are than those it has seen. It goes back to the
// mean for graphs whose counts differ by about w from all of these. Fit takes O(n + m) time per graph.
type Composition struct {
	Width  float64   `json:"width" want:"positive" help:"Difference of counts, over all labels, at which graphs are no longer alike."`
	Labels Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
}

// DefaultComposition returns the kernel of width 30.
func DefaultComposition() Composition { return Composition{Width: 30, Labels: Auto} }

// Name implements kernel.Kernel.
func (k Composition) Name() string { return "composition" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Composition) String() string  { return kernel.Text(k) }
func (k Composition) Validate() error { return kernel.Check(k) }
func (k Composition) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k Composition) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k Composition) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

func (k Composition) recipe() recipe {
	return recipe{labels: k.Labels, weights: []float64{1}, width: k.Width, count: countParts}
}

// countParts counts vertices by colour and edges by label.
func countParts() countFunc {
	vertices := countVertices()
	return func(ctx context.Context, g *coloured, out *vector) error {
		for e := range g.Edges() {
			out.add(hashLabel(graph.EdgeVertexPrefix+e.Label), 1)
		}
		return vertices(ctx, g, out)
	}
}

// gaussian makes the products of the counts of a graph with others a function of their distance.
func gaussian(row []float64, self float64, others []float64, width float64) {
	for j, v := range row {
		square := max(0, self+others[j]-2*v) // whole numbers, so exactly 0 for equal counts
		row[j] = math.Exp(-square / (2 * width * width))
	}
}
