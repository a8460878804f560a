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
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: 2 + r.IntN(12), Edge: 0.3, Labels: 4})
	}
	return out
}

// space returns that of a kernel with the given weights, one term each.
func space(t testing.TB, gs []*graph.Graph, weights ...float64) *store.Space {
	t.Helper()
	var kernels []kernel.Kernel
	for i := range weights {
		k := mlg.Default()
		k.Base, k.Rank, k.Samples, k.Seed = "labels", 5, 40, uint64(i)
		kernels = append(kernels, k)
	}
	sum, err := kernel.NewCollection(gs).Fit(t.Context(), kernel.Weighted(weights, kernels))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.NewSpace(&model.Model{Kernel: sum, IDs: make([]string, len(gs))})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func compare(t testing.TB, s *store.Space, a, b []float64) *mat.Dense {
	t.Helper()
	x, errA := s.Block(a)
	y, errB := s.Block(b)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	k := mat.NewDense(x.Len(), y.Len(), nil)
	s.Compare(t.Context(), k.RawMatrix().Data, x, 0, x.Len(), y, 0, y.Len())
	return k
}

// The inner products are those of the definition, k_Z(G)ᵀ K⁻¹ k_Z(H), and greedy landmarks
// those with the largest residuals.
func TestDefinition(t *testing.T) {
	gs := graphs(60, 1)
	for i, weights := range [][]float64{{1}, {0.25}, {2, 0.5}, {1}} {
		s := space(t, gs, weights...)
		train := records(t, s)
		o := Options{Dim: 12, Pivots: Greedy}
		if i == 3 {
			o.Pivots = Random
		}
		e, err := Fit(t.Context(), s, o)
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
		all := append(slices.Clone(train.Data), queries...)
		full := compare(t, s, all, all)
		var marks []float64
		for step, p := range e.Landmarks {
			if step > 0 {
				// The residuals of all candidates under the landmarks so far.
				k := approximation(t, s, marks, train.Data)
				best := 0.0
				for i := range len(gs) {
					best = max(best, s.Self()-k.At(i, i))
				}
				if r := s.Self() - k.At(p, p); r < best-1e-9 && o.Pivots == Greedy {
					t.Errorf("landmark %d has residual %v, the largest is %v", step, r, best)
				}
			}
			marks = append(marks, train.Data[p*s.Size():(p+1)*s.Size()]...)
		}
		want := approximation(t, s, marks, all)
		vectors, err := e.Transform(kernel.WithWorkers(t.Context(), 3), all)
		if err != nil {
			t.Fatal(err)
		}
		n := full.RawMatrix().Rows
		x := mat.NewDense(n, 12, vectors)
		var got mat.Dense
		got.Mul(x, x.T())
		for i := range n {
			for j := range n {
				if d := math.Abs(got.At(i, j) - want.At(i, j)); d > 1e-9 {
					t.Fatalf("inner product of %d and %d is %v, want %v", i, j, got.At(i, j), want.At(i, j))
				}
				// Cauchy-Schwarz.
				ri, rj := s.Self()-got.At(i, i), s.Self()-got.At(j, j)
				if d := math.Abs(got.At(i, j) - full.At(i, j)); d > math.Sqrt(max(ri, 0)*max(rj, 0))+1e-7 {
					t.Fatalf("the error of %d and %d is %v, the residuals are %v and %v", i, j, d, ri, rj)
				}
			}
		}
		for _, p := range e.Landmarks { // exact with a landmark
			for j := range n {
				if d := math.Abs(got.At(p, j) - full.At(p, j)); d > 1e-9 {
					t.Errorf("the kernel of landmark %d and graph %d is off by %v", p, j, d)
				}
			}
		}
		for i, r := range e.Residual {
			if want := s.Self() - got.At(i, i); math.Abs(r-want) > 1e-9 {
				t.Errorf("residual %d is %v, want %v", i, r, want)
			}
		}
	}
}

// approximation returns k_Zᵀ K⁻¹ k_Z for all pairs of records, by gonum.
func approximation(t testing.TB, s *store.Space, marks, records []float64) *mat.Dense {
	t.Helper()
	k := compare(t, s, marks, marks)
	d, _ := k.Dims()
	cross := compare(t, s, marks, records)
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
	s := space(t, gs, 1)
	train := records(t, s)
	e, err := Fit(kernel.WithWorkers(t.Context(), 2), s, Options{Dim: 1000, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if e.Dim() > 40 {
		t.Errorf("%d dimensions of 40 different graphs", e.Dim())
	}
	vectors, err := e.Transform(kernel.WithWorkers(t.Context(), 1), train.Data)
	if err != nil {
		t.Fatal(err)
	}
	m := e.NewMonitor(1)
	m.Add(train.Data, vectors)
	got, err := m.Errors(t.Context())
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
	s := space(t, gs, 1)
	train := records(t, s)
	large, err := Fit(kernel.WithWorkers(t.Context(), 1), s, Options{Dim: 9, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	small, err := Fit(kernel.WithWorkers(t.Context(), 3), s, Options{Dim: 4, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(small.Landmarks, large.Landmarks[:4]) {
		t.Errorf("landmarks %v and %v", small.Landmarks, large.Landmarks)
	}
	a, err := large.Transform(kernel.WithWorkers(t.Context(), 3), train.Data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := small.Transform(kernel.WithWorkers(t.Context(), 1), train.Data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range gs {
		if !slices.Equal(a[i*9:i*9+4], b[i*4:i*4+4]) {
			t.Fatalf("graph %d: %v and %v", i, a[i*9:i*9+9], b[i*4:i*4+4])
		}
		if i%37 == 0 {
			one, err := large.Transform(kernel.WithWorkers(t.Context(), 2), train.Data[i*s.Size():(i+1)*s.Size()])
			if err != nil || !slices.Equal(one, a[i*9:i*9+9]) {
				t.Fatalf("graph %d alone: %v, error %v; want %v", i, one, err, a[i*9:i*9+9])
			}
		}
	}
}

// The monitor reports what the definitions of its numbers give, also in parts.
func TestMonitor(t *testing.T) {
	gs := graphs(120, 5)
	s := space(t, gs, 2)
	train := records(t, s)
	e, err := Fit(kernel.WithWorkers(t.Context(), 1), s, Options{Dim: 5, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Transform(kernel.WithWorkers(t.Context(), 1), train.Data)
	if err != nil {
		t.Fatal(err)
	}
	m := e.NewMonitor(1)
	for lo := 0; lo < 120; lo += 50 {
		hi := min(lo+50, 120)
		m.Add(train.Data[lo*s.Size():hi*s.Size()], vectors[lo*5:hi*5])
	}
	got, err := m.Errors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k := compare(t, s, train.Data, train.Data)
	x := mat.NewDense(120, 5, vectors)
	var approx mat.Dense
	approx.Mul(x, x.T())
	want := Errors{Graphs: 120, Pairs: 120 * 119 / 2}
	for i := range 120 {
		r := 1 - approx.At(i, i)/2
		want.MeanResidual += r / 120
		want.MaxResidual = max(want.MaxResidual, r)
		for j := range i {
			d := math.Abs(k.At(i, j)-approx.At(i, j)) / 2
			want.RMSError += d * d / float64(want.Pairs)
			want.MaxError = max(want.MaxError, d)
		}
	}
	want.RMSError = math.Sqrt(want.RMSError)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if got.Graphs != want.Graphs || got.Pairs != want.Pairs || !near(got.MeanResidual, want.MeanResidual) || !near(got.MaxResidual, want.MaxResidual) ||
		!near(got.RMSError, want.RMSError) || !near(got.MaxError, want.MaxError) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for range 10 { // more than the sample
		m.Add(train.Data, vectors)
	}
	if got, err = m.Errors(t.Context()); err != nil || got.Graphs != 1320 || got.Pairs != sampled*(sampled-1)/2 || !near(got.MeanResidual, want.MeanResidual) {
		t.Errorf("%+v, error %v", got, err)
	}
	if empty, err := e.NewMonitor(1).Errors(t.Context()); err != nil || empty != (Errors{}) {
		t.Errorf("%+v, error %v", empty, err)
	}
}

// Candidates are drawn in proportion to their residuals.
func TestDraw(t *testing.T) {
	b := &Basis{Residual: []float64{0, 1, 1e-20, 3, -1e-9, 4}}
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
	last := rank + 1
	for _, tolerance := range []float64{0, 1e-6, 0.01, 0.5} {
		for _, pivots := range []Pivots{Random, Greedy} {
			b, x, err := Choose(t.Context(), self, row, Options{Dim: 100, Tolerance: tolerance, Pivots: pivots})
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
			again, err := b.Vectors(t.Context(), gram)
			if err != nil || again.Rows != n || again.Cols != b.Dim() {
				t.Fatalf("%d×%d vectors, error %v", again.Rows, again.Cols, err)
			}
			for i, v := range x.Data {
				if math.Abs(v-again.Data[i]) > 1e-7 {
					t.Fatalf("number %d is %v in one way and %v in another", i, v, again.Data[i])
				}
			}
		}
	}
	broken := errors.New("broken")
	if _, _, err := Choose(t.Context(), self, func(int, []float64) error { return broken }, Options{Dim: 3, Pivots: Random}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, _, err := Choose(t.Context(), nil, row, Options{Dim: 3, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "no graphs") {
		t.Errorf("error %v", err)
	}
	if b, x, err := Choose(t.Context(), make([]float64, 5), row, Options{Dim: 3, Pivots: Random}); err != nil || b.Dim() != 0 || x.Rows != 5 {
		t.Errorf("a kernel that is 0: %v, %v, error %v", b, x, err)
	}
}

func TestMistakes(t *testing.T) {
	s := space(t, graphs(5, 6), 1)
	if _, err := Fit(t.Context(), s, Options{Dim: 0, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "Dim = 0, want at least 1") {
		t.Errorf("error %v", err)
	}
	if _, err := Fit(t.Context(), s, Options{Dim: 1, Pivots: "none"}); err == nil || !strings.Contains(err.Error(), `Pivots = "none", want random or greedy`) {
		t.Errorf("error %v", err)
	}
	if _, err := Fit(t.Context(), space(t, []*graph.Graph{}, 1), Options{Dim: 3, Pivots: Random}); err == nil || !strings.Contains(err.Error(), "no graphs") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, s, Options{Dim: 3, Pivots: Random}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	e, err := Fit(t.Context(), s, Options{Dim: 3, Pivots: Random})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Transform(t.Context(), make([]float64, s.Size()+1)); err == nil || !strings.Contains(err.Error(), "multiple of") {
		t.Errorf("error %v", err)
	}
	if _, err := e.Transform(t.Context(), make([]float64, s.Size())); err == nil || !strings.Contains(err.Error(), "diagonal entry") {
		t.Errorf("error %v", err)
	}
	if _, err := e.Transform(ctx, records(t, s).Data); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkTransform(b *testing.B) {
	gs := graphs(400, 1)
	s := space(b, gs, 1)
	train := records(b, s)
	e, err := Fit(b.Context(), s, Options{Dim: 256, Pivots: Random})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Transform(kernel.WithWorkers(b.Context(), 1), train.Data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/400, "ns/graph")
}

func BenchmarkFit(b *testing.B) {
	s := space(b, graphs(2000, 1), 1)
	for b.Loop() {
		if _, err := Fit(kernel.WithWorkers(b.Context(), 1), s, Options{Dim: 256, Pivots: Random}); err != nil {
			b.Fatal(err)
		}
	}
}

// records returns those of the training graphs of a space.
func records(t testing.TB, s *store.Space) store.Memory {
	t.Helper()
	m, err := s.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}
