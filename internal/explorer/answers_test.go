package explorer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
)

// What the answers say agrees with the library.
func TestAnswers(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	ctx := context.Background()
	m, err := src.Kernel.Asked.Fit(ctx, src.Graphs)
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

	var near struct{ Neighbours []model.Neighbour }
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
	var said struct{ Predictions []prediction }
	s.post("/api/v1/predict", `{"graphs":[{"graph":`+string(line)+`},{"index":3}],"place":true}`, &said)
	p, q := said.Predictions[0], said.Predictions[1]
	if p.Nearest[0].Index != 3 || p.Nearest[0].Similarity != 1 || p.Unlike {
		t.Errorf("a graph of the source has the neighbour %+v, unlike %v", p.Nearest[0], p.Unlike)
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

	// A graph without an identifier has its number, from 1.
	s.post("/api/v1/predict", `{"graphs":[{"index":3},{"smiles":"CCO"},{"graph":`+ethanol+`}]}`, &said)
	for i, want := range []string{src.IDs[3], "CCO", "3"} {
		if got := said.Predictions[i].ID; got != want {
			t.Errorf("graph %d of a request is called %q, want %q", i, got, want)
		}
	}

	// An explanation adds up to the decision, and the terms are training graphs.
	var e explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if e.Class != src.Targets[3] || len(e.Vertices) != src.Graphs[3].N() || e.Value <= 0 || math.Abs(e.Sum-e.Value) > 1e-9 || len(e.Graphs) != 10 || e.Says == "" {
		t.Errorf("explanation %+v", e)
	}

	// The kernel of a pair is that of its top level.
	var pair comparison
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
	var v vertexAnswer
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
	var ev evaluation
	s.get("/api/v1/evaluate", &ev)
	byName := map[string]float64{}
	for _, r := range ev.Rows {
		byName[r.Name] = r.Accuracy
	}
	if ev.Graphs != 234 || !(byName["mlg"] > byName["labels"] && byName["labels"] > byName["majority class"]) {
		t.Errorf("evaluation %v of %d graphs", byName, ev.Graphs)
	}
	s.get("/api/v1/predict?index=3", &said)
	if p := said.Predictions[0]; !p.HeldOut || p.Fitted == nil || *p.Class != ev.Predicted[3] {
		t.Errorf("the prediction for a graph of the data, %+v, is not that without it, %s", p, ev.Predicted[3])
	}
}

// A graph that is drawn has its vertices where the picture has them.
func TestDrawing(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	var a struct {
		Drawing drawing
		Graph   struct {
			ID    string   `json:"id"`
			Nodes int      `json:"nodes"`
			Edges [][2]int `json:"edges"`
		}
	}
	s.get("/api/v1/graph/3", &a)
	var text struct{ Graph json.RawMessage }
	s.get("/api/v1/graph/3", &text)
	g := src.Graphs[3]
	if len(a.Drawing.Vertices) != g.N() || len(a.Graph.Edges) != g.M() || a.Graph.ID != src.IDs[3] || a.Graph.Nodes != g.N() || !a.Drawing.Molecule || strings.Contains(a.Drawing.SVG, "<circle") || strings.Contains(a.Drawing.SVG, "style") {
		t.Fatalf("drawing of %d vertices and %d edges, molecule %v", len(a.Drawing.Vertices), len(a.Graph.Edges), a.Drawing.Molecule)
	}
	var lengths []float64
	for _, e := range a.Graph.Edges {
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
	s.post("/api/v1/graph", `{"graph":`+string(text.Graph)+`}`, &again)
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
	graphtest.Slow(t)
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	_, data := s.do("GET", "/api/v1/download/model.mlg?kernel=mlg+eta=0.2", "", "")
	m, err := model.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if m.Examples() != 234 || m.Task() == model.SearchOnly || len(m.Graphs) != 234 {
		t.Errorf("model of %d graphs, learner %v", m.Examples(), m.Learner)
	}
	_, data = s.do("GET", "/api/v1/download/table.csv", "", "")
	if lines := strings.Split(string(data), "\n"); len(lines) != 236 || strings.Count(lines[1], ",") != 11 {
		t.Errorf("table of %d lines: %s", len(lines), lines[1])
	}
	_, data = s.do("GET", "/api/v1/download/gram.csv", "", "")
	if lines := strings.Split(string(data), "\n"); len(lines) != 236 || !strings.HasPrefix(lines[0], "id,diazepam,nordazepam,") || strings.Count(lines[0], ",") != strings.Count(lines[1], ",") {
		t.Errorf("Gram matrix of %d lines: %.80s", len(lines), lines[0])
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
	e := operation("GET", "health", "", nil, func(*request, *struct{}) (any, error) { panic("a mistake") })
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
		src, err := fromDataset(ds, dataset.DefaultOptions(), "")
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
	if _, err := fromDataset(&dataset.Dataset{Name: "none"}, dataset.DefaultOptions(), ""); err == nil {
		t.Error("a source without graphs")
	}
}

// A table is no program.
func TestCell(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a,b": "a,b", "=1+1": "'=1+1", "-1.5": "-1.5", "-x": "'-x", "@x": "'@x", "": ""} {
		if got := cell(in); got != want {
			t.Errorf("%q is written as %q, want %q", in, got, want)
		}
	}
}

// A saved model answers with its own bits, and other kernels can be tried.
func TestSavedModel(t *testing.T) {
	m := savedModel(t)
	src, err := FromModel("saved", m)
	if err != nil {
		t.Fatal(err)
	}
	sp := readSpec(t)
	s := newTester(t, sp, src, nil)
	var info infoAnswer
	s.get("/api/v1/info", &info)
	if !info.Saved || len(info.Classes) != 13 {
		t.Errorf("info %+v", info)
	}
	var said struct{ Predictions []prediction }
	s.get("/api/v1/predict?smiles=CCO", &said)
	g, err := dataset.ParseSMILES("CCO", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(context.Background(), []*graph.Graph{g}, model.PredictOptions{Nearest: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := said.Predictions[0].Nearest[0]; got.Similarity != want[0].Nearest[0].Similarity || got.Index != want[0].Nearest[0].Index {
		t.Errorf("neighbour %+v, want %+v", got, want[0].Nearest[0])
	}
	if code, body := s.do("GET", "/api/v1/map?kernel=mlg+eta=0.5", "", ""); code != 200 {
		t.Errorf("another kernel: %d %s", code, body)
	}
	var e explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if e.Class != src.Targets[3] {
		t.Errorf("explained %q, want %q", e.Class, src.Targets[3])
	}
}

// A model is judged by what its file says, and nothing is trained anew until somebody asks for it.
func TestSavedEstimates(t *testing.T) {
	m := savedModel(t)
	src, err := FromModel("saved", m)
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), src, nil)
	x, err := s.server.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	var filed, tested, again evaluation
	s.get("/api/v1/evaluate", &filed)
	if len(m.Estimates) < 2 || !reflect.DeepEqual(filed.Estimates, m.Estimates) || filed.Graphs+len(filed.Index)+len(filed.Rows) > 0 {
		t.Errorf("%+v, want what the file says: %+v", filed, m.Estimates)
	}
	var c coloring
	if s.get("/api/v1/colors?by=error", &c); !strings.Contains(c.Note, "was trained with these graphs") {
		t.Errorf("colours without a note: %q", c.Note)
	}
	s.do("GET", "/api/v1/download/table.csv", "", "")
	if _, trained := x.training.peek(); trained {
		t.Error("a model was trained anew")
	}
	s.get("/api/v1/evaluate?cross_validate=true", &tested)
	if len(tested.Index) != 234 || tested.Confusion == nil || len(tested.Estimates) == 0 {
		t.Errorf("cross-validation of %d graphs, estimates %v", len(tested.Index), tested.Estimates)
	}
	if s.get("/api/v1/evaluate", &again); !reflect.DeepEqual(again, filed) {
		t.Errorf("%+v, want what the file says", again)
	}
	if s.get("/api/v1/colors?by=error", &c); c.Note != "" || c.Classes[1].Count == 0 {
		t.Errorf("cross-validated: %+v, %q", c.Classes, c.Note)
	}
}

// A model of more graphs than are compared with each other predicts by all of them.
func TestManyTrainingGraphs(t *testing.T) {
	src, err := FromModel("saved", savedModel(t))
	if err != nil {
		t.Fatal(err)
	}
	var c coloring
	newTester(t, readSpec(t), src, func(o *Options) { o.Whole, o.Core = 100, 20 }).get("/api/v1/colors?by=error", &c)
	if c.Classes[0].Count < 230 {
		t.Errorf("%+v, want nearly all right: the model has seen them", c.Classes)
	}
}

// A model without a learner, as mlg fit makes it, of values: regression, whose map is coloured by them.
func TestFittedModel(t *testing.T) {
	src := numbers(t)
	m, err := model.New(t.Context(), src.Graphs, src.Kernel.Asked)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := FromModel("fit", m)
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), fit, nil)
	var info infoAnswer
	s.get("/api/v1/info", &info)
	if info.Task != regression || len(info.Range) != 2 || !slices.Equal(info.ColorBy, []string{"target", "size"}) {
		t.Errorf("info %+v", info)
	}
	for kernel, want := range map[string]string{"": "without a learner", "wl": ""} {
		var m mapAnswer
		if s.get("/api/v1/map?kernel="+kernel, &m); !strings.Contains(m.Views.Predict, want) || want == "" && m.Views.Predict != "" {
			t.Errorf("%s: why nothing is predicted: %q, want %q", kernel, m.Views.Predict, want)
		}
	}
	var c coloring
	if s.get("/api/v1/colors?by=target", &c); c.Kind != "value" || *c.Values[3] != src.value[3] {
		t.Errorf("colours %+v", c)
	}
	for _, path := range []string{"map", "matrix", "graphs", "predict?smiles=CCO", "download/map.svg", "download/table.csv", "compare?a=CCO&b=CCN"} {
		if code, body := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
}

// Probabilities are there for large collections as well.
func TestManyProbabilities(t *testing.T) {
	graphtest.Slow(t)
	for _, whole := range []int{4500, 1000} {
		s := newTester(t, readSpec(t), manyDrugs(t, 5, false), func(o *Options) { o.Whole = whole; o.Core = 1001 })
		var said predictAnswer
		s.get("/api/v1/predict?smiles=CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21", &said)
		sum := 0.0
		for _, p := range said.Predictions[0].Probabilities {
			sum += p.Probability
		}
		if p := said.Predictions[0].Probabilities; len(p) != 13 || math.Abs(sum-1) > 1e-6 || p[0].Class != "benzodiazepine" {
			t.Errorf("whole up to %d: probabilities %+v", whole, p)
		}
	}
}

// Values as targets: regression everywhere.
func TestRegression(t *testing.T) {
	src := numbers(t)
	s := newTester(t, readSpec(t), src, nil)
	var info infoAnswer
	s.get("/api/v1/info", &info)
	if info.Task != regression || len(info.Range) != 2 || len(info.Classes) != 0 {
		t.Errorf("info %+v", info)
	}
	var said struct{ Predictions []prediction }
	s.get("/api/v1/predict?index=3", &said)
	if p := said.Predictions[0]; p.Value == nil || math.Abs(*p.Value-src.value[3]) > 10 {
		t.Errorf("predicted %v, want about %v", p.Value, src.value[3])
	}
	// A molecule like none here is predicted with less certainty than one of them.
	var other struct{ Predictions []prediction }
	s.get("/api/v1/predict?smiles=[Xe]", &other)
	p, q := said.Predictions[0], other.Predictions[0]
	if p.Deviation == nil || q.Deviation == nil || !(*p.Deviation > 0) || *q.Deviation < 1.5**p.Deviation {
		t.Errorf("deviations of a graph of the data %+v, and of another %+v", p, q)
	}
	var e explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	mean := 0.0
	for _, v := range src.value {
		mean += v / float64(len(src.value))
	}
	if p := said.Predictions[0]; !p.HeldOut || p.Fitted == nil || *p.Fitted.Value == *p.Value || p.Interval.Low >= *p.Value || p.Interval.High <= *p.Value {
		t.Errorf("prediction for a graph of the data %+v", p)
	}
	if math.Abs(e.Value-*said.Predictions[0].Fitted.Value) > 1e-6 || math.Abs(e.Baseline-mean) > 1e-9 || math.Abs(e.Baseline+e.Sum-e.Value) > 1e-9 {
		t.Errorf("explained %v + %v = %v, predicted %v, mean %v", e.Baseline, e.Sum, e.Value, *said.Predictions[0].Fitted.Value, mean)
	}
	var ev evaluation
	s.get("/api/v1/evaluate", &ev)
	found := false
	for _, r := range ev.Rows {
		found = found || r.Name == "mlg" && r.RegressionSummary != nil
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
	ds, err := dataset.Read(context.Background(), "builtin:drugs", o)
	if err != nil {
		t.Fatal(err)
	}
	ds.Graphs = ds.Graphs[:30]
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(g.ID(), "")
	}
	src, err := fromDataset(ds, o, "")
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), src, nil)
	var said struct{ Predictions []prediction }
	s.get("/api/v1/predict?smiles=CCO", &said)
	if p := said.Predictions[0]; p.Class != nil || p.Value != nil || len(p.Nearest) != 5 {
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
