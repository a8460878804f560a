package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
)

// Objects on a line, shuffled, of two groups: the order puts groups together and runs
// along the line within them.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 40
	place := rng.Perm(n)
	group := make([]int, n)
	k := kernel.NewMatrix(n, n)
	for i, at := range place {
		group[i] = at % 2
		for j, other := range place {
			k.Set(i, j, float64(at)*float64(other))
		}
	}
	order, err := Order(t.Context(), k, group)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range order {
		if want := 2 * i / n; group[o] != want {
			t.Errorf("place %d has group %d, want %d", i, group[o], want)
		}
	}
	sorted := slices.Clone(order)
	slices.Sort(sorted)
	for i, o := range sorted {
		if i != o {
			t.Fatalf("order %v is no permutation", order)
		}
	}
	// The walk through a group is hardly longer than the line (38 for 20 objects 2 apart).
	walk := 0.0
	for i := 1; i < n/2; i++ {
		walk += math.Abs(float64(place[order[i]] - place[order[i-1]]))
	}
	if walk > 60 {
		t.Errorf("the walk through group 0 is %v long, the line 38", walk)
	}
	if _, err := Order(t.Context(), k, group[1:]); err == nil {
		t.Error("39 groups for 40 objects: no error")
	}
}

// An order that nobody waits for is given up.
func TestOrderCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Order(ctx, kernel.NewMatrix(3, 3), make([]int, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
}
