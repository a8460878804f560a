//go:build amd64 || arm64

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/spd"
)

// lowRanks returns n matrices of m rows, which share some of the rows that are returned too. Entries of
// X have the given scale.
func lowRanks(r *rand.Rand, n, m, p int, scale float64) (q []float64, a []spd.Thin) {
	rows := max(m, n)
	for range rows * p {
		q = append(q, math.Sqrt(scale/float64(p))*r.NormFloat64())
	}
	y := make([]float64, m*m)
	for i := range n {
		for k := range y {
			y[k] = r.NormFloat64() / math.Sqrt(float64(m))
		}
		x := make([]float64, spd.Size(m))
		spd.AddGram(x, y, m, m)
		for k := range x {
			x[k] *= scale
		}
		for k := range m {
			x[spd.Index(k, k)] += 0.1 * scale
		}
		a = append(a, spd.Thin{At: n - 1 - i, X: x})
		first := r.IntN(rows - m + 1)
		for k := range m {
			a[i].Rows = append(a[i].Rows, int32(first+(k*7+i)%m)) // some may be there twice
		}
	}
	return q, a
}

// sameFactors compares with the processor.
func sameFactors(t *testing.T, d spd.Device, f *spd.Factors, q []float64, a []spd.Thin) (nan int) {
	t.Helper()
	stride, most := f.Len()+3, 0
	for i := range a {
		most = max(most, a[i].At)
	}
	got, want := make([]float64, (most+1)*stride), make([]float64, (most+1)*stride)
	f.Cross(want, stride, q, a)
	if err := d.CrossFactors(t.Context(), got, stride, f, q, a); err != nil {
		t.Fatal(err)
	}
	for k := range want {
		if math.IsNaN(want[k]) {
			nan++
		}
		if math.Float64bits(got[k]) != math.Float64bits(want[k]) && !(math.IsNaN(got[k]) && math.IsNaN(want[k])) {
			t.Fatalf("order %d, %d rows: value %d, %d is %v, want %v", f.Order(), len(a[0].Rows), k/stride, k%stride, got[k], want[k])
		}
	}
	return nan
}

// Values have the bits of spd.Factors.Cross: for every number of rows and rank, also where pivots are
// out of the range of the GPU.
func TestFactorsBits(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= maxOrder; m++ {
		for _, p := range []int{1 + m%7, []int{10, 32, 64}[m%3]} {
			for i, scale := range []float64{1, 1e-3, 0x1p-300, 0x1p300, 0x1p-1000} {
				n := []int{1, 7, 8, 61, 150}[(m+i)%5]
				rank := 1 + (m*5+i)%p
				f := spd.Factor(random(t, r, n+1, p, rank, 0.1, 0.3), 0.1)
				q, a := lowRanks(r, 1+(m+3*i)%40, m, p, scale)
				sameFactors(t, d, f, q, a)
			}
		}
	}
	for rank := 1; rank <= 33; rank++ {
		f := spd.Factor(random(t, r, 30, 33, rank, 0.01, 1), 0.01)
		for m := 1; m <= 20; m++ {
			q, a := lowRanks(r, 9, m, 33, 1)
			sameFactors(t, d, f, q, a)
		}
	}
	// Matrices of many orders in one call, one of which is singular.
	f := spd.Factor(random(t, r, 99, 32, 12, 0.1, 0.3), 0.1)
	var q []float64
	var a []spd.Thin
	for m := 1; m <= 30; m++ {
		rows, some := lowRanks(r, 5, m, 32, 1)
		for _, x := range some {
			for k := range x.Rows {
				x.Rows[k] += int32(len(q) / 32)
			}
			x.At = len(a)
			a = append(a, x)
		}
		q = append(q, rows...)
	}
	a[77].X[0] = -1
	if nan := sameFactors(t, d, f, q, a); nan != f.Len() {
		t.Errorf("%d values are NaN, want those of one matrix", nan)
	}
}

// More matrices, and more of those that they are compared with, than there is room for at a time.
func TestFactorsLarge(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ n, p, rank, matrices, rows int }{
		{2*side + 77, 16, 5, 100, 6}, {601, 64, 60, 70, 20}, {9, 32, 8, 9000, 11}, {600, 32, 12, 3000, 9}, {3, 64, 64, 1500, 64},
	} {
		f := spd.Factor(random(t, r, c.n, c.p, c.rank, 0.1, 0.3), 0.1)
		q, a := lowRanks(r, c.matrices, c.rows, c.p, 1)
		for range slotCount { // the second time a slot holds the matrices
			sameFactors(t, d, f, q, a[:min(len(a), 20)])
		}
		sameFactors(t, d, f, q, a)
	}
}

