package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

func TestSMILESFile(t *testing.T) {
	d := mustReadText(t, SMILES, "\ufeffsmiles name\n# comment\nCO methanol\r\n\nC#N\thydrogen cyanide\n[Na+].[Cl-]\n")
	if len(d.Graphs) != 3 {
		t.Fatalf("%d graphs, want 3", len(d.Graphs))
	}
	wantGraph(t, d.Graphs[0], `id "methanol" target "" n 2
0 "C"
1 "O"
0-1 1 "-"`)
	wantGraph(t, d.Graphs[1], `id "hydrogen cyanide" target "" n 2
0 "C"
1 "N"
0-1 1 "#"`)
	if d.Graphs[2].N() != 2 || d.Graphs[2].M() != 0 {
		t.Error(describe(d.Graphs[2]))
	}
	wantErrors(t, SMILES, []errorCase{
		{"C\nCC(C\n", "f:2: SMILES position 3: branch is not closed"},
		{"C\nc1cccc1 x\n", "f:2: the aromatic system of atom 4 (C) cannot have alternating"},
	})
}

func TestAtomLabels(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		smiles string
		want   string
	}{
		{func(o *Options) { o.AtomCharge = false }, "C[NH3+]", "C N"},
		{func(o *Options) {}, "C[NH3+]", "C N+"},
		{func(o *Options) { o.AtomHydrogens, o.AtomCharge = true, false }, "CC(O)[NH3+]", "CH3 CH OH NH3"},
		{func(o *Options) { o.AtomHydrogens = true }, "C[NH3+]", "CH3 NH3+"},
		{func(o *Options) {}, "C[N+](=O)[O-]", "C N O O"},
		{func(o *Options) {}, "[O-][N+](=O)c1ccc(cc1)C(=O)[O-]", "O N O C C C C C C C O O-"},
		{func(o *Options) { o.AtomAromatic = true }, "Cc1ccco1", "C c c c c o"},
		{func(o *Options) { o.AtomAromatic = true }, "[se]1cccc1", "se c c c c"},
		{func(o *Options) {}, "[Fe+3].[O-2]", "Fe+3 O-2"},
		{func(o *Options) { o.Hydrogens = HydrogensExplicit }, "CO", "C O H H H H"},
		{func(o *Options) { o.Hydrogens = HydrogensImplicit }, "[H]C([H])([H])O[2H]", "C O H"},
		{func(o *Options) { o.Hydrogens = HydrogensImplicit }, "[H][H]", "H H"},
		{func(o *Options) {}, "[H]O", "H O"},
	} {
		o := DefaultOptions()
		c.change(&o)
		g, err := ParseSMILES(c.smiles, o)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(g.Labels(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.smiles, got, c.want)
		}
	}
}

