package baseline

import (
	"context"
	"fmt"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Histogram is the kernel of label histograms, the baseline that every score must be read
// against:
//
//	k(G, G') = Σ_l c_l(G) c_l(G'),
//
// where c_l(G) is the number of vertices (or, with Edges, of edges) of G with label l. With
// Labels = Attributes the histogram of vertices is replaced by the sum of their attribute
// rows. Fit takes O(n + m) time per graph.
type Histogram struct {
	Edges     bool   // count edges by their labels, which all graphs must have
	Labels    Source // labels of vertices; has no effect on edges
	Normalize bool
	Workers   int
}

// DefaultHistogram returns the normalised histogram of vertex labels.
func DefaultHistogram() Histogram {
	return Histogram{Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

// Validate names the first field with a bad value.
func (k Histogram) Validate() error {
	if err := k.Labels.validate("label histogram", true); err != nil {
		return err
	}
	return validateWorkers("label histogram", k.Workers)
}

// String names the kernel.
func (k Histogram) String() string {
	if k.Edges {
		return "edge-labels"
	}
	return "labels" + k.Labels.suffix()
}

// suffix is what a source adds to the name of a kernel.
func (s Source) suffix() string {
	if s == Auto {
		return ""
	}
	return " labels=" + s.String()
}

// Fit counts the labels of the training graphs.
func (k Histogram) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (mlg.Fitted, error) { return nil, fmt.Errorf("label histogram: %w", err) }
	source := k.Labels
	var err error
	if k.Edges {
		err = haveEdgeLabels(graphs)
	} else {
		source, err = k.Labels.resolve(graphs)
	}
	if err != nil {
		return fail(err)
	}
	dict := labelDict{}
	dim := 0
	vectors := make([][]entry, len(graphs))
	for i, g := range graphs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case k.Edges:
			vectors[i] = edgeHistogram(g, dict.intern)
		case source == Attributes:
			if g.N() == 0 {
				continue
			}
			if dim == 0 {
				dim = g.AttributeDim()
			}
			if vectors[i], err = attributeSum(g, dim); err != nil {
				return fail(graphError(i, err))
			}
		default:
			vectors[i] = countEntries(dict.fit(source, graphs[i:i+1])[0])
		}
	}
	idx, err := newIndex(vectors, max(len(dict), dim), []float64{1}, false)
	if err != nil {
		return fail(err)
	}
	f := &explicit{name: "label histogram", idx: idx, normalize: k.Normalize, workers: k.Workers, mapper: func(new []*graph.Graph) (func() mapping, error) {
		source := source
		var err error
		if k.Edges {
			err = haveEdgeLabels(new)
		} else {
			source, err = resolveNew(k.Labels, source, new)
		}
		if err != nil {
			return nil, err
		}
		return func() mapping {
			return func(_ context.Context, g *graph.Graph) ([]entry, error) {
				switch {
				case k.Edges:
					return unseenFrom(len(dict), edgeHistogram(g, dict.numbers())), nil
				case source == Attributes && g.N() == 0:
					return nil, nil
				case source == Attributes && dim == 0:
					v, err := attributeSum(g, g.AttributeDim())
					return unseenFrom(0, v), err
				case source == Attributes:
					return attributeSum(g, dim)
				}
				return unseenFrom(len(dict), countEntries(dict.of(source, g))), nil
			}
		}, nil
	}}
	if k.Edges || source == Attributes {
		return f, nil
	}
	return &vertexCounts{f, func(_ context.Context, g *graph.Graph) ([][]uint32, error) {
		source, err := resolveNew(k.Labels, source, []*graph.Graph{g})
		if err != nil {
			return nil, err
		}
		return [][]uint32{dict.of(source, g)}, nil
	}}, nil
}

// haveEdgeLabels checks that all graphs with edges have edge labels.
func haveEdgeLabels(graphs []*graph.Graph) error {
	for i, g := range graphs {
		if g.M() > 0 && !g.HasEdgeLabels() {
			return fmt.Errorf("graph %d has no edge labels, want a label on every edge", i)
		}
	}
	return nil
}

// edgeHistogram counts the edge labels of g, numbered by id.
func edgeHistogram(g *graph.Graph, id func(string) uint32) []entry {
	ids := make([]uint32, 0, g.M())
	for e := range g.Edges() {
		ids = append(ids, id(e.Label))
	}
	return countEntries(ids)
}

// attributeSum returns the sum of the attribute rows of g as a vector.
func attributeSum(g *graph.Graph, dim int) ([]entry, error) {
	if g.AttributeDim() != dim {
		return nil, fmt.Errorf("%d attributes per vertex, want %d as in the graphs before", g.AttributeDim(), dim)
	}
	v := make([]entry, dim)
	for i := range v {
		v[i].id = uint32(i)
	}
	for u := range g.N() {
		for i, a := range g.Attributes(u) {
			v[i].val += a
		}
	}
	return v, nil
}
