package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// fuzzOptions keep a fuzzing run fast.
func fuzzOptions(f Format) Options {
	o := DefaultOptions()
	o.Format = f
	o.Limits = Limits{Line: 1 << 16, Record: 1 << 16, Bytes: 1 << 16, Ratio: 200, Vertices: 10000, Edges: 10000, Items: 100000}
	return o
}

// fuzzFormat checks that a reader neither panics nor gives graphs that Graph JSON Lines,
// which can hold everything that UTF-8 can, does not give back.
func fuzzFormat(f *testing.F, format Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadFrom(context.Background(), bytes.NewReader(data), "f", fuzzOptions(format))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error does not name the file: %v", err)
			}
			return
		}
		checkGraphs(t, d)
		o := fuzzOptions(format) // what else may be asked for: an error, or graphs
		o.Clusters, o.NodeLabel, o.EdgeAttributes = true, Nothing, strings.Join(slices.Sorted(maps.Keys(edgeKeys(data, format))), ",")
		if d, err := ReadFrom(context.Background(), bytes.NewReader(data), "f", o); err == nil {
			checkGraphs(t, d)
		}
	})
}

// edgeKeys returns the keys of the edges in a text, without those that have commas.
func edgeKeys(text []byte, format Format) keySet {
	out := keySet{}
	r, err := NewReader(bytes.NewReader(text), "f", fuzzOptions(format))
	for err == nil {
		_, err = r.Next()
		_, keys := r.Keys()
		for _, key := range keys {
			if !strings.Contains(key, ",") && key != "" && utf8.ValidString(key) {
				out[key] = true
			}
		}
	}
	return out
}

