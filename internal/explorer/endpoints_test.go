package explorer

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/model"
)

// What is predicted of a column is what is predicted where it is the target.
func TestEndpoints(t *testing.T) {
	var b strings.Builder
	b.WriteString("name,smiles,kind,size,y\n")
	for i := range 60 {
		kind, size := []string{"alcohol", "amine", "ring"}[i/20], fmt.Sprint(1.5+float64(i%20))
		if i%7 == 3 {
			size = ""
		}
		fmt.Fprintf(&b, "m%d,%s%s,%s,%s,%g\n", i, strings.Repeat("C", 1+i%20), []string{"O", "N", "c1ccccc1"}[i/20], kind, size, math.Sin(float64(i)))
	}
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	batchOf := func(source string) string {
		r := httptest.NewRequest("POST", "/api/v1/batch?name=new.smi&source="+source, strings.NewReader("CCCCCO one\nCCCCCCCN two\nCc1ccccc1 three\n"))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/octet-stream")
		w := httptest.NewRecorder()
		s.server.handler().ServeHTTP(w, r)
		var out batchRead
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return out.Batch
	}
	all := s.upload("name=series.csv&target=y", b.String()).Source
	batch := batchOf(all)
	for _, column := range []string{"size", "kind"} {
		var here, there batchAnswer
		s.get("/api/v1/batch/"+batch+"?endpoint="+column+"&source="+all, &here)
		alone := s.upload("name="+column+".csv&target="+column, b.String()).Source
		s.get("/api/v1/batch/"+batchOf(alone)+"?source="+alone, &there)
		same := slices.Equal(here.Classes, there.Classes) && len(here.Values) == len(there.Values) && len(here.Low) == len(there.Low)
		for i := range here.Values {
			same = same && math.Abs(here.Values[i]-there.Values[i]) < 1e-9 && math.Abs(here.Low[i]-there.Low[i]) < 1e-9
		}
		for i := range here.Probability {
			same = same && math.Abs(here.Probability[i]-there.Probability[i]) < 1e-9
		}
		if !same || len(here.Values)+len(here.Classes) != 3 {
			t.Errorf("%s: %+v, as the target %+v", column, here, there)
		}
	}
	var said predictAnswer
	s.post("/api/v1/predict?source="+all, `{"graphs":[{"smiles":"CCCCCO"},{"index":0},{"index":3}],"endpoint":"size"}`, &said)
	if p := said.Predictions; len(p) != 3 || p[0].HeldOut || !p[1].HeldOut || p[1].Fitted == nil || p[2].Value == nil {
		t.Errorf("predicted %+v", p)
	}
	code, table := s.do("POST", "/api/v1/table?source="+all, fmt.Sprintf(`{"batch":%q,"rows":[2,0],"format":"csv","endpoints":["size","kind"]}`, batch), "")
	rows, err := csv.NewReader(strings.NewReader(string(table))).ReadAll()
	if err != nil || code != 200 || len(rows) != 3 {
		t.Fatalf("%d %s", code, table)
	}
	for _, name := range []string{"predicted y", "predicted size", "size low 90 %", "predicted kind", "kind probability"} {
		if !slices.Contains(rows[0], name) {
			t.Errorf("no column %q in %q", name, rows[0])
		}
	}
	if k := slices.Index(rows[0], "predicted kind"); rows[1][0] != "three" || rows[1][k] != "ring" {
		t.Errorf("row %q", rows[1])
	}
	for column, message := range map[string]string{"nothing": "no column", "name": "no column"} {
		if code, said := s.do("GET", "/api/v1/batch/"+batch+"?endpoint="+column+"&source="+all, "", ""); code/100 != 4 || !strings.Contains(string(said), message) {
			t.Errorf("%s: %d %s", column, code, said)
		}
	}
}

// A model of several endpoints predicts all of them as it was trained.
func TestEndpointsOfModel(t *testing.T) {
	all := drugs(t)
	values := &dataset.Dataset{}
	var at []int
	for i, g := range all.Graphs {
		if i%3 != 1 {
			values.Graphs, at = append(values.Graphs, g.With(g.ID(), fmt.Sprintf("%d.5", g.N()))), append(at, i)
		}
	}
	whole := &dataset.Dataset{Graphs: all.Graphs}
	wl, err := all.chosen("wl h=2")
	if err != nil {
		t.Fatal(err)
	}
	candidates := choose.Each(wl)
	m, _, err := model.LearnAll(t.Context(), whole, []choose.Endpoint{{Name: "class", Data: whole}, {Name: "size", Data: values, At: at}}, candidates, model.DefaultLearnOptions())
	if err != nil {
		t.Fatal(err)
	}
	d, err := FromModel("two", m)
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), d, nil)
	var info infoAnswer
	s.get("/api/v1/info", &info)
	if len(info.Columns) != 1 || info.Columns[0].Name != "size" || !info.Columns[0].Numeric || info.Task != classification {
		t.Errorf("columns %+v, task %s", info.Columns, info.Task)
	}
	id := newBatch(t, s.server, "CCO\nCN1C(=O)C(O)N=C(c2ccccc2)c2cc(Cl)ccc21\n")
	var classes, sizes batchAnswer
	s.get("/api/v1/batch/"+id, &classes)
	s.get("/api/v1/batch/"+id+"?endpoint=size", &sizes)
	e, err := m.Endpoint("size")
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Predict(t.Context(), s.server.batches[0].graphs, model.DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	var said predictAnswer
	s.post("/api/v1/predict", `{"graphs":[{"smiles":"CCO"},{"index":3}],"endpoint":"size"}`, &said)
	if p := said.Predictions; math.Abs(*p[0].Value-want[0].Value) > 1e-9 || p[0].Class != nil || p[1].Value == nil || p[1].HeldOut {
		t.Errorf("predicted %+v, want %+v", p, want[0])
	}
	if len(classes.Classes) != 2 || len(sizes.Values) != 2 || len(sizes.Low) != 2 {
		t.Fatalf("classes %+v, sizes %+v", classes, sizes)
	}
	for i, p := range want {
		if math.Abs(sizes.Values[i]-p.Value) > 1e-9 || math.Abs(sizes.Low[i]-p.Interval.Low) > 1e-9 {
			t.Errorf("size %d: %v from %v, want %+v", i, sizes.Values[i], sizes.Low[i], p)
		}
	}
}
