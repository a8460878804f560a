package mlg

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// Model is a fitted low-rank MLG kernel: all that is needed to give a new graph the same
// features as a training graph. It is not changed by its methods, which may be called
// concurrently.
type Model struct {
	kernel      Kernel
	base        base.Kernel
	projections []projection // levels 0 … L
	counts      []int        // classes of the training graphs by level; nil when read from a file
	train       *Covariances
}

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

// Fit builds the low-rank MLG kernel of the paper from training graphs: level by level it
// chooses landmarks, diagonalises their Gram matrix, and gives every neighbourhood class the
// row q of its projection on their leading eigenvectors (docs/math.md, Low rank). Targets
// are not looked at.
//
// With c classes of m cells at a level, Ñ landmarks of rank P it takes O(c(m P² + Ñ P³) + Ñ³) time,
// for m and cells of the landmarks well below P only O(c Ñ (m³ + m P)), and O(c P) memory; large
// sparse quotients cost what their sparse factors cost, not m³.
func Fit(ctx context.Context, graphs []*graph.Graph, k Kernel) (*Model, error) {
	if err := k.validateSingle(); err != nil {
		return nil, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return nil, err
	}
	m := &Model{kernel: k, base: b, train: &Covariances{}}
	err = m.climb(ctx, graphs, m.train, func(at *level) error {
		p, err := m.fitProjection(ctx, at)
		if err != nil {
			return err
		}
		m.projections = append(m.projections, *p)
		m.counts = append(m.counts, at.len())
		return m.project(ctx, at)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Transform returns the covariances of graphs. Those of a graph depend on the model and the
// graph alone, not on its vertex order or on the other graphs, to the bit.
func (m *Model) Transform(ctx context.Context, graphs []*graph.Graph) (*Covariances, error) {
	out := &Covariances{}
	return out, m.climb(ctx, graphs, out, func(at *level) error { return m.project(ctx, at) })
}

// climb takes graphs up through the levels. At each, project sets the features of its classes, from
// which the covariances of whole graphs are added to out if the level enters the kernel.
func (m *Model) climb(ctx context.Context, graphs []*graph.Graph, out *Covariances, project func(at *level) error) error {
	var at *level
	for l := range len(m.kernel.Radii) + 1 {
		var err error
		if at, err = m.classify(ctx, graphs, at); err != nil {
			return err
		}
		if err := project(at); err != nil {
			return err
		}
		if m.kernel.enters(l) {
			b, err := m.wholeGraphs(ctx, graphs, at)
			if err != nil {
				return err
			}
			out.levels = append(out.levels, b)
		}
	}
	return nil
}

// classify sorts the vertices of graphs into the classes of the level above the given one, or of
// level 0 if that is nil.
func (m *Model) classify(ctx context.Context, graphs []*graph.Graph, below *level) (*level, error) {
	if below == nil {
		c, err := describe(ctx, graphs, m.base, m.attributes())
		return &level{classes: c}, err
	}
	c, err := neighbourhoods(ctx, graphs, below.classes, below.number+1, &m.kernel)
	return &level{classes: c, number: below.number + 1, below: below.features}, err
}

// wholeGraphs returns the covariances of whole graphs whose vertices have the features of a level.
func (m *Model) wholeGraphs(ctx context.Context, graphs []*graph.Graph, at *level) (*spd.Batch, error) {
	whole, err := wholeGraphs(ctx, graphs, at.classes)
	if err != nil {
		return nil, err
	}
	defer kernel.Trace(ctx, "factor")()
	b := spd.NewBatch(len(graphs), at.width)
	workers := make([]assembler, kernel.Workers(ctx))
	err = kernel.Each(ctx, len(graphs), 4, func(w, i int) error {
		packed, err := workers[w].covariance(ctx, whole.quotient[whole.of[0][i]], at.features, &m.kernel)
		if err == nil {
			err = b.Set(i, packed)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kernel.GraphName(graphs, i), err)
		}
		return nil
	})
	return b, err
}

// Base returns the base kernel.
func (m *Model) Base() base.Kernel { return m.base }

// Kernel returns the kernel that was fitted.
func (m *Model) Kernel() Kernel { return m.kernel }

// Classes returns the number of distinct neighbourhoods of the training graphs at a level,
// 0 … L; 0 for a model that was made from a Snapshot.
func (m *Model) Classes(level int) int {
	if m.counts == nil {
		return 0
	}
	return m.counts[level]
}

// Samples returns the number of distinct landmarks at a level, 0 … L.
func (m *Model) Samples(level int) int { return m.projections[level].n }

// Rank returns the number of features at a level, 0 … L.
func (m *Model) Rank(level int) int { return m.projections[level].p }

// Eigenvalues returns those of the landmarks' Gram matrix at a level that were kept,
// descending; nil at level 0 when the base features are explicit.
func (m *Model) Eigenvalues(level int) []float64 { return m.projections[level].values }

// Train returns the covariances of the training graphs.
func (m *Model) Train() *Covariances { return m.train }

// attributes returns the number of attributes per vertex that the base kernel has seen in
// training; new graphs must have as many. It is 0 if the base kernel does not look at
// attributes, or saw no vertex.
func (m *Model) attributes() int {
	if len(m.projections) == 0 || len(m.projections[0].descriptors) == 0 {
		return 0
	}
	n, err := base.Check(m.base, m.projections[0].descriptors[:1])
	if err != nil {
		return 0
	}
	return n
}