// A context that is done ends the work.
func TestFactorsDone(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(5, 6))
	f := spd.Factor(random(t, r, 9, 4, 4, 0.1, 1), 0.1)
	q, a := lowRanks(r, 5, 3, 4, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.CrossFactors(ctx, make([]float64, 5*9), 9, f, q, a); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// What a slot takes: all matrices and rows, in order, and no more than there is room for.
func TestRoom(t *testing.T) {
	graphtest.Slow(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct{ n, p, rank, matrices, rows int }{{2*side + 77, 16, 5, 100, 6}, {601, 64, 60, 700, 20}, {2, 8, 8, 30000, 30}} {
		f := spd.Factor(random(t, r, c.n, c.p, c.rank, 0.1, 0.3), 0.1)
		q, a := lowRanks(r, c.matrices, c.rows, c.p, 1)
		place := make([]int32, len(q)/c.p)
		from := 0
		for groups := f.Groups(); len(groups) > 0; {
			l := newLandmarks(f, groups, from)
			columns := 0
			for _, g := range l.groups {
				columns += g.Columns
			}
			if l.n < 1 || l.n > side || 8*columns*c.p > panelBytes {
				t.Fatalf("%+v: %d landmarks with %d columns", c, l.n, columns)
			}
			groups, from = groups[len(l.groups):], from+l.n
			for rest := a; len(rest) > 0; {
				x := choose(l, place, rest)
				m := &arena{memory: make([]byte, inputBytes-heldBytes)}
				take[float64](m, (1+len(x.rows))*c.p+x.entries+2*len(x.a))
				take[int32](m, 4*len(x.a)+x.indices+2*len(orders))
				if len(x.a) == 0 || 8*l.n*len(x.a) > outputBytes || 8*(1+len(x.rows))*l.groups[0].Columns > inputBytes {
					t.Fatalf("%+v: %d matrices, %d rows", c, len(x.a), len(x.rows))
				}
				for i, b := range x.a {
					for _, row := range b.Rows {
						if x.rows[x.place[row]-1] != row {
							t.Fatalf("%+v: row %d of matrix %d is not there", c, row, i)
						}
					}
				}
				rest = rest[len(x.a):]
			}
		}
		if from != c.n {
			t.Errorf("%+v: %d landmarks", c, from)
		}
	}
}

// BenchmarkFactors compares as fitting does: some hundred matrices with 600 landmarks of rank 12. It
// measures the kernel alone, and whole calls of many goroutines.
func BenchmarkFactors(b *testing.B) {
	d := device(b)
	r := rand.New(rand.NewPCG(7, 8))
	const n, p = 600, 32
	f := spd.Factor(random(b, r, n, p, 12, 0.1, 0.3), 0.1)
	for _, m := range []int{4, 6, 8, 10, 12, 16, 24, 32} {
		q, a := lowRanks(r, 512, m, p, 1)
		for range slotCount { // which take their memory when they are first used
			if err := d.CrossFactors(b.Context(), make([]float64, len(a)*n), n, f, q, a); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("kernel/m=%d", m), func(b *testing.B) { kernelAlone(b, d, f, q, a) })
		b.Run(fmt.Sprintf("calls/m=%d", m), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				dst := make([]float64, len(a)*n)
				for pb.Next() {
					if err := d.CrossFactors(b.Context(), dst, n, f, q, a); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(a)*n), "ns/pair")
		})
	}
}

// kernelAlone repeats what a call launches.
func kernelAlone(b *testing.B, d *Device, f *spd.Factors, q []float64, a []spd.Thin) {
	l := newLandmarks(f, f.Groups(), 0)
	c := choose(l, make([]int32, len(q)/f.Order()), a)
	if len(c.a) < len(a) || l.n < f.Len() {
		b.Fatal("more than a slot takes")
	}
	if err := d.factors(make([]float64, len(a)*l.n), l.n, l, q, c); err != nil {
		b.Fatal(err)
	}
	s := <-d.slots
	defer func() { d.slots <- s }()
	if err := s.prepare(d.context); err != nil {
		b.Fatal(err)
	}
	if err := s.hold(l); err != nil {
		b.Fatal(err)
	}
	m := &arena{memory: s.memory[heldBytes:inputBytes], gpu: s.input}
	qs, in, launches, err := d.load(m, l, q, c)
	if err == nil {
		err = s.send(m)
	}
	for b.Loop() {
		for range 20 {
			if err == nil {
				err = s.compare(l, 1+len(c.rows), qs, in, launches)
			}
		}
		if err == nil {
			err = s.do("cuStreamSynchronize", s.stream)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(20*b.N*len(a)*l.n), "ns/pair")
}
