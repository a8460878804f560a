package explorer

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// A brief computation runs beside a long one, or in its place; a second long one waits, and so does a third brief one.
func TestLanes(t *testing.T) {
	hurried := 0
	l := newLanes(1, func() { hurried++ })
	ctx := t.Context()
	soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	var held []*lane
	for _, p := range []pace{long, brief, beside, background} {
		at, err := l.enter(ctx, p)
		if err != nil || at != &l.of[p] {
			t.Fatalf("pace %d: %v", p, err)
		}
		held = append(held, at)
	}
	if hurried != 0 || l.running() != 4 {
		t.Errorf("%d run, hurried %d times", l.running(), hurried)
	}
	for _, p := range []pace{long, brief, beside, background} {
		if _, err := l.enter(soon, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second one of pace %d: %v", p, err)
		}
	}
	if hurried != 4 {
		t.Errorf("hurried %d times, want 4", hurried)
	}
	held[0].working.Store(&working{"a", work.Progress{Stage: "fit"}})
	if p := l.progress("a"); p == nil || p.Stage != "fit" || l.progress("b") != nil {
		t.Errorf("progress %+v", p)
	}
	held[0].leave()
	if l.progress("a") != nil {
		t.Error("what is done has progress")
	}
	at, err := l.enter(ctx, brief)
	if err != nil || at != &l.of[long] {
		t.Errorf("a brief one beside a brief one: %v", err)
	}
	got := make(chan *lane)
	go func() {
		at, err := l.enter(ctx, brief)
		if err != nil {
			t.Error(err)
		}
		got <- at
	}()
	for l.waiting.Load() != 1 {
		time.Sleep(time.Millisecond)
	}
	if _, err := l.enter(ctx, long); !errors.Is(err, errBusy) {
		t.Errorf("%v, want errBusy", err)
	}
	held[1].leave()
	if at := <-got; at != &l.of[brief] {
		t.Error("the one that waited is in another lane")
	}
}

// Work on few graphs does not wait for that on many; an early learner is work on few. Work on many waits.
func TestBriefWork(t *testing.T) {
	many, few := manyDrugs(t, 8, true), drugs(t)
	s := New(many, DefaultOptions(), few)
	defer s.end()
	x, err := s.sources[0].session("")
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.sources[1].session("")
	if err != nil {
		t.Fatal(err)
	}
	if x.s.pace() != long || y.s.pace() != brief {
		t.Fatalf("paces %d and %d", x.s.pace(), y.s.pace())
	}
	if _, err := x.fitted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.placed(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.heavy.of[long].slot <- struct{}{} // somebody else's
	if _, err := y.trained(t.Context()); err != nil {
		t.Error(err)
	}
	if early, err := x.trainedEarly(t.Context()); err != nil || early.note == "" {
		t.Errorf("an early learner: %+v, %v", early, err)
	}
	if _, err := x.structured(t.Context()); err != nil { // which does not wait for a learner
		t.Error(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := x.trained(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the learner of many: %v", err)
	}
}

// A file with drawings may take longer than a short answer, and has its rows in the order that was asked for.
func TestManyDrawings(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), func(o *Options) { o.ShortTimeout = time.Nanosecond })
	src := s.server.given()
	_, key, err := src.choose("")
	if err != nil {
		t.Fatal(err)
	}
	b := &batch{id: "many", name: "many.smi", s: src, key: key, graphs: src.data.Graphs, lines: make([]int, len(src.data.Graphs))}
	s.server.keep(b)
	rows := kernel.UpTo(len(b.graphs))
	slices.Reverse(rows)
	q := &request{Request: httptest.NewRequest("POST", "/api/v1/table", nil), s: src}
	f, err := postBatchExport(q, &batchExportRequest{Batch: b.id, Rows: rows, Format: "sdf"})
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, i := range rows {
		one, err := postBatchExport(q, &batchExportRequest{Batch: b.id, Rows: []int{i}, Format: "sdf"})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, one.data...)
	}
	if !slices.Equal(f.data, want) {
		t.Error("the file is not that of its rows")
	}
}
