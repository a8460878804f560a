package explorer

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

type vertexRequest struct {
	Graph  reference `json:"graph"`
	Vertex int       `json:"vertex"`
	Level  int       `json:"level"`
	K      int       `json:"k,omitempty" default:"8" want:"0 to 1000" help:"number of similar vertices in the answer"`
	kernelRequest
}

// vertexAnswer describes a vertex at a level.
type vertexAnswer struct {
	Level         int             `json:"level"`
	Radius        int             `json:"radius"`
	Neighbourhood []int32         `json:"neighbourhood" help:"vertices within the radius"`
	Distance      []int32         `json:"distance" help:"distance of each of them from the vertex, in edges"`
	Own           []float64       `json:"own" help:"similarity of every vertex of the graph to this one: the dot product of their features, 1 for equal vertices"`
	Elsewhere     []similarVertex `json:"elsewhere" help:"the most similar vertex of each other graph, best first"`
	Equal         int             `json:"equal" help:"vertices of all graphs of the data that the kernel cannot tell from this one"`
	Note          string          `json:"note" help:"why there are no similar vertices; otherwise empty"`
}

// similarVertex is a vertex of a graph of the data, with its similarity.
type similarVertex struct {
	model.Neighbour
	Vertex int `json:"vertex"`
}

func postVertex(q *request, in *vertexRequest) (*vertexAnswer, error) {
	var table *vertexTable
	get := func(x *session, ctx context.Context) (*fitted, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		if levels := len(f.scales.Radii()); in.Level < 0 || in.Level >= levels {
			return nil, badRequest("level", "level: %d, want 0 to %d", in.Level, levels-1)
		}
		if in.K > 0 && f.scales != nil {
			tables, err := x.vertexTables(ctx)
			if err != nil {
				return nil, err
			}
			table = &tables[in.Level]
		}
		return f, nil
	}
	return on(get, func(ctx context.Context, x *session, f *fitted, in *vertexRequest) (*vertexAnswer, error) {
		g, index, err := x.s.graph(in.Graph)
		if err != nil {
			return nil, err
		}
		if in.Vertex < 0 || in.Vertex >= g.N() {
			return nil, badRequest("vertex", "vertex: %d, want 0 to %d", in.Vertex, g.N()-1)
		}
		out := &vertexAnswer{Level: in.Level, Radius: f.scales.Radii()[in.Level], Own: []float64{}, Elsewhere: []similarVertex{}}
		var scratch graph.Scratch
		out.Neighbourhood = slices.Clone(scratch.Ball(g, in.Vertex, out.Radius))
		out.Distance = slices.Clone(scratch.Distances())
		if f.scales == nil {
			out.Note = noScales(f.Kernel.Asked)
			return out, nil
		}
		prepared, err := f.scales.Prepare([]*graph.Graph{g}) // if edges become vertices, the original ones come first
		if err != nil {
			return nil, err
		}
		features, err := f.scales.Model().VertexFeatures(ctx, prepared[0], in.Level)
		if err != nil {
			return nil, err
		}
		own := features.Row(in.Vertex)
		for w := range g.N() {
			out.Own = append(out.Own, explain.VertexSimilarity(own, features.Row(w)))
		}
		if table != nil {
			out.Elsewhere, out.Equal = x.s.data.elsewhere(table, own, index, in.K)
		}
		return out, nil
	})(q, in)
}

// elsewhere returns the vertices most like one with the given features, the best of each graph but self, and
// how many are equal to it.
func (d *Data) elsewhere(t *vertexTable, features []float64, self, k int) (best []similarVertex, equal int) {
	own := rounded(features)
	similarity := make([]float64, len(t.features)/max(t.width, 1))
	for c := range similarity {
		similarity[c] = explain.VertexSimilarity(own, t.features[c*t.width:][:t.width])
	}
	vertex, most := make([]int, len(t.class)), make([]float64, len(t.class))
	for i, classes := range t.class {
		most[i] = math.NaN() // without vertices
		for w, c := range classes[:d.Graphs[i].N()] {
			s := similarity[c]
			if !(s <= most[i]) {
				vertex[i], most[i] = w, s
			}
			if s == 1 {
				equal++
			}
		}
	}
	best = []similarVertex{}
	for _, n := range d.Neighbours(others(most, k, self)) {
		best = append(best, similarVertex{n, vertex[n.Index]})
	}
	return best, equal
}
