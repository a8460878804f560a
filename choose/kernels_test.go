package choose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

func small() mlg.Kernel {
	o := mlg.Default()
	o.Samples, o.Rank = 30, 5
	o.Base = "degree"
	return o
}

// TestIndefiniteIsClipped: a training set of an indefinite kernel gets a positive
// semi-definite matrix, whose rows the mapping reproduces.
func TestIndefiniteIsClipped(t *testing.T) {
	m := kernel.NewMatrix(5, 5)
	for i := range 5 {
		for j := range 5 {
			m.Set(i, j, math.Cos(float64(i*j))) // symmetric, indefinite
		}
	}
	train := []int{0, 1, 3, 4}
	o := small()
	o.Combine = mlg.GeometricMean
	graphs, _ := known(m)
	x, err := graphs.Of(kernel.Precomputed{Kernel: o, Matrix: m})
	if err != nil {
		t.Fatal(err)
	}
	gram, cross, err := x.On(t.Context(), trainingSet{graphs: train})
	if err != nil {
		t.Fatal(err)
	}
	smallest := func(v learn.View) float64 {
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(4, v.Matrix().Data), false)
		return e.Values(nil)[0]
	}
	if raw := smallest(learn.Full(m).Select(train, train)); raw > -0.1 {
		t.Fatalf("smallest eigenvalue %v: the test shows nothing", raw)
	}
	if s := smallest(gram); s < -1e-12 {
		t.Errorf("smallest eigenvalue %v after clipping", s)
	}
	mapped, err := cross(train)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range mapped.Matrix().Data {
		near(t, "mapped row", v, gram.At(i/4, i%4), 1e-12)
	}
	if kernel.Semidefinite(o) || !kernel.Semidefinite(small()) || kernel.Semidefinite(kernel.Product(small(), o)) {
		t.Error("a geometric mean of levels counts as positive semi-definite")
	}
	for _, loo := range []bool{false, true} {
		opt := quick(3)
		opt.Combinations, opt.LeaveOneOut = everyCombination(), loo
		p, err := Choose(t.Context(), dataset.Scales(30, 1), []Candidate{{Name: "gmean", Settings: []Setting{{Parameters: "gmean", Kernel: o}}}}, opt)
		if err != nil || !p.Indefinite {
			t.Errorf("plan %+v, error %v", p, err)
		}
	}
}

// TestWeights: of three kernels, one that knows the classes, one that knows nothing and a
// copy of it, every way to learn weights prefers the first.
func TestWeights(t *testing.T) {
	ds := dataset.Scales(40, 1)
	o := quick(4)
	o.Examples = 16 // also tests the sample
	c := chooserOf(t, ds, &o)
	n := len(ds.Graphs)
	good, noise := kernel.NewMatrix(n, n), kernel.NewMatrix(n, n)
	for i := range n {
		for j := range n {
			noise.Set(i, j, math.Exp(-math.Pow(float64(i*i%17-j*j%17), 2)))
			good.Set(i, j, 0.5*noise.At(i, j))
			if c.Targets.Labels[i] == c.Targets.Labels[j] {
				good.Set(i, j, 0.5*noise.At(i, j)+0.5)
			}
		}
	}
	part := c.TrainingPart(0, 1)
	if s := part.sample; len(s) != 16 || !slices.IsSorted(s) {
		t.Errorf("sample %v", s)
	} else {
		count := 0
		for _, i := range s {
			count += c.Targets.Labels[i]
			if c.Splits.Fold[0][i] == 1 {
				t.Errorf("sample has the test graph %d", i)
			}
		}
		if count != 8 {
			t.Errorf("%d of 16 are of the second class, want 8", count)
		}
	}
	mix := mixerOf(c, nil, noise, good, noise)
	for how, least := range map[Combination]float64{MeanAll: 1.0 / 3, MeanBest: 1.0 / 3, Weighted: 0.37} {
		w, err := Mixture{mix, how}.Weights(t.Context(), part)
		if err != nil {
			t.Fatal(err)
		}
		near(t, how.String()+": sum of weights", w[0]+w[1]+w[2], 1, 1e-12)
		if w[1] < least-1e-12 || slices.Min(w) < 0 {
			t.Errorf("%s: weights %v, want at least %v for the second", how, w, least)
		}
	}
}

