package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
)

func TestDuplicates(t *testing.T) {
	opt := DefaultOptions()
	ones := mlg.NewMatrix(4, 4)
	for k := range ones.Data {
		ones.Data[k] = 1
	}
	c, err := TrainClassifier(ctx, Full(ones), []int{0, 1, 0, 1}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Machines[0]; !slices.Equal(m.Coefficients, []float64{1, -1, 1, -1}) || m.Bias != 0 || m.Objective != -4 {
		t.Errorf("contradicting duplicates: %+v", m)
	}
	gram := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{4, 1, 1, 2}}
	twice := Full(gram).Select([]int{0, 1, 0, 1}, []int{0, 1, 0, 1})
	opt.C = 10
	if c, err = TrainClassifier(ctx, twice, []int{0, 1, 0, 1}, opt); err != nil {
		t.Fatal(err)
	}
	if m := c.Machines[0]; !near(m.Objective, -0.5) || !near(m.Bias, -0.5) { // as in TestTwoPoints
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
		c, err := TrainClassifier(ctx, Full(gram), labels, opt)
		if err != nil {
			t.Fatal(err)
		}
		// A stationary point satisfies the same conditions.
		checkKKT(t, Full(gram), labels, &c.Machines[0], func(int) float64 { return opt.C }, opt.Tolerance)
	}
}

func TestValidateModel(t *testing.T) {
	good := func() *Classifier {
		return &Classifier{Classes: []int{1, 2}, Examples: 3, Machines: []Machine{{Positive: 1, Negative: 2, Support: []int{0, 2}, Coefficients: []float64{1, -1}}}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, damage := range map[string]func(*Classifier){
		"increasing order":                           func(c *Classifier) { c.Classes[1] = 1 },
		"0 machines for 2 classes, want 1":           func(c *Classifier) { c.Machines = nil },
		"classes 2 and 2, want 1 and 2":              func(c *Classifier) { c.Machines[0].Positive = 2 },
		"2 support examples, but 1 coeff":            func(c *Classifier) { c.Machines[0].Coefficients = []float64{1} },
		"support example 3 at position 1":            func(c *Classifier) { c.Machines[0].Support[1] = 3 },
		"machine 0: support example 0 at position 1": func(c *Classifier) { c.Machines[0].Support[1] = 0 },
	} {
		c := good()
		damage(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	gram := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}}
	nan := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{1, math.NaN(), math.NaN(), 1}}
	wide := mlg.NewMatrix(2, 3)
	with := func(f func(*Options)) Options { o := DefaultOptions(); f(&o); return o }
	for _, v := range []struct {
		gram   *mlg.Matrix
		labels []int
		opt    Options
		want   string
	}{
		{gram, []int{3, 3}, DefaultOptions(), "2 examples of 1 class(es) [3], want at least two classes"},
		{gram, nil, DefaultOptions(), "Gram matrix of 2 examples, but 0 targets"},
		{wide, []int{0, 1}, DefaultOptions(), "Gram matrix is 2×3, want a square one"},
		{nan, []int{0, 1}, DefaultOptions(), "not finite"},
		{gram, []int{0, 1}, Options{}, "C is 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.C = math.NaN() }), "C is NaN"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Epsilon = -1 }), "Epsilon is -1"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Tolerance = 0 }), "Tolerance is 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.MaxIterations = 0 }), "MaxIterations is 0"},
		{gram, []int{0, 1}, with(func(o *Options) { o.Probability, o.PlattFolds = true, 1 }), "PlattFolds is 1"},
		{gram, []int{0, 1}, with(func(o *Options) { o.ClassWeights = map[int]float64{1: 0} }), "ClassWeights[1] is 0"},
	} {
		c, err := TrainClassifier(ctx, Full(v.gram), v.labels, v.opt)
		if c != nil || err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("got %v, %v, want an error with %q", c, err, v.want)
		}
	}
	if _, err := TrainRegressor(ctx, Full(gram), []float64{1, math.Inf(1)}, DefaultOptions()); err == nil || !strings.Contains(err.Error(), "target of example 1 is +Inf") {
		t.Errorf("infinite target: %v", err)
	}
	c, err := TrainClassifier(ctx, Full(gram), []int{0, 1}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Predict(Full(wide)); err == nil || !strings.Contains(err.Error(), "3 kernel values per example, but 2 training examples") {
		t.Errorf("wide rows: %v", err)
	}
	if _, err := c.Predict(Full(nan)); err == nil || !strings.Contains(err.Error(), "example 0 is NaN") {
		t.Errorf("NaN rows: %v", err)
	}
	if _, err := c.Probability(Full(gram)); err == nil || !strings.Contains(err.Error(), "without Probability") {
		t.Errorf("no probabilities: %v", err)
	}
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
			c, err := TrainClassifier(ctx, Full(gram), labels, opt)
			if err == nil {
				used := slices.Contains(c.Machines[0].Support, i) || slices.Contains(c.Machines[0].Support, j)
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
	c, err := TrainClassifier(ctx, Full(gram), labels, opt)
	if !errors.Is(err, ErrIterations) || c == nil || c.Machines[0].Iterations != 50 {
		t.Errorf("limit of 50 steps: %v, %v", c, err)
	}
	if want := "C = 10, classes 0 and 1, 50 steps"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("error %q lacks %q", err, want)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	opt.MaxIterations = 1000
	opt.Tolerance = 1e-12
	if c, err := TrainClassifier(cancelled, Full(gram), labels, opt); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", c, err)
	}
}

func TestSelect(t *testing.T) {
	m := &mlg.Matrix{Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 4, 5, 6}}
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
			t.Skip()
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		gram, _ := randomGram(rng, int(n), int(d))
		labels := twoClasses(rng, int(n))
		opt := DefaultOptions()
		opt.C = math.Exp(logC)
		c, err := TrainClassifier(ctx, Full(gram), labels, opt)
		if err != nil {
			t.Fatal(err)
		}
		checkKKT(t, Full(gram), labels, &c.Machines[0], func(int) float64 { return opt.C }, opt.Tolerance)
	})
}
