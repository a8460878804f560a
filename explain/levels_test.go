package explain_test

import (
	"math"
	"reflect"
	"testing"

	_ "github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// A kernel with levels has its own value at the last one. An exact one matches vertices at each of its radii, unless there are too many.
func TestLevelsBetween(t *testing.T) {
	r := graphtest.Rand(5)
	g, h := graphtest.Labeled(r, graphtest.Grid(2, 3), 3, 0), graphtest.Labeled(r, graphtest.Cycle(5), 3, 0)
	for text, want := range map[string]struct {
		levels, matched int
	}{"wl h=2": {3, 0}, "mlg exact radii=1": {2, 2}, "mlg exact radii=1,2 combine=sum": {4, 3}, "labels": {0, 0}, "wl + sp h=1": {0, 0}} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		levels, err := explain.LevelsBetween(t.Context(), k, g, h, 300)
		if err != nil || len(levels) != want.levels {
			t.Fatalf("%s: %d levels, want %d; %v", text, len(levels), want.levels, err)
		}
		matched := 0
		for l, x := range levels {
			if len(x.Pairs) == 0 {
				continue
			}
			matched++
			m, err := explain.MatchExact(t.Context(), g, h, k, l)
			if err != nil || !reflect.DeepEqual(x.Matching, *m) {
				t.Errorf("%s: level %d matches %+v, want %+v, %v", text, l, x.Matching, m, err)
			}
		}
		if matched != want.matched {
			t.Errorf("%s: %d levels with pairs, want %d", text, matched, want.matched)
		}
		if len(levels) == 0 {
			continue
		}
		all, err := kernel.NewCollection([]*graph.Graph{g, h}).Gram(t.Context(), k)
		if err != nil || math.Abs(levels[len(levels)-1].K-all.At(0, 1)) > 1e-12 {
			t.Errorf("%s: the last level %v, the kernel %v, %v", text, levels[len(levels)-1].K, all.At(0, 1), err)
		}
		few, err := explain.LevelsBetween(t.Context(), k, g, h, 1)
		if err != nil || len(few[0].Pairs) > 0 || few[0].K != levels[0].K {
			t.Errorf("%s: of large graphs %+v, %v", text, few[0], err)
		}
	}
}
