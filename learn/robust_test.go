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

	"github.com/mlgkernel/mlg/kernel"
)

func TestDuplicates(t *testing.T) {
	opt := DefaultOptions()
	ones := kernel.NewMatrix(4, 4)
	for k := range ones.Data {
		ones.Data[k] = 1
	}
	c, err := Train(ctx, Full(ones), Targets{Labels: []int{0, 1, 0, 1}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Functions[0]; !slices.Equal(m.Coefficients, []float64{1, -1, 1, -1}) || m.Bias != 0 || m.Objective != -4 {
		t.Errorf("contradicting duplicates: %+v", m)
	}
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{4, 1, 1, 2}}
	twice := Full(gram).Select([]int{0, 1, 0, 1}, []int{0, 1, 0, 1})
	opt.C = 10
	if c, err = Train(ctx, twice, Targets{Labels: []int{0, 1, 0, 1}}, opt); err != nil {
		t.Fatal(err)
	}
	if m := c.Functions[0]; !near(m.Objective, -0.5) || !near(m.Bias, -0.5) { // as in TestTwoPoints
		t.Errorf("agreeing duplicates: %+v", m)
	}
}

func TestIndefiniteGramTerminates(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	n := 80
	gram, _ := randomGram(rng, n, 10)
	for i := range n {
		for j := range i {
			e := 0.3 * rng.NormFloat64()
			gram.Set(i, j, gram.At(i, j)+e)
			gram.Set(j, i, gram.At(i, j))
		}
	}
	opt := DefaultOptions()
	for _, opt.C = range []float64{0.01, 1, 100} {
		labels := twoClasses(rng, n)
		c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		// A stationary point satisfies the same conditions.
		checkKKT(t, Full(gram), labels, &c.Functions[0], func(int) float64 { return opt.C }, opt.Tolerance)
	}
}

func TestValidate(t *testing.T) {
	pairs := func() *Learner {
		f := func() Function { return Function{Support: []int{0, 2}, Coefficients: []float64{1, -1}} }
		return &Learner{Classes: []int{1, 2, 3}, Examples: 3, Functions: []Function{f(), f(), f()}, Slope: 2}
	}
	values := func() *Learner {
		return &Learner{Kind: KernelRidge, Examples: 2, Functions: []Function{{Coefficients: []float64{1, -1}}}}
	}
	for _, c := range []struct {
		make   func() *Learner
		want   string // empty: valid
		damage func(*Learner)
	}{
		{pairs, "", func(*Learner) {}}, {values, "", func(*Learner) {}},
		{pairs, "", func(l *Learner) { l.Slope, l.Functions[0] = 0, Function{} }},
		{pairs, "", func(l *Learner) { l.Kind = KernelRidge }}, // three classes have as many pairs
		{pairs, "kind 7", func(l *Learner) { l.Kind = 7 }},
		{pairs, "increasing order", func(l *Learner) { l.Classes[1] = 1 }},
		{pairs, "0 functions for 3 classes, want 3", func(l *Learner) { l.Functions = nil }},
		{values, "0 functions for 0 classes, want 1", func(l *Learner) { l.Functions = nil }},
		{pairs, "2 support examples of 3, but 1 coeff", func(l *Learner) { l.Functions[0].Coefficients = []float64{1} }},
		{values, "0 support examples of 2, but 1 coeff", func(l *Learner) { l.Functions[0].Coefficients = []float64{1} }},
		{pairs, "support example 3 at position 1", func(l *Learner) { l.Functions[0].Support[1] = 3 }},
		{pairs, "function 1: support example 0 at position 1", func(l *Learner) { l.Functions[1].Support[1] = 0 }},
		{pairs, "function 1: number 0 is +Inf", func(l *Learner) { l.Functions[1].Bias = math.Inf(1) }},
		{pairs, "slope -1 for 3 classes", func(l *Learner) { l.Slope = -1 }},
		{pairs, "slope NaN for 3 classes", func(l *Learner) { l.Slope = math.NaN() }},
		{values, "slope 1 for 0 classes", func(l *Learner) { l.Slope = 1 }},
	} {
		l := c.make()
		c.damage(l)
		if err := l.Validate(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

// Decision and Class by hand: means of values are the decisions, and the class wins against all others, or has the
// largest decision.
func TestDecision(t *testing.T) {
	two := &Learner{Classes: []int{4, 9}}
	if d := two.Decision([]float64{-2.5}); !slices.Equal(d, []float64{-2.5, 2.5}) || two.Class([]float64{-2.5}) != 9 {
		t.Errorf("two classes: %v", d)
	}
	three := &Learner{Classes: []int{4, 9, 11}}
	values := []float64{0.25, -3, 0.5} // 4 against 9, 4 against 11, 9 against 11: each wins once
	if d := three.Decision(values); !slices.Equal(d, []float64{-1.375, 0.125, 1.25}) || three.Class(values) != 11 {
		t.Errorf("three classes: %v, class %d", d, three.Class(values))
	}
	values = []float64{0.25, 0.5, -9} // 4 wins against both
	if s := three.Scores(values); !slices.Equal(s, []float64{0.25, -9, -0.5}) || three.Class(values) != 4 {
		t.Errorf("three classes: %v, class %d", s, three.Class(values))
	}
	ridge := &Learner{Kind: KernelRidge, Classes: []int{4, 9, 11}}
	values = []float64{-3, 0.5, 0.5}
	if d := ridge.Decision(values); !slices.Equal(d, []float64{-1.75, 0.875, 0.875}) || ridge.Class(values) != 9 {
		t.Errorf("ridge: %v, class %d", d, ridge.Class(values))
	}
	for p, want := range [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}} {
		if a, b := (&Learner{Classes: make([]int, 4)}).pair(p); [2]int{a, b} != want {
			t.Errorf("pair %d is %d, %d, want %v", p, a, b, want)
		}
	}
}

func TestErrors(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}}
	nan := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, math.NaN(), math.NaN(), 1}}
	wide := kernel.NewMatrix(2, 3)
	with := func(f func(*Options)) Options { o := DefaultOptions(); f(&o); return o }
	for _, v := range []struct {
		gram   *kernel.Matrix
		labels []int
		opt    Options
		want   string
	}{
		{gram, []int{3, 3}, DefaultOptions(), "2 examples with the classes [3], want at least two classes"},
		{gram, nil, DefaultOptions(), "Gram matrix of 2 examples and 0 targets"},
		{wide, []int{0, 1}, DefaultOptions(), "Gram matrix is 2×3, want a square one"},
		{nan, []int{0, 1}, DefaultOptions(), "not finite"},
		{gram, []int{0, 1}, Options{}, "C = 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.C = math.NaN() }), "C = NaN"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Kind = 3 }), "kind 3"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Kind, o.Ridge = KernelRidge, math.Inf(1) }), "Ridge = +Inf"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Epsilon = -1 }), "Epsilon = -1, want at least 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Tolerance = 0 }), "Tolerance = 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.MaxIterations = 0 }), "MaxIterations = 0, want at least 1"},
	} {
		c, err := Train(ctx, Full(v.gram), Targets{Labels: v.labels}, v.opt)
		if c != nil || err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("got %v, %v, want an error with %q", c, err, v.want)
		}
	}
	if _, err := Train(ctx, Full(gram), Targets{Values: []float64{1, math.Inf(1)}}, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "target of example 1 is +Inf") {
		t.Errorf("infinite target: %v", err)
	}
	c, err := Train(ctx, Full(gram), Targets{Labels: []int{0, 1}}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := labelsOf(c, Full(wide)); err == nil || !strings.Contains(err.Error(), "3 kernel values per example, but 2 training examples") {
		t.Errorf("wide rows: %v", err)
	}
	if _, err := labelsOf(c, Full(nan)); err == nil || !strings.Contains(err.Error(), "example 0 is NaN") {
		t.Errorf("NaN rows: %v", err)
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("probabilities that were not trained: no panic")
		}
	}()
	c.Probability([]float64{1})
}

func TestNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	n := 30
	labels := twoClasses(rng, n)
	opt := DefaultOptions()
	opt.C = 1e-3 // every example becomes a support vector, or all of one class do
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for round := range 40 {
			gram, _ := randomGram(rng, n, 40)
			i, j := rng.IntN(n), rng.IntN(n)
			if round < 5 {
				j = i
			}
			gram.Set(i, j, bad)
			gram.Set(j, i, bad)
			c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
			if err == nil {
				used := slices.Contains(c.Functions[0].Support, i) || slices.Contains(c.Functions[0].Support, j)
				if used || i == j {
					t.Errorf("entry (%d, %d) is %v: no error", i, j, bad)
				}
			} else if !strings.Contains(err.Error(), "finite") {
				t.Errorf("entry (%d, %d) is %v: %v", i, j, bad, err)
			}
		}
	}
}

func TestLimitAndCancellation(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	gram, _ := randomGram(rng, 100, 20)
	labels := twoClasses(rng, 100)
	opt := DefaultOptions()
	opt.C, opt.MaxIterations = 10, 50
	c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
	if !errors.Is(err, ErrIterations) || c == nil || c.Functions[0].Iterations != 50 {
		t.Errorf("limit of 50 steps: %v, %v", c, err)
	}
	if want := "C = 10, classes 0 and 1, 50 steps"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error %q lacks %q", err, want)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	opt.MaxIterations = 1000
	opt.Tolerance = 1e-12
	if c, err := Train(cancelled, Full(gram), Targets{Labels: labels}, opt); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", c, err)
	}
}

