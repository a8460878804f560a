package dataset

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folderOf writes files into a folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpus")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantTargets(t *testing.T, d *Dataset, ids, targets string) {
	t.Helper()
	if got := strings.Join(d.IDs(), " "); got != ids {
		t.Errorf("identifiers %s, want %s", got, ids)
	}
	if got := strings.Join(d.Targets(), " "); got != targets {
		t.Errorf("targets %s, want %s", got, targets)
	}
}

// A folder of files is a dataset. Classes are subfolders, or stand in a table or in the graphs.
func TestFolder(t *testing.T) {
	files := map[string]string{
		"good/a.dot": "digraph main { 1 -> 2 }", "good/deep/.b.dot.gz": string(gzipped(t, "graph { 1 -- 2; 1 -- 2 }")),
		"bad/a.gml": "graph [ node [ id 0 ] ]", "bad/two.jsonl": `{"id":"p","nodes":1,"edges":[]}` + "\n" + `{"nodes":2,"edges":[[0,1]],"target":"worse"}` + "\n",
		"bad/._a.gml": "x", "__MACOSX/x.dot": "x", ".git/x.dot": "x", "README.md": "text", "bad/empty.edges": "",
	}
	ids := "bad/a bad/two/p bad/two/2 good/a good/deep/.b"
	dir := folderOf(t, files)
	d := mustRead(t, dir)
	wantTargets(t, d, ids, "bad bad worse good good")
	wantWarnings(t, d, "1 parallel edge joined with another")
	if d.Name != "corpus" || d.Columns.Roles.Target() != "folder" {
		t.Errorf("name %s, target %s", d.Name, d.Columns.Roles.Target())
	}
	if got := d.Columns.Values("file"); got[0] != "bad/a.gml" || d.Columns.Values("graph")[3] != "main" {
		t.Errorf("files %q", got)
	}
	// The same as a zip file.
	var list []string
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	path := filepath.Join(t.TempDir(), "corpus.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range list {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	wantTargets(t, mustRead(t, path), ids, "bad bad worse good good")
	// A table says more than folders.
	table := "name;class;size\nbad/a.gml;x;3\nnone.dot;y;1\n.b;z;5\ngood/a;w;2\n"
	if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	d = mustRead(t, dir)
	wantTargets(t, d, ids, "x   w z")
	wantWarnings(t, d, "1 row of the table names no file", "2 files without a row in the table", "1 parallel edge joined with another")
	o := DefaultOptions()
	o.TargetColumn = "size"
	d, err = Read(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	wantTargets(t, d, ids, "3   2 5")
	if d.Columns.Roles.Target() != "size" || d.Columns.Values("class")[0] != "x" {
		t.Errorf("roles %v", d.Columns.Roles)
	}
	// One format of several.
	o = DefaultOptions()
	o.Format = GML
	if d, err := Read(t.Context(), dir, o); err != nil || len(d.Graphs) != 1 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestFolderErrors(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"README": "x"}, "corpus: no file …_A.txt, so it is not a TUDataset, and it has no files with graphs either"},
		{map[string]string{"x/a.dot": "graph {", "y/b.dot": "graph {}"}, filepath.Join("corpus", "x", "a.dot") + ":1: the graph ends too early"},
		{map[string]string{"a.dot": "graph {}", "t.csv": "f,y\na.dot,1\na,2\n"}, "t.csv:3: second row for the file a.dot, after line 2"},
		{map[string]string{"a.dot": "graph {}", "t.csv": "f,y\na.dot,1\na\n"}, "t.csv:3: 1 column, want 2 as in the header"},
		{map[string]string{"a.dot": "graph {}", "t.csv": "f,y\na.dot,1\n", "u.tsv": "f\ty\na\t1\n"}, "two tables with names of files, want one"},
	} {
		_, err := Read(t.Context(), folderOf(t, c.files), DefaultOptions())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want …%s", c.files, err, c.want)
		}
	}
	o := DefaultOptions()
	o.TargetColumn = "no"
	_, err := Read(t.Context(), folderOf(t, map[string]string{"a.dot": "graph {}", "t.csv": "f,y\na,1\n"}), o)
	if err == nil || !strings.Contains(err.Error(), `t.csv: no column "no" among "y"`) {
		t.Error(err)
	}
	d := mustRead(t, folderOf(t, map[string]string{"a.dot": "graph {}", "t.csv": "f,y\nz,1\n"}))
	wantTargets(t, d, "a", "")
	wantWarnings(t, d, "1 table left out, because it has no column with the names of files")
}
