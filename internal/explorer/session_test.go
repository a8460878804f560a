package explorer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// Those who ask for the same thing share one computation; it is cancelled when all have
// left, and a later one starts anew.
func TestResult(t *testing.T) {
	var p result[int]
	life := &life{Context: context.Background()}
	runs, cancelled := 0, make(chan struct{}, 1)
	work := func(ctx context.Context) (int, error) {
		runs++
		select {
		case <-ctx.Done():
			cancelled <- struct{}{}
			return 0, ctx.Err()
		case <-time.After(20 * time.Second):
			return 0, errors.New("not cancelled")
		}
	}
	a, leaveA := context.WithCancel(life)
	b, leaveB := context.WithCancel(life)
	results := make(chan error, 2)
	for _, ctx := range []context.Context{a, b} {
		go func() {
			_, err := p.get(ctx, life, work)
			results <- err
		}()
	}
	for waiting := 0; waiting < 2; {
		p.mu.Lock()
		if p.last != nil {
			waiting = p.last.waiters
		}
		p.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	leaveA()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-cancelled:
		t.Fatal("cancelled while one still waits")
	case <-time.After(20 * time.Millisecond):
	}
	leaveB()
	<-results
	<-cancelled
	if runs != 1 {
		t.Errorf("%d computations, want one", runs)
	}
	if v, err := p.get(life, life, func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("%v, %v after a cancelled computation", v, err)
	}
	if v, err := p.get(life, life, func(context.Context) (int, error) { return 8, nil }); v != 7 || err != nil {
		t.Errorf("%v, %v, want what was computed", v, err)
	}
}

// A panic in a computation is an error of that computation.
func TestResultPanics(t *testing.T) {
	var p result[int]
	_, err := p.get(context.Background(), &life{Context: context.Background()}, func(context.Context) (int, error) { panic("no") })
	if err == nil || !strings.Contains(err.Error(), "panic in a computation: no") {
		t.Error(err)
	}
}

// The queue is bounded, and who leaves it makes room.
func TestGate(t *testing.T) {
	g := newGate(1, 1)
	ctx := context.Background()
	if err := g.enter(ctx); err != nil {
		t.Fatal(err)
	}
	waiter, leave := context.WithCancel(ctx)
	got := make(chan error, 1)
	go func() { got <- g.enter(waiter) }()
	for g.waiting.Load() != 1 {
		time.Sleep(time.Millisecond)
	}
	if err := g.enter(ctx); !errors.Is(err, errBusy) {
		t.Errorf("%v, want errBusy", err)
	}
	leave()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	go func() { got <- g.enter(ctx) }()
	for g.waiting.Load() != 1 {
		time.Sleep(time.Millisecond)
	}
	g.leave()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// A cancelled request cancels the computation: nothing keeps running for nobody.
func TestCancelledFit(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	x, err := s.given().session("mlg rank=64 samples=1000 radii=1,2,4,8")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := x.fitted(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v, want the deadline", err)
	}
	for begin := time.Now(); s.heavy.running() > 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the computation goes on")
		}
	}
}

// Progress is that of the session of the kernel, and of no other.
func TestProgress(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	x, err := s.server.given().session("mlg eta=0.5")
	if err != nil {
		t.Fatal(err)
	}
	s.server.heavy.of[long].working.Store(&working{x.key, work.Progress{Stage: "classes 1/3", Done: 2, Total: 5}})
	for query, want := range map[string]progressAnswer{
		"?kernel=+mlg++eta=0.5": {State: "running", Progress: work.Progress{Stage: "classes 1/3", Done: 2, Total: 5}},
		"":                      {State: "idle"},
	} {
		var got progressAnswer
		if s.get("/api/v1/progress"+query, &got); got != want {
			t.Errorf("progress%s: %+v, want %+v", query, got, want)
		}
	}
	s.server.heavy.of[long].working.Store(nil)
	if _, err := x.fitted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := s.server.heavy.progress(x.key); p != nil {
		t.Errorf("after a computation the server works on %+v", p)
	}
}

