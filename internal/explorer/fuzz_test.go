package explorer

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Every request is answered, and none by an error of the server itself.
func FuzzRequests(f *testing.F) {
	s := New(someDrugs(f), DefaultOptions())
	handler := s.handler()
	for _, x := range [][2]string{
		{"info", ""}, {"kernel?text=0.5+mlg+%2B+wl", ""}, {"graph/3", ""}, {"find?text=m&limit=3", ""}, {"find?smiles=C%3DO", ""},
		{"gram?rows=0-3&columns=2-5&kernel=labels", ""}, {"neighbours?index=2&k=3&kernel=labels", ""}, {"predict?smiles=CCO&kernel=labels", ""},
		{"graph", `{"smiles":"CCO"}`}, {"read", `{"text":"CCO a\nCC b\n"}`}, {"neighbours", `{"graph":{"smiles":"C"},"kernel":"labels"}`},
		{"compare", `{"a":{"index":1},"b":{"smiles":"CC"},"kernel":"labels"}`}, {"export", `{"format":"csv","graphs":[1,2]}`},
		{"upload?name=x.smi", "CCO a\nCC b\n"}, {"download/gram.csv?kernel=labels", ""}, {"explain", `{"graph":{"smiles":"CCO"},"kernel":"labels"}`},
	} {
		f.Add(x[0], []byte(x[1]))
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		u, err := url.Parse("http://127.0.0.1/api/v1/" + path)
		if err != nil {
			return
		}
		name, _, _ := strings.Cut(path, "?")
		if k := u.Query().Get("kernel"); k != "" && k != "labels" || bytes.Contains(body, []byte("kernel")) && !bytes.Contains(body, []byte(`"kernel":"labels"`)) {
			if name != "kernel" && name != "info" {
				return // fitting any kernel takes long
			}
		}
		method := http.MethodGet
		if len(body) > 0 {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, "http://127.0.0.1/", bytes.NewReader(body))
		r.URL, r.RequestURI = u, u.RequestURI()
		if r.Header.Set("Content-Type", "application/json"); name == "upload" {
			r.Header.Set("Content-Type", "application/octet-stream")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		t.Logf("%s %s: %d %.200s", method, path, w.Code, w.Body)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s %q: %d %s", method, path, body, w.Code, w.Body)
		}
	})
}
