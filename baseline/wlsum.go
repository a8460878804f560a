package baseline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// WLSum is the sum of a kernel over Weisfeiler-Lehman colourings,
//
//	k(G, G') = Σ_{i=0..H} b(G_i, G'_i),
//
// where G_i is G with the colours of colouring i as labels. Base is b, with raw values. With
// Histogram as Base it is WL, which is faster; a Base that does not look at vertex labels is
// multiplied by H+1.
//
// A colour is the start of the SHA-256 hash of the colour before and those of the neighbours,
// 128 bits, so that it means the same in every process. Fit takes H+1 times what Base takes.
type WLSum struct {
	H         int
	Base      mlg.Kernel
	Labels    Source // Attributes is not possible
	Normalize bool
	Workers   int
}

// Validate names the first field with a bad value.
func (k WLSum) Validate() error {
	if k.H < 0 {
		return fmt.Errorf("wl sum: H is %d, want 0 or more", k.H)
	}
	if k.Base == nil {
		return fmt.Errorf("wl sum: Base is nil, want a kernel")
	}
	if err := k.Labels.validate("wl sum", false); err != nil {
		return err
	}
	return validateWorkers("wl sum", k.Workers)
}

// String names the kernel and its parameters, as in "wl-sum h=5 (sp ordered)".
func (k WLSum) String() string {
	return fmt.Sprintf("wl-sum h=%d%s (%v)", k.H, k.Labels.suffix(), k.Base)
}

type wlSumFitted struct {
	kernel WLSum
	source Source
	level  []mlg.Fitted
	self   []float64 // nil unless normalised
}

// Fit colours the training graphs and fits Base to every colouring.
func (k WLSum) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	source, err := k.Labels.resolve(graphs)
	if err != nil {
		return nil, fmt.Errorf("wl sum: %w", err)
	}
	f := &wlSumFitted{kernel: k, source: source}
	err = k.colourings(ctx, source, graphs, func(gs []*graph.Graph) error {
		b, err := k.Base.Fit(ctx, gs)
		f.level = append(f.level, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	if k.Normalize {
		if f.self, err = f.selfSimilarities(ctx, graphs); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// colourings calls f with the graphs of every colouring in turn.
func (k WLSum) colourings(ctx context.Context, source Source, graphs []*graph.Graph, f func([]*graph.Graph) error) error {
	colours := make([][]string, len(graphs))
	for i, g := range graphs {
		for v := range g.N() {
			colours[i] = append(colours[i], source.labelOf(g, v))
		}
	}
	for h := 0; ; h++ {
		painted := make([]*graph.Graph, len(graphs))
		err := parallel(ctx, k.Workers, len(graphs), 16, func(_, i int) error {
			var err error
			if painted[i], err = paint(graphs[i], colours[i]); err != nil {
				return graphError(i, err)
			}
			colours[i] = nextColours(graphs[i], colours[i])
			return nil
		})
		if err != nil {
			return err
		}
		if err := f(painted); err != nil || h == k.H {
			return err
		}
	}
}

// paint returns g with other labels.
func paint(g *graph.Graph, labels []string) (*graph.Graph, error) {
	b := graph.NewBuilder(g.N())
	for v, l := range labels {
		b.SetLabel(v, l)
	}
	for e := range g.Edges() {
		if g.HasEdgeLabels() {
			b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
		} else {
			b.AddWeightedEdge(e.U, e.V, e.Weight)
		}
	}
	return b.Build()
}

// nextColours refines the colours of a graph.
func nextColours(g *graph.Graph, colour []string) []string {
	out := make([]string, len(colour))
	var near []string
	var text []byte
	for v := range out {
		near = near[:0]
		for _, u := range g.Neighbors(v) {
			near = append(near, colour[u])
		}
		slices.Sort(near)
		text = text[:0]
		for _, c := range append([]string{colour[v]}, near...) {
			text = binary.AppendUvarint(text, uint64(len(c)))
			text = append(text, c...)
		}
		sum := sha256.Sum256(text)
		out[v] = string(sum[:16])
	}
	return out
}

// selfSimilarities returns the raw kernel of every graph with itself.
func (f *wlSumFitted) selfSimilarities(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	self := make([]float64, len(graphs))
	err := f.kernel.colourings(ctx, f.source, graphs, func(gs []*graph.Graph) error {
		for i := range gs {
			b, err := f.kernel.Base.Fit(ctx, gs[i:i+1])
			if err != nil {
				return graphError(i, err)
			}
			m, err := b.Gram(ctx)
			if err != nil {
				return graphError(i, err)
			}
			self[i] += m.Data[0]
		}
		return nil
	})
	return self, err
}

// Gram returns the kernel matrix of the training graphs.
func (f *wlSumFitted) Gram(ctx context.Context) (*mlg.Matrix, error) {
	var sum *mlg.Matrix
	for _, b := range f.level {
		m, err := b.Gram(ctx)
		if err != nil {
			return nil, err
		}
		sum = addMatrix(sum, m)
	}
	if f.kernel.Normalize {
		normalizeAll(sum, f.self, f.self)
	}
	return sum, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *wlSumFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	source, err := resolveNew(f.kernel.Labels, f.source, graphs)
	if err != nil {
		return nil, fmt.Errorf("wl sum: %w", err)
	}
	var sum *mlg.Matrix
	level := 0
	err = f.kernel.colourings(ctx, source, graphs, func(gs []*graph.Graph) error {
		m, err := f.level[level].Cross(ctx, gs)
		if err != nil {
			return err
		}
		sum = addMatrix(sum, m)
		level++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.kernel.Normalize {
		self, err := f.selfSimilarities(ctx, graphs)
		if err != nil {
			return nil, err
		}
		normalizeAll(sum, self, f.self)
	}
	return sum, nil
}

// addMatrix adds m to sum, which may be nil.
func addMatrix(sum, m *mlg.Matrix) *mlg.Matrix {
	if sum == nil {
		return m
	}
	for i, x := range m.Data {
		sum.Data[i] += x
	}
	return sum
}
