package explorer

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/svm"
)

// Those who ask for the same thing share one computation; it is cancelled when all have
// left, and a later one starts anew.
func TestPart(t *testing.T) {
	var p part[int]
	life := context.Background()
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
		if p.flight != nil {
			waiting = p.flight.waiters
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
func TestPartPanics(t *testing.T) {
	var p part[int]
	_, err := p.get(context.Background(), context.Background(), func(context.Context) (int, error) { panic("no") })
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
	s, err := New(drugs(t), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := s.src.defaults()
	p.Rank, p.Samples, p.Radii = 64, 1000, []int{1, 2, 4, 8}
	x, err := s.session(p, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := x.fitted(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v, want the deadline", err)
	}
	for begin := time.Now(); len(s.heavy.slots) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("the computation goes on")
		}
	}
}

// The last sessions are kept, older ones forgotten.
func TestSessions(t *testing.T) {
	s, err := New(drugs(t), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := func(seed uint64) *session {
		p := s.src.defaults()
		p.Seed = seed
		x, err := s.session(p, false)
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
	if len(s.sessions.byKey) != maxSessions {
		t.Errorf("%d sessions, want %d", len(s.sessions.byKey), maxSessions)
	}
	if at(1) != second {
		t.Error("the session before the last ones was forgotten")
	}
	if at(0) == first {
		t.Error("the oldest session is still there")
	}
}

// Of many graphs a sample stands for all. Places, neighbours and predictions of the sample
// are those of the whole within what a sample can give.
func TestCore(t *testing.T) {
	src := drugs(t)
	o := DefaultOptions()
	o.Whole, o.Core = 100, 90
	s, err := New(src, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole, err := New(src, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	ctx := context.Background()
	x, err := s.session(src.defaults(), false)
	if err != nil {
		t.Fatal(err)
	}
	y, err := whole.session(src.defaults(), false)
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
		if math.Abs(p.pca[0][i]-p.axes.X[a]) > 1e-8 || math.Abs(p.pca[1][i]-p.axes.Y[a]) > 1e-8 {
			t.Fatalf("graph %d at %v, %v, want %v, %v", i, p.pca[0][i], p.pca[1][i], p.axes.X[a], p.axes.Y[a])
		}
	}
	q, err := y.placed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.IDs {
		if !slices.Equal(p.near.list[i], q.near.list[i]) {
			t.Fatalf("neighbours of %d: %v, want %v", i, p.near.list[i], q.near.list[i])
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
		row, err := f.row(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		said, err := s.predictRow(x, f, m, nil, row, i, g, 1)
		if err != nil {
			t.Fatal(err)
		}
		if *said.Class == src.Targets[i] {
			right++
		}
	}
	if right < 180 {
		t.Errorf("%d of 234 right from a core of 90", right)
	}
	if _, err := x.evaluated(ctx); err != nil {
		t.Error(err)
	}
	if _, err := x.table(ctx); err != nil {
		t.Error(err)
	}
}

// The sum of machines that an explanation is about is that of the decisions.
func TestFunctionFor(t *testing.T) {
	s, err := New(drugs(t), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	x, err := s.session(s.src.defaults(), false)
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
	c := m.Learner.Classifier
	row := f.gram.Row(17)
	decisions, err := c.Decision(svm.Full(f.gram).Select([]int{17}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for at, label := range c.Classes {
		fn, err := functionFor(m.Learner, m.Learner.Classes[at])
		if err != nil {
			t.Fatal(err)
		}
		got := fn.Bias
		for i, g := range fn.Support {
			got += fn.Coefficients[i] * row[g]
		}
		want := 0.0
		for k, machine := range c.Machines {
			switch label {
			case machine.Positive:
				want += decisions.At(0, k)
			case machine.Negative:
				want -= decisions.At(0, k)
			}
		}
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("class %s: %v, want %v", m.Learner.Classes[at], got, want)
		}
		e, err := s.explain(ctx, f, m.Learner, s.src.Graphs[17], m.Learner.Classes[at])
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-want) > 1e-9 {
			t.Errorf("explanation of class %s: %v, want %v", m.Learner.Classes[at], e.Value, want)
		}
	}
}

// The map of neighbours keeps more neighbours than principal components do, and equal input
// gives equal bits.
func TestNeighbourLayout(t *testing.T) {
	s, err := New(drugs(t), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	x, err := s.session(s.src.defaults(), false)
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
			near := newNearest(n, layoutNeighbours, 1)
			near.take(i, row)
			for _, j := range near.list[i] {
				if slices.Contains(p.near.list[i], j) {
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
	again, err := neighbourLayout(ctx, p.near, p.pca, func(int, int) {})
	if err != nil || !slices.Equal(again[0], p.neighbours[0]) || !slices.Equal(again[1], p.neighbours[1]) {
		t.Errorf("another layout of the same: %v", err)
	}
	e, err := draw.KernelPCA(f.gram)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.src.IDs {
		a, b := p.project(f.gram.Row(i))
		if math.Abs(a-e.X[i]) > 1e-8 || math.Abs(b-e.Y[i]) > 1e-8 {
			t.Fatalf("graph %d is projected to %v, %v, want %v, %v", i, a, b, e.X[i], e.Y[i])
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := neighbourLayout(cancelled, p.near, p.pca, func(int, int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
}

// Nearest neighbours against sorting, with ties.
func TestNearest(t *testing.T) {
	row := []float64{0.5, 1, 0.25, 0.5, 0.5, 0.75, 0.125}
	n := newNearest(2, 4, 1)
	n.take(1, row)
	if want := []int32{5, 0, 3, 4}; !slices.Equal(n.list[1], want) {
		t.Errorf("%v, want %v", n.list[1], want)
	}
	if n.dist[1][0] != math.Sqrt(0.5) || n.like[1][0] != 0.75 {
		t.Errorf("distance %v, similarity %v", n.dist[1][0], n.like[1][0])
	}
}

// A model that is a sum of products of kernels, some of them baselines.
func TestProducts(t *testing.T) {
	m := savedModel(t)
	b, err := model.NewBaseline(baseline.DefaultShortestPath()) // which has no contributions of vertices
	if err != nil {
		t.Fatal(err)
	}
	wl, err := model.NewBaseline(baseline.DefaultWL()) // which has
	if err != nil {
		t.Fatal(err)
	}
	one := m.Kernels[0].Factors[0]
	m.Kernels = []model.Kernel{
		{Weight: 0.5, Factors: []model.Factor{{Baseline: b}}},
		{Weight: 0.25, Factors: []model.Factor{one, {Baseline: b}}},
		{Weight: 0.25, Factors: []model.Factor{one}},
	}
	src, err := ModelSource("products", m, dataset.DefaultOptions(), dataset.GivenWeight)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	want, err := m.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Whole, o.Core = 100, 60
	s := newTester(t, readSpec(t), src, func(d *Options) { *d = o })
	x, err := s.server.session(src.defaults(), true)
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
	var pair PairAnswer
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"index":8}}`, &pair)
	if math.Abs(pair.K-want.At(3, 8)) > 1e-9 || len(pair.Levels) != 3 {
		t.Errorf("pair %v with %d levels, want %v", pair.K, len(pair.Levels), want.At(3, 8))
	}
	var e Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if !(e.Share > 0 && e.Share < 1) {
		t.Errorf("explained share %v, want between 0 and 1", e.Share)
	}
	var v VertexAnswer
	s.post("/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":2}`, &v)
	if len(v.Elsewhere) == 0 {
		t.Error("no similar vertex elsewhere")
	}

	m.Kernels = []model.Kernel{{Weight: 1, Factors: []model.Factor{{Baseline: wl}}}} // a baseline alone has no scales
	if src, err = ModelSource("baseline", m, dataset.DefaultOptions(), dataset.GivenWeight); err != nil {
		t.Fatal(err)
	}
	s = newTester(t, s.spec, src, nil)
	if code, out := s.do("POST", "/api/v1/vertex", `{"graph":{"index":3},"vertex":0,"level":0}`, ""); code != 422 {
		t.Errorf("vertex of a baseline: %d %s, want 422", code, out)
	}
	s.post("/api/v1/compare", `{"a":{"index":3},"b":{"index":8}}`, &pair)
	if len(pair.Levels) != 0 {
		t.Errorf("%d levels of a baseline", len(pair.Levels))
	}
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if len(e.Vertices) != src.Graphs[3].N() || len(e.Features) != 0 {
		t.Errorf("a baseline explains %d vertices at %d levels", len(e.Vertices), len(e.Features))
	}
	m.Kernels = []model.Kernel{{Weight: 1, Factors: []model.Factor{{Baseline: b}}}} // nor reasons
	if src, err = ModelSource("unexplained", m, dataset.DefaultOptions(), dataset.GivenWeight); err != nil {
		t.Fatal(err)
	}
	s = newTester(t, s.spec, src, nil)
	for _, path := range []string{"info", "map", "matrix", "predict?index=3", "download/graph.svg?index=3", "download/model.mlg"} {
		if code, out := s.do("GET", "/api/v1/"+path, "", ""); code != 200 {
			t.Errorf("%s: %d %s", path, code, out)
		}
	}
	if code, out := s.do("POST", "/api/v1/explain", `{"graph":{"index":3}}`, ""); code != 422 {
		t.Errorf("explain: %d %s, want 422", code, out)
	}
}
