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
	r := suggestFrom(t, m, pool, want)
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

// severalSeries have two targets: y as unmeasuredSeries, and z, which falls with the length and misses elsewhere.
func severalSeries() string {
	lines := strings.Split(strings.TrimSpace(unmeasuredSeries()), "\n")
	for i, line := range lines {
		z := fmt.Sprintf("%g", 10-float64((i-1)%20)/3+math.Cos(float64(i)))
		switch {
		case i == 0:
			z = "z"
		case i%4 == 1:
			z = ""
		}
		lines[i] = line + "," + z
	}
	return strings.Join(lines, "\n") + "\n"
}

// With goals of several targets the batch is that of package suggest by a model of all of them, and what lacks one of them is
// the pool. Values of all of them join the data.
func TestSuggestSeveral(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=series.csv&target=y", severalSeries())
	var out suggestAnswer
	s.post("/api/v1/suggest?source="+a.Source, `{"k":5,"goals":["y=max","z=6:8"]}`, &out)
	d := s.server.sources[1].data
	ds, pool := &dataset.Dataset{}, suggest.Block{}
	endpoints := []choose.Endpoint{{Name: "y", Data: &dataset.Dataset{}}, {Name: "z", Data: &dataset.Dataset{}}}
	var at []int
	for i, g := range d.Graphs {
		values := []string{d.Targets[i], d.columns[0].values[i]}
		if values[0] == "" || values[1] == "" {
			pool.IDs, pool.Graphs, at = append(pool.IDs, d.IDs[i]), append(pool.Graphs, g), append(at, i)
		}
		if values[0] == "" && values[1] == "" {
			continue
		}
		for j, v := range values {
			if v != "" {
				endpoints[j].At, endpoints[j].Data.Graphs = append(endpoints[j].At, len(ds.Graphs)), append(endpoints[j].Data.Graphs, g.With(d.IDs[i], v))
			}
		}
		ds.Graphs = append(ds.Graphs, g.With(d.IDs[i], ""))
	}
	k, _ := s.server.given().choose2("mlg")
	o := model.DefaultLearnOptions()
	o.Task = choose.Regression
	m, _, err := model.LearnAll(t.Context(), ds, endpoints, choose.Each(k), o)
	if err != nil {
		t.Fatal(err)
	}
	want := suggest.DefaultPoolOptions()
	want.K, want.Goals = 5, []suggest.Wanted{{Target: "y", Goal: suggest.Goal{Kind: suggest.Maximise}}, {Target: "z", Goal: suggest.Goal{Kind: suggest.Range, Low: 6, High: 8}}}
	r := suggestFrom(t, m, pool, want)
	if out.Pool != len(at) || out.Goal != "y=max, z=6:8" || len(out.Batch) != 5 || len(r.Batch) != 5 {
		t.Fatalf("suggestions %+v, want %+v", out, r)
	}
	for k, x := range out.Batch {
		y := r.Batch[k]
		if x.Index != at[y.Index] || len(x.Targets) != 2 || x.Targets[1].Target != "z" || math.Abs(x.Targets[1].Value-y.Targets[1].Value) > 1e-9 || *x.Probability != *y.Probability || x.Front != *y.Front || x.Why != y.Why {
			t.Errorf("suggestion %d: %+v, want %+v", k, x, y)
		}
		if i := x.Targets[0].Interval; math.Abs(i.Low-x.Targets[0].Value+metrics.HalfWidth(0.9)**y.Targets[0].Deviation) > 1e-9 {
			t.Errorf("suggestion %d: interval %+v", k, i)
		}
	}
	// A model of both targets suggests from its graphs that lack one, with the targets that it was trained for.
	both, err := FromModel("both", m)
	if err != nil {
		t.Fatal(err)
	}
	var told suggestAnswer
	newTester(t, readSpec(t), both, nil).post("/api/v1/suggest", `{"k":3,"goals":["y=max","z=6:8"]}`, &told)
	if lacking := 2*len(ds.Graphs) - len(endpoints[0].At) - len(endpoints[1].At); told.Pool != lacking || len(told.Batch) != 3 || told.Batch[0].Targets[0].Target != "y" {
		t.Errorf("by a model %+v, want a pool of %d", told, lacking)
	}
	for _, goal := range []string{"learn", "max"} { // a single goal is one of its target alone
		var one, alone suggestAnswer
		s.post("/api/v1/suggest?source="+a.Source, `{"k":2,"goals":["z=`+goal+`"]}`, &one)
		if len(one.Batch) != 2 || one.Batch[0].Value == nil || len(one.Batch[0].Targets) != 0 {
			t.Errorf("z=%s: %+v, want values of one target", goal, one)
		}
		newTester(t, readSpec(t), both, nil).post("/api/v1/suggest", `{"k":2,"goals":["z=`+goal+`"]}`, &alone)
		if len(alone.Batch) != 2 || alone.Batch[0].Value == nil || len(alone.Batch[0].Targets) != 0 {
			t.Errorf("z=%s by a model: %+v, want values of one target", goal, alone)
		}
	}
	for request, message := range map[string]string{
		`{"goals":["x=max"]}`: "neither the target nor a column of numbers",
		`{"goals":["y=max","y=max","y=max","y=max","y=max","y=max","y=max","y=max","y=max","y=max","y=max"]}`: "goals",
		`{"goals":["y"]}`:               "the name of a target and its goal",
		`{"goals":["y=max","z=learn"]}`: "the goal learn is for one target alone",
		`{"goals":["y=max","y=min"]}`:   "two goals for the target y",
	} {
		if code, body := s.do("POST", "/api/v1/suggest?source="+a.Source, request, ""); code/100 != 4 || !strings.Contains(string(body), message) {
			t.Errorf("%s: %d %s, want %s", request, code, body, message)
		}
	}
}