func checkGraphs(t *testing.T, d *Dataset) {
	t.Helper()
	Survey(d)
	for _, name := range append([]string{""}, roleNames(d.Columns.Roles.Targets)...) {
		if set, _, err := d.Labelled(name, ""); err == nil {
			set.Merged(set.Repeats(), Info(set).TargetRange != nil)
		}
	}
	var text []byte
	for _, g := range d.Graphs {
		var err error
		if text, err = AppendJSON(text, g); err != nil {
			return // not UTF-8
		}
	}
	o := DefaultOptions()
	o.Format = JSONLines
	e, err := ReadFrom(context.Background(), bytes.NewReader(text), "again", o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range d.Graphs {
		if got, want := describe(e.Graphs[i]), describe(d.Graphs[i]); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func FuzzSMILESFile(f *testing.F) {
	fuzzFormat(f, SMILES, "CO methanol\n# c\n\nc1ccccc1\tbenzene\r\n", "smiles id\n[NH4+].[Cl-]")
}

func FuzzCSV(f *testing.F) {
	fuzzFormat(f, CSV, "Name,SMILES,Activity\r\n\"a, b\",CCO,1\r\n", "smiles\n\"C\"\n", "\"0", "sep=;\n;mol;exp;calc\n1;CCO;1,5;2\n2;OCC;NA;-\n3;[Na+].[Cl-];?;1\n",
		"\xff\xfes\x00m\x00i\x00\n\x00C\x00\n\x00", "NR-AR,NR-ER,mol_id,smiles\n0,1,a,O=n1ccccc1\n,0,b,C1=CC=CC=C1\n1,,c,c1ccccc1\n")
}

func FuzzParquet(f *testing.F) {
	data, err := os.ReadFile("parquet/testdata/none-1-plain.parquet")
	if err != nil {
		f.Fatal(err)
	}
	fuzzFormat(f, Parquet, string(data))
}

func FuzzTSV(f *testing.F) { fuzzFormat(f, TSV, "smiles\ty\nCC\t2.5\n", "a\tsmiles\n\"\tC\n") }

func FuzzSDF(f *testing.F) {
	fuzzFormat(f, SDF, ethanolMol+"> <Activity>\n1\n\n$$$$\n", acetateV3000,
		strings.Replace(ethanolMol, "M  END", "M  CHG  1   1   1\nM  ISO  1   2  13\nM  RAD  1   3   2\nM  END", 1))
}

func FuzzJSONLines(f *testing.F) {
	fuzzFormat(f, JSONLines, `{"id":"g1","nodes":3,"edges":[[0,1],[1,2,0.5]],"node_labels":["C","O","N"],"node_attributes":[[0.1],[0.2],[0.3]],"edge_labels":["-","="],"target":"active"}`,
		`{"nodes":2,"edges":[[1,0],[0,0]],"coordinates":[[1,2],[3,4]],"x":{}}`)
}

func FuzzGraphML(f *testing.F) {
	fuzzFormat(f, GraphML, `<?xml version="1.0"?><graphml><key id="l" for="node" attr.name="label"><default>C</default></key><key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="q" for="all" attr.name="q" attr.type="int"/><graph id="g" edgedefault="directed"><data key="q">1</data><node id="a"><data key="q">1</data></node><node id="b"><data key="q">2</data></node><edge source="a" target="b"><data key="w">2</data></edge></graph></graphml>`)
}

func FuzzGEXF(f *testing.F) {
	fuzzFormat(f, GEXF, gexfSample, `<gexf><graph defaultedgetype="mutual"><nodes><node id="1"/></nodes><edges><edge source="1" target="1"/></edges></graph></gexf>`)
}

func FuzzGML(f *testing.F) {
	fuzzFormat(f, GML, gmlSample, "Creator \"x\"\ngraph [ node [ id 0 graphics [ x 1 y 2 ] l 1 l 2 ] ] # c\ngraph []", `graph [ name "&lt;`)
}

func FuzzPajek(f *testing.F) {
	fuzzFormat(f, Pajek, pajekSample, "*Vertices 2\n*Matrix\n0 1\n1 0\n*Network b\n*Vertices 1\n*Partition p\n*Vertices 1\n3\n*Vector\n*Vertices 1\n.5\n", "*vertices 3\n*edgeslist\n1 2 3\n*arcs :1 \"r\"\n1 1 2\n")
}

func FuzzNodeLink(f *testing.F) {
	fuzzFormat(f, NodeLink, nodeLinkSample, `[{"nodes":[{"name":"a","x":[1,2]},{}],"links":[{"source":0,"target":1,"value":3}],"graph":[["a",1]]}]`)
}

func FuzzDOT(f *testing.F) {
	fuzzFormat(f, DOT, `strict digraph "g" { node [label=C]; a -> b -> {c; d} [weight=2]; subgraph s { e [pos="1,2"] } /* x */ }`, "graph{a--b;b--a}\n#x\ngraph{}", gccCFG, `graph{subgraph cluster{a--b[flow=2]}subgraph clusterB{c;a}b--c[flow=3];c--c[flow=1,style=invis]}`)
}

func FuzzEdgeList(f *testing.F) {
	fuzzFormat(f, EdgeList, "# c\n1 2\n2 3\n7\n", "a,b,0.5,x\nb,a,1,y\n")
}

// FuzzAuto lets the format be recognised, gzip included.
func FuzzAuto(f *testing.F) {
	fuzzFormat(f, Auto, gzippedSeed, "CCO\n", "1 2\n", "graph{a}", "<graphml/>", "{}", ethanolMol, "id,smiles\n1,C\n", "PK\x03\x04")
}

// gzippedSeed is "C\n" as an uncompressed block of gzip.
const gzippedSeed = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x02\x00\xfd\xffC\n\x53\x8b\x66\xa0\x02\x00\x00\x00"

func FuzzTUDataset(f *testing.F) {
	f.Add("1,2\n2,1\n", "1\n1\n2\n", "0\n1\n", "1\n2\n3\n", "0.5,1\n1,2\n3,4\n", "1\n1\n", "2\n2\n", "a\nb\nc\nd\n")
	f.Add("1, 2\r\n 2 ,1\r\n", " 1\r\n1\r\n", "", "1,0\n1 , 0\n", "", "", "", "")
	f.Fuzz(func(t *testing.T, a, indicator, classes, labels, attributes, edgeLabels, edgeAttributes, names string) {
		fsys := fstest.MapFS{}
		for k, v := range map[string]string{"A": a, "graph_indicator": indicator, "graph_labels": classes, "node_labels": labels,
			"node_attributes": attributes, "edge_labels": edgeLabels, "edge_attributes": edgeAttributes, "node_label_names": names} {
			if v != "" || k == "A" || k == "graph_indicator" {
				fsys["X_"+k+".txt"] = &fstest.MapFile{Data: []byte(v)}
			}
		}
		o := fuzzOptions(TUDataset)
		r, err := openTU(fsys, "X", o)
		if err != nil {
			t.Fatal(err)
		}
		d, err := collect(context.Background(), r, o)
		if err != nil {
			return
		}
		checkGraphs(t, d)
	})
}

// FuzzZip reads damaged zip files.
func FuzzZip(f *testing.F) {
	for _, files := range []map[string]string{
		{"X/X_A.txt": "1, 2\n2, 1\n", "X/X_graph_indicator.txt": "1\n1\n2\n", "X/X_graph_labels.txt": "1\n2\n"},
		{"X_A.txt": "", "X_graph_indicator.txt": "1\n", "../X": ""},
	} {
		raw, err := os.ReadFile(tuZip(f, files))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		o := fuzzOptions(TUDataset)
		if err := checkZip(z, int64(len(data)), o.Limits); err != nil {
			return
		}
		r, err := openTU(z, "X", o)
		if err != nil {
			return
		}
		if d, err := collect(context.Background(), r, o); err == nil {
			checkGraphs(t, d)
		}
	})
}
