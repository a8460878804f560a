package dataset

import (
	"slices"
	"strings"
	"testing"
)

// What gcc writes for two functions, and what graphs of compilers have besides.
const gccCFG = `digraph "a.c.015t.cfg" {
overlap=false;
subgraph "cluster_f" {
	style="dashed";
	color="black";
	label="f ()";
	subgraph cluster_0_1 {
	style="filled";
	fn_0_basic_block_2 [shape=record,style=filled,fillcolor=lightgrey,label="{\<bb\ 2\>:\l\
|x\ =\ 1;\l\
}"];
	}
	fn_0_basic_block_0 [shape=Mdiamond,style=filled,fillcolor=white,label="ENTRY"];

	fn_0_basic_block_1 [shape=Mdiamond,style=filled,fillcolor=white,label="EXIT"];

	fn_0_basic_block_0:s -> fn_0_basic_block_2:n [style="solid,bold",color=blue,weight=100,constraint=true];
	fn_0_basic_block_2:s -> fn_0_basic_block_2:n [style="dotted,bold",color=blue,weight=10,constraint=false, label="[50%]"];
	fn_0_basic_block_0:s -> fn_0_basic_block_1:n [style="invis",constraint=true];
}
subgraph "cluster_g" {
	label="g ()"; class=small;
	fn_1_basic_block_0 [label="ENTRY"];
	fn_1_basic_block_1 [label="EXIT"];
	fn_1_basic_block_0 -> fn_1_basic_block_1 [weight=7];
}
outside -> fn_1_basic_block_0;
}
`

func TestDOTOfCompilers(t *testing.T) {
	d, err := readText(DOT, gccCFG, func(o *Options) { o.Clusters = true })
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Graphs) != 2 {
		t.Fatalf("%d graphs, want 2", len(d.Graphs))
	}
	wantGraph(t, d.Graphs[0], `id "f ()" target "" n 3
0 "<bb 2>: x = 1;"
1 "ENTRY"
2 "EXIT"
0>0 1 "[50%]"
1>0 1 ""`)
	wantGraph(t, d.Graphs[1], "id \"g ()\" target \"small\" n 2\n0 \"ENTRY\"\n1 \"EXIT\"\n0>1 1")
	wantWarnings(t, d, "1 invisible edge left out", "1 node in no cluster left out", "1 edge outside of clusters left out")
	if g := d.Graphs[1]; g.Name(1) != "fn_1_basic_block_1" {
		t.Errorf("name %q", g.Name(1))
	}
	d = mustReadText(t, DOT, gccCFG)
	if len(d.Graphs) != 1 || d.Graphs[0].N() != 6 || d.Graphs[0].Weighted() {
		t.Errorf("as one graph: %s", describe(d.Graphs[0]))
	}
	for text, apart := range map[string]bool{
		"digraph g { subgraph cluster_a { a -> b } subgraph cluster_b { c -> d } }":        true,
		"digraph g { subgraph cluster_a { a -> b } subgraph cluster_b { c -> d } b -> c }": false,
		"digraph g { subgraph cluster_a { a -> b } }":                                      false,
	} {
		want := []string{}
		if apart {
			want = append(want, "2 "+ClustersWarning)
		}
		wantWarnings(t, mustReadText(t, DOT, text), want...)
	}
	if d, err := readText(DOT, "graph g { a -- b }", func(o *Options) { o.Clusters = true }); err != nil || d.Graphs[0].ID() != "g" {
		t.Error("a graph without clusters")
	}
}

