package explorer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// reopened keeps the session of a source as a file, and opens it on another server.
func reopened(t *testing.T, s *tester, query, body string) (*tester, openAnswer, []byte) {
	t.Helper()
	code, data := s.do("POST", "/api/v1/session"+query, body, "")
	if code != 200 {
		t.Fatalf("a session: %d %s", code, data)
	}
	other := newTester(t, s.spec, someDrugs(t), nil)
	code, said := other.do("POST", "/api/v1/open?name=a-session.json", string(data), "")
	if code != 200 {
		t.Fatalf("opening: %d %s", code, said)
	}
	var out openAnswer
	if err := json.Unmarshal(said, &out); err != nil {
		t.Fatal(err)
	}
	return other, out, data
}

// A session opens on another server as it was: the same name of the data, which follows from all of it, and the same predictions.
func TestSession(t *testing.T) {
	s := newTester(t, readSpec(t), drugs(t), nil)
	a := s.upload("name=series.csv&target=y", unmeasuredSeries())
	var made deriveAnswer
	s.post("/api/v1/derive?source="+a.Source, `{"name":"more","measured":[{"index":1,"target":"3"}]}`, &made)
	graphs := s.upload("name=two.jsonl", `{"id":"a","nodes":2,"edges":[[0,1,0.5]],"node_labels":["x","y"],"target":"1"}`+"\n"+
		`{"id":"b","nodes":3,"edges":[[0,1],[1,2]],"node_labels":["x","y","y"],"target":"2"}`+"\n")
	for _, id := range []string{"", a.Source, made.Source, graphs.Source} {
		query := ""
		if id != "" {
			query = "?source=" + id
		}
		var info infoAnswer
		s.get("/api/v1/info"+query, &info)
		other, out, _ := reopened(t, s, query, `{"page":"{\"hash\":\"x\"}"}`)
		var same infoAnswer
		other.get("/api/v1/info?source="+out.Source, &same)
		same.Given = info.Given
		want, _ := json.Marshal(info)
		if got, _ := json.Marshal(same); out.Source != info.Source || string(got) != string(want) || out.Page != `{"hash":"x"}` || out.Batch != "" {
			t.Errorf("%s opens as %+v\n%s, want\n%s", info.Source, out, got, want)
		}
		for _, path := range []string{"/api/v1/predict?index=1&", "/api/v1/columns?", "/api/v1/graphs?", "/api/v1/evaluate?"} {
			if id == graphs.Source && !strings.Contains(path, "graphs") { // too few to learn from
				continue
			}
			_, a := s.do("GET", path+"source="+info.Source, "", "")
			if _, b := other.do("GET", path+"source="+out.Source, "", ""); string(a) != string(b) {
				t.Errorf("%s of %s:\n%s\nafter opening\n%s", path, info.Source, a, b)
			}
		}
	}
}

// A model is kept as it was trained, and a batch with its names.
func TestSessionOfModel(t *testing.T) {
	d, err := FromModel("drugs", savedModel(t))
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), d, nil)
	id := newBatch(t, s.server, "CCO ethanol\nN[C@@H](C)C(=O)O alanine\n")
	other, out, data := reopened(t, s, "", fmt.Sprintf(`{"page":"","batch":%q}`, id))
	if out.Source != s.server.given().id || out.Graphs != 234 {
		t.Errorf("opened as %+v", out)
	}
	var a, b batchAnswer
	s.get("/api/v1/batch/"+id, &a)
	other.get("/api/v1/batch/"+out.Batch+"?source="+out.Source, &b)
	if !slices.Equal(a.IDs, b.IDs) || !slices.Equal(a.SMILES, b.SMILES) || !slices.Equal(a.Classes, b.Classes) || !slices.Equal(a.Probability, b.Probability) || !slices.Equal(a.Lines, b.Lines) {
		t.Errorf("batch %+v, after opening %+v", a, b)
	}
	for text, want := range map[string]string{
		"":                                       "is no session",
		"{}":                                     "is no session",
		string(data[:1000]):                      "or only a part of one",
		`{"mlg session":1}`:                      "it has no data",
		`{"mlg session":99}`:                     "cannot read",
		`{"mlg session":1,"model":"AAAA"}`:       "a-session.json: ",
		`{"mlg session":1,"task":"x","read":{}}`: `task "x"`,
		`{"mlg session":1,"task":"none","read":{"format":"auto","hydrogens":"written","edge_weight":"weight"},"kernel":"wl","graphs":[{"nodes":1,"edges":[]}],"columns":[{"name":"a","values":[]}]}`: "has 0 values of 1 graphs",
		`{"mlg session":1,"task":"none","read":{"format":"auto","hydrogens":"written","edge_weight":"weight"},"kernel":"wl h=999","graphs":[{"nodes":1,"edges":[]}]}`:                                "h = 999",
		`{"mlg session":1,"task":"none","read":{"format":"auto","hydrogens":"written","edge_weight":"weight"},"kernel":"wl","graphs":[{"nodes":1,"edges":[[0,7]]}]}`:                                 "a-session.json: ",
	} {
		if code, said := other.do("POST", "/api/v1/open?name=a-session.json", text, ""); code != 400 || !strings.Contains(message(said), want) {
			t.Errorf("%.80s: %d %s, want %s", text, code, said, want)
		}
	}
	other.server.o.ReadOnly = true
	if code, said := other.do("POST", "/api/v1/open?name=a-session.json", string(data), ""); code != 403 {
		t.Errorf("read-only: %d %s", code, said)
	}
}

// Nothing in a file of a session brings the server down.
func FuzzSession(f *testing.F) {
	f.Add([]byte(`{"mlg session":1,"name":"a","task":"regression","read":{"format":"auto","hydrogens":"written","edge_weight":"weight"},"kernel":"wl h=2","graphs":[{"nodes":2,"edges":[[0,1]],"target":"1"}],"columns":[{"name":"c","values":["x"]}]}`))
	f.Add([]byte(`{"mlg session":1,"model":"bWxn"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k := &kept{}
		if json.Unmarshal(data, k) != nil {
			return
		}
		o := DefaultOptions()
		o.UploadGraphs = 100
		if d, err := k.data(t.Context(), o); err == nil && len(d.IDs) != len(d.Graphs) {
			t.Errorf("%d names of %d graphs", len(d.IDs), len(d.Graphs))
		}
	})
}
