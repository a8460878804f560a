package classic

import (
	"context"
	"errors"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Histogram is the kernel of label histograms, the baseline that every score must be read
// against:
//
//	k(G, G') = s Σ_l c_l(G) c_l(G'),
//
// where c_l(G) is the number of vertices (or, with Edges, of edges) of G with label l, and s
// is Scale. With Labels = Attributes the histogram of vertices is replaced by the sum of their
// attribute rows. Fit takes O(n + m) time per graph.
type Histogram struct {
	Edges     bool      `json:"-"` // count edges by their labels, which all graphs must have
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled attributes" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees, unlabeled, or attributes, compared by their dot product."`
	Scale     float64   `json:"scale" want:"positive" help:"Factor of values that are not normalised."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultHistogram returns the normalised histogram of vertex labels.
func DefaultHistogram() Histogram { return Histogram{Labels: Auto, Scale: 1, Normalize: true} }

// Name implements kernel.Kernel: "labels", or "edge-labels".
func (k Histogram) Name() string {
	if k.Edges {
		return "edge-labels"
	}
	return "labels"
}

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Histogram) String() string  { return kernel.Text(k) }
func (k Histogram) Validate() error { return kernel.Check(k) }
func (k Histogram) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k Histogram) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k Histogram) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

func (k Histogram) recipe() recipe {
	m := recipe{labels: k.Labels, weights: []float64{k.Scale}, normalize: k.Normalize}
	switch {
	case k.Edges:
		m.labels, m.count = Unlabeled, countEdgeLabels
	case k.Labels == Attributes:
		m.count = sumAttributes
	default:
		m.sets, m.count = eachVertex, countVertices
	}
	return m
}

// countVertices counts vertices by colour.
func countVertices() countFunc {
	var buf []uint64
	return func(ctx context.Context, g *coloured, out *vector) error {
		for _, colour := range g.colours {
			buf = append(buf[:0], colour...)
			slices.Sort(buf)
			eachRun(buf, out.add)
		}
		return ctx.Err()
	}
}

// eachVertex visits what countVertices counts.
func eachVertex(ctx context.Context, g *coloured, visit func(u, v int, feature uint64)) error {
	for _, colour := range g.colours {
		for v, c := range colour {
			visit(v, v, c)
		}
	}
	return ctx.Err()
}

// countEdgeLabels counts edges by label.
func countEdgeLabels() countFunc {
	return func(_ context.Context, g *coloured, out *vector) error {
		if g.M() > 0 && !g.HasEdgeLabels() {
			return errors.New("no edge labels, want a label on every edge")
		}
		for e := range g.Edges() {
			out.add(hashLabel(e.Label), 1)
		}
		return nil
	}
}

// sumAttributes adds up the rows of attributes.
func sumAttributes() countFunc {
	var sum []float64
	return func(_ context.Context, g *coloured, out *vector) error {
		resized(&sum, g.AttributeDim())
		for v := range g.N() {
			for i, a := range g.Attributes(v) {
				sum[i] += a
			}
		}
		for i, a := range sum {
			out.add(uint64(i), a)
		}
		return nil
	}
}
