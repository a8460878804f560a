package dataset

import (
	"strings"
	"testing"
)

// The same graph in four formats.
const (
	gexfSample = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
  <meta><creator>by hand</creator></meta>
  <graph defaultedgetype="directed" mode="static" name="g" class="toxic">
    <attributes class="node">
      <attribute id="0" title="charge" type="double"><default>0</default></attribute>
      <attribute id="1" title="note" type="string"/>
    </attributes>
    <attributes class="edge"><attribute id="0" title="kind" type="string"/></attributes>
    <nodes>
      <node id="a" label="C"><attvalues><attvalue for="1" value="q"/></attvalues><viz:position x="1" y="2"/></node>
      <node id="b" label="N"><attvalues><attvalue for="0" value="1.5"/></attvalues><viz:position x="3" y="4.5"/></node>
    </nodes>
    <edges>
      <edge id="0" source="a" target="b" weight="2" label="x"/>
      <edge id="1" source="b" target="a" weight="0.5" label="y"/>
    </edges>
  </graph>
</gexf>`
	gmlSample = `Creator "by hand"
graph [
  directed 1
  name "g"
  class "toxic"
  node [ id 7 label "a" element "C" charge 0 note "q" graphics [ x 1 y 2 w 30 ] ]
  node [ id 9 label "b" element "N" charge 1.5 graphics [ x 3.0 y 4.5 ] ]
  # a comment
  edge [ source 7 target 9 weight 2 label "x" graphics [ width 2 ] ]
  edge [ source 9 target 7 weight 0.5 label "y" ]
]
`
	pajekSample = `% a comment
*Network g
*Vertices 2
1 "a" 1 2 0.5 ellipse ic Red element C charge 0 note q
2 "b" 3 4.5 0.5 element N charge 1.5
*Arcs
1 2 2 l "x" c Blue
2 1 0.5 l "y"
`
	nodeLinkSample = `{"directed": true, "multigraph": false, "graph": {"name": "g", "class": "toxic"},
 "nodes": [{"element": "C", "charge": 0, "note": "q", "x": 1, "y": 2, "id": "a"},
  {"element": "N", "charge": 1.5, "x": 3, "y": 4.5, "id": "b"}],
 "links": [{"weight": 2, "label": "x", "source": "a", "target": "b"},
  {"weight": 0.5, "label": "y", "source": "b", "target": "a"}]}
`
)

func TestNetworkFormats(t *testing.T) {
	want := `id "g" target "toxic" n 2
0 "C" [0] (1, 2)
1 "N" [1.5] (3, 4.5)
0>1 2 "x"
1>0 0.5 "y"`
	for f, text := range map[Format]string{GEXF: gexfSample, GML: gmlSample, Pajek: pajekSample, NodeLink: nodeLinkSample} {
		t.Run(string(f), func(t *testing.T) {
			d := mustReadText(t, f, text)
			if len(d.Graphs) != 1 {
				t.Fatalf("%d graphs", len(d.Graphs))
			}
			g := d.Graphs[0]
			w := want
			if f == Pajek { // nothing in the format says the class
				w = strings.Replace(w, "toxic", "", 1)
			}
			wantGraph(t, g, w)
			if g.Name(0) != "a" || g.Name(1) != "b" {
				t.Errorf("names %s and %s, want a and b", g.Name(0), g.Name(1))
			}
			wantWarnings(t, d, `1 value of node data "note" left out, because some nodes have none`)
			d = mustReadText(t, f, strings.NewReplacer(`defaultedgetype="directed"`, "", "directed 1", "", "*Arcs", "*Edges", `"directed": true`, `"directed": false`).Replace(text))
			if g := d.Graphs[0]; g.Directed() || g.M() != 1 || g.EdgeLabel(0, 0) != "x|y" || g.Weights(0)[0] != 2.5 {
				t.Errorf("without directions: %s", describe(g))
			}
		})
	}
}

func TestGEXF(t *testing.T) {
	d := mustReadText(t, GEXF, `<gexf><graph><nodes><node id="0" label="0"/><node id="1" label="1"/><node id="2"/></nodes>
<edges><edge source="0" target="1" type="mutual"/><edge source="1" target="2"/><edge source="2" target="2"/></edges></graph></gexf>`)
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 3\n0\n1\n2\n0>1 1\n1>0 1\n1>2 1\n2>1 1\n2>2 1")
	wrap := func(s string) string { return "<gexf>\n<graph>\n" + s + "\n</graph></gexf>" }
	wantErrors(t, GEXF, []errorCase{
		{"", "f:1: no element gexf"},
		{"<graphml/>", `f:1: root element "graphml", want gexf`},
		{"<gexf><graph>", "f:1: "},
		{wrap("<nodes><node id='a'/>\n<node id='a'/></nodes>"), `f:4: second node with the name "a"`},
		{wrap("<nodes><node id='a'/></nodes>\n<edges><edge source='a' target='b'/></edges>"), `f:4: edge to node "b", which does not exist`},
		{wrap("<nodes><node id='a'><attvalues><attvalue for='0' value='1'/></attvalues></node></nodes>"), `f:3: value of attribute "0", which is not declared for class "node"`},
		{wrap("<nodes><node id='a'><nodes/></node></nodes>"), "f:3: nodes inside a node, want graphs that are not nested"},
		{wrap("<nodes><node id='a' pid='b'/></nodes>"), "f:3: a node with a parent, want graphs that are not nested"},
		{wrap("<nodes><node id='a'/></nodes>\n<edges><edge source='a' target='a' type='odd'/></edges>"), `f:4: edge of type "odd", want directed, undirected or mutual`},
		{wrap("<nodes><node id='a'/><node id='b'/></nodes>\n<edges><edge source='a' target='b' weight='0'/></edges>"), `f:4: edge weight "0", want a positive, finite number`},
		{wrap("<attributes class='node'><attribute id='0' title='q' type='float'/></attributes>\n<nodes><node id='a'><attvalues><attvalue for='0' value='x'/></attvalues></node></nodes>"),
			`f:4: node data "q": "x", want a number`},
	})
}

func TestGML(t *testing.T) {
	// Labels are names, and labels too where nothing else is; lists of numbers; two graphs; texts with entities.
	d := mustReadText(t, GML, `graph [ node [ id 1 label "C" l 1 l 2 ] node [ id 0 label "C" l 3 l 4 ] edge [ source 0 target 1 ] ]
graph [ label "a &amp; &#228;" node [ id 0 label "0" ] ]`)
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 2\n0 \"C\" [1 2]\n1 \"C\" [3 4]\n0-1 1")
	if g := d.Graphs[0]; g.Name(0) != "C" {
		t.Errorf("name %q, want C", g.Name(0))
	}
	wantGraph(t, d.Graphs[1], "id \"a & ä\" target \"\" n 1\n0 \"\"")
	wantErrors(t, GML, []errorCase{
		{"graph [\n node [ ] ]", "f:2: node without an id"},
		{"graph [ node [ id 0 ]\n node [ id 0 ] ]", `f:2: second node with the name "0"`},
		{"graph [ node [ id 0 ]\n edge [ source 0 target 1 ] ]", `f:2: edge to node "1", which does not exist`},
		{"graph [ edge [ source 0 ] ]", "f:1: edge without a target"},
		{"graph [ node [ id 0 ]\n", "f:2: the list ends too early, want ]"},
		{"graph [ 1 2 ]", `f:1: "1", want a key`},
		{"graph [ a ]", `f:1: key "a" without a value`},
		{"graph [\n a \"x ]", `f:2: text after " is not closed`},
		{"graph [ { ]", "f:1: unexpected character '{'"},
		{"graph [ node [ id 0 ] node [ id 1 ]\nedge [ source 0 target 1 weight -1 ] ]", `f:2: edge weight "-1", want a positive, finite number`},
		{"graph [" + strings.Repeat(" a [", 200), "f:1: more than 100 lists inside each other"},
	})
}

