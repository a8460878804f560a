package dense

import (
	"context"
	"sync"
	"sync/atomic"
)

// each calls f(worker, i) for i = 0 … n-1 from so many goroutines, which take the next i in turn. It
// stops when ctx is done, and reports whether all calls were made. What f writes must depend on i
// only.
func each(ctx context.Context, workers, n int, f func(worker, i int)) bool {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			if ctx.Err() != nil {
				return false
			}
			f(0, i)
		}
		return true
	}
	var next atomic.Int64
	var stopped atomic.Bool
	run := func(w int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			if ctx.Err() != nil {
				stopped.Store(true)
				return
			}
			f(w, i)
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { run(w) })
	}
	run(0)
	wg.Wait()
	return !stopped.Load()
}
