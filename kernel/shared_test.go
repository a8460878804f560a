package kernel

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// A finding is computed once for the same graphs and key, and forgotten behind mostShared others. Errors are not kept.
func TestShare(t *testing.T) {
	graphs, others := graphtest.Suite(1), graphtest.Suite(1)
	count := 0
	for i := range 2 {
		if v, err := Share(t.Context(), graphs, "a", func() (int, error) { return i, nil }); v != i || err != nil {
			t.Errorf("without anything shared: %d, %v, want %d", v, err, i)
		}
	}
	ctx := withShared(t.Context(), &shared{})
	want := func(graphs []*graph.Graph, key string, computed int) {
		t.Helper()
		if v, err := Share(ctx, graphs, key, func() (int, error) { count++; return count, nil }); v != computed || err != nil {
			t.Errorf("%s: %d, %v, want %d", key, v, err, computed)
		}
	}
	want(graphs, "a", 1)
	want(graphs, "a", 1)
	want(graphs, "b", 2)
	want(others, "a", 3)
	want(graphs[:3], "a", 4)
	for i := range mostShared - 1 {
		want(graphs, fmt.Sprint(i), 5+i)
		want(graphs, "a", 1) // it stays the latest
	}
	want(graphs, "b", 5+mostShared-1)
	bad := errors.New("bad")
	if _, err := Share(ctx, graphs, "c", func() (int, error) { return 0, bad }); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
	want(graphs, "c", 5+mostShared)

	var computed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := Share(ctx, graphs, "d", func() (string, error) { return fmt.Sprint(computed.Add(1)), nil })
			if v != "1" || err != nil {
				t.Errorf("%s, %v", v, err)
			}
		})
	}
	wg.Wait()
}
