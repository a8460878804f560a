package explorer

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
)

// upload sends a file and decodes the answer, which must be there.
func (t *tester) upload(query, body string) (out uploadAnswer) {
	t.Helper()
	code, said := t.do("POST", uploadPath+"?"+query, body, "")
	if code != 200 {
		t.Fatalf("%s: %d %s", query, code, said)
	}
	if err := json.Unmarshal(said, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// solubility is a table as people have it, with rows that cannot be read.
const solubility = "Name,Series,measured logS,SMILES,weight\n" +
	"ethanol,alcohols,1.10,CCO,46\nmethanol,alcohols,1.57,CO,32\nbutane,alkanes,-2.57,CCCC,58\nbroken,alkanes,1.5,CC(,0\n" +
	"pentane,alkanes,NA,CCCCC,72\nshort,alkanes\nhexane,alkanes,-3.95,CCCCCC,86\nbenzene,rings,-1.64,c1ccccc1,78\n"

// A table becomes a source, with the columns that are suggested or chosen; what is left out is told.
func TestUpload(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=solubility.csv&check=true", solubility)
	if a.Source != "" || a.Name != "solubility" || a.Format != "csv" || a.Graphs != 6 || a.Skipped != 2 || a.Bytes != int64(len(solubility)) || a.All != 6 {
		t.Errorf("a check says %+v", a)
	}
	if a.Target != "measured logS" || a.ID != "Name" || a.Structure != "SMILES" || a.Color != "" {
		t.Errorf("suggested target %q, id %q, structure %q", a.Target, a.ID, a.Structure)
	}
	if r := a.SkippedRows; len(r) != 2 || r[0].Line != 5 || !strings.Contains(r[0].Reason, "branch is not closed") || r[1].Line != 7 || !strings.Contains(r[1].Reason, "2 columns, want 5") {
		t.Errorf("left out %+v", r)
	}
	var roles []string
	for _, c := range a.Columns {
		roles = append(roles, fmt.Sprintf("%s:%s:%d:%v:%d", c.Name, c.Role, c.Distinct, c.Numeric, c.Missing))
	}
	if want := "Name:id:6:false:0 Series::3:false:0 measured logS:target:5:true:1 SMILES:structure:6:false:0 weight::6:true:0"; strings.Join(roles, " ") != want {
		t.Errorf("columns %q, want %q", roles, want)
	}
	var all sourcesAnswer
	if s.get("/api/v1/sources", &all); len(all.Sources) != 1 {
		t.Errorf("a check keeps %+v", all.Sources)
	}

	a = s.upload("name=solubility.csv&target=measured+logS&color=Series", solubility)
	if a.Task != regression || a.Target != "measured logS" || a.Color != "Series" || !strings.HasPrefix(a.Source, "solubility-") {
		t.Errorf("chosen %+v", a)
	}
	if s.get("/api/v1/sources", &all); len(all.Sources) != 2 || !all.Sources[0].Given || all.Sources[1].ID != a.Source || all.Sources[1].Given || all.Sources[1].Graphs != 6 {
		t.Errorf("sources %+v", all.Sources)
	}
	var info infoAnswer
	s.get("/api/v1/info?source="+a.Source, &info)
	if info.Graphs != 6 || info.Task != regression || info.Source != a.Source || info.Given || info.TargetName != "measured logS" || info.ColumnName != "Series" {
		t.Errorf("info %+v", info)
	}
	var g graphsAnswer
	s.get("/api/v1/graphs?source="+a.Source, &g)
	if !slices.Equal(g.IDs, []string{"ethanol", "methanol", "butane", "pentane", "hexane", "benzene"}) || !slices.Equal(g.Targets, []string{"1.10", "1.57", "-2.57", "", "-3.95", "-1.64"}) {
		t.Errorf("graphs %+v", g)
	}
	var m mapAnswer
	if s.get("/api/v1/map?source="+a.Source, &m); len(m.PCA.X) != 6 {
		t.Errorf("map of %d graphs", len(m.PCA.X))
	}
	if s.get("/api/v1/map", &m); len(m.PCA.X) != len(s.server.given().data.IDs) {
		t.Errorf("map of %d graphs without a source", len(m.PCA.X))
	}
	var said predictAnswer
	s.post("/api/v1/predict?source="+a.Source, `{"graphs":[{"smiles":"CCO"}],"k":1}`, &said)
	if n := said.Predictions[0].Nearest; len(n) != 1 || n[0].ID != "ethanol" {
		t.Errorf("neighbours of ethanol in the source %+v", n)
	}

	// No target is a choice as well; equal choices are the same source, whenever it is uploaded.
	none := s.upload("name=solubility.csv&target=&id=", solubility)
	if none.Task != noTask || none.Target != "" || none.Source == a.Source {
		t.Errorf("without target %+v", none)
	}
	other := newTester(t, s.spec, someDrugs(t), nil)
	if b := other.upload("name=solubility.csv&target=measured+logS&color=Series", solubility); b.Source != a.Source {
		t.Errorf("the same file is %s and %s", a.Source, b.Source)
	}
	if other.server.given().id != s.server.given().id {
		t.Error("the data of the start has another name after a restart")
	}
}

// A text among numbers counts as not measured, for the learner too.
func TestTextsAmongNumbers(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	text := "smiles,pIC50\n"
	for i := range 30 {
		value := fmt.Sprintf("%.2f", 0.37*float64(i))
		if i == 4 {
			value = ">10"
		}
		text += strings.Repeat("C", i+1) + "O," + value + "\n"
	}
	a := s.upload("name=odd.csv", text)
	if a.Task != regression || a.Unmeasured.Count != 1 || a.Unmeasured.First[0].Line != 6 {
		t.Fatalf("read %+v", a)
	}
	var info infoAnswer
	if s.get("/api/v1/info?source="+a.Source, &info); info.Unmeasured.Count != 1 || info.Unmeasured.First[0].Line != 6 {
		t.Errorf("info %+v", info.Unmeasured)
	}
	var e evaluation
	if s.get("/api/v1/evaluate?source="+a.Source, &e); e.Graphs != 29 || e.R2 == nil || slices.Contains(e.Index, 4) {
		t.Errorf("evaluated %+v", e)
	}
	var said predictAnswer
	s.post("/api/v1/predict?source="+a.Source, `{"graphs":[{"index":4}]}`, &said)
	if p := said.Predictions[0]; p.Value == nil || !p.HeldOut {
		t.Errorf("the graph without a number is said to be %+v", p)
	}
}

// A file that was checked is there for further requests, and is read anew only where it is to be read in another way.
func TestChecked(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=solubility.csv&check=true", solubility)
	if a.File == "" {
		t.Fatalf("a check says %+v", a)
	}
	first := s.server.checked[0].read
	b := s.upload("name=solubility.csv&check=true&target=weight&file="+a.File, "")
	if b.Target != "weight" || b.File != a.File || b.Bytes != a.Bytes || b.Graphs != a.Graphs || len(s.server.checked) != 1 || s.server.checked[0].read != first {
		t.Errorf("checked again: %+v", b)
	}
	c := s.upload("name=solubility.csv&check=true&atom_hydrogens=true&file="+a.File, "")
	if !strings.Contains(c.Compared, "hydrogens") || s.server.checked[0].read == first {
		t.Errorf("read in another way: %+v", c)
	}
	made := s.upload("name=solubility.csv&target=measured+logS&color=Series&file="+a.File, "")
	if sent := s.upload("name=solubility.csv&target=measured+logS&color=Series", solubility); made.Source != sent.Source || made.Skipped != sent.Skipped || made.Bytes != sent.Bytes {
		t.Errorf("made of the file that was checked %+v, of one that is sent %+v", made, sent)
	}
	code, said := s.do("POST", uploadPath+"?name=solubility.csv&file="+a.File, "", "")
	if code != 422 || !strings.Contains(string(said), `"field":"file"`) || len(s.server.checked) != 0 {
		t.Errorf("a file that is used up: %d %s", code, said)
	}
	for range maxChecked + 1 {
		a = s.upload("name=solubility.csv&check=true", solubility)
	}
	if len(s.server.checked) != maxChecked || s.server.checked[0].id != a.File {
		t.Errorf("%d files are kept", len(s.server.checked))
	}
	s.server.checked[0].text = nil // as of a large one
	if code, said := s.do("POST", uploadPath+"?name=solubility.csv&atom_hydrogens=true&check=true&file="+a.File, "", ""); code != 422 || !strings.Contains(string(said), "send it again") {
		t.Errorf("a large file that is to be read in another way: %d %s", code, said)
	}
	if b := s.upload("name=solubility.csv&target=weight&file="+a.File, ""); b.Target != "weight" || b.Source == "" {
		t.Errorf("a large file: %+v", b)
	}
}

// Of several columns of structures the ones that are not read are named, in the report and of the data.
func TestUnreadStructures(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	text := "ligand,solvent,yield\n"
	for i := range 12 {
		text += strings.Repeat("C", i+3) + "O,CC(=O)" + strings.Repeat("N", i%4+1) + "C," + fmt.Sprint(3*i) + "\n"
	}
	want := "of the columns of structures only ligand is read, not solvent"
	a := s.upload("name=yields.csv", text)
	if !slices.Contains(a.Warnings, want) {
		t.Errorf("warnings %q", a.Warnings)
	}
	var info infoAnswer
	if s.get("/api/v1/info?source="+a.Source, &info); !slices.Contains(info.Warnings, want) {
		t.Errorf("warnings of the data %q", info.Warnings)
	}
}

// Every format can be uploaded, and compressed ones.
func TestUploadFormats(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var z, gz bytes.Buffer
	w := zip.NewWriter(&z)
	for name, text := range map[string]string{"X_A.txt": "1, 2\n2, 1\n3, 4\n4, 3\n", "X_graph_indicator.txt": "1\n1\n2\n2\n", "X_graph_labels.txt": "0\n1\n", "X_graph_attributes.txt": "0.5, 7\n1.5, 8\n"} {
		f, err := w.Create("X/" + name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, text)
	}
	w.Close()
	var folder bytes.Buffer
	w = zip.NewWriter(&folder)
	for _, name := range []string{"p/a.dot", "q/a.dot"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "graph { 1 -- 2 }")
	}
	w.Close()
	c := gzip.NewWriter(&gz)
	io.WriteString(c, "CCO a\nCCN b\n")
	c.Close()
	for _, f := range []struct{ name, text, want string }{
		{"x.smi", "CCO a\nC((\nCCN b\n", "smiles 2 1 none target= id=name"},
		{"x.smi.gz", gz.String(), "smiles 2 0 none target= id=name"},
		{"x.tsv", "smiles\tclass\nCCO\ta\nCCN\tb\n", "tsv 2 0 classification target=class id="},
		{"x.jsonl", `{"nodes":1,"edges":[],"id":"a","size":0.5}` + "\n{]\n" + `{"nodes":2,"edges":[[0,1]],"id":"b","size":1.5}`, "jsonl 2 1 regression target=size id=id"},
		{"x.dot", "graph a {class=p; 1--2} graph b {class=q; 1--2; 2--3}", "dot 2 0 classification target=class id="},
		{"x.edges", "1 2\n2 3\n", "edgelist 1 0 none target= id="},
		{"x.gml", `graph [ class "p" node [ id 0 ] ]`, "gml 1 0 classification target=class id="},
		{"files.zip", folder.String(), "dot 2 0 classification target=folder id="},
		{"x.zip", z.String(), "tudataset 2 0 classification target=label id="},
		{"x.zip&target=1", z.String(), "tudataset 2 0 regression target=1 id="},
		{"x.graphml", `<graphml><key id="k" for="graph" attr.name="class" attr.type="string"/><graph id="a" edgedefault="undirected"><data key="k">p</data><node id="1"/></graph></graphml>`,
			"graphml 1 0 classification target=class id="},
	} {
		a := s.upload("name="+f.name, f.text)
		if got := fmt.Sprintf("%s %d %d %s target=%s id=%s", a.Format, a.Graphs, a.Skipped, a.Task, a.Target, a.ID); got != f.want {
			t.Errorf("%s: %s, want %s", f.name, got, f.want)
		}
	}
}

// Keys of the data of vertices and edges are told, and chosen.
func TestUploadKeys(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	const text = `graph { a [kind=x, size=1]; b [kind=y, size=2]; a -- b [rel=r, flow=2] }`
	a := s.upload("name=g.dot&check=true", text)
	if got := fmt.Sprint(a.NodeKeys, a.EdgeKeys, " ", a.Compared); got != "[kind size] [flow rel] vertices by attributes" {
		t.Error(got)
	}
	a = s.upload("name=g.dot&check=true&node_label=kind&attributes=none&edge_label=rel&edge_weight=flow", text)
	if got := fmt.Sprint(a.Compared, " ", a.Warnings); got != `vertices by label, edges by label [2 values of node data "size" left out, because they are not chosen]` {
		t.Error(got)
	}
	if code, said := s.do("POST", uploadPath+"?name=g.dot&node_label=knid", text, ""); code != 422 || !strings.Contains(string(said), "no node has data") {
		t.Errorf("%d %s", code, said)
	}
}

// Edges of an edge list are arcs where the user says so.
func TestUploadDirected(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for query, want := range map[string]string{"name=g.edges&check=true": "vertices by degree", "name=g.edges&check=true&directed=true": "vertices by degree, arcs by direction"} {
		if a := s.upload(query, "a b\nb c\nc a\n"); a.Compared != want {
			t.Errorf("%s: compared %q, want %q", query, a.Compared, want)
		}
	}
}

// A new graph in another format is read like data whose keys were chosen. Names of vertices are told.
func TestUploadNames(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=g.dot&node_label=kind", `graph one { class=x; main [kind=p]; read [kind=q]; main -- read }
graph two { class=y; main [kind=p]; listen [kind=p]; main -- listen }
graph three { class=x; main [kind=p]; read [kind=q]; main -- read; main -- close; close [kind=q] }
graph four { class=y; main [kind=p]; listen [kind=p]; main -- listen; main -- close; close [kind=p] }`)
	var g struct {
		Graph struct {
			Names []string `json:"node_names"`
		}
	}
	if s.get("/api/v1/graph/1?source="+a.Source, &g); !slices.Equal(g.Graph.Names, []string{"main", "listen"}) {
		t.Errorf("names %q", g.Graph.Names)
	}
	var e explain.Explanation
	s.post("/api/v1/explain?source="+a.Source, `{"kernel":"wl","graph":{"index":2}}`, &e)
	if !slices.Equal(e.Names, []string{"main", "read", "close"}) {
		t.Errorf("names %q", e.Names)
	}
	var near struct{ Neighbours []model.Neighbour }
	s.post("/api/v1/neighbours?source="+a.Source, `{"kernel":"wl","k":1,"graph":{"graph":{"nodes":2,"edges":[[0,1]],"node_labels":["p","q"]}}}`, &near)
	if len(near.Neighbours) != 1 || near.Neighbours[0].ID != "one" || near.Neighbours[0].Similarity != 1 {
		t.Errorf("neighbours %+v of a graph without keys", near.Neighbours)
	}
}

// Of more graphs than are taken an even sample is, with its lines and columns; the last few sources are kept.
func TestUploadLimits(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), func(o *Options) { o.UploadGraphs = 3 })
	a := s.upload("name=x.smi", "C\nCC\nCCC\nCCCC\n"+strings.Repeat("CCCCC\n", 200_000))
	if a.Graphs != 2 || a.All != 200_004 || a.Bytes < 1_200_000 {
		t.Errorf("%d graphs of %d in %d bytes", a.Graphs, a.All, a.Bytes)
	}
	some := newTester(t, readSpec(t), someDrugs(t), func(o *Options) { o.UploadGraphs = 8 })
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "%sO,n%d,%d\n", strings.Repeat("C", 1+i%9), i, i)
	}
	sample := some.upload("name=x.csv&target=y", "smiles,name,y\n"+b.String())
	d := some.server.sources[0].data
	for _, x := range some.server.sources {
		if x.id == sample.Source {
			d = x.data
		}
	}
	if !slices.Equal(d.IDs, []string{"n0", "n16", "n32", "n48", "n64", "n80", "n96"}) || d.value[2] != 32 || d.lines[2] != 34 || sample.All != 100 {
		t.Errorf("a sample %q %v %v of %d", d.IDs, d.value, d.lines, sample.All)
	}
	for n := range maxSources {
		s.upload(fmt.Sprintf("name=y%d.smi", n), "C\nCC\n")
		s.do("GET", "/api/v1/map?source="+a.Source, "", "") // in memory while the source is
	}
	var all sourcesAnswer
	if s.get("/api/v1/sources", &all); len(all.Sources) != 1+maxSources || all.Sources[1].Name != fmt.Sprintf("y%d", maxSources-1) {
		t.Errorf("sources %+v", all.Sources)
	}
	if code, out := s.do("GET", "/api/v1/info?source="+a.Source, "", ""); code != 404 || !strings.Contains(message(out), "load the file again") {
		t.Errorf("the oldest source: %d %s", code, out)
	}
	for _, x := range s.server.recent {
		if x.s.id == a.Source {
			t.Error("a session of a source that is gone")
		}
	}
	// Of many columns any may be chosen, and of two of one name the first.
	head, row := "smiles", "CCO"
	for i := range 1000 {
		head, row = head+fmt.Sprintf(",c%d", i), row+fmt.Sprintf(",%d.5", i)
	}
	wide := s.upload("name=wide.csv&target=c998", head+",c998\n"+row+",7\n"+row+",8\n")
	var g graphsAnswer
	if s.get("/api/v1/graphs?source="+wide.Source, &g); !slices.Equal(g.Targets, []string{"998.5", "998.5"}) || len(wide.Columns) != 1002 {
		t.Errorf("targets %v of %d columns", g.Targets, len(wide.Columns))
	}
	// Targets that are names are no classes.
	var text strings.Builder
	text.WriteString("smiles,class\n")
	for i := range maxClasses + 1 {
		fmt.Fprintf(&text, "CC,name%d\n", i)
	}
	s.server.o.UploadGraphs = 1000
	if a := s.upload("name=names.csv", text.String()); a.Task != noTask || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "too many for classes") {
		t.Errorf("%d names as targets: %s, warnings %q", maxClasses+1, a.Task, a.Warnings)
	}
}

// endless is a body that comes for ever, as fast as it is told.
type endless struct{ pause time.Duration }

func (e endless) Read(p []byte) (int, error) {
	time.Sleep(e.pause)
	return copy(p, "CCO\n"), nil
}

// An upload that its client gives up is no longer read, and one that comes too slowly is refused.
func TestUploadCancelled(t *testing.T) {
	r := serve(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "POST", "http://"+r.addr+uploadPath+"?name=x.smi&key=k", endless{time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/octet-stream")
	if _, err := http.DefaultClient.Do(q); err == nil {
		t.Error("an answer to a cancelled upload")
	}
	for begin := time.Now(); r.server.uploaded("k") != nil || len(r.server.uploads.slots) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("the upload is still read")
		}
	}
	r = serve(t, func(o *Options) { o.BodyTimeout = 50 * time.Millisecond })
	q, err = http.NewRequest("POST", "http://"+r.addr+uploadPath+"?name=x.smi", io.LimitReader(endless{20 * time.Millisecond}, 4000))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/octet-stream")
	ended(t, "a slow upload", q)
	r = serve(t, func(o *Options) { o.UploadTime = 50 * time.Millisecond })
	q, err = http.NewRequest("POST", "http://"+r.addr+uploadPath+"?name=x.smi", io.LimitReader(endless{time.Millisecond}, 40_000))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/octet-stream")
	ended(t, "an upload that takes too long", q)
}

// ended checks that the server ends a request with 408. It closes the connection too, which a client that is still
// writing may see before the answer.
func ended(t *testing.T, what string, q *http.Request) {
	t.Helper()
	a, err := http.DefaultClient.Do(q)
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET):
	case err != nil:
		t.Error(what, err)
	default:
		defer a.Body.Close()
		if a.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: %d, want 408", what, a.StatusCode)
		}
	}
}

// Each upload shows its own progress, and ends that alone.
func TestUploadProgress(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var ends []chan struct{}
	var bodies []*io.PipeWriter
	for i := range 2 {
		r, w := io.Pipe()
		done := make(chan struct{})
		bodies, ends = append(bodies, w), append(ends, done)
		q := httptest.NewRequest("POST", fmt.Sprintf("%s?name=x%d.smi&key=k%d", uploadPath, i, i), r)
		q.Host = "localhost"
		q.Header.Set("Content-Type", "application/octet-stream")
		go func() {
			defer close(done)
			s.server.handler().ServeHTTP(httptest.NewRecorder(), q)
		}()
	}
	progress := func(key string) *uploadProgress {
		var p progressAnswer
		s.get("/api/v1/progress?upload="+key, &p)
		return p.Upload
	}
	until := func(what string, f func() bool) {
		t.Helper()
		for begin := time.Now(); !f(); time.Sleep(time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatalf("not %s: %+v, %+v", what, progress("k0"), progress("k1"))
			}
		}
	}
	io.WriteString(bodies[0], strings.Repeat(strings.Repeat("C", 15)+"\n", 10_000)) // more than is looked at together
	io.WriteString(bodies[1], strings.Repeat(strings.Repeat("C", 17)+"\n", 10_000))
	until("both with their graphs", func() bool {
		a, b := progress("k0"), progress("k1")
		return a != nil && b != nil && a.Name == "x0.smi" && b.Name == "x1.smi" && a.Graphs > 0 && b.Graphs > 0 &&
			a.Bytes == 160_000 && b.Bytes == 180_000
	})
	if p := progress("k2"); p != nil {
		t.Errorf("a key that nobody has: %+v", p)
	}
	if p := progress(""); p != nil {
		t.Errorf("no key: %+v", p)
	}
	bodies[0].Close()
	<-ends[0]
	if a, b := progress("k0"), progress("k1"); a != nil || b == nil {
		t.Errorf("after the end of the first: %+v and %+v", a, b)
	}
	bodies[1].Close()
	<-ends[1]
	if p := progress("k1"); p != nil {
		t.Errorf("after the end of the second: %+v", p)
	}
}

// fakeBody is a client that sends pieces of a size, each after some time of a clock that it moves.
type fakeBody struct {
	clock time.Time
	piece func(sent int64) (int, time.Duration)
	sent  int64
}

func (f *fakeBody) Read(p []byte) (int, error) {
	n, wait := f.piece(f.sent)
	f.clock = f.clock.Add(wait)
	if n == 0 {
		return 0, io.EOF
	}
	f.sent += int64(n)
	return n, nil
}

// A slow but steady connection may send the largest file; one that is slower, one that stops after a quick beginning, and one
// that takes longer than the time that there is are cut off.
func TestSlowReader(t *testing.T) {
	o := DefaultOptions()
	steady := func(rate int, most int64) func(int64) (int, time.Duration) {
		const piece = 16 << 10
		return func(sent int64) (int, time.Duration) {
			if sent >= most {
				return 0, 0
			}
			return piece, piece * time.Second / time.Duration(rate)
		}
	}
	for _, c := range []struct {
		name  string
		piece func(sent int64) (int, time.Duration)
		most  time.Duration // that it is read
		ok    bool
	}{
		{"1.2 Mbit/s", steady(150_000, o.UploadBytes), o.UploadTime, true},
		{"0.8 Mbit/s", steady(100_000, o.UploadBytes), time.Minute, false},
		{"50 MB at once, then a byte a second", func(sent int64) (int, time.Duration) {
			if sent < 50_000_000 {
				return 1_000_000, time.Millisecond
			}
			return 1, time.Second
		}, 15 * time.Second, false},
		{"for ever", steady(150_000, 1<<40), o.UploadTime + time.Second, false},
	} {
		body := &fakeBody{clock: time.Unix(0, 0), piece: c.piece}
		s := &slowReader{r: body, patience: o.BodyTimeout, allowed: o.BodyTimeout, end: body.clock.Add(o.UploadTime),
			now: func() time.Time { return body.clock }, deadline: func(time.Time) error { return nil }}
		n, err := io.Copy(io.Discard, s)
		took := body.clock.Sub(time.Unix(0, 0))
		if (err == nil) != c.ok || c.ok && n < o.UploadBytes || took > c.most {
			t.Errorf("%s: %d bytes in %v, error %v", c.name, n, took, err)
		}
	}
}

// Files that differ in what is shown are different sources: by stereochemistry, by the name of the target.
func TestSourcesApart(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	seen := map[string]bool{}
	for _, text := range []string{
		"id,smiles,y\na,C[C@H](F)Cl,1\nb,CCO,2\n", "id,smiles,y\na,C[C@@H](F)Cl,1\nb,CCO,2\n", "id,smiles,z\na,C[C@H](F)Cl,1\nb,CCO,2\n",
	} {
		seen[s.upload("name=x.csv", text).Source] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d sources, want 3", len(seen))
	}
}

// A file that is refused is no source.
func TestRefusedUpload(t *testing.T) {
	graphtest.Slow(t)
	s := newTester(t, readSpec(t), someDrugs(t), func(o *Options) { o.UploadGraphs, o.UploadBytes = 3, 1<<20 })
	code, out := s.do("POST", uploadPath+"?name=x.smi", "C\nCC\nCCC\nCCCC\n"+strings.Repeat("CCCCC\n", 200_000), "")
	var all sourcesAnswer
	s.get("/api/v1/sources", &all)
	if code != 413 || len(all.Sources) != 1 {
		t.Errorf("%d %s, %d sources, want 413 and the one of the start", code, out, len(all.Sources))
	}
}

// A request to data that are let go meanwhile does not bring them back.
func TestEvictedSource(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	first := s.upload("name=a.smi", "C\nCC\n")
	src, err := s.server.meant(endpoint{}, httptest.NewRequest("GET", "/?source="+first.Source, nil))
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxSources {
		s.upload(fmt.Sprintf("name=y%d.smi", n), "C\nCC\n")
	}
	if _, err := src.session(""); err != nil {
		t.Fatal(err)
	}
	for _, x := range s.server.recent {
		if x.s == src {
			t.Error("a session of data that are not kept is kept")
		}
	}
}
