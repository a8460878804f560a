package embed

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
	m := &model.Model{IDs: make([]string, len(gs))}
	for i, w := range weights {
		o := mlg.DefaultOptions()
		o.Rank, o.Samples, o.Workers, o.Seed = 5, 40, 2, uint64(i)
		fitted, err := mlg.Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		m.Kernels = append(m.Kernels, model.Kernel{Weight: w, Fitted: fitted})
	}
	s, err := store.NewSpace(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kernel(t testing.TB, s *store.Space, a, b []float64) *mat.Dense {
	t.Helper()
	x, errA := s.Block(a)
	y, errB := s.Block(b)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	k := mat.NewDense(x.Len(), y.Len(), nil)
	s.Compare(k.RawMatrix().Data, y.Len(), x, 0, x.Len(), y, 0, y.Len())
	return k
}

// The inner products are those of the definition, k_Z(G)ᵀ K⁻¹ k_Z(H), and greedy landmarks
// those with the largest residuals.
func TestDefinition(t *testing.T) {
	gs := graphs(60, 1)
	for i, weights := range [][]float64{{1}, {0.25}, {2, 0.5}, {1}} {
		s := space(t, gs, weights...)
		train := s.Train()
		o := Options{Dim: 12, Workers: 2, Pivots: Greedy}
		if i == 3 {
			o.Pivots = Random
		}
		e, err := Fit(t.Context(), s, train, o)
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
		full := kernel(t, s, all, all)
		var marks []float64
		for step, p := range e.Landmarks() {
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
		vectors, err := e.Transform(t.Context(), all, 3)
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
		for _, p := range e.Landmarks() { // exact with a landmark
			for j := range n {
				if d := math.Abs(got.At(p, j) - full.At(p, j)); d > 1e-9 {
					t.Errorf("the kernel of landmark %d and graph %d is off by %v", p, j, d)
				}
			}
		}
		sum, largest := 0.0, 0.0
		for i := range len(gs) {
			r := 1 - got.At(i, i)/s.Self()
			sum += r / float64(len(gs))
			largest = max(largest, r)
		}
		if mean, most := e.Residual(); math.Abs(mean-sum) > 1e-9 || math.Abs(most-largest) > 1e-9 {
			t.Errorf("residuals %v and %v, want %v and %v", mean, most, sum, largest)
		}
	}
}

// approximation returns k_Zᵀ K⁻¹ k_Z for all pairs of records, by gonum.
func approximation(t testing.TB, s *store.Space, marks, records []float64) *mat.Dense {
	t.Helper()
	k := kernel(t, s, marks, marks)
	d, _ := k.Dims()
	cross := kernel(t, s, marks, records)
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
	train := s.Train()
	e, err := Fit(t.Context(), s, train, Options{Dim: 1000, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if e.Dim() > 40 {
		t.Errorf("%d dimensions of 40 different graphs", e.Dim())
	}
	vectors, err := e.Transform(t.Context(), train.Data, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := e.NewMonitor(1)
	m.Add(train.Data, vectors)
	got, err := m.Errors()
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
	train := s.Train()
	large, err := Fit(t.Context(), s, train, Options{Dim: 9, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	small, err := Fit(t.Context(), s, train, Options{Dim: 4, Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(small.Landmarks(), large.Landmarks()[:4]) {
		t.Errorf("landmarks %v and %v", small.Landmarks(), large.Landmarks())
	}
	a, err := large.Transform(t.Context(), train.Data, 3)
	if err != nil {
		t.Fatal(err)
	}
	b, err := small.Transform(t.Context(), train.Data, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range gs {
		if !slices.Equal(a[i*9:i*9+4], b[i*4:i*4+4]) {
			t.Fatalf("graph %d: %v and %v", i, a[i*9:i*9+9], b[i*4:i*4+4])
		}
		if i%37 == 0 {
			one, err := large.Transform(t.Context(), train.Data[i*s.Size():(i+1)*s.Size()], 2)
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
	train := s.Train()
	e, err := Fit(t.Context(), s, train, Options{Dim: 5, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Transform(t.Context(), train.Data, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := e.NewMonitor(1)
	for lo := 0; lo < 120; lo += 50 {
		hi := min(lo+50, 120)
		m.Add(train.Data[lo*s.Size():hi*s.Size()], vectors[lo*5:hi*5])
	}
	got, err := m.Errors()
	if err != nil {
		t.Fatal(err)
	}
	k := kernel(t, s, train.Data, train.Data)
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
	if got, err = m.Errors(); err != nil || got.Graphs != 1320 || got.Pairs != sampled*(sampled-1)/2 || !near(got.MeanResidual, want.MeanResidual) {
		t.Errorf("%+v, error %v", got, err)
	}
	if empty, err := e.NewMonitor(1).Errors(); err != nil || empty != (Errors{}) {
		t.Errorf("%+v, error %v", empty, err)
	}
}

// Candidates are drawn in proportion to their residuals.
func TestDraw(t *testing.T) {
	e := &Embedding{residual: []float64{0, 1, 1e-20, 3, -1e-9, 4}}
	r := graphtest.Rand(1)
	var count [6]int
	const n = 80000
	for range n {
		count[e.draw(r, 1e-15)]++
	}
	for i, want := range []float64{0, 1. / 8, 0, 3. / 8, 0, 4. / 8} {
		// Five standard deviations of a share.
		if got := float64(count[i]) / n; math.Abs(got-want) > 5*math.Sqrt(0.25/n) || want == 0 && got > 0 {
			t.Errorf("candidate %d: share %v, want %v", i, got, want)
		}
	}
	for _, p := range []Pivots{Random, Greedy} {
		if got, err := ParsePivots(p.String()); err != nil || got != p {
			t.Errorf("%v comes back as %v, error %v", p, got, err)
		}
	}
	if _, err := ParsePivots("none"); err == nil {
		t.Error("none is a choice of pivots")
	}
}

func TestMistakes(t *testing.T) {
	s := space(t, graphs(5, 6), 1)
	if _, err := Fit(t.Context(), s, s.Train(), Options{Dim: 0, Workers: 1}); err == nil || !strings.Contains(err.Error(), "dimension 0") {
		t.Errorf("error %v", err)
	}
	if _, err := Fit(t.Context(), s, store.Memory{Size: s.Size()}, Options{Dim: 3, Workers: 1}); err == nil || !strings.Contains(err.Error(), "no graphs") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, s, s.Train(), Options{Dim: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	e, err := Fit(t.Context(), s, s.Train(), Options{Dim: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Transform(t.Context(), make([]float64, s.Size()+1), 1); err == nil || !strings.Contains(err.Error(), "multiple of") {
		t.Errorf("error %v", err)
	}
	if _, err := e.Transform(t.Context(), make([]float64, s.Size()), 1); err == nil || !strings.Contains(err.Error(), "diagonal entry") {
		t.Errorf("error %v", err)
	}
	if _, err := e.Transform(ctx, s.Train().Data, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkTransform(b *testing.B) {
	gs := graphs(400, 1)
	s := space(b, gs, 1)
	train := s.Train()
	e, err := Fit(b.Context(), s, train, Options{Dim: 256})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := e.Transform(b.Context(), train.Data, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/400, "ns/graph")
}
