package explorer

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// One prediction through the whole server but for the network.
func BenchmarkPredict(b *testing.B) {
	s := New(drugs(b), DefaultOptions())
	defer s.end()
	h := s.handler()
	body := `{"graphs":[{"smiles":"CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"}],"k":1}`
	send := func() {
		r := httptest.NewRequest("POST", "/api/v1/predict", strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Body.String())
		}
	}
	send() // fits
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}