func TestParseSMILESValidatesOptions(t *testing.T) {
	if _, err := ParseSMILES("C", Options{}); err == nil || !strings.HasPrefix(err.Error(), "Options: Format = ") {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	text := "Name,SMILES,Activity\r\n\"ethanol, pure\",CCO,1\r\nwater,O,0\r\n"
	d := mustReadText(t, CSV, text)
	wantGraph(t, d.Graphs[1], "id \"water\" target \"0\" n 1\n0 \"O\"")
	if d.Graphs[0].ID() != "ethanol, pure" || d.Graphs[0].Target() != "1" {
		t.Error(describe(d.Graphs[0]))
	}
	d = mustReadText(t, TSV, "\ufeffstructure\ty\nCC\t2.5\n")
	wantGraph(t, d.Graphs[0], "id \"\" target \"2.5\" n 2\n0 \"C\"\n1 \"C\"\n0-1 1 \"-\"")
	d = mustReadText(t, CSV, "smiles;id\nCC;x\n")
	if len(d.Graphs) != 1 || d.Graphs[0].ID() != "x" {
		t.Error("semicolons")
	}
	d = mustReadText(t, TSV, "id\tsmiles\n\"5' end\tC\n\n\"q\"\tO\n")
	if !slices.Equal(d.IDs(), []string{`"5' end`, "q"}) {
		t.Errorf("%q", d.IDs())
	}
	wantErrors(t, TSV, []errorCase{{"smiles\tx\nC\n", "f:2: 1 column, want 2 as in the header"}})
	d, err := readText(CSV, "a,b,c\nC,N,O\n", func(o *Options) { o.Structure, o.TargetColumn, o.IDColumn = "B", "c", "A" })
	if err != nil {
		t.Fatal(err)
	}
	wantGraph(t, d.Graphs[0], "id \"C\" target \"O\" n 1\n0 \"N\"")
	d, err = readText(CSV, "smiles\nC\nC(\nO\n", func(*Options) {})
	if err != nil || len(d.Graphs) != 2 {
		t.Fatal(d, err)
	}
	wantWarnings(t, d, "1 molecule cannot be read")
	d = mustReadText(t, CSV, "what,found\nC,CCO\nN,CC\n") // the column with the longest SMILES
	wantGraph(t, d.Graphs[1], "id \"\" target \"\" n 2\n0 \"C\"\n1 \"C\"\n0-1 1 \"-\"")
	wantErrors(t, CSV, []errorCase{
		{"", "f:1: no header"},
		{"a,b\n1,2\n", `f:1: no SMILES column among "a", "b"`},
		{"smiles,x\nC,1\nC(,2\n", "f:3: SMILES position 2: branch is not closed"},
		{"smiles,x\nC\n", "f:2: 1 column, want 2 as in the header"},
		{"smiles\n\"C\nO\n", "f:2: a quote opens in this row"},
	})
	if _, err := readText(CSV, "smiles\nC\n", func(o *Options) { o.TargetColumn = "y" }); err == nil || !strings.Contains(err.Error(), `f:1: no column "y" among "smiles"`) {
		t.Error(err)
	}
}

const ethanolMol = `ethanol
  by hand

  3  2  0  0  0  0  0  0  0  0999 V2000
    1.0000    2.0000    0.0000 C   0  0
    2.5000    2.0000    0.0000 C   0  0  0  0  0  0
    3.2500    3.3000    0.0000 O   0  5
  1  2  1  0
  2  3  1  0
M  END
`

const acetateV3000 = `
  by hand

  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 4 3 0 0 0
M  V30 BEGIN ATOM
M  V30 10 C 0 0 0 0
M  V30 20 C 1.5 0 0 -
M  V30 0
M  V30 30 O 2.2 1.3 0 0
M  V30 40 O 2.2 -1.3 0 0 CHG=-1
M  V30 END ATOM
M  V30 BEGIN BOND
M  V30 1 1 10 20
M  V30 2 2 20 30
M  V30 3 1 20 40
M  V30 END BOND
M  V30 END CTAB
M  END
`

func TestSDF(t *testing.T) {
	text := ethanolMol + ">  <Activity>\n0.75\n\n> 25 <ID> (x)\nE1\n\n$$$$\n" + acetateV3000 + "> <ID>\nA2\n\n$$$$\n"
	o := func(o *Options) { o.AtomCharge, o.AtomHydrogens = true, true }
	d, err := readText(SDF, strings.ReplaceAll(text, "\n", "\r\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Graphs) != 2 {
		t.Fatalf("%d graphs, want 2", len(d.Graphs))
	}
	wantGraph(t, d.Graphs[0], `id "ethanol" target "0.75" n 3
0 "CH3" (1, 2)
1 "CH2" (2.5, 2)
2 "O-" (3.25, 3.3)
0-1 1 "-"
1-2 1 "-"`)
	wantGraph(t, d.Graphs[1], `id "A2" target "" n 4
0 "CH3" (0, 0)
1 "C" (1.5, 0)
2 "O" (2.2, 1.3)
3 "O-" (2.2, -1.3)
0-1 1 "-"
1-2 1 "="
1-3 1 "-"`)
	// A file with one MOL and no separator; M  CHG makes the charges of the atom block void.
	d, err = readText(SDF, strings.Replace(ethanolMol, "M  END", "M  CHG  1   1   1\nM  END", 1), o)
	if err != nil || strings.Join(d.Graphs[0].Labels(), " ") != "CH2+ CH2 OH" {
		t.Errorf("%v %v", d, err)
	}
	wantErrors(t, SDF, []errorCase{
		{strings.Replace(ethanolMol, "  2  3  1", "  2  4  1", 1), "f:9: atom 4 out of range [1, 3]"},
		{strings.Replace(ethanolMol, " O ", " Oo", 1), `f:7: unknown element "Oo"`},
		{strings.Replace(ethanolMol, "  2  3  1", "  2  3  7", 1), "f:9: bond type 7"},
		{strings.Replace(ethanolMol, "  2  3  1", "  2  2  1", 1), "f:9: bond from atom 2 to itself"},
		{strings.Replace(ethanolMol, "  2  3  1", "  2  1  1", 1), "f:9: second bond between atoms 2 and 1"},
		{strings.Replace(ethanolMol, "M  END\n", "", 1), "the connection table ends too early, want a line M  END"},
		{strings.Replace(ethanolMol, "2.5000", "2.5x00", 1), `f:6: coordinate x: "2.5x00"`},
		{strings.Replace(ethanolMol, "  3  2", "  x  2", 1), `f:4: number of atoms "x"`},
		{ethanolMol + "$$$$\n" + strings.Replace(acetateV3000, "1 1 10 20", "1 1 10 21", 1), "f:26: bond to atom 21, which does not exist"},
		{strings.Replace(acetateV3000, "M  V30 END ATOM", "END ATOM", 1), `f:13: "END ATOM", want a line that begins with M  V30`},
	})
	if _, err := readText(SDF, ethanolMol, func(o *Options) { o.TargetColumn = "y" }); err == nil || !strings.Contains(err.Error(), `no data field "y"`) {
		t.Error(err)
	}
}

func TestJSONLines(t *testing.T) {
	// The example of the design, and all fields.
	text := `{"id":"g1","nodes":3,"edges":[[0,1],[1,2,0.5]],"node_labels":["C","O","N"],"node_attributes":[[0.1],[0.2],[0.3]],"edge_labels":["-","="],"target":"active"}

 { "nodes" : 2 , "edges" : [ [ 0 , 1 ] , [1,0] , [1,1] ] , "node_labels":[1, 2.5], "target": 3, "colour": {"a":[1]}, "coordinates":[[0,1],[2,3]] }
{"nodes":0,"edges":[],"id":7,"target":null}`
	d := mustReadText(t, JSONLines, text)
	wantGraph(t, d.Graphs[0], `id "g1" target "active" n 3
0 "C" [0.1]
1 "O" [0.2]
2 "N" [0.3]
0-1 1 "-"
1-2 0.5 "="`)
	wantGraph(t, d.Graphs[1], `id "" target "3" n 2
0 "1" (0, 1)
1 "2.5" (2, 3)
0-1 1`)
	wantGraph(t, d.Graphs[2], `id "7" target "" n 0`)
	wantWarnings(t, d, "1 unknown field ignored", "1 self-loop left out")
	wantErrors(t, JSONLines, []errorCase{
		{"{\"nodes\":1,\"edges\":[]}\n[1]\n", `f:2: "[1]", want an object`},
		{`{"nodes":1}`, `f:1: no field "nodes" or no field "edges"`},
		{`{"nodes":-1,"edges":[]}`, "f:1: -1 nodes, want 0 to"},
		{`{"nodes":2000000000,"edges":[]}`, "2000000000 nodes, want 0 to 10000000"},
		{`{"nodes":1,"edges":[[0,1]]}`, "f:1: edge 0: vertex 1 out of range [0, 1)"},
		{`{"nodes":2,"edges":[[0]]}`, `f:1: field "edges": edge 0: 1 number, want two vertices`},
		{`{"nodes":2,"edges":[[0,1,2,3]]}`, "edge 0: 4 numbers"},
		{`{"nodes":2,"edges":[[0,1.5]]}`, `edge 0: "1.5", want a whole number`},
		{`{"nodes":2,"edges":[[0,1,-2]]}`, "edge 0: weight -2, want a positive number"},
		{`{"nodes":2,"edges":[[0,1,1],[0,1,2]]}`, "f:1: edge (0, 1) is given twice"},
		{`{"nodes":2,"edges":[],"directed":1}`, `f:1: field "directed"`},
		{`{"nodes":2,"edges":["]"]}`, "edge 0"},
		{`{"nodes":2,"edges":[["]",1]]}`, "edge 0"},
		{`{"nodes":2,"edges":{}}`, "want a list of edges"},
		{`{"nodes":2,"edges":[],"node_labels":[]}`, `f:1: field "node_labels": 0 entries for 2 nodes`},
		{`{"nodes":2,"edges":[],"node_attributes":[]}`, `f:1: field "node_attributes": 0 entries for 2 nodes`},
		{`{"nodes":2,"edges":[],"coordinates":[]}`, `f:1: field "coordinates": 0 entries for 2 nodes`},
		{`{"nodes":2,"edges":[[0,1]],"edge_labels":[]}`, `f:1: field "edge_labels": 0 entries for 1 edges`},
		{`{"nodes":2,"edges":[],"node_labels":["a"]}`, `f:1: field "node_labels": 1 entries for 2 nodes`},
		{`{"nodes":2,"edges":[],"node_labels":[["a"],"b"]}`, `field "node_labels": "[\"a\"]", want a text or a number`},
		{`{"nodes":2,"edges":[],"node_attributes":[[1],[2,3]]}`, "attributes of vertex 1: a row of length 2, want 1"},
		{`{"nodes":2,"edges":[]`, "f:1: the object does not end in its line"},
		{`{"nodes":2,"edges":[]} x`, "f:1: text after the object"},
		{`{"nodes":2,"edges":[]} {}`, "f:1: text after the object"},
	})
}

func TestGraphML(t *testing.T) {
	text := `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"><default>C</default></key>
  <key id="d1" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d2" for="node" attr.name="charge" attr.type="double"><default>0</default></key>
  <key id="d3" for="graph" attr.name="class" attr.type="string"/>
  <key id="d4" for="node" attr.name="note" attr.type="string"/>
  <graph id="G" edgedefault="directed">
    <desc>text</desc>
    <data key="d3">toxic &amp; bad</data>
    <node id="a"><data key="d0">N</data></node>
    <node id="b"><data key="d2"> 1.5 </data><data key="d4">x</data></node>
    <edge source="a" target="b"><data key="d1">1</data></edge>
    <edge source="b" target="a"><data key="d1">2</data></edge>
    <edge source="b" target="c"/>
    <edge source="c" target="c"/>
    <node id="c"><port name="p"/></node>
  </graph>
  <graph edgedefault="undirected"><node id="a"/></graph>
</graphml>`
	d := mustReadText(t, GraphML, text)
	wantGraph(t, d.Graphs[0], `id "G" target "toxic & bad" n 3
0 "N" [0]
1 "C" [1.5]
2 "C" [0]
0>1 1
1>0 2
1>2 1
2>2 1`)
	wantGraph(t, d.Graphs[1], "id \"\" target \"\" n 1\n0 \"C\" [0]")
	wantWarnings(t, d, `1 value of node data "note" left out, because some nodes have none`)
	wrap := func(s string) string { return "<graphml>\n<graph>\n" + s + "\n</graph></graphml>" }
	wantErrors(t, GraphML, []errorCase{
		{"", "f:1: no element graphml"},
		{"<html></html>", `f:1: root element "html", want graphml`},
		{"<graphml><graph>", "f:1: "},
		{wrap("<node id='a'/><node id='a'/>"), `f:3: second node with the name "a"`},
		{wrap("<edge source='a' target='b'/>"), `f:3: edge to node "a", which does not exist`},
		{wrap("<node id='a'><data key='x'>1</data></node>"), `f:3: data of key "x", which is not declared`},
		{wrap("<hyperedge/>"), "f:3: hyperedge, want edges between two nodes"},
		{wrap("<node id='a'><graph/></node>"), "f:3: graph inside node, want graphs that are not nested"},
		{"<graphml><key id='w' for='edge' attr.name='weight'/><graph><node id='a'/><node id='b'/>\n<edge source='a' target='b'><data key='w'>-1</data></edge></graph></graphml>",
			`f:2: edge weight "-1", want a positive, finite number`},
		{"<graphml>\n<graph></x></graphml>", "f:2: element <graph> closed by </x>"},
	})
	d = mustReadText(t, GraphML, "<?xml version='1.0' encoding='ISO-8859-1'?><graphml><key id='l' for='node' attr.name='label'/><graph><node id='a'><data key='l'>\xe4</data></node></graph></graphml>")
	if l := d.Graphs[0].Label(0); l != "ä" {
		t.Errorf("label %q, want ä", l)
	}
}

func TestDOT(t *testing.T) {
	text := `/* comment */ # not here
strict digraph "my graph" {
  // another
  target = active; rankdir=LR
  node [label=C, shape=box]; edge [weight=2]
  a -> b -> c [label="x\"y"];
  b:n:sw -> a [weight=3 label="x\"y"]
  "d" [label="N" + "O", pos="1.5,2!"];
  subgraph cluster { node [label=S]; e; f } -> { g } [label=z]
  h [label=<<b>P</b>>]
}
graph { 1 -- 2; 2 -- 1; -3.5 -- 2 }
graph { a [pos="1,2"]; b [pos="3,4.5,0"] }`
	text = strings.Replace(text, " # not here", "", 1)
	d := mustReadText(t, DOT, text)
	wantGraph(t, d.Graphs[0], `id "my graph" target "active" n 8
0 "C"
1 "C"
2 "C"
3 "NO"
4 "S"
5 "S"
6 "C"
7 "P"
0>1 2 "x\"y"
1>0 3 "x\"y"
1>2 2 "x\"y"
4>6 2 "z"
5>6 2 "z"`)
	wantGraph(t, d.Graphs[1], "id \"\" target \"\" n 3\n0 \"\"\n1 \"\"\n2 \"\"\n0-1 1\n1-2 1")
	wantGraph(t, d.Graphs[2], "id \"\" target \"\" n 2\n0 \"\" (1, 2)\n1 \"\" (3, 4.5)")
	wantWarnings(t, d, "1 parallel edge joined with another", `2 graphs without labels among others that have some: their vertices have the label ""`)
	wantErrors(t, DOT, []errorCase{
		{"graph {\na -> b }", `f:2: "->", want -- in this kind of graph`},
		{"graph {\na -- b", "f:2: the graph ends too early, want }"},
		{"foo {}", `f:1: "foo", want graph or digraph`},
		{"graph {\n\na [label=\"x }", "f:3: text after \" is not closed"},
		{"graph { /* }", "f:1: comment not terminated"},
		{"graph {\na -- \x00b }", "f:2: invalid character NUL"},
		{"graph { a -- }", `f:1: "}", want a name`},
		{"graph { a -- b [weight=x] }", `f:1: edge weight "x", want a positive, finite number`},
		{"graph { a [=] }", `f:1: "=", want a name`},
		{"graph {" + strings.Repeat("{", 300), "more than 200 subgraphs inside each other"},
		{"graph { ! }", "f:1: unexpected character '!'"},
	})
	// Texts keep their bytes, whatever they encode.
	d = mustReadText(t, DOT, "graph { a [label=\xe4]; b [label=\"\xf6é\"]; \xfc; -1.5\n  # a line\n}")
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 4\n0 \"\\xe4\"\n1 \"\\xf6é\"\n2 \"\"\n3 \"\"")
	if d := mustReadText(t, DOT, "\ufeffgraph { a }"); d.Graphs[0].N() != 1 {
		t.Error("a byte order mark")
	}
	_, err := readText(DOT, "graph { {a b c d} -- {e f g h} }", func(o *Options) { o.Limits.Edges = 10 })
	if err == nil || !strings.Contains(err.Error(), "f:1: more than 10 edges, which is the limit") {
		t.Error(err)
	}
}

func TestEdgeList(t *testing.T) {
	d := mustReadText(t, EdgeList, "# a comment\n10 2\r\n2 10\n% another\n2\t2\n3,10\n7\n")
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 4\n0\n1\n2\n3\n0-3 1\n1-3 1")
	wantWarnings(t, d, "1 self-loop left out")
	d = mustReadText(t, EdgeList, "a b 1 x\nb a 2 y\nc a 4 y\n")
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 3\n0\n1\n2\n0-1 1.5 \"x|y\"\n0-2 4 \"y\"")
	wantWarnings(t, d, "1 edge had two directions with different weights and got their mean", "1 edge had two directions with different labels and got both")
	for _, empty := range []string{"", "\n \n", "# a comment\n"} {
		if d := mustReadText(t, EdgeList, empty); len(d.Graphs) != 0 {
			t.Errorf("%q has %d graphs, want none", empty, len(d.Graphs))
		}
	}
	wantErrors(t, EdgeList, []errorCase{
		{"a b\nb c 2\n", "f:2: 3 columns, want 2 as in the first edge"},
		{"a b x\n", `f:1: weight "x", want a positive, finite number`},
		{"a b 0\n", `f:1: weight "0", want a positive, finite number`},
		{"a b 1\na b 2\n", "f: edge (a, b) is given twice"},
		{"a b 1 x y\n", "f:1: 5 columns, want two vertices, and perhaps a weight and a label"},
		{",\n", `f:1: ",", want two vertices`},
	})
}

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.smi", "", SMILES}, {"a.SMI.gz", "", SMILES}, {"a.csv", "", CSV}, {"a.tsv", "", TSV}, {"a.sdf", "", SDF}, {"a.mol", "", SDF},
		{"a.jsonl", "", JSONLines}, {"a.graphml", "", GraphML}, {"a.gv", "", DOT}, {"a.dot", "", DOT}, {"a.edges", "", EdgeList},
		{"a", "{\"nodes\":0", JSONLines}, {"a.xml", "<?xml", GraphML}, {"a.txt", "/* x */ strict digraph{", DOT}, {"a.txt", "graph G {", DOT},
		{"a.json", `{"directed": false, "nodes": [`, NodeLink}, {"a.json", `{"nodes":3,"edges":[[0,1]]}`, JSONLines}, {"a", `[{"nodes": []}]`, NodeLink},
		{"a.gml", "", GML}, {"a.txt", "Creator \"x\"\nVersion 1\n graph\n[", GML}, {"a.gexf", "", GEXF}, {"a.xml", "<?xml version='1.0'?>\n<!-- x --><gexf version='1'>", GEXF},
		{"a.net", "", Pajek}, {"a.txt", "% x\n*Vertices 3", Pajek}, {"a.txt", "*network x", Pajek},
		{"a.txt", "# x\n1 2\n", EdgeList}, {"a.txt", "1,2\n", EdgeList}, {"a", ethanolMol, SDF}, {"a.txt", "CCO ethanol\n", SMILES},
		{"a.txt", "id,smiles\n1,C", CSV}, {"a.txt", "id\tsmiles\n1\tC", TSV},
	} {
		if got, err := recognise(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.name, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", " \n", "hello, world", "\x00\x01\x02"} {
		if f, err := recognise("a.txt", []byte(text)); err == nil {
			t.Errorf("%q: %s, want an error", text, f)
		}
	}
}

func TestGzipAndNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mol.smi.gz")
	if err := os.WriteFile(path, gzipped(t, "CO\nC\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := mustRead(t, path)
	if d.Name != "mol" || len(d.Graphs) != 2 || !slices.Equal(d.IDs(), []string{"1", "2"}) {
		t.Errorf("%q, %d graphs, ids %v", d.Name, len(d.Graphs), d.IDs())
	}
	t.Setenv("MLG_CACHE", dir)
	_, err := Read(context.Background(), "NOSUCH", DefaultOptions())
	if err == nil || !strings.Contains(err.Error(), "NOSUCH: no such file, folder, built-in collection") {
		t.Error(err)
	}
	_, err = Read(context.Background(), filepath.Join(dir, "x.smi"), DefaultOptions())
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Format = "x" }, `Options: Format = x, want one of auto, tudataset, smiles, `},
		{func(o *Options) { o.Hydrogens = "x" }, `Options: Hydrogens = x, want one of written, explicit, implicit`},
		{func(o *Options) { o.EdgeWeight = "" }, `Options: EdgeWeight = "", want one of unit, weight, order, distance`},
		{func(o *Options) { o.TargetColumn = "\xff" }, `Options: TargetColumn = "\xff", want valid UTF-8`},
		{func(o *Options) { o.Limits.Line = 0 }, "Options: Limits.Line = 0, want a positive number"},
		{func(o *Options) { o.Limits.Items = -1 }, "Options: Limits.Items = -1"},
	} {
		if _, err := readText(SMILES, "C", func(o *Options) { o.Format = SMILES; c.change(o) }); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Options survive JSON but for the limits, and a field that is absent has its default.
func TestOptionsJSON(t *testing.T) {
	o := DefaultOptions()
	o.Format, o.Structure, o.TargetColumn, o.IDColumn = CSV, "s", "t", "i"
	o.AtomCharge, o.AtomAromatic, o.AtomHydrogens, o.Strict, o.LargestFragment = true, true, true, true, true
	o.Hydrogens, o.EdgeWeight = HydrogensImplicit, OrderWeight
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	got := DefaultOptions()
	if err := json.Unmarshal(text, &got); err != nil || got != o {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
	got = DefaultOptions()
	if err := json.Unmarshal([]byte(`{"hydrogens":"explicit"}`), &got); err != nil || got.EdgeWeight != GivenWeight || got.Hydrogens != HydrogensExplicit {
		t.Errorf("%+v, %v", got, err)
	}
	like := DefaultOptions().Like(&o)
	want := DefaultOptions()
	want.AtomCharge, want.AtomAromatic, want.AtomHydrogens = true, true, true
	want.Hydrogens, want.EdgeWeight, want.LargestFragment, want.like, want.inherited = HydrogensImplicit, OrderWeight, true, "t", true
	if like != want || o.Like(nil) != o {
		t.Errorf("like %+v, want %+v", like, want)
	}
}

// Where every line is a graph, reading can go on behind a bad one.
func TestSkip(t *testing.T) {
	o := DefaultOptions()
	o.Limits.Line, o.Strict = 100, true
	r, err := NewReader(strings.NewReader("C first\n\nC( bad\nO second\n"+strings.Repeat("C", 200)+"\nN never\n"), "x.smi", o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		g, err := r.Next()
		switch {
		case err == nil:
			got = append(got, fmt.Sprint(r.Line(), " ", g.ID()))
			continue
		case r.Skip():
			got = append(got, fmt.Sprint(r.Line(), " skipped"))
			continue
		}
		if err == io.EOF || r.Skip() {
			t.Errorf("%v, want that a line that is too long cannot be skipped", err)
		}
		break
	}
	if want := "1 first, 3 skipped, 4 second"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	r, err = NewReader(strings.NewReader("smiles\nC(\n"), "x.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err == nil || r.Skip() || r.Line() != 0 {
		t.Error("a table was read on behind a bad row")
	}
}

// badRows gives a table of rows that cannot be read, and calls stop after some.
type badRows struct {
	rows int
	stop func()
}

func (r *badRows) Read(p []byte) (int, error) {
	if r.rows++; r.rows == 100 {
		r.stop()
	}
	return copy(p, "C1CC,1\n"), nil
}

// Rows that cannot be read are given up as well.
func TestCancelBadRows(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	src := io.MultiReader(strings.NewReader("smiles,y\n"), &badRows{stop: cancel})
	if _, err := ReadFrom(ctx, src, "x.csv", DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// Try stops at a record that cannot be read, with what else is in it. Next goes on to the next graph.
func TestTry(t *testing.T) {
	for name, text := range map[string]string{
		"x.csv": "smiles,name,y\nC(,a,1\nCC,b,2\nCCC,c\nCC\"C,d,4\nCO,e,5\n",
		"x.tsv": "smiles\tname\ty\nC(\ta\t1\nCC\tb\t2\nCCC\tc\n\td\t4\nCO\te\t5\n",
	} {
		r, err := NewReader(strings.NewReader(text), name, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			g, err := r.Try()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			f := r.Fields()
			if g == nil {
				got = append(got, fmt.Sprintf("%d %s bad %d", f.Line, f.Value("name"), r.Bad().Line))
				continue
			}
			got = append(got, fmt.Sprintf("%d %s", f.Line, f.Value("name")))
		}
		want := "2 a bad 2, 3 b, 4 c bad 4, 5 d bad 5, 6 e"
		if name == "x.csv" {
			want = "2 a bad 2, 3 b, 4 c bad 4, 0  bad 5, 6 e" // nothing of a row with an open quote is known
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", name, s, want)
		}
		if n := r.Skipped().Count; n != 3 {
			t.Errorf("%s: %d left out, want 3", name, n)
		}
		if r, err = NewReader(strings.NewReader(text), name, DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		if g, err := r.Next(); err != nil || g.ID() != "b" {
			t.Errorf("%s: Next returns %v, %v, want b", name, g, err)
		}
	}
}

// Molecules are graphs all of whose edges are bonds, however they were stored; rings with alternating bonds are aromatic.
func TestMolecules(t *testing.T) {
	parse := func(smiles string) *graph.Graph {
		g, err := ParseSMILES(smiles, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	ethanol, helium := parse("CCO"), parse("[He]")
	b := graph.NewBuilder(2)
	b.AddLabeledEdge(0, 1, 1, "1")
	numbered, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		graphs []*graph.Graph
		want   bool
	}{
		{nil, false}, {[]*graph.Graph{helium}, false}, {[]*graph.Graph{helium, ethanol}, true},
		{[]*graph.Graph{ethanol, numbered}, false}, {Scales(3, 1).Graphs, false},
	} {
		if got := chem.Molecules(c.graphs); got != c.want {
			t.Errorf("%d graphs are molecules: %v, want %v", len(c.graphs), got, c.want)
		}
	}
	o := DefaultOptions()
	o.AtomAromatic = true
	for _, smiles := range []string{"Cc1ccccc1", "CC1=CC=CC=C1"} {
		g, err := ParseSMILES(smiles, o)
		if err != nil {
			t.Fatal(err)
		}
		aromatic := 0
		for e := range g.Edges() {
			if e.Label == ":" {
				aromatic++
			}
		}
		if labels := strings.Join(g.Labels(), " "); aromatic != 6 || labels != "C c c c c c c" {
			t.Errorf("%s: %d aromatic bonds, labels %s", smiles, aromatic, labels)
		}
	}
}

// What stands beside a graph is told for every format, and what was left out with its line and reason.
func TestFields(t *testing.T) {
	const mol = "ethane\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n" +
		"    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.0000    0.0000 C   0  0\n  1  2  1  0\nM  END\n"
	for name, c := range map[string]struct {
		text, want, skipped string
	}{
		"f.csv":  {"smiles,class,mw\nCC,a,30.1\nC(,b,1\nC\nO,b,18\n", "0 smiles=CC class=a mw=30.1|0 smiles=O class=b mw=18", "3 SMILES position 2: branch is not closed|4 1 column, want 3 as in the header"},
		"f.tsv":  {"x\tsmiles\n1\tCC\n", "1 x=1 smiles=CC", ""},
		"f.smi":  {"CC ethane\nC((\nO\n", "0 smiles=CC name=ethane|0 smiles=O name=", "2 SMILES position 3: branch without an atom before it"},
		"f.sdf":  {mol + "> <logP>\n1.5\n\n$$$$\n", "-1 logP=1.5", ""},
		"f.json": {`{"nodes":1,"edges":[],"id":"a","mw":3.5,"kind":"x","list":[1]}` + "\n{\n", "-1 id=a mw=3.5 kind=x", "2 the object does not end in its line"},
		"f.dot":  {"graph a { class=x; size=3; 1 -- 2 }", "-1 class=x size=3", ""},
	} {
		o := DefaultOptions()
		r, err := NewReader(strings.NewReader(c.text), name, o)
		if err != nil {
			t.Fatal(err)
		}
		var got, skipped []string
		for {
			_, err := r.Next()
			if err != nil && r.Skip() {
				continue
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
			f := r.Fields()
			line := fmt.Sprint(f.SMILES)
			for i, n := range f.Names {
				line += " " + n + "=" + f.Values[i]
			}
			got = append(got, line)
		}
		left := r.Skipped()
		for _, s := range left.First {
			skipped = append(skipped, fmt.Sprintf("%d %s", s.Line, s.Reason))
		}
		if strings.Join(got, "|") != c.want || strings.Join(skipped, "|") != c.skipped || left.Count != len(skipped) {
			t.Errorf("%s (%s): %q, left out %q (%d), want %q and %q", name, r.Format(), got, skipped, left.Count, c.want, c.skipped)
		}
	}
}

// A digraph is directed in every format that says so, and edge lists are by Options.Directed.
func TestDirections(t *testing.T) {
	const want = "id \"g\" target \"\" n 2\n0\n1\n0>1 1 \"x\"\n1>0 1 \"y\"\n1>1 1 \"z\""
	for f, text := range map[Format]string{
		DOT:       `digraph g { a -> b [label=x]; b -> a [label=y]; b -> b [label=z] }`,
		GraphML:   `<graphml><key id="l" for="edge" attr.name="label"/><graph id="g" edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"><data key="l">x</data></edge><edge source="b" target="a"><data key="l">y</data></edge><edge source="b" target="b"><data key="l">z</data></edge></graph></graphml>`,
		JSONLines: `{"id":"g","nodes":2,"edges":[[0,1],[1,0],[1,1]],"edge_labels":["x","y","z"],"directed":true}`,
	} {
		d := mustReadText(t, f, text)
		wantGraph(t, d.Graphs[0], want)
		wantWarnings(t, d)
		if f != JSONLines && d.Graphs[0].Name(1) != "b" {
			t.Errorf("%s: name %q, want b", f, d.Graphs[0].Name(1))
		}
	}
	for f, text := range map[Format]string{EdgeList: "a b 1 x\nb a 1 y\nb b 1 z\n", JSONLines: `{"nodes":2,"edges":[[0,1],[1,0],[1,1]],"edge_labels":["x","y","z"]}`} {
		d, err := readText(f, text, func(o *Options) { o.Directed = true })
		if err != nil {
			t.Fatal(err)
		}
		wantGraph(t, d.Graphs[0], strings.Replace(want, `"g"`, `""`, 1))
	}
	// One edge of two is directed: the other one stands for two arcs.
	d := mustReadText(t, GraphML, `<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/><edge source="b" target="a"/><edge source="c" target="b" directed="true"/></graph></graphml>`)
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 3\n0\n1\n2\n0>1 1\n1>0 1\n2>1 1")
}

// Names of vertices are kept unless they are their numbers, and written to Graph JSON Lines and GraphML.
func TestNames(t *testing.T) {
	want := []string{"main", "x<y", ""}
	d := mustReadText(t, JSONLines, `{"nodes":3,"edges":[[0,1]],"node_names":["main","x<y",""]}`)
	for _, name := range []string{"d.jsonl", "d.graphml"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteDataset(t.Context(), path, d, Auto); err != nil {
			t.Fatal(err)
		}
		g := mustRead(t, path).Graphs[0]
		for v, name := range want {
			if g.Name(v) != name {
				t.Errorf("%s: vertex %d has the name %q, want %q", path, v, g.Name(v), name)
			}
		}
	}
	for f, text := range map[Format]string{GraphML: "<graphml><graph><node id='n0'/><node id='n1'/></graph></graphml>", EdgeList: "1 0\n0 2\n"} {
		if g := mustReadText(t, f, text).Graphs[0]; g.HasNames() || g.Name(1) != "1" {
			t.Errorf("%s: %v", f, g)
		}
	}
	if g := mustReadText(t, EdgeList, "12 7\n").Graphs[0]; g.Name(0) != "7" || g.Name(1) != "12" {
		t.Errorf("names %s and %s, want 7 and 12", g.Name(0), g.Name(1))
	}
	wantErrors(t, JSONLines, []errorCase{{`{"nodes":2,"edges":[],"node_names":["a"]}`, `field "node_names": 1 entries for 2 nodes`}})
}
