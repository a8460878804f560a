package nystrom

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: 2 + r.IntN(12), Edge: 0.3, Labels: 4})
	}
	return out
}

// space is a kernel with the features of the graphs that it is fitted to.
type space struct {
	*kernel.FittedSum
	train kernel.Features
}

// newSpace fits a kernel with the given weights, one term each.
func newSpace(t testing.TB, gs []*graph.Graph, weights ...float64) space {
	t.Helper()
	var kernels []kernel.Kernel
	for i := range weights {
		k := mlg.Default()
		k.Base, k.Rank, k.Samples, k.Seed = "labels", 5, 40, uint64(i)
		kernels = append(kernels, k)
	}
	return fitted(t, gs, kernel.Weighted(weights, kernels))
}

func fitted(t testing.TB, gs []*graph.Graph, k kernel.Kernel) space {
	t.Helper()
	sum, err := kernel.NewCollection(gs).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	train, err := sum.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return space{sum, train}
}

// embed chooses landmarks among the training graphs.
func (s space) embed(ctx context.Context, o Options) (*Embedding, error) {
	e, _, err := Fit(ctx, s.FittedSum, s.train, o)
	return e, err
}

func compare(t testing.TB, s space, a, b kernel.Features) *mat.Dense {
	t.Helper()
	k, err := kernel.Between(t.Context(), s, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return mat.NewDense(k.Rows, k.Cols, k.Data)
}

// The inner products are those of the definition, k_Z(G)ᵀ K⁻¹ k_Z(H), and greedy landmarks
// those with the largest residuals.
func TestDefinition(t *testing.T) {
	graphtest.Slow(t)
	gs := graphs(60, 1)
	wl := classic.DefaultWL()
	wl.Normalize = false // kernel values differ in size
	for i, s := range []space{newSpace(t, gs, 1), newSpace(t, gs, 0.25), newSpace(t, gs, 2, 0.5), newSpace(t, gs, 1), fitted(t, gs, classic.DefaultWL()), fitted(t, gs, wl)} {
		tolerance := 1e-9
		if i == 5 {
			tolerance = 1e-6
		}
		train := s.train
		o := Options{Dim: 12, Pivots: Greedy}
		if i == 3 {
			o.Pivots = Random
		}
		e, err := s.embed(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if e.Dim() != 12 {
			t.Fatalf("%d dimensions, want 12", e.Dim())
		}
		queries, err := s.Transform(t.Context(), graphs(30, 2))
		if err != nil {
			t.Fatal(err)
		}
		all := s.Join(train, queries)
		full := compare(t, s, all, all)
		for step, p := range e.Landmarks {
			if step > 0 {
				// The residuals of all candidates under the landmarks so far.
				k := approximation(t, s, train.Select(e.Landmarks[:step]), train)
				best := 0.0
				for i := range len(gs) {
					best = max(best, full.At(i, i)-k.At(i, i))
				}
				if r := full.At(p, p) - k.At(p, p); r < best-tolerance && o.Pivots == Greedy {
					t.Errorf("landmark %d has residual %v, the largest is %v", step, r, best)
				}
			}
		}
		want := approximation(t, s, train.Select(e.Landmarks), all)
		vectors, err := e.Transform(work.WithWorkers(t.Context(), 3), all)
		if err != nil {
			t.Fatal(err)
		}
		n := full.RawMatrix().Rows
		x := mat.NewDense(n, 12, vectors)
		var got mat.Dense
		got.Mul(x, x.T())
		for i := range n {
			for j := range n {
				if d := math.Abs(got.At(i, j) - want.At(i, j)); d > tolerance {
					t.Fatalf("inner product of %d and %d is %v, want %v", i, j, got.At(i, j), want.At(i, j))
				}
				// Cauchy-Schwarz.
				ri, rj := full.At(i, i)-got.At(i, i), full.At(j, j)-got.At(j, j)
				if d := math.Abs(got.At(i, j) - full.At(i, j)); d > math.Sqrt(max(ri, 0)*max(rj, 0))+1e-7 {
					t.Fatalf("the error of %d and %d is %v, the residuals are %v and %v", i, j, d, ri, rj)
				}
			}
		}
		for _, p := range e.Landmarks { // exact with a landmark
			for j := range n {
				if d := math.Abs(got.At(p, j) - full.At(p, j)); d > tolerance {
					t.Errorf("the kernel of landmark %d and graph %d is off by %v", p, j, d)
				}
			}
		}
		for i, r := range e.Residual {
			if want := full.At(i, i) - got.At(i, i); math.Abs(r-want) > tolerance {
				t.Errorf("residual %d is %v, want %v", i, r, want)
			}
		}
	}
}

// approximation returns k_Zᵀ K⁻¹ k_Z for all pairs of graphs, by gonum.
func approximation(t testing.TB, s space, marks, all kernel.Features) *mat.Dense {
	t.Helper()
	k := compare(t, s, marks, marks)
	d, _ := k.Dims()
	cross := compare(t, s, marks, all)
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(d, k.RawMatrix().Data)) {
		t.Fatal("the landmarks are dependent")
	}
	var solved, out mat.Dense
	if err := c.SolveTo(&solved, cross); err != nil {
		t.Fatal(err)
	}
	out.Mul(cross.T(), &solved)
	return &out
}

// With every graph as landmark the vectors give the kernel; equal graphs give no new dimension.
func TestComplete(t *testing.T) {
	gs := graphs(40, 3)
	gs = append(gs, gs[:15]...)
	s := newSpace(t, gs, 1)
	train := s.train
	e, err := s.embed(work.WithWorkers(t.Context(), 2), Options{Dim: 1000, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if e.Dim() > 40 {
		t.Errorf("%d dimensions of 40 different graphs", e.Dim())
	}
	vectors, err := e.Transform(work.WithWorkers(t.Context(), 1), train)
	if err != nil {
		t.Fatal(err)
	}
	m := e.NewMonitor(1)
	if err := m.Add(t.Context(), train, vectors); err != nil {
		t.Fatal(err)
	}
	got, err := m.Residuals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Graphs != 55 || got.Pairs != 55*54/2 || got.MaxError > 1e-7 || got.MaxResidual > 1e-7 {
		t.Errorf("%+v, want no error", got)
	}
}

// The first coordinates are the vectors of a smaller dimension. Vectors have the same bits in
// any company and for any number of workers.
func TestSameBits(t *testing.T) {
	gs := graphs(300, 4)
	s := newSpace(t, gs, 1)
	train := s.train
	large, err := s.embed(work.WithWorkers(t.Context(), 1), Options{Dim: 9, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	small, err := s.embed(work.WithWorkers(t.Context(), 3), Options{Dim: 4, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(small.Landmarks, large.Landmarks[:4]) {
		t.Errorf("landmarks %v and %v", small.Landmarks, large.Landmarks)
	}
	a, err := large.Transform(work.WithWorkers(t.Context(), 3), train)
	if err != nil {
		t.Fatal(err)
	}
	b, err := small.Transform(work.WithWorkers(t.Context(), 1), train)
	if err != nil {
		t.Fatal(err)
	}
	for i := range gs {
		if !slices.Equal(a[i*9:i*9+4], b[i*4:i*4+4]) {
			t.Fatalf("graph %d: %v and %v", i, a[i*9:i*9+9], b[i*4:i*4+4])
		}
		if i%37 == 0 {
			one, err := large.Transform(work.WithWorkers(t.Context(), 2), kernel.Range(train, i, i+1))
			if err != nil || !slices.Equal(one, a[i*9:i*9+9]) {
				t.Fatalf("graph %d alone: %v, error %v; want %v", i, one, err, a[i*9:i*9+9])
			}
		}
	}
}

// The monitor reports what the definitions of its numbers give, also in parts, and for kernels whose
// values differ in size.
func TestMonitor(t *testing.T) {
	gs := graphs(120, 5)
	wl := classic.DefaultWL()
	wl.Normalize = false
	for _, s := range []space{newSpace(t, gs, 2), fitted(t, gs, wl)} {
		train := s.train
		e, err := s.embed(work.WithWorkers(t.Context(), 1), Options{Dim: 5, Pivots: Random})
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := e.Transform(work.WithWorkers(t.Context(), 1), train)
		if err != nil {
			t.Fatal(err)
		}
		m := e.NewMonitor(1)
		for lo := 0; lo < 120; lo += 50 {
			hi := min(lo+50, 120)
			if err := m.Add(t.Context(), kernel.Range(train, lo, hi), vectors[lo*5:hi*5]); err != nil {
				t.Fatal(err)
			}
		}
		got, err := m.Residuals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		k := compare(t, s, train, train)
		x := mat.NewDense(120, 5, vectors)
		var approx mat.Dense
		approx.Mul(x, x.T())
		want := Residuals{Graphs: 120, Pairs: 120 * 119 / 2}
		lost, trace := 0.0, 0.0
		for i := range 120 {
			r := k.At(i, i) - approx.At(i, i)
			lost, trace = lost+r, trace+k.At(i, i)
			want.MaxResidual = max(want.MaxResidual, r/k.At(i, i))
			for j := range i {
				d := math.Abs(k.At(i, j)-approx.At(i, j)) / math.Sqrt(k.At(i, i)*k.At(j, j))
				want.RMSError += d * d / float64(want.Pairs)
				want.MaxError = max(want.MaxError, d)
			}
		}
		want.MeanResidual, want.RMSError = lost/trace, math.Sqrt(want.RMSError)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if got.Graphs != want.Graphs || got.Pairs != want.Pairs || !near(got.MeanResidual, want.MeanResidual) || !near(got.MaxResidual, want.MaxResidual) ||
			!near(got.RMSError, want.RMSError) || !near(got.MaxError, want.MaxError) {
			t.Errorf("%+v, want %+v", got, want)
		}
		for range 10 { // more than the sample
			if err := m.Add(t.Context(), train, vectors); err != nil {
				t.Fatal(err)
			}
		}
		if got, err = m.Residuals(t.Context()); err != nil || got.Graphs != 1320 || got.Pairs != sampled*(sampled-1)/2 || !near(got.MeanResidual, want.MeanResidual) {
			t.Errorf("%+v, error %v", got, err)
		}
		// The sample has each graph with its own vector.
		if again, err := e.Transform(t.Context(), m.features); err != nil || !slices.Equal(again, m.vectors) {
			t.Errorf("graphs of the sample and their vectors do not belong together; error %v", err)
		}
		if empty, err := e.NewMonitor(1).Residuals(t.Context()); err != nil || empty != (Residuals{}) {
			t.Errorf("%+v, error %v", empty, err)
		}
	}
}

// Candidates are drawn in proportion to their residuals.
func TestDraw(t *testing.T) {
	b := &basis{Residual: []float64{0, 1, 1e-20, 3, -1e-9, 4}}
	r := graphtest.Rand(1)
	var count [6]int
	const n = 80000
	for range n {
		count[b.draw(r, 1e-15)]++
	}
	for i, want := range []float64{0, 1. / 8, 0, 3. / 8, 0, 4. / 8} {
		// Five standard deviations of a share.
		if got := float64(count[i]) / n; math.Abs(got-want) > 5*math.Sqrt(0.25/n) || want == 0 && got > 0 {
			t.Errorf("candidate %d: share %v, want %v", i, got, want)
		}
	}
}

// Any kernel that is not normalised, by its rows: the vectors of the candidates are those that
// their rows give, and the choice ends at the tolerance.
func TestChoose(t *testing.T) {
	const n, rank = 300, 7
	r := graphtest.Rand(3)
	features := mat.NewDense(n, rank, nil)
	for i := range n {
		for j := range rank {
			features.Set(i, j, r.NormFloat64()/float64(1+j*j))
		}
	}
	var k mat.Dense
	k.Mul(features, features.T())
	gram := &kernel.Matrix{Rows: n, Cols: n, Data: k.RawMatrix().Data}
	self := make([]float64, n)
	for i := range self {
		self[i] = gram.At(i, i)
	}
	row := func(p int, dst []float64) error { copy(dst, gram.Row(p)); return nil }
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	last := rank + 1
	for _, tolerance := range []float64{0, 1e-6, 0.01, 0.5} {
		for _, pivots := range []Pivots{Random, Greedy} {
			b, x, err := choose(t.Context(), self, row, Options{Dim: 100, Tolerance: tolerance, Pivots: pivots})
			if err != nil {
				t.Fatal(err)
			}
			if pivots == Greedy && (b.Dim() > rank || b.Dim() > last || tolerance == 0 && b.Dim() < rank) {
				t.Errorf("tolerance %v: %d dimensions", tolerance, b.Dim())
			}
			if pivots == Greedy {
				last = b.Dim()
			}
			if most := slices.Max(b.Residual); most > max(tolerance, 1e-13)*slices.Max(self) {
				t.Errorf("tolerance %v: residual %v", tolerance, most)
			}
			again := gram.Select(all, b.Landmarks)
			b.solve(again.Data)
			for i, v := range x.Data {
				if math.Abs(v-again.Data[i]) > 1e-7 {
					t.Fatalf("number %d is %v in one way and %v in another", i, v, again.Data[i])
				}
			}
		}
	}
	broken := errors.New("broken")
	if _, _, err := choose(t.Context(), self, func(int, []float64) error { return broken }, Options{Dim: 3, Pivots: Random}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, _, err := choose(t.Context(), nil, row, Options{Dim: 3, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "no graphs") {
		t.Errorf("error %v", err)
	}
	if b, x, err := choose(t.Context(), make([]float64, 5), row, Options{Dim: 3, Pivots: Random}); err != nil || b.Dim() != 0 || x.Rows != 5 {
		t.Errorf("a kernel that is 0: %v, %v, error %v", b, x, err)
	}
}

func TestMistakes(t *testing.T) {
	s := newSpace(t, graphs(5, 6), 1)
	if _, err := s.embed(t.Context(), Options{Dim: 0, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "Dim = 0, want at least 1") {
		t.Errorf("error %v", err)
	}
	if _, err := s.embed(t.Context(), Options{Dim: 1, Pivots: "none"}); err == nil || !strings.Contains(err.Error(), `Pivots = "none", want random or greedy`) {
		t.Errorf("error %v", err)
	}
	if _, err := newSpace(t, []*graph.Graph{}, 1).embed(t.Context(), Options{Dim: 3, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "no graphs") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.embed(ctx, Options{Dim: 3, Pivots: Random}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	e, err := s.embed(t.Context(), Options{Dim: 3, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Transform(ctx, s.train); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkTransform(b *testing.B) {
	gs := graphs(400, 1)
	s := newSpace(b, gs, 1)
	train := s.train
	e, err := s.embed(b.Context(), Options{Dim: 256, Pivots: Random})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Transform(work.WithWorkers(b.Context(), 1), train); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/400, "ns/graph")
}

func BenchmarkFit(b *testing.B) {
	s := newSpace(b, graphs(2000, 1), 1)
	for b.Loop() {
		if _, err := s.embed(work.WithWorkers(b.Context(), 1), Options{Dim: 256, Pivots: Random}); err != nil {
			b.Fatal(err)
		}
	}
}
