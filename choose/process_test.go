package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
)

// valued returns graphs with the given targets. What they are like does not matter: their kernel is given.
func valued(t *testing.T, values []float64) *dataset.Dataset {
	t.Helper()
	d := &dataset.Dataset{Name: "drawn"}
	for i, v := range values {
		g, err := graph.NewBuilder(1).Build()
		if err != nil {
			t.Fatal(err)
		}
		d.Graphs = append(d.Graphs, g.With(fmt.Sprint(i), fmt.Sprint(v)))
	}
	return d
}

// learnValues chooses a ridge on the given Gram matrix of values, and learns.
func learnValues(t *testing.T, gram *kernel.Matrix, values []float64, o Options) (*Plan, *learn.Learner) {
	t.Helper()
	o.Task = Regression
	k := kernel.Precomputed{Kernel: classic.DefaultWL(), Matrix: gram}
	p, err := Choose(t.Context(), valued(t, values), []Candidate{single("given", k)}, o)
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := p.Learn(t.Context(), learn.Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	return p, l
}

// Values drawn from a Gaussian process: scale and noise are found within their uncertainty, intervals have as many new
// values as they say, and the predictive density is that of the truth.
func TestDrawnValues(t *testing.T) {
	graphtest.Slow(t)
	const n, tests, draws = 200, 100, 30
	const scale, ridge, offset = 3.0, 0.1, 1000.0
	all := kerneltest.Points(graphtest.Rand(7), n+tests, 8)
	covariance := mat.NewSymDense(n+tests, nil)
	for i := range n + tests {
		for j := range i + 1 {
			covariance.SetSym(i, j, all.At(i, j))
		}
		covariance.SetSym(i, i, 1+ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		t.Fatal("not positive definite")
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	var train, test []int
	for i := range n + tests {
		if i < n {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	gram, cross := learn.Full(all).Select(train, train).Matrix(), learn.Full(all).Select(test, train)
	o := DefaultOptions()
	truth := o
	truth.Ridge = []float64{ridge}
	r := graphtest.Rand(8)
	var noise, scales, excess []float64
	var inside [len(metrics.Levels)]float64
	for range draws {
		e, z := mat.NewVecDense(n+tests, nil), mat.NewVecDense(n+tests, nil)
		for i := range n + tests {
			e.SetVec(i, scale*r.NormFloat64())
		}
		z.MulVec(&lower, e)
		values := make([]float64, n+tests)
		for i := range values {
			values[i] = offset + z.AtVec(i)
		}
		said := func(l *learn.Learner) metrics.RegressionScores {
			v, err := l.Values(cross)
			if err != nil {
				t.Fatal(err)
			}
			d, err := deviations(t.Context(), l, learn.Full(gram), cross, Pick(diagonalOf(all), test), nil)
			if err != nil {
				t.Fatal(err)
			}
			return metrics.ScoreValues(values[n:], v.Data, d)
		}
		_, l := learnValues(t, gram, values[:n], o)
		got := said(l)
		for i, c := range got.Coverage {
			inside[i] += c * tests
		}
		noise, scales = append(noise, math.Log(l.Process.Noise())), append(scales, math.Log(l.Process.Scale))
		_, known := learnValues(t, gram, values[:n], truth)
		known.Process.Scale = scale
		excess = append(excess, *got.NLPD-*said(known).NLPD)
	}
	// The grid has ridges a factor 3 apart: half a step of it is a share 0.3 of the noise.
	for what, x := range map[string][]float64{"noise": noise, "scale": scales} {
		want := map[string]float64{"noise": math.Log(scale * math.Sqrt(ridge)), "scale": math.Log(scale)}[what]
		if d := math.Abs(metrics.Mean(x) - want); d > 0.1+3*metrics.Deviation(x)/math.Sqrt(draws) || metrics.Deviation(x) > 0.4 {
			t.Errorf("log %s is %.3f ± %.3f, want %.3f", what, metrics.Mean(x), metrics.Deviation(x), want)
		}
	}
	for i, level := range metrics.Levels {
		// New values of a draw are correlated: the bound is that of a quarter as many.
		bound := 3 * math.Sqrt(level*(1-level)/(draws*tests/4))
		if got := inside[i] / (draws * tests); math.Abs(got-level) > bound {
			t.Errorf("%.3f of the values are in the interval of %v, want it within %.3f", got, level, bound)
		}
	}
	if d := metrics.Mean(excess); d < -0.01 || d > 0.03 {
		t.Errorf("the negative log predictive density is %.4f above that of the truth", d)
	}
}

func diagonalOf(k *kernel.Matrix) []float64 {
	out := make([]float64, k.Rows)
	for i := range out {
		out[i] = k.At(i, i)
	}
	return out
}

// Equal graphs with different values: the squared error of leave-one-out prefers a ridge that trusts them, with deviations
// far below the errors; the predictive density does not.
func TestContradictingValues(t *testing.T) {
	r := graphtest.Rand(9)
	const n = 60
	gram := kernel.NewMatrix(n, n)
	values := make([]float64, n)
	for i := range n {
		values[i] = r.NormFloat64()
		for j := range n {
			if i/2 == j/2 { // pairs of equal graphs, that are unlike all others
				gram.Set(i, j, 1)
			}
		}
		if i%2 == 1 {
			values[i] = values[i-1] + 0.5*r.NormFloat64()
		}
	}
	o := DefaultOptions()
	p, l := learnValues(t, gram, values, o)
	if noise := l.Process.Noise(); noise < 0.2 || noise > 0.6 {
		t.Errorf("noise %v with ridge %v, want about 0.35", noise, p.Parameter)
	}
	if p.Estimate.Measure != "rmse" || !strings.Contains(p.Estimate.Method, "leave-one-out of a Gaussian process") {
		t.Errorf("estimate %+v", p.Estimate)
	}
	calibration := p.Calibration()
	if calibration[0].Measure != "rmse" || calibration[1].Measure != "nlpd" ||
		calibration[3].Measure != "coverage of 90 % intervals" || calibration[3].Value < 0.75 {
		t.Errorf("calibration %+v", calibration)
	}
}

// Constant targets are predicted as they are, and deviations do not say that nothing else can be. Few graphs can
// be learned from.
func TestConstantValues(t *testing.T) {
	o := DefaultOptions()
	for n := 3; n < 6; n++ {
		values := make([]float64, n)
		for i := range values {
			values[i] = 7.5
		}
		gram := kerneltest.Points(graphtest.Rand(7), n, 3)
		_, l := learnValues(t, gram, values, o)
		v, err := l.Values(learn.Full(gram))
		if err != nil || math.Abs(v.Data[0]-7.5) > 1e-12 || !(l.Process.Noise() > 0.1 && l.Process.Noise() < 7.5) {
			t.Errorf("%d graphs: value %v, noise %v, error %v", n, v.Data, l.Process.Noise(), err)
		}
	}
}

// Where all graphs are equal, all ridges predict the same: the largest one is chosen, also where the others differ by rounding,
// and whether values have weights of 1 or none.
func TestRidgeOfEqualGraphs(t *testing.T) {
	for n := 5; n < 30; n++ {
		gram, values := kernel.NewMatrix(n, n), make([]float64, n)
		for i := range gram.Data {
			gram.Data[i] = 1
		}
		for i := range values {
			values[i] = float64(i)
		}
		k := kernel.Precomputed{Kernel: classic.DefaultWL(), Matrix: gram}
		for _, weights := range []learn.Weights{nil, slices.Repeat(learn.Weights{1}, n)} {
			o := DefaultOptions()
			o.Task = Regression
			p, err := Endpoint{Data: valued(t, values), Targets: &Targets{Values: values, Weights: weights}}.Choose(t.Context(), []Candidate{single("given", k)}, o)
			if err != nil {
				t.Fatal(err)
			}
			if p.Parameter != slices.Max(o.Ridge) {
				t.Errorf("%d graphs, weights %v: ridge %v, want %v", n, weights != nil, p.Parameter, slices.Max(o.Ridge))
			}
		}
	}
}

// Weights of values have a part in the choice of the ridge: all of 10 are a tenth of the noise, and values whose
// weights are near 0 do not count. That is so where the matrix is factorised, by a sample and by iterations.
func TestWeightsChoose(t *testing.T) {
	defer func(n int) { mostFactorised = n }(mostFactorised)
	const n = 120
	rng := graphtest.Rand(11)
	gram := kerneltest.Points(rng, n, 4)
	values := make([]float64, n)
	for i := range values {
		values[i] = 3 + 2*gram.At(i, 0) + 0.3*rng.NormFloat64()
	}
	choose := func(weights func(i int) float64, o Options) *Plan {
		o.Task = Regression
		k := kernel.Precomputed{Kernel: classic.DefaultWL(), Matrix: gram}
		targets := &Targets{Values: values}
		for i := range values {
			targets.Weights = append(targets.Weights, weights(i))
		}
		p, err := Endpoint{Data: valued(t, values), Targets: targets}.Choose(t.Context(), []Candidate{single("given", k)}, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, x := range []struct{ most, sample int }{{4096, 4096}, {4096, 90}, {90, 90}} {
		mostFactorised = x.most
		o := DefaultOptions()
		o.Examples = x.sample
		one := choose(func(int) float64 { return 1 }, o)
		ten := choose(func(int) float64 { return 10 }, o)
		if o.AtEdge(slices.Index(o.Ridge, one.Parameter)) || math.Abs(ten.Parameter/one.Parameter/10-1) > 1e-9 {
			t.Errorf("%+v: ridges %v and %v for weights of 1 and 10, want the second ten times the first", x, one.Parameter, ten.Parameter)
		}
		for i, v := range one.Held.Values {
			near(t, "value held out", ten.Held.Values[i], v, 1e-3)
		}
	}
	rest := values[n/2:]
	few, _ := learnValues(t, gram.Select(kernel.UpTo(n)[n/2:], kernel.UpTo(n)[n/2:]), rest, DefaultOptions())
	for i := range n / 2 {
		values[i] = 1e3 * rng.NormFloat64()
	}
	light := choose(func(i int) float64 { return max(1e-12, math.Floor(2*float64(i)/n)) }, DefaultOptions())
	if light.Parameter != few.Parameter {
		t.Errorf("ridge %v where half of the weights are near 0, want %v as without these values", light.Parameter, few.Parameter)
	}
}
