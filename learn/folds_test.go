package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
)

// What one factorisation says of examples without their fold is what training on the other folds says,
// with the deviations of the textbook.
func TestFoldsLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	const n = 37
	gram := kerneltest.Points(rng, n, 3)
	folds, values, labels, weights := make([]int, n), make([]float64, n), make([]int, n), make([]float64, n)
	for i := range folds {
		folds[i] = []int{7, 2, 2, 4, 9}[i%5] - 3*(i/30)
		values[i] = 3 + rng.NormFloat64()
		labels[i] = i % 3
		weights[i] = 1 + float64(i%2)
	}
	for _, x := range []struct {
		name    string
		targets Targets
	}{{"values", Targets{Values: values}}, {"classes", Targets{Labels: labels}}, {"weights", Targets{Labels: labels, Weights: weights}}} {
		opt := DefaultOptions()
		opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Folds = KernelRidge, 0.2, true, folds
		l, err := Train(t.Context(), Full(gram), x.targets, opt)
		if err != nil {
			t.Fatal(err)
		}
		_, members, err := x.targets.classes()
		if err != nil {
			t.Fatal(err)
		}
		moved := make([]int, n) // exactHeldOut counts folds from 0
		for i, f := range folds {
			moved[i] = f + 1
		}
		want := exactHeldOut(t, gram, x.targets.columns(members), moved, opt.Ridge, x.targets.Weights)
		for i, v := range l.HeldOut.Data {
			if math.Abs(v-want.Data[i]) > 1e-9 {
				t.Errorf("%s: prediction %d is %v, want %v", x.name, i, v, want.Data[i])
			}
		}
	}
	single := make([]int, n)
	for i := range single {
		single[i] = i
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Folds = KernelRidge, 0.2, true, single
	l, err := Train(t.Context(), Full(gram), Targets{Values: values}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range l.HeldOut.Data {
		if math.Abs(v-l.LeaveOneOut.Data[i]) > 1e-9 {
			t.Errorf("example %d alone in its fold: %v, want %v as by leave-one-out", i, v, l.LeaveOneOut.Data[i])
		}
	}
	for want, folds := range map[string][]int{"want 37": {1}, "two folds": make([]int, n)} {
		opt.Folds = folds
		if _, err := Train(t.Context(), Full(gram), Targets{Values: values}, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Deviations with Options.Intervals: those of the textbook without the example or its fold, with a scale
// by which 90 % of the intervals of 90 % have their values.
func TestIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	const n, lambda = 60, 0.05
	gram := kerneltest.Points(rng, n, 3)
	folds, z := make([]int, n), make([]float64, n)
	for i := range folds {
		folds[i] = i % 4
		z[i] = 5 + rng.NormFloat64()
		if i%4 == 3 {
			z[i] += 9 // nothing in the other folds says so
		}
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Folds, opt.Intervals = KernelRidge, lambda, true, folds, true
	weighted := randomWeights(rng, n)
	for _, weight := range []Weights{weighted, nil} {
		l, err := Train(t.Context(), Full(gram), Targets{Values: z, Weights: weight}, opt)
		if err != nil {
			t.Fatal(err)
		}
		checkIntervals(t, gram, l, z, folds)
	}
}

func checkIntervals(t *testing.T, gram *kernel.Matrix, l *Learner, z []float64, folds []int) {
	t.Helper()
	p, n, all := l.Process, len(z), kernel.UpTo(len(z))
	for what, x := range map[string]struct {
		left       func(i, j int) bool
		deviations []float64
		predicted  *kernel.Matrix
		factor     float64
	}{
		"leave-one-out": {func(i, j int) bool { return i == j }, p.LeaveOneOut, l.LeaveOneOut, 1},
		"folds":         {func(i, j int) bool { return folds[i] == folds[j] }, p.HeldOut, l.HeldOut, p.Wider},
	} {
		for i := range n {
			others := slices.DeleteFunc(slices.Clone(all), func(j int) bool { return x.left(i, j) })
			b := newTextbook(t, gram, others, z, p.Weights, p.Scale, p.Noise())
			_, want := b.predict(covariances(gram, i, others, p.Scale), p.Scale*p.Scale*gram.At(i, i), p.Noise()/math.Sqrt(p.Weights.Of(i)))
			if want *= x.factor; math.Abs(x.deviations[i]/want-1) > 1e-7 {
				t.Errorf("%s: deviation %d is %v, want %v", what, i, x.deviations[i], want)
			}
		}
		covered, heaviest := 0.0, 0.0 // by weight
		for i, d := range x.deviations {
			if math.Abs(z[i]-x.predicted.Data[i]) <= d*metrics.HalfWidth(0.9)*(1+1e-12) {
				covered += p.Weights.Of(i) / p.Weights.total(n)
			}
			heaviest = max(heaviest, p.Weights.Of(i)/p.Weights.total(n))
		}
		if covered < 0.9 || covered > 0.9+2*heaviest {
			t.Errorf("%s: %v of the values are in their intervals", what, covered)
		}
	}
	if p.Wider < 1.1 {
		t.Errorf("factor %v for other groups, want more", p.Wider)
	}
	cross := Full(gram).Select([]int{0, 0}, nil)
	d, err := l.Deviations(t.Context(), cross, []float64{1, 1}, []bool{false, true}, func(_ context.Context, at []int) (*kernel.Matrix, error) {
		return Full(gram).Select(at, at).Matrix(), nil
	})
	if err != nil || math.Abs(d.Measured[1]/d.Measured[0]-p.Wider) > 1e-12 {
		t.Errorf("deviations %+v, want the second %v times the first; error %v", d, p.Wider, err)
	}
}

// Examples that are alone in their groups have wider intervals and do not make those of the others wider.
func TestIntervalsOfGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 78))
	const n = 240
	gram := kerneltest.Points(rng, n, 3)
	folds, alone, z := make([]int, n), make([]bool, n), make([]float64, n)
	for i := range folds {
		folds[i], alone[i] = i/2%5, i%2 == 1
		if z[i] = rng.NormFloat64(); alone[i] {
			z[i] *= 5
		}
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Folds, opt.Intervals, opt.Alone = KernelRidge, 1, true, folds, true, alone
	l, err := Train(t.Context(), Full(gram), Targets{Values: z}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var covered [2]float64 // of those in groups, and those that are alone
	for i, d := range l.Process.LeaveOneOut {
		k := 0
		if alone[i] {
			k = 1
		}
		if math.Abs(z[i]-l.LeaveOneOut.Data[i]) <= metrics.HalfWidth(0.9)*d {
			covered[k] += 2. / n
		}
	}
	if covered[0] < 0.9 || covered[0] > 0.93 || covered[1] < 0.75 || l.Process.Wider < 2 {
		t.Errorf("covered %v, factor %v", covered, l.Process.Wider)
	}
}

// Equal examples whose values differ set a floor of the noise, which is lower the fewer they are.
func TestReplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	points := kerneltest.Points(rng, 40, 2)
	const n = 60
	gram, z := kernel.NewMatrix(n, n), make([]float64, n)
	at := func(i int) int { return i % 40 } // 20 examples are there twice
	for i := range n {
		for j := range n {
			gram.Set(i, j, points.At(at(i), at(j)))
		}
		z[i] = 10 + rng.NormFloat64()
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Intervals = KernelRidge, 1e-6, true, true
	l, err := Train(t.Context(), Full(gram), Targets{Values: z}, opt)
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for i := range 20 {
		squares += (z[i] - z[i+40]) * (z[i] - z[i+40]) / 2
	}
	p := l.Process
	if p.Replicates != 20 || math.Abs(p.ReplicateNoise-math.Sqrt(squares/20)) > 1e-12 {
		t.Errorf("noise %v of %d replicates, want %v of 20", p.ReplicateNoise, p.Replicates, math.Sqrt(squares/20))
	}
	floor := p.ReplicateNoise * math.Sqrt(20/31.410432844230918) // χ² of 20 degrees of freedom, 95 %
	if math.Abs(p.Noise()-max(floor, p.Scale*1e-3)) > 1e-9 || p.Noise() < 0.5 {
		t.Errorf("noise %v, floor %v, scale %v", p.Noise(), floor, p.Scale)
	}
	if d := slices.Min(p.LeaveOneOut); d < p.Noise() {
		t.Errorf("deviation %v below the noise", d)
	}
	none, err := Train(t.Context(), Full(points), Targets{Values: z[:40]}, opt)
	if err != nil || none.Process.Replicates != 0 || none.Process.ReplicateNoise != 0 {
		t.Errorf("%+v, error %v", none.Process, err)
	}
}

// A kernel that is not positive semi-definite has variances below 0, which are counted.
func TestClippedVariances(t *testing.T) {
	gram := &kernel.Matrix{Rows: 3, Cols: 3, Data: []float64{1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Intervals = KernelRidge, 1, true, true
	l, err := Train(t.Context(), Full(gram), Targets{Values: []float64{1, 2, 4}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if l.Process.Clipped == 0 {
		t.Errorf("no variance is counted, deviations %v", l.Process.LeaveOneOut)
	}
	told, err := l.Deviations(t.Context(), Full(gram).Select([]int{0, 0}, nil), []float64{0.01, 5}, nil, func(_ context.Context, at []int) (*kernel.Matrix, error) {
		return Full(gram).Select(at, at).Matrix(), nil
	})
	if err != nil || !slices.Equal(told.Clipped, []bool{true, false}) || told.Measured[0] != l.Process.Noise() || told.True[0] != 0 {
		t.Errorf("deviations %+v, error %v", told, err)
	}
	if l, err = Train(t.Context(), Full(kerneltest.Points(rand.New(rand.NewPCG(1, 2)), 30, 2)), Targets{Values: make([]float64, 30)}, opt); err != nil || l.Process.Clipped != 0 {
		t.Errorf("%d variances of a positive semi-definite kernel are counted, error %v", l.Process.Clipped, err)
	}
}

// Scale fits the deviations that Deviations tells. They look at the nearest examples only, so they are larger
// than those of the factor.
func TestIntervalsFitWhatIsTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	const n = 300
	gram := kerneltest.Points(rng, n, 4)
	z := make([]float64, n)
	for i := range z {
		z[i] = 5 + rng.NormFloat64()
	}
	opt := DefaultOptions()
	opt.Kind, opt.Ridge, opt.LeaveOneOut, opt.Intervals = KernelRidge, 0.01, true, true
	l, err := Train(t.Context(), Full(gram), Targets{Values: z}, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.LeaveOneOut, opt.Intervals = true, false
	for _, i := range []int{0, 17, 299} {
		others := slices.DeleteFunc(kernel.UpTo(n), func(j int) bool { return j == i })
		refit, err := Train(t.Context(), Full(gram).Select(others, others), Targets{Values: pick(z, others)}, opt)
		if err != nil {
			t.Fatal(err)
		}
		refit.Process.Scale = l.Process.Scale
		told, err := refit.Deviations(t.Context(), Full(gram).Select([]int{i}, others), []float64{gram.At(i, i)}, nil, func(_ context.Context, at []int) (*kernel.Matrix, error) {
			return Full(gram).Select(others, others).Select(at, at).Matrix(), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Process.LeaveOneOut[i]; math.Abs(got/told.Measured[0]-1) > 1e-9 {
			t.Errorf("example %d: the scale was fitted to the deviation %v, but %v is told", i, got, told.Measured[0])
		}
	}
}

// A value of weight 2 is the example twice: for the function, and for deviations in units of the scale. Weights
// and ridge with a common factor are the same, but for the noise of one measurement. A weight near 0 leaves an
// example out, also of the scale.
func TestWeightsOfValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(79, 80))
	const n, lambda = 40, 0.2
	gram := kerneltest.Points(rng, n, 3)
	z, weight := make([]float64, n), make(Weights, n)
	var twice []int
	for i := range z {
		z[i], weight[i] = 5+rng.NormFloat64(), float64(1+i%2)
		for range 1 + i%2 {
			twice = append(twice, i)
		}
	}
	opt := DefaultOptions()
	opt.Kind, opt.LeaveOneOut, opt.Intervals = KernelRidge, true, true
	train := func(at []int, weight Weights, ridge float64) *Learner {
		opt.Ridge = ridge
		l, err := Train(t.Context(), Full(gram).Select(at, at), Targets{Values: pick(z, at), Weights: weight}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	told := func(l *Learner, at []int) (values, deviations []float64) {
		cross := Full(gram).Select(nil, at)
		v, err := l.Values(cross)
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.Deviations(t.Context(), cross, ones(n), nil, amongOf(Full(gram).Select(at, at).Matrix()))
		if err != nil {
			t.Fatal(err)
		}
		return v.Data, d.True
	}
	all := kernel.UpTo(n)
	one, other := train(all, weight, lambda), train(twice, nil, lambda)
	v, d := told(one, all)
	w, e := told(other, twice)
	for i := range d {
		d[i] /= one.Process.Scale
		e[i] /= other.Process.Scale
	}
	if x, y := maxDifference(v, w), maxDifference(d, e); x > 1e-9 || y > 1e-9 {
		t.Errorf("an example of weight 2 and two: values differ by %g, deviations by %g", x, y)
	}
	threefold := make(Weights, n)
	for i := range threefold {
		threefold[i] = 3 * weight[i]
	}
	more := train(all, threefold, 3*lambda)
	v, d = told(one, all)
	w, e = told(more, all)
	if x, y := maxDifference(v, w), maxDifference(d, e); x > 1e-9 || y > 1e-9 || math.Abs(more.Process.Noise()/one.Process.Noise()-math.Sqrt(3)) > 1e-9 {
		t.Errorf("threefold weights: values differ by %g, deviations by %g, noise %v and %v", x, y, more.Process.Noise(), one.Process.Noise())
	}
	light := slices.Repeat(Weights{1}, n)
	for i := 0; i < n/2; i++ {
		light[i] = 1e-9
	}
	v, d = told(train(all, light, lambda), all)
	w, e = told(train(all[n/2:], nil, lambda), all[n/2:])
	for i := range d {
		d[i] /= e[i]
	}
	if x, y := maxDifference(v, w), maxDifference(d, ones(n)); x > 1e-6 || y > 0.02 {
		t.Errorf("examples of weight 1e-9 and none: values differ by %g, deviations by a share of %g", x, y)
	}
}

// Equal examples tell the noise of one measurement, also where their values are means of several.
func TestReplicatesOfWeights(t *testing.T) {
	found := replicates{}
	found.add(3, []int{1, 3}, []float64{0, 4, 0, 1}, Weights{1, 2, 1, 4})
	// Around the mean 2 of 4 with weight 2 and of 1 with weight 4.
	if found.freedom != 1 || found.squares != 2*4+4*1 {
		t.Errorf("%+v", found)
	}
}