// The last sessions are kept, older ones forgotten.
func TestSessions(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	at := func(seed uint64) *session {
		x, err := s.given().session(fmt.Sprintf("mlg seed=%d", seed))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	first := at(0)
	for seed := range uint64(maxSessions - 1) {
		at(seed + 1)
	}
	if at(0) != first {
		t.Error("a session was forgotten although there was room")
	}
	second := at(1)
	for seed := range uint64(maxSessions - 1) {
		at(seed + 100)
	}
	if len(s.recent) != maxSessions {
		t.Errorf("%d sessions, want %d", len(s.recent), maxSessions)
	}
	if at(1) != second {
		t.Error("the session before the last ones was forgotten")
	}
	if at(0) == first {
		t.Error("the oldest session is still there")
	}
}

// Of many graphs a sample stands for all in the matrix that is shown. Neighbours and predictions are those of all graphs.
func TestCore(t *testing.T) {
	src := drugs(t)
	o := DefaultOptions()
	o.Whole, o.Core = 100, 90
	s := New(src, o)
	defer s.end()
	whole := New(src, DefaultOptions())
	defer whole.end()
	ctx := context.Background()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	y, err := whole.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	full, err := y.fitted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.core) != 90 || !slices.IsSorted(f.core) || len(slices.Compact(slices.Clone(f.core))) != 90 {
		t.Fatalf("core %v", f.core)
	}
	inCore := map[int]int{}
	for _, i := range f.core {
		inCore[src.class[i]]++
	}
	if len(inCore) != len(src.classes) {
		t.Errorf("the core has %d of %d classes", len(inCore), len(src.classes))
	}
	for a, i := range f.core {
		for b, j := range f.core {
			if f.gram.At(a, b) != full.gram.At(i, j) {
				t.Fatalf("kernel of %d and %d: %v, want %v", i, j, f.gram.At(a, b), full.gram.At(i, j))
			}
		}
	}
	p, err := x.placed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for a, i := range f.core { // the core gets its own coordinates
		if math.Abs(p.pca[0][i]-p.axes.Axes[0][a]) > 1e-8 || math.Abs(p.pca[1][i]-p.axes.Axes[1][a]) > 1e-8 {
			t.Fatalf("graph %d at %v, %v, want %v, %v", i, p.pca[0][i], p.pca[1][i], p.axes.Axes[0][a], p.axes.Axes[1][a])
		}
	}
	q, err := y.placed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.IDs {
		if !slices.Equal(p.near[i], q.near[i]) {
			t.Fatalf("neighbours of %d: %v, want %v", i, p.near[i], q.near[i])
		}
	}
	m, err := x.learned(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	right := 0
	for i, g := range src.Graphs {
		values, err := f.block(ctx, []int{i}, nil)
		if err != nil {
			t.Fatal(err)
		}
		said, err := x.predict(ctx, m, row{values.Data, nil, i, g}, &predictRequest{K: 1})
		if err != nil {
			t.Fatal(err)
		}
		if *said.Class == src.Targets[i] {
			right++
		}
	}
	want, err := y.trained(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.training.plan.Held; right < 200 || !reflect.DeepEqual(got, want.plan.Held) || !slices.Equal(m.Nearest, want.Nearest) {
		t.Errorf("%d of 234 right, and predictions %+v, want those with the matrix of all graphs: %+v", right, got.Labels, want.plan.Held.Labels)
	}
	if _, err := tableFile(ctx, x, p, &downloadRequest{}); err != nil {
		t.Error(err)
	}
}

// What an explanation is about is the decision of the learner for the class.
func TestExplainedDecision(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	ctx := context.Background()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.learned(ctx)
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.PredictCross(ctx, nil, nil, learn.Full(f.gram).Select([]int{17}, nil).Matrix(), model.PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for c, class := range m.Classes {
		e, err := explainPrediction(ctx, m.Model, s.given().data.Graphs[17], explain.Options{Class: class})
		if err != nil {
			t.Fatal(err)
		}
		if want := said[0].Decision[c]; math.Abs(e.Value-want) > 1e-9 || e.Class != class {
			t.Errorf("explanation of class %s: %v for %s, want %v", class, e.Value, e.Class, want)
		}
	}
}

// literalNeighbours computes all kernel values of every graph.
func literalNeighbours(ctx context.Context, f *fitted) (near [][]nearest.Hit, err error) {
	for i := range f.Examples() {
		b, err := f.block(ctx, []int{i}, nil)
		if err != nil {
			return nil, err
		}
		near = append(near, others(b.Row(0), layoutNeighbours, i))
	}
	return near, nil
}

// Neighbours are those of the whole matrix, whatever the width of the panels in which they are found, and the same bits for
// any number of workers.
func TestNeighbours(t *testing.T) {
	o := DefaultOptions()
	o.Whole, o.Core = 100, 60
	s := New(manyDrugs(t, 3, false), o) // each graph has two others that are equal
	defer s.end()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.fitted(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, err := literalNeighbours(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{60, 256, 300, 701, 702, 5000} {
		for _, workers := range []int{1, 3} {
			got, err := f.neighbours(work.WithWorkers(t.Context(), workers), layoutNeighbours, width)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("panels of %d: neighbours of graph %d are\n%v, want\n%v", width, i, got[i], want[i])
				}
			}
		}
	}
}

// The map of neighbours keeps more neighbours than principal components do, and equal input
// gives equal bits.
func TestNeighbourLayout(t *testing.T) {
	s := New(drugs(t), DefaultOptions())
	defer s.end()
	ctx := context.Background()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.placed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	kept := func(pos [2][]float64) float64 {
		n, sum := len(pos[0]), 0
		for i := range n {
			row := make([]float64, n)
			for j := range n {
				row[j] = -math.Hypot(pos[0][i]-pos[0][j], pos[1][i]-pos[1][j])
			}
			for _, h := range others(row, layoutNeighbours, i) {
				if slices.ContainsFunc(p.near[i], func(o nearest.Hit) bool { return o.Index == h.Index }) {
					sum++
				}
			}
		}
		return float64(sum) / float64(n*layoutNeighbours)
	}
	pca, layout := kept(p.pca), kept(p.neighbours)
	t.Logf("neighbours kept: principal components %.2f, map of neighbours %.2f", pca, layout)
	if layout < 0.6 || layout < 1.3*pca {
		t.Errorf("neighbours kept: %.2f, principal components %.2f", layout, pca)
	}
	again, err := draw.NeighbourMap(ctx, p.near, 1, p.pca)
	if err != nil || !slices.Equal(again[0], p.neighbours[0]) || !slices.Equal(again[1], p.neighbours[1]) {
		t.Errorf("another layout of the same: %v", err)
	}
	e, err := draw.KernelPCA(ctx, f.gram)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.given().data.IDs {
		a, b := p.project(f.gram.Row(i))
		if math.Abs(a-e.Axes[0][i]) > 1e-8 || math.Abs(b-e.Axes[1][i]) > 1e-8 {
			t.Fatalf("graph %d is projected to %v, %v, want %v, %v", i, a, b, e.Axes[0][i], e.Axes[1][i])
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := draw.NeighbourMap(cancelled, p.near, 1, p.pca); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
}

// Nearest neighbours against sorting, with ties.
func TestOthers(t *testing.T) {
	row := []float64{0.5, 1, 0.25, 0.5, 0.5, 0.75, 0.125}
	for self, want := range map[int][]int{1: {5, 0, 3, 4}, 0: {1, 5, 3, 4}, 4: {1, 5, 0, 3}, -1: {1, 5, 0, 3}} {
		var got []int
		for _, h := range others(row, 4, self) {
			got = append(got, h.Index)
			if h.Similarity != row[h.Index] {
				t.Errorf("similarity %v of %d", h.Similarity, h.Index)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("but for %d: %v, want %v", self, got, want)
		}
	}
}

// A model that is a sum of products of kernels, some of them baselines.
func TestProducts(t *testing.T) {
	m := savedModel(t)
	low := kernel.SumOf(m.Kernel.Sum).Terms[0].Factors[0]
	paths, wl := kernel.Factor{Kernel: classic.DefaultShortestPath()}, kernel.Factor{Kernel: classic.DefaultWL()}
	sum := func(terms ...kernel.Term) *kernel.FittedSum {
		s, err := kernel.NewCollection(m.Graphs).Sum(kernel.Sum{Terms: terms})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	term := func(weight float64, factors ...kernel.Factor) kernel.Term {
		return kernel.Term{Weight: weight, Factors: factors}
	}
	m.Kernel = sum(term(0.5, paths), term(0.25, low, paths), term(0.25, low))
	src, err := FromModel("products", m)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	want, err := m.Kernel.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Whole, o.Core = 100, 60
	s := newTester(t, readSpec(t), src, func(d *Options) { *d = o })
	x, err := s.server.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := x.fitted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for a, i := range f.core {
		for c, j := range f.core {
			if math.Abs(f.gram.At(a, c)-want.At(i, j)) > 1e-12 {
				t.Fatalf("kernel of %d and %d: %v, want %v", i, j, f.gram.At(a, c), want.At(i, j))
			}
		}
	}
	var pair comparison
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"index":8}}`, &pair)
	if math.Abs(pair.K-want.At(3, 8)) > 1e-9 || len(pair.Levels) != 3 {
		t.Errorf("pair %v with %d levels, want %v", pair.K, len(pair.Levels), want.At(3, 8))
	}
	var e explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if len(e.Vertices) != src.Graphs[3].N() || math.Abs(e.Sum-e.Value) > 1e-9 {
		t.Errorf("contributions of %d vertices add up to %v, want %v", len(e.Vertices), e.Sum, e.Value)
	}
	var slopes explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3},"slopes":true}`, &slopes)
	if !slopes.Slopes || len(slopes.Vertices) != src.Graphs[3].N() || math.Abs(slopes.Value-e.Value) > 1e-9 || slopes.Sum == e.Sum {
		t.Errorf("slopes %+v beside %+v", slopes, e)
	}
	var v vertexAnswer
	s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":2}`, &v)
	if len(v.Elsewhere) == 0 {
		t.Error("no similar vertex elsewhere")
	}

	edges := low // on graphs whose edges are vertices: an edge is two hops
	edges.Subdivide = true
	m.Kernel = sum(term(0.5, edges), term(0.5, paths))
	if src, err = FromModel("edges", m); err != nil {
		t.Fatal(err)
	}
	s = newTester(t, s.spec, src, nil)
	g := src.Graphs[3]
	s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":2}`, &v)
	if v.Radius != 1 || len(v.Own) != g.N() || v.Own[0] != 1 || len(v.Elsewhere) == 0 || len(v.Neighbourhood) != 1+g.Degree(0) {
		t.Errorf("vertex of a graph whose edges are vertices: %+v", v)
	}
	for _, e := range v.Elsewhere {
		if e.Vertex >= src.Graphs[e.Index].N() {
			t.Errorf("vertex %d of graph %d, which has %d", e.Vertex, e.Index, src.Graphs[e.Index].N())
		}
	}
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"smiles":"CCO"}}`, &pair)
	if len(pair.Levels) != 3 || len(pair.Levels[2].Pairs) != 3 || pair.Levels[1].Radius != 0 || pair.Levels[2].Radius != 1 {
		t.Errorf("pair of graphs whose edges are vertices: %+v", pair)
	}

	m.Kernel = sum(term(1, wl)) // a baseline alone has no scales
	if src, err = FromModel("baseline", m); err != nil {
		t.Fatal(err)
	}
	s = newTester(t, s.spec, src, nil)
	if s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":0}`, &v); v.Note != withLevels || len(v.Neighbourhood) != 1 {
		t.Errorf("vertex of a baseline: %+v", v)
	}
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"index":8}}`, &pair)
	if len(pair.Levels) != 6 || pair.Levels[1].Name != "refinement 1" || pair.Note != "" {
		t.Errorf("levels of a baseline: %+v", pair)
	}
	m.Kernel = sum(term(1, kernel.Factor{Kernel: classic.DefaultGraphlet()})) // nor slopes, but contributions
	if src, err = FromModel("graphlets", m); err != nil {
		t.Fatal(err)
	}
	s = newTester(t, s.spec, src, nil)
	for _, path := range []string{"info", "map", "matrix", "predict?index=3", "download/graph.svg?index=3", "download/model.mlg"} {
		if code, out := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
			t.Errorf("%s: %d %s", path, code, out)
		}
	}
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if len(e.Vertices) != src.Graphs[3].N() || math.Abs(e.Sum-e.Value) > 1e-9 {
		t.Errorf("contributions of %d vertices add up to %v, want %v", len(e.Vertices), e.Sum, e.Value)
	}
	if code, out := s.do("POST", "/api/v1/explain", `{"graph":{"index":3},"slopes":true}`, ""); code != 422 {
		t.Errorf("slopes: %d %s, want 422", code, out)
	}
}
