package classic

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

// cancelling is a context that is cancelled after some looks at it.
type cancelling struct {
	context.Context
	left atomic.Int64
}

func (c *cancelling) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A cancellation may come between any two steps.
func TestPlainWalkCancelled(t *testing.T) {
	graphs := dataset.Scales(4, 1).Graphs
	k := PlainWalk{Lambda: 0.3, P: 4, Series: Geometric}
	for looks := range 200 {
		ctx := &cancelling{Context: t.Context()}
		ctx.left.Store(int64(looks))
		if _, err := k.Fit(ctx, graphs); err == nil {
			if looks == 0 {
				t.Error("no error though the context is cancelled")
			}
			return
		}
	}
	t.Error("not done after 200 looks at the context")
}