func TestSelect(t *testing.T) {
	m := &kernel.Matrix{Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
	v := Full(m).Select([]int{1, 0, 1}, []int{2, 0}).Select([]int{0, 1}, nil).Select(nil, []int{1, 1, 0})
	if got := v.Matrix(); got.Rows != 2 || got.Cols != 3 || !slices.Equal(got.Data, []float64{4, 4, 6, 1, 1, 3}) {
		t.Errorf("got %+v", got)
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("row out of range: no panic")
		}
	}()
	Full(m).Select([]int{2}, nil)
}

func FuzzClassifier(f *testing.F) {
	f.Add(uint64(1), uint8(20), uint8(5), 0.0)
	f.Add(uint64(2), uint8(3), uint8(1), 3.0)
	f.Fuzz(func(t *testing.T, seed uint64, n, d uint8, logC float64) {
		if n < 2 || d == 0 || !(math.Abs(logC) <= 4) {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		gram, _ := randomGram(rng, int(n), int(d))
		labels := twoClasses(rng, int(n))
		opt := DefaultOptions()
		opt.C = math.Exp(logC)
		c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		checkKKT(t, Full(gram), labels, &c.Functions[0], func(int) float64 { return opt.C }, opt.Tolerance)
	})
}

// For(c) at every example is Decision of class c.
func TestForIsDecision(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	const n = 40
	x := kernel.NewMatrix(n, 3)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	gram := kernel.NewMatrix(n, n)
	labels := make([]int, n)
	for i := range n {
		labels[i] = i % 4
		for j := range n {
			for k := range 3 {
				gram.Data[i*n+j] += x.At(i, k) * x.At(j, k)
			}
		}
		gram.Data[i*n+i]++
	}
	for _, kind := range []Kind{SVM, KernelRidge} {
		for _, classes := range []int{2, 4} {
			y := make([]int, n)
			for i := range y {
				y[i] = labels[i] % classes
			}
			o := DefaultOptions()
			o.Kind = kind
			l, err := Train(t.Context(), Full(gram), Targets{Labels: y}, o)
			if err != nil {
				t.Fatal(err)
			}
			values, err := l.Values(Full(gram))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for c, want := range l.Decision(values.Row(i)) {
					f := l.For(c)
					if got := f.Value(gram.Row(i)); math.Abs(got-want) > 1e-12 {
						t.Fatalf("kind %v, %d classes: example %d, class %d: %v, want %v", kind, classes, i, c, got, want)
					}
				}
			}
		}
	}
}
