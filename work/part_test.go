package work

import (
	"context"
	"slices"
	"testing"
)

// What works on a part of the steps says how far it is, also in pieces of pieces. End adds the rest. Where nobody
// watches, nothing is told.
func TestPart(t *testing.T) {
	var seen []int64
	ctx := With(context.Background(), Options{Progress: func(p Progress) { seen = append(seen, p.Done) }})
	m := NewMeter(ctx, "features", 10)
	inner, part := m.Part(ctx, 8)
	Reached(inner, 1, 4)
	second := Within(inner, 1, 2)
	Reached(second, 1, 2)
	Reached(inner, 1, 8) // less than before
	Reached(Within(second, 1, 2), 1, 2)
	part.End()
	m.Add(2)
	if want := []int64{0, 2, 6, 7, 8, 10}; !slices.Equal(seen, want) {
		t.Errorf("told %v, want %v", seen, want)
	}
	quiet, part := NewMeter(context.Background(), "features", 10).Part(context.Background(), 8)
	Reached(quiet, 1, 2)
	Reached(Within(quiet, 0, 2), 1, 2)
	part.End()
	if quiet != context.Background() {
		t.Error("the context of a part that nobody watches is another")
	}
}
