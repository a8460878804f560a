package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// candidates has kernels of every form that the default candidates have, small ones.
func candidates(t testing.TB, attributes bool) []choose.Candidate {
	t.Helper()
	oa := classic.DefaultWL()
	oa.Variant, oa.H = classic.Assignment, 3
	other := small()
	other.Seed++
	list := map[string]kernel.Kernel{"mlg": small(), "mlg × wl-oa": kernel.Product(small(), oa), "wl-oa": oa,
		"edges": kernel.Product(kernel.Subdivided(kernel.Mean(small(), classic.DefaultWL())), oa),
		"sp":    classic.DefaultShortestPath(), "seeds": kernel.Mean(small(), other)}
	if attributes {
		k := small()
		k.Base = "gaussian"
		list["attributes"] = kernel.Standardized(k)
	}
	var out []choose.Candidate
	for _, name := range []string{"mlg", "mlg × wl-oa", "wl-oa", "sp", "seeds", "edges", "attributes"} {
		if k := list[name]; k != nil {
			out = append(out, choose.Candidate{Name: name, Settings: []choose.Setting{{Parameters: k.String(), Kernel: k}}})
		}
	}
	return out
}

// targeted returns the graphs with targets.
func targeted(graphs []*graph.Graph, target func(i int) string) *dataset.Dataset {
	d := &dataset.Dataset{Name: "test"}
	for i, g := range graphs {
		d.Graphs = append(d.Graphs, g.With(fmt.Sprint("g", i), target(i)))
	}
	return d
}

