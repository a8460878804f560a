package choose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// learnable returns graphs whose targets depend on their labels and edges: one class in eight graphs is
// rare, or the targets are values.
func learnable(n int, values bool) *dataset.Dataset {
	r := graphtest.Rand(31)
	ds := &dataset.Dataset{Name: "learnable"}
	for i := range n {
		g := graphtest.Random(r, graphtest.Options{N: 6 + r.IntN(6), Edge: 0.3, Labels: 3})
		value := float64(2*g.M()) + r.NormFloat64()
		for v := range g.N() {
			if g.Label(v) == g.Label(0) {
				value += 2
			}
		}
		target := fmt.Sprint(value)
		if !values {
			target = "common"
			if value > 30 {
				target = "rare"
			}
		}
		ds.Graphs = append(ds.Graphs, g.With(fmt.Sprint(i), target))
	}
	return ds
}

// counting returns candidates of which two are marked to be taken for many graphs.
func counting() []Candidate {
	oa := classic.DefaultWL()
	oa.Variant, oa.H = classic.Assignment, 2
	a, b, c := single("wl-oa", oa), single("sp", classic.DefaultShortestPath()), single("labels", classic.DefaultHistogram())
	a.Share, b.Share = Share{1, 1}, Share{1, 1}
	return []Candidate{a, b, c}
}

// Learning by conjugate gradients finds what factors of the whole matrix find, for classes and values.
// Centres, which come where the memory is small, find nearly the same.
func TestManyGraphs(t *testing.T) {
	graphtest.Slow(t)
	defer func(n int) { mostFactorised = n }(mostFactorised)
	for _, values := range []bool{false, true} {
		ds := learnable(420, values)
		o := DefaultOptions()
		o.ForCandidates()
		o.Examples = 120
		var plans []*Plan
		var learners []*learn.Learner
		ways := []struct {
			most int
			free int64
		}{{4096, 0}, {200, 1 << 40}, {200, 1 << 20}}
		for k, x := range ways {
			mostFactorised, o.Memory = x.most, x.free
			p, err := Choose(t.Context(), ds, counting(), o)
			if err != nil {
				t.Fatal(err)
			}
			if (p.Gram == nil) != (k > 0) || (p.Nearest == nil) != (k == 0) {
				t.Fatalf("values %v: Gram %v, Nearest %v", values, p.Gram != nil, p.Nearest != nil)
			}
			var view learn.View
			if p.Gram != nil {
				view = learn.Full(p.Gram)
			}
			l, _, err := p.Learn(t.Context(), view)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := len(l.Functions[0].Coefficients); got != 420 {
				t.Errorf("%d coefficients", got)
			}
			plans, learners = append(plans, p), append(learners, l)
		}
		exact := plans[0]
		cross := learn.Full(exact.Gram).Select([]int{0, 7, 100}, nil)
		a, err := learners[0].Values(cross)
		if err != nil {
			t.Fatal(err)
		}
		scale := 1.0
		if values {
			_, _, scale = learn.StandardScores(exact.Values, nil)
		}
		for k, many := range plans[1:] {
			near := []float64{0.05, 0.5}[k] * exact.Estimate.Value // these graphs are like no others
			if math.Abs(exact.Estimate.Value-many.Estimate.Value) > near || exact.Estimate.Measure != many.Estimate.Measure {
				t.Errorf("values %v: estimates %+v and %+v", values, exact.Estimate, many.Estimate)
			}
			if k == 1 {
				said := fmt.Sprintf("by 210 centres for 0.00105 GB of memory: %s of %.4g for 420 graphs with 210 centres, and ", many.Estimate.Measure, many.Estimate.Value)
				if !strings.Contains(many.Estimate.Method, said) {
					t.Errorf("%q does not say %q", many.Estimate.Method, said)
				}
				continue
			}
			if exact.Parameter != many.Parameter {
				t.Logf("ridges %v and %v", exact.Parameter, many.Parameter)
				continue
			}
			b, err := learners[1].Values(cross)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				// Offsets of classes come from other predictions, so only differences are compared.
				if d := math.Abs((a.At(i, 0) - a.At(0, 0)) - (b.At(i, 0) - b.At(0, 0))); d > 0.02*scale {
					t.Errorf("values %v: predictions %v and %v", values, a.Data, b.Data)
				}
			}
			if values {
				x, y := learners[0].Process, learners[1].Process
				if x == nil || y == nil || math.Abs(x.Scale/y.Scale-1) > 0.3 {
					t.Errorf("processes %+v and %+v", x, y)
				}
			}
		}
		for i, v := range plans[2].Nearest {
			if math.Abs(v-plans[1].Nearest[i]) > 1e-6 {
				t.Errorf("nearest similarity of %d is %v, want %v", i, v, plans[1].Nearest[i])
			}
		}
	}
}