// TestWeightedByDefinition: the weights of Weighted are those of its definition, with
// leave-one-out predictions that leave one out, for two classes, three and values, whether
// the choice of ridges has computed the errors or not.
func TestWeightedByDefinition(t *testing.T) {
	drugs, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	drugs.Graphs = drugs.Graphs[:120]
	for name, target := range map[string]func(i int) string{
		"two classes":   func(i int) string { return strconv.Itoa((drugs.Graphs[i].N() + i%4) / 8 % 2) },
		"three classes": func(i int) string { return strconv.Itoa((drugs.Graphs[i].N() + i%4) / 6 % 3) },
		"values":        func(i int) string { return fmt.Sprint(math.Sin(float64(drugs.Graphs[i].N())/4) + float64(i%5)/8) },
	} {
		t.Run(name, func(t *testing.T) {
			ds := retarget(drugs, target)
			o := DefaultOptions()
			o.Folds = 5
			o.ForCandidates()
			o.Ridge = []float64{0.1, 1}
			if o.Task = Classification; name == "values" {
				o.Task = Regression
			}
			c := chooserOf(t, ds, &o)
			part := c.TrainingPart(0, 1)
			train := part.graphs
			exponent := -max(4, float64(len(train))/150)
			if name == "values" {
				exponent = -float64(len(train)) / 10
			}
			var want []float64
			var matrices []*kernel.Matrix
			var scores []*Scores
			for _, scale := range []float64{1, 8, 100} {
				m := matrixOf(t, &kerneltest.Spy{Scale: scale}, ds.Graphs)
				s, err := c.Score(t.Context(), m, []*TrainingPart{part})
				if err != nil {
					t.Fatal(err)
				}
				e, r := leftOut(t, c.Targets, o.Ridge, valuesOf(t, m), train)
				if name == "values" {
					r = 1
				}
				want = append(want, math.Pow(e*r, exponent))
				matrices, scores = append(matrices, valuesOf(t, m)), append(scores, &s[0])
			}
			sum := 0.0
			for k, w := range want {
				if w < slices.Max(want)/50 {
					want[k] = 0
				}
				sum += want[k]
			}
			for _, known := range []bool{true, false} {
				o.LeaveOneOut = known // otherwise errors do not come from scores
				got, err := Mixture{mixerOf(c, scores, matrices...), Weighted}.Weights(t.Context(), part)
				if err != nil {
					t.Fatal(err)
				}
				for k := range got {
					near(t, fmt.Sprintf("weight %d", k), got[k], want[k]/sum, 1e-9)
				}
			}
			if slices.Max(want) < 1.2*slices.Min(want) {
				t.Errorf("weights %v are nearly equal: nothing is tested", want)
			}
		})
	}
}

