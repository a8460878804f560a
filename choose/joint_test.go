package choose

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// labelledRings returns cycles and paths of some sizes with labels, all at random.
func labelledRings(n int) *dataset.Dataset {
	r, d := graphtest.Rand(5), &dataset.Dataset{Name: "rings"}
	for i := range n {
		size := 4 + r.IntN(6)
		b := graph.NewBuilder(size)
		for v := range size {
			b.SetLabel(v, []string{"C", "N", "O"}[r.IntN(3)])
			if v > 0 {
				b.AddEdge(v-1, v)
			}
		}
		if r.IntN(2) == 0 {
			b.AddEdge(size-1, 0)
		}
		g, err := b.Build()
		if err != nil {
			panic(err)
		}
		d.Graphs = append(d.Graphs, g.With(fmt.Sprint(i), ""))
	}
	return d
}

// endpointOf returns the endpoint of the graphs for which target returns something.
func endpointOf(d *dataset.Dataset, name string, target func(i int, g *graph.Graph) string) Endpoint {
	e := Endpoint{Name: name, Data: &dataset.Dataset{Name: name}}
	for i, g := range d.Graphs {
		if t := target(i, g); t != "" {
			e.At = append(e.At, i)
			e.Data.Graphs = append(e.Data.Graphs, g.With(g.ID(), t))
		}
	}
	return e
}

func labels(g *graph.Graph, label string) (n int) {
	for v := range g.N() {
		if g.Label(v) == label {
			n++
		}
	}
	return n
}

// several returns endpoints of which each lacks some graphs.
func several(d *dataset.Dataset) []Endpoint {
	return []Endpoint{
		endpointOf(d, "nitrogen", func(i int, g *graph.Graph) string {
			if i%5 == 0 {
				return ""
			}
			return fmt.Sprint(labels(g, "N") > 2)
		}),
		endpointOf(d, "oxygen", func(i int, g *graph.Graph) string {
			if i%7 == 0 {
				return ""
			}
			return fmt.Sprint(labels(g, "O") > 1)
		}),
		endpointOf(d, "balance", func(i int, g *graph.Graph) string {
			if i%4 == 0 {
				return ""
			}
			return fmt.Sprintf("%.3f", float64(labels(g, "N")-labels(g, "O"))/float64(g.N())+0.001*float64(i%3))
		}),
	}
}

