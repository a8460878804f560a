package baseline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// parallel calls work(w, i) for i = 0 … n-1 from the given number of goroutines, w being
// the number of the goroutine. Indices are handed out in ascending order, in runs of at
// most grain. After a cancellation, or an error, no new run starts. The error returned is
// that of ctx, or the one with the lowest index among those that occurred.
func parallel(ctx context.Context, workers, n, grain int, work func(w, i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		wg     sync.WaitGroup
		mu     sync.Mutex
		first  = n
		ferr   error
	)
	for w := range max(1, min(workers, (n+grain-1)/grain)) {
		wg.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				end := int(next.Add(int64(grain)))
				for i := end - grain; i < min(end, n); i++ {
					if err := work(w, i); err != nil {
						failed.Store(true)
						mu.Lock()
						if i < first {
							first, ferr = i, err
						}
						mu.Unlock()
						return
					}
				}
				if end >= n {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return ferr
}

// graphError says which graph an error is about. Cancellations stay as they are.
func graphError(i int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("graph %d: %w", i, err)
}
