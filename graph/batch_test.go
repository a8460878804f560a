package graph_test

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// decodeAll returns all graphs of a batch.
func decodeAll(data []byte) ([]*graph.Graph, error) {
	b, err := graph.Decode(data)
	if err != nil {
		return nil, err
	}
	out := make([]*graph.Graph, b.Len())
	for i := range out {
		if out[i], err = b.Graph(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// everything returns a graph that has all that a graph can have.
func everything(t testing.TB) *graph.Graph {
	b := graph.NewBuilder(3)
	b.SetID("é")
	b.SetTarget("1")
	b.SetSMILES("C=CC")
	for v := range 3 {
		b.SetLabel(v, []string{"C", "", "C"}[v])
		b.SetAttributes(v, []float64{float64(v), -1})
		b.SetCoordinates(v, 0.5, float64(v))
	}
	b.AddLabeledEdge(0, 1, 2, "=")
	b.AddLabeledEdge(2, 1, 1, "")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Graphs of all kinds come out of a batch as they went in.
func TestBatch(t *testing.T) {
	for _, graphs := range [][]*graph.Graph{nil, append(graphtest.Suite(3), everything(t))} {
		got, err := decodeAll(graph.Encode(graphs))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(graphs) {
			t.Fatalf("%d graphs, want %d", len(got), len(graphs))
		}
		for i, g := range graphs {
			if !got[i].Equal(g) {
				t.Errorf("graph %d: %+v, want %+v", i, got[i], g)
			}
		}
	}
}

// numbers returns numbers as the bytes of a batch: int64, float64 or int32 by their types.
func numbers(list ...any) []byte {
	var out []byte
	for _, x := range list {
		if i, ok := x.(int); ok {
			x = int64(i)
		}
		out, _ = binary.Append(out, binary.LittleEndian, x)
	}
	return out
}

func TestBatchMerged(t *testing.T) {
	for _, test := range []struct {
		name    string
		arcs    [][2]int
		weights []float64
		labels  []string
		given   graph.Given
		want    []graph.Edge
	}{
		{"once", [][2]int{{0, 1}, {2, 1}}, nil, nil, graph.Given{OneWay: 2},
			[]graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 1, V: 2, Weight: 1}}},
		{"both directions", [][2]int{{0, 1}, {1, 0}}, nil, nil, graph.Given{BothWays: 1}, []graph.Edge{{U: 0, V: 1, Weight: 1}}},
		{"some in both", [][2]int{{0, 1}, {1, 0}, {1, 2}}, nil, nil, graph.Given{OneWay: 1, BothWays: 1},
			[]graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 1, V: 2, Weight: 1}}},
		{"parallel", [][2]int{{0, 1}, {0, 1}, {1, 1}}, nil, nil, graph.Given{Parallel: 1, First: graph.Edge{U: 0, V: 1, Weight: 1}, Loops: 1, OneWay: 1},
			[]graph.Edge{{U: 0, V: 1, Weight: 1}}},
		{"weights", [][2]int{{0, 1}, {1, 0}, {1, 2}}, []float64{1, 4, 3}, nil, graph.Given{OneWay: 1, BothWays: 1, Weights: 1},
			[]graph.Edge{{U: 0, V: 1, Weight: 2.5}, {U: 1, V: 2, Weight: 3}}},
		{"labels", [][2]int{{0, 1}, {1, 0}, {0, 1}}, nil, []string{"b", "a", "b"}, graph.Given{Parallel: 1, First: graph.Edge{U: 0, V: 1, Weight: 1, Label: "b"}, BothWays: 1, Labels: 1},
			[]graph.Edge{{U: 0, V: 1, Weight: 1, Label: "a|b"}}},
	} {
		b, err := graph.Decode(oneGraph(3, test.arcs, test.weights, test.labels))
		if err != nil {
			t.Fatal(err)
		}
		g, given, err := b.Merged(0)
		if err != nil || given != test.given || !slices.Equal(slices.Collect(g.Edges()), test.want) {
			t.Errorf("%s: %+v, %v, %v", test.name, given, slices.Collect(g.Edges()), err)
		}
	}
}