// TestBestFew: the kernels of MeanBest are the ten with the smallest product of errors of leave-one-out
// predictions that leave one out, and the value of the grid is that with which their mean has the smallest.
func TestBestFew(t *testing.T) {
	graphtest.Long(t)
	ds := dataset.Scales(60, 5)
	values := retarget(ds, func(i int) string { return []string{"0.5", "1.25", "2.5", "7.75"}[ds.Graphs[i].N()%4] })
	for _, test := range []struct {
		name     string
		d        *dataset.Dataset
		learner  learn.Kind
		examples int
	}{{"svm", ds, learn.SVM, 99}, {"ridge", ds, learn.KernelRidge, 99}, {"values", values, learn.KernelRidge, 99}, {"sample", ds, learn.SVM, 25}} {
		t.Run(test.name, func(t *testing.T) {
			o := quick(4)
			o.LeaveOneOut, o.Learner, o.Examples = true, test.learner, test.examples
			if o.Task = Classification; test.d == values {
				o.Task = Regression
			}
			c := chooserOf(t, test.d, &o)
			product := func(m *kernel.Matrix, p *TrainingPart, ridges ...float64) float64 {
				squared, wrong := leftOut(t, c.Targets, ridges, m, p.sample)
				return squared * wrong
			}
			var matrices []*kernel.Matrix
			for i := range meanBest + 3 {
				matrices = append(matrices, valuesOf(t, matrixOf(t, &kerneltest.Spy{Scale: 0.3 * float64(1+i*i)}, test.d.Graphs)))
			}
			sets := map[string]bool{}
			for f := range 4 {
				p := c.TrainingPart(0, f)
				var scores []*Scores
				var products []float64
				graphs, kernels := known(matrices...)
				for k, m := range matrices {
					x, err := graphs.Of(kernels[k])
					if err != nil {
						t.Fatal(err)
					}
					s, err := c.Score(t.Context(), x, []*TrainingPart{p})
					if err != nil {
						t.Fatal(err)
					}
					scores, products = append(scores, &s[0]), append(products, product(m, p, o.ridges()...))
				}
				mixture := Mixture{mixerOf(c, scores, matrices...), MeanBest}
				w, err := mixture.Weights(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				limit := slices.Sorted(slices.Values(products))[meanBest-1]
				mean := kernel.NewMatrix(60, 60)
				for k, x := range w {
					if want := map[bool]float64{true: 1.0 / meanBest, false: 0}[products[k] <= limit]; x != want {
						t.Errorf("fold %d: weight %v of kernel %d, want %v", f, x, k, want)
					}
					for i, v := range matrices[k].Data {
						mean.Data[i] += x * v
					}
				}
				sets[fmt.Sprint(w)] = true
				s, err := c.Score(t.Context(), mixture, []*TrainingPart{p})
				if err != nil {
					t.Fatal(err)
				}
				var errors []float64
				for _, r := range o.ridges() {
					errors = append(errors, -product(mean, p, r))
				}
				if want := o.best(errors, 0); s[0].Best != want {
					t.Errorf("fold %d: value %d of the grid, want %d of %v", f, s[0].Best, want, errors)
				}
			}
			if len(sets) < 2 {
				t.Error("all folds take the same kernels: what one fold takes is not tested")
			}
		})
	}
}

// leftOut returns the mean squared error of predicting each training graph from the others by
// kernel ridge regression, at the best ridge, and the share of wrong classes with one more.
func leftOut(t *testing.T, targets *Targets, ridges []float64, m *kernel.Matrix, train []int) (squared, wrong float64) {
	columns := [][]float64{targets.Values}
	if !targets.Regression() {
		columns = make([][]float64, len(targets.Classes))
		for c := range columns {
			for _, l := range targets.Labels {
				columns[c] = append(columns[c], map[bool]float64{true: 1, false: -1}[l == c])
			}
		}
	}
	squared = math.Inf(1)
	opt := learn.DefaultOptions()
	opt.Kind = learn.KernelRidge
	for _, opt.Ridge = range ridges {
		sum, count := 0.0, 1.0
		for k, i := range train {
			others := slices.Delete(slices.Clone(train), k, k+1)
			gram, cross := learn.Full(m).Select(others, others), learn.Full(m).Select([]int{i}, others)
			var scores []float64
			for _, z := range columns {
				l, err := learn.Train(t.Context(), gram, learn.Targets{Values: Pick(z, others)}, opt)
				if err != nil {
					t.Fatal(err)
				}
				p, err := l.Values(cross)
				if err != nil {
					t.Fatal(err)
				}
				sum += (p.Data[0] - z[i]) * (p.Data[0] - z[i])
				scores = append(scores, p.Data[0])
			}
			if !targets.Regression() && slices.Index(scores, slices.Max(scores)) != targets.Labels[i] {
				count++
			}
		}
		n := float64(len(train))
		if sum/n < squared {
			squared, wrong = sum/n, count/(n+1)
		}
	}
	if targets.Regression() {
		wrong = squared
	}
	return squared, wrong
}

// The list has some kernels and all products of two of them, each once; with edge labels a second family.
func TestCandidates(t *testing.T) {
	const all = "mlg labels, mlg labels sharp, mlg wl, mlg heat, wl-oa"
	for _, c := range []struct {
		info    dataset.Summary
		kernels string
	}{
		{dataset.Summary{NodeLabels: 3}, all + ", nspd, sp"},
		{dataset.Summary{}, all + ", nspd, sp"},
		{dataset.Summary{NodeLabels: 3, Attributes: 2}, all + ", nspd, sp, mlg attributes"},
		{dataset.Summary{NodeLabels: 3, EdgeLabels: 4}, all + ", nspd, sp, mlg bonds; wl-oa bonds, nspd bonds, sp bonds"},
		{dataset.Summary{NodeLabels: 3, EdgeLabels: 1}, all + ", nspd, sp"},
	} {
		want := map[string]bool{}
		for family := range strings.SplitSeq(c.kernels, "; ") {
			kernels := strings.Split(family, ", ")
			for i, a := range kernels {
				want[a] = true
				for _, b := range kernels[i+1:] {
					want[a+" × "+b] = true
				}
			}
		}
		texts := map[string]bool{}
		for _, x := range DefaultCandidates(c.info) {
			if !want[x.Name] {
				t.Errorf("%s: candidate %s is there twice, or not wanted", c.kernels, x.Name)
			}
			delete(want, x.Name)
			if len(x.Settings) != 1 || texts[x.Settings[0].Kernel.String()] {
				t.Errorf("%s: %d settings of %s, or another candidate has its kernel", c.kernels, len(x.Settings), x.Name)
			}
			texts[x.Settings[0].Kernel.String()] = true
		}
		if len(want) > 0 {
			t.Errorf("%s: no candidates %v", c.kernels, want)
		}
	}
}

// Every setting has a name of its own, also where a candidate has several.
func TestNamesOfSettings(t *testing.T) {
	seen, several := map[string]bool{}, false
	for _, x := range DefaultCandidates(dataset.Summary{NodeLabels: 3, EdgeLabels: 4, Attributes: 2, Marked: 1, TargetRange: []float64{0, 1}}) {
		several = several || len(x.Settings) > 1
		for _, s := range x.Settings {
			if seen[s.Parameters] {
				t.Errorf("%s: another setting is called %q", x.Name, s.Parameters)
			}
			seen[s.Parameters] = true
		}
	}
	if !several {
		t.Error("no candidate has several settings: nothing is tested")
	}
}