// What every combination chooses can be trained, stored and read, and its Gram matrix is the
// weighted sum of those that were chosen from.
func TestTrain(t *testing.T) {
	d := drugs(t)
	two := targeted(d.Graphs[:60], func(i int) string { return fmt.Sprint(d.Graphs[i].Target() > "c") })
	r := graphtest.Rand(1)
	var attributed []*graph.Graph
	for range 30 {
		attributed = append(attributed, graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.4, Labels: 2, Dim: 3}))
	}
	value := targeted(attributed, func(i int) string { return fmt.Sprint(0.5 + float64(attributed[i].M())) })
	for _, c := range []choose.Combination{choose.BestSingle, choose.MeanAll, choose.Weighted} {
		for _, ds := range []*dataset.Dataset{two, value} {
			t.Run(fmt.Sprint(c, " ", len(ds.Graphs)), func(t *testing.T) {
				o := DefaultLearnOptions()
				o.ForSVM()
				o.Folds, o.C, o.Combinations, o.Reader = 4, []float64{0.1, 10}, []choose.Combination{c}, reader()
				if ds == value {
					o.Task = choose.Regression
				}
				m, plan, err := Learn(t.Context(), ds, candidates(t, ds == value), o)
				if err != nil {
					t.Fatal(err)
				}
				roundTrip(t, m, ds.Graphs[:5])
				want := kernel.NewMatrix(len(ds.Graphs), len(ds.Graphs))
				for _, s := range plan.Settings {
					f, err := s.Kernel.Fit(t.Context(), ds.Graphs)
					if err != nil {
						t.Fatal(err)
					}
					k, err := f.Gram(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range k.Data {
						want.Data[i] += s.Weight * v
					}
				}
				got, err := m.Kernel.Gram(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range want.Data {
					if math.Abs(got.Data[i]-v) > 1e-14 {
						t.Fatalf("kernel value %d is %v, want %v", i, got.Data[i], v)
					}
				}
				if len(m.Estimates) != 2 || m.Estimates[1].Groups == "" || m.Estimates[0].Value != plan.Estimate.Value || m.Created["C"] == "" {
					t.Errorf("estimates %v, created %v", m.Estimates, m.Created)
				}
			})
		}
	}
}

// Regression is learned in standard deviations and said in the units of the targets.
func TestTrainValues(t *testing.T) {
	d := drugs(t)
	ds := targeted(d.Graphs[:40], func(i int) string { return fmt.Sprint(1000 + 3*float64(d.Graphs[i].N())) })
	for _, learner := range []learn.Kind{learn.SVM, learn.KernelRidge} {
		o := DefaultLearnOptions()
		o.ForSVM()
		o.Folds, o.C, o.Ridge, o.Task, o.Learner, o.Epsilon = 4, []float64{1000}, []float64{1e-3}, choose.Regression, learner, 0.01
		m, plan, err := Learn(t.Context(), ds, candidates(t, false)[:1], o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), ds.Graphs[:10], PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		gram, err := m.Kernel.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		z, mean, scale := learn.StandardScores(plan.Values, nil)
		opt := learn.DefaultOptions()
		opt.C, opt.Epsilon, opt.Ridge = 1000, 0.01, 1e-3
		if learner == learn.KernelRidge {
			opt.Kind = learn.KernelRidge
		}
		l, err := learn.Train(t.Context(), learn.Full(gram), learn.Targets{Values: z}, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, err := l.Values(learn.Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		for i := range p {
			if w := mean + scale*want.Data[i]; math.Abs(p[i].Value-w) > 1e-9*math.Abs(w) {
				t.Errorf("%s: value %v, want %v", learner, p[i].Value, w)
			}
		}
	}
}

// The same data gives the same bytes; what cannot be kept is refused.
func TestTrainDeterministicAndRefuses(t *testing.T) {
	d := drugs(t)
	ds := targeted(d.Graphs[:30], func(i int) string { return fmt.Sprint(i % 2) })
	o := DefaultLearnOptions()
	o.Folds = 3
	var first []byte
	for range 2 {
		m, _, err := Learn(t.Context(), ds, candidates(t, false), o)
		if err != nil {
			t.Fatal(err)
		}
		if b := encoded(t, m); first == nil {
			first = b
		} else if !bytes.Equal(first, b) {
			t.Error("another file the second time")
		}
	}
	gmean := small()
	gmean.Combine = mlg.GeometricMean
	if _, _, err := Learn(t.Context(), ds, choose.Each(gmean), o); err == nil || !strings.Contains(err.Error(), "not positive semi-definite") {
		t.Errorf("error %v", err)
	}
}

// Whatever is chosen from the default candidates can be stored.
func TestDefaultCandidatesCanBeStored(t *testing.T) {
	r := graphtest.Rand(1)
	for _, dim := range []int{0, 2} {
		var graphs []*graph.Graph
		for range 6 {
			graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.4, Labels: 2, Dim: dim}))
		}
		ds := targeted(graphs, func(i int) string { return fmt.Sprint(i % 2) })
		var all []kernel.Kernel
		for _, c := range choose.DefaultCandidates(dataset.Info(ds)) {
			for _, s := range c.Settings {
				all = append(all, s.Kernel)
			}
		}
		o := DefaultLearnOptions()
		o.Ridge, o.Unscored = []float64{1}, true
		m, _, err := Learn(t.Context(), ds, choose.Each(kernel.Mean(all...)), o)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, m, graphs[:2])
	}
}

