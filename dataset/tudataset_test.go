package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func mustRead(t testing.TB, path string) *Dataset {
	t.Helper()
	d, err := Read(context.Background(), path, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestBenchmarkStatistics compares with the table in the README of the datasets.
func TestBenchmarkStatistics(t *testing.T) {
	for _, c := range []struct {
		name            string
		graphs          int
		classes         map[string]int
		labels          int
		nodes, edges    float64
		maxNodes        int
		isolated        int
		edgeLabels, dim int
	}{
		{"MUTAG", 188, map[string]int{"-1": 63, "1": 125}, 7, 17.93, 19.79, 28, 0, 4, 0},
		{"PTC", 344, map[string]int{"-1": 192, "1": 152}, 19, 25.56, 25.96, 109, 0, 0, 0},
		{"ENZYMES", 600, map[string]int{"1": 100, "2": 100, "3": 100, "4": 100, "5": 100, "6": 100}, 3, 32.63, 62.14, 126, 106, 0, 18},
		{"PROTEINS", 1113, map[string]int{"1": 663, "2": 450}, 3, 39.06, 72.82, 620, 5, 0, 1},
		{"NCI1", 4110, map[string]int{"0": 2053, "1": 2057}, 37, 29.87, 32.30, 111, 428, 0, 0},
		{"NCI109", 4127, map[string]int{"0": 2048, "1": 2079}, 38, 29.68, 32.13, 111, 474, 0, 0},
		{"PTC_MR", 344, map[string]int{"-1": 192, "1": 152}, 18, 14.29, 14.69, 64, 0, 4, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := mustRead(t, graphtest.Dataset(t, c.name))
			if d.Name != c.name || len(d.Graphs) != c.graphs || len(d.Warnings) != 0 {
				t.Errorf("%s: %d graphs, warnings %v; want %s, %d, none", d.Name, len(d.Graphs), d.Warnings, c.name, c.graphs)
			}
			classes, labels, edgeLabels := map[string]int{}, map[string]bool{}, map[string]bool{}
			nodes, edges, most, isolated := 0, 0, 0, 0
			for _, g := range d.Graphs {
				classes[g.Target()]++
				nodes += g.N()
				edges += g.M()
				most = max(most, g.N())
				for v := range g.N() {
					labels[g.Label(v)] = true
					if g.Degree(v) == 0 {
						isolated++
					}
				}
				for e := range g.Edges() {
					edgeLabels[e.Label] = true
				}
				if g.AttributeDim() != c.dim {
					t.Fatalf("graph %s: %d attributes, want %d", g.ID(), g.AttributeDim(), c.dim)
				}
			}
			delete(edgeLabels, "")
			mean := func(sum int) float64 { return math.Round(100*float64(sum)/float64(len(d.Graphs))) / 100 }
			if mean(nodes) != c.nodes || mean(edges) != c.edges || most != c.maxNodes || isolated != c.isolated {
				t.Errorf("means %v, %v, max %d, isolated %d; want %v, %v, %d, %d", mean(nodes), mean(edges), most, isolated, c.nodes, c.edges, c.maxNodes, c.isolated)
			}
			if len(labels) != c.labels || len(edgeLabels) != c.edgeLabels {
				t.Errorf("%d labels, %d edge labels; want %d, %d", len(labels), len(edgeLabels), c.labels, c.edgeLabels)
			}
			for k, n := range c.classes {
				if classes[k] != n || len(classes) != len(c.classes) {
					t.Errorf("classes %v, want %v", classes, c.classes)
				}
			}
		})
	}
}

// tuFolder writes the files of a TUDataset called X.
func tuFolder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for k, v := range files {
		if err := os.WriteFile(filepath.Join(dir, "X_"+k+".txt"), []byte(v), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tuZip(t testing.TB, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for k, v := range files {
		w, err := z.Create(k)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "X.zip")
	if err := os.WriteFile(path, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func edgesOf(g *graph.Graph) []graph.Edge { return slices.Collect(g.Edges()) }

// TestTUQuirks reads CRLF, blanks, padded numbers, several label columns, an empty graph,
// an isolated vertex, vertices of a graph that do not follow each other, self-loops,
// edges in one direction and weights that differ by direction.
func TestTUQuirks(t *testing.T) {
	files := map[string]string{
		"A":               "1, 2\r\n2,1\r\n  2 ,  4\r\n4, 2\r\n1,4\r\n1,1\r\n",
		"graph_indicator": "1\r\n1\r\n3\r\n1\r\n1\r\n",
		"graph_labels":    " 7\r\n-1\r\n 40\r\n\r\n",
		"node_labels":     "1, 0\r\n 2,0\r\n3,1\r\n1 ,  0\r\n9,9",
		"node_attributes": "  1.5, -2e3\r\n 0.1,2\r\n3,4\r\n5,6\r\n7,8\r\n",
		"edge_labels":     "5\r\n5\r\n6\r\n6\r\n5\r\n5\r\n",
		"edge_attributes": "1\r\n3\r\n2.0\r\n2\r\n1\r\n1\r\n",
	}
	inZip := map[string]string{"__MACOSX/._X_A.txt": "\x00"}
	for k, v := range files {
		inZip["X/X_"+k+".txt"] = v
	}
	for _, path := range []string{tuFolder(t, files), tuZip(t, inZip)} {
		d := mustRead(t, path)
		if d.Name != "X" || len(d.Graphs) != 3 {
			t.Fatalf("%q with %d graphs, want X with 3", d.Name, len(d.Graphs))
		}
		if got, want := d.Targets(), []string{"7", "-1", "40"}; !slices.Equal(got, want) {
			t.Errorf("targets %q, want %q", got, want)
		}
		g := d.Graphs[0]
		if got, want := g.Labels(), []string{"1,0", "2,0", "1,0", "9,9"}; !slices.Equal(got, want) {
			t.Errorf("labels %q, want %q", got, want)
		}
		want := []graph.Edge{{U: 0, V: 0, Weight: 1, Label: "5"}, {U: 0, V: 1, Weight: 1, Label: "5"}, {U: 0, V: 2, Weight: 1, Label: "5"},
			{U: 1, V: 0, Weight: 3, Label: "5"}, {U: 1, V: 2, Weight: 2, Label: "6"}, {U: 2, V: 1, Weight: 2, Label: "6"}}
		if got := slices.Collect(g.Arcs()); !slices.Equal(got, want) {
			t.Errorf("edges %v, want %v", got, want)
		}
		if got, want := g.Attributes(0), []float64{1.5, -2000}; !slices.Equal(got, want) {
			t.Errorf("attributes %v, want %v", got, want)
		}
		if n := []int{d.Graphs[1].N(), d.Graphs[2].N()}; !slices.Equal(n, []int{0, 1}) {
			t.Errorf("sizes %v, want 0 1", n)
		}
		wantWarnings(t, d, "1 edge has one direction only, so the graphs are directed")
	}
}

func TestTURegressionTargets(t *testing.T) {
	files := map[string]string{"A": "", "graph_indicator": "1\n2\n", "graph_attributes": "0.5, 1\n-2e-3, 4\n"}
	d := mustRead(t, tuFolder(t, files))
	if got := d.Targets(); !slices.Equal(got, []string{"0.5", "-2e-3"}) {
		t.Errorf("targets %q", got)
	}
	o := DefaultOptions()
	o.TargetColumn = "2"
	d, err := Read(context.Background(), tuFolder(t, files), o)
	if err != nil || !slices.Equal(d.Targets(), []string{"1", "4"}) {
		t.Errorf("column 2: %v, %v", d, err)
	}
}

func TestTUErrors(t *testing.T) {
	base := func(over map[string]string) map[string]string {
		f := map[string]string{"A": "1,2\n2,1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n1\n"}
		for k, v := range over {
			f[k] = v
		}
		return f
	}
	for _, c := range []struct{ file, text, want string }{
		{"A", "1,2\n2,1\n4,1\n", "X_A.txt:3: vertex 4 out of range [1, 3]"},
		{"A", "1,2\n0,1\n", "X_A.txt:2: vertex 0 out of range [1, 3]"},
		{"A", "1 2\n", `X_A.txt:1: "1 2", want two vertex numbers with a comma between them`},
		{"A", "1\n", `X_A.txt:1: "1", want two vertex numbers with a comma between them`},
		{"A", "1,2,3\n", `X_A.txt:1: "1,2,3", want two vertex numbers with a comma between them`},
		{"A", "1,2\n1,2,3\n", `X_A.txt:2: "1,2,3", want two vertex numbers with a comma between them`},
		{"A", "1,\n", `X_A.txt:1: "1,", want two vertex numbers with a comma between them`},
		{"A", "1,99999999999\n", `X_A.txt:1: "1,99999999999", want two vertex numbers with a comma between them`},
		{"A", "1,2\n\n2,1\n", "X_A.txt:2: empty line"},
		{"A", "2,3\n", "X_A.txt:1: edge from vertex 2 in graph 1 to vertex 3 in graph 2, want both in one graph"},
		{"graph_indicator", "1\n1\n3\n", "X_graph_indicator.txt:3: graph 3 out of range [1, 2] of X_graph_labels.txt"},
		{"graph_indicator", "1\nx\n", `X_graph_indicator.txt:2: "x", want a whole number`},
		{"graph_labels", "0\n1\n1\n", "X_graph_labels.txt: 3 lines, want 2, one for every graph in X_graph_indicator.txt"},
		{"graph_attributes", "0\n1\n1\n", "X_graph_attributes.txt: 3 lines, want 2, one for every graph in X_graph_indicator.txt"},
		{"graph_indicator", "", "X_graph_labels.txt: 2 lines, want 0, one for every graph in X_graph_indicator.txt"},
		{"node_labels", "1\n1\n", "X_node_labels.txt: 2 lines, want 3, one for every vertex in X_graph_indicator.txt"},
		{"edge_labels", "1\n", "X_edge_labels.txt: 1 line, want 2, one for every line of X_A.txt"},
		{"node_attributes", "1,2\n1\n2,2\n", "X_node_attributes.txt:2: 1 column, want 2 as in the first line"},
		{"node_attributes", "1\nnan\n2\n", `X_node_attributes.txt:2: column 1: "nan", want a finite number`},
		{"node_attributes", "1\n1e999\n2\n", `X_node_attributes.txt:2: column 1: the number "1e999" is too large`},
	} {
		_, err := Read(context.Background(), tuFolder(t, base(map[string]string{c.file: c.text})), DefaultOptions())
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %q:\n got %v\nwant %s", c.file, c.text, err, c.want)
		}
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"readme.txt"}, "no file …_A.txt, so it is not a TUDataset"},
		{[]string{"X_A.txt"}, "no file X_graph_indicator.txt"},
		{[]string{"X_A.txt", "Y_A.txt"}, "several datasets"},
		{[]string{"../X_A.txt"}, `name "../X_A.txt" points outside the zip file`},
		{[]string{"/etc/X_A.txt"}, `points outside the zip file`},
		{[]string{`..\X_A.txt`}, `points outside the zip file`},
	} {
		f := map[string]string{}
		for _, n := range c.names {
			f[n] = ""
		}
		_, err := Read(context.Background(), tuZip(t, f), DefaultOptions())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want …%s", c.names, err, c.want)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, s := range []string{"0", "-0", "1", "-1.5", ".5", "5.", "123456789012345", "0.000000000000001",
		"1234567890123456789", "1e5", "-2.5E-3", "0.1", "93.900000", "3.141592653589793", "+4"} {
		got, err := decimal([]byte(s))
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		// strconv is the reference.
		want := mustFloat(t, s)
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	for _, s := range []string{"", ".", "-", "1.2.3", "x", "1,2", "inf", "1 2"} {
		if x, err := decimal([]byte(s)); err == nil {
			t.Errorf("%q: %v, want an error", s, x)
		}
	}
}

func TestEdgeWeight(t *testing.T) {
	b := graph.NewBuilder(6)
	for i, l := range []string{"-", "=", "#", ":", "2.5"} {
		b.AddLabeledEdge(i, i+1, 7, l)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w    EdgeWeight
		want []float64
	}{
		{UnitWeight, []float64{1, 1, 1, 1, 1}},
		{GivenWeight, []float64{7, 7, 7, 7, 7}},
		{OrderWeight, []float64{1, 2, 3, 1.5, 2.5}},
	} {
		h, err := c.w.apply(g)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for e := range h.Edges() {
			got = append(got, e.Weight)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.w, got, c.want)
		}
	}
	order := func(o *Options) { o.EdgeWeight = OrderWeight }
	for _, label := range []string{"x", "-3", "0", "inf"} {
		_, err := readText(JSONLines, `{"nodes":2,"edges":[[0,1]],"edge_labels":["`+label+`"]}`, order)
		if err == nil || !strings.HasPrefix(err.Error(), "f: graph 1: edge (0, 1): label ") {
			t.Errorf("label %q: %v", label, err)
		}
	}
	if _, err := readText(JSONLines, `{"nodes":2,"edges":[[0,1]],"edge_labels":[""]}`, order); err == nil || !strings.HasSuffix(err.Error(), "edges have no labels to take weights from") {
		t.Error(err)
	}
	// Every way to read gives the same weights.
	o := DefaultOptions()
	o.EdgeWeight = OrderWeight
	g, err = ParseSMILES("C=O", o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := readText(SMILES, "C=O", order)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*graph.Graph{g, d.Graphs[0]} {
		wantGraph(t, h, "id \"\" target \"\" n 2\n0 \"C\"\n1 \"O\"\n0-1 2 \"=\"")
	}
}

func BenchmarkReadNCI1(b *testing.B) {
	path := graphtest.Dataset(b, "NCI1")
	for b.Loop() {
		mustRead(b, path)
	}
}

// Columns of edge_attributes that are chosen make vertices of edges, as keys of networks do.
func TestTUEdgeAttributes(t *testing.T) {
	read := func(a, edgeAttributes string, change func(*Options)) (*Dataset, error) {
		fsys := fstest.MapFS{}
		for k, v := range map[string]string{"A": a, "graph_indicator": "1\n1\n1\n2\n2\n", "node_labels": "C\nN\nO\nC\nC\n", "node_attributes": "1,2\n3,4\n5,6\n7,8\n9,10\n",
			"edge_attributes": edgeAttributes} {
			fsys["X_"+k+".txt"] = &fstest.MapFile{Data: []byte(v)}
		}
		o := DefaultOptions()
		change(&o)
		r, err := openTU(fsys, "X", o)
		if err != nil {
			t.Fatal(err)
		}
		return collect(t.Context(), r, o)
	}
	chosen := func(keys string) func(*Options) { return func(o *Options) { o.EdgeAttributes = keys } }
	both := "1,2\n2,1\n2,3\n3,2\n4,5\n5,4\n"
	d, err := read(both, "1,-2\n3,-4\n5,6\n5,6\n0,0\n0,0\n", chosen("2,1"))
	if err != nil {
		t.Fatal(err)
	}
	want := mustReadText(t, JSONLines, `{"nodes":5,"edges":[[0,3],[3,1],[1,4],[4,2]],"node_labels":["C","N","O","edge ","edge "],"node_attributes":[[1,2,0,0],[3,4,0,0],[5,6,0,0],[0,0,-3,2],[0,0,6,5]]}`).Graphs[0]
	if !d.Graphs[0].Equal(want.With("1", "")) || d.Graphs[0].Directed() || len(d.Warnings) > 0 {
		t.Errorf("%v, want %v; %q", d.Graphs[0], want, d.Warnings)
	}
	// Each line of directed graphs is an arc.
	d, err = read("1,2\n2,1\n2,3\n4,5\n", "1\n2\n3\n4\n", func(o *Options) { o.EdgeAttributes, o.Attributes, o.NodeLabel = "1", "2", Nothing })
	if err != nil {
		t.Fatal(err)
	}
	want = mustReadText(t, JSONLines, `{"nodes":6,"directed":true,"edges":[[0,3],[3,1],[1,4],[4,0],[1,5],[5,2]],"node_attributes":[[2,0],[4,0],[6,0],[0,1],[0,2],[0,3]]}`).Graphs[0]
	if !d.Graphs[0].Equal(want.With("1", "")) {
		t.Errorf("%v, want %v", d.Graphs[0], want)
	}
	if _, err := read(both, "1\n1\n1\n1\n1\n1\n", chosen("2")); err == nil || !strings.Contains(err.Error(), `edge attribute "2", want a number from 1 to 1`) {
		t.Errorf("error %v", err)
	}
	d, err = read(both, "2\n2\n1\n1\n1\n1\n", func(o *Options) { o.EdgeAttributes, o.inherited = "flow", true })
	if err != nil || d.Graphs[0].N() != 3 || !strings.Contains(strings.Join(d.Warnings, " "), `no edge data "flow" of the model`) {
		t.Errorf("a key of a model: %v, %q, %v", d, d.Warnings, err)
	}
}
