package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mlgkernel/mlg/graph"
)

// A kept text is a graph in a format with everything that the format can hold of this one: two vertices u and v,
// an arc from u to v, and one back.
//
//	u: label C, attributes 0.5 and 2, position (1, 2)      u → v: weight 2, label x
//	v: label N, attributes 1.5 and 3, position (3, 4)      v → u: weight 0.5, label y
//
// Its identifier is g, its class a. %s stands for what makes it directed or not.
var keptTexts = map[Format]struct{ text, directed, undirected string }{
	GraphML: {`<graphml><key id="c" for="graph" attr.name="class"/><key id="l" for="node" attr.name="label"/><key id="p" for="node" attr.name="a1" attr.type="double"/><key id="q" for="node" attr.name="a2" attr.type="int"/>
<key id="x" for="node" attr.name="x" attr.type="double"/><key id="y" for="node" attr.name="y" attr.type="double"/><key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="e" for="edge" attr.name="label"/>
<graph id="g" edgedefault="%s"><data key="c">a</data><node id="u"><data key="l">C</data><data key="p">0.5</data><data key="q">2</data><data key="x">1</data><data key="y">2</data></node>
<node id="v"><data key="l">N</data><data key="p">1.5</data><data key="q">3</data><data key="x">3</data><data key="y">4</data></node>
<edge source="u" target="v"><data key="w">2</data><data key="e">x</data></edge><edge source="v" target="u"><data key="w">0.5</data><data key="e">y</data></edge></graph></graphml>`, "directed", "undirected"},
	GEXF: {`<gexf><graph name="g" class="a" defaultedgetype="%s"><attributes class="node"><attribute id="p" title="a1" type="double"/><attribute id="q" title="a2" type="integer"/></attributes>
<nodes><node id="u" label="C"><attvalues><attvalue for="p" value="0.5"/><attvalue for="q" value="2"/></attvalues><position x="1" y="2"/></node>
<node id="v" label="N"><attvalues><attvalue for="p" value="1.5"/><attvalue for="q" value="3"/></attvalues><position x="3" y="4"/></node></nodes>
<edges><edge source="u" target="v" weight="2" label="x"/><edge source="v" target="u" weight="0.5" label="y"/></edges></graph></gexf>`, "directed", "undirected"},
	GML: {`graph [ name "g" class "a" directed %s node [ id 4 label "u" element "C" a1 0.5 a2 2 graphics [ x 1 y 2 ] ] node [ id 5 label "v" element "N" a1 1.5 a2 3 graphics [ x 3 y 4 ] ]
edge [ source 4 target 5 weight 2 label "x" ] edge [ source 5 target 4 weight 0.5 label "y" ] ]`, "1", "0"},
	Pajek: {"*Network g\n*Vertices 2\n1 u 1 2 element C a1 0.5 a2 2\n2 v 3 4 element N a1 1.5 a2 3\n*%s\n1 2 2 l x\n2 1 0.5 l y\n", "Arcs", "Edges"},
	NodeLink: {`{"directed": %s, "graph": {"name": "g", "class": "a"}, "nodes": [{"id": "u", "label": "C", "a1": 0.5, "a2": 2, "x": 1, "y": 2}, {"id": "v", "label": "N", "a1": 1.5, "a2": 3, "x": 3, "y": 4}],
"links": [{"source": "u", "target": "v", "weight": 2, "label": "x"}, {"source": "v", "target": "u", "weight": 0.5, "label": "y"}]}`, "true", "false"},
	DOT:       {`%[1]s g { class=a; u [label=C, a1=0.5, a2=2, pos="1,2"]; v [label=N, a1=1.5, a2=3, pos="3,4"]; u %[2]s v [weight=2, label=x]; v %[2]s u [weight=0.5, label=y] }`, "digraph ->", "graph --"},
	EdgeList:  {"u v 2 x\nv u 0.5 y\n", "", ""},
	JSONLines: {`{"id":"g","target":"a","nodes":2,"node_names":["u","v"],"node_labels":["C","N"],"node_attributes":[[0.5,2],[1.5,3]],"coordinates":[[1,2],[3,4]],"edges":[[0,1,2],[1,0,0.5]],"edge_labels":["x","y"],"directed":%s}`, "true", "false"},
}

// readKept reads the text of a format.
func readKept(t *testing.T, f Format, directed bool) *Dataset {
	t.Helper()
	c, ok := keptTexts[f]
	if !ok {
		t.Fatalf("no text in the format %s", f)
	}
	how := c.undirected
	if directed {
		how = c.directed
	}
	text := c.text
	switch {
	case f == DOT:
		text = fmt.Sprintf(c.text, strings.Fields(how)[0], strings.Fields(how)[1])
	case strings.Contains(text, "%s"):
		text = fmt.Sprintf(c.text, how)
	}
	d, err := readText(f, text, func(o *Options) { o.Directed = directed && f == EdgeList })
	if err != nil {
		t.Fatal(f, err)
	}
	return d
}

