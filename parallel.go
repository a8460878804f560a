package mlg

import (
	"context"
	"sync"
	"sync/atomic"
)

// parallel calls f(worker, i) for i = 0 … n-1 from the given number of goroutines, in
// chunks handed out in order. worker is below workers, so that f may keep buffers per
// worker. It stops at the first error or when ctx is done, and returns why. What f writes
// must depend on i only.
func parallel(ctx context.Context, workers, n, chunk int, f func(worker, i int) error) error {
	workers = max(1, min(workers, (n+chunk-1)/chunk))
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, workers)
	run := func(w int) {
		for !failed.Load() {
			lo := int(next.Add(int64(chunk))) - chunk
			if lo >= n {
				return
			}
			if err := ctx.Err(); err != nil {
				errs[w] = err
				failed.Store(true)
				return
			}
			for i := lo; i < min(n, lo+chunk); i++ {
				if err := f(w, i); err != nil {
					errs[w] = err
					failed.Store(true)
					return
				}
			}
		}
	}
	if workers == 1 {
		run(0)
		return errs[0]
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { run(w) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// meter reports the progress of one stage, from one goroutine at a time and not more often
// than every hundredth of the way.
type meter struct {
	report func(Progress)
	stage  string
	total  int64
	done   atomic.Int64
	mu     sync.Mutex
	shown  int64
}

func newMeter(report func(Progress), stage string, total int64) *meter {
	m := &meter{report: report, stage: stage, total: total, shown: -1}
	m.add(0)
	return m
}

func (m *meter) add(n int64) {
	if m.report == nil {
		return
	}
	done := m.done.Add(n)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shown >= 0 && done < m.total && done-m.shown < max(1, m.total/100) || done <= m.shown {
		return
	}
	m.shown = done
	m.report(Progress{Stage: m.stage, Done: done, Total: m.total})
}
