package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
)

// drugs is the source of most tests.
func drugs(t testing.TB) *Data {
	t.Helper()
	o := dataset.DefaultOptions()
	ds, err := dataset.Read(context.Background(), "builtin:drugs", o)
	if err != nil {
		t.Fatal(err)
	}
	src, err := fromDataset(ds, o, "")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// someDrugs is every third of them, for tests with many fits.
func someDrugs(t testing.TB) *Data {
	t.Helper()
	all := drugs(t)
	ds := &dataset.Dataset{Name: "some"}
	for i := 0; i < len(all.Graphs); i += 3 {
		ds.Graphs = append(ds.Graphs, all.Graphs[i])
	}
	src, err := fromDataset(ds, dataset.DefaultOptions(), "")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// manyDrugs are the drugs so many times, with small differences in their values.
func manyDrugs(t *testing.T, times int, values bool) *Data {
	t.Helper()
	ds := &dataset.Dataset{Name: "many"}
	for k := range times {
		for i, g := range drugs(t).Graphs {
			target := g.Target()
			if values {
				target = fmt.Sprintf("%d.%d", g.N(), (i*7+k)%10)
			}
			ds.Graphs = append(ds.Graphs, g.With(fmt.Sprintf("%s %d", g.ID(), k), target))
		}
	}
	d, err := fromDataset(ds, dataset.DefaultOptions(), "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbers is a source whose targets are values: numbers of vertices.
func numbers(t testing.TB) *Data {
	t.Helper()
	o := dataset.DefaultOptions()
	ds, err := dataset.Read(context.Background(), "builtin:drugs", o)
	if err != nil {
		t.Fatal(err)
	}
	ds.Graphs = ds.Graphs[:80]
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(g.ID(), fmt.Sprintf("%d.5", g.N()))
	}
	src, err := fromDataset(ds, o, "")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

var savedOnce = sync.OnceValues(func() ([]byte, error) {
	ds, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		return nil, err
	}
	src, err := fromDataset(ds, dataset.DefaultOptions(), "")
	if err != nil {
		return nil, err
	}
	s := New(src, DefaultOptions())
	defer s.end()
	x, err := s.given().session("")
	if err != nil {
		return nil, err
	}
	m, err := x.learned(context.Background())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = model.Encode(&b, m.Model)
	return b.Bytes(), err
})

// savedModel is a model that was written and read again.
func savedModel(t testing.TB) *model.Model {
	t.Helper()
	data, err := savedOnce()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// tester sends requests to a server and checks answers against the document.
type tester struct {
	*testing.T
	spec   *spec
	server *Server
	http   *httptest.Server
}

func newTester(t *testing.T, sp *spec, src *Data, change func(*Options)) *tester {
	t.Helper()
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	s := New(src, o)
	h := httptest.NewServer(s.handler())
	t.Cleanup(func() { s.end(); h.Close() })
	return &tester{t, sp, s, h}
}

// bodyKind is the type of the body that a path takes.
func bodyKind(path string) string {
	if path == uploadPath || path == batchPath || path == openPath {
		return "application/octet-stream"
	}
	return "application/json"
}

// do sends a request and returns status and body; header is "Name: value" or empty.
func (t *tester) do(method, path, body, header string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, t.http.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", bodyKind(r.URL.Path))
	}
	if name, value, ok := strings.Cut(header, ": "); ok {
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	out, err := t.spec.check(r, a)
	if err != nil {
		t.Error(err)
	}
	return a.StatusCode, out
}

// get asks and decodes an answer that must be there.
func (t *tester) get(path string, dst any) {
	t.Helper()
	code, body := t.do("GET", path, "", "")
	if code != 200 {
		t.Fatalf("%s: %d %s", path, code, body)
	}
	if err := json.Unmarshal(body, dst); err != nil {
		t.Fatal(err)
	}
}

func (t *tester) post(path, body string, dst any) {
	t.Helper()
	if err := t.spec.checkBody("POST", path, []byte(body)); err != nil {
		t.Error(err)
	}
	code, out := t.do("POST", path, body, "")
	if code != 200 {
		t.Fatalf("%s %s: %d %s", path, body, code, out)
	}
	if err := json.Unmarshal(out, dst); err != nil {
		t.Fatal(err)
	}
}

const ethanol = `{"nodes":3,"edges":[[0,1],[1,2]],"node_labels":["C","C","O"],"edge_labels":["-","-"]}`

// keepBatch gives a server a batch of two graphs with a name of its own, read for a kernel.
func keepBatch(t *testing.T, s *Server, id, text string) {
	t.Helper()
	src := s.given()
	_, key, err := src.choose(text)
	if err != nil {
		t.Fatal(err)
	}
	src.batches = append(src.batches, &batch{id: id, name: "new.smi", s: src, key: key, graphs: src.data.Graphs[:2], lines: []int{1, 2}})
}

// Requests that are right: every operation, every source.
var goodRequests = []string{
	"GET /health", "GET /info", "GET /graphs", "GET /openapi.json", "GET /sources",
	"POST /upload?name=x.csv&check=true smiles,y\nCCO,1\nCCC,2\n", "POST /upload?name=x.smi&hydrogens=implicit&edge_weight=order&atom_charge=true CCO a\nCCN b\n",
	"GET /map", "GET /map?part=early", "GET /map?kernel=mlg+eta=0.5+gamma=0.05+radii=1,3+samples=50+rank=5+landmarks=pivoted+seed=3+combine=sum+power=2+discount",
	"GET /map?kernel=flg", "GET /map?kernel=mlg+base=(wl+h=2)", "GET /map?kernel=mlg+base=(labels*degree)+landmarks=classes+combine=gmean", "GET /map?kernel=0.5+mlg+%2B+0.5+wl*sp+subdivide",
	"GET /kernel", "GET /kernel?text=wl+h=3+", "GET /kernel?text=wl+%2B+&cursor=2", "GET /kernel?text=mlg+base=(labels*x)", "GET /kernel?text=wl&set=h&value=4",
	"GET /colors?by=target", "GET /colors?by=prediction", "GET /colors?by=error&kernel=mlg+eta=0.5", "GET /colors?by=size",
	"GET /columns", "GET /structure", "GET /outliers", "GET /chosen", "GET /map?kernel=chosen", "GET /trust", `POST /trust {"graphs":[0,1,2,3,4,5,6,7,8,9,10],"by":"cluster"}`, "GET /trust?by=cluster", `POST /evaluate {"graphs":[0,1,2,3]}`, `POST /versus {"other":"labels"}`, "GET /trust?by=scaffold&kernel=wl", "GET /structure?kernel=wl", "GET /matrix", "GET /matrix?cells=50", "GET /gram", "GET /gram?rows=0-2&columns=7", "GET /evaluate", "GET /evaluate?kernel=mlg+combine=gmean", "GET /progress", "GET /progress?kernel=mlg+eta=0.25",
	"GET /neighbours?index=3", "GET /neighbours?smiles=CCO&k=3", "GET /predict?index=3", "GET /predict?smiles=CCO&k=0",
	"GET /graph/0", "GET /graph/77",
	`POST /graph {"index":4}`, `POST /graph {"smiles":"c1ccccc1"}`, `POST /graph {"graph":` + ethanol + `}`,
	`POST /neighbours {"graph":{"index":3}}`, `POST /neighbours {"graph":{"smiles":"CCO"},"k":2,"kernel":"mlg eta=0.5"}`,
	`POST /predict {"graphs":[{"index":3},{"smiles":"CCO"},{"graph":` + ethanol + `}],"k":2,"place":true}`,
	`POST /predict {"graphs":[{"smiles":"[Si]CCO"}],"kernel":""}`,
	`POST /explain {"graph":{"index":3}}`, `POST /explain {"graph":{"smiles":"CCO"},"class":"steroid","kernel":"mlg combine=sum"}`,
	"GET /explain?index=3", "GET /explain?smiles=CCO&class=steroid", "GET /compare?a=3&b=CCO", "GET /compare?a=3&b=4&kernel=mlg+eta=0.5",
	`POST /compare {"a":{"index":3},"b":{"smiles":"CCO"}}`, `POST /vertex {"graph":{"index":3},"vertex":2,"level":1}`,
	`POST /vertex {"graph":{"smiles":"CCO"},"vertex":2,"level":0,"k":0,"kernel":"mlg radii=2"}`,
	`POST /read {"name":"x.smi","text":"CCO ethanol\nCCN ethylamine\n"}`, `POST /read {"name":"","text":"CCO\n"}`, `POST /read {"name":"x.smi","text":"CCO\nC((\nCCN\n"}`,
	"POST /batch?name=x.smi CCO a\nCCN b\n", "GET /batch/some", "GET /member/1?batch=some", "POST /stop {}",
	`POST /table {"batch":"some","rows":[1,0],"format":"csv"}`, `POST /table {"batch":"some","rows":[0],"format":"sdf"}`,
	`POST /suggest {"batch":"some","k":2,"class":"steroid","without":[1]}`, `POST /derive {"name":"part","graphs":[1,2,3]}`, `POST /target {"name":"class of a drug"}`,
	`POST /report {"graphs":[3],"notes":[{"index":1,"text":"a <b>"}]}`, `POST /session {"page":"","batch":"some"}`,
	`POST /open?name=a-session.json {"mlg session":1,"name":"a","task":"none","read":{"format":"auto","hydrogens":"written","edge_weight":"weight"},"kernel":"wl","graphs":[{"nodes":1,"edges":[]}]}`,
	"GET /find", "GET /find?text=PAM", "GET /find?class=steroid&limit=1", "GET /find?smiles=c1ccccc1&text=a",
	`POST /export {"graphs":[3,1],"format":"csv"}`, `POST /export {"graphs":[3],"format":"jsonl"}`, `POST /export {"graphs":[3],"format":"csv","kernel":"mlg eta=0.5"}`,
	"GET /download/map.svg", "GET /download/map.svg?color=error", "GET /download/map.png?color=size&layout=pca", "GET /download/graph.svg?index=2", "GET /download/graph.png?smiles=CCO", "GET /download/table.csv", "GET /download/model.mlg",
}

// Requests that are wrong, with the status and a part of the message.
var badRequests = []struct {
	request, status, message string
}{
	{"GET /health?x=1", "400", `"x" is not known`},
	{"GET /openapi.json?x=1", "400", `"x" is not known`},
	{"GET /info?eta=1", "400", `"eta" is not known`},
	{"GET /graphs?x", "400", "not known"},
	{"GET /sources?source=x", "400", `"source" is not known`},
	{"GET /info?source=a&source=b", "400", `"source" is given more than once`},
	{"POST /upload CCO", "400", "name: 0 bytes, want 1 to 200"},
	{"POST /upload?name=x.smi&format=x CCO", "400", `format = "x"`},
	{"POST /upload?name=x.csv&target=z smiles,y\nC,1\n", "400", `target: no column "z", want one of smiles, y`},
	{"POST /upload?name=x.csv&source=z smiles,y\nC,1\n", "400", `"source" is not known`},
	{"POST /upload?name=x.csv a,b\n1,2\n", "422", `x.csv:1: no SMILES column among "a", "b"`},
	{"POST /upload?name=x.csv&file=z a,b\n", "422", `the file "z" is not here`},
	{"POST /upload?name=x.csv&structure=z a,b\n1,2\n", "422", `no column "z" among`},
	{"POST /upload?name=x.smi C((\n", "422", "no graph can be read; the first error is in line 1: SMILES position 3"},
	{"POST /upload?name=x.zip PK\x03\x04", "422", "zip"},
	{"POST /upload?name=x.csv&target=y&task=regression smiles,y\nC,a\n", "422", `"a", want a number`},
	{"POST /batch?name=x.smi C((\n", "422", "no graph can be read; the first error is in line 1: SMILES position 3"},
	{"POST /batch?name=x.smi&format=smi C\n", "400", `"format" is not known`},
	{"GET /batch/other", "404", `the batch "other" is not here`},
	{"GET /batch/some?kernel=wl", "400", "the batch was read for another kernel"},
	{"GET /member/x?batch=some", "400", "want a whole number"},
	{"GET /member/2?batch=some", "404", "row 2, want 0 … 1"},
	{`POST /stop {"all":true}`, "400", "unknown field"},
	{`POST /suggest {"batch":"some","k":0}`, "400", "k = 0"},
	{"GET /trust?by=x", "400", `by = "x"`},
	{`POST /report {"color":"x"}`, "400", `color = "x"`},
	{`POST /report {"graphs":[999]}`, "404", "graph 999"},
	{`POST /trust {"graphs":[0,78]}`, "404", "graph 78, want 0 … 77"},
	{`POST /evaluate {"graphs":[0,-1]}`, "404", "graph -1, want 0 … 77"},
	{`POST /session {"page":1}`, "400", "page is a number, want a text"},
	{`POST /open?name=a x`, "400", "is no session"},
	{`POST /derive {"name":"x","graphs":[]}`, "400", "graphs: none"},
	{`POST /target {"column":"x"}`, "404", `no column "x"`},
	{`POST /target {"task":"x"}`, "400", `task = "x"`},
	{`POST /table {"batch":"some","rows":[],"format":"csv"}`, "400", "rows: 0, want 1 to 2"},
	{`POST /table {"batch":"some","rows":[0],"format":"smi"}`, "400", `format = "smi"`},
	{"GET /graph/x", "400", "want a whole number"},
	{"GET /graph/78", "404", "graph 78, want 0 … 77"},
	{"GET /graph/-1", "404", "graph -1"},
	{"GET /kernel?cursor=1", "400", "cursor: 1, want 0 to 0"},
	{"GET /kernel?text=wl&cursor=-1", "400", "cursor: -1, want 0 to 2"},
	{"GET /map?eta=0", "400", `"eta" is not known`},
	{"GET /map?kernel=mlg&kernel=wl", "400", "more than once"},
	{"GET /map?kernel=x", "400", `kernel "x", want one of composition, core, edge-labels`},
	{"GET /map?kernel=wl+zeta=1", "400", "wl: no parameter zeta, want one of h"},
	{"GET /map?kernel=wl+%2B", "400", "the end, want a name"},
	{"GET /map?kernel=mlg+eta=0", "400", "mlg: eta = 0, want a positive, finite number"},
	{"GET /map?kernel=mlg+eta=1e-7", "400", "mlg: eta = 1e-07, want 1e-06 to 1e+06"},
	{"GET /map?kernel=mlg+eta=x", "400", `mlg: eta = "x", want a number`},
	{"GET /map?kernel=mlg+gamma=1e9", "400", "mlg: gamma = 1e09, want 1e-06 to 1e+06"},
	{"GET /map?kernel=mlg+radii=2,1", "400", "mlg: radii = 2,1, want radii that do not decrease"},
	{"GET /map?kernel=mlg+radii=1,1,1,1,1,1,1,1,1", "400", "at most 8 of them"},
	{"GET /map?kernel=mlg+radii=65", "400", "mlg: radii = 65, want 1 to 64"},
	{"GET /map?kernel=mlg+samples=1001", "400", "mlg: samples = 1001, want 1 to 1000"},
	{"GET /map?kernel=mlg+rank=65", "400", "mlg: rank = 65, want 1 to 64"},
	{"GET /map?kernel=mlg+power=17", "400", "mlg: power = 17, want 1 to 16"},
	{"GET /map?kernel=mlg+combine=x", "400", `mlg: combine = "x", want top, sum, product, mixed or gmean`},
	{"GET /map?kernel=mlg+base=x", "400", `kernel on vertices "x", want one of labels`},
	{"GET /map?kernel=wl+h=65", "400", "wl: h = 65, want 0 to 64"},
	{"GET /map?kernel=core+base=(wl+h=65)", "400", "wl: h = 65, want 0 to 64"},
	{"GET /map?kernel=wl+normalize=false*sp", "400", "only normalised kernels can be combined"},
	{"GET /map?kernel=" + strings.Repeat("wl*", 16) + "sp", "400", "sp: more than 16 kernels"},
	{"GET /map?kernel=" + strings.Repeat("(wl%2Bsp)*", 5) + "wl", "400", "products with 192 kernels together, want at most 64"},
	{"GET /map?kernel=" + strings.Repeat("wl+", 334), "400", "a text of 1002 characters, want at most 1000"},
	{"GET /map?kernel=mlg+base=attributes", "422", "attributes"},
	{"GET /map?kernel=lg", "422", "graphs of one size"},
	{"GET /matrix?cells=0", "400", "cells"},
	{"GET /colors", "400", `by = ""`},
	{"GET /colors?by=column", "422", "cannot be coloured by column"},
	{"GET /colors?by=column&column=x", "422", "cannot be coloured by column"},
	{"GET /columns?x=1", "400", `"x" is not known`},
	{"GET /columns?column=x", "404", `no column "x"`},
	{"GET /structure?x=1", "400", `"x" is not known`}, {"GET /outliers?x=1", "400", `"x" is not known`}, {"GET /chosen?x=1", "400", `"x" is not known`}, {`POST /trust {"graphs":[0],"by":"x"}`, "400", `by = "x"`}, {`POST /evaluate {"graphs":[0],"part":"x"}`, "400", `part = "x"`}, {`POST /versus {"against":"x"}`, "404", `"x" is not here`}, {`POST /versus {"other":"wl h=x"}`, "400", `h = "x"`},
	{"GET /gram?rows=5-2", "400", "rows"},
	{"GET /gram?columns=0-78", "400", "within 0-77"},
	{"GET /gram?rows=x", "400", "rows"},
	{"GET /evaluate?folds=3", "400", "not known"},
	{"GET /progress?kernel=mlg+eta=x", "400", "eta"},
	{"GET /neighbours", "400", "has 0 of index, smiles and graph"},
	{"GET /neighbours?index=1&smiles=C", "400", "has 2 of index, smiles and graph"},
	{"GET /neighbours?index=x", "400", "index"},
	{"GET /neighbours?index=1&k=0", "400", "k"},
	{"GET /neighbours?index=999", "404", "graph 999"},
	{"GET /predict?smiles=", "400", "empty"},
	{"GET /predict?smiles=C((", "400", "SMILES position 3"},
	{"GET /predict?smiles=" + strings.Repeat("C", 4001), "400", "4001 bytes"},
	{"GET /predict?index=999", "404", "graph 999"},
	{`POST /graph {"index":1,"smiles":"C"}`, "400", "has 2 of index, smiles and graph"},
	{`POST /graph {}`, "400", "has 0 of index, smiles and graph"},
	{`POST /graph {"index":999}`, "404", "graph 999"},
	{`POST /graph {"index":"1"}`, "400", "index is a string"},
	{`POST /graph {"path":"/etc/passwd"}`, "400", "unknown field"},
	{`POST /graph [`, "400", "body"},
	{`POST /graph `, "400", "empty"},
	{`POST /graph {"index":1}{"index":2}`, "400", "more than one"},
	{`POST /graph {"graph":{"nodes":1}}`, "400", "graph:"},
	{`POST /graph {"graph":{"nodes":0,"edges":[]}}`, "400", "no vertices"},
	{`POST /graph {"graph":{"nodes":5001,"edges":[]}}`, "400", "5001"},
	{`POST /graph {"graph":{"nodes":2,"edges":[[0,5]]}}`, "400", "graph:"},
	{`POST /read {"name":"x.smi","text":""}`, "400", "empty"},
	{`POST /read {"name":"x.smi","text":"C(("}`, "400", "position 3"},
	{`POST /read {"name":"` + strings.Repeat("x", 201) + `","text":"C"}`, "400", "201 bytes"},
	{`POST /read {"name":"x.smi","text":"` + strings.Repeat(`C\n`, 1001) + `"}`, "400", "1001 graphs"},
	{`POST /neighbours {"graph":{"index":1},"k":-1}`, "400", "k = -1"},
	{`POST /neighbours {"graph":{"index":1},"kernel":"mlg eta=x"}`, "400", `mlg: eta = "x", want a number`},
	{`POST /neighbours {"graph":{"index":1},"kernel":7}`, "400", "a number, want a text"},
	{`POST /neighbours {"graph":{"index":1},"parameters":{"eta":0.5}}`, "400", "unknown field"},
	{`POST /neighbours?kernel=mlg {"graph":{"index":1}}`, "400", `"kernel" is not known`},
	{`POST /neighbours {"graph":{"index":999}}`, "404", "graph 999"},
	{`POST /predict {"graphs":[]}`, "400", "want 1 to 1000"},
	{`POST /predict {"graphs":[{"smiles":"C(("}]}`, "400", "position 3"},
	{`POST /predict {"graphs":[{"index":1}],"k":1001}`, "400", "k = 1001, want 0 to 1000"},
	{`POST /predict {"graphs":[{"index":999}]}`, "404", "graph 999"},
	{`POST /predict {"graphs":[{"graph":{"nodes":1,"edges":[]}}]}`, "422", "label"},
	{`POST /explain {"graph":{"index":1},"class":"x"}`, "400", "class"},
	{`POST /explain {"graph":{"index":999}}`, "404", "graph 999"},
	{`POST /compare {"a":{"index":1}}`, "400", "has 0 of index, smiles and graph"},
	{"GET /explain", "400", "has 0 of index, smiles and graph"},
	{"GET /explain?index=999", "404", "graph 999"},
	{"GET /compare?a=1", "400", "smiles: empty"},
	{"GET /compare?a=1&b=C((", "400", "SMILES position 3"},
	{"GET /compare?a=1&b=999", "404", "graph 999"},
	{`POST /compare {"a":{"index":1},"b":{"index":999}}`, "404", "graph 999"},
	{`POST /vertex {"graph":{"index":1},"vertex":999,"level":1}`, "400", "vertex: 999"},
	{`POST /vertex {"graph":{"index":1},"vertex":0,"level":3}`, "400", "level: 3, want 0 to 2"},
	{`POST /vertex {"graph":{"index":1},"vertex":0,"level":0,"k":-1}`, "400", "k = -1"},
	{`POST /vertex {"graph":{"index":999},"vertex":0,"level":1}`, "404", "graph 999"},
	{"GET /find?smiles=C((", "400", "SMILES position 3"},
	{"GET /find?limit=0", "400", "limit = 0"},
	{`POST /export {"graphs":[],"format":"csv"}`, "400", "graphs: 0, want 1 to"},
	{`POST /export {"graphs":[78],"format":"csv"}`, "404", "graph 78, want 0 … 77"},
	{`POST /export {"graphs":[7],"format":"x"}`, "400", `format = "x"`},
	{`POST /export {"graphs":[7],"format":"smi"}`, "422", "not read from SMILES"},
	{"GET /download/map.svg?color=x", "400", `color = "x"`},
	{"GET /download/map.svg?color=column", "422", "cannot be coloured by column"},
	{"GET /download/x", "400", `file = "x", want map.svg, map.png`},
	{"GET /download/..%2f..%2fetc%2fpasswd", "400", `file = "../../etc/passwd", want map.svg`},
	{"GET /download/map.svg?layout=x", "400", `layout = "x", want neighbours or pca`},
	{"GET /download/graph.svg", "400", "has 0 of index, smiles and graph"},
	{"GET /download/graph.svg?index=999", "404", "graph 999"},
}

// Of molecules, which have no attributes to compare.
var impossible = []string{
	"GET /matrix?kernel=mlg+base=attributes", "GET /structure?kernel=mlg+base=attributes", "GET /outliers?kernel=mlg+base=attributes", "GET /trust?kernel=mlg+base=attributes", `POST /trust {"graphs":[0],"kernel":"mlg base=attributes"}`, `POST /evaluate {"graphs":[0],"kernel":"mlg base=attributes"}`, `POST /versus {"kernel":"mlg base=attributes"}`, "GET /gram?kernel=mlg+base=attributes", "GET /evaluate?kernel=mlg+base=attributes", "GET /neighbours?index=1&kernel=mlg+base=attributes",
	`POST /neighbours {"graph":{"index":0},"kernel":"mlg base=attributes"}`, "GET /predict?index=0&kernel=mlg+base=attributes",
	"GET /explain?index=0&kernel=mlg+base=attributes", `POST /explain {"graph":{"index":0},"kernel":"mlg base=attributes"}`,
	"GET /compare?a=0&b=1&kernel=mlg+base=attributes", `POST /compare {"a":{"index":0},"b":{"index":1},"kernel":"mlg base=attributes"}`,
	`POST /vertex {"graph":{"index":0},"vertex":0,"level":1,"kernel":"mlg base=attributes"}`, "GET /batch/impossible?kernel=mlg+base=attributes",
	`POST /report {"kernel":"mlg base=attributes"}`,
	`POST /suggest {"batch":"impossible","kernel":"mlg base=attributes"}`,
	`POST /table {"batch":"impossible","rows":[0],"format":"csv","kernel":"mlg base=attributes"}`,
}

// split takes a request of the lists apart.
func split(request string) (method, path, body string) {
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ = strings.Cut(rest, " ")
	return method, "/api/v1" + path, body
}

// Every operation gives every answer that the document promises, and no other.
func TestAPI(t *testing.T) {
	graphtest.Slow(t)
	sp := readSpec(t)
	data := newTester(t, sp, someDrugs(t), func(o *Options) { o.UploadBytes = 1 << 20 })
	keepBatch(t, data.server, "some", "")
	keepBatch(t, data.server, "impossible", "mlg base=attributes")
	for _, r := range goodRequests {
		method, path, body := split(r)
		if file, _, _ := strings.Cut(path, "?"); body != "" && bodyKind(file) == "application/json" {
			if err := sp.checkBody(method, path, []byte(body)); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
		if code, out := data.do(method, path, body, ""); code != 200 {
			t.Errorf("%s: %d %s", r, code, out)
		}
	}
	for _, b := range badRequests {
		method, path, body := split(b.request)
		code, out := data.do(method, path, body, "")
		if fmt.Sprint(code) != b.status || !strings.Contains(message(out), b.message) {
			t.Errorf("%.100s: %d %s, want %s and %q", b.request, code, out, b.status, b.message)
		}
	}
	for _, r := range impossible {
		method, path, body := split(r)
		if code, out := data.do(method, path, body, ""); code != 422 || !strings.Contains(message(out), "attributes") {
			t.Errorf("%s: %d %s, want 422", r, code, out)
		}
	}
	targetless := data.upload("name=x.smi", "CCO a\nCCN b\n").Source
	if code, out := data.do("GET", "/api/v1/chosen?source="+targetless, "", ""); code != 422 || !strings.Contains(message(out), "nothing can be predicted") {
		t.Errorf("%d %s, want 422", code, out)
	}
	impatient := newTester(t, sp, someDrugs(t), func(o *Options) { o.ShortTimeout = 1 })
	if code, out := impatient.do("GET", "/api/v1/find?smiles=CC", "", ""); code != 422 || !strings.Contains(message(out), "takes longer than 1ns") {
		t.Errorf("%d %s, want 422", code, out)
	}
	everyOperation(t, sp, data)
	sp.operations(func(method, path string, op map[string]any) {
		for code := range op["responses"].(map[string]any) {
			if !sp.seen[method+" "+path+" "+code] {
				t.Errorf("%s %s: no test saw the answer %s", method, path, code)
			}
		}
	})
}

func message(body []byte) string {
	var e struct{ Error struct{ Message string } }
	json.Unmarshal(body, &e) // no message where it is no error
	return e.Error.Message
}

// everyOperation sends to every operation what every operation must refuse.
func everyOperation(t *testing.T, sp *spec, data *tester) {
	busy := newTester(t, sp, someDrugs(t), func(o *Options) { o.Waiting, o.Requests = 0, 0 })
	keepBatch(t, busy.server, "some", "")
	for range cap(busy.server.light.slots) {
		busy.server.light.slots <- struct{}{}
	}
	for p := range busy.server.heavy.of {
		busy.server.heavy.of[p].slot <- struct{}{}
	}
	busy.server.uploads.limit = 0
	for range cap(busy.server.uploads.slots) {
		busy.server.uploads.slots <- struct{}{}
	}
	sp.operations(func(method, path string, op map[string]any) {
		at := strings.NewReplacer("{index}", "0", "{file}", "map.svg", "{batch}", "some", "{row}", "0").Replace(path)
		query, body := "", ""
		switch path {
		case "/api/v1/neighbours", "/api/v1/predict", "/api/v1/explain":
			query = "?index=0"
		case "/api/v1/colors":
			query = "?by=prediction"
		case "/api/v1/compare":
			query = "?a=0&b=1"
		case "/api/v1/member/{row}":
			query = "?batch=some"
		}
		for _, r := range goodRequests {
			if m, p, b := split(r); m == method && strings.HasPrefix(p+"?", at+"?") && b != "" {
				body = b
			}
		}
		if method == "POST" {
			query = ""
		}
		if path == uploadPath || path == batchPath || path == openPath {
			query = "?name=x.smi"
		}
		for header, want := range map[string]int{
			"Host: evil.example": 421, "Host: evil.example:80": 421, "Host: 127.0.0.1.evil.example": 421,
			"Origin: http://evil.example": 403, "Origin: null": 403, "Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403,
		} {
			if code, out := data.do(method, at+query, body, header); code != want {
				t.Errorf("%s %s with %s: %d %s, want %d", method, at, header, code, out, want)
			}
		}
		answers := op["responses"].(map[string]any)
		if answers["415"] != nil {
			for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
				if code, _ := data.do(method, at+query, body, "Content-Type: "+kind); code != 415 {
					t.Errorf("%s %s with %s: %d, want 415", method, at, kind, code)
				}
			}
			if code, _ := data.do(method, at+query, `{"name":"`+strings.Repeat("x", 5<<20)+`"}`, ""); code != 413 {
				t.Errorf("%s %s with 5 MiB: %d, want 413", method, at, code)
			}
			slowBody(t, sp, method, at+query)
		}
		if answers["404"] != nil {
			sep := "?"
			if query != "" {
				sep = "&"
			}
			if code, out := data.do(method, at+query+sep+"source=nothing-0", body, ""); code != 404 || !strings.Contains(string(out), `"field":"source"`) {
				t.Errorf("%s %s of a source that is not there: %d %s, want 404", method, at, code, out)
			}
		}
		if answers["503"] != nil {
			r, _ := http.NewRequest(method, busy.http.URL+at+query, strings.NewReader(body))
			r.Header.Set("Content-Type", bodyKind(path))
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			if _, err := sp.check(r, a); err != nil {
				t.Error(err)
			}
			if a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s %s while busy: %d, want 503 with Retry-After", method, at, a.StatusCode)
			}
		}
		refused(t, sp, method, at+query, body)
		wrong := "DELETE"
		a, err := http.NewRequest(wrong, data.http.URL+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(a)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 405 || !strings.Contains(answer.Header.Get("Allow"), method) {
			t.Errorf("DELETE %s: %d, Allow %q", at, answer.StatusCode, answer.Header.Get("Allow"))
		}
	})
}

// refused sends a request without the token of a server, and one from an address that has as many as it may have.
func refused(t *testing.T, sp *spec, method, path, body string) {
	t.Helper()
	for want, change := range map[int]func(*Options){401: func(o *Options) { o.Token = secret }, 429: func(o *Options) { o.PerClient = 1 }} {
		o := DefaultOptions()
		change(&o)
		s := New(someDrugs(t), o)
		defer s.end()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host, r.RemoteAddr = "localhost", "203.0.113.9:1"
		r.Header.Set("Content-Type", bodyKind(r.URL.Path))
		if leave, err := s.clients.enter(r); err != nil {
			t.Fatal(err)
		} else {
			defer leave()
		}
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r)
		if _, err := sp.check(r, w.Result()); err != nil || w.Code != want {
			t.Errorf("%s %s: %d %v, want %d", method, path, w.Code, err, want)
		}
	}
}

// An error names the part of the request that is wrong, so that the page can show it there.
func TestErrorFields(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for request, want := range map[string]string{
		"GET /info?source=x":        "source",
		"GET /predict?smiles=C((":   "smiles",
		"GET /predict?index=999":    "index",
		"GET /predict":              "graph",
		"GET /predict?index=1&k=-1": "k",
		"GET /predict?index=x":      "index",
		"GET /map?kernel=x":         "kernel",
		"GET /map?kernel=wl+h=65":   "kernel",
		"GET /map?x=1":              "x",
		"GET /compare?a=1&b=C((":    "b.smiles",
		"GET /compare?a=999&b=C":    "a.index",
		"GET /find?smiles=C((":      "smiles",
		"GET /gram?rows=x":          "rows",
		"GET /download/x":           "file",
		"GET /colors?by=column":     "by",
		`POST /predict {"graphs":[{"index":1},{"index":99}]}`:         "graphs[1].index",
		`POST /predict {"graphs":[{"smiles":"C(("}]}`:                 "smiles",
		`POST /predict {"graphs":`:                                    "body",
		`POST /explain {"graph":{"index":1},"class":"x"}`:             "class",
		`POST /vertex {"graph":{"index":1},"vertex":999,"level":1}`:   "vertex",
		`POST /vertex {"graph":{"index":1},"vertex":0,"level":9}`:     "level",
		`POST /neighbours {"graph":{"index":1},"kernel":"mlg eta=x"}`: "kernel",
		"POST /upload?name=x.csv&target=z smiles,y\nC,1\n":            "target",
		"POST /upload?name=x.csv a,b\n1,2\n":                          "structure",
		"POST /upload?name=x what is this\n":                          "format",
	} {
		method, path, body := split(request)
		_, out := s.do(method, path, body, "")
		var e errorAnswer
		if err := json.Unmarshal(out, &e); err != nil {
			t.Fatal(err)
		}
		if e.Error.Field != want {
			t.Errorf("%s: field %q, want %q: %s", request, e.Error.Field, want, e.Error.Message)
		}
	}
}
