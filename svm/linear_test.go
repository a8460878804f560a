package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// clouds returns examples around one centre for each class.
func clouds(seed uint64, n, dim, classes int, spread float64) (*kernel.Matrix, []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	x := kernel.NewMatrix(n, dim)
	labels := make([]int, n)
	for i := range n {
		labels[i] = 10 * r.IntN(classes)
		for j := range dim {
			x.Set(i, j, r.NormFloat64()*spread+0.7)
		}
		x.Data[i*dim+labels[i]/10%dim] += 1
	}
	return x, labels
}

func gramOf(x, y *kernel.Matrix) *kernel.Matrix {
	k := kernel.NewMatrix(x.Rows, y.Rows)
	for i := range x.Rows {
		for j := range y.Rows {
			k.Set(i, j, dense.Dot(x.Row(i), y.Row(j)))
		}
	}
	return k
}

// The linear machine is the kernel machine of the Gram matrix X Xᵀ: same objective, same
// decision values.
func TestLinearEqualsKernel(t *testing.T) {
	for _, c := range []struct {
		n, dim, classes int
		spread, c       float64
		weights         map[int]float64
	}{
		{60, 3, 2, 0.5, 1, nil},
		{60, 3, 2, 0.5, 0.01, nil}, // all at the bound
		{80, 10, 2, 0.7, 10, nil},
		{80, 10, 2, 0.05, 100, nil}, // separable
		{70, 4, 2, 0.6, 1, map[int]float64{10: 5}},
		{120, 5, 4, 0.5, 1, nil},
		{30, 50, 3, 0.5, 1, nil}, // more features than examples
	} {
		x, labels := clouds(uint64(c.n+c.dim), c.n, c.dim, c.classes, c.spread)
		fresh, _ := clouds(99, 40, c.dim, c.classes, c.spread)
		opt := DefaultOptions()
		opt.C, opt.Tolerance, opt.ClassWeights = c.c, 1e-8, c.weights
		want, err := Train(t.Context(), Full(gramOf(x, x)), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		lin := DefaultLinearOptions()
		lin.C, lin.Tolerance, lin.MaxIterations, lin.ClassWeights = c.c, 1e-7, 200000, c.weights
		got, err := TrainLinear(t.Context(), x, labels, lin)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		for m := range want.Functions {
			a, b := got.Functions[m], want.Functions[m]
			pos, neg := want.Pair(m)
			if math.Abs(a.Objective-b.Objective) > 1e-5*math.Abs(b.Objective) {
				t.Errorf("%+v: objective %v, want %v", c, a.Objective, b.Objective)
			}
			free := slices.ContainsFunc(b.Coefficients, func(v float64) bool {
				return math.Abs(v) < c.c*0.999*opt.weight(want.Classes[pos]) && math.Abs(v) < c.c*0.999*opt.weight(want.Classes[neg])
			})
			if !free {
				continue // the bias is not determined
			}
			if math.Abs(a.Bias-b.Bias) > 1e-4 {
				t.Errorf("%+v: bias %v, want %v after %d steps", c, a.Bias, b.Bias, a.Iterations)
			}
		}
		d, err := got.Values(Full(fresh))
		if err != nil {
			t.Fatal(err)
		}
		wantD, err := want.Values(Full(gramOf(fresh, x)))
		if err != nil {
			t.Fatal(err)
		}
		if c.c != 0.01 {
			for i, v := range d.Data {
				if math.Abs(v-wantD.Data[i]) > 1e-3 {
					t.Fatalf("%+v: decision value %v, want %v", c, v, wantD.Data[i])
				}
			}
			a, _ := got.Labels(Full(fresh))
			b, _ := want.Labels(Full(gramOf(fresh, x)))
			if !slices.Equal(a, b) {
				t.Errorf("%+v: classes %v, want %v", c, a, b)
			}
		}
		again, err := TrainLinear(t.Context(), x, labels, lin)
		if err != nil || again.Functions[0].Bias != got.Functions[0].Bias || !slices.Equal(again.Functions[0].Coefficients, got.Functions[0].Coefficients) {
			t.Errorf("%+v: a second training differs", c)
		}
	}
}

// At the default tolerance the duality gap is small: the primal objective is above the
// negative dual one by definition, and not by much.
func TestLinearGap(t *testing.T) {
	x, labels := clouds(5, 2000, 20, 2, 0.5)
	opt := DefaultLinearOptions()
	l, err := TrainLinear(t.Context(), x, labels, opt)
	if err != nil {
		t.Fatal(err)
	}
	m := l.Functions[0]
	primal := dense.Dot(m.Coefficients, m.Coefficients) / 2
	for i := range x.Rows {
		y := 1.0
		if labels[i] == l.Classes[1] {
			y = -1
		}
		primal += opt.C * max(0, 1-y*(dense.Dot(m.Coefficients, x.Row(i))+m.Bias))
	}
	t.Logf("%d steps", m.Iterations)
	if gap := (primal + m.Objective) / primal; gap < -1e-3 || gap > 1e-2 {
		t.Errorf("primal %v, dual %v: gap %v after %d steps", primal, -m.Objective, gap, m.Iterations)
	}
}

func TestLinearMistakes(t *testing.T) {
	x, labels := clouds(1, 20, 3, 2, 1)
	for want, change := range map[string]func(o *Options, x *kernel.Matrix, labels *[]int){
		"C = 0":               func(o *Options, _ *kernel.Matrix, _ *[]int) { o.C = 0 },
		"Tolerance = NaN":     func(o *Options, _ *kernel.Matrix, _ *[]int) { o.Tolerance = math.NaN() },
		"MaxIterations = 0":   func(o *Options, _ *kernel.Matrix, _ *[]int) { o.MaxIterations = 0 },
		"ClassWeights[10]":    func(o *Options, _ *kernel.Matrix, _ *[]int) { o.ClassWeights = map[int]float64{10: -1} },
		"19 labels":           func(_ *Options, _ *kernel.Matrix, l *[]int) { *l = (*l)[1:] },
		"at least two":        func(_ *Options, _ *kernel.Matrix, l *[]int) { *l = make([]int, 20) },
		"feature 1 of exampl": func(_ *Options, x *kernel.Matrix, _ *[]int) { x.Data[4] = math.Inf(1) },
	} {
		o, y, l := DefaultLinearOptions(), kernel.NewMatrix(20, 3), slices.Clone(labels)
		copy(y.Data, x.Data)
		change(&o, y, &l)
		if _, err := TrainLinear(t.Context(), y, l, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	o := DefaultLinearOptions()
	o.MaxIterations = 1
	l, err := TrainLinear(t.Context(), x, labels, o)
	if !errors.Is(err, ErrIterations) || l == nil {
		t.Errorf("one pass: %v, error %v", l, err)
	}
	if _, err := l.Labels(Full(kernel.NewMatrix(1, 4))); err == nil || !strings.Contains(err.Error(), "4 kernel values") {
		t.Errorf("error %v", err)
	}
	l.Functions[0].Coefficients[0] = math.NaN()
	if l.Validate() == nil {
		t.Error("a weight that is not a number is valid")
	}
	// Without any feature the bias decides.
	zero := kernel.NewMatrix(20, 3)
	l, err = TrainLinear(t.Context(), zero, labels, DefaultLinearOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Labels(Full(zero)); err != nil || got[0] != most(labels) {
		t.Errorf("features that are all 0: class %v, error %v; want %d", got, err, most(labels))
	}
}

// most returns the most frequent label.
func most(labels []int) int {
	count := map[int]int{}
	best := labels[0]
	for _, l := range labels {
		if count[l]++; count[l] > count[best] {
			best = l
		}
	}
	return best
}

func BenchmarkLinear(b *testing.B) {
	x, labels := clouds(7, 2000, 64, 2, 0.5)
	for b.Loop() {
		if _, err := TrainLinear(b.Context(), x, labels, DefaultLinearOptions()); err != nil {
			b.Fatal(err)
		}
	}
}
