package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	mlg "github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// variety returns datasets that between them hold everything that a graph can hold.
func variety(t *testing.T) map[string]*Dataset {
	t.Helper()
	drugs, err := Drugs(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	drugs.Graphs = drugs.Graphs[:40]
	full := mustReadText(t, JSONLines, `{"id":"a & <b>","nodes":4,"edges":[[0,1,0.1],[2,3,1e-9]],"node_labels":["1,0","2,0","x \"y\"","é"],"node_attributes":[[0.1,1e300],[0,-5],[1e-300,3],[0.30000000000000004,4]],"edge_labels":["=","long label"],"target":"one, two"}
{"id":"2","nodes":2,"edges":[],"node_labels":["3","4"],"node_attributes":[[1,2],[3,4]],"target":"other"}
{"id":"3","nodes":0,"edges":[],"target":"other"}`)
	plain := mustReadText(t, JSONLines, `{"id":"1","nodes":3,"edges":[[0,1],[1,2]],"target":"0.5"}
{"id":"2","nodes":1,"edges":[],"target":"-1e-7"}`)
	coords := mustReadText(t, SDF, ethanolMol+"$$$$\n")
	return map[string]*Dataset{"drugs": drugs, "scales": Scales(10, 1), "full": full, "plain": plain, "coordinates": coords}
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
				if len(two.Warnings) > 0 {
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
	for e := range g.Edges() {
		if g.HasEdgeLabels() {
			b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
		} else {
			b.AddWeightedEdge(e.U, e.V, e.Weight)
		}
	}
	b.SetTarget(g.Target())
	h, err := b.Build()
	if err != nil {
		panic(err)
	}
	return h
}

func TestRoundTripBenchmark(t *testing.T) {
	d := mustRead(t, shared(t, "MUTAG"))
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
	newline := mustReadText(t, JSONLines, `{"nodes":1,"edges":[],"node_labels":["a\nb"]}`)
	control := mustReadText(t, JSONLines, `{"nodes":1,"edges":[],"node_labels":["a\u0001"]}`)
	for _, c := range []struct {
		path string
		d    *Dataset
		want string
	}{
		{"x", mixed, "1 graphs have vertex labels, 1 have none"},
		{"x", newline, `label "a\nb" cannot be a line of a TUDataset`},
		{"x.graphml", control, `text "a\x01" cannot stand in XML`},
		{"x.smi", mixed, "no writer for format smiles"},
		{"x.zip", mixed, "written as a folder"},
		{"x.json5", mixed, "no format is known by the extension .json5"},
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

// TestWriteFileIsAtomic lets writing fail in every way and expects the old file, and
// nothing else.
func TestWriteFileIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteFile(context.Background(), path, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	check := func(what, want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
	big := bytes.Repeat([]byte("x"), 1<<20)
	fails := errors.New("the writer fails")
	err := WriteFile(context.Background(), path, func(w io.Writer) error { w.Write(big); return fails })
	if !errors.Is(err, fails) {
		t.Error(err)
	}
	check("failing writer", "old")
	ctx, cancel := context.WithCancel(context.Background())
	err = WriteFile(ctx, path, func(w io.Writer) error {
		if _, err := w.Write(big); err != nil {
			return err
		}
		cancel()
		_, err := w.Write(big)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled", "old")
	// Cancelled after the last byte: still not written.
	ctx, cancel = context.WithCancel(context.Background())
	if err := WriteFile(ctx, path, func(w io.Writer) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled at the end", "old")
	if err := WriteFile(context.Background(), path, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); err != nil {
		t.Fatal(err)
	}
	check("success", "new")
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want that of the old file", st.Mode())
	}
	if err := WriteFile(context.Background(), dir, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full on this system")
	}
	err := WriteFile(context.Background(), "/dev/full", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
	if err == nil || err.Error() != "/dev/full: no space left on device" {
		t.Error(err)
	}
	// A batch of which one file cannot be written leaves nothing.
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "k.ids.csv")); err != nil {
		t.Fatal(err)
	}
	m := mlg.NewMatrix(1, 1)
	if err := WriteGram(context.Background(), filepath.Join(dir, "k.npy"), m, Axis{IDs: []string{"a"}}, nil); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func testMatrix() *mlg.Matrix {
	m := mlg.NewMatrix(3, 3)
	copy(m.Data, []float64{1, 0.1, 1.0 / 3, 0.1, 1, math.SmallestNonzeroFloat64, 1.0 / 3, math.SmallestNonzeroFloat64, 1})
	return m
}

func TestWriteGram(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	m := testMatrix()
	rows := Axis{[]string{"a", "b,c", "d"}, []string{"yes", "no", ""}}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, f := range []string{"k.npy", "k.csv", "k.libsvm"} {
		if err := WriteGram(ctx, at(f), m, rows, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadNPY(at("k.npy"))
	if err != nil || got.Rows != 3 || !slices.Equal(got.Data, m.Data) {
		t.Errorf("npy: %v, %v", got, err)
	}
	raw, _ := os.ReadFile(at("k.npy"))
	if len(raw) != 128+72 || raw[127] != '\n' {
		t.Errorf("npy: %d bytes, want a header of 128 and 72", len(raw))
	}
	f, err := os.Open(at("k.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := csv.NewReader(f).ReadAll()
	if err != nil || !slices.Equal(cells[0], []string{"id", "a", "b,c", "d"}) || cells[2][0] != "b,c" {
		t.Fatalf("csv: %v, %v", cells, err)
	}
	for i := range 3 {
		for j := range 3 {
			if x, err := strconv.ParseFloat(cells[i+1][j+1], 64); err != nil || x != m.At(i, j) {
				t.Errorf("csv %d %d: %v, want %v", i, j, x, m.At(i, j))
			}
		}
	}
	lib, _ := os.ReadFile(at("k.libsvm"))
	want := "2 0:1 1:1 2:0.1 3:0.3333333333333333\n1 0:2 1:0.1 2:1 3:5e-324\n0 0:3 1:0.3333333333333333 2:5e-324 3:1\n"
	if string(lib) != want {
		t.Errorf("libsvm: %q, want %q", lib, want)
	}
	ids, _ := os.ReadFile(at("k.ids.csv"))
	if string(ids) != "id,target,label\na,yes,2\n\"b,c\",no,1\nd,,0\n" {
		t.Errorf("ids: %q", ids)
	}
	cross := mlg.NewMatrix(1, 3)
	if err := WriteGram(ctx, at("x.npy"), cross, Axis{IDs: []string{"q"}}, &rows); err != nil {
		t.Fatal(err)
	}
	if c, _ := os.ReadFile(at("x.columns.csv")); string(c) != "id,target\na,yes\n\"b,c\",no\nd,\n" {
		t.Errorf("columns: %q", c)
	}
	for _, c := range []struct {
		name string
		rows Axis
		want string
	}{
		{"k.txt", rows, `unknown extension ".txt"`},
		{"k.npy", Axis{IDs: []string{"a"}}, "1 identifiers and 0 targets for 3 rows"},
	} {
		if err := WriteGram(ctx, at(c.name), m, c.rows, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	var good bytes.Buffer
	if err := writeNPY(&good, testMatrix()); err != nil {
		t.Fatal(err)
	}
	s := good.String()
	for _, c := range []errorCase{
		{"", "not a .npy file"},
		{"hello world", "not a .npy file"},
		{s[:50], "the header breaks off"},
		{strings.Replace(s, "<f8", "<f4", 1), "want numbers of type float64"},
		{strings.Replace(s, "(3, 3)", "(3,3,3)", 1), "want an array of one or two dimensions"},
		{strings.Replace(s, "(3, 3), }   ", "(999999, 9)}", 1), "shape (999999, 9), but the file has 200 bytes"},
		{s[:190], "the data break off"},
		{strings.Replace(s, "\x01\x00", "\x09\x00", 1), "version 9"},
	} {
		if _, err := readNPY(strings.NewReader(c.text), int64(len(s))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
		}
	}
	fortran := strings.Replace(strings.Replace(s, "False", "True ", 1), "(3, 3)", "(9, 1)", 1)
	if m, err := readNPY(strings.NewReader(fortran), int64(len(s))); err != nil || m.Rows != 9 || !slices.Equal(m.Data, testMatrix().Data) {
		t.Errorf("column-major: %v, %v", m, err)
	}
}
