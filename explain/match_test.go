package explain_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// best returns the largest sum over all ways to give each row its own column, or each column
// its own row.
func best(a *kernel.Matrix) float64 {
	used := make([]bool, a.Cols)
	var try func(i, skip int) float64
	try = func(i, skip int) float64 {
		if i == a.Rows {
			return 0
		}
		most := math.Inf(-1)
		for j := range a.Cols {
			if !used[j] {
				used[j] = true
				most = max(most, a.At(i, j)+try(i+1, skip))
				used[j] = false
			}
		}
		if skip > 0 {
			most = max(most, try(i+1, skip-1))
		}
		return most
	}
	return try(0, max(0, a.Rows-a.Cols))
}

func TestAssign(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		a := kernel.NewMatrix(r.IntN(7), r.IntN(7))
		ties := r.IntN(2) == 0
		for i := range a.Data {
			a.Data[i] = r.NormFloat64() * 10
			if ties {
				a.Data[i] = float64(r.IntN(3))
			}
		}
		cols, err := explain.Assign(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		sum, pairs := 0.0, 0
		seen := make(map[int]bool)
		for i, j := range cols {
			if j < 0 {
				continue
			}
			if seen[j] {
				t.Fatalf("column %d twice in %v", j, cols)
			}
			seen[j] = true
			sum += a.At(i, j)
			pairs++
		}
		if len(cols) != a.Rows || pairs != min(a.Rows, a.Cols) {
			t.Fatalf("%d×%d: assignment %v", a.Rows, a.Cols, cols)
		}
		if want := best(a); math.Abs(sum-want) > 1e-9 {
			t.Fatalf("%d×%d matrix %v: assignment %v has the sum %v, want %v", a.Rows, a.Cols, a.Data, cols, sum, want)
		}
	}
	a := kernel.NewMatrix(2, 2)
	a.Set(1, 0, math.NaN())
	if _, err := explain.Assign(t.Context(), a); err == nil || !strings.Contains(err.Error(), "entry (1, 0)") {
		t.Errorf("error %v", err)
	}
}

// A shuffled copy is matched vertex by vertex with similarity 1, by the model at full rank
// and exactly; matched vertices are those of equal neighbourhoods.
func TestMatch(t *testing.T) {
	r := graphtest.Rand(4)
	gs := graphtest.Suite(4)
	o := mlg.Default()
	o.Base, o.Bonds, o.Samples, o.Rank = "labels", mlg.No, 1<<20, 1<<20
	sum, err := kernel.NewCollection(gs).Fit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	match := func(g, h *graph.Graph) []explain.Level {
		levels, err := explain.ScalesOf(sum).Levels(t.Context(), g, h)
		if err != nil {
			t.Fatal(err)
		}
		return levels
	}
	for i, g := range gs {
		h, _ := graphtest.Shuffle(r, g)
		for level, a := range match(g, h) {
			b, err := explain.MatchExact(t.Context(), g, h, o, level)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*explain.Matching{&a.Matching, b} {
				if len(x.Pairs) != g.N() || math.Abs(x.Total-float64(g.N())) > 1e-7 || x.Level != level {
					t.Errorf("graph %d, level %d: %d pairs with the sum %v, want %d", i, level, len(x.Pairs), x.Total, g.N())
				}
				for _, p := range x.Pairs {
					if math.Abs(p.Similarity-1) > 1e-7 {
						t.Errorf("graph %d, level %d: vertices %d and %d have similarity %v", i, level, p.G, p.H, p.Similarity)
					}
				}
			}
		}
		// The two ways to compute 𝔎 lead to the same total with another graph.
		other := gs[(i+1)%len(gs)]
		a := match(g, other)[2]
		b, err := explain.MatchExact(t.Context(), g, other, o, 2)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(a.Total-b.Total) > 1e-6 || len(a.Pairs) != min(g.N(), other.N()) {
			t.Errorf("graph %d: total %v by the model, %v exactly", i, a.Total, b.Total)
		}
	}
	// With labels and attributes all parts of the sum have their share in the levels, and the last is the kernel.
	o.Base = ""
	if sum, err = kernel.NewCollection(gs).Fit(t.Context(), o); err != nil || len(sum.Factors) != 2 {
		t.Fatal(sum, err)
	}
	gram, err := sum.Cross(t.Context(), gs[:1])
	if err != nil {
		t.Fatal(err)
	}
	if s := explain.ScalesOf(sum); s.Part() != "" || math.Abs(match(gs[0], gs[1])[2].K-gram.At(0, 1)) > 1e-9 {
		t.Errorf("%q at the last level %v, want %v", s.Part(), match(gs[0], gs[1])[2].K, gram.At(0, 1))
	}
	if _, err := explain.MatchExact(t.Context(), gs[0], gs[1], o, 3); err == nil || !strings.Contains(err.Error(), "level 3, want 0 … 2") {
		t.Errorf("error %v", err)
	}
}

// What does not fit into memory is refused before it starts: the similarities of vertices, and the Laplacians of a
// level's kernel.
func TestGraphsWithoutMemory(t *testing.T) {
	const n = 1 << 21
	large, err := graph.NewBuilder(n).Build()
	if err != nil {
		t.Fatal(err)
	}
	one := kernel.NewMatrix(n, 1)
	_, flg := mlg.FLG(large, one, large, one, 0.1, 0.1)
	exact := mlg.Default()
	exact.Exact = true
	_, match := explain.MatchExact(t.Context(), large, large, exact, 0)
	for what, err := range map[string]error{"FLG": flg, "MatchExact": match} {
		if m := (*work.MemoryError)(nil); !errors.As(err, &m) {
			t.Errorf("%s: error %v, want one of memory", what, err)
		}
	}
}
