//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// processorTime returns the seconds of processors that this process has used. With one thread they are a clock that other
// processes do not disturb.
func processorTime(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// report is a call of bar.show.
type report struct {
	at          float64
	stage       string
	done, total int64
}

// watched runs a command with one thread and returns what it tells of its progress, and how long it took.
func watched(t *testing.T, args ...string) (reports []report, took float64) {
	t.Helper()
	var mu sync.Mutex
	start := processorTime(t)
	watchProgress = func(stage string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, report{processorTime(t) - start, stage, done, total})
	}
	defer func() { watchProgress = nil }()
	var out, errs bytes.Buffer
	if code := Main(append([]string{"--quiet", "--threads", "1"}, args...), &out, &errs); code != exitOK {
		t.Fatalf("mlg %s: code %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return reports, processorTime(t) - start
}

// Every stage of every long command moves, ends at 100 %, and from a tenth on its forecast is right within a factor of
// two. That is with a tenth of the time of the stage added: what is nearly done may be off by that.
func TestStages(t *testing.T) {
	graphtest.Long(t)
	graphtest.Unraced(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	r := graphtest.Rand(5)
	var text []byte
	for i := range 2500 {
		g := graphtest.Random(r, graphtest.Options{N: 10 + r.IntN(20), Edge: 0.12, Labels: 2 + i%2})
		var err error
		if text, err = dataset.AppendJSON(text, g.With(fmt.Sprint("g", i), fmt.Sprint(i%2))); err != nil {
			t.Fatal(err)
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, n := range map[string]int{"g.jsonl": 2500, "some.jsonl": 500, "few.jsonl": 60} {
		if err := os.WriteFile(at(name), bytes.Join(lines[:n], nil), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, g := range map[string]*graph.Graph{
		"network.jsonl": graphtest.ScaleFree(r, 350, 2), "other.jsonl": graphtest.ScaleFree(r, 350, 3),
		"large.jsonl": graphtest.ScaleFree(r, 4000, 2), "larger.jsonl": graphtest.ScaleFree(r, 30000, 2),
	} {
		line, err := dataset.AppendJSON(nil, g.With(name, "0"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), line, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	judged := 0
	for _, args := range [][]string{
		{"gram", at("g.jsonl"), "-o", at("k.npy")},
		{"gram", at("g.jsonl"), "--kernel", "sp", "-o", at("k.npy")},
		{"gram", at("some.jsonl"), "--kernel", "wl-oa", "-o", at("k.npy")},
		{"gram", at("few.jsonl"), "--kernel", "mlg exact", "-o", at("k.npy")},
		{"compare", at("network.jsonl"), at("other.jsonl"), "--kernel", "mlg exact"},
		{"gram", at("large.jsonl"), "--kernel", "sp", "-o", at("k.npy")},
		{"gram", at("large.jsonl"), "--kernel", "graph-hopper", "-o", at("k.npy")},
		{"gram", at("larger.jsonl"), "--kernel", "flg", "-o", at("k.npy")},
		{"gram", at("g.jsonl"), "--tiles", at("tiles"), "--shard", "1/1"},
		{"merge", at("tiles"), "-o", at("merged.npy")},
		{"cluster", at("g.jsonl"), "-o", at("groups.txt")},
		{"fit", at("g.jsonl"), "-o", at("f.mlg")},
		{"transform", at("f.mlg"), at("g.jsonl"), "-o", at("s.mlgs")},
		{"embed", at("s.mlgs"), "--dimension", "400", "-o", at("e.npy")},
		{"search", at("s.mlgs"), at("some.jsonl"), "-o", at("found.txt")},
		{"train", at("g.jsonl"), "-o", at("m.mlg")},
		{"predict", at("m.mlg"), at("g.jsonl"), "-o", at("p.txt")},
		{"evaluate", at("some.jsonl"), "--kernel", "mlg", "--kernel", "wl", "--kernel", "sp", "--repeats", "1"},
		{"evaluate", at("some.jsonl"), "--default", "--repeats", "1"},
	} {
		name := strings.Join(args[:1], " ")
		reports, took := watched(t, args...)
		for len(reports) > 0 {
			n := 1
			for n < len(reports) && reports[n].stage == reports[0].stage && reports[n].done >= reports[n-1].done {
				n++
			}
			stage, first, last := reports[:n], reports[0], reports[n-1]
			reports = reports[n:]
			if last.total > 0 && last.done != last.total {
				t.Errorf("mlg %s: %s ends with %d of %d", name, last.stage, last.done, last.total)
			}
			long := last.at - first.at
			if long < 0.25 || last.total == 0 {
				continue
			}
			judged++
			one := slices.Contains([]string{"features", "covariances"}, last.stage) && strings.Contains(args[1], "large") || args[0] == "compare"
			if n < 10 && one { // in one graph
				t.Errorf("mlg %s: %s takes %.2f s and tells %d times how far it is", strings.Join(args, " "), last.stage, long, n)
			}
			worst := 1.0
			for _, x := range stage {
				share := float64(x.done-first.done) / float64(last.total-first.done)
				if share < 0.1 {
					continue
				}
				forecast, left := (x.at-first.at)/share*(1-share), last.at-x.at
				if wrong := max(forecast/(left+long/10), left/(forecast+long/10)); wrong > worst {
					worst = wrong
				}
			}
			// How far a factorisation fills up is not known before, so covariances of one graph only move.
			if worst > 2 && last.stage != "covariances" {
				t.Errorf("mlg %s: %s, %.2f of %.2f s: a forecast is wrong by a factor of %.1f", name, last.stage, long, took, worst)
			}
			t.Logf("mlg %s: %s, %.2f of %.2f s: forecasts within a factor of %.2f", name, last.stage, long, took, worst)
		}
	}
	if judged < 4 { // on a fast machine
		t.Errorf("%d stages were long enough, want at least 4", judged)
	}
}
