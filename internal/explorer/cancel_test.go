//go:build unix && !race

package explorer

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// processor returns the time that the process has used the processors.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Whatever is computed, when nobody waits for it any more it stops using the processor: each stage is cancelled
// again and again, later each time, until it is done. Time is that of the processor, so that other programs
// do not matter; the race detector would.
func TestCancelledStages(t *testing.T) {
	graphtest.Long(t)
	const most = time.Second
	large := DefaultOptions()
	large.Whole, large.Core = 500, 200
	for name, c := range map[string]struct {
		d *Data
		o Options
	}{
		"classes": {manyDrugs(t, 5, false), DefaultOptions()}, "values": {manyDrugs(t, 5, true), DefaultOptions()},
		"a large collection": {manyDrugs(t, 12, false), large},
	} {
		c.o.Patience = 0 // so that nothing goes on for who may come back
		s := New(c.d, c.o)
		defer s.end()
		x, err := s.given().session("")
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range []struct {
			name string
			run  func(ctx context.Context) error
		}{
			{"fit", func(ctx context.Context) error { _, err := x.fitted(ctx); return err }},
			{"map", func(ctx context.Context) error { _, err := x.placed(ctx); return err }},
			{"order", func(ctx context.Context) error { _, err := x.ordered(ctx); return err }},
			{"learn", func(ctx context.Context) error { _, err := x.learned(ctx); return err }},
			{"evaluate", func(ctx context.Context) error { _, err := x.evaluated(ctx); return err }},
			{"predict", func(ctx context.Context) error { _, err := x.predicted(ctx); return err }},
			{"vertices", func(ctx context.Context) error { _, err := x.vertexTables(ctx); return err }},
		} {
			for delay := 20 * time.Millisecond; ; delay *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), delay)
				err := stage.run(ctx)
				cancel()
				if err == nil {
					break
				}
				used := processor(t)
				for s.heavy.running() > 0 {
					time.Sleep(time.Millisecond)
				}
				if used = processor(t) - used; used > most {
					t.Errorf("%s, %s, cancelled after %v: used the processor for another %v", name, stage.name, delay, used)
				}
			}
		}
	}
}
