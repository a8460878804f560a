package suggest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// volume is what points dominate above a reference, by inclusion and exclusion.
func volume(reference []float64, points [][]float64) float64 {
	sum := 0.0
	for set := 1; set < 1<<len(points); set++ {
		size, sign := 1.0, -1.0
		for j, r := range reference {
			least := math.Inf(1)
			for i, x := range points {
				if set>>i&1 > 0 {
					least = min(least, x[j])
				}
			}
			size *= max(0, least-r)
		}
		for i := range points {
			if set>>i&1 > 0 {
				sign = -sign
			}
		}
		sum += sign * size
	}
	return sum
}

// The gain of a front is the expected volume that a point adds, integrated over a grid of normal variables.
func TestFrontGain(t *testing.T) {
	graphtest.Slow(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for m := 1; m <= 3; m++ {
		for trial := range 4 {
			reference, mean, deviation := make([]float64, m), make([]float64, m), make([]float64, m)
			var points [][]float64
			for j := range m {
				reference[j], mean[j], deviation[j] = -1, rng.NormFloat64()/2, 0.3+rng.Float64()
			}
			for range trial + 1 {
				x := make([]float64, m)
				for j := range x {
					x[j] = 2*rng.Float64() - 1.2
				}
				points = append(points, x)
			}
			before, want := volume(reference, points), 0.0
			steps := []int{0, 20000, 400, 60}[m]
			at, weight := make([]float64, m), 1/math.Pow(float64(steps), float64(m))
			var each func(j int)
			each = func(j int) {
				if j == m {
					want += weight * (volume(reference, append(slices.Clip(points), at)) - before)
					return
				}
				for k := range steps { // equal parts of probability
					z := distuv.UnitNormal.Quantile((float64(k) + 0.5) / float64(steps))
					at[j] = mean[j] + deviation[j]*z
					each(j + 1)
				}
			}
			each(0)
			f := newFront(reference, points)
			if m == 1 { // the best takes the place of the reference
				best := reference[0]
				for _, x := range points {
					best = max(best, x[0])
				}
				f = newFront([]float64{best}, nil)
			}
			got := math.Exp(f.gain(func(j int, s float64) float64 { return Goal{}.improvement(mean[j], deviation[j], s) }))
			if tolerance := []float64{0, 1e-3, 5e-3, 2e-2}[m]; !(math.Abs(got-want) < tolerance*want) {
				t.Errorf("%d dimensions, %d points: %v, want %v", m, len(points), got, want)
			}
			for _, x := range points { // one after the other gives the same front
				f = f.with(x)
			}
			if whole := newFront(f.reference, append(slices.Clip(points), f.points...)); len(whole.points) != len(f.points) || len(whole.boxes) != len(f.boxes) {
				t.Errorf("%d points of a front, want %d", len(f.points), len(whole.points))
			}
		}
	}
	far := newFront([]float64{0, 0}, [][]float64{{1, 1}})
	if x := far.gain(func(_ int, s float64) float64 { return Goal{}.improvement(-40, 1, s) }); math.IsInf(x, 0) || !(x < -1000) {
		t.Errorf("far away the gain is %v in logarithms, want a finite number", x)
	}
}

// gainOf returns what a batch gains in many draws of the targets: added volume where limits hold, or without aims the
// probability of at least one hit.
func gainOf(s *Several, draws []*kernel.Matrix, set []int) (sum float64) {
	known := s.front()
	for k := range draws[0].Rows {
		hit, points := 0.0, [][]float64(nil)
		if known != nil {
			points = known.points
		}
		for _, i := range set {
			ok, aims := s.limited(func(j int) float64 { return draws[j].At(k, i) })
			if !ok {
				continue
			}
			hit = 1
			if len(aims) > 0 && known != nil {
				above := true
				for j, r := range known.reference {
					above = above && aims[j] > r
				}
				if above {
					points = append(slices.Clip(points), aims)
				}
			}
		}
		if known != nil {
			hit = volume(known.reference, points) - volume(known.reference, known.points)
		}
		sum += hit
	}
	return sum / float64(draws[0].Rows)
}

// Batches for several targets gain what they say, which is nearly as much as the best of all batches.
func TestBatchOfSeveral(t *testing.T) {
	graphtest.Slow(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, texts := range [][]string{{"0.2:0.9", "-1:0.5"}, {"max", "-0.5:1"}, {"max", "min"}, {"max", "0.3", "-1:"}, {"max"}} {
		const n, k = 9, 3
		s, o := Several{}, DefaultOptions()
		o.K, o.Fantasies = k, 4000
		var posteriors []*learn.Posterior
		var draws []*kernel.Matrix
		for j, text := range texts {
			p := pool(rng, n)
			m, err := p.Sample(ctx, 16000, uint64(10+j))
			if err != nil {
				t.Fatal(err)
			}
			posteriors, draws, s.Goals = append(posteriors, p), append(draws, m), append(s.Goals, mustGoal(t, text))
		}
		for range s.aims() {
			s.Reference = append(s.Reference, -1.5)
		}
		known := make([]float64, len(s.Reference))
		for j := range known {
			known[j] = -0.2
		}
		if len(known) > 0 {
			s.Known = [][]float64{known}
		}
		got, err := PickSeveral(ctx, posteriors, s, o)
		if err != nil || len(got) != k {
			t.Fatalf("%v: %v, error %v", texts, got, err)
		}
		set, sum := []int(nil), 0.0
		for _, x := range got {
			set, sum = append(set, x.Index), sum+x.Acquisition
		}
		truth, best := gainOf(&s, draws, set), 0.0
		subsets(n, k, func(set []int) { best = max(best, gainOf(&s, draws, set)) })
		if !(math.Abs(sum-truth) < 0.04*truth) || !(truth > 0.9*best) {
			t.Errorf("%v: the batch says it gains %v, and gains %v; the best of all %v", texts, sum, truth, best)
		}
	}
}

// A single goal gives the batch of Pick.
func TestSeveralOfOne(t *testing.T) {
	p := pool(rand.New(rand.NewPCG(4, 4)), 12)
	for _, text := range []string{"max", "0.1:0.6"} {
		o := DefaultOptions()
		o.K, o.Best, o.Fantasies = 4, 0.7, 4000
		o.Goal = mustGoal(t, text)
		want, err := Pick(ctx, p, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := PickSeveral(ctx, []*learn.Posterior{p}, Several{Goals: []Goal{o.Goal}, Known: [][]float64{{0.7}}}, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x.Index != want[i].Index || math.Abs(x.Acquisition-want[i].Acquisition) > 0.05*want[i].Acquisition {
				t.Errorf("%s: %v, want %v", text, got, want)
				break
			}
		}
	}
}

// twoTargets returns molecules, and a model of the first ones with two values: their sizes, and their bonds more than atoms,
// which a third lack.
func twoTargets(t *testing.T) *model.Model {
	t.Helper()
	graphs, _ := drugs(t, 60, choose.Regression, atoms)
	d := &dataset.Dataset{Name: "drugs", Graphs: graphs[:60]}
	size, rings := choose.Endpoint{Name: "size", Data: &dataset.Dataset{Name: "size"}}, choose.Endpoint{Name: "rings", Data: &dataset.Dataset{Name: "rings"}}
	for i, g := range d.Graphs {
		size.Data.Graphs = append(size.Data.Graphs, g.With(g.ID(), atoms(i, g)))
		if i%3 > 0 {
			rings.At = append(rings.At, i)
			rings.Data.Graphs = append(rings.Data.Graphs, g.With(g.ID(), fmt.Sprint(float64(g.M()-g.N())+0.01*float64(i%7))))
		}
	}
	k, err := kernel.Parse("wl h=2")
	if err != nil {
		t.Fatal(err)
	}
	o := model.DefaultLearnOptions()
	o.Task = choose.Regression
	m, _, err := model.LearnAll(t.Context(), d, []choose.Endpoint{size, rings}, choose.Each(k), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A pool of several targets: probabilities are those of the endpoints, the front is that of the definition, and neither
// blocks nor goroutines matter.
func TestPoolOfSeveral(t *testing.T) {
	graphtest.Slow(t)
	graphs, _ := drugs(t, 60, choose.Regression, atoms)
	m := twoTargets(t)
	all, err := m.PredictAll(t.Context(), graphs, model.DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, texts := range [][]string{{"size=15:25", "rings=1:"}, {"rings=max", "size=:22"}, {"size=min", "rings=max"}} {
		o := DefaultPoolOptions()
		o.K = 5
		for _, text := range texts {
			w, err := ParseWanted(text)
			if err != nil || w.String() != text {
				t.Fatalf("%q read as %s, error %v", text, w, err)
			}
			o.Goals = append(o.Goals, w)
		}
		got, err := from(work.WithWorkers(t.Context(), 3), m, graphs, 50, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := from(work.WithWorkers(t.Context(), 1), m, graphs, 7, o)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%s: other blocks give %+v, want %+v, error %v", texts, again, got, err)
		}
		// Those without a value of the second target are not measured.
		if got.Pool != len(graphs) || got.Measured != 40 || len(got.Batch) != 5 || got.Goal != strings.Join(texts, ", ") {
			t.Errorf("%s: %+v", texts, got)
		}
		endpoint := map[string]int{"size": 0, "rings": 1}
		utilities := func(i int) (out []float64) {
			for _, w := range o.Goals {
				out = append(out, w.utility(all[endpoint[w.Target]][i].Value))
			}
			return out
		}
		for _, x := range got.Batch {
			front := true
			for i := range graphs {
				if known := i < 60 && i%3 > 0; !known && dominates(utilities(i), utilities(x.Index)) {
					front = false
				}
			}
			if *x.Front != front {
				t.Errorf("%s: %s is on the front: %v, want %v", texts, x.ID, *x.Front, front)
			}
			holds, limits := 1.0, 0
			for j, w := range o.Goals {
				p := all[endpoint[w.Target]][x.Index]
				if e := x.Targets[j]; e.Target != w.Target || e.Value != p.Value || *e.True != *p.True || *e.Deviation != *p.Deviation {
					t.Errorf("%s: %s: %+v, want %+v", texts, x.ID, e, p)
				}
				if w.Kind == Range {
					limits++
					holds *= distuv.UnitNormal.CDF((w.High-p.Value) / *p.True) - distuv.UnitNormal.CDF((w.Low-p.Value) / *p.True)
				}
			}
			if limits == 0 && x.Probability != nil || limits > 0 && math.Abs(*x.Probability-holds) > 1e-9 {
				t.Errorf("%s: %s holds with %v, want %v", texts, x.ID, x.Probability, holds)
			}
		}
		if p := got.Batch[0].Probability; texts[0] == "size=15:25" && math.Abs(*p-got.Batch[0].Acquisition) > 1e-9 {
			t.Errorf("the first gains %v, want its probability %v", got.Batch[0].Acquisition, *p)
		}
	}
}

func TestSeveralErrors(t *testing.T) {
	m := twoTargets(t)
	for _, c := range []struct {
		goals       []string
		acquisition Acquisition
		class, want string
	}{
		{goals: []string{"size=max", "mass=1:"}, want: `the model has no target "mass", want one of size, rings`},
		{goals: []string{"size=max", "Size=1:"}, want: "two goals for the target size, want one"},
		{goals: []string{"size=max", "rings=1:"}, acquisition: Bound, want: "acquisition bound is not for these goals of several targets, want ei or random"},
		{goals: []string{"size=1:", "rings=1:"}, acquisition: Improvement, want: "want probability or random"},
		{goals: []string{"size=1:", "rings=learn"}, want: "the goal learn is for one target alone"},
		{goals: []string{"size=1:", "rings=1:"}, class: "a", want: "goals of several targets, and one without a target"},
	} {
		o := DefaultPoolOptions()
		o.Acquisition, o.Class = c.acquisition, c.class
		for _, text := range c.goals {
			w, err := ParseWanted(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Goals = append(o.Goals, w)
		}
		if _, err := NewSearch(context.Background(), m, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.goals, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"max": "want the name of a target and its goal", "=max": "want the name", "a=x": `goal "x": want max`,
	} {
		if _, err := ParseWanted(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", text, err, want)
		}
	}
}
