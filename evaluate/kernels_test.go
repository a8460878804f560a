package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/svm"
)

func small(workers int) mlg.Options {
	o := mlg.DefaultOptions()
	o.Samples, o.Rank, o.Workers = 30, 5, workers
	o.Base = mlg.Degree()
	return o
}

func small2(workers int) mlg.Kernel {
	k := baseline.DefaultWL()
	k.H, k.Workers, k.Labels = 2, workers, baseline.Degrees
	return k
}

// TestWrappersAreKernels: what makes kernels from kernels keeps the properties of kernels.
func TestWrappersAreKernels(t *testing.T) {
	for name, make := range map[string]func(workers int) mlg.Kernel{
		"product": func(w int) mlg.Kernel { return Product(mlg.NewKernel(small(w)), small2(w)) },
		"mean":    func(w int) mlg.Kernel { return Mean(mlg.NewKernel(small(w)), small2(w)) },
		"seeds":   func(w int) mlg.Kernel { return OverSeeds(small(w), 3) },
		"shared":  func(w int) mlg.Kernel { return Share(small2(w)) },
	} {
		t.Run(name, func(t *testing.T) {
			kerneltest.Run(t, kerneltest.Expect{Kernel: make, Zero: true})
		})
	}
}

// TestProductAndMean: entry by entry.
func TestProductAndMean(t *testing.T) {
	graphs := dataset.Scales(10, 1).Graphs
	gram := func(k mlg.Kernel) *mlg.Matrix {
		f, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := mlg.NewKernel(small(1)), small2(1)
	ka, kb, product, mean := gram(a), gram(b), gram(Product(a, b)), gram(Mean(a, b))
	for i := range ka.Data {
		near(t, "product", product.Data[i], ka.Data[i]*kb.Data[i], 0)
		near(t, "mean", mean.Data[i], (ka.Data[i]+kb.Data[i])/2, 1e-15)
	}
	raw := baseline.DefaultWL()
	raw.Normalize = false
	f, err := Product(a, raw).Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Gram(t.Context()); err == nil || !strings.Contains(err.Error(), "only normalised kernels") {
		t.Errorf("error %v", err)
	}
	if _, err := Product().Fit(t.Context(), graphs); err == nil {
		t.Error("a product of no kernels")
	}
	o := small(1)
	o.Seed = 4
	one, three := gram(OverSeeds(o, 1)), gram(OverSeeds(o, 3))
	if !slices.Equal(one.Data, gram(mlg.NewKernel(o)).Data) || slices.Equal(one.Data, three.Data) {
		t.Error("OverSeeds does not begin with the seed given, or does not go on")
	}
	if s := OverSeeds(o, 3).String(); !strings.HasSuffix(s, "seeds=4..6") {
		t.Error(s)
	}
}

// TestShare: a kernel that occurs twice is fitted once for the same graphs, and anew for
// others.
func TestShare(t *testing.T) {
	s := &spy{scale: 2}
	k := Share(s)
	graphs := dataset.Scales(12, 1).Graphs
	for range 2 {
		f, err := Product(k, k).Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Gram(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.fits) != 1 {
		t.Errorf("fitted %d times, want 1", len(s.fits))
	}
	if _, err := k.Fit(t.Context(), graphs[:11]); err != nil {
		t.Fatal(err)
	}
	if len(s.fits) != 2 {
		t.Errorf("fitted %d times, want 2", len(s.fits))
	}
}

// attributed returns a graph of isolated vertices with attribute rows.
func attributed(t *testing.T, rows ...[]float64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(rows))
	for v, r := range rows {
		b.SetAttributes(v, r)
		b.SetLabel(v, "x")
	}
	for v := 1; v < len(rows); v++ {
		b.AddLabeledEdge(v-1, v, 2, "e")
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStandardized: training graphs set mean and scale, new graphs get the same.
func TestStandardized(t *testing.T) {
	// first attribute: 1, 3, 5, 7: mean 4, variance 5; second is constant
	train := []*graph.Graph{attributed(t, []float64{1, 9}, []float64{3, 9}), attributed(t, []float64{5, 9}, []float64{7, 9})}
	s := &spy{scale: 1}
	k := Standardized(s)
	f, err := k.Fit(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Cross(t.Context(), []*graph.Graph{attributed(t, []float64{14, 10})}); err != nil {
		t.Fatal(err)
	}
	g := s.fits[0][0]
	near(t, "attribute", g.Attributes(0)[0], -3/math.Sqrt(5), 1e-15)
	near(t, "constant attribute", g.Attributes(0)[1], 0, 1e-15)
	near(t, "new attribute", s.cross[0][1][0].Attributes(0)[0], 10/math.Sqrt(5), 1e-15)
	near(t, "new constant attribute", s.cross[0][1][0].Attributes(0)[1], 1, 1e-15)
	if g.Label(0) != "x" || g.EdgeLabel(0, 0) != "e" || g.Weights(0)[0] != 2 {
		t.Error("labels or weights are lost")
	}
	if _, err := k.Fit(t.Context(), dataset.Scales(2, 1).Graphs); err == nil {
		t.Error("graphs without attributes were standardised")
	}
	if _, err := f.Cross(t.Context(), dataset.Scales(2, 1).Graphs); err == nil {
		t.Error("new graphs without attributes were accepted")
	}
}

// TestIndefiniteIsClipped: a training part of an indefinite kernel gets a positive
// semi-definite matrix, whose rows the mapping reproduces.
func TestIndefiniteIsClipped(t *testing.T) {
	m := mlg.NewMatrix(5, 5)
	for i := range 5 {
		for j := range 5 {
			m.Set(i, j, math.Cos(float64(i*j))) // symmetric, indefinite
		}
	}
	train := []int{0, 1, 3, 4}
	gram, cross, err := fixed{m: m, clip: true}.part(t.Context(), 0, []int{0}, train)
	if err != nil {
		t.Fatal(err)
	}
	smallest := func(v svm.View) float64 {
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(4, v.Matrix().Data), false)
		return e.Values(nil)[0]
	}
	if raw := smallest(svm.Full(m).Select(train, train)); raw > -0.1 {
		t.Fatalf("smallest eigenvalue %v: the test shows nothing", raw)
	}
	if s := smallest(gram); s < -1e-12 {
		t.Errorf("smallest eigenvalue %v after clipping", s)
	}
	for i, v := range cross(train).Matrix().Data {
		near(t, "mapped row", v, gram.At(i/4, i%4), 1e-12)
	}
	if semidefinite(Indefinite(small2(1))) || !semidefinite(small2(1)) || semidefinite(Product(small2(1), Indefinite(small2(1)))) {
		t.Error("the mark is lost")
	}
	o := small(1)
	o.Combine = mlg.GeometricMean
	if semidefinite(MLGSetting(o).Kernel) {
		t.Error("a geometric mean of levels counts as positive semi-definite")
	}
	opt := quick(3, 1)
	opt.Combinations = everyCombination()
	if _, err := Run(t.Context(), dataset.Scales(30, 1), []Candidate{{Name: "gmean", Settings: []Setting{MLGSetting(o)}}}, opt); err != nil {
		t.Error(err)
	}
}

func TestNonNegative(t *testing.T) {
	// Unconstrained solution of ((2, 1), (1, 2)) v = (3, −1) is (7/3, −5/3): v₂ = 0, v₁ = 3/2.
	m := &mlg.Matrix{Rows: 2, Cols: 2, Data: []float64{2, 1, 1, 2}}
	v := nonNegative(m, []float64{3, -1})
	near(t, "v₁", v[0], 1.5, 1e-9)
	near(t, "v₂", v[1], 0, 0)
	v = nonNegative(m, []float64{3, 3})
	near(t, "v₁", v[0], 1, 1e-9)
	near(t, "v₂", v[1], 1, 1e-9)
}

// TestWeights: of three kernels, one that knows the classes, one that knows nothing and a
// copy of it, every way to learn weights prefers the first.
func TestWeights(t *testing.T) {
	ds := dataset.Scales(40, 1)
	o := quick(4, 1)
	o.Examples = 16 // also tests the sample
	e, err := newEngine(ds, []Candidate{single("a", &spy{scale: 1}), single("b", &spy{scale: 2}), single("c", &spy{scale: 3})}, &o)
	if err != nil {
		t.Fatal(err)
	}
	n := len(ds.Graphs)
	good, noise := mlg.NewMatrix(n, n), mlg.NewMatrix(n, n)
	for i := range n {
		for j := range n {
			noise.Set(i, j, math.Exp(-math.Pow(float64(i*i%17-j*j%17), 2)))
			good.Set(i, j, 0.5*noise.At(i, j))
			if e.targets.labels[i] == e.targets.labels[j] {
				good.Set(i, j, 0.5*noise.At(i, j)+0.5)
			}
		}
	}
	mix := mixerOf(e, noise, good, noise)
	train := e.splits.Without(0, 1)
	if s := e.sample(0, []int{1}, train); len(s) != 16 || !slices.IsSorted(s) {
		t.Errorf("sample %v", s)
	} else {
		count := 0
		for _, i := range s {
			count += e.targets.labels[i]
			if e.splits.Fold[0][i] == 1 {
				t.Errorf("sample has the test graph %d", i)
			}
		}
		if count != 8 {
			t.Errorf("%d of 16 are of the second class, want 8", count)
		}
	}
	for how, least := range map[Combination]float64{MeanAll: 1.0 / 3, BestFew: 1.0 / 3, Alignment: 0.9, Weighted: 0.37} {
		w, err := mix.weights(t.Context(), how, 0, []int{1}, train)
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
	drugs, err := dataset.Drugs(dataset.DefaultOptions())
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
			o := quick(5, 1)
			o.ForCandidates()
			o.Ridge = []float64{0.1, 1}
			if o.Task = Classification; name == "values" {
				o.Task = Regression
			}
			var candidates []Candidate
			for _, scale := range []float64{1, 8, 100} {
				candidates = append(candidates, single(fmt.Sprint(scale), &spy{scale: scale}))
			}
			const fold = 1
			scored, err := newEngine(ds, candidates, &o)
			if err != nil {
				t.Fatal(err)
			}
			mix, err := scored.scoreAll(t.Context(), fold)
			if err != nil {
				t.Fatal(err)
			}
			bare, err := newEngine(ds, candidates, &o)
			if err != nil {
				t.Fatal(err)
			}
			train := bare.splits.Without(0, fold)
			exponent := -math.Pow(float64(len(train))/150, 2)
			want, sum := make([]float64, len(candidates)), 0.0
			for k, m := range mix.matrices {
				e, r := leftOut(t, bare, m, train)
				want[k] = math.Pow(e*r, exponent)
			}
			for k, w := range want {
				if w < slices.Max(want)/50 {
					want[k] = 0
				}
				sum += want[k]
			}
			for _, x := range []*mixer{mix, mixerOf(bare, mix.matrices...)} {
				got, err := x.weights(t.Context(), Weighted, 0, []int{fold}, train)
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

// leftOut returns the mean squared error of predicting each training graph from the others by
// kernel ridge regression, at the best ridge, and the share of wrong classes with one more.
func leftOut(t *testing.T, e *engine, m *mlg.Matrix, train []int) (squared, wrong float64) {
	squared = math.Inf(1)
	for _, ridge := range e.o.Ridge {
		sum, count := 0.0, 1.0
		for k, i := range train {
			others := slices.Delete(slices.Clone(train), k, k+1)
			gram, cross := svm.Full(m).Select(others, others), svm.Full(m).Select([]int{i}, others)
			var scores []float64
			for _, z := range e.targets.columns(e.splits.Without(0)) {
				r, err := svm.TrainRidge(t.Context(), gram, pick(z, others), ridge, false)
				if err != nil {
					t.Fatal(err)
				}
				p, err := r.Predict(cross)
				if err != nil {
					t.Fatal(err)
				}
				sum += (p[0] - z[i]) * (p[0] - z[i])
				scores = append(scores, p[0])
			}
			if e.targets.regression() {
				continue
			}
			if len(scores) == 1 { // speaks for the second class
				scores = []float64{0, scores[0]}
			}
			if slices.Index(scores, slices.Max(scores)) != e.targets.labels[i] {
				count++
			}
		}
		n := float64(len(train))
		if sum/n < squared {
			squared, wrong = sum/n, count/(n+1)
		}
	}
	if e.targets.regression() {
		wrong = squared
	}
	return squared, wrong
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		info                 dataset.Summary
		candidates, settings int
	}{
		{dataset.Summary{NodeLabels: 3}, 17, 17},
		{dataset.Summary{NodeLabels: 3, Attributes: 2}, 20, 20},
		{dataset.Summary{NodeLabels: 3, EdgeLabels: 4}, 20, 20},
		{dataset.Summary{NodeLabels: 3, EdgeLabels: 1}, 17, 17},
		{dataset.Summary{}, 16, 16},
		{dataset.Summary{Attributes: 2}, 19, 19},
	} {
		list, err := DefaultCandidates(c.info)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, x := range list {
			for _, s := range x.Settings {
				names[s.Parameters] = true
			}
		}
		if len(list) != c.candidates || len(names) != c.settings {
			t.Errorf("%+v: %d candidates with %d different settings, want %d and %d", c.info, len(list), len(names), c.candidates, c.settings)
		}
	}
	list := PaperTable1("MUTAG")
	names := map[string]bool{}
	for _, s := range list[0].Settings {
		names[s.Parameters] = true
	}
	if len(names) != 144 || list[0].Published.Mean != 87.94 {
		t.Errorf("%d settings, published %+v", len(names), list[0].Published)
	}
	if PaperTable1("other")[0].Published != nil {
		t.Error("a published figure for an unknown dataset")
	}
}

// TestSubdivided: graphs that differ in the labels of their edges alone are equal to a kernel
// on vertices, and not to the same kernel on graphs whose edges are vertices.
func TestSubdivided(t *testing.T) {
	path := func(labels ...string) *graph.Graph {
		b := graph.NewBuilder(len(labels) + 1)
		for v := range len(labels) + 1 {
			b.SetLabel(v, "C")
		}
		for i, l := range labels {
			b.AddLabeledEdge(i, i+1, 1, l)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	graphs := []*graph.Graph{path("-", "-", "="), path("-", "=", "-"), path("=", "-", "-")}
	k := baseline.DefaultWL()
	plain, err := k.Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := Subdivided(k).Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	a, err := plain.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := sub.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross, err := sub.Cross(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "plain", a.At(0, 1), 1, 1e-12)
	near(t, "mirrored", b.At(0, 2), 1, 1e-12)
	if b.At(0, 1) > 0.99 {
		t.Errorf("the place of the double edge makes no difference: %v", b.At(0, 1))
	}
	for i, v := range b.Data {
		near(t, "cross", cross.Data[i], v, 1e-12)
	}
}

// TestAttributes: all default candidates work on graphs with attributes only.
func TestAttributes(t *testing.T) {
	ds := &dataset.Dataset{Name: "attributes"}
	for i := range 24 {
		g := attributed(t, []float64{float64(i % 5), 1}, []float64{float64(i % 3), float64(i % 2)}, []float64{0, float64(i % 2)})
		b := graph.NewBuilder(g.N())
		for v := range g.N() {
			b.SetAttributes(v, g.Attributes(v))
		}
		for e := range g.Edges() {
			b.AddEdge(e.U, e.V)
		}
		b.SetTarget([]string{"even", "odd"}[i%2])
		h, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		ds.Graphs = append(ds.Graphs, h)
	}
	list, err := DefaultCandidates(dataset.Info(ds))
	if err != nil {
		t.Fatal(err)
	}
	o := quick(3, 1)
	o.Fitting = Inductive
	r, err := Run(t.Context(), ds, list, o)
	if err != nil {
		t.Fatal(err)
	}
	if a := row(t, r, "mlg attributes").Accuracy; a < 0.9 {
		t.Errorf("accuracy %v with the attribute that tells the classes apart", a)
	}
}
