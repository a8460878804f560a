package learn

import (
	"context"
	"errors"
	"fmt"
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

// textbook is a Gaussian process with a mean of flat prior (Rasmussen & Williams 2006, eqs. 2.41 and 2.42, with
// the one basis function 1), with the explicit inverse of the covariance of the measured values. The variance of the
// noise of a value is divided by its weight.
type textbook struct {
	inverse *mat.Dense
	z       *mat.VecDense
	ones    *mat.VecDense
	mean    float64
}

func newTextbook(t *testing.T, gram *kernel.Matrix, examples []int, z []float64, weight Weights, scale, noise float64) *textbook {
	t.Helper()
	n := len(examples)
	b := &textbook{inverse: mat.NewDense(n, n, nil), z: mat.NewVecDense(n, nil), ones: mat.NewVecDense(n, nil)}
	for a, i := range examples {
		b.z.SetVec(a, z[i])
		b.ones.SetVec(a, 1)
		for c, j := range examples {
			b.inverse.Set(a, c, scale*scale*gram.At(i, j))
		}
		b.inverse.Set(a, a, b.inverse.At(a, a)+noise*noise/weight.Of(i))
	}
	if err := b.inverse.Inverse(b.inverse); err != nil {
		t.Fatal(err)
	}
	b.mean = mat.Inner(b.ones, b.inverse, b.z) / mat.Inner(b.ones, b.inverse, b.ones)
	return b
}

// predict returns mean and deviation of a measured value with covariances c to the examples and variance v.
func (b *textbook) predict(c []float64, v, noise float64) (mean, deviation float64) {
	k := mat.NewVecDense(len(c), c)
	rest := mat.NewVecDense(len(c), nil)
	rest.AddScaledVec(b.z, -b.mean, b.ones)
	r := 1 - mat.Inner(b.ones, b.inverse, k)
	variance := v - mat.Inner(k, b.inverse, k) + r*r/mat.Inner(b.ones, b.inverse, b.ones)
	return b.mean + mat.Inner(k, b.inverse, rest), math.Sqrt(variance + noise*noise)
}

// amongOf returns what compares training examples with each other.
func amongOf(gram *kernel.Matrix) func(context.Context, []int) (*kernel.Matrix, error) {
	return func(_ context.Context, at []int) (*kernel.Matrix, error) {
		return Full(gram).Select(at, at).Matrix(), nil
	}
}

// posterior tells the deviations of a learner trained on a Gram matrix.
type posterior struct {
	*Learner
	gram *kernel.Matrix
}

func posteriorOf(_ *testing.T, l *Learner, gram *kernel.Matrix) posterior { return posterior{l, gram} }

func (p posterior) Deviations(ctx context.Context, cross View, self []float64) ([]float64, error) {
	out, err := p.Learner.Deviations(ctx, cross, self, nil, amongOf(p.gram))
	if err != nil {
		return nil, err
	}
	noise := p.Process.Noise()
	for i, d := range out.Measured { // the noise is apart
		if math.Abs(math.Hypot(out.True[i], noise)/d-1) > 1e-12 {
			return nil, fmt.Errorf("deviation %v, of the true value %v, noise %v", d, out.True[i], noise)
		}
	}
	return out.Measured, nil
}

// Scale, values, deviations and what is said of examples that are left out are those of the textbook.
func TestProcess(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for _, n := range []int{2, 3, 11, 40} {
		all := kerneltest.Points(rng, n+5, 4)
		for i := range all.Data { // another diagonal than 1
			all.Data[i] *= 3
		}
		train, test := without(n, -1), []int{n, n + 1, n + 2, n + 3, n + 4}
		z := make([]float64, n+5)
		for i := range z {
			z[i] = -7 + 2*rng.NormFloat64()
		}
		view := Full(all).Select(train, train)
		for _, lambda := range []float64{1e-3, 0.1, 10} {
			for _, path := range [][]float64{{lambda}, {lambda, 2 * lambda}} {
				for _, weight := range []Weights{nil, randomWeights(rng, n)} {
					l := ridges(t, view, Targets{Values: z[:n], Weights: weight}, path...)[0]
					if err := l.Validate(); err != nil {
						t.Fatal(err)
					}
					checkProcess(t, l, all, z, train, test)
				}
			}
		}
	}
}

func checkProcess(t *testing.T, l *Learner, all *kernel.Matrix, z []float64, train, test []int) {
	t.Helper()
	scale, noise, weight := l.Process.Scale, l.Process.Noise(), l.Process.Weights
	// Leave-one-out, and the scale that makes it most probable: their mean squared standard score is 1, by weight.
	score := 0.0
	for _, i := range train {
		others := without(len(train), i)
		b := newTextbook(t, all, others, z, weight, scale, noise)
		mean, deviation := b.predict(covariances(all, i, others, scale), scale*scale*all.At(i, i), noise/math.Sqrt(weight.Of(i)))
		if d := math.Abs(l.LeaveOneOut.At(i, 0) - mean); d > 1e-7 {
			t.Errorf("n = %d, λ = %g: leave-one-out value %d is off by %g", len(train), l.Process.Ridge, i, d)
		}
		if got := l.Process.LeaveOneOut[i]; math.Abs(got/deviation-1) > 1e-7 {
			t.Errorf("n = %d, λ = %g: leave-one-out deviation %d is %v, want %v", len(train), l.Process.Ridge, i, got, deviation)
		}
		score += weight.Of(i) * math.Pow((z[i]-mean)/deviation, 2) / weight.total(len(train))
	}
	if math.Abs(score-1) > 1e-7 {
		t.Errorf("n = %d, λ = %g: mean squared standard score %v, want 1", len(train), l.Process.Ridge, score)
	}
	gram := Full(all).Select(train, train).Matrix()
	cross := Full(all).Select(test, train)
	var self []float64
	for _, i := range test {
		self = append(self, all.At(i, i))
	}
	got, err := posteriorOf(t, l, gram).Deviations(ctx, cross, self)
	if err != nil {
		t.Fatal(err)
	}
	values, err := l.Values(cross)
	if err != nil {
		t.Fatal(err)
	}
	b := newTextbook(t, all, train, z, weight, scale, noise)
	for k, i := range test {
		mean, deviation := b.predict(covariances(all, i, train, scale), scale*scale*all.At(i, i), noise)
		if math.Abs(values.Data[k]-mean) > 1e-7 || math.Abs(got[k]/deviation-1) > 1e-7 { // the explicit inverse loses digits
			t.Errorf("n = %d, λ = %g: %v ± %v, want %v ± %v", len(train), l.Process.Ridge, values.Data[k], got[k], mean, deviation)
		}
	}
}

func covariances(k *kernel.Matrix, i int, others []int, scale float64) []float64 {
	var out []float64
	for _, j := range others {
		out = append(out, scale*scale*k.At(i, j))
	}
	return out
}

// No deviation is too small because only the nearest examples are looked at, and few are much too large.
func TestProcessNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	const n = 400
	gram := kerneltest.Points(rng, n, 10)
	z := make([]float64, n)
	for i := range z {
		z[i] = math.Sin(float64(i)) + 0.1*rng.NormFloat64()
	}
	var train, test []int
	for i := range n {
		if i%10 == 0 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	view, cross := Full(gram).Select(train, train), Full(gram).Select(test, train)
	l := ridges(t, view, Targets{Values: pick(z, train)}, 0.05)[0]
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	got, err := posteriorOf(t, l, view.Matrix()).Deviations(ctx, cross, ones(len(test)))
	if err != nil {
		t.Fatal(err)
	}
	b := newTextbook(t, gram, train, z, nil, l.Process.Scale, l.Process.Noise())
	excess := 0.0
	for k, i := range test {
		scale := l.Process.Scale
		_, all := b.predict(covariances(gram, i, train, scale), scale*scale, l.Process.Noise())
		if got[k] < all*(1-1e-9) {
			t.Errorf("deviation %d is %v with the nearest examples, below %v", i, got[k], all)
		}
		excess += (got[k]/all - 1) / float64(len(test))
	}
	if !(excess > 0 && excess < 0.3) {
		t.Errorf("deviations are too large by a share of %v", excess)
	}
	// The learner of some examples among more looks at these.
	known := []int{1, 5, 7, 20, 30, 31, 80, 90, 100}
	few := ridges(t, Full(gram).Select(known, known), Targets{Values: pick(z, known)}, 0.05)[0]
	alone := posteriorOf(t, few, Full(gram).Select(known, known).Matrix())
	want, err := alone.Deviations(ctx, Full(gram).Select(nil, known), ones(n))
	if err != nil {
		t.Fatal(err)
	}
	few.Examples, few.Functions[0].Support = n, known
	got, err = posteriorOf(t, few, gram).Deviations(ctx, Full(gram), ones(n))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("deviations %v, want %v, error %v", got[:3], want[:3], err)
	}
}

