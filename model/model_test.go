package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

func drugs(t testing.TB) *dataset.Dataset {
	t.Helper()
	d, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// small are options for a file of a few kilobytes.
func small() mlg.Kernel {
	o := mlg.Default()
	o.Bonds, o.Samples, o.Rank = mlg.No, 8, 3
	return o
}

// fitted returns a model without learner for graphs.
func fitted(t testing.TB, graphs []*graph.Graph, options ...mlg.Kernel) *Model {
	t.Helper()
	var weights []float64
	var kernels []kernel.Kernel
	for i, o := range options {
		weights, kernels = append(weights, 1/float64(len(options)+i)), append(kernels, o)
	}
	return of(t, graphs, kernel.Weighted(weights, kernels))
}

// of returns a model without learner of any kernel.
func of(t testing.TB, graphs []*graph.Graph, k kernel.Kernel) *Model {
	t.Helper()
	m, err := New(context.Background(), graphs, k)
	if err != nil {
		t.Fatal(err)
	}
	m.Graphs = slices.Clone(graphs)
	for i, g := range graphs {
		m.Graphs[i] = g.With(m.IDs[i], m.Targets[i])
	}
	gram, err := m.Kernel.Gram(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m.Nearest = PercentilesOf(Nearest(gram))
	return m
}

// teach gives a model a learner.
func teach(t testing.TB, m *Model, gram *kernel.Matrix, targets learn.Targets, o learn.Options) {
	t.Helper()
	l, err := learn.Train(context.Background(), learn.Full(gram), targets, o)
	if err != nil {
		t.Fatal(err)
	}
	m.Learner = *l
}

// classify gives a model a classifier of the targets.
func classify(t testing.TB, m *Model, probability bool) {
	t.Helper()
	k, err := m.Kernel.Gram(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Compact(slices.Sorted(slices.Values(m.Targets)))
	labels := make([]int, len(m.Targets))
	for i, c := range m.Targets {
		at, _ := slices.BinarySearch(names, c)
		labels[i] = 10 * at // labels need not be positions
	}
	o := learn.DefaultOptions()
	o.C, o.Probability = 10, probability
	m.Classes = names
	teach(t, m, k, learn.Targets{Labels: labels}, o)
}

// regress gives a model a kernel ridge regression of the targets.
func regress(t testing.TB, m *Model) {
	t.Helper()
	k, err := m.Kernel.Gram(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(m.Targets))
	for i, x := range m.Targets {
		if values[i], err = strconv.ParseFloat(x, 64); err != nil {
			t.Fatal(err)
		}
	}
	o := learn.DefaultOptions()
	o.Kind, o.Ridge, o.LeaveOneOut = learn.KernelRidge, 1, true
	teach(t, m, k, learn.Targets{Values: values}, o)
	m.Learner.Forget()
}

func encoded(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// smallModel is a complete model of a few drugs.
func smallModel(t testing.TB) *Model {
	d := drugs(t)
	m := fitted(t, d.Graphs[:16], small())
	for i := range m.Targets {
		m.Targets[i] = []string{"one", "two", "three"}[i%3]
	}
	classify(t, m, true)
	m.reader = reader()
	m.Created = map[string]string{"C": "10"}
	m.Estimates = []choose.Estimate{{Measure: "accuracy", Value: 0.5, Deviation: 0.1, Method: "10-fold cross-validation"}}
	return m
}

// reader returns options that differ from the defaults.
func reader() *dataset.Options {
	o := dataset.DefaultOptions()
	o.Format, o.TargetColumn, o.AtomCharge, o.EdgeWeight = dataset.SMILES, "activity", true, dataset.OrderWeight
	return &o
}

// same demands that two models say the same about graphs, to the bit.
func same(t *testing.T, a, b *Model, graphs []*graph.Graph) {
	t.Helper()
	for _, of := range []func(m *Model) (*kernel.Matrix, error){
		func(m *Model) (*kernel.Matrix, error) { return m.Kernel.Gram(t.Context()) },
		func(m *Model) (*kernel.Matrix, error) { return m.Kernel.Cross(t.Context(), graphs) },
	} {
		x, err := of(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := of(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Data {
			if math.Float64bits(x.Data[i]) != math.Float64bits(y.Data[i]) {
				t.Fatalf("kernel value %d is %v, want %v", i, y.Data[i], x.Data[i])
			}
		}
	}
	if a.Task() == SearchOnly {
		return
	}
	p, err := a.Predict(t.Context(), graphs, PredictOptions{Nearest: 3})
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Predict(t.Context(), graphs, PredictOptions{Nearest: 3})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p, q) {
		t.Errorf("predictions differ:\n%v\n%v", p, q)
	}
	if a.Learner.Process == nil {
		return
	}
	if x, y := deviations(t, a, graphs), deviations(t, b, graphs); !slices.Equal(x, y) {
		t.Errorf("deviations %v, want %v", y, x)
	}
}

// deviations returns those of the values of graphs.
func deviations(t *testing.T, m *Model, graphs []*graph.Graph) []float64 {
	t.Helper()
	said, err := m.Predict(t.Context(), graphs, PredictOptions{Deviations: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, p := range said {
		out = append(out, *p.Deviation)
	}
	return out
}

// roundTrip writes and reads a model and compares all of it.
func roundTrip(t *testing.T, m *Model, graphs []*graph.Graph) {
	t.Helper()
	for i, g := range m.Graphs { // a file has identifiers and targets once
		m.Graphs[i] = g.With(m.IDs[i], m.Targets[i])
	}
	path := filepath.Join(t.TempDir(), "model.mlg")
	if err := Write(t.Context(), path, m); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, m, got, graphs)
	if !reflect.DeepEqual(m.Learner, got.Learner) {
		t.Errorf("learner:\n%+v\n%+v", m.Learner, got.Learner)
	}
	x, y := *m, *got
	if x.Kernel.Sum.String() != y.Kernel.Sum.String() {
		t.Errorf("kernel %s, want %s", y.Kernel.Sum, x.Kernel.Sum)
	}
	if !slices.EqualFunc(x.Graphs, y.Graphs, (*graph.Graph).Equal) {
		t.Error("the graphs differ")
	}
	x.Graphs, y.Graphs = nil, nil
	x.Learner, y.Learner = learn.Learner{}, learn.Learner{}
	x.Kernel, y.Kernel, x.known, y.known, x.scaffolds, y.scaffolds = nil, nil, nil, nil, nil, nil
	if !reflect.DeepEqual(x, y) {
		t.Errorf("read\n%+v\nwant\n%+v", y, x)
	}
	if !bytes.Equal(encoded(t, m), encoded(t, got)) {
		t.Error("written again, the bytes differ")
	}
	f, err := m.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	if g, err := got.Fingerprint(); err != nil || f != g {
		t.Errorf("fingerprint %x, %v, want %x", g, err, f)
	}
}

func TestRoundTripLearners(t *testing.T) {
	d := drugs(t)
	train, fresh := d.Graphs[:40], d.Graphs[40:50]
	make := func() *Model {
		m := fitted(t, train, small())
		m.reader = reader()
		m.Created = map[string]string{"C": "10", "übrigens": "ja"}
		m.Estimates = []choose.Estimate{
			{Measure: "accuracy", Value: 1.0 / 3, Deviation: 0.01, Method: "10-fold cross-validation"}, {Measure: "time", Value: 1e-9}}
		return m
	}
	values := func(m *Model) []float64 {
		z := []float64{}
		for i := range m.IDs {
			z = append(z, math.Sin(float64(i)))
		}
		return z
	}
	t.Run("classifier", func(t *testing.T) {
		m := make()
		classify(t, m, false)
		roundTrip(t, m, fresh)
	})
	t.Run("probability", func(t *testing.T) {
		m := make()
		for i := range m.Targets {
			m.Targets[i] = string([]byte{0xff, byte('a' + i%3)}) // no UTF-8, and no matter
		}
		classify(t, m, true)
		roundTrip(t, m, fresh)
		p, err := m.Predict(t.Context(), fresh, PredictOptions{})
		if err != nil || len(p[0].Probability) != 3 {
			t.Errorf("probabilities %v, %v", p, err)
		}
	})
	t.Run("regressor", func(t *testing.T) {
		m := make()
		k, err := m.Kernel.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		teach(t, m, k, learn.Targets{Values: values(m)}, learn.DefaultOptions())
		roundTrip(t, m, fresh)
	})
	t.Run("ridge", func(t *testing.T) {
		m := make()
		k, err := m.Kernel.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o := learn.DefaultOptions()
		o.Kind, o.Ridge = learn.KernelRidge, 0.1
		teach(t, m, k, learn.Targets{Values: values(m)}, o)
		roundTrip(t, m, fresh)
	})
	t.Run("ridge classifier", func(t *testing.T) {
		m := make()
		k, err := m.Kernel.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		labels := []int{}
		for i := range m.IDs {
			labels = append(labels, i%3)
		}
		o := learn.DefaultOptions()
		o.Kind, o.Probability, o.Ridge = learn.KernelRidge, true, 0.1
		m.Classes = []string{"a", "b", "c"}
		teach(t, m, k, learn.Targets{Labels: labels}, o)
		if len(m.Learner.Functions) != 3 {
			t.Errorf("%d functions for three classes, want one each", len(m.Learner.Functions))
		}
		roundTrip(t, m, fresh)
	})
	t.Run("none", func(t *testing.T) {
		m := make()
		m.Targets, m.Nearest, m.reader, m.Created, m.Estimates = slices.Repeat([]string{""}, len(m.IDs)), nil, nil, nil, nil
		roundTrip(t, m, fresh)
		if _, err := m.Predict(t.Context(), fresh, PredictOptions{Nearest: 1}); err == nil || !errors.Is(err, ErrNoLearner) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("two kernels", func(t *testing.T) {
		o := small()
		o.Radii, o.Combine = nil, mlg.Sum
		m := fitted(t, train, small(), o)
		classify(t, m, false)
		roundTrip(t, m, fresh)
		a, err := m.Kernel.Factors[0].Known().Cross(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Kernel.Factors[1].Known().Cross(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel.Cross(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range k.Data {
			if want := a.Data[i]/2 + b.Data[i]*(1.0/3); math.Abs(v-want) > 1e-15 {
				t.Fatalf("entry %d is %v, want %v", i, v, want)
			}
		}
	})
}

// Every base kernel and option comes back with its bits.
func TestRoundTripKernels(t *testing.T) {
	train, fresh := graphtest.Suite(1), graphtest.Suite(2)
	for _, b := range []string{"labels", "attributes", "degree", "gaussian sigma=0.3", "heat times=0.5,1,2", "wl h=3",
		"labels*gaussian sigma=1", "labels*(degree*wl h=1)", "0.25 labels + 0.75 heat times=1", "1e-05 (2 labels + 3 degree) + 1 attributes*labels"} {
		t.Run(b, func(t *testing.T) {
			o := small()
			o.Base = b
			roundTrip(t, fitted(t, train, o), fresh)
		})
	}
	for _, combine := range []mlg.Combine{mlg.Top, mlg.Sum, mlg.Product, mlg.GeometricMean} {
		for _, how := range []mlg.Landmarks{mlg.Uniform, mlg.ByClass, mlg.Pivoted} {
			t.Run(fmt.Sprint(combine, how), func(t *testing.T) {
				o := small()
				o.Combine, o.Landmarks, o.Power, o.Discount, o.Seed = combine, how, 2, true, math.MaxUint64
				o.Eta, o.Gamma, o.Radii = 0.7, 1e-3, []int{1, 1, 4}
				roundTrip(t, fitted(t, train, o), fresh)
			})
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m, err := Decode(encoded(t, smallModel(t)))
	if err != nil {
		t.Fatal(err)
	}
	fresh := drugs(t).Graphs[20:28]
	want, err := m.Predict(t.Context(), fresh, PredictOptions{Nearest: 2})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, err := m.Predict(t.Context(), fresh, PredictOptions{Nearest: 2})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
			if err := Encode(&bytes.Buffer{}, m); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestNearest(t *testing.T) {
	m := smallModel(t)
	d := drugs(t)
	found, err := m.Predict(t.Context(), d.Graphs[3:5], PredictOptions{Nearest: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range found {
		list := p.Nearest
		if len(list) != 3 || list[0].ID != m.IDs[3+i] || list[0].Index != 3+i || list[0].Similarity != 1 || list[0].Target != m.Targets[3+i] {
			t.Errorf("graph %d: %v, want itself first", 3+i, list)
		}
		if list[1].Similarity > list[0].Similarity || list[2].Similarity > list[1].Similarity {
			t.Errorf("similarities do not fall: %v", list)
		}
	}
	if found, err = m.Predict(t.Context(), d.Graphs[:1], PredictOptions{Nearest: 1000}); err != nil || len(found[0].Nearest) != m.Examples() {
		t.Errorf("%d of all, %v", len(found[0].Nearest), err)
	}
}

func TestPercentiles(t *testing.T) {
	// Largest similarities to others: 0.5, 0.5, 0.2.
	k := &kernel.Matrix{Rows: 3, Cols: 3, Data: []float64{1, 0.5, 0.1, 0.5, 1, 0.2, 0.1, 0.2, 1}}
	p := PercentilesOf(Nearest(k))
	if p[0] != 0.2 || p[24] != 0.2 || p[25] != 0.5 || p[100] != 0.5 {
		t.Errorf("percentiles %v", p)
	}
	for s, want := range map[float64]int{0: 0, 0.2: 0, 0.3: 25, 0.5: 25, 0.6: 100} {
		if got := p.Of(s); got != want {
			t.Errorf("similarity %v: percentile %d, want %d", s, got, want)
		}
	}
	if none := PercentilesOf(Nearest(kernel.NewMatrix(1, 1))); none != nil || none.Of(0) != 100 {
		t.Error("percentiles of nothing")
	}
	// Negative similarities are no less values than others.
	k = &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, -0.5, -0.5, 1}}
	if p := PercentilesOf(Nearest(k)); p[50] != -0.5 {
		t.Errorf("percentiles %v", p)
	}
}

// Graphs with another number of attributes are refused by name.
func TestAttributes(t *testing.T) {
	r := graphtest.Rand(1)
	var train []*graph.Graph
	for range 4 {
		train = append(train, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Dim: 2}))
	}
	fresh := []*graph.Graph{train[0], graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Dim: 3})}
	for _, base := range []string{"attributes", "gaussian sigma=1", "degree*attributes"} {
		o := small()
		o.Base = base
		m := fitted(t, train, o)
		if _, err := m.Kernel.Cross(t.Context(), fresh); err == nil || !strings.Contains(err.Error(), "graph 1: number of attributes per vertex is 3, want 2 as in training") {
			t.Errorf("%s: error %v", base, err)
		}
	}
}

// What cannot be stored, or does not belong together, is not written.
func TestWriteRefuses(t *testing.T) {
	graphtest.Slow(t)
	for want, change := range map[string]func(m *Model){
		"no kernel":                              func(m *Model) { m.Kernel = nil },
		"16 training graphs, want 15":            func(m *Model) { m.IDs = m.IDs[:15] },
		"2 targets, want 16":                     func(m *Model) { m.Targets = m.Targets[:2] },
		"100 percentiles":                        func(m *Model) { m.Nearest = m.Nearest[:100] },
		"percentiles of similarity fall":         func(m *Model) { m.Nearest[0] = 2 },
		"percentile of similarity 0 is NaN":      func(m *Model) { m.Nearest[0] = math.NaN() },
		"want valid UTF-8":                       func(m *Model) { m.Created["x"] = "\xff" },
		"Options: IDColumn = \"\\xff\", want":    func(m *Model) { m.reader.IDColumn = "\xff" },
		"Options: Hydrogens = \"\", want one of": func(m *Model) { m.reader.Hydrogens = "" },
		"estimate 0 is NaN":                      func(m *Model) { m.Estimates[0].Value = math.NaN() },
		"2 names for 3 classes":                  func(m *Model) { m.Classes = m.Classes[:2] },
		"learner: learn: ":                       func(m *Model) { m.Learner = learn.Learner{Functions: []learn.Function{}} },
		"learner: trained on 17 graphs":          func(m *Model) { m.Learner.Examples = 17 },
		"function 1: number 0 is +Inf":           func(m *Model) { m.Learner.Functions[1].Bias = math.Inf(1) },
		"slope -1":                               func(m *Model) { m.Learner.Slope = -1 },
		"meta has 104":                           func(m *Model) { m.Created["x"] = strings.Repeat("x", maxMeta) },
		"learner has 262": func(m *Model) {
			n := 725 // classes, with a function for each pair
			m.Classes = make([]string, n)
			m.Learner.Classes = make([]int, n)
			for i := range n {
				m.Classes[i], m.Learner.Classes[i] = fmt.Sprint(i), i
			}
			m.Learner.Functions, m.Learner.Slope = slices.Repeat(m.Learner.Functions[:1], n*(n-1)/2), 0
		},
		"mlg bonds=false samples=8 rank=3 is not fitted": func(m *Model) {
			m.Graphs = drugs(t).Graphs[:16]
			var err error
			if m.Kernel, err = kernel.NewCollection(m.Graphs).Sum(small()); err != nil {
				t.Fatal(err)
			}
		},
		"0 training graphs in the model, want 16": func(m *Model) { m.Graphs = nil },
	} {
		m := smallModel(t)
		change(m)
		path := filepath.Join(t.TempDir(), "model.mlg")
		if err := Write(t.Context(), path, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: there is a file", want)
		}
	}
	if err := Write(t.Context(), filepath.Join(t.TempDir(), "m.gz"), smallModel(t)); err == nil || !strings.Contains(err.Error(), "without .gz") {
		t.Errorf("error %v", err)
	}
}

// The fingerprint is that of the kernels, and of nothing else.
func TestFingerprint(t *testing.T) {
	print := func(m *Model) string {
		f, err := m.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", f)
	}
	m := smallModel(t)
	first := print(m)
	m.Created["x"], m.Learner, m.Nearest = "y", learn.Learner{}, nil
	if print(m) != first {
		t.Error("it depends on more than the kernels")
	}
	if print(fitted(t, drugs(t).Graphs[:16], small(), small())) == first {
		t.Error("it does not depend on the weights")
	}
	o := small()
	o.Seed = 1
	if print(fitted(t, drugs(t).Graphs[:16], o)) == first {
		t.Error("it does not depend on the kernel")
	}
}
