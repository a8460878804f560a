package explorer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// drugs is the source of most tests.
func drugs(t testing.TB) *Source {
	t.Helper()
	o := dataset.DefaultOptions()
	ds, err := dataset.Drugs(o)
	if err != nil {
		t.Fatal(err)
	}
	src, err := DataSource(ds, o, dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// someDrugs is every third of them, for tests with many fits.
func someDrugs(t testing.TB) *Source {
	t.Helper()
	all := drugs(t)
	ds := &dataset.Dataset{Name: "some"}
	for i := 0; i < len(all.Graphs); i += 3 {
		ds.Graphs = append(ds.Graphs, all.Graphs[i])
	}
	src, err := DataSource(ds, dataset.DefaultOptions(), dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// numbers is a source whose targets are values: numbers of vertices.
func numbers(t testing.TB) *Source {
	t.Helper()
	o := dataset.DefaultOptions()
	ds, err := dataset.Drugs(o)
	if err != nil {
		t.Fatal(err)
	}
	ds.Graphs = ds.Graphs[:80]
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(g.ID(), fmt.Sprintf("%d.5", g.N()))
	}
	src, err := DataSource(ds, o, dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// bare is a model of drugs without its graphs.
func bare(t testing.TB) *Source {
	t.Helper()
	m := savedModel(t)
	m.Graphs = nil
	src, err := ModelSource("bare", m, dataset.DefaultOptions(), dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

var savedOnce = sync.OnceValues(func() ([]byte, error) {
	ds, err := dataset.Drugs(dataset.DefaultOptions())
	if err != nil {
		return nil, err
	}
	src, err := DataSource(ds, dataset.DefaultOptions(), dataset.GivenWeight)
	if err != nil {
		return nil, err
	}
	s, err := New(src, DefaultOptions())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x, err := s.session(src.defaults(), false)
	if err != nil {
		return nil, err
	}
	m, err := x.learned(context.Background())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = model.Encode(&b, m)
	return b.Bytes(), err
})

// savedModel is a model that was written and read again.
func savedModel(t testing.TB) *model.Model {
	t.Helper()
	data, err := savedOnce()
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Decode(data, 1)
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

func newTester(t *testing.T, sp *spec, src *Source, change func(*Options)) *tester {
	t.Helper()
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	s, err := New(src, o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() { s.Close(); h.Close() })
	return &tester{t, sp, s, h}
}

// do sends a request and returns status and body; header is "Name: value" or empty.
func (t *tester) do(method, path, body, header string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, t.http.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
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

// Requests that are right: every operation, every source.
var goodRequests = []string{
	"GET /health", "GET /info", "GET /graphs", "GET /openapi.json",
	"GET /map", "GET /map?eta=0.5&gamma=0.05&radii=1,3&samples=50&rank=5&landmarks=pivoted&seed=3&combine=sum&power=2&discount=true",
	"GET /map?radii=", "GET /map?base=wl&h=2", "GET /map?base=labels*degree&landmarks=classes&combine=gmean",
	"GET /matrix", "GET /matrix?cells=50", "GET /gram", "GET /gram?rows=0-2&columns=7", "GET /evaluate", "GET /evaluate?combine=gmean", "GET /progress", "GET /progress?eta=0.25",
	"GET /neighbours?index=3", "GET /neighbours?smiles=CCO&k=3", "GET /predict?index=3", "GET /predict?smiles=CCO&k=0",
	"GET /graph/0", "GET /graph/77",
	`POST /graph {"index":4}`, `POST /graph {"smiles":"c1ccccc1"}`, `POST /graph {"graph":` + ethanol + `}`,
	`POST /neighbours {"graph":{"index":3}}`, `POST /neighbours {"graph":{"smiles":"CCO"},"k":2,"parameters":{"eta":0.5}}`,
	`POST /predict {"graphs":[{"index":3},{"smiles":"CCO"},{"graph":` + ethanol + `}],"k":2,"place":true}`,
	`POST /predict {"graphs":[{"smiles":"[Si]CCO"}],"parameters":null}`,
	`POST /explain {"graph":{"index":3}}`, `POST /explain {"graph":{"smiles":"CCO"},"class":"steroid","parameters":{"combine":"sum"}}`,
	`POST /compare {"a":{"index":3},"b":{"smiles":"CCO"}}`, `POST /vertex {"graph":{"index":3},"vertex":2,"level":1}`,
	`POST /vertex {"graph":{"smiles":"CCO"},"vertex":2,"level":0,"k":0,"parameters":{"radii":[2]}}`,
	`POST /read {"name":"x.smi","text":"CCO ethanol\nCCN ethylamine\n"}`, `POST /read {"name":"","text":"CCO\n"}`,
	"GET /download/map.svg", "GET /download/graph.svg?index=2", "GET /download/graph.png?smiles=CCO", "GET /download/table.csv", "GET /download/model.mlg",
}

// Requests that are wrong, with the status and a part of the message.
var badRequests = []struct {
	request, status, message string
}{
	{"GET /health?x=1", "400", `"x" is not known`},
	{"GET /info?eta=1", "400", `"eta" is not known`},
	{"GET /graphs?x", "400", "not known"},
	{"GET /graph/x", "400", "want a number"},
	{"GET /graph/78", "404", "graph 78, want 0 … 77"},
	{"GET /graph/-1", "404", "graph -1"},
	{"GET /map?eta=0", "400", "parameter eta: 0"},
	{"GET /map?eta=x", "400", "parameter eta"},
	{"GET /map?eta=NaN", "400", "parameter eta"},
	{"GET /map?eta=1&eta=2", "400", "more than once"},
	{"GET /map?gamma=1e9", "400", "parameter gamma"},
	{"GET /map?radii=2,1", "400", "parameter radii"},
	{"GET /map?radii=1,x", "400", "parameter radii"},
	{"GET /map?radii=1,1,1,1,1,1,1,1,1", "400", "9 levels"},
	{"GET /map?radii=65", "400", "parameter radii"},
	{"GET /map?samples=0", "400", "parameter samples"},
	{"GET /map?rank=65", "400", "parameter rank"},
	{"GET /map?power=0", "400", "parameter power"},
	{"GET /map?seed=-1", "400", "parameter seed"},
	{"GET /map?landmarks=x", "400", "want uniform, classes or pivoted"},
	{"GET /map?combine=x", "400", "want top, sum, product or gmean"},
	{"GET /map?base=x", "400", "parameter base"},
	{"GET /map?base=" + strings.Repeat("labels*", 20) + "labels", "400", "at most 100"},
	{"GET /map?discount=x", "400", "parameter discount"},
	{"GET /map?bandwidth=-1", "400", "parameter bandwidth"},
	{"GET /map?h=11", "400", "parameter h"},
	{"GET /map?base=attributes", "422", "attributes"},
	{"GET /matrix?cells=0", "400", "cells"},
	{"GET /gram?rows=5-2", "400", "rows"},
	{"GET /gram?columns=0-78", "400", "within 0-77"},
	{"GET /gram?rows=x", "400", "rows"},
	{"GET /evaluate?folds=3", "400", "not known"},
	{"GET /progress?eta=x", "400", "eta"},
	{"GET /neighbours", "400", "0 of them"},
	{"GET /neighbours?index=1&smiles=C", "400", "2 of them"},
	{"GET /neighbours?index=x", "400", "index"},
	{"GET /neighbours?index=1&k=0", "400", "k"},
	{"GET /neighbours?index=999", "404", "graph 999"},
	{"GET /predict?smiles=", "400", "empty"},
	{"GET /predict?smiles=C((", "400", "SMILES position 3"},
	{"GET /predict?smiles=" + strings.Repeat("C", 4001), "400", "4001 bytes"},
	{"GET /predict?index=999", "404", "graph 999"},
	{`POST /graph {"index":1,"smiles":"C"}`, "400", "2 of them"},
	{`POST /graph {}`, "400", "0 of them"},
	{`POST /graph {"index":999}`, "404", "graph 999"},
	{`POST /graph {"index":"1"}`, "400", "index is a string"},
	{`POST /graph {"path":"/etc/passwd"}`, "400", "unknown field"},
	{`POST /graph [`, "400", "body"},
	{`POST /graph `, "400", "empty"},
	{`POST /graph {"index":1}{"index":2}`, "400", "more than one"},
	{`POST /graph {"graph":{"nodes":1}}`, "400", "graph:"},
	{`POST /graph {"graph":{"nodes":0,"edges":[]}}`, "400", "without vertices"},
	{`POST /graph {"graph":{"nodes":5001,"edges":[]}}`, "400", "5001"},
	{`POST /graph {"graph":{"nodes":2,"edges":[[0,5]]}}`, "400", "graph:"},
	{`POST /read {"name":"x.smi","text":""}`, "400", "empty"},
	{`POST /read {"name":"x.smi","text":"C(("}`, "400", "position 3"},
	{`POST /read {"name":"` + strings.Repeat("x", 201) + `","text":"C"}`, "400", "201 bytes"},
	{`POST /read {"name":"x.smi","text":"` + strings.Repeat(`C\n`, 1001) + `"}`, "400", "1001 graphs"},
	{`POST /neighbours {"graph":{"index":1},"k":-1}`, "400", "k: -1"},
	{`POST /neighbours {"graph":{"index":1},"parameters":{"eta":"x"}}`, "400", "parameters: eta is a string"},
	{`POST /neighbours {"graph":{"index":1},"parameters":{"zeta":1}}`, "400", "unknown field"},
	{`POST /neighbours {"graph":{"index":999}}`, "404", "graph 999"},
	{`POST /predict {"graphs":[]}`, "400", "want 1 to 1000"},
	{`POST /predict {"graphs":[{"smiles":"C(("}]}`, "400", "position 3"},
	{`POST /predict {"graphs":[{"index":1}],"k":1001}`, "400", "k: 1001"},
	{`POST /predict {"graphs":[{"index":999}]}`, "404", "graph 999"},
	{`POST /predict {"graphs":[{"graph":{"nodes":1,"edges":[]}}]}`, "422", "label"},
	{`POST /explain {"graph":{"index":1},"class":"x"}`, "400", "class"},
	{`POST /explain {"graph":{"index":999}}`, "404", "graph 999"},
	{`POST /compare {"a":{"index":1}}`, "400", "0 of them"},
	{`POST /compare {"a":{"index":1},"b":{"index":999}}`, "404", "graph 999"},
	{`POST /vertex {"graph":{"index":1},"vertex":999,"level":1}`, "400", "vertex: 999"},
	{`POST /vertex {"graph":{"index":1},"vertex":0,"level":3}`, "400", "level: 3, want 0 to 2"},
	{`POST /vertex {"graph":{"index":1},"vertex":0,"level":0,"k":-1}`, "400", "k: -1"},
	{`POST /vertex {"graph":{"index":999},"vertex":0,"level":1}`, "404", "graph 999"},
	{"GET /download/x", "404", "no file"},
	{"GET /download/..%2f..%2fetc%2fpasswd", "404", "no file"},
	{"GET /download/map.svg?layout=x", "400", "want pca or neighbours"},
	{"GET /download/graph.svg", "400", "0 of them"},
	{"GET /download/graph.svg?index=999", "404", "graph 999"},
}

// Of a model without graphs: what needs them.
var bareRequests = []string{
	"GET /graph/0", `POST /graph {"index":0}`, "GET /map?eta=0.5", "GET /matrix?eta=0.5", "GET /gram?eta=0.5", "GET /evaluate?eta=0.5", "GET /neighbours?index=1&eta=0.5",
	`POST /neighbours {"graph":{"index":0},"parameters":{"eta":0.5}}`, "GET /predict?index=0&eta=0.5", `POST /predict {"graphs":[{"index":0}],"parameters":{"eta":0.5}}`,
	`POST /explain {"graph":{"index":0}}`, `POST /compare {"a":{"index":0},"b":{"index":1}}`, `POST /vertex {"graph":{"index":0},"vertex":0,"level":1}`,
	"GET /download/graph.svg?index=0",
}

// split takes a request of the lists apart.
func split(request string) (method, path, body string) {
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ = strings.Cut(rest, " ")
	return method, "/api/v1" + path, body
}

// Every operation gives every answer that the document promises, and no other.
func TestAPI(t *testing.T) {
	sp := readSpec(t)
	data := newTester(t, sp, someDrugs(t), nil)
	for _, r := range goodRequests {
		method, path, body := split(r)
		if body != "" {
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
	model := newTester(t, sp, bare(t), nil)
	for _, r := range bareRequests {
		method, path, body := split(r)
		if code, out := model.do(method, path, body, ""); code != 422 {
			t.Errorf("model without graphs: %s: %d %s, want 422", r, code, out)
		}
	}
	for _, r := range []string{"GET /info", "GET /graphs", "GET /map", "GET /matrix", "GET /gram", "GET /evaluate", "GET /neighbours?index=3", "GET /predict?index=3", "GET /predict?smiles=CCO",
		`POST /explain {"graph":{"smiles":"CCO"}}`, `POST /compare {"a":{"smiles":"CCO"},"b":{"smiles":"CCN"}}`, `POST /vertex {"graph":{"smiles":"CCO"},"vertex":0,"level":1}`,
		"GET /download/model.mlg", "GET /download/table.csv", "GET /download/map.svg", "GET /download/graph.svg?smiles=CCO"} {
		method, path, body := split(r)
		if code, out := model.do(method, path, body, ""); code != 200 {
			t.Errorf("model without graphs: %s: %d %s", r, code, out)
		}
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
	for range cap(busy.server.light.slots) {
		busy.server.light.slots <- struct{}{}
	}
	busy.server.heavy.slots <- struct{}{}
	sp.operations(func(method, path string, op map[string]any) {
		at := strings.NewReplacer("{index}", "0", "{file}", "map.svg").Replace(path)
		query, body := "", ""
		switch path {
		case "/api/v1/neighbours", "/api/v1/predict":
			query = "?index=0"
		}
		for _, r := range goodRequests {
			if m, p, b := split(r); m == method && p == at && b != "" {
				body = b
			}
		}
		if method == "POST" {
			query = ""
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
				if code, _ := data.do(method, at, body, "Content-Type: "+kind); code != 415 {
					t.Errorf("%s %s with %s: %d, want 415", method, at, kind, code)
				}
			}
			if code, _ := data.do(method, at, `{"name":"`+strings.Repeat("x", 5<<20)+`"}`, ""); code != 413 {
				t.Errorf("%s %s with 5 MiB: %d, want 413", method, at, code)
			}
			slowBody(t, sp, method, at)
		}
		if answers["503"] != nil {
			r, _ := http.NewRequest(method, busy.http.URL+at+query, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
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

// What the answers say agrees with the library.
func TestAnswers(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	ctx := context.Background()
	o, err := src.defaults().options(1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlg.Fit(ctx, src.Graphs, o)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := m.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}

	var block struct{ Values [][]float64 }
	s.get("/api/v1/gram?rows=3-5&columns=10-12", &block)
	for i := range 3 {
		for j := range 3 {
			if got, want := block.Values[i][j], gram.At(3+i, 10+j); got != want {
				t.Errorf("gram %d, %d: %v, want %v", 3+i, 10+j, got, want)
			}
		}
	}

	var near struct{ Neighbours []Neighbour }
	s.get("/api/v1/neighbours?index=3&k=4", &near)
	want := slices.Clone(gram.Row(3))
	want[3] = -1
	for _, n := range near.Neighbours {
		best := 0
		for j, v := range want {
			if v > want[best] {
				best = j
			}
		}
		if n.Index != best || n.Similarity != gram.At(3, best) || n.ID != src.IDs[best] || n.Target != src.Targets[best] {
			t.Errorf("neighbour %+v, want %d with %v", n, best, gram.At(3, best))
		}
		want[best] = -1
	}

	// A graph of the source as a new one is its own nearest, on its own place.
	line, err := dataset.AppendJSON(nil, src.Graphs[3])
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Predictions []Prediction }
	s.post("/api/v1/predict", `{"graphs":[{"graph":`+string(line)+`},{"index":3}],"place":true}`, &said)
	p, q := said.Predictions[0], said.Predictions[1]
	if p.Neighbours[0].Index != 3 || p.Neighbours[0].Similarity != 1 || p.Unlike {
		t.Errorf("a graph of the source has the neighbour %+v, unlike %v", p.Neighbours[0], p.Unlike)
	}
	if *p.Class != *q.Class || *p.Class != src.Targets[3] {
		t.Errorf("classes %s and %s, want %s", *p.Class, *q.Class, src.Targets[3])
	}
	for i := range 2 {
		if math.Abs(p.Place.PCA[i]-q.Place.PCA[i]) > 1e-9 {
			t.Errorf("places %v and %v, want the same", p.Place.PCA, q.Place.PCA)
		}
	}
	s.post("/api/v1/predict", `{"graphs":[{"smiles":"OCC1OC(O)C(O)C(O)C1O"},{"smiles":"[Xe]F"}]}`, &said)
	if p := said.Predictions[0]; !p.Unlike || p.Percentile > 1 || len(p.UnknownLabels) != 0 {
		t.Errorf("glucose: unlike %v, percentile %d, unknown labels %v", p.Unlike, p.Percentile, p.UnknownLabels)
	}
	if p := said.Predictions[1]; !slices.Equal(p.UnknownLabels, []string{"Xe"}) {
		t.Errorf("XeF: unknown labels %v", p.UnknownLabels)
	}

	// An explanation adds up to the decision, and the terms are training graphs.
	var e Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if e.Class != src.Targets[3] || len(e.Vertices) != src.Graphs[3].N() || e.Value <= 0 || len(e.Features) != 3 || len(e.Terms) != 10 {
		t.Errorf("explanation %+v", e)
	}

	// The kernel of a pair is that of its top level.
	var pair PairAnswer
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"index":8}}`, &pair)
	if math.Abs(pair.K-gram.At(3, 8)) > 1e-9 || len(pair.Levels) != 3 || math.Abs(pair.Levels[2].K-pair.K) > 1e-6 {
		t.Errorf("pair %v %+v, want %v", pair.K, pair.Levels, gram.At(3, 8))
	}
	for _, l := range pair.Levels {
		if len(l.Pairs) != min(src.Graphs[3].N(), src.Graphs[8].N()) {
			t.Errorf("level %d: %d pairs", l.Level, len(l.Pairs))
		}
	}
	if pair.Levels[0].Radius != 0 || pair.Levels[2].Radius != 2 {
		t.Errorf("radii %d and %d, want 0 and 2", pair.Levels[0].Radius, pair.Levels[2].Radius)
	}

	// At level 0 a vertex is like those of its label, and like no other.
	var v VertexAnswer
	s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":1,"level":0}`, &v)
	equal := 0
	for _, g := range src.Graphs {
		for _, l := range g.Labels() {
			if l == src.Graphs[3].Label(1) {
				equal++
			}
		}
	}
	for w, k := range v.Own {
		if want := src.Graphs[3].Label(w) == src.Graphs[3].Label(1); (k == 1) != want || !want && k != 0 {
			t.Errorf("vertex %d (%s): similarity %v", w, src.Graphs[3].Label(w), k)
		}
	}
	if v.Equal != equal || !slices.Equal(v.Neighbourhood, []int32{1}) || v.Radius != 0 {
		t.Errorf("equal %d, want %d; neighbourhood %v", v.Equal, equal, v.Neighbourhood)
	}
	s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":1,"level":2,"k":5}`, &v)
	if len(v.Elsewhere) != 5 || v.Radius != 2 || v.Own[1] != 1 || slices.Max(v.Distance) != 2 {
		t.Errorf("vertex at level 2: %+v", v)
	}

	// The matrix has every graph once, classes together.
	var mx struct {
		Order []int
		Size  int
		Cells string
	}
	s.get("/api/v1/matrix?cells=800", &mx)
	cells, err := base64.StdEncoding.DecodeString(mx.Cells)
	if err != nil || mx.Size != 234 || len(cells) != 234*234 || cells[0] != 255 {
		t.Errorf("matrix of %d with %d cells, %v", mx.Size, len(cells), err)
	}
	changes := 0
	for a := 1; a < len(mx.Order); a++ {
		if src.class[mx.Order[a]] != src.class[mx.Order[a-1]] {
			changes++
		}
	}
	if sorted := slices.Sorted(slices.Values(mx.Order)); changes != 12 || sorted[0] != 0 || sorted[233] != 233 || len(slices.Compact(sorted)) != 234 {
		t.Errorf("%d changes of class in the order, want 12", changes)
	}

	// Cross-validation knows the graphs, and afterwards predictions tell.
	var ev Evaluation
	s.get("/api/v1/evaluate", &ev)
	byName := map[string]float64{}
	for _, r := range ev.Rows {
		byName[r.Name] = *r.Accuracy
	}
	if ev.Graphs != 234 || !(byName["mlg"] > byName["labels"] && byName["labels"] > byName["majority class"]) {
		t.Errorf("evaluation %v of %d graphs", byName, ev.Graphs)
	}
	s.get("/api/v1/predict?index=3", &said)
	if c := said.Predictions[0].CrossValidated; c == nil {
		t.Error("no cross-validated class after the evaluation")
	}
}

// A graph that is drawn has its vertices where the picture has them.
func TestDrawing(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	var a struct {
		Drawing drawing
		Edges   [][2]int
		Graph   json.RawMessage
	}
	s.get("/api/v1/graph/3", &a)
	g := src.Graphs[3]
	if len(a.Drawing.Vertices) != g.N() || len(a.Edges) != g.M() || !a.Drawing.Molecule || strings.Contains(a.Drawing.SVG, "<circle") || strings.Contains(a.Drawing.SVG, "style") {
		t.Fatalf("drawing of %d vertices and %d edges, molecule %v", len(a.Drawing.Vertices), len(a.Edges), a.Drawing.Molecule)
	}
	var lengths []float64
	for _, e := range a.Edges {
		p, q := a.Drawing.Vertices[e[0]], a.Drawing.Vertices[e[1]]
		lengths = append(lengths, math.Hypot(p[0]-q[0], p[1]-q[1]))
	}
	if slices.Min(lengths) < 0.8*slices.Max(lengths) || slices.Min(lengths) < 10 {
		t.Errorf("bonds from %v to %v pixels long, want about equal", slices.Min(lengths), slices.Max(lengths))
	}
	for _, p := range a.Drawing.Vertices {
		if p[0] < 0 || p[1] < 0 || p[0] > a.Drawing.Width || p[1] > a.Drawing.Height {
			t.Errorf("vertex at %v outside of %v × %v", p, a.Drawing.Width, a.Drawing.Height)
		}
	}
	// What the answer calls the graph is understood as the same one.
	var again struct{ Drawing drawing }
	s.post("/api/v1/graph", `{"graph":`+string(a.Graph)+`}`, &again)
	if again.Drawing.SVG != a.Drawing.SVG {
		t.Error("the graph of the answer is drawn differently")
	}
	network := dataset.Scales(1, 1).Graphs[0]
	d, err := drawGraph(network)
	if err != nil || len(d.Vertices) != network.N() {
		t.Errorf("network: %v, %v", d, err)
	}
}

// Files that can be downloaded read back.
func TestDownloads(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	_, data := s.do("GET", "/api/v1/download/model.mlg?eta=0.2", "", "")
	m, err := model.Decode(data, 1)
	if err != nil {
		t.Fatal(err)
	}
	if m.Examples() != 234 || m.Learner == nil || len(m.Graphs) != 234 {
		t.Errorf("model of %d graphs, learner %v", m.Examples(), m.Learner)
	}
	_, data = s.do("GET", "/api/v1/download/table.csv", "", "")
	if lines := strings.Split(string(data), "\n"); len(lines) != 236 || strings.Count(lines[1], ",") != 9 {
		t.Errorf("table of %d lines: %s", len(lines), lines[1])
	}
	_, data = s.do("GET", "/api/v1/download/gram.csv", "", "")
	if lines := strings.Split(string(data), "\n"); len(lines) != 236 {
		t.Errorf("Gram matrix of %d lines", len(lines))
	}
	for name, start := range map[string]string{"map.svg": "<svg", "matrix.svg": "<svg", "map.png?layout=pca": "\x89PNG", "graph.svg?index=0": "<svg", "graph.png?index=0": "\x89PNG"} {
		if _, data = s.do("GET", "/api/v1/download/"+name, "", ""); !bytes.HasPrefix(data, []byte(start)) {
			t.Errorf("%s starts with %.20q", name, data)
		}
	}
}

// What takes too long is given up, and a mistake of ours is an answer and a line in the log.
func TestShort(t *testing.T) {
	var logged []string
	s := newTester(t, readSpec(t), drugs(t), func(o *Options) {
		o.ShortTimeout = time.Nanosecond
		o.Log = func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }
	})
	if code, body := s.do("GET", "/api/v1/predict?smiles=CCO", "", ""); code != 422 || !strings.Contains(message(body), "takes longer than 1ns") {
		t.Errorf("%d %s, want 422", code, body)
	}
	w := httptest.NewRecorder()
	e := endpoint{"GET", "/api/v1/health", nil, false, func(*Server, *request) (any, error) { panic("a mistake") }}
	s.server.serveEndpoint(e, w, httptest.NewRequest("GET", "/api/v1/health", nil))
	if w.Code != 500 || strings.Contains(w.Body.String(), "mistake") || len(logged) != 1 || !strings.Contains(logged[0], "a mistake") {
		t.Errorf("%d %s, logged %q", w.Code, w.Body, logged)
	}
}

// Small and odd sources: one graph, two, graphs without vertices or without edges.
func TestOddSources(t *testing.T) {
	build := func(n int, target string) *graph.Graph {
		b := graph.NewBuilder(n)
		for v := range n {
			b.SetLabel(v, "C")
			if v > 0 {
				b.AddEdge(v-1, v)
			}
		}
		b.SetTarget(target)
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for name, graphs := range map[string][]*graph.Graph{
		"one":       {build(3, "a")},
		"two":       {build(3, "a"), build(5, "b")},
		"equal":     {build(3, "a"), build(3, "b"), build(3, "a"), build(3, "b")},
		"empty":     {build(0, "a"), build(1, "b"), build(2, "a")},
		"one class": {build(3, "a"), build(4, "a"), build(5, "a")},
		"some":      {build(3, "a"), build(4, ""), build(5, "b"), build(6, "")},
		"values":    {build(3, "1.5"), build(4, "2.25"), build(5, "3.125"), build(6, "4.0625")},
	} {
		ds := &dataset.Dataset{Name: name, Graphs: graphs}
		src, err := DataSource(ds, dataset.DefaultOptions(), dataset.GivenWeight)
		if err != nil {
			t.Fatal(err)
		}
		s := newTester(t, readSpec(t), src, nil)
		for _, path := range []string{"info", "graphs", "map", "matrix", "gram", "evaluate", "neighbours?index=0", "predict?index=0", "predict?smiles=CC", "graph/0",
			"download/map.svg", "download/matrix.svg", "download/table.csv", "download/gram.csv", "download/model.mlg", "download/graph.svg?index=0"} {
			if code, body := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
				t.Errorf("%s: %s: %d %s", name, path, code, body)
			}
		}
		if code, body := s.do("POST", "/api/v1/compare", `{"a":{"index":0},"b":{"smiles":"CC"}}`, ""); code != 200 {
			t.Errorf("%s: compare: %d %s", name, code, body)
		}
	}
	if _, err := DataSource(&dataset.Dataset{Name: "none"}, dataset.DefaultOptions(), dataset.GivenWeight); err == nil {
		t.Error("a source without graphs")
	}
}

// A table is no program.
func TestField(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a,b": `"a,b"`, `a"b`: `"a""b"`, "=1+1": "'=1+1", "-1.5": "-1.5", "@x": "'@x", "": ""} {
		if got := field(in); got != want {
			t.Errorf("field(%q) = %q, want %q", in, got, want)
		}
	}
}

// A saved model answers with its own bits, with and without its graphs; with them other
// parameters can be tried.
func TestSavedModel(t *testing.T) {
	m := savedModel(t)
	src, err := ModelSource("saved", m, dataset.DefaultOptions(), dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	sp := readSpec(t)
	for name, source := range map[string]*Source{"whole": src, "bare": bare(t)} {
		s := newTester(t, sp, source, nil)
		var info Info
		s.get("/api/v1/info", &info)
		if !info.Saved || info.HasGraphs != (name == "whole") || len(info.Classes) != 13 {
			t.Errorf("%s: info %+v", name, info)
		}
		var said struct{ Predictions []Prediction }
		s.get("/api/v1/predict?smiles=CCO", &said)
		g, err := dataset.ParseSMILES("CCO", dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Search(context.Background(), []*graph.Graph{g}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := said.Predictions[0].Neighbours[0]; got.Similarity != want[0][0].Similarity || got.Index != want[0][0].Index {
			t.Errorf("%s: neighbour %+v, want %+v", name, got, want[0][0])
		}
	}
	s := newTester(t, sp, src, nil)
	if code, body := s.do("GET", "/api/v1/map?eta=0.5", "", ""); code != 200 {
		t.Errorf("other parameters: %d %s", code, body)
	}
	var e Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if e.Class != src.Targets[3] {
		t.Errorf("explained %q, want %q", e.Class, src.Targets[3])
	}
}

// Values as targets: regression everywhere.
func TestRegression(t *testing.T) {
	src := numbers(t)
	s := newTester(t, readSpec(t), src, nil)
	var info Info
	s.get("/api/v1/info", &info)
	if info.Task != regression || len(info.Range) != 2 || len(info.Classes) != 0 {
		t.Errorf("info %+v", info)
	}
	var said struct{ Predictions []Prediction }
	s.get("/api/v1/predict?index=3", &said)
	if p := said.Predictions[0]; p.Value == nil || math.Abs(*p.Value-src.value[3]) > 10 {
		t.Errorf("predicted %v, want about %v", p.Value, src.value[3])
	}
	var e Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if math.Abs(e.Value-*said.Predictions[0].Value) > 1e-6 {
		t.Errorf("explained %v, predicted %v", e.Value, *said.Predictions[0].Value)
	}
	var ev Evaluation
	s.get("/api/v1/evaluate", &ev)
	found := false
	for _, r := range ev.Rows {
		found = found || r.Name == "mlg" && r.RMSE != nil
	}
	if !found {
		t.Errorf("evaluation %+v", ev)
	}
	for _, path := range []string{"map", "matrix", "download/map.svg", "download/table.csv", "download/model.mlg", "download/graph.svg?index=0"} {
		if code, body := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
}

// Graphs without targets have maps and neighbours, and no prediction.
func TestNoTargets(t *testing.T) {
	o := dataset.DefaultOptions()
	ds, err := dataset.Drugs(o)
	if err != nil {
		t.Fatal(err)
	}
	ds.Graphs = ds.Graphs[:30]
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(g.ID(), "")
	}
	src, err := DataSource(ds, o, dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), src, nil)
	var said struct{ Predictions []Prediction }
	s.get("/api/v1/predict?smiles=CCO", &said)
	if p := said.Predictions[0]; p.Class != nil || p.Value != nil || len(p.Neighbours) != 5 {
		t.Errorf("prediction %+v", p)
	}
	if code, body := s.do("POST", "/api/v1/explain", `{"graph":{"index":1}}`, ""); code != 422 {
		t.Errorf("explain: %d %s", code, body)
	}
	for _, path := range []string{"info", "graphs", "map", "matrix", "evaluate", "download/map.svg", "download/matrix.svg", "download/table.csv", "download/model.mlg", "download/graph.svg?index=0"} {
		if code, body := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
}