func TestPajek(t *testing.T) {
	d := mustReadText(t, Pajek, "*Network one\r\n*Vertices 3\r\n1 \"x y\"\r\n*Edges\r\n1 2\r\n*Edgeslist\r\n2 3 1\r\n"+
		"*Partition kinds\n*Vertices 3\n1\n2\n1\n*Vector size\n*Vertices 3\n0.5\n1\n2\n"+
		"*Network two\n*Vertices 2\n*Matrix\n0 2\n2 0\n*Vertices 2\n*Matrix\n0 2\n0 1\n*Vertices 2 2\n*Arcs :1 \"likes\"\n1 2 1\n*Arcs :2\n1 2\n*Arcslist\n2 1\n*Events\nx\n")
	for i, want := range []string{
		"id \"one\" target \"\" n 3\n0 \"1\" [0.5]\n1 \"2\" [1]\n2 \"1\" [2]\n0-1 1\n1-2 1",
		"id \"two\" target \"\" n 2\n0 \"\"\n1 \"\"\n0-1 2",
		"id \"\" target \"\" n 2\n0 \"\"\n1 \"\"\n0>1 2\n1>1 1",
		"id \"\" target \"\" n 2\n0 \"\"\n1 \"\"\n0>1 1 \"2|likes\"\n1>0 1 \"\"",
	} {
		wantGraph(t, d.Graphs[i], want)
	}
	if g := d.Graphs[0]; g.Name(0) != "x y" || g.Name(2) != "3" {
		t.Errorf("names %q and %q", g.Name(0), g.Name(2))
	}
	wantWarnings(t, d, "2 parallel edges joined with others", "1 section that is neither vertices nor edges left out",
		`3 graphs without labels among others that have some: their vertices have the label ""`)
	wantErrors(t, Pajek, []errorCase{
		{"1 2\n", `f:1: "1 2", want a section such as *Vertices`},
		{"*Vertices\n", "f:1: *Vertices without their number"},
		{"*Vertices x\n", `f:1: *Vertices "x", want their number`},
		{"*Vertices 99999999\n", "f:1: more than 10000000 vertices, which is the limit"},
		{"*Arcs\n", "f:1: *arcs before *Vertices"},
		{"*Vector\n", "f:1: *vector before the network that it belongs to"},
		{"*Vertices 2\n*Arcs\n1 3\n", `f:3: vertex "3" out of range [1, 2]`},
		{"*Vertices 2\n*Arcs\n1\n", `f:3: "1", want two vertices`},
		{"*Vertices 2\n3 \"x\"\n", `f:2: vertex "3" out of range [1, 2]`},
		{"*Vertices 2\n1 \"x\n", "f:2: text "},
		{"*Vertices 2\n*Matrix\n1 2 3\n", "f:3: row 1 of the matrix has 3 numbers, want 2 rows of as many"},
		{"*Vertices 2\n*Edges\n1 2 -1\n", `f:3: edge weight "-1", want a positive, finite number`},
		{"*Vertices 2\n*Partition\n*Vertices 3\n", "f:3: values of 3 vertices for a network of 2"},
		{"*Vertices 1\n*Partition\n*Vertices 1\n1\n1\n", "f:5: 2 values for 1 vertices"},
	})
}