func TestDOTLabels(t *testing.T) {
	for _, c := range []struct{ label, shape, want string }{
		{`<b>a</b>`, "", "<b>a</b>"}, {`a|{b|c}`, "", `a|{b|c}`}, {`a|{<p> b|<q>c}|`, "record", "a b c"}, {`{x\|y|\<z\>}`, "Mrecord", "x|y <z>"},
		{`one\ltwo\n\rthree\`, "", `one two three\`}, {`\N has \\`, "", `me has \`}, {"{<", "record", ""},
	} {
		if got := dotLabel(c.label, c.shape, "me"); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.shape, c.label, got, c.want)
		}
	}
	if got := htmlText("<TABLE><TR><TD>a &lt; b</TD><TD port='x'>c</TD></TR></TABLE>d<br/>e <i>f</i>"); got != "a < b c d e f" {
		t.Errorf("HTML: %q", got)
	}
	// \N is the name of a vertex, as the program dot writes it, so it is no label.
	d := mustReadText(t, DOT, `digraph { node [label="\N"]; a [width=0.75, size=3]; b [height=2, size=4]; a -> b [weight=2, color=red] }`)
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 2\n0 [3]\n1 [4]\n0>1 2")
}

// Options say which data are the label, the attributes, and the label and the weight of edges.
func TestKeys(t *testing.T) {
	for f, text := range map[Format]string{
		DOT:      `graph g { a [label=x, kind=p, w=1, h=2, x=5, y=6]; b [label=x, kind=q, w=3, h=4, x=7, y=8]; a -- b [label=s, rel=t, weight=2, flow=9] }`,
		NodeLink: `{"graph":{"name":"g"},"nodes":[{"id":"a","label":"x","kind":"p","w":1,"h":2,"x":5,"y":6},{"id":"b","label":"x","kind":"q","w":3,"h":4,"x":7,"y":8}],"links":[{"source":"a","target":"b","label":"s","rel":"t","weight":2,"flow":9}]}`,
		GML:      `graph [ name "g" node [ id 0 label "a" element "x" kind "p" w 1 h 2 x 5 y 6 ] node [ id 1 label "b" element "x" kind "q" w 3 h 4 x 7 y 8 ] edge [ source 0 target 1 label "s" rel "t" weight 2 flow 9 ] ]`,
	} {
		read := func(change func(*Options)) string {
			d, err := readText(f, text, change)
			if err != nil {
				return err.Error()
			}
			return describe(d.Graphs[0])
		}
		for _, c := range []struct {
			change func(*Options)
			want   string
		}{
			{func(o *Options) { o.NodeLabel, o.Attributes, o.EdgeLabel, o.EdgeWeight = "Kind", "h, w", "rel", "flow" },
				"id \"g\" target \"\" n 2\n0 \"p\" [2 1]\n1 \"q\" [4 3]\n0-1 9 \"t\""},
			{func(o *Options) {
				o.NodeLabel, o.Attributes, o.EdgeLabel, o.EdgeWeight = Nothing, Nothing, Nothing, UnitWeight
			},
				"id \"g\" target \"\" n 2\n0\n1\n0-1 1"},
			{func(o *Options) { o.NodeLabel, o.Attributes = "w", "x,w" }, "id \"g\" target \"\" n 2\n0 \"1\" [5 1]\n1 \"3\" [7 3]\n0-1 2 \"s\""},
			{func(o *Options) { o.NodeLabel = "no" }, `graph "g": no node has data "no", they have "`},
			{func(o *Options) { o.Attributes = "w,no" }, `graph "g": no node has data "no"`},
			{func(o *Options) { o.Attributes = "kind" }, `node data "kind": "p", want a number`},
			{func(o *Options) { o.EdgeLabel = "no" }, `graph "g": no edge has data "no", they have "flow", "label", "rel", "weight"`},
			{func(o *Options) { o.EdgeWeight = "rel" }, `edge weight "t", want a positive, finite number`},
		} {
			got := read(c.change)
			if strings.HasPrefix(c.want, "id") && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("%s: got\n%s\nwant\n%s", f, got, c.want)
			}
		}
	}
	d, err := readText(JSONLines, `{"nodes":2,"edges":[[0,1]],"node_labels":["a","b"],"edge_labels":["x"],"node_attributes":[[1,2],[3,4]]}`,
		func(o *Options) { o.NodeLabel, o.EdgeLabel, o.Attributes = Nothing, Nothing, "2" })
	if err != nil {
		t.Fatal(err)
	}
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 2\n0 [2]\n1 [4]\n0-1 1")
	for want, change := range map[string]func(*Options){
		`Options: NodeLabel = a: data in the format jsonl have no keys`:                                             func(o *Options) { o.NodeLabel = "a" },
		`Options: EdgeWeight = a, want one of unit, weight, order, distance: data in the format jsonl have no keys`: func(o *Options) { o.EdgeWeight = "a" },
		`attribute "2", want a number from 1 to 1: data in the format jsonl have no keys`:                           func(o *Options) { o.Attributes = "2" },
		`Options: EdgeWeight = "", want one of unit, weight, order, distance, or a key of edges`:                    func(o *Options) { o.EdgeWeight = "" },
	} {
		if _, err := readText(JSONLines, `{"nodes":1,"edges":[],"node_attributes":[[1]]}`, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Labels that are different on every vertex are names.
func TestLabelsAreNames(t *testing.T) {
	unique := "digraph { a [label=l0]; b [label=l1]; c [label=l2]; d [label=l3]; e [label=l4]; a -> b }"
	d := mustReadText(t, DOT, unique+unique)
	o := DefaultOptions()
	if !LabelsAreNames(o, d) {
		t.Fatal("labels are names")
	}
	if LabelsAreNames(o, d, mustReadText(t, DOT, "graph { a [label=x]; b [label=x] }")) {
		t.Error("labels that repeat in one of two collections")
	}
	if LabelsAreNames(o, mustReadText(t, DOT, unique)) {
		t.Error("too few vertices")
	}
	chosen := o
	chosen.NodeLabel = "label"
	if LabelsAreNames(chosen, d) {
		t.Error("labels that are chosen")
	}
	o = WithoutLabels(o, d)
	if g := d.Graphs[1]; g.HasLabels() || g.Name(0) != "a" || o.NodeLabel != Nothing || !slices.Contains(d.Warnings, NamesWarning) {
		t.Errorf("%v, %q", g, d.Warnings)
	}
}

// Edges with numbers become vertices that have these as attributes.
func TestEdgeAttributes(t *testing.T) {
	read := func(text string) string {
		d, err := readText(DOT, text, func(o *Options) { o.EdgeAttributes = "flow, Cost" })
		if err != nil {
			return err.Error()
		}
		return describe(d.Graphs[0]) + " " + d.Graphs[0].Name(d.Graphs[0].N()-1) + " " + strings.Join(d.Warnings, ";")
	}
	for text, want := range map[string]string{
		`graph g { a [label=x, size=1]; b [label=y, size=2]; a -- b [flow=3, cost=5, label=s, weight=7, more=1]; b -- b [flow=4, cost=6] }`: `id "g" target "" n 4
0 "x" [1 0 0]
1 "y" [2 0 0]
2 "edge s" [0 3 5]
3 "edge " [0 4 6]
0-2 7
1-2 7
1-3 1 b–b 1 value of edge data "more" left out, because they are neither weight, label nor attribute`,
		`digraph { a [pos="0,0"]; b [pos="2,4"]; a -> b [flow=1, cost=2]; a -> b [flow=3, cost=4]; b -> b [flow=5, cost=6] }`: `id "" target "" n 5
0 [0 0] (0, 0)
1 [0 0] (2, 4)
2 [1 2] (1, 2)
3 [3 4] (1, 2)
4 [5 6] (2, 4)
0>2 1
0>3 1
1>4 1
2>1 1
3>1 1
4>1 1 b–b `,
		"graph { a -- b\n a -- c [flow=1] }": `f:1: edge without data "flow", want a number for every edge`,
		"graph {\na -- b [flow=1, cost=x] }": `f:2: edge data "Cost": "x", want a number`,
	} {
		if got := read(text); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got, want)
		}
	}
	d, err := readText(GraphML, `<graphml><key id="f" for="edge" attr.name="f" attr.type="double"/><graph edgedefault="undirected"><node id="u"/><node id="v"/><node id="w"/><edge source="u" target="v" directed="true"><data key="f">1</data></edge><edge source="w" target="v"><data key="f">2</data></edge></graph></graphml>`,
		func(o *Options) { o.EdgeAttributes = "f" })
	if err != nil {
		t.Fatal(err)
	}
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 5\n0 [0]\n1 [0]\n2 [0]\n3 [1]\n4 [2]\n0>3 1\n1>4 1\n2>4 1\n3>1 1\n4>1 1\n4>2 1")
	if _, err := readText(JSONLines, `{"nodes":1,"edges":[]}`, func(o *Options) { o.EdgeAttributes = "f" }); err == nil || !strings.Contains(err.Error(), `EdgeAttributes = f: data in the format jsonl have no keys`) {
		t.Error(err)
	}
}
