package mlg

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Classes returns the number of distinct neighbourhoods at a level, for tests of package mlg_test.
func (e *Exact) Classes(level int) int { return e.levels[level].len() }

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want string
		f    func(o *Kernel)
	}{
		{"eta = 0,", func(o *Kernel) { o.Eta = 0 }},
		{"eta = -1,", func(o *Kernel) { o.Eta = -1 }},
		{"eta = NaN,", func(o *Kernel) { o.Eta = nan }},
		{"eta = +Inf,", func(o *Kernel) { o.Eta = inf }},
		{"gamma = 0,", func(o *Kernel) { o.Gamma = 0 }},
		{"gamma = NaN,", func(o *Kernel) { o.Gamma = nan }},
		{"gamma = +Inf,", func(o *Kernel) { o.Gamma = inf }},
		{"radii = -1,", func(o *Kernel) { o.Radii = []int{-1} }},
		{"radii = 2,1", func(o *Kernel) { o.Radii = []int{2, 1} }},
		{"samples = 0", func(o *Kernel) { o.Samples = 0 }},
		{"rank = 0", func(o *Kernel) { o.Rank = 0 }},
		{"power = 0", func(o *Kernel) { o.Power = 0 }},
		{"pair_rank = -1", func(o *Kernel) { o.PairRank = -1 }},
		{`base = "lable"`, func(o *Kernel) { o.Base = "lable" }},
		{`combine = "best"`, func(o *Kernel) { o.Combine = "best" }},
		{`landmarks = ""`, func(o *Kernel) { o.Landmarks = "" }},
	} {
		o := Default()
		c.f(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if _, err := NewExact(t.Context(), nil, o); err == nil {
			t.Errorf("NewExact accepted what Validate refuses (%s)", c.want)
		}
		if _, err := Fit(t.Context(), nil, o); err == nil {
			t.Errorf("Fit accepted what Validate refuses (%s)", c.want)
		}
	}
}

// Parameters without effect are refused.
func TestIdleParameters(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(o *Kernel)
	}{
		{"pair_rank = 3, want 0, or exact", func(o *Kernel) { o.PairRank = 3 }},
		{"samples = 7, want 100 with exact", func(o *Kernel) { o.Exact, o.Samples = true, 7 }},
		{"rank = 7, want 10 with exact", func(o *Kernel) { o.Exact, o.Rank = true, 7 }},
		{"landmarks = \"classes\", want uniform with exact", func(o *Kernel) { o.Exact, o.Landmarks = true, ByClass }},
		{"seed = 7, want 0 with exact", func(o *Kernel) { o.Exact, o.Seed = true, 7 }},
	} {
		o := Default()
		c.f(&o)
		_, err := o.Fit(t.Context(), []*graph.Graph{graphtest.Path(3)})
		for _, err := range []error{o.Validate(), err} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		}
		o.Exact = !o.Exact
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestFLGRefuses(t *testing.T) {
	g, h := graphtest.Path(3), graphtest.Cycle(3)
	one := func(*graph.Graph, int, *graph.Graph, int) float64 { return 1 }
	for _, c := range []struct {
		name string
		f    func() (float64, error)
		want string
	}{
		{"sizes", func() (float64, error) { return LG(g, graphtest.Path(4), 1, 1) }, "3 and 4 vertices"},
		{"eta 0", func() (float64, error) { return LG(g, h, 0, 1) }, "eta = 0"},
		{"eta NaN", func() (float64, error) { return LG(g, h, math.NaN(), 1) }, "eta = NaN"},
		{"gamma NaN", func() (float64, error) { return LG(g, h, 1, math.NaN()) }, "gamma = NaN"},
		{"gamma -1", func() (float64, error) { return LG(g, h, 1, -1) }, "gamma = -1"},
		{"gamma 0, singular", func() (float64, error) { return FLG(g, kernel.NewMatrix(3, 2), h, kernel.NewMatrix(3, 2), 1, 0) }, "rank 0 of 2"},
		{"gamma 0, kernel", func() (float64, error) { return flgKernel(g, h, one, 1, 0) }, "gamma = 0"},
		{"rows", func() (float64, error) { return FLG(g, kernel.NewMatrix(2, 2), h, kernel.NewMatrix(3, 2), 1, 1) }, "features of 2 and 3 vertices"},
		{"columns", func() (float64, error) { return FLG(g, kernel.NewMatrix(3, 1), h, kernel.NewMatrix(3, 2), 1, 1) }, "1 and 2 dimensions"},
		{"kernel NaN", func() (float64, error) {
			return flgKernel(g, h, func(*graph.Graph, int, *graph.Graph, int) float64 { return math.NaN() }, 1, 1)
		}, "NaN"},
		{"kernel indefinite", func() (float64, error) {
			return flgKernel(g, h, func(*graph.Graph, int, *graph.Graph, int) float64 { return -3 }, 1e-4, 1e-4)
		}, "not positive semi-definite"},
		{"rank", func() (float64, error) { return flgTruncated(g, h, one, 0, 1, 1) }, "rank = 0"},
	} {
		if _, err := c.f(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
	// γ = 0 is allowed for LG, as in the paper: k = |L₁|^¼ |L₂|^¼ / |½(L₁+L₂)|^½ after inversion.
	k, err := LG(g, h, 0.5, 0)
	if err != nil {
		t.Fatal(err)
	}
	l1, l2 := g.Laplacian(0.5, nil), h.Laplacian(0.5, nil)
	mean := make([]float64, 9)
	for i := range mean {
		mean[i] = (l1[i] + l2[i]) / 2
	}
	a, _ := dense.Cholesky(l1, 3)
	b, _ := dense.Cholesky(l2, 3)
	m, _ := dense.Cholesky(mean, 3)
	checkClose(t, "LG with γ = 0", k, math.Exp(a/4+b/4-m/2), 1e-13)
}

func TestFLGTruncated(t *testing.T) {
	gs := smallGraphs()
	l := &literal{graphs: gs, eta: 0.1, gamma: 0.1}
	for _, rank := range []int{1, 2, 100} {
		l.rank = rank
		kappa := func(g *graph.Graph, v int, h *graph.Graph, w int) float64 {
			return dense.Dot(g.Attributes(v), h.Attributes(w)) + labelKernel(g, v, h, w)
		}
		got, err := flgTruncated(gs[0], gs[1], kappa, rank, 0.1, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		want := l.flg(gs[0], gs[1], joint(gs[0], gs[1], func(a, v, b, w int) float64 { return kappa(gs[a], v, gs[b], w) }))
		checkClose(t, "truncated FLG", got, want, 1e-10)
	}
}

// What the paper says of the parameters: γ smooths, the kernel grows with it.
func TestKernelGrowsWithGamma(t *testing.T) {
	gs := smallGraphs()
	var last *kernel.Matrix
	for _, gamma := range []float64{1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100} {
		o := Default()
		o.Radii, o.Gamma, o.Base = nil, gamma, "labels"
		e, err := NewExact(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		k, err := e.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if last != nil {
			for i, v := range k.Data {
				if v < last.Data[i]-1e-12 {
					t.Errorf("γ = %v: k = %v, less than %v at a smaller γ", gamma, v, last.Data[i])
				}
			}
		}
		last = k
	}
}

// Two graphs are compared with the base kernel that was chosen for the collection, not for the two.
func TestExactCompare(t *testing.T) {
	r := graphtest.Rand(1)
	var plain, labelled []*graph.Graph
	for range 4 {
		plain = append(plain, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5}))
		labelled = append(labelled, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Labels: 3}))
	}
	k := Default()
	k.Exact = true
	sum, err := kernel.NewCollection(plain).Sum(k)
	if err != nil {
		t.Fatal(err)
	}
	want, err := sum.Cross(t.Context(), labelled)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range labelled {
		for j, h := range plain {
			if got, err := sum.Compare(t.Context(), g, h); err != nil || math.Abs(got-want.At(i, j)) > 1e-12 {
				t.Errorf("%d and %d: %v, %v, want %v", i, j, got, err, want.At(i, j))
			}
		}
	}
}

