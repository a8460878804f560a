package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/choose"
	_ "github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// drugs returns molecules, and a model of the first ones with some targets.
func drugs(t *testing.T, n int, task choose.Task, target func(i int, g *graph.Graph) string) ([]*graph.Graph, *model.Model) {
	t.Helper()
	d, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	rng.Shuffle(len(d.Graphs), func(i, j int) { d.Graphs[i], d.Graphs[j] = d.Graphs[j], d.Graphs[i] })
	training := &dataset.Dataset{Name: "drugs"}
	for i, g := range d.Graphs[:n] {
		training.Graphs = append(training.Graphs, g.With(g.ID(), target(i, g)))
	}
	k, err := kernel.Parse("wl h=2")
	if err != nil {
		t.Fatal(err)
	}
	o := model.DefaultLearnOptions()
	o.Task, o.Probability = task, true
	m, _, err := model.Learn(t.Context(), training, choose.Each(k), o)
	if err != nil {
		t.Fatal(err)
	}
	return d.Graphs, m
}

// atoms is a value that a kernel can learn.
func atoms(_ int, g *graph.Graph) string { return fmt.Sprint(float64(g.N()) + 0.1) }

// from suggests graphs of a list, read in blocks.
func from(ctx context.Context, m *model.Model, graphs []*graph.Graph, block int, o PoolOptions) (*Result, error) {
	at := 0
	return From(ctx, m, func() (Block, error) {
		b := Block{First: at}
		for _, g := range graphs[at:min(at+block, len(graphs))] {
			b.IDs, b.Graphs = append(b.IDs, g.ID()), append(b.Graphs, g)
		}
		at += len(b.IDs)
		return b, nil
	}, nil, o)
}

// The batch of a pool is that of the joint posterior of its candidates, whatever the blocks and the goroutines.
func TestPool(t *testing.T) {
	graphtest.Slow(t)
	graphs, m := drugs(t, 60, choose.Regression, atoms)
	for _, text := range []string{"max", "min", "20", "10:12", "learn"} {
		o := DefaultPoolOptions()
		o.Goal, o.K = mustGoal(t, text), 6
		rest := graphs[60:]
		a, err := m.Kernel.Transform(t.Context(), rest)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Posterior(t.Context(), rest, a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := from(work.WithWorkers(t.Context(), 3), m, graphs, 50, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := from(work.WithWorkers(t.Context(), 1), m, graphs, 7, o)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%s: other blocks give %+v, want %+v, error %v", text, again, got, err)
		}
		if got.Pool != len(graphs) || got.Measured != 60 || len(got.Batch) != 6 || got.Cost != 6 {
			t.Errorf("%s: %+v", text, got)
		}
		// Candidates come in the order of their own acquisition; the same order gives the same fantasies.
		order := kernel.UpTo(len(rest))
		s, err := NewSearch(t.Context(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]string, len(rest))
		scored, err := s.Score(t.Context(), Block{IDs: ids, Graphs: rest})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if scored[a].score > scored[b].score {
				return -1
			} else if scored[a].score < scored[b].score {
				return 1
			}
			return 0
		})
		o.Best = s.best
		want, err := Pick(t.Context(), p.Select(order), o.Options)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range got.Batch {
			i := order[want[k].Index]
			if x.Index != 60+i || x.ID != rest[i].ID() || math.Abs(x.Acquisition-want[k].Acquisition) > 1e-12 || x.Rank != k+1 || *x.Value != p.Mean[i] || len(x.Nearest) != 1 {
				t.Errorf("%s: %d is %+v, want %d with %v", text, k, x, 60+i, want[k].Acquisition)
			}
		}
		few := o
		few.Keep = 6
		if got, err = from(t.Context(), m, graphs, 7, few); err != nil || got.Candidates != 6 {
			t.Errorf("%s: %d candidates, error %v", text, got.Candidates, err)
		}
	}
}