// readKeptTU is readKept for a TUDataset, which has no text of one file.
func readKeptTU(t *testing.T, directed bool) *Dataset {
	t.Helper()
	files := map[string]string{"A": "1,2\n2,1\n", "graph_indicator": "1\n1\n", "graph_labels": "a\n", "node_labels": "C\nN\n", "node_attributes": "0.5,2\n1.5,3\n",
		"edge_labels": "x\ny\n", "edge_attributes": "2\n0.5\n"}
	if directed {
		files["A"], files["graph_indicator"], files["graph_labels"] = "1,2\n2,1\n3,4\n", "1\n1\n2\n2\n", "a\nb\n"
		files["node_labels"], files["node_attributes"] = "C\nN\nC\nC\n", "0.5,2\n1.5,3\n0,0\n0,0\n"
		files["edge_labels"], files["edge_attributes"] = "x\ny\nz\n", "2\n0.5\n1\n"
	}
	fsys := fstest.MapFS{}
	for k, v := range files {
		fsys["X_"+k+".txt"] = &fstest.MapFile{Data: []byte(v)}
	}
	o := DefaultOptions()
	r, err := openTU(fsys, "X", o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := collect(context.Background(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// keeps says whether a graph has what a column of the table in docs/reference/formats.md is about.
var keeps = map[string]func(one, arcs *graph.Graph) bool{
	"directions": func(_, g *graph.Graph) bool { return g.Directed() && g.ArcCount() == 2 },
	"names":      func(g, _ *graph.Graph) bool { return g.HasNames() && g.Name(0) == "u" && g.Name(1) == "v" },
	"labels":     func(g, _ *graph.Graph) bool { return slices.Equal(g.Labels(), []string{"C", "N"}) },
	"attributes": func(g, _ *graph.Graph) bool {
		return slices.Equal(g.Attributes(0), []float64{0.5, 2}) && slices.Equal(g.Attributes(1), []float64{1.5, 3})
	},
	"edge labels": func(one, g *graph.Graph) bool {
		return one.EdgeLabel(0, 0) == "x|y" && slices.Equal(arcLabels(g), []string{"x", "y"})
	},
	"weights": func(_, g *graph.Graph) bool {
		return slices.EqualFunc(slices.Collect(g.Arcs()), []float64{2, 0.5}, func(e graph.Edge, w float64) bool { return e.Weight == w })
	},
	"positions":  func(g, _ *graph.Graph) bool { x, y, ok := g.Coordinates(1); return ok && x == 3 && y == 4 },
	"identifier": func(g, _ *graph.Graph) bool { return g.ID() == "g" },
	"class":      func(g, _ *graph.Graph) bool { return g.Target() == "a" },
}

func arcLabels(g *graph.Graph) (out []string) {
	for e := range g.Arcs() {
		out = append(out, e.Label)
	}
	return out
}

// keptTable reads the table of what each format keeps: by format and column, whether it does.
func keptTable(t *testing.T) (formats []Format, columns []string, kept map[Format][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/reference/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## What each format keeps\n")
	if !found {
		t.Fatal("no section about what each format keeps")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	kept = map[Format][]string{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		switch {
		case !strings.HasPrefix(line, "|") || strings.HasPrefix(cells[0], "--"):
		case columns == nil:
			columns = cells[1:]
		case len(cells) != len(columns)+1:
			t.Fatalf("%s: %d columns, want %d", line, len(cells), len(columns)+1)
		default:
			f := Format(strings.Trim(cells[0], "`"))
			formats, kept[f] = append(formats, f), cells[1:]
		}
	}
	return formats, columns, kept
}

// The table in the manual says of every format of graphs what it keeps.
func TestWhatIsKept(t *testing.T) {
	formats, columns, kept := keptTable(t)
	for _, f := range Formats() {
		if molecules := []Format{SMILES, CSV, TSV, Parquet, SDF}; !slices.Contains(molecules, f) && !slices.Contains(formats, f) {
			t.Errorf("the table lacks the format %s", f)
		}
	}
	if len(columns) != len(keeps) {
		t.Errorf("columns %q, want those of %d tests", columns, len(keeps))
	}
	for _, f := range formats {
		read := func(directed bool) *graph.Graph {
			if f == TUDataset {
				return readKeptTU(t, directed).Graphs[0]
			}
			return readKept(t, f, directed).Graphs[0]
		}
		one, arcs := read(false), read(true)
		if f != EdgeList && f != TUDataset && one.Directed() {
			t.Errorf("%s: the undirected graph is directed", f)
		}
		for i, column := range columns {
			test, ok := keeps[column]
			if !ok {
				t.Fatalf("no test of %q", column)
			}
			said := kept[f][i]
			if !slices.Contains([]string{"yes", "no", "`--directed`"}, said) {
				t.Errorf("%s, %s: %q, want yes or no", f, column, said)
			}
			if got := test(one, arcs); got != (said != "no") {
				t.Errorf("%s, %s: the table says %s, the reader keeps it: %v", f, column, said, got)
			}
		}
	}
}

// Everything that a graph has comes back from the formats that are written, as the table says.
func TestWhatIsWritten(t *testing.T) {
	_, columns, kept := keptTable(t)
	for _, f := range []Format{JSONLines, GraphML, TUDataset} {
		read := func(directed bool) *graph.Graph {
			path := filepath.Join(t.TempDir(), "g")
			if f != TUDataset {
				path += "." + string(f)
			}
			d := readKept(t, JSONLines, directed)
			if f == TUDataset && directed { // without a one-sided edge nothing would say so
				d.Graphs = append(d.Graphs, mustReadText(t, JSONLines, `{"nodes":2,"edges":[[0,1]],"edge_labels":["z"],"node_labels":["C","C"],"node_attributes":[[0,0],[0,0]],"coordinates":[[0,0],[0,0]],"target":"b","directed":true}`).Graphs...)
			}
			if err := WriteDataset(t.Context(), path, d, f); err != nil {
				t.Fatal(f, err)
			}
			return mustRead(t, path).Graphs[0]
		}
		one, arcs := read(false), read(true)
		for i, column := range columns {
			if got, want := keeps[column](one, arcs), kept[f][i] == "yes"; got != want {
				t.Errorf("%s, %s: written and read again: %v, want %v", f, column, got, want)
			}
		}
	}
}
