package mlg

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

// LowRank is a fitted low-rank MLG kernel: all that is needed to give a new graph the same features
// as a training graph. It is a kernel.Map. Its methods may be called concurrently.
type LowRank struct {
	kernel      Kernel
	base        vertex.Kernel
	projections []projection // levels 0 … L
	counts      []int        // classes of the training graphs by level; nil when read from a file
}

var _ kernel.Map = (*LowRank)(nil)

// level is a level of a collection of graphs on its way up through a model: its vertices in
// classes, and the features of the classes.
type level struct {
	*classes
	number int
	below  features // of the classes of the level below
	features
}

// features has a row for each class of a level.
type features struct {
	rows  []float64
	width int
}

// row returns the features of a class.
func (f features) row(class int32) []float64 {
	return f.rows[int(class)*f.width:][:f.width:f.width]
}

// fit builds the low-rank MLG kernel of the paper from training graphs. Level by level it chooses
// landmarks, diagonalises their Gram matrix, and gives every neighbourhood class the row q of its
// projection on their leading eigenvectors (docs/explanation/math.md, Low rank). It does not look
// at targets.
//
// With c classes of m cells at a level and Ñ landmarks of rank P it takes O(c(m P² + Ñ P³) + Ñ³)
// time and O(c P) memory. If m and the cells of the landmarks are well below P, it takes only O(c Ñ
// (m³ + m P)) time. Large sparse quotients cost what their sparse factors cost, not m³,
// or what conjugate gradients cost where these are nearly full (mostFill).
func fit(ctx context.Context, graphs []*graph.Graph, k Kernel) (*kernel.Fitted, error) {
	if err := k.validateSingle(); err != nil {
		return nil, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return nil, err
	}
	m, train := &LowRank{kernel: k, base: b}, &Covariances{}
	err = m.climb(ctx, graphs, func(at *level) error {
		p, err := m.fitProjection(ctx, at)
		if err != nil {
			return err
		}
		m.projections = append(m.projections, *p)
		m.counts = append(m.counts, at.len())
		return m.pass(ctx, graphs, at, train)
	})
	if err != nil {
		return nil, err
	}
	return &kernel.Fitted{Map: m, Train: train}, nil
}

// Transform implements kernel.Map: it returns the Covariances of graphs. Those of a graph depend only
// on the model and the graph, to the bit. The order of its vertices and the other graphs do not
// matter.
func (m *LowRank) Transform(ctx context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	out := &Covariances{}
	return out, m.climb(ctx, graphs, func(at *level) error { return m.pass(ctx, graphs, at, out) })
}

// climb takes graphs up through the levels and calls visit for each, which sets the features of its
// classes.
func (m *LowRank) climb(ctx context.Context, graphs []*graph.Graph, visit func(at *level) error) error {
	var at *level
	for range len(m.kernel.Radii) + 1 {
		var err error
		if at, err = m.classify(ctx, graphs, at); err != nil {
			return err
		}
		if err := visit(at); err != nil {
			return err
		}
	}
	return nil
}

// pass sets the features of a level, and enters it.
func (m *LowRank) pass(ctx context.Context, graphs []*graph.Graph, at *level, out *Covariances) error {
	if err := m.project(ctx, at); err != nil {
		return err
	}
	return m.enter(ctx, graphs, at, out)
}

// enter adds the covariances of whole graphs to out if the level enters the kernel.
func (m *LowRank) enter(ctx context.Context, graphs []*graph.Graph, at *level, out *Covariances) error {
	if !m.kernel.enters(at.number) {
		return nil
	}
	b, err := m.wholeGraphs(ctx, graphs, at)
	out.levels = append(out.levels, b)
	return err
}

// classify sorts the vertices of graphs into the classes of the level above the given one, or of
// level 0 if that is nil. Kernels that differ in other parameters share them.
func (m *LowRank) classify(ctx context.Context, graphs []*graph.Graph, below *level) (*level, error) {
	at := &level{}
	if below != nil {
		at.number, at.below = below.number+1, below.features
	}
	var err error
	at.classes, err = kernel.Share(ctx, graphs, m.classKey("vertices", at.number), func() (*classes, error) {
		if below == nil {
			return describe(ctx, graphs, m.base, m.attributes())
		}
		return neighbourhoods(ctx, graphs, below.classes, at.number, &m.kernel)
	})
	return at, err
}

// classKey names what the classes of a level depend on.
func (m *LowRank) classKey(what string, level int) string {
	return fmt.Sprint(what, " ", m.base, " ", m.attributes(), " ", m.kernel.Radii[:level], " ", m.kernel.Discount && level > 0)
}

// wholeGraphs returns the covariances of whole graphs whose vertices have the features of a level.
func (m *LowRank) wholeGraphs(ctx context.Context, graphs []*graph.Graph, at *level) (*spd.Batch, error) {
	whole, err := kernel.Share(ctx, graphs, m.classKey("graphs", at.number), func() (*classes, error) {
		return wholeGraphs(ctx, graphs, at.classes)
	})
	if err != nil {
		return nil, err
	}
	defer work.Trace(ctx, "factor")()
	b := spd.NewBatch(len(graphs), at.width)
	workers := make([]assembler, work.Workers(ctx))
	total := 0
	for _, g := range graphs {
		total += g.N()
	}
	meter := work.NewMeter(ctx, "covariances", total)
	err = work.Each(ctx, len(graphs), 4, func(w, i int) error {
		ctx, part := meter.Part(ctx, graphs[i].N())
		defer part.End()
		packed, err := workers[w].covariance(ctx, whole.quotient[whole.of[0][i]], at.features, &m.kernel)
		if err == nil {
			err = b.Set(i, packed)
		}
		if err != nil {
			return kernel.AboutGraph(graphs, i, err)
		}
		return nil
	})
	return b, err
}

// Base returns the base kernel.
func (m *LowRank) Base() vertex.Kernel { return m.base }

// Kernel returns the kernel that was fitted.
func (m *LowRank) Kernel() Kernel { return m.kernel }

// Classes returns the number of distinct neighbourhoods of the training graphs at a level,
// 0 … L; 0 for a model that was read from a file.
func (m *LowRank) Classes(level int) int {
	if m.counts == nil {
		return 0
	}
	return m.counts[level]
}

// Samples returns the number of distinct landmarks at a level, 0 … L.
func (m *LowRank) Samples(level int) int { return m.projections[level].n }

// Rank returns the number of features at a level, 0 … L.
func (m *LowRank) Rank(level int) int { return m.projections[level].p }

// Eigenvalues returns those of the landmarks' Gram matrix at a level that were kept,
// descending; nil at level 0 when the base features are explicit.
func (m *LowRank) Eigenvalues(level int) []float64 { return m.projections[level].values }

// attributes returns the number of attributes per vertex that the base kernel has seen in
// training; new graphs must have as many. It is 0 if the base kernel does not look at
// attributes, or saw no vertex.
func (m *LowRank) attributes() int {
	if len(m.projections) == 0 || len(m.projections[0].descriptors) == 0 {
		return 0
	}
	n, err := vertex.Check(m.base, m.projections[0].descriptors[:1])
	if err != nil {
		return 0
	}
	return n
}
