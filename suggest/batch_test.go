package suggest

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

var ctx = context.Background()

// pool is a posterior of n candidates with correlations.
func pool(rng *rand.Rand, n int) *learn.Posterior {
	p := &learn.Posterior{Covariance: kerneltest.Points(rng, n, 2), Noise: 0.4, Clipped: make([]bool, n)}
	for i := range n {
		p.Mean = append(p.Mean, rng.NormFloat64())
		for j := range n {
			p.Covariance.Data[i*n+j] *= (1 + 0.2*float64(i)) * (1 + 0.2*float64(j))
		}
	}
	return p
}

// subsets calls f with all sets of k of n numbers.
func subsets(n, k int, f func(set []int)) {
	var next func(set []int, from int)
	next = func(set []int, from int) {
		if len(set) == k {
			f(set)
			return
		}
		for i := from; i < n; i++ {
			next(append(slices.Clone(set), i), i+1)
		}
	}
	next(nil, 0)
}

// joint returns the gain of a batch in many draws: expected improvement, and probability of at least one hit.
func joint(draws *kernel.Matrix, g Goal, best float64, set []int) (improvement, probability float64) {
	for k := range draws.Rows {
		most, hit := best, false
		for _, i := range set {
			most, hit = max(most, g.utility(draws.At(k, i))), hit || g.hit(draws.At(k, i), best)
		}
		improvement += (most - best) / float64(draws.Rows)
		if hit {
			probability += 1 / float64(draws.Rows)
		}
	}
	return improvement, probability
}

// Batches gain what they say, which is nearly as much as the best of all batches, and each step takes what adds
// most.
func TestBatch(t *testing.T) {
	graphtest.Slow(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"max", "min", "0.5", "0.2:0.9"} {
		for _, a := range []Acquisition{Improvement, Probability} {
			g := mustGoal(t, text)
			if _, err := a.Of(g); err != nil {
				continue
			}
			const n, k = 8, 3
			p := pool(rng, n)
			o := DefaultOptions()
			o.Goal, o.Acquisition, o.K, o.Best = g, a, k, g.utility(p.Mean[0])-0.3
			got, err := Pick(ctx, p, o)
			if err != nil {
				t.Fatal(err)
			}
			draws, err := p.Sample(ctx, 40_000, 3)
			if err != nil {
				t.Fatal(err)
			}
			value := func(set []int) float64 {
				improvement, probability := joint(draws, g, o.Best, set)
				if a == Improvement {
					return improvement
				}
				return probability
			}
			best, sum := 0.0, 0.0
			subsets(n, k, func(set []int) { best = max(best, value(set)) })
			var batch []int
			for _, x := range got {
				// No other next candidate adds clearly more.
				most := 0.0
				for i := range n {
					most = max(most, value(append(slices.Clone(batch), i)))
				}
				batch, sum = append(batch, x.Index), sum+x.Acquisition
				if v := value(batch); v < 0.98*most {
					t.Errorf("%s, %s: %v gains %v, another %v", text, a, batch, v, most)
				}
			}
			if v := value(batch); math.Abs(sum/v-1) > 0.03 || v < 0.9*best {
				t.Errorf("%s, %s: %v gains %v, says %v, best batch %v", text, a, batch, v, sum, best)
			}
		}
	}
}

// What a batch tells is the determinant of the covariance of its measured values, at least 1 − 1/e of the best.
func TestBatchVariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, k = 9, 4
	p := pool(rng, n)
	o := DefaultOptions()
	o.Goal, o.K = Goal{Kind: Learn}, k
	got, err := Pick(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	told := func(set []int) float64 {
		c := mat.NewDense(len(set), len(set), nil)
		for a, i := range set {
			for b, j := range set {
				c.Set(a, b, p.Covariance.At(i, j)/(p.Noise*p.Noise))
			}
			c.Set(a, a, c.At(a, a)+1)
		}
		d, _ := mat.LogDet(c)
		return d / 2
	}
	var batch []int
	sum, best := 0.0, 0.0
	for _, x := range got {
		batch, sum = append(batch, x.Index), sum+x.Acquisition
		if math.Abs(sum-told(batch)) > 1e-9 {
			t.Errorf("%v: %v, want %v", batch, sum, told(batch))
		}
	}
	subsets(n, k, func(set []int) { best = max(best, told(set)) })
	if sum < (1-1/math.E)*best {
		t.Errorf("%v tells %v, the best %v", batch, sum, best)
	}
}

// indices returns the candidates of a batch.
func indices(t *testing.T, p *learn.Posterior, o Options) []int {
	t.Helper()
	got, err := Pick(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	out := []int{}
	for _, x := range got {
		out = append(out, x.Index)
	}
	return out
}

// Copies of one molecule are not picked before other molecules that may be good too.
func TestBatchCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 6
	one := pool(rng, n)
	at := append(kernel.UpTo(n), kernel.UpTo(n)...) // all twice
	p := one.Select(at)
	for _, a := range []Acquisition{Improvement, Probability, Bound, Variance} {
		o := DefaultOptions()
		o.K, o.Best, o.Acquisition = 4, 0, a
		if a == Variance {
			o.Goal.Kind = Learn
		}
		p.Noise = 0.01
		set := indices(t, p, o)
		for k := range set {
			set[k] %= n
		}
		slices.Sort(set)
		if a != Bound && len(slices.Compact(set)) < 4 {
			t.Errorf("%s: %v", a, set)
		}
	}
}