// Molecules with a scaffold that no training molecule has get deviations that are Wider.
func TestDeviationsOfNewScaffolds(t *testing.T) {
	d := drugs(t)
	ds := targeted(d.Graphs[:60], func(i int) string { return fmt.Sprint(3*float64(d.Graphs[i].N()) + float64(i%7)) })
	o := DefaultLearnOptions()
	o.Task = choose.Regression
	m, _, err := Learn(t.Context(), ds, candidates(t, false)[2:3], o)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := chem.Scaffolds(d.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	wide := func(wider float64) []float64 {
		m.Learner.Process.Wider = wider
		return deviations(t, m, d.Graphs)
	}
	one, two := wide(1), wide(2)
	known := 0
	for i := range d.Graphs {
		want := 2.0
		if slices.Contains(numbers[:60], numbers[i]) {
			want = 1
			known++
		}
		if math.Abs(two[i]/one[i]-want) > 1e-12 {
			t.Errorf("molecule %d: deviation %v times as wide, want %v", i, two[i]/one[i], want)
		}
	}
	if known < 61 || known == len(d.Graphs) {
		t.Errorf("%d of %d scaffolds are known", known, len(d.Graphs))
	}
	delete(m.Created, "groups") // nothing says that groups are scaffolds
	if d := wide(2); !slices.Equal(d, one) {
		t.Error("deviations are wider without scaffolds")
	}
	// A ridge that is given and not scored gives the same intervals.
	o.Ridge, o.Unscored = []float64{0.3}, true
	fixed, _, err := Learn(t.Context(), ds, candidates(t, false)[2:3], o)
	if err != nil {
		t.Fatal(err)
	}
	if fixed.Created["groups"] != choose.ByScaffold {
		t.Errorf("the model says %v, want its groups", fixed.Created)
	}
}

// A fitted model learns from those graphs of a sample that have targets, as from them alone.
func TestLearnFitted(t *testing.T) {
	d := drugs(t)
	ds := targeted(d.Graphs[:80], func(i int) string {
		if i%4 == 3 {
			return ""
		}
		return fmt.Sprint(d.Graphs[i].N() / 12)
	})
	m, err := New(t.Context(), ds.Graphs, small())
	if err != nil {
		t.Fatal(err)
	}
	var sample, want []int
	for i := range ds.Graphs {
		if i%5 > 0 {
			if sample = append(sample, i); i%4 < 3 {
				want = append(want, i)
			}
		}
	}
	all, err := m.Kernel.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultLearnOptions()
	o.Task = choose.Classification
	learned, plan, known, err := m.Learn(t.Context(), all.Select(sample, sample), sample, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(known, want) || len(plan.Held.Labels) != len(want) || m.Task() != SearchOnly || learned.Validate() != nil {
		t.Fatalf("learned from %v, want %v; %v", known, want, learned.Validate())
	}
	opt := learn.DefaultOptions()
	opt.Kind, opt.Ridge, opt.Probability = learn.KernelRidge, plan.Parameter, true
	l, err := learn.Train(t.Context(), learn.Full(all).Select(want, want), learn.Targets{Labels: plan.Labels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	values, err := l.Values(learn.Full(all).Select(nil, want))
	if err != nil {
		t.Fatal(err)
	}
	said, err := learned.PredictCross(t.Context(), ds.Graphs, nil, all, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range said {
		close(t, fmt.Sprintf("probabilities of graph %d", i), p.Probability, l.Probability(values.Row(i)))
		close(t, fmt.Sprintf("decision of graph %d", i), p.Decision, l.Decision(values.Row(i)))
	}
	if _, _, _, err := m.Learn(t.Context(), all.Select([]int{3, 7, 8}, []int{3, 7, 8}), []int{3, 7, 8}, o); !errors.Is(err, ErrNoTargets) {
		t.Errorf("one graph with a target: error %v", err)
	}
}

// raw is a Spy that does not say that it is normalised.
type raw struct {
	*kerneltest.Spy `json:"-"`
	Normalize       bool `json:"normalize"`
}

// The features of new graphs are computed once, also where deviations need the kernel of each with itself.
func TestTransformedOnce(t *testing.T) {
	d := drugs(t)
	ds := targeted(d.Graphs[:30], func(i int) string { return fmt.Sprint(3*float64(d.Graphs[i].N()) + float64(i%7)) })
	o := DefaultLearnOptions()
	o.Task = choose.Regression
	spy := &kerneltest.Spy{Scale: 5}
	m, _, err := Learn(t.Context(), ds, choose.Each(raw{Spy: spy}), o)
	if err != nil {
		t.Fatal(err)
	}
	deviations(t, m, d.Graphs[30:40])
	if len(spy.Cross) != 1 {
		t.Errorf("10 new graphs were transformed %d times, want once", len(spy.Cross))
	}
}