// The same bits for any number of threads and however many examples are asked for at a time.
func TestProcessBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 58))
	const n = 100
	gram := kerneltest.Points(rng, n, 5)
	z := make([]float64, n)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	l := ridges(t, Full(gram), Targets{Values: z}, 0.05)[0]
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		ctx := work.WithWorkers(ctx, workers)
		p := posteriorOf(t, l, gram)
		got, err := p.Deviations(ctx, Full(gram), ones(n))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		for i := range n {
			one, err := p.Deviations(ctx, Full(gram).Select([]int{i}, nil), ones(1))
			if err != nil || one[0] != first[i] || got[i] != first[i] {
				t.Fatalf("deviation %d is %v, %v and %v, error %v", i, first[i], got[i], one, err)
			}
		}
	}
}

// Few, equal and contradicting examples, and targets of any scale.
func TestProcessExtremes(t *testing.T) {
	one := ridges(t, Full(&kernel.Matrix{Rows: 1, Cols: 1, Data: []float64{1}}), Targets{Values: []float64{3}}, 1)[0]
	// Of a single example nothing tells a scale, so it is that with which the example itself is as uncertain as it is
	// large: 4.5 (1 − ½ + (1 − ½)²·2) + 4.5 = 3².
	single := posteriorOf(t, one, &kernel.Matrix{Rows: 1, Cols: 1, Data: []float64{1}})
	d, err := single.Deviations(ctx, Full(&kernel.Matrix{Rows: 2, Cols: 1, Data: []float64{1, 0}}), ones(2))
	if err != nil || math.Abs(d[0]-3) > 1e-12 || math.Abs(d[1]-math.Sqrt(4.5*3+4.5)) > 1e-12 || one.Validate() != nil {
		t.Errorf("deviations %v from a single example, error %v, %v", d, err, one.Validate())
	}
	opt := DefaultOptions()
	opt.Kind, opt.LeaveOneOut, opt.Intervals = KernelRidge, true, true
	if one, err = Train(ctx, Full(single.gram), Targets{Values: []float64{3}}, opt); err != nil || math.Abs(one.Process.Scale-math.Sqrt(4.5)) > 1e-12 {
		t.Errorf("single example: %+v, error %v", one.Process, err)
	}
	machine, err := Train(ctx, Full(single.gram), Targets{Values: []float64{3}}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Deviations(ctx, View{}, nil, nil, nil); !errors.Is(err, ErrNoProcess) {
		t.Errorf("error %v", err)
	}
	rng := rand.New(rand.NewPCG(59, 60))
	const n = 12
	gram := kerneltest.Points(rng, n, 3)
	constant := ridges(t, Full(gram), Targets{Values: slices.Repeat([]float64{4}, n)}, 0.1)[0]
	// As if one of the 12 were wrong by 4: its deviation would be 4 where those of all are the same.
	square := 0.0
	for _, d := range constant.Process.LeaveOneOut {
		square += d * d
	}
	if d, err = posteriorOf(t, constant, gram).Deviations(ctx, Full(gram), ones(n)); err != nil || !(slices.Min(d) > 0) || math.Abs(square-16) > 1e-9 {
		t.Errorf("constant targets: deviations %v, squares of those left out %v, error %v", d, square, err)
	}
	// Two equal examples with values 1 apart: the noise is the deviation of the two, and one more such example has it too.
	equal := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 1, 1, 1}}
	l := ridges(t, Full(equal), Targets{Values: []float64{0, 1}}, 0.5)[0]
	d, err = posteriorOf(t, l, equal).Deviations(ctx, Full(equal), ones(2))
	if err != nil {
		t.Fatal(err)
	}
	// Without the other: variance noise²(1 + 1); its mean squared error 1 makes noise² = ½. With both: noise²(1 + ½) = ¾.
	if math.Abs(l.Process.Noise()-math.Sqrt(0.5)) > 1e-12 || math.Abs(d[0]-math.Sqrt(0.75)) > 1e-12 {
		t.Errorf("noise %v, deviation %v, want √½ and √¾", l.Process.Noise(), d[0])
	}
	for _, unit := range []float64{1e-300, 1e-12, 1e12, 1e300} {
		x := make([]float64, n)
		for i := range x {
			x[i] = unit * (3 + float64(i%5))
		}
		z, mean, scale := StandardScores(x, nil)
		l := ridges(t, Full(gram), Targets{Values: z}, 0.1)[0]
		want, err := posteriorOf(t, l, gram).Deviations(ctx, Full(gram), ones(n))
		if err != nil {
			t.Fatal(err)
		}
		l.Rescale(mean, scale)
		got, err := posteriorOf(t, l, gram).Deviations(ctx, Full(gram), ones(n))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !(math.Abs(got[i]/scale/want[i]-1) < 1e-12) || !(scale > unit && scale < 2*unit) {
				t.Fatalf("unit %g: deviation %v, want %v times %v", unit, got[i], want[i], scale)
			}
		}
	}
}

