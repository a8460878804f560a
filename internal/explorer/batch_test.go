package explorer

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

// newBatch sends SMILES as a batch and returns its name.
func newBatch(t *testing.T, s *Server, smiles string) string {
	t.Helper()
	a := asker(s)("POST", "/api/v1/batch?name=new.smi", func(r *http.Request) {
		r.Body = io.NopCloser(strings.NewReader(smiles))
		r.Header.Set("Content-Type", "application/octet-stream")
	})
	var out batchRead
	body, _ := io.ReadAll(a.Body)
	if err := json.Unmarshal(body, &out); err != nil || a.StatusCode != 200 {
		t.Fatalf("a batch: %d %s", a.StatusCode, body)
	}
	return out.Batch
}

// What is said about the graphs of a batch is what is said about each of them alone; its files say the same, and an SDF is read
// as the same molecules.
func TestBatch(t *testing.T) {
	for name, d := range map[string]*Data{"classes": drugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		smiles := []string{"CCO", "CN1C(=O)C(O)N=C(c2ccccc2)c2cc(Cl)ccc21", "N[C@@H](C)C(=O)O", "[Xe]", "c1ccccc1C(=O)[O-]"}
		text := ""
		for i, m := range smiles {
			text += fmt.Sprintf("%s m%d\n", m, i)
		}
		id := newBatch(t, s.server, text+"C(\n")
		var a batchAnswer
		s.get("/api/v1/batch/"+id, &a)
		if len(a.IDs) != len(smiles) || a.IDs[1] != "m1" || a.SMILES[2] != smiles[2] || a.Lines[4] != 5 {
			t.Fatalf("%s: batch %+v", name, a)
		}
		for i, m := range smiles {
			var said struct{ Predictions []prediction }
			s.post("/api/v1/predict", fmt.Sprintf(`{"graphs":[{"smiles":%q}]}`, m), &said)
			p := said.Predictions[0]
			same := p.Nearest[0].Index == a.Nearest[i] && p.Percentile == a.Percentile[i] && p.Unlike == a.Unlike[i] && (p.Known != nil) == (a.Known[i] >= 0)
			if p.Class != nil {
				same = same && *p.Class == a.Classes[i] && p.Probabilities[0].Probability == a.Probability[i]
			} else {
				same = same && math.Abs(*p.Value-a.Values[i]) < 1e-9 && math.Abs(p.Interval.Low-a.Low[i]) < 1e-9 && math.Abs(p.Interval.High-a.High[i]) < 1e-9
			}
			if !same {
				t.Errorf("%s: row %d of %+v, alone %+v", name, i, a, p)
			}
		}
		code, table := s.do("POST", "/api/v1/table", fmt.Sprintf(`{"batch":%q,"rows":[1,0],"format":"csv"}`, id), "")
		rows, err := csv.NewReader(strings.NewReader(string(table))).ReadAll()
		if code != 200 || err != nil || len(rows) != 3 || rows[1][0] != "m1" || rows[2][1] != "CCO" || !strings.HasPrefix(rows[0][3], "predicted ") {
			t.Errorf("%s: CSV %d %q", name, code, rows)
		}
		code, sdf := s.do("POST", "/api/v1/table", fmt.Sprintf(`{"batch":%q,"rows":[0,1,2,3,4],"format":"sdf"}`, id), "")
		ds, err := dataset.ReadFrom(t.Context(), strings.NewReader(string(sdf)), "out.sdf", dataset.DefaultOptions())
		if code != 200 || err != nil || len(ds.Graphs) != len(smiles) || !strings.Contains(string(sdf), ">  <smiles>\nN[C@@H](C)C(=O)O\n") {
			t.Errorf("%s: SDF %d %v\n%s", name, code, err, sdf)
		}
		for request, want := range map[string]string{
			fmt.Sprintf(`{"batch":%q,"rows":[],"format":"sdf"}`, id):  "want 1 to 5",
			fmt.Sprintf(`{"batch":%q,"rows":[5],"format":"sdf"}`, id): "row 5, want 0 … 4",
			`{"batch":"other","rows":[0],"format":"csv"}`:             "is not here",
		} {
			if code, out := s.do("POST", "/api/v1/table", request, ""); code/100 != 4 || !strings.Contains(string(out), want) {
				t.Errorf("%s: %d %s, want %s", request, code, out, want)
			}
		}
	}
}

// A file without a graph that can be read is no batch, and one with too many graphs is cut, which the answer says.
func TestBatchFiles(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	for text, want := range map[string]string{"": "no graphs", "C(\n": "line 1", strings.Repeat("CCO\n", maxBatch+1): `"more":true`} {
		r := httptest.NewRequest("POST", "/api/v1/batch?name=a.smi", strings.NewReader(text))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/octet-stream")
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.20q: %d %.300s, want %s", text, w.Code, w.Body, want)
		}
	}
}
