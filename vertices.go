package mlg

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Vertices are the vertices of some graphs at a level, in the classes of their neighbourhoods.
// Vertices of one class have the same features.
type Vertices struct {
	Class    [][]int32      // by graph and vertex: a row of Features
	Features *kernel.Matrix // q_ℓ of every class
}

// Vertices returns the vertices of graphs at the levels 0 … L. The dot products of features
// approximate 𝔎_ℓ; at level 0 with explicit base features they are the base kernel. The features of
// a vertex depend on its neighbourhood alone, to the bit. It costs what Transform does, less the
// whole graphs.
func (m *LowRank) Vertices(ctx context.Context, graphs []*graph.Graph) ([]Vertices, error) {
	var out []Vertices
	err := m.climb(ctx, graphs, func(at *level) error {
		err := m.project(ctx, at)
		out = append(out, Vertices{at.of, &kernel.Matrix{Rows: at.len(), Cols: at.width, Data: at.rows}})
		return err
	})
	return out, err
}

// VertexFeatures returns the features of the vertices of g at a level, 0 … L, a row each; see Vertices.
func (m *LowRank) VertexFeatures(ctx context.Context, g *graph.Graph, level int) (*kernel.Matrix, error) {
	if level < 0 || level >= len(m.projections) {
		return nil, fmt.Errorf("level %d, want 0 … %d", level, len(m.projections)-1)
	}
	levels, err := m.Vertices(ctx, []*graph.Graph{g})
	if err != nil {
		return nil, err
	}
	return levels[level].Of(0), nil
}

// Of returns the features of the vertices of a graph, a row each.
func (v *Vertices) Of(g int) *kernel.Matrix {
	out := kernel.NewMatrix(len(v.Class[g]), v.Features.Cols)
	for i, c := range v.Class[g] {
		copy(out.Row(i), v.Features.Row(int(c)))
	}
	return out
}
