package svm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
)

func decompose(t *testing.T, v View) *Decomposition {
	t.Helper()
	d, err := Decompose(ctx, v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// without returns 0 … n−1 without i.
func without(n, i int) []int {
	var out []int
	for k := range n {
		if k != i {
			out = append(out, k)
		}
	}
	return out
}

func pick[T any](v []T, index []int) []T {
	var out []T
	for _, k := range index {
		out = append(out, v[k])
	}
	return out
}

// The fit satisfies its equations, and leave-one-out equals n refits.
func TestRidge(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{2, 3, 7, 33} {
		gram, _ := randomGram(rng, n, 5)
		z := make([]float64, n)
		for k := range z {
			z[k] = 10 + rng.NormFloat64()
		}
		d := decompose(t, Full(gram))
		for _, lambda := range []float64{1e-3, 0.1, 10} {
			for _, intercept := range []bool{false, true} {
				r, err := d.Ridge(z, lambda, intercept)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for k, b := range r.Coefficients {
					sum += b
					if v := dot(gram.Row(k), r.Coefficients) + lambda*b + r.Bias; math.Abs(v-z[k]) > 1e-9 {
						t.Errorf("n = %d, λ = %g: equation %d gives %.12g, want %.12g", n, lambda, k, v, z[k])
					}
				}
				if intercept && math.Abs(sum) > 1e-8/lambda {
					t.Errorf("n = %d, λ = %g: Σβ = %g with an intercept", n, lambda, sum)
				}
				for i := range n {
					others := without(n, i)
					part, err := decompose(t, Full(gram).Select(others, others)).Ridge(pick(z, others), lambda, intercept)
					if err != nil {
						t.Fatal(err)
					}
					want, err := part.Predict(Full(gram).Select([]int{i}, others))
					if err != nil {
						t.Fatal(err)
					}
					if math.Abs(r.LeaveOneOut[i]-want[0]) > 1e-8 {
						t.Errorf("n = %d, λ = %g, intercept %v: without %d %.12g, refit %.12g", n, lambda, intercept, i, r.LeaveOneOut[i], want[0])
					}
				}
			}
		}
	}
}

func TestRidgeClassifier(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	gram, labels := blobs(rng, 40, 3, 2)
	d := decompose(t, Full(gram))
	lambdas := []float64{0.01, 1, 100}
	models, err := d.RidgePath(labels, lambdas)
	if err != nil {
		t.Fatal(err)
	}
	for m, lambda := range lambdas {
		for i := range labels {
			others := without(len(labels), i)
			part, err := decompose(t, Full(gram).Select(others, others)).RidgePath(pick(labels, others), []float64{lambda})
			if err != nil {
				t.Fatal(err)
			}
			want, err := part[0].Predict(Full(gram).Select([]int{i}, others))
			if err != nil {
				t.Fatal(err)
			}
			if models[m].LeaveOneOut[i] != want[0] {
				t.Errorf("λ = %g, without %d: class %d, refit %d", lambda, i, models[m].LeaveOneOut[i], want[0])
			}
		}
	}
	if _, err := d.RidgePath(make([]int, 40), lambdas); err == nil || !strings.Contains(err.Error(), "at least two classes") {
		t.Errorf("one class: %v", err)
	}
}

// The textbook formulas by a dense solve (Rasmussen and Williams 2006, eqs. 2.25, 2.26, 2.30).
// TestRidgeAsMachines: machines made of regressions decide as these do.
func TestRidgeAsMachines(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	for _, classes := range []int{2, 3, 5} {
		gram, labels := blobs(rng, 40, classes, 2)
		models, err := decompose(t, Full(gram)).RidgePath(labels, []float64{0.1})
		if err != nil {
			t.Fatal(err)
		}
		m := models[0]
		c := m.Classifier(labels, true)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		want, err := m.Predict(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Predict(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d classes: predictions differ", classes)
		}
		values, err := m.Decision(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		decision, err := c.Decision(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		for i := range labels {
			if d, w := decision.At(i, 0), (values.At(i, 0)-values.At(i, 1))/2; math.Abs(d-w) > 1e-9 {
				t.Fatalf("%d classes: decision of example %d is %v, want %v", classes, i, d, w)
			}
		}
		p, err := c.Probability(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i, l := range labels {
			best := 0
			for k := range classes {
				if p.At(i, k) > p.At(i, best) {
					best = k
				}
			}
			if c.Classes[best] == l {
				right++
			}
		}
		if share := float64(right) / float64(len(labels)); share < 0.8 {
			t.Errorf("%d classes: the most probable class is right for %v of the examples", classes, share)
		}
	}
}

func TestProcess(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	n := 25
	all, _ := randomGram(rng, n+5, 8)
	var train, test []int
	for k := range n + 5 {
		if k < n {
			train = append(train, k)
		} else {
			test = append(test, k)
		}
	}
	gram := Full(all).Select(train, train)
	cross := Full(all).Select(test, train)
	z := make([]float64, n)
	for k := range z {
		z[k] = 3 + rng.NormFloat64()
	}
	d := decompose(t, gram)
	opt := ProcessOptions{Mean: 2.5, Signal: 1.7, Noise: 0.3}
	p, err := d.Process(z, opt)
	if err != nil {
		t.Fatal(err)
	}
	self := make([]float64, len(test))
	for k, i := range test {
		self[k] = all.At(i, i)
	}
	mean, variance, err := p.Predict(cross, self)
	if err != nil {
		t.Fatal(err)
	}
	direct := func(gram, cross View, z, self []float64) (mean, variance []float64, logp float64) {
		n := len(z)
		a := mat.NewSymDense(n, nil)
		rest := mat.NewVecDense(n, nil)
		for i := range n {
			for j := range n {
				a.SetSym(i, j, opt.Signal*gram.At(i, j))
			}
			a.SetSym(i, i, a.At(i, i)+opt.Noise)
			rest.SetVec(i, z[i]-opt.Mean)
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			t.Fatal("not positive definite")
		}
		var alpha mat.VecDense
		if err := chol.SolveVecTo(&alpha, rest); err != nil {
			t.Fatal(err)
		}
		for i := range self {
			k := mat.NewVecDense(n, nil)
			for j := range n {
				k.SetVec(j, opt.Signal*cross.At(i, j))
			}
			var s mat.VecDense
			if err := chol.SolveVecTo(&s, k); err != nil {
				t.Fatal(err)
			}
			mean = append(mean, opt.Mean+mat.Dot(k, &alpha))
			variance = append(variance, opt.Signal*self[i]-mat.Dot(k, &s))
		}
		logp = -0.5*mat.Dot(rest, &alpha) - 0.5*chol.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
		return
	}
	wantMean, wantVariance, wantLog := direct(gram, cross, z, self)
	for k := range mean {
		if math.Abs(mean[k]-wantMean[k]) > 1e-10 || math.Abs(variance[k]-wantVariance[k]) > 1e-10 {
			t.Errorf("example %d: %.12g ± %.12g, want %.12g ± %.12g", k, mean[k], variance[k], wantMean[k], wantVariance[k])
		}
	}
	if math.Abs(p.LogLikelihood-wantLog) > 1e-9 {
		t.Errorf("log likelihood %.12g, want %.12g", p.LogLikelihood, wantLog)
	}
	for i := range n {
		others := without(n, i)
		m, v, _ := direct(gram.Select(others, others), gram.Select([]int{i}, others), pick(z, others), []float64{gram.At(i, i)})
		if math.Abs(p.LeaveOneOut[i]-m[0]) > 1e-9 || math.Abs(p.LeaveOneOutVariance[i]-v[0]-opt.Noise) > 1e-9 {
			t.Errorf("without %d: %.12g ± %.12g, want %.12g ± %.12g", i, p.LeaveOneOut[i], p.LeaveOneOutVariance[i], m[0], v[0]+opt.Noise)
		}
	}
	// The best signal variance beats its neighbours at the same ratio.
	ratio := 0.2
	s, err := d.BestSignal(z, opt.Mean, ratio)
	if err != nil {
		t.Fatal(err)
	}
	value := func(s float64) float64 {
		p, err := d.Process(z, ProcessOptions{Mean: opt.Mean, Signal: s, Noise: ratio * s})
		if err != nil {
			t.Fatal(err)
		}
		return p.LogLikelihood
	}
	if best := value(s); !(best > value(1.01*s)) || !(best > value(0.99*s)) {
		t.Errorf("signal %g is not the best", s)
	}
}

func TestRidgeErrors(t *testing.T) {
	gram := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 2, 1}} // eigenvalues 3 and −1
	d := decompose(t, Full(gram))
	if _, err := d.Ridge([]float64{1, 2}, 0.5, false); err == nil || !strings.Contains(err.Error(), "ridge 0.5 is not positive definite") {
		t.Errorf("indefinite: %v", err)
	}
	if _, err := d.Ridge([]float64{1, 2}, 1.5, false); err != nil {
		t.Errorf("ridge above the negative eigenvalue: %v", err)
	}
	if _, err := d.Ridge([]float64{1}, 2, false); err == nil || !strings.Contains(err.Error(), "2 examples, but 1 targets") {
		t.Errorf("too few targets: %v", err)
	}
	if _, err := d.Ridge([]float64{1, 2}, math.NaN(), false); err == nil || !strings.Contains(err.Error(), "ridge is NaN") {
		t.Errorf("NaN ridge: %v", err)
	}
	for _, o := range []ProcessOptions{{}, {Signal: 1}, {Signal: 1, Noise: 1, Mean: math.NaN()}} {
		if _, err := d.Process([]float64{1, 2}, o); err == nil {
			t.Errorf("options %+v: no error", o)
		}
	}
	bad := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{1, math.NaN(), 0, 1}}
	if _, err := Decompose(ctx, Full(bad)); err == nil || !strings.Contains(err.Error(), "row 0, column 1 is NaN") {
		t.Errorf("NaN: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Decompose(cancelled, Full(gram)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Clip(cancelled, Full(gram)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestClip(t *testing.T) {
	// Eigenvalues 3 of (1,1)/√2 and −1 of (1,−1)/√2: what is left is 3/2 everywhere.
	small, err := Clip(ctx, Full(&mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2, 2, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range small.Gram.Data {
		if math.Abs(v-1.5) > 1e-14 {
			t.Errorf("clipped %v, want 1.5", small.Gram.Data)
		}
	}
	if math.Abs(small.Smallest+1) > 1e-14 || math.Abs(small.Largest-3) > 1e-14 || small.Negative.Rows != 1 {
		t.Errorf("eigenvalues %g to %g, %d negative", small.Smallest, small.Largest, small.Negative.Rows)
	}

	rng := rand.New(rand.NewPCG(37, 38))
	n := 40
	gram := mlg.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			v := rng.NormFloat64()
			gram.Set(i, j, v)
			gram.Set(j, i, v)
		}
	}
	c, err := Clip(ctx, Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	if mapped := c.Map(Full(gram)); maxDifference(mapped.Data, c.Gram.Data) > 1e-12 {
		t.Error("training rows are not mapped to the clipped Gram matrix")
	}
	again, err := Clip(ctx, Full(c.Gram))
	if err != nil {
		t.Fatal(err)
	}
	if again.Smallest < -1e-12 || math.Abs(again.Largest-c.Largest) > 1e-12 {
		t.Errorf("clipped eigenvalues from %g to %g, were %g to %g", again.Smallest, again.Largest, c.Smallest, c.Largest)
	}
	// A positive semi-definite matrix stays as it is, up to rounding.
	psd, _ := randomGram(rng, n, 2*n)
	if c, err = Clip(ctx, Full(psd)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Gram.Data, psd.Data) {
		t.Error("a positive definite matrix was changed")
	}
}

func maxDifference(a, b []float64) float64 {
	d := 0.0
	for k := range a {
		d = max(d, math.Abs(a[k]-b[k]))
	}
	return d
}

// One ridge by Cholesky is what a decomposition gives.
func TestTrainRidge(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	gram, labels := blobs(rng, 60, 3, 2)
	z := make([]float64, len(labels))
	for k := range z {
		z[k] = 3 + rng.NormFloat64()
	}
	d := decompose(t, Full(gram))
	same := func(what string, got, want []float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 1e-9*(1+math.Abs(want[k])) {
				t.Errorf("%s: %d is %v, want %v", what, k, got[k], want[k])
			}
		}
	}
	for _, lambda := range []float64{0.01, 1} {
		for _, loo := range []bool{false, true} {
			want, err := d.Ridge(z, lambda, true)
			if err != nil {
				t.Fatal(err)
			}
			got, err := TrainRidge(ctx, Full(gram), z, lambda, loo)
			if err != nil {
				t.Fatal(err)
			}
			same("coefficients", append(got.Coefficients, got.Bias), append(want.Coefficients, want.Bias))
			path, err := d.RidgePath(labels, []float64{lambda})
			if err != nil {
				t.Fatal(err)
			}
			c, err := TrainRidgeClassifier(ctx, Full(gram), labels, lambda, loo)
			if err != nil {
				t.Fatal(err)
			}
			for k, r := range path[0].Ridges {
				same("coefficients of a class", append(c.Ridges[k].Coefficients, c.Ridges[k].Bias), append(r.Coefficients, r.Bias))
			}
			if !loo {
				if got.LeaveOneOut != nil || c.LeaveOneOut != nil {
					t.Error("leave-one-out though not asked for")
				}
				continue
			}
			same("leave-one-out", got.LeaveOneOut, want.LeaveOneOut)
			if !slices.Equal(c.LeaveOneOut, path[0].LeaveOneOut) {
				t.Errorf("leave-one-out classes %v, want %v", c.LeaveOneOut, path[0].LeaveOneOut)
			}
		}
	}
	for _, c := range []struct {
		gram   View
		labels []int
		lambda float64
		want   string
	}{
		{Full(gram), labels[:3], 1, "60 examples, but 3 labels"},
		{Full(gram), labels, math.NaN(), "ridge is NaN"},
		{Full(mlg.NewMatrix(2, 2)), []int{0, 1}, 0, "not positive definite"},
	} {
		if _, err := TrainRidgeClassifier(ctx, c.gram, c.labels, c.lambda, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
