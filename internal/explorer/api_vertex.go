package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// VertexAnswer tells of a vertex at a level: its neighbourhood, how similar the other vertices of
// its graph are to it, and where else there are similar ones.
type VertexAnswer struct {
	Level         int     `json:"level"`
	Radius        int     `json:"radius"`
	Neighbourhood []int32 `json:"neighbourhood"` // vertices within the radius
	Distance      []int32 `json:"distance"`      // of each of them
	// Own has the similarity of every vertex of the graph: the dot product of features, 1 for equal ones.
	Own []float64 `json:"own"`
	// Elsewhere has the most similar vertex of other graphs, the most similar graphs first.
	Elsewhere []VertexElsewhere `json:"elsewhere"`
	// Equal counts the vertices of all graphs of the source that the kernel cannot tell from this one.
	Equal int `json:"equal"`
}

// VertexElsewhere is a vertex of a graph of the source.
type VertexElsewhere struct {
	Index      int     `json:"index"`
	ID         string  `json:"id"`
	Target     string  `json:"target"`
	Vertex     int     `json:"vertex"`
	Similarity float64 `json:"similarity"`
}

func (s *Server) postVertex(q *request) (any, error) {
	body := struct {
		Graph      reference       `json:"graph"`
		Vertex     int             `json:"vertex"`
		Level      int             `json:"level"`
		K          int             `json:"k"`
		Parameters json.RawMessage `json:"parameters"`
	}{K: 8}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	x, err := s.bodySession(body.Parameters)
	if err != nil {
		return nil, err
	}
	if body.Level < 0 || body.Level > x.levels() {
		return nil, badRequest("level: %d, want 0 to %d", body.Level, x.levels())
	}
	if body.K < 0 || body.K > maxNearest {
		return nil, badRequest("k: %d, want 0 to %d", body.K, maxNearest)
	}
	g, index, err := s.resolve(body.Graph)
	if err != nil {
		return nil, err
	}
	if body.Vertex < 0 || body.Vertex >= g.N() {
		return nil, badRequest("vertex: %d, want 0 to %d", body.Vertex, g.N()-1)
	}
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	var t *vertexTable
	if s.src.Graphs != nil && body.K > 0 {
		if t, err = x.vertexTable(q.Context(), body.Level); err != nil {
			return nil, err
		}
	}
	return short(q, func(ctx context.Context) (any, error) {
		return s.vertex(ctx, f, t, g, index, body.Vertex, body.Level, body.K)
	})
}

func (s *Server) vertex(ctx context.Context, f *fitted, t *vertexTable, g *graph.Graph, index, v, level, k int) (*VertexAnswer, error) {
	m, prepared, err := f.multiscale(g)
	if err != nil {
		return nil, err
	}
	out := &VertexAnswer{Level: level, Elsewhere: []VertexElsewhere{}}
	if level > 0 {
		out.Radius = m.Options().Radii[level-1]
	}
	var scratch graph.Scratch
	out.Neighbourhood = slices.Clone(scratch.Ball(g, v, out.Radius))
	out.Distance = slices.Clone(scratch.Distances())
	features, err := m.VertexFeatures(ctx, prepared[0], level)
	if err != nil {
		return nil, err
	}
	one := *features
	one.Rows, one.Data = 1, features.Row(v)
	out.Own = similarities(&one, features).Row(0)
	if t == nil {
		return out, nil
	}
	self := make([]float32, t.dim)
	narrow(self, features.Row(v))
	best := make([]VertexElsewhere, 0, len(s.src.Graphs))
	for i := range s.src.Graphs {
		at, most := -1, math.Inf(-1)
		for w := t.start[i]; w < t.start[i+1]; w++ {
			k := similarity(self, t.data[w*t.dim:][:t.dim])
			if k > most {
				at, most = w-t.start[i], k
			}
			if k == 1 {
				out.Equal++
			}
		}
		if i != index && at >= 0 {
			best = append(best, VertexElsewhere{Index: i, ID: s.src.IDs[i], Vertex: at, Similarity: most})
		}
	}
	slices.SortStableFunc(best, func(a, b VertexElsewhere) int { return cmp.Compare(b.Similarity, a.Similarity) })
	out.Elsewhere = append(out.Elsewhere, best[:min(k, len(best))]...)
	for i := range out.Elsewhere {
		if e := &out.Elsewhere[i]; s.src.Targets != nil {
			e.Target = s.src.Targets[e.Index]
		}
	}
	return out, nil
}
