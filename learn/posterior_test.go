package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// covariance returns that of the true values of two new examples, with covariances c and d to the examples and
// v with each other.
func (b *textbook) covariance(c, d []float64, v float64) float64 {
	k, l := mat.NewVecDense(len(c), c), mat.NewVecDense(len(d), d)
	r, s := 1-mat.Inner(b.ones, b.inverse, k), 1-mat.Inner(b.ones, b.inverse, l)
	return v - mat.Inner(k, b.inverse, l) + r*s/mat.Inner(b.ones, b.inverse, b.ones)
}

// told returns the posterior of examples of a Gram matrix, of which some are for training.
func told(t *testing.T, l *Learner, all *kernel.Matrix, train, test []int, apart []bool) *Posterior {
	t.Helper()
	view := Full(all)
	p, err := l.Posterior(ctx, view.Select(test, train), view.Select(test, test).Matrix(), apart, amongOf(view.Select(train, train).Matrix()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The posterior is that of the textbook where all training examples are looked at. With more of them variances
// are those of Deviations, and correlations those of the textbook.
func TestPosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{1, 2, 3, 30, 150} {
		const m = 7
		all := kerneltest.Points(rng, n+m, 3)
		for i := range all.Data {
			all.Data[i] *= 2
		}
		z := make([]float64, n)
		for i := range z {
			z[i] = 5 + rng.NormFloat64()
		}
		train, test := kernel.UpTo(n), make([]int, m)
		for k := range test {
			test[k] = n + k
		}
		l := ridges(t, Full(all).Select(train, train), Targets{Values: z}, 0.07)[0]
		scale, noise := l.Process.Scale, l.Process.Noise()
		p := told(t, l, all, train, test, nil)
		b := newTextbook(t, all, train, z, nil, scale, noise)
		d, err := posteriorOf(t, l, Full(all).Select(train, train).Matrix()).Deviations(ctx, Full(all).Select(test, train), slices.Repeat([]float64{2}, m))
		if err != nil {
			t.Fatal(err)
		}
		root := make([]float64, m) // of the textbook's variances
		for k, i := range test {
			c := covariances(all, i, train, scale)
			root[k] = math.Sqrt(b.covariance(c, c, scale*scale*all.At(i, i)))
			if mean, _ := b.predict(c, scale*scale*all.At(i, i), noise); math.Abs(p.Mean[k]-mean) > 1e-7 {
				t.Errorf("n = %d: mean %v, want %v", n, p.Mean[k], mean)
			}
			if got := math.Sqrt(p.Covariance.At(k, k) + p.Noise*p.Noise); math.Abs(got/d[k]-1) > 1e-12 {
				t.Errorf("n = %d: deviation %v, want %v", n, got, d[k])
			}
			if got := math.Sqrt(p.Covariance.At(k, k)); n <= neighbours && math.Abs(got/root[k]-1) > 1e-7 {
				t.Errorf("n = %d: deviation of a true value %v, want %v", n, got, root[k])
			}
		}
		for a, i := range test {
			for k, j := range test {
				want := b.covariance(covariances(all, i, train, scale), covariances(all, j, train, scale), scale*scale*all.At(i, j)) / root[a] / root[k]
				got := p.Covariance.At(a, k) / math.Sqrt(p.Covariance.At(a, a)*p.Covariance.At(k, k))
				if math.Abs(got-want) > 1e-7 || p.Covariance.At(a, k) != p.Covariance.At(k, a) {
					t.Errorf("n = %d: correlation of %d and %d is %v, want %v", n, a, k, got, want)
				}
			}
		}
	}
}

// Of many training examples those are looked at that are nearest, the nearest of all new ones first. Equal
// examples stay equal, however few are looked at.
func TestPosteriorConditions(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	const n = 300
	all := kerneltest.Points(rng, n, 4)
	train, test := kernel.UpTo(290), []int{290, 291, 292, 290}
	z := make([]float64, len(train))
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	l := ridges(t, Full(all).Select(train, train), Targets{Values: z}, 0.07)[0]
	p := told(t, l, all, train, test, nil)
	if r := p.Covariance.At(0, 3) / p.Covariance.At(0, 0); math.Abs(r-1) > 1e-9 {
		t.Errorf("correlation %v of an example with itself", r)
	}
	cross := Full(all).Select(test, train)
	at := l.Process.conditions(cross, 3)
	var want []int
	for k := range 3 {
		row := cross.row(k, make([]float64, len(train)))
		want = append(want, slices.Index(row, slices.Max(row)))
	}
	slices.Sort(want)
	if !slices.Equal(at, slices.Compact(want)) && len(slices.Compact(want)) == 3 {
		t.Errorf("conditions on %v, want %v", at, want)
	}
	if got := l.Process.conditions(cross, n); len(got) < neighbours || len(got) > 3*neighbours {
		t.Errorf("%d examples are near", len(got))
	}
	// Correlations that look at half of the examples are nearly the same.
	defer func(most int) { mostConditioned = most }(mostConditioned)
	mostConditioned = 145
	fewer := told(t, l, all, train, test, nil)
	for i, v := range p.Covariance.Data {
		if w := fewer.Covariance.Data[i]; math.Abs(v-w) > 0.05*p.Covariance.At(0, 0) || i%5 == 0 && v != w || v == w && i == 1 {
			t.Errorf("covariance %d of fewer conditions is %v, want about %v", i, w, v)
		}
	}
	// Examples of other groups are wider together.
	l.Process.Wider = 1.5
	wide := told(t, l, all, train, test, []bool{true, true, false, true})
	noise := p.Noise * p.Noise
	if got, want := wide.Covariance.At(0, 0)+noise, 1.5*1.5*(p.Covariance.At(0, 0)+noise); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("variance %v of another group, want %v", got, want)
	}
	if wide.Covariance.At(2, 2) != p.Covariance.At(2, 2) || math.Abs(wide.Covariance.At(0, 3)/wide.Covariance.At(0, 0)-1) > 1e-9 {
		t.Errorf("covariances %v", wide.Covariance.Data)
	}
}

// Draws have the posterior's mean and covariance, and the same bits for any number of goroutines and draws.
func TestPosteriorSample(t *testing.T) {
	p := &Posterior{Mean: []float64{1, -2, 5, 1}, Covariance: &kernel.Matrix{Rows: 4, Cols: 4, Data: []float64{
		4, 1, 0, 4,
		1, 1, 0, 1,
		0, 0, 0, 0,
		4, 1, 0, 4,
	}}, Clipped: make([]bool, 4)}
	const n = 20000
	got, err := p.Sample(work.WithWorkers(ctx, 3), n, 7)
	if err != nil {
		t.Fatal(err)
	}
	few, err := p.Sample(work.WithWorkers(ctx, 1), 10, 7)
	if err != nil || !slices.Equal(few.Data, got.Data[:40]) {
		t.Errorf("other bits for fewer draws, error %v", err)
	}
	for i, mean := range p.Mean {
		for j := range i + 1 {
			sum := 0.0
			for k := range n {
				sum += (got.At(k, i) - mean) * (got.At(k, j) - p.Mean[j]) / n
			}
			if want := p.Covariance.At(i, j); math.Abs(sum-want) > 0.12 { // three standard errors of the variance 4
				t.Errorf("covariance of %d and %d is %v, want %v", i, j, sum, want)
			}
		}
	}
	if got.At(5, 2) != 5 || math.Abs(got.At(5, 0)-got.At(5, 3)) > 1e-3 {
		t.Errorf("draw %v, want 5 for what is known and the same for what is the same", got.Row(5))
	}
	some := p.Select([]int{1, 3})
	if some.Mean[1] != 1 || some.Covariance.At(0, 1) != 1 {
		t.Errorf("some examples: %+v", some)
	}
	p.Covariance.Data[1], p.Covariance.Data[4] = 40, 40
	if _, err := p.Sample(ctx, 1, 1); err == nil || !strings.Contains(err.Error(), "positive semi-definite") {
		t.Errorf("error %v", err)
	}
}