func plansOf(t *testing.T, d *dataset.Dataset, endpoints []Endpoint, candidates []Candidate, o Options) []*Plan {
	t.Helper()
	var out []*Plan
	err := ChooseAll(t.Context(), Untargeted(d), endpoints, candidates, o, func(i int, p *Plan) error {
		if i != len(out) {
			t.Errorf("plan %d after %d", i, len(out))
		}
		out = append(out, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ringCandidates() []Candidate {
	wl := classic.DefaultWL()
	wl.H = 1
	return Each(classic.DefaultHistogram(), wl, classic.DefaultShortestPath(), classic.DefaultGraphlet())
}

// literalProduct returns the smallest e·r of ridge regressions on a kernel matrix, where every example is predicted from
// the others by a training without it. e is the squared error and r the share of wrong classes.
func literalProduct(t *testing.T, gram *kernel.Matrix, targets *Targets, ridges []float64) float64 {
	t.Helper()
	n := gram.Rows
	least, squared := 0.0, math.Inf(1)
	for _, ridge := range ridges {
		sum, wrong := 0.0, 0.0
		for i := range n {
			var rest []int
			for j := range n {
				if j != i {
					rest = append(rest, j)
				}
			}
			o := learn.DefaultOptions()
			o.Kind, o.Ridge = learn.KernelRidge, ridge
			l, err := learn.Train(t.Context(), learn.Full(gram).Select(rest, rest), learn.Targets{Labels: Pick(targets.Labels, rest), Values: Pick(targets.Values, rest)}, o)
			if err != nil {
				t.Fatal(err)
			}
			said, err := l.Values(learn.Full(gram).Select([]int{i}, rest))
			if err != nil {
				t.Fatal(err)
			}
			if targets.Regression() {
				sum += math.Pow(said.Data[0]-targets.Values[i], 2)
				continue
			}
			for c, v := range said.Row(0) {
				z := -1.0
				if targets.Labels[i] == c {
					z = 1
				}
				sum += (z - v) * (z - v)
			}
			if l.Class(said.Row(0)) != targets.Labels[i] {
				wrong++
			}
		}
		r := 1.0
		if !targets.Regression() {
			r = (wrong + 1) / float64(n+1)
		}
		if sum /= float64(n); sum < squared {
			squared, least = sum, sum*r
		}
	}
	return least
}

// Weights that endpoints share are those of the geometric means of their errors, with the mean of their exponents.
func TestSharedWeights(t *testing.T) {
	d := labelledRings(40)
	endpoints, candidates := several(d), ringCandidates()
	o := DefaultOptions()
	o.ForCandidates()
	o.Folds, o.Ridge = 4, []float64{0.1, 1}
	plans := plansOf(t, d, endpoints, candidates, o)
	logs, power := make([]float64, len(candidates)), 0.0
	for _, e := range endpoints {
		targets, err := ReadTargets(e.Data, AutoTask)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range candidates {
			gram, err := kernel.NewCollection(Untargeted(d)).Gram(t.Context(), c.Settings[0].Kernel)
			if err != nil {
				t.Fatal(err)
			}
			logs[k] += math.Log(literalProduct(t, gram.Select(e.At, e.At), targets, o.Ridge)) / 3
		}
		if targets.Regression() {
			power += float64(len(e.At)) / valueScale / 3
		} else {
			power += max(leastPower, float64(len(e.At))/classScale) / 3
		}
	}
	want, sum := make([]float64, len(logs)), 0.0
	for k, l := range logs {
		if want[k] = math.Exp(-power * (l - slices.Min(logs))); want[k] < leastWeight {
			want[k] = 0
		}
		sum += want[k]
	}
	shared := 0
	for i, p := range plans {
		if !p.Shared {
			continue
		}
		shared++
		got := make([]float64, len(want))
		for _, s := range p.Settings {
			got[slices.IndexFunc(candidates, func(c Candidate) bool { return c.Name == s.Candidate })] = s.Weight
		}
		for k, w := range want {
			near(t, fmt.Sprintf("endpoint %d, weight of %s", i, candidates[k].Name), got[k], w/sum, 1e-6)
		}
	}
	if shared < 2 {
		t.Errorf("%d endpoints share weights, want two at least", shared)
	}
}

// An endpoint that needs another kernel than the others has its own weights.
func TestOwnWeights(t *testing.T) {
	d := labelledRings(120)
	endpoints := several(d)
	endpoints = append(endpoints, endpointOf(d, "ring", func(_ int, g *graph.Graph) string {
		return fmt.Sprint(g.M() == g.N())
	}))
	structure := classic.DefaultGraphlet()
	sp := classic.DefaultShortestPath()
	sp.Labels = classic.Unlabeled
	o := DefaultOptions()
	o.ForCandidates()
	o.Folds, o.Ridge = 4, []float64{0.01, 0.1, 1}
	plans := plansOf(t, d, endpoints, Each(classic.DefaultHistogram(), structure, sp), o)
	for i, p := range plans {
		if own := i == len(plans)-1; p.Shared == own {
			t.Errorf("%s: shared %t, kernels %v", endpoints[i].Name, p.Shared, p.Settings)
		}
	}
}

// Endpoints that share a matrix learn the same bits from it as from matrices of their own: by a factorisation, by
// conjugate gradients and on centres.
func TestSharedMatrix(t *testing.T) {
	defer func(n int) { mostFactorised = n }(mostFactorised)
	d := labelledRings(600)
	endpoints, one := several(d), ringCandidates()[1:2]
	for _, x := range []struct {
		most   int
		memory int64
	}{{4096, 1 << 40}, {200, 1 << 40}, {200, 1 << 20}} {
		o := DefaultOptions()
		o.Folds, o.Ridge, o.Examples, o.Memory = 4, []float64{0.1, 1}, 300, x.memory
		mostFactorised = x.most
		together := plansOf(t, d, endpoints, one, o)
		o.Examples = o.examples(len(endpoints))
		if o.Examples != leastExamples {
			t.Errorf("%d examples", o.Examples)
		}
		for i := range endpoints {
			alone := plansOf(t, d, endpoints[i:i+1], one, o)[0]
			if !reflect.DeepEqual(alone.learner, together[i].learner) || !reflect.DeepEqual(alone.Held, together[i].Held) ||
				!reflect.DeepEqual(alone.Estimates(), together[i].Estimates()) {
				t.Errorf("%v, endpoint %d: %v, want %v", x, i, together[i].Estimates(), alone.Estimates())
			}
		}
	}
}

// What endpoints are wrong about is said with their name.
func TestWrongEndpoints(t *testing.T) {
	d := labelledRings(20)
	endpoints := several(d)
	endpoints[1].Data.Graphs = endpoints[1].Data.Graphs[:3]
	o := DefaultOptions()
	err := ChooseAll(t.Context(), Untargeted(d), endpoints, ringCandidates(), o, nil)
	if want := "oxygen: 3 graphs with targets at 17 of 20 positions"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	endpoints = several(d)
	for i, g := range endpoints[0].Data.Graphs {
		endpoints[0].Data.Graphs[i] = g.With("", "same")
	}
	err = ChooseAll(t.Context(), Untargeted(d), endpoints, ringCandidates(), o, nil)
	if want := `nitrogen: all graphs have the target "same", want at least two classes`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
