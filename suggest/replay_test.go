package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// sized returns drugs whose value is their size with a bit that tells them apart, the first one twice.
func sized(t *testing.T, n int) *dataset.Dataset {
	t.Helper()
	d, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	out := &dataset.Dataset{Name: "sized"}
	for i, g := range append([]*graph.Graph{d.Graphs[0]}, d.Graphs[:n]...) {
		out.Graphs = append(out.Graphs, g.With(fmt.Sprint("g", i), fmt.Sprint(float64(g.N())+float64(i)/1000)))
	}
	return out
}

func replayOptions(t *testing.T) ReplayOptions {
	t.Helper()
	k, err := kernel.Parse("wl h=2")
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultReplayOptions()
	o.Candidates = choose.Each(k)
	o.K, o.Rounds, o.Repeats = 4, 5, 3
	return o
}

// Expected improvement finds more than random choice, from the same start, with the same bits for any number of
// goroutines.
func TestReplay(t *testing.T) {
	graphtest.Slow(t)
	d, o := sized(t, 90), replayOptions(t)
	got, err := Replay(work.WithWorkers(t.Context(), 3), d, o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(work.WithWorkers(t.Context(), 1), d, o)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("other results with one goroutine, error %v", err)
	}
	if got.Graphs != 90 || got.Best1 != 1 || got.Best5 != 5 || len(got.Methods) != 3 {
		t.Fatalf("%+v", got)
	}
	for _, m := range got.Methods {
		if len(m.Rounds) != 6 || !reflect.DeepEqual(m.Rounds[0], got.Methods[0].Rounds[0]) {
			t.Errorf("%s: %d rounds, start %+v", m.Acquisition, len(m.Rounds), m.Rounds[0])
		}
		for k, r := range m.Rounds {
			if r.Measured != 10+4*k || k > 0 && (r.Best.Mean < m.Rounds[k-1].Best.Mean || r.Found5.Mean < m.Rounds[k-1].Found5.Mean) {
				t.Errorf("%s: round %d: %+v", m.Acquisition, k, r)
			}
		}
	}
	ei, random := &got.Methods[0], &got.Methods[2]
	if last := ei.Rounds[5]; last.Found5.Mean < random.Rounds[5].Found5.Mean+0.3 || !(got.Needs(ei, random).Mean > 10) || random.Reached != 3 {
		t.Errorf("ei finds %v of the best, random choice %v; it needs %v less", last.Found5.Mean, random.Rounds[5].Found5.Mean, got.Needs(ei, random))
	}
	for _, goal := range []string{"min", "25", "20:24"} {
		o.Goal, o.Repeats, o.Rounds = mustGoal(t, goal), 1, 2
		r, err := Replay(t.Context(), d, o)
		if err != nil || r.Methods[0].Rounds[2].Found5.Mean < r.Methods[0].Rounds[0].Found5.Mean || r.Methods[0].Needed.Interval != nil {
			t.Errorf("%s: %+v, error %v", goal, r, err)
		}
	}
}

// Random choice needs as many measurements as it must: to have h of m wanted graphs of n, h(n+1)/(m+1), and half a
// batch more because whole batches are measured.
func TestReplayRandom(t *testing.T) {
	d, o := sized(t, 99), replayOptions(t)
	o.Acquisition, o.Against, o.Repeats, o.K, o.Goal = Random, nil, 4000, 1, mustGoal(t, "24:")
	o.Start = 3
	r, err := Replay(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Methods[0]
	want := float64((r.Best1+1)/2) * 100 / float64(r.Best1+1)
	if math.Abs(m.Needed.Mean-want) > 1 || m.Reached != 4000 || r.Best1 < 10 {
		t.Errorf("%v of %d needed, want %v", m.Needed.Mean, r.Best1, want)
	}
	for _, x := range m.Rounds {
		if share := float64(x.Measured) / 99; math.Abs(x.Found1.Mean-share) > 0.01 {
			t.Errorf("%v found of %v measured", x.Found1.Mean, share)
		}
	}
	// More rounds than there are graphs end when all are measured.
	o.Acquisition, o.Repeats, o.Rounds, o.K, o.Goal = Mean, 1, 1000, 60, Goal{}
	if r, err = Replay(t.Context(), d, o); err != nil || r.Rounds != 2 || r.Methods[0].Rounds[2].Measured != 99 || r.Methods[0].Rounds[2].Found5.Mean != 1 {
		t.Errorf("%+v, error %v", r, err)
	}
}

func TestReplayErrors(t *testing.T) {
	for want, change := range map[string]func(o *ReplayOptions){
		"want at least 3, 1, 1 and 1": func(o *ReplayOptions) { o.Start = 2 }, "of 20 different ones with values": func(o *ReplayOptions) { o.Start = 20 },
		"0 rounds": func(o *ReplayOptions) { o.Rounds = 0 }, "a replay is for what can be found": func(o *ReplayOptions) { o.Goal.Kind = Learn },
		"no graph has a value in the range 900:": func(o *ReplayOptions) { o.Goal = Goal{Range, 900, math.Inf(1)} },
		"acquisition ei is not for":              func(o *ReplayOptions) { o.Goal, o.Acquisition = Goal{Range, 1, 100}, Improvement },
	} {
		o := replayOptions(t)
		change(&o)
		if _, err := Replay(t.Context(), sized(t, 20), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// An interrupted replay goes on from its folder with the same bits. Other options do not take what is there, and what is
// damaged is played again.
func TestReplayFolder(t *testing.T) {
	graphtest.Slow(t)
	d, o := sized(t, 50), replayOptions(t)
	want, err := Replay(t.Context(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Folder = filepath.Join(t.TempDir(), "run")
	o.Damaged = func(path string, err error) { t.Errorf("%s: %v", path, err) }
	files := func() []string {
		out, err := filepath.Glob(filepath.Join(o.Folder, "replay-*.bin"))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ctx, cancel := context.WithCancel(work.WithWorkers(t.Context(), 1))
	how := work.Of(ctx)
	how.Progress = func(p work.Progress) {
		if p.Stage == "replay" && p.Done > p.Total/2 {
			cancel()
		}
	}
	if _, err := Replay(work.With(ctx, how), d, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted replay: %v", err)
	}
	if n := len(files()); n < 1 || n > 8 {
		t.Errorf("%d of 9 runs are kept of an interrupted replay", n)
	}
	for range 2 { // the second plays nothing
		got, err := Replay(t.Context(), d, o)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("another result after an interruption, error %v", err)
		}
	}
	if n := len(files()); n != 9 {
		t.Errorf("%d runs are kept, want 9", n)
	}
	at := files()[4]
	if err := os.WriteFile(at, []byte("damaged"), 0o666); err != nil {
		t.Fatal(err)
	}
	damaged := ""
	o.Damaged = func(path string, err error) { damaged = path }
	if got, err := Replay(t.Context(), d, o); err != nil || !reflect.DeepEqual(got, want) || damaged != at {
		t.Errorf("%q is damaged, want %q; error %v", damaged, at, err)
	}
	o.Seed = 1
	if _, err := Replay(t.Context(), d, o); err != nil || len(files()) != 18 {
		t.Errorf("%d runs after another seed, want 18; error %v", len(files()), err)
	}
}