// Where a kernel is not positive semi-definite a deviation is never below that of the noise.
func TestProcessIndefinite(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 0.5, 0.5, 1}}
	l := ridges(t, Full(gram), Targets{Values: []float64{0, 1}}, 0.1)[0]
	// A row that no positive semi-definite kernel with k(x, x) = 1 has.
	d, err := posteriorOf(t, l, gram).Deviations(ctx, Full(&kernel.Matrix{Rows: 1, Cols: 2, Data: []float64{3, 3}}), ones(1))
	if err != nil || d[0] < l.Process.Noise() {
		t.Errorf("deviation %v, noise %v, error %v", d, l.Process.Noise(), err)
	}
}

func TestProcessErrors(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 0.5, 0.5, 1}}
	l := ridges(t, Full(gram), Targets{Values: []float64{0, 1}}, 0.1)[0]
	p := posteriorOf(t, l, gram)
	_, err := p.Deviations(ctx, Full(kernel.NewMatrix(1, 3)), ones(1))
	if err == nil || !strings.Contains(err.Error(), "2 training examples") {
		t.Errorf("error %v", err)
	}
	bad := &kernel.Matrix{Rows: 1, Cols: 2, Data: []float64{math.Inf(1), 0}}
	if _, err := p.Deviations(ctx, Full(bad), ones(1)); err == nil || !strings.Contains(err.Error(), "deviation of example 0") {
		t.Errorf("error %v", err)
	}
	for _, change := range []func(*Learner){
		func(l *Learner) { l.Process.Scale = math.NaN() },
		func(l *Learner) { l.Process.Ridge = -1 },
		func(l *Learner) { l.Process.Unit = []float64{1, math.Inf(1)} },
		func(l *Learner) { l.Process.Unit = []float64{1} },
		func(l *Learner) { l.Process.Unit = []float64{1, -1} },
		func(l *Learner) { l.Kind = SVM },
	} {
		x, process := *l, *l.Process
		x.Process = &process
		change(&x)
		if err := x.Validate(); err == nil || !strings.Contains(err.Error(), "Gaussian process") {
			t.Errorf("%+v: error %v", x.Process, err)
		}
	}
}