// A sample has a quarter of the rare class, and the other class in proportion; all of a very rare one.
func TestSampleSeesTheRareClass(t *testing.T) {
	var graphs []*graph.Graph
	for i := range 1000 {
		target := "common"
		if i%50 == 0 {
			target = "rare"
		}
		graphs = append(graphs, graphtest.Path(2).With(fmt.Sprint(i), target))
	}
	ds := &dataset.Dataset{Graphs: graphs}
	for _, x := range []struct{ examples, rare int }{{40, 10}, {80, 20}, {400, 20}} {
		o := quick(4)
		o.Examples = x.examples
		c := chooserOf(t, ds, &o)
		s := c.TrainingPart(0, 4).sample
		rare := 0
		for _, i := range s {
			if c.Targets.Classes[c.Targets.Labels[i]] == "rare" {
				rare++
			}
		}
		if len(s) != x.examples || rare < x.rare || rare > x.rare+1 || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) {
			t.Errorf("%d of %d graphs are rare, want about %d of %d", rare, len(s), x.rare, x.examples)
		}
	}
}

// The loss of a sample is that of all graphs: a class of which it has too many counts less.
func TestLosses(t *testing.T) {
	targets := &Targets{Classes: []string{"a", "b"}, Labels: []int{0, 0, 0, 0, 0, 0, 0, 1}}
	p := HeldPredictions{Labels: []int{0, 1}, Scores: [][]float64{{1, -1}, {-1, 1}}}
	loss := targets.losses([]int{0, 7}, p)
	if ratio := loss[0] / loss[1]; math.Abs(ratio-7) > 1e-6 { // 7/8 ÷ ½ and 1/8 ÷ ½
		t.Errorf("losses %v, want the first 7 times the second", loss)
	}
	values := &Targets{Values: []float64{1, 2, 4}}
	if got := values.losses([]int{2, 0}, HeldPredictions{Values: []float64{1, 1}}); got[0] != 9 || got[1] != 0 {
		t.Errorf("squared errors %v", got)
	}
}

// The memory that is announced grows with the square of the graphs, by a quarter of what double precision
// would take where there are many, until it is that of centres.
func TestBytes(t *testing.T) {
	o := DefaultOptions()
	o.ForCandidates()
	for _, free := range []int64{0, 4e9, 24e9} {
		o.Memory = free
		for _, n := range []int{1000, 4000, 33_000, 100_000} {
			got, square := float64(o.Bytes(n, 42, 2)), float64(n)*float64(n)
			switch m := o.Centres(n); {
			case m > 0 && (free == 0 || n < 33_000 || got > float64(free) && !(n == 100_000 && free == 4e9)): // features alone take 4e9
				t.Errorf("%d graphs with %d free: %d centres, %.3g bytes", n, free, m, got)
			case m == 0 && n > mostFactorised && !(got > 2*square && got < 1.25*(4*square+1e9)):
				t.Errorf("%d graphs with %d free: %.3g bytes", n, free, got)
			}
			if n == 100_000 && (o.Centres(n) > 0) != (free > 0) || n == 33_000 && (o.Centres(n) > 0) != (free == 4e9) {
				t.Errorf("%d graphs with %d free: %d centres", n, free, o.Centres(n))
			}
		}
	}
	if work.Available() < 0 {
		t.Error("less than no memory")
	}
	// Where neither the matrix nor centres fit, what is asked for is not more than the matrix.
	for _, n := range []int{5000, 6000, 8000} {
		o.Memory = 0
		matrix := o.Bytes(n, 1, 2)
		if o.Memory = matrix; o.Centres(n) > 0 {
			t.Errorf("%d graphs: centres, but the matrix fits", n)
		}
		o.Memory = matrix - 1e6
		if got := o.Bytes(n, 1, 2); got > matrix {
			t.Errorf("%d graphs with %d free: %d bytes, the matrix takes %d", n, o.Memory, got, matrix)
		}
	}
}

