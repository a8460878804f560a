package explorer

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// The page of the API has every operation, every type and every field of the document, and nothing foreign. What
// it shows as an example can be sent.
func TestDocs(t *testing.T) {
	s := newTester(t, readSpec(t), drugs(t), nil)
	ask := func(path string) string {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		s.server.handler().ServeHTTP(w, r)
		if w.Code != 200 || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Fatalf("%s: %d %v", path, w.Code, w.Header())
		}
		return w.Body.String()
	}
	page := ask("/docs")
	many := newBatch(t, s.server, "CCO ethanol\nCCN ethylamine\n")
	for _, e := range endpoints {
		if !strings.Contains(page, "<code>"+e.method+" "+e.path+"</code>") || !strings.Contains(page, e.summary) {
			t.Errorf("%s %s is not on the page", e.method, e.path)
		}
		switch text := examples[e.method+" "+strings.TrimPrefix(e.path, "/api/v1/")]; {
		case e.raw:
		case e.method == "GET":
			path := strings.NewReplacer("{index}", "3", "{file}", "map.svg", "{batch}", many, "{row}", "0").Replace(e.path)
			text = strings.ReplaceAll(text, "BATCH", many)
			if code, out := s.do("GET", path+text, "", ""); code != 200 {
				t.Errorf("%s: %d %s", example(e, ""), code, out)
			}
		default:
			if code, out := s.do("POST", e.path, strings.ReplaceAll(text, "BATCH", many), ""); code != 200 {
				t.Errorf("%s: %d %s", example(e, ""), code, out)
			}
		}
	}
	for name, schema := range s.spec.at("components", "schemas") {
		if !strings.Contains(page, `<h2 id="`+name+`">`) {
			t.Errorf("type %s is not on the page", name)
		}
		for f := range schema.(map[string]any)["properties"].(map[string]any) {
			if !strings.Contains(page, "<code>"+f+"</code>") {
				t.Errorf("field %s of %s is not on the page", f, name)
			}
		}
	}
	text := strings.ReplaceAll(page+ask("/docs.css"), "http://localhost/", "")
	for _, bad := range []string{"http://", "https://", "<script", "<style", " style=", "url("} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
