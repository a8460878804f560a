package dataset

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// variety returns datasets that between them hold everything that a graph can hold.
func variety(t *testing.T) map[string]*Dataset {
	t.Helper()
	drugs, err := Read(context.Background(), "builtin:drugs", DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	drugs.Graphs = drugs.Graphs[:40]
	full := mustReadText(t, JSONLines, `{"id":"a & <b>","nodes":4,"edges":[[0,1,0.1],[2,3,1e-9]],"node_labels":["1,0","2,0","x \"y\"","é"],"node_attributes":[[0.1,1e300],[0,-5],[1e-300,3],[0.30000000000000004,4]],"edge_labels":["=","long label"],"target":"one, two"}
{"id":"2","nodes":0,"edges":[],"target":"other"}
{"id":"3","nodes":2,"edges":[],"node_labels":["3","4"],"node_attributes":[[1,2],[3,4]],"target":"other"}`)
	plain := mustReadText(t, JSONLines, `{"id":"1","nodes":3,"edges":[[0,1],[1,2]],"target":"0.5"}
{"id":"2","nodes":1,"edges":[],"target":"-1e-7"}`)
	directed := mustReadText(t, JSONLines, `{"id":"1","nodes":3,"edges":[[0,1,2],[1,0,3],[2,2]],"edge_labels":["a","b","a"],"directed":true}
{"id":"2","nodes":2,"edges":[[1,0]],"edge_labels":["a"],"directed":true}`)
	coords := mustReadText(t, SDF, ethanolMol+"$$$$\n")
	return map[string]*Dataset{"drugs": drugs, "scales": Scales(10, 1), "full": full, "plain": plain, "coordinates": coords, "directed": directed}
}

// TestRoundTrips writes every dataset in every format and from there in every other, and
// expects the same graphs. A TUDataset holds neither identifiers nor coordinates.
func TestRoundTrips(t *testing.T) {
	ctx := context.Background()
	formats := map[Format]string{JSONLines: "d.jsonl.gz", GraphML: "d.graphml", TUDataset: "d"}
	for name, d := range variety(t) {
		for f, file := range formats {
			first := filepath.Join(t.TempDir(), file)
			if err := WriteDataset(ctx, first, d, Auto); err != nil {
				t.Fatalf("%s as %s: %v", name, f, err)
			}
			for g, file2 := range formats {
				one := mustRead(t, first)
				second := filepath.Join(t.TempDir(), file2)
				if err := WriteDataset(ctx, second, one, g); err != nil {
					t.Fatalf("%s as %s, then %s: %v", name, f, g, err)
				}
				two := mustRead(t, second)
				tu := f == TUDataset || g == TUDataset
				if len(two.Graphs) != len(d.Graphs) {
					t.Fatalf("%s as %s, then %s: %d graphs, want %d", name, f, g, len(two.Graphs), len(d.Graphs))
				}
				for i := range d.Graphs {
					got, want := describe(two.Graphs[i]), describe(d.Graphs[i])
					if tu {
						got, want = describe(bare(two.Graphs[i])), describe(bare(d.Graphs[i]))
					}
					if got != want {
						t.Fatalf("%s as %s, then %s, graph %d:\n%s\nwant\n%s", name, f, g, i, got, want)
					}
				}
				if len(two.Warnings) > 0 && !(name == "directed" && g == TUDataset) {
					t.Errorf("%s as %s, then %s: %v", name, f, g, two.Warnings)
				}
			}
		}
	}
}

// bare returns a graph without identifier and coordinates.
func bare(g *graph.Graph) *graph.Graph {
	b := graph.NewBuilder(g.N())
	for v := range g.N() {
		if g.HasLabels() {
			b.SetLabel(v, g.Label(v))
		}
		if g.AttributeDim() > 0 {
			b.SetAttributes(v, g.Attributes(v))
		}
	}
	edges := g.Edges()
	if g.Directed() {
		b.SetDirected()
		edges = g.Arcs()
	}
	for e := range edges {
		b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
	}
	b.SetTarget(g.Target())
	h, err := b.Build()
	if err != nil {
		panic(err)
	}
	return h
}

func TestRoundTripBenchmark(t *testing.T) {
	d := mustRead(t, graphtest.Dataset(t, "MUTAG"))
	dir := filepath.Join(t.TempDir(), "MUTAG")
	if err := WriteDataset(context.Background(), dir, d, TUDataset); err != nil {
		t.Fatal(err)
	}
	e := mustRead(t, dir)
	for i := range d.Graphs {
		if describe(d.Graphs[i]) != describe(e.Graphs[i]) {
			t.Fatalf("graph %d differs", i)
		}
	}
}

func TestWriteDatasetErrors(t *testing.T) {
	dir := t.TempDir()
	mixed := mustReadText(t, JSONLines, `{"nodes":1,"edges":[],"node_labels":["a"]}
{"nodes":1,"edges":[]}`)
	mixed.Graphs[1] = mixed.Graphs[1].WithoutLabels()
	newline := mustReadText(t, JSONLines, `{"nodes":1,"edges":[],"node_labels":["a\nb"]}`)
	control := mustReadText(t, JSONLines, `{"nodes":1,"edges":[],"node_labels":["a\u0001"]}`)
	last := mustReadText(t, JSONLines, "{\"nodes\":1,\"edges\":[]}\n{\"nodes\":0,\"edges\":[]}")
	for _, c := range []struct {
		path string
		d    *Dataset
		want string
	}{
		{"x", last, "graph 2, the last, has no vertices"},
		{"x", mixed, "1 graph has vertex labels, 1 has none"},
		{"x", newline, `label "a\nb" cannot be a line of a TUDataset`},
		{"x.graphml", control, `XML cannot contain the text "a\x01"`},
		{"x.smi", mixed, "no writer for format smiles"},
		{"x.zip", mixed, "written to a folder"},
		{"x.json5", mixed, "unknown extension .json5"},
		{"no/such/x.jsonl", mixed, "no such file or directory"},
	} {
		err := WriteDataset(context.Background(), filepath.Join(dir, c.path), c.d, Auto)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Graph JSON Lines keeps the molecule of a graph, with whatever hydrogens are vertices, and ignores one that
// is not that of the graph.
func TestKeepSMILES(t *testing.T) {
	o := DefaultOptions()
	for _, hydrogens := range []Hydrogens{HydrogensAsWritten, HydrogensImplicit, HydrogensExplicit} {
		o.Hydrogens = hydrogens
		g, err := ParseSMILES("C[C@H](N)c1c[nH]cn1", o)
		if err != nil {
			t.Fatal(err)
		}
		if want := "C[C@H](N)c1c[nH]cn1"; hydrogens != HydrogensExplicit && g.SMILES() != want {
			t.Errorf("%s: %s, want %s", hydrogens, g.SMILES(), want)
		}
		line, err := AppendJSON(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		again := mustReadText(t, JSONLines, string(line))
		if got := again.Graphs[0].SMILES(); got != g.SMILES() || got == "" || len(again.Warnings) > 0 {
			t.Errorf("%s: %s, want %s; %v", hydrogens, got, g.SMILES(), again.Warnings)
		}
	}
	d := mustReadText(t, JSONLines, `{"nodes":2,"edges":[[0,1]],"node_labels":["C","O"],"smiles":"OC"}`)
	if got := d.Graphs[0].SMILES(); got != "" || len(d.Warnings) != 1 {
		t.Errorf("SMILES %q, warnings %q, want none and one", got, d.Warnings)
	}
}