func TestNodeLink(t *testing.T) {
	// D3: vertices without identifiers; a list of numbers; graphs in a list and after each other.
	d := mustReadText(t, NodeLink, `[{"nodes":[{"name":"u","group":1,"p":[1,2]},{"name":"v","group":2,"p":[3,4]}],"links":[{"source":1,"target":0,"value":3}]},
{"nodes":[{"id":[0,1],"t":"1"},{"id":2,"t":"2"}],"edges":[{"source":[0, 1],"target":2,"key":0}],"graph":[["class","q"],["big",{}]]}]
{"nodes":[],"label":5}`)
	wantGraph(t, d.Graphs[0], "id \"\" target \"\" n 2\n0 [1 1 2]\n1 [2 3 4]\n0-1 3")
	wantGraph(t, d.Graphs[1], "id \"\" target \"q\" n 2\n0\n1\n0-1 1")
	wantGraph(t, d.Graphs[2], "id \"\" target \"5\" n 0")
	if a, b := d.Graphs[0].Name(1), d.Graphs[1].Name(0); a != "v" || b != "[0,1]" {
		t.Errorf("names %q and %q", a, b)
	}
	wantWarnings(t, d, `2 values of node data "t" left out, because they are no numbers`)
	d = mustReadText(t, NodeLink, `{"nodes":[],"graph":{"":1,"a":2}}`) // data without a name
	if picked := d.Select([]int{0}); len(picked.Columns.Names) != 1 || picked.Columns.Values("a")[0] != "2" {
		t.Errorf("columns %q", picked.Columns.Names)
	}
	wantErrors(t, NodeLink, []errorCase{
		{"5", "f:1: 5, want a graph as an object"},
		{"{\n}", `f:2: no field "nodes"`},
		{`{"nodes":3}`, `f:1: field "nodes": want a list of objects`},
		{`{"nodes":[3]}`, `f:1: field "nodes": number, want an object`},
		{"{\"nodes\":[{\"id\":1},\n{\"id\":1}]}", `f:2: second node with the name "1"`},
		{"{\"nodes\":[{\"id\":1},\n{}]}", "f:2: node without an id, which nodes before it have"},
		{"{\"nodes\":[{\"id\":1}],\n\n\"links\":[{\"source\":1,\"target\":2}]}", `f:3: edge to node "2", which does not exist`},
		{"{\"nodes\":[],\n\"links\":[{\"source\":1}]}", "f:2: edge without a target"},
		{"{\"nodes\":[{\"id\":1},{\"id\":2}],\n\"links\":[{\"source\":1,\"target\":2,\"weight\":0}]}", `f:2: edge weight "0", want a positive, finite number`},
		{`{"directed":3}`, `f:1: field "directed": want true or false`},
		{`{"graph":3}`, `f:1: field "graph": want an object`},
		{"{\"nodes\":[\n{", "f:2: the graph ends too early"},
		{"{\"nodes\":[\n!", "f:2: invalid character '!'"},
	})
}
