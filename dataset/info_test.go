package dataset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

func TestInfo(t *testing.T) {
	d := mustReadText(t, JSONLines, `{"nodes":3,"edges":[[0,1,2],[1,1]],"node_labels":["C","C","O"],"node_attributes":[[1,2],[3,4],[5,6]],"edge_labels":["-","-"],"target":"a"}
{"nodes":2,"edges":[[0,1]],"node_labels":["C","N"],"node_attributes":[[1,2],[3,4]],"edge_labels":["="],"target":"b"}
{"nodes":0,"edges":[],"target":"a"}`)
	d.Name = "tiny"
	s := Info(d)
	var got map[string]any
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"graphs": 3.0, "vertices": 5.0, "edges": 2.0, "classes": 2.0, "node_labels": 3.0, "attributes": 2.0,
		"edge_labels": 2.0, "weighted": true, "max_vertices": 3.0, "max_degree": 1.0, "isolated": 1.0, "connected": 1.0, "empty": 1.0, "mean_degree": 0.8} {
		if got[key] != want {
			t.Errorf("%s: %v, want %v", key, got[key], want)
		}
	}
	if w, ok := got["warnings"].([]any); !ok || len(w) != 1 || w[0] != "1 self-loop left out" {
		t.Errorf("warnings: %v", got["warnings"])
	}
}

// TestInfoBenchmarks compares with the notes of the README of the datasets on graphs that
// are not connected.
func TestInfoBenchmarks(t *testing.T) {
	for name, disconnected := range map[string]int{"NCI1": 580, "NCI109": 608, "ENZYMES": 31, "PROTEINS": 46, "MUTAG": 0} {
		s := Info(mustRead(t, graphtest.Dataset(t, name)))
		if got := s.Graphs - s.Connected; got != disconnected {
			t.Errorf("%s: %d graphs are not connected, want %d", name, got, disconnected)
		}
	}
}

func TestInfoRegression(t *testing.T) {
	for _, c := range []struct {
		targets string
		classes int
		values  bool
	}{
		{"0.5 1 -2", 0, true}, {"1 2 1 2", 2, false}, {"a b 1", 3, false}, {"", 0, false},
		{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", 0, true},
	} {
		var b strings.Builder
		for f := range strings.FieldsSeq(c.targets) {
			b.WriteString(`{"nodes":0,"edges":[],"target":"` + f + "\"}\n")
		}
		b.WriteString(`{"nodes":0,"edges":[]}`)
		s := Info(mustReadText(t, JSONLines, b.String()))
		if s.Classes != c.classes || (s.TargetRange != nil) != c.values {
			t.Errorf("%q: %d classes, range %v", c.targets, s.Classes, s.TargetRange)
		}
	}
}

// Arcs that lead back to their vertex are part of directed graphs, and are counted.
func TestInfoLoops(t *testing.T) {
	d, err := readText(DOT, "digraph { a -> a; a -> b; b -> b; b -> c }", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := Info(d); s.Directed != 1 || s.Arcs != 4 || s.Loops != 2 || s.Edges != 2 {
		t.Errorf("%d graphs with %d arcs, %d loops and %d edges, want 1, 4, 2 and 2", s.Directed, s.Arcs, s.Loops, s.Edges)
	}
}
