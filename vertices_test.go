package mlg

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// Vertices of many graphs have the features that those of each graph alone have, to the bit, and share them
// with the vertices of their class.
func TestVertices(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	graphs := ds.Graphs[:40]
	m, err := Fit(t.Context(), graphs[:20], Default())
	if err != nil {
		t.Fatal(err)
	}
	levels, err := m.Vertices(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	if len(levels) != 3 {
		t.Fatalf("%d levels, want 3", len(levels))
	}
	for l, v := range levels {
		vertices := 0
		for g, h := range graphs {
			alone, err := m.VertexFeatures(t.Context(), h, l)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(alone.Data, v.Of(g).Data) {
				t.Fatalf("level %d, graph %d: features differ from those of the graph alone", l, g)
			}
			vertices += h.N()
		}
		if v.Features.Rows >= vertices {
			t.Errorf("level %d: %d classes of %d vertices", l, v.Features.Rows, vertices)
		}
	}
}

// The factorisation of one large graph ends when nobody waits for it any more.
func TestLargeGraphCancelled(t *testing.T) {
	m, err := Fit(t.Context(), dataset.Scales(10, 1).Graphs, Default())
	if err != nil {
		t.Fatal(err)
	}
	b := graph.NewBuilder(500)
	for v := range 500 {
		b.SetLabel(v, []string{"C", "N", "O"}[v*v%7%3])
		if v > 0 {
			b.AddEdge(v, v-1)
		}
		if w := v * v % 499; w > v+1 {
			b.AddEdge(v, w)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var a assembler
	at, err := m.classify(t.Context(), []*graph.Graph{g}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.project(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	whole, err := wholeGraphs(t.Context(), []*graph.Graph{g}, at.classes)
	if err != nil {
		t.Fatal(err)
	}
	quotient := whole.quotient[whole.of[0][0]]
	if a.q.Decode(quotient); a.q.Cells() <= denseCells {
		t.Fatalf("%d cells, want more than %d", a.q.Cells(), denseCells)
	}
	if _, err := a.covariance(ctx, quotient, at.features, &m.kernel); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	if _, err := a.covariance(t.Context(), quotient, at.features, &m.kernel); err != nil {
		t.Error(err)
	}
}
