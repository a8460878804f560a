package baseline

import (
	"context"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg/kernel"
)

// each calls work(s, i) for i = 0 … n-1 from the goroutines of the context (kernel.Each). Every
// goroutine has its own s, which scratch makes.
func each[S any](ctx context.Context, n, chunk int, scratch func() S, work func(s S, i int) error) error {
	made := make([]*S, kernel.Workers(ctx))
	return kernel.Each(ctx, n, chunk, func(w, i int) error {
		if made[w] == nil {
			s := scratch()
			made[w] = &s
		}
		return work(*made[w], i)
	})
}

// nothing is the scratch of work that needs none.
func nothing() struct{} { return struct{}{} }

// graphError says which graph an error is about. Cancellations stay as they are.
func graphError(i int, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("graph %d: %w", i, err)
}
