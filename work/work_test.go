package work

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestEach(t *testing.T) {
	for _, workers := range []int{1, 3, 8} {
		ctx := WithWorkers(context.Background(), workers)
		out := make([]int, 1000)
		if err := Each(ctx, len(out), 7, func(w, i int) error {
			if w >= workers {
				return fmt.Errorf("worker %d of %d", w, workers)
			}
			out[i]++
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, n := range out {
			if n != 1 {
				t.Fatalf("%d workers: %d calls for %d", workers, n, i)
			}
		}
		bad := errors.New("bad")
		if err := Each(ctx, 1000, 1, func(_, i int) error {
			if i == 500 {
				return bad
			}
			return nil
		}); !errors.Is(err, bad) {
			t.Errorf("error %v", err)
		}
		for range 200 { // of several failures that of the lowest index, whichever comes first
			late := make(chan bool)
			err := Each(ctx, 40, 2, func(_, i int) error {
				switch {
				case i < 5:
					return nil
				case i == 5 && workers > 1:
					<-late
				case i == 6:
					close(late)
				}
				return fmt.Errorf("%d", i)
			})
			if err == nil || err.Error() != "5" {
				t.Fatalf("%d workers: error %v, want that of index 5", workers, err)
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if err := Each(ended, 10, 1, func(_, _ int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("ended: %v", err)
		}
	}
}
