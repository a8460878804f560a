package explorer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/suggest"
)

// unmeasuredSeries are chains whose values follow their length. Every third has none.
func unmeasuredSeries() string {
	var b strings.Builder
	b.WriteString("name,smiles,y\n")
	for i := range 60 {
		y := fmt.Sprintf("%g", float64(i%20)/4+math.Sin(float64(i)))
		if i%3 == 1 {
			y = ""
		}
		fmt.Fprintf(&b, "m%d,%s%s,%s\n", i, strings.Repeat("C", 1+i%20), []string{"O", "N", "c1ccccc1"}[i/20], y)
	}
	return b.String()
}

// What is suggested of graphs without a value is what package suggest says by a model of the others.
func TestSuggest(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=series.csv&target=y", unmeasuredSeries())
	var out suggestAnswer
	s.post("/api/v1/suggest?source="+a.Source, `{"k":5,"goal":"2.5"}`, &out)

	ds, err := dataset.ReadFrom(t.Context(), strings.NewReader(unmeasuredSeries()), "series.csv", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	known, pool := &dataset.Dataset{}, suggest.Block{}
	var at []int
	for i, g := range ds.Graphs {
		if g.Target() != "" {
			known.Graphs = append(known.Graphs, g)
			continue
		}
		pool.IDs, pool.Graphs, at = append(pool.IDs, g.ID()), append(pool.Graphs, g), append(at, i)
	}
	src, _ := s.server.given().choose2("mlg")
	o := model.DefaultLearnOptions()
	o.Task = choose.Regression
	m, _, err := model.Learn(t.Context(), known, choose.Each(src), o)
	if err != nil {
		t.Fatal(err)
	}
	want := suggest.DefaultPoolOptions()
	want.K, want.Goal = 5, suggest.Goal{Kind: suggest.Reach, Low: 2.5, High: 2.5}
	blocks := []suggest.Block{pool, {}}
	r, err := suggest.From(t.Context(), m, func() (b suggest.Block, err error) {
		b, blocks = blocks[0], blocks[1:]
		return b, nil
	}, nil, want)
	if err != nil {
		t.Fatal(err)
	}
	if out.Pool != 20 || out.Goal != "2.5" || len(out.Batch) != 5 || len(r.Batch) != 5 {
		t.Fatalf("suggestions %+v, want %+v", out, r)
	}
	half := metrics.HalfWidth(0.9)
	for k, x := range out.Batch {
		y := r.Batch[k]
		if x.Index != at[y.Index] || x.ID != y.ID || math.Abs(*x.Value-*y.Value) > 1e-9 || x.Why != y.Why || math.Abs(x.Similarity-y.Similarity) > 1e-9 {
			t.Errorf("suggestion %d: %+v, want %+v", k, x, y)
		}
		if math.Abs(x.Interval.Low-*y.Value+half**y.Deviation) > 1e-9 || a.Graphs != 60 || s.server.sources[1].data.Targets[x.Nearest] == "" {
			t.Errorf("suggestion %d: interval %+v, nearest %d", k, x.Interval, x.Nearest)
		}
	}
	// What is not wanted, or beyond the limits, is not suggested.
	s.post("/api/v1/suggest?source="+a.Source, fmt.Sprintf(`{"k":3,"goal":"2.5","without":[%d],"vertices":12}`, out.Batch[0].Index), &out)
	for _, x := range out.Batch {
		if x.Index == at[r.Batch[0].Index] || ds.Graphs[x.Index].N() > 12 {
			t.Errorf("suggested %+v", x)
		}
	}
	if out.Limited == 0 {
		t.Error("no graph beyond the limits")
	}
	for request, message := range map[string]string{
		`{"goal":"much"}`:            "goal",
		`{"goal":"max","class":"x"}`: "is wanted, but the model predicts values",
		`{"batch":"b"}`:              "is not here",
		`{"k":0}`:                    "k = 0",
	} {
		if code, body := s.do("POST", "/api/v1/suggest?source="+a.Source, request, ""); code/100 != 4 || !strings.Contains(string(body), message) {
			t.Errorf("%s: %d %s, want %s", request, code, body, message)
		}
	}
	if code, body := s.do("POST", "/api/v1/suggest", `{}`, ""); code != 422 || !strings.Contains(string(body), "all graphs here have a target") {
		t.Errorf("without a pool: %d %s", code, body)
	}
}

// choose2 is choose without the key.
func (s *source) choose2(text string) (kernel.Kernel, error) {
	k, _, err := s.choose(text)
	return k, err
}

// Graphs of a batch are suggested by a class, and measured ones join the data.
func TestDerive(t *testing.T) {
	s := newTester(t, readSpec(t), drugs(t), nil)
	id := newBatch(t, s.server, "CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35 morphine\nCCO ethanol\nCC(=O)Oc1ccccc1C(=O)O aspirin\nCCCCO butanol\n")
	var out suggestAnswer
	s.post("/api/v1/suggest", fmt.Sprintf(`{"batch":%q,"class":"opioid","k":2}`, id), &out)
	if out.Measured == 0 || out.Acquisition != "probability" || len(out.Batch) != 2 || out.Batch[0].Probability == nil || out.Batch[0].Place.Neighbours == [2]float64{} {
		t.Errorf("suggestions %+v", out)
	}
	var made deriveAnswer
	s.post("/api/v1/derive", fmt.Sprintf(`{"name":"more","batch":%q,"measured":[{"index":1,"target":"alcohol"},{"index":3,"target":"alcohol"}]}`, id), &made)
	var info infoAnswer
	s.get("/api/v1/info?source="+made.Source, &info)
	var graphs graphsAnswer
	s.get("/api/v1/graphs?source="+made.Source, &graphs)
	var again batchAnswer
	s.get("/api/v1/batch/"+made.Batch+"?source="+made.Source, &again)
	if again.Known[1] != 234 || again.Classes[1] != "alcohol" {
		t.Errorf("the batch of the new data: %+v", again)
	}
	if made.Graphs != 236 || graphs.IDs[235] != "butanol" || graphs.Targets[234] != "alcohol" || len(info.Classes) != 14 || info.Name != "more" {
		t.Errorf("derived %+v, %v", made, graphs.IDs[230:])
	}
	var columns columnsAnswer
	s.get("/api/v1/columns?column=round&source="+made.Source, &columns)
	if n := columns.Columns[0].Numbers; *n[0] != 0 || *n[235] != 1 {
		t.Errorf("rounds %v … %v", *n[0], *n[235])
	}
	// A part keeps the columns; values of graphs of the data take the place of others, and count as the next round.
	s.post("/api/v1/derive?source="+made.Source, `{"name":"part","graphs":[235,3,234,3],"measured":[{"index":3,"target":"steroid"}]}`, &made)
	s.get("/api/v1/graphs?source="+made.Source, &graphs)
	s.get("/api/v1/columns?column=round&source="+made.Source, &columns)
	if !slices.Equal(graphs.IDs, []string{drugs(t).IDs[3], "ethanol", "butanol"}) || graphs.Targets[0] != "steroid" || *columns.Columns[0].Numbers[0] != 2 {
		t.Errorf("a part: %+v, rounds %v", graphs, *columns.Columns[0].Numbers[0])
	}
	for request, message := range map[string]string{
		`{"name":"x","graphs":[]}`:                                                   "graphs: none",
		`{"name":"x","graphs":[234]}`:                                                "graph 234, want 0 … 233",
		`{"name":"x","measured":[{"index":999,"target":"a"}]}`:                       "measured[0]: graph 999",
		`{"name":"x","measured":[{"index":1,"target":"a"},{"index":1,"target":""}]}`: "target",
		`{"name":""}`: "name",
		`{"name":"x","measured":[{"index":1,"target":"a"},{"index":1,"target":"b"}]}`: "has a target already",
	} {
		if code, body := s.do("POST", "/api/v1/derive", request, ""); code/100 != 4 || !strings.Contains(string(body), message) {
			t.Errorf("%s: %d %s, want %s", request, code, body, message)
		}
	}
	numbers := newTester(t, readSpec(t), numbers(t), nil)
	if code, body := numbers.do("POST", "/api/v1/derive", `{"name":"x","measured":[{"index":1,"target":">3"}]}`, ""); code != 400 || !strings.Contains(string(body), "want a number") {
		t.Errorf("a text as a value: %d %s", code, body)
	}
	s.server.o.ReadOnly = true
	if code, body := s.do("POST", "/api/v1/derive", `{"name":"x"}`, ""); code != 403 {
		t.Errorf("read-only: %d %s", code, body)
	}
}