// oneGraph returns a batch of a graph without vertex labels.
func oneGraph(n int, arcs [][2]int, weights []float64, labels []string) []byte {
	var ends, numbers, lengths []int32
	text := ""
	for i, a := range arcs {
		ends = append(ends, int32(a[0]), int32(a[1]))
		if labels == nil {
			numbers = append(numbers, -1)
			continue
		}
		numbers, lengths = append(numbers, int32(i)), append(lengths, int32(len(labels[i])))
		text += labels[i]
	}
	var weighted int64
	if weights != nil {
		weighted = 1
	}
	var out []byte
	for _, array := range []any{[]int64{1, int64(len(labels)), int64(n), int64(len(arcs)), 0, 0, weighted}, weights, ends,
		slices.Repeat([]int32{-1}, n), numbers, []int32{-1, -1, -1}, lengths, []byte(text)} {
		out, _ = binary.Append(out, binary.LittleEndian, array)
	}
	return out
}

// A batch that does not say what it should is an error that says what is wrong.
func TestBatchErrors(t *testing.T) {
	one := func(n, m, attributes, coordinates, weights int, rest ...any) []byte {
		return append(numbers(1, 0, n, m, attributes, coordinates, weights), numbers(rest...)...)
	}
	none := int32(-1)
	valid := graph.Encode(graphtest.Suite(1))
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, "2 numbers of graphs and strings, but only 0 bytes"},
		{numbers(1<<60, 0, 0), "1152921504606846976 shapes of graphs"},
		{numbers(-1, 0, 0), "-1 shapes of graphs"},
		{numbers(0, 1<<40), "1099511627776 lengths of strings"},
		{numbers(0, 0, 7), "8 bytes after the last string"},
		{one(1<<40, 0, 0, 0, 0), "graph 0: 1099511627776 vertices"},
		{one(-1, 0, 0, 0, 0), "graph 0: -1 vertices"},
		{one(20, 0, 0, 0, 0), "20 labels, but only 0 bytes"},
		{one(1, -1, 0, 0, 0), "graph 0: -1 edges"},
		{one(1, 1<<50, 0, 0, 0), "graph 0: 1125899906842624 edges"},
		{one(2, 0, 1<<62, 0, 0), "4611686018427387904 attributes of 2 vertices"},
		{one(0, 0, 0, 1, 0), "1 coordinates of a vertex"},
		{one(0, 0, 0, 0, 16), "a graph of kind 16"},
		{one(1, 0, 0, 0, 0, none-1, none, none, none), "numbers of strings from -2 to -2, want -1 to -1"},
		{one(1, 0, 0, 0, 0, none, none, none+1, none), "numbers of strings from 0 to 0"},
		{one(1, 1, 0, 0, 0, int32(0), int32(7), none, none, none, none, none), "vertex 7 out of range"},
		{append(numbers(0, 1), numbers(int32(-4))...), "-4 bytes of a string"},
		{valid[:len(valid)-1], "bytes of a string"},
	} {
		if _, err := decodeAll(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// A batch that was changed anywhere gives an error or graphs, never a panic, in memory that stays in
// proportion. What it gives comes out of another batch again.
func FuzzBatch(f *testing.F) {
	f.Add(graph.Encode([]*graph.Graph{everything(f)}))
	for _, g := range graphtest.Suite(2) {
		f.Add(graph.Encode([]*graph.Graph{g}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		graphs, err := decodeAll(data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20+100*uint64(len(data)) {
			t.Fatalf("%d bytes allocated for %d bytes of input", took, len(data))
		}
		if err != nil {
			return
		}
		again, err := decodeAll(graph.Encode(graphs))
		if err != nil || len(again) != len(graphs) {
			t.Fatalf("%d graphs, %v, want %d", len(again), err, len(graphs))
		}
		for i, g := range graphs {
			if string(graph.Encode([]*graph.Graph{g})) != string(graph.Encode([]*graph.Graph{again[i]})) {
				t.Errorf("graph %d: %+v, want %+v", i, again[i], g)
			}
		}
	})
}