// What was measured, excluded, or stands twice in the pool is not suggested, nor is what costs too much.
func TestPoolLeavesOut(t *testing.T) {
	graphs, m := drugs(t, 60, choose.Regression, atoms)
	o := DefaultPoolOptions()
	o.K, o.Excluded = 5, graphs[60:200]
	twice := slices.Concat(graphs, graphs[200:])
	got, err := from(t.Context(), m, twice, 40, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Measured != 60 || got.Excluded != 140 || got.Candidates > 34 {
		t.Errorf("%+v", got)
	}
	seen := map[string]bool{}
	for _, x := range got.Batch {
		if x.Index < 200 || seen[x.ID] {
			t.Errorf("%s is suggested, position %d", x.ID, x.Index)
		}
		seen[x.ID] = true
	}
	none, err := from(t.Context(), m, nil, 5, o)
	if err != nil || none.Pool != 0 || none.Batch == nil || len(none.Batch) != 0 {
		t.Errorf("empty pool: %+v, error %v", none, err)
	}
	if none, err = from(t.Context(), m, graphs[:60], 60, o); err != nil || none.Measured != 60 || len(none.Batch) != 0 {
		t.Errorf("only training graphs: %+v, error %v", none, err)
	}
	o.Excluded, o.K, o.Budget = nil, 0, 10
	cost := make([]float64, 10)
	for i := range cost {
		cost[i] = float64(i + 3)
	}
	var ids []string
	for _, g := range graphs[60:70] {
		ids = append(ids, g.ID())
	}
	s, err := NewSearch(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	scored, err := s.Score(t.Context(), Block{IDs: ids, Graphs: graphs[60:70], Cost: cost})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(scored)
	if got, err = s.Result(t.Context(), nil); err != nil || got.Cost > 10 || got.Candidates != 8 || len(got.Batch) < 1 {
		t.Errorf("budget: %+v, error %v", got, err)
	}
	cost[3] = 0
	if _, err = s.Score(t.Context(), Block{IDs: ids, Graphs: graphs[60:70], Cost: cost}); err == nil || !strings.Contains(err.Error(), ids[3]+": cost 0, want a positive number") {
		t.Errorf("error %v", err)
	}
}

// A pool without graphs, as that of a store, gives the same candidates; measured is what is equal for the kernel.
func TestPoolFeatures(t *testing.T) {
	graphs, m := drugs(t, 60, choose.Regression, atoms)
	m.Created["groups"] = "" // deviations that do not look at scaffolds
	a, err := m.Kernel.Transform(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultPoolOptions()
	o.K = 4
	want, err := from(t.Context(), m, graphs, 500, o)
	if err != nil {
		t.Fatal(err)
	}
	done := false
	got, err := From(t.Context(), m, func() (Block, error) {
		if done {
			return Block{}, nil
		}
		done = true
		b := Block{Features: a}
		for _, g := range graphs {
			b.IDs = append(b.IDs, g.ID())
		}
		return b, nil
	}, func(at []int) (kernel.Features, error) { return a.Select(at), nil }, o)
	if err != nil || got.Measured < 60 {
		t.Fatalf("%+v, error %v", got, err)
	}
	for k, x := range got.Batch {
		if y := want.Batch[k]; x.ID != y.ID || math.Abs(x.Acquisition-y.Acquisition) > 1e-9 {
			t.Errorf("%s with %v, want %s with %v", x.ID, x.Acquisition, y.ID, y.Acquisition)
		}
	}
	if same, err := SameKernel(m, m); err != nil || !same {
		t.Errorf("the same kernel: %v, error %v", same, err)
	}
}

// A constant value leaves nothing to gain, and yet there is a batch.
func TestPoolConstant(t *testing.T) {
	graphs, m := drugs(t, 20, choose.Regression, func(int, *graph.Graph) string { return "7" })
	for _, text := range []string{"max", "7", "8:", "learn"} {
		o := DefaultPoolOptions()
		o.Goal, o.K = mustGoal(t, text), 5
		got, err := from(t.Context(), m, graphs, 100, o)
		if err != nil || len(got.Batch) != 5 {
			t.Fatalf("%s: %+v, error %v", text, got, err)
		}
		for _, x := range got.Batch {
			if math.IsNaN(x.Acquisition) || math.IsInf(x.Acquisition, 0) || !(*x.Deviation > 0) || math.Abs(*x.Value-7) > 1e-9 {
				t.Errorf("%s: %+v", text, x)
			}
		}
	}
}

// Of classes a batch has those that are probably wanted, or uncertain, and not all alike.
func TestPoolClasses(t *testing.T) {
	graphs, m := drugs(t, 150, choose.Classification, func(_ int, g *graph.Graph) string {
		if g.Target() == "steroid" {
			return "yes"
		}
		return "no"
	})
	o := DefaultPoolOptions()
	o.K, o.Class = 5, "yes"
	got, err := from(t.Context(), m, graphs, 100, o)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, x := range got.Batch {
		if graphs[x.Index].Target() == "steroid" {
			right++
		}
		if x.Value != nil || *x.Probability < 0 || (x.Class == "yes") != strings.HasPrefix(x.Why, "good") {
			t.Errorf("%+v", x)
		}
	}
	if right < 2 || got.Acquisition != Probability || got.Goal != "yes" {
		t.Errorf("%d steroids, %+v", right, got)
	}
	o.Class = ""
	if got, err = from(t.Context(), m, graphs, 100, o); err != nil || got.Acquisition != Uncertainty || *got.Batch[0].Probability > 0.9 {
		t.Errorf("%+v, error %v", got, err)
	}
	for want, change := range map[string]func(o *PoolOptions){
		`"maybe" is not one of the model's: no, yes`: func(o *PoolOptions) { o.Class = "maybe" },
		"is for values":                     func(o *PoolOptions) { o.Goal = mustGoal(t, "1:2") },
		"acquisition ei is not for classes": func(o *PoolOptions) { o.Acquisition = Improvement },
		"0 candidates":                      func(o *PoolOptions) { o.Keep = 0 },
	} {
		bad := o
		change(&bad)
		if _, err := NewSearch(t.Context(), m, bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	_, values := drugs(t, 20, choose.Regression, atoms)
	o.Class = "yes"
	if _, err := NewSearch(t.Context(), values, o); err == nil || !strings.Contains(err.Error(), "the model predicts values") {
		t.Errorf("error %v", err)
	}
	values.Learner.Process = nil
	if _, err := NewSearch(t.Context(), values, DefaultPoolOptions()); !errors.Is(err, learn.ErrNoProcess) {
		t.Errorf("error %v", err)
	}
}

// spread makes the determinant of qualities and similarities large, at most a little less than the best of all sets.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	const n, k = 9, 3
	gram := kerneltest.Points(rng, n, 2)
	quality := make([]float64, n)
	for i := range quality {
		quality[i] = rng.Float64()
	}
	determinant := func(set []int) float64 {
		c := mat.NewDense(len(set), len(set), nil)
		for a, i := range set {
			for b, j := range set {
				c.Set(a, b, math.Sqrt(quality[i]*quality[j])*gram.At(i, j))
			}
		}
		return mat.Det(c)
	}
	o := DefaultOptions()
	o.K = k
	got, err := spread(ctx, gram, quality, o)
	if err != nil {
		t.Fatal(err)
	}
	var batch []int
	product, best := 1.0, 0.0
	for _, x := range got {
		for i := range n {
			if !slices.Contains(batch, i) && determinant(append(slices.Clone(batch), i)) > determinant(append(slices.Clone(batch), x.Index))*(1+1e-9) {
				t.Errorf("after %v, %d is better than %d", batch, i, x.Index)
			}
		}
		batch, product = append(batch, x.Index), product*x.Acquisition
		if math.Abs(product/determinant(batch)-1) > 1e-9 {
			t.Errorf("%v: %v, want %v", batch, product, determinant(batch))
		}
	}
	subsets(n, k, func(set []int) { best = max(best, determinant(set)) })
	if product < 0.7*best {
		t.Errorf("%v has %v, the best %v", batch, product, best)
	}
	o.K = 20
	if got, err = spread(ctx, &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 1, 1, 1}}, []float64{0.5, 0}, o); err != nil || len(got) != 2 {
		t.Errorf("%v of two copies, error %v", got, err)
	}
}

// Graphs whose kernel is 0 with all, as those without edges can be, are alike and unlike the others: one of them is
// picked for itself, and more only when nothing else is left.
func TestSpreadNothing(t *testing.T) {
	gram := kernel.NewMatrix(4, 4)
	gram.Set(1, 1, 2)
	gram.Set(3, 3, 1)
	o := DefaultOptions()
	o.K = 4
	got, err := spread(ctx, gram, []float64{0.9, 0.5, 0.8, 0.4}, o)
	want := []Picked{{0, 0.9}, {1, 0.5}, {3, 0.4}, {2, 0}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v, error %v", got, want, err)
	}
}

// Without graphs, as in a store, a kernel that is not normalised does not take a small graph for a large one of
// which it is a part.
func TestPoolNotNormalised(t *testing.T) {
	k, err := kernel.Parse("wl h=1 normalize=false")
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) *graph.Graph {
		g, err := dataset.ParseSMILES(text, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return g.With(text, fmt.Sprint(g.N()))
	}
	training := &dataset.Dataset{}
	for _, text := range []string{"CCCCCCCC", "CCO", "CCCCO", "CCCN"} {
		training.Graphs = append(training.Graphs, read(text))
	}
	lo := model.DefaultLearnOptions()
	lo.Task = choose.Regression
	m, _, err := model.Learn(t.Context(), training, choose.Each(k), lo)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSearch(t.Context(), m, DefaultPoolOptions())
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Kernel.Transform(t.Context(), []*graph.Graph{read("CC"), read("OCC"), read("CCCC")})
	if err != nil {
		t.Fatal(err)
	}
	scored, err := s.Score(t.Context(), Block{IDs: []string{"a", "b", "c"}, Features: a})
	if err != nil || scored[0].state != possible || scored[1].state != measured || scored[2].state != possible {
		t.Errorf("states %+v, error %v", scored, err)
	}
}

// What is said of predictions, draws and bounds is a value, also where small ones are wanted.
func TestPoolSmallValues(t *testing.T) {
	graphs, m := drugs(t, 30, choose.Regression, atoms)
	for _, a := range []Acquisition{Mean, Bound, Thompson} {
		o := DefaultPoolOptions()
		o.Goal.Kind, o.Acquisition, o.K = Minimise, a, 4
		got, err := from(t.Context(), m, graphs, 100, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got.Batch {
			if a == Mean && x.Acquisition != *x.Value || a != Mean && math.Abs(x.Acquisition-*x.Value) > 6**x.Deviation {
				t.Errorf("%s: %v of a value %v", a, x.Acquisition, *x.Value)
			}
		}
	}
}