// Predictions for graphs that are held out, and with them probabilities and offsets of classes, come from the
// weighted problem, whether the matrix is factorised, iterated on, or replaced by centres.
func TestWeightsOfManyGraphs(t *testing.T) {
	defer func(n int) { mostFactorised = n }(mostFactorised)
	ds := learnable(420, false)
	o := DefaultOptions()
	o.Examples, o.Ridge = 120, []float64{0.3}
	targets, err := ReadTargets(ds, AutoTask)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range targets.Labels {
		targets.Weights = append(targets.Weights, 210/float64(targets.counts()[l]))
	}
	for _, o.Unscored = range []bool{false, true} {
		var first *learn.Learner
		for k, x := range []struct {
			most   int
			memory int64
		}{{4096, 0}, {200, 1 << 40}, {200, 1 << 20}} {
			mostFactorised, o.Memory = x.most, x.memory
			p, err := Endpoint{Data: ds, Targets: targets}.Choose(t.Context(), counting()[1:2], o)
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := p.Learn(t.Context(), learn.View{})
			if err != nil {
				t.Fatal(err)
			}
			if (p.Gram == nil) != (k > 0) {
				t.Errorf("way %d: matrix %v", k, p.Gram != nil)
			}
			if e := p.Estimate.Method; !o.Unscored && (!strings.Contains(e, " of all graphs") || strings.Contains(e, "took part")) {
				t.Errorf("way %d: %q, though there was one kernel", k, e)
			}
			if first == nil {
				first = l
			}
			for c, f := range l.Functions {
				if d := f.Bias - first.Functions[c].Bias; math.Abs(d) > []float64{0, 0.1, 0.2}[k] {
					t.Errorf("way %d, unscored %v: bias %.3f of class %d, want %.3f", k, o.Unscored, f.Bias, c, first.Functions[c].Bias)
				}
			}
			if math.Abs(l.Slope/first.Slope-1) > []float64{0, 0.1, 0.5}[k] {
				t.Errorf("way %d, unscored %v: slope %v, want %v", k, o.Unscored, l.Slope, first.Slope)
			}
		}
	}
}

// Ridges near that of a sample are tried on all graphs. Where the best is the first or the last of them, the
// next one follows, to the edge of the grid; one that is too small is none. A ridge that was scored on all
// graphs stays, if it is large enough.
func TestTryRidges(t *testing.T) {
	grid := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for name, x := range map[string]struct {
		at, best, definite int // positions in the grid: of the sample, of all graphs, and the first that is large enough
		sample             bool
		tried              []float64
		want               float64 // 0 for an error
	}{
		"in the middle": {3, 4, 0, true, []float64{3, 4, 5, 6}, 5},
		"upwards":       {2, 6, 0, true, []float64{2, 3, 4, 5, 6, 7, 8}, 7},
		"downwards":     {5, 2, 0, true, []float64{5, 6, 7, 8, 4, 3, 2}, 3},
		"to the edge":   {4, 0, 0, true, []float64{4, 5, 6, 7, 3, 2, 1}, 1},
		"too small":     {1, 0, 5, true, []float64{1, 2, 3, 4, 5, 6, 7}, 6},
		"all scored":    {3, 0, 0, false, []float64{4}, 4},
		"a small ridge": {3, 0, 5, false, []float64{4, 5, 6}, 6},
		"none":          {6, 0, 8, false, []float64{7, 8}, 0},
	} {
		o := DefaultOptions()
		o.Ridge = grid
		x2 := &all{choice: &choice{Chooser: Chooser{Options: &o}}, plan: &Plan{Parameter: grid[x.at]}}
		if x2.everything = (&TrainingPart{graphs: kernel.UpTo(2), sample: kernel.UpTo(2)}); x.sample {
			x2.everything.sample = kernel.UpTo(1)
		}
		var tries []float64
		_, err := x2.tryRidges(t.Context(), func(_ context.Context, ridges []float64, needed bool) ([]*tried, error) {
			if needed != (tries == nil) {
				t.Errorf("%s: needed %v after %v", name, needed, tries)
			}
			tries = append(tries, ridges...)
			out := make([]*tried, len(ridges))
			for k, ridge := range ridges {
				if at := int(ridge) - 1; at >= x.definite {
					out[k] = &tried{loss: math.Abs(float64(at - x.best))}
				}
			}
			return out, nil
		})
		if (err != nil) != (x.want == 0) || err == nil && x2.plan.Parameter != x.want || !slices.Equal(tries, x.tried) {
			t.Errorf("%s: ridge %v of %v, error %v; want %v of %v", name, x2.plan.Parameter, tries, err, x.want, x.tried)
		}
	}
}