// Attributes whose products overflow are refused with a reason.
func TestBaseOverflow(t *testing.T) {
	b := graph.NewBuilder(2)
	b.AddEdge(0, 1)
	for v := range 2 {
		b.SetAttributes(v, slices.Repeat([]float64{1e200}, maxExplicit+1))
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, exact := range []bool{false, true} {
		for _, how := range []Landmarks{Uniform, ByClass, Pivoted} {
			o := Default()
			if o.Base, o.Exact = "attributes", exact; !exact {
				o.Landmarks = how
			}
			f, err := o.Fit(t.Context(), []*graph.Graph{g})
			if err == nil {
				_, err = f.Gram(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), "is +Inf, want a finite number") {
				t.Errorf("exact %v, %s: error %v", exact, how, err)
			}
		}
	}
}

func TestExactMemory(t *testing.T) {
	gs := graphtest.Suite(1)
	o := Default()
	e, err := NewExact(t.Context(), gs, o)
	if err != nil {
		t.Fatal(err)
	}
	small, err := NewExact(work.With(t.Context(), work.Options{Memory: e.Memory() - 1}), gs, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.Gram(t.Context()); err == nil || !strings.Contains(err.Error(), "GB of memory for tables") {
		t.Errorf("Gram beyond its memory: %v", err)
	}
	if _, err := small.MLS(t.Context(), 0, 1); err == nil || !strings.Contains(err.Error(), "GB of memory for tables") {
		t.Errorf("MLS beyond its memory: %v", err)
	}
}

func TestExactProgressAndCancel(t *testing.T) {
	gs := graphtest.Suite(1)
	o := Default()
	var stages []string
	last := map[string]work.Progress{}
	counted := work.With(t.Context(), work.Options{Progress: func(p work.Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
		if p.Done < last[p.Stage].Done || p.Done > p.Total {
			t.Errorf("progress %+v after %+v", p, last[p.Stage])
		}
		last[p.Stage] = p
	}})
	e, err := NewExact(counted, gs, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Gram(counted); err != nil {
		t.Fatal(err)
	}
	want := []string{"vertices", "classes 1/2", "classes 2/2", "pairs 1/2", "pairs 2/2", "graphs"}
	if !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
	for s, p := range last {
		if p.Done != p.Total {
			t.Errorf("stage %s ended at %d of %d", s, p.Done, p.Total)
		}
	}
	// Cancelled in the middle of a stage.
	ctx, cancel := context.WithCancel(t.Context())
	counted = work.With(ctx, work.Options{Progress: func(p work.Progress) {
		if p.Stage == "pairs 2/2" && p.Done > 0 {
			cancel()
		}
	}})
	if _, err := e.Gram(counted); !errors.Is(err, context.Canceled) {
		t.Errorf("Gram after cancel: %v", err)
	}
}

// A kernel that cannot be fitted is nil, also as an interface.
func TestFitError(t *testing.T) {
	for _, exact := range []bool{false, true} {
		k := Default()
		k.Exact, k.Gamma = exact, -1
		if f, err := k.Fit(t.Context(), smallGraphs()); f != nil || err == nil {
			t.Errorf("exact %v: %v, %v, want nil and an error", exact, f, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := Fit(ctx, smallGraphs(), Default()); m != nil || err == nil {
		t.Errorf("%v, %v, want nil and an error", m, err)
	}
}