// Models of several targets are kept, whatever the order of the goals, but not all of them.
func TestModelsOfSeveral(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=series.csv&target=y", severalSeries())
	var first, second suggestAnswer
	s.post("/api/v1/suggest?source="+a.Source, `{"k":2,"goals":["y=max","z=6:8"]}`, &first)
	s.post("/api/v1/suggest?source="+a.Source, `{"k":2,"goals":["z=6:8","y=max"]}`, &second)
	x, err := s.server.sources[1].session("")
	if err != nil {
		t.Fatal(err)
	}
	if len(x.several.results) != 1 || second.Batch[0].Targets[0].Target != "z" || second.Batch[0].Index != first.Batch[0].Index {
		t.Errorf("%d models, %+v and %+v", len(x.several.results), first, second)
	}
	var e byColumn[int]
	known := e.of("a", 3)
	for i := range 10 {
		if e.of(fmt.Sprint(i), 3); e.of("a", 3) != known {
			t.Fatal("what was asked for last is forgotten")
		}
	}
	if len(e.results) != 3 || len(e.names) != 3 {
		t.Errorf("%d results, want 3", len(e.results))
	}
}

// Values of two targets join the data, or of one of them.
func TestDeriveSeveral(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=series.csv&target=y", severalSeries())
	d := s.server.sources[1].data
	const i, j = 1, 4
	var made deriveAnswer
	s.post("/api/v1/derive?source="+a.Source, fmt.Sprintf(`{"name":"more","measured":[{"index":%d,"target":"4","others":[{"column":"z","value":"7"}]},{"index":%d,"target":"","others":[{"column":"z","value":"5"}]}]}`, i, j), &made)
	more := s.server.sources[1].data
	if z := more.columns[0].values; more.Targets[i] != "4" || z[i] != "7" || z[j] != "5" || more.Targets[j] != d.Targets[j] || more.columns[1].values[j] != "1" || d.columns[0].values[i] == "7" {
		t.Errorf("derived %q %q %q", more.Targets[i], z[i], z[j])
	}
	for request, message := range map[string]string{
		`{"name":"x","measured":[{"index":1,"target":""}]}`:                                              "measured[0]: no target",
		`{"name":"x","measured":[{"index":1,"target":"","others":[{"column":"z","value":"much"}]}]}`:     "want a number",
		`{"name":"x","measured":[{"index":1,"target":"1","others":[{"column":"nothing","value":"1"}]}]}`: "no column",
	} {
		if code, body := s.do("POST", "/api/v1/derive?source="+a.Source, request, ""); code/100 != 4 || !strings.Contains(string(body), message) {
			t.Errorf("%s: %d %s, want %s", request, code, body, message)
		}
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

// suggestFrom suggests graphs of a pool of one block.
func suggestFrom(t *testing.T, m *model.Model, pool suggest.Block, want suggest.PoolOptions) *suggest.Result {
	t.Helper()
	blocks := []suggest.Block{pool, {}}
	r, err := suggest.From(t.Context(), m, func() (b suggest.Block, err error) {
		b, blocks = blocks[0], blocks[1:]
		return b, nil
	}, nil, want)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