// The best predictions, draws, bounds and random candidates are what they say.
func TestBatchOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := pool(rng, 7)
	o := DefaultOptions()
	o.K, o.Acquisition = 7, Mean
	want := kernel.UpTo(7)
	slices.SortFunc(want, func(a, b int) int {
		if p.Mean[a] > p.Mean[b] {
			return -1
		}
		return 1
	})
	if got := indices(t, p, o); !slices.Equal(got, want) {
		t.Errorf("by mean %v, want %v", got, want)
	}
	o.K, o.Acquisition, o.Beta = 1, Bound, 1.5
	most := 0
	for i := range p.Mean {
		if b := p.Mean[i] + 1.5*math.Sqrt(p.Covariance.At(i, i)); b > p.Mean[most]+1.5*math.Sqrt(p.Covariance.At(most, most)) {
			most = i
		}
	}
	if got := indices(t, p, o); got[0] != most {
		t.Errorf("by bound %v, want %v", got, most)
	}
	o.K, o.Acquisition = 3, Thompson
	draws, err := p.Sample(ctx, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := indices(t, p, o); got[0] != slices.Index(draws.Row(0), slices.Max(draws.Row(0))) {
		t.Errorf("by draws %v", got)
	}
	o.K, o.Acquisition = 7, Random
	a := indices(t, p, o)
	o.Seed = 5
	if b := indices(t, p, o); slices.Equal(a, b) || !slices.Equal(slices.Sorted(slices.Values(b)), kernel.UpTo(7)) {
		t.Errorf("at random %v and %v", a, b)
	}
}

// A budget is kept, gain counts per cost, and more than all candidates cannot be picked.
func TestBatchCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	p := pool(rng, 10)
	o := DefaultOptions()
	o.K, o.Best = 0, 0
	o.Cost, o.Budget = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, 12
	set := indices(t, p, o)
	sum := 0.0
	for _, i := range set {
		sum += o.Cost[i]
	}
	if sum > 12 || len(set) < 2 {
		t.Errorf("%v costs %v", set, sum)
	}
	for i, c := range o.Cost {
		if c <= 12-sum && !slices.Contains(set, i) {
			t.Errorf("%v leaves %v, for which %d could be bought", set, 12-sum, i)
		}
	}
	// The first one has the largest expected improvement for its cost.
	first, most := 0, math.Inf(-1)
	for i := range p.Mean {
		if v := o.Goal.improvement(p.Mean[i], math.Sqrt(p.Covariance.At(i, i)), 0) - math.Log(o.Cost[i]); v > most {
			first, most = i, v
		}
	}
	if set[0] != first {
		t.Errorf("%v, want %d first", set, first)
	}
	o.Cost, o.Budget, o.K = nil, math.Inf(1), 30
	if set = indices(t, p, o); len(set) != 10 {
		t.Errorf("%v of 10 candidates", set)
	}
	if set = indices(t, p.Select(nil), o); len(set) != 0 {
		t.Errorf("%v of none", set)
	}
}

// Where nothing is uncertain, or nothing can improve, or nothing is known to compare with, batches are full too.
func TestBatchExtremes(t *testing.T) {
	const n = 5
	p := &learn.Posterior{Mean: []float64{1, 3, 3, 2, 0}, Covariance: kernel.NewMatrix(n, n), Clipped: make([]bool, n)}
	o := DefaultOptions()
	o.K = n
	for _, best := range []float64{math.Inf(-1), 2.5, 99} {
		o.Best = best
		for _, a := range []Acquisition{Improvement, Probability, Bound, Mean} {
			o.Acquisition = a
			if got := indices(t, p, o); len(got) != n || p.Mean[got[0]] != 3 {
				t.Errorf("best %v, %s: %v", best, a, got)
			}
		}
	}
	o.Acquisition, o.Goal = "", Goal{Kind: Learn}
	if got := indices(t, p, o); len(got) != n {
		t.Errorf("nothing to learn: %v", got)
	}
	// All are certain to be in the range: after the first nothing is left to gain, and yet others follow.
	q := pool(rand.New(rand.NewPCG(1, 1)), 6)
	o = DefaultOptions()
	o.Goal, o.K, o.Best = mustGoal(t, "-100:100"), 4, 0
	if got := indices(t, q, o); len(got) != 4 {
		t.Errorf("all are in the range: %v", got)
	}
}

// The same bits for any number of goroutines, and errors that say what is wrong.
func TestBatchBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	p := pool(rng, 60)
	for _, a := range []Acquisition{Improvement, Probability, Bound, Thompson} {
		var first []Picked
		for _, workers := range []int{1, 3} {
			o := DefaultOptions()
			o.Acquisition, o.K, o.Best, o.Seed = a, 8, 1, 9
			got, err := Pick(work.WithWorkers(ctx, workers), p, o)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			}
			if !reflect.DeepEqual(got, first) {
				t.Errorf("%s with %d goroutines: %v, want %v", a, workers, got, first)
			}
		}
	}
	for want, change := range map[string]func(o *Options){
		"-1 graphs": func(o *Options) { o.K = -1 }, "neither": func(o *Options) { o.K = 0 }, "budget NaN": func(o *Options) { o.Budget = math.NaN() },
		"1 costs of 60": func(o *Options) { o.Cost = []float64{1} }, "deviations": func(o *Options) { o.Beta = -1 },
		"fantasies": func(o *Options) { o.Fantasies = 0 }, "cost of candidate 0 is 0": func(o *Options) { o.Cost = make([]float64, 60) },
		"not for the goal": func(o *Options) { o.Acquisition = Variance },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Pick(ctx, p, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Pick(stopped, p, DefaultOptions()); err == nil {
		t.Error("no error of a context that has ended")
	}
}
