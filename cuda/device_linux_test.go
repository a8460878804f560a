//go:build amd64 || arm64

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/spd"
)

// device returns the GPU; the test is skipped where there is none.
func device(t testing.TB) *Device {
	if dir := os.Getenv("MLG_PTX"); dir != "" { // to compare variants
		modules = os.DirFS(dir)
	}
	d, err := Open()
	if err != nil {
		graphtest.NoDevice(t, err)
	}
	d.Least = 0
	t.Cleanup(func() { d.Close() })
	return d
}

// random returns a batch of n matrices γI + YᵀY of order p, whose Y have the given number of rows.
// The last matrix is not set.
func random(t testing.TB, r *rand.Rand, n, p, rows int, gamma, scale float64) *spd.Batch {
	b := spd.NewBatch(n, p)
	y, s := make([]float64, rows*p), make([]float64, spd.Size(p))
	for i := range n - 1 {
		f := scale * math.Exp(2*r.NormFloat64())
		for k := range y {
			y[k] = f * r.NormFloat64()
		}
		for {
			clear(s)
			spd.AddGram(s, y, rows, p)
			for k := range p {
				s[spd.Index(k, k)] += gamma
			}
			if err := b.Set(i, s); err == nil {
				break
			}
			for k := range y { // it was singular to working precision
				y[k] /= 4
			}
		}
	}
	return b
}

// Values have the bits of spd.Cross: for every order, whatever the rectangle.
func TestCrossBits(t *testing.T) {
	d := device(t)
	t.Log(d)
	r := rand.New(rand.NewPCG(1, 2))
	for p := 1; p <= maxOrder+1; p++ {
		for _, c := range []struct {
			rows         int
			gamma, scale float64
		}{{p, 0.1, 1}, {2, 1e-3, 1}, {max(1, p/2), 1e-30, 1e-16}, {3, 1e6, 1e9}, {max(1, p-1), 1e-10, 1}} {
			a, b := random(t, r, 61, p, c.rows, c.gamma, c.scale), random(t, r, 150, p, c.rows, c.gamma, c.scale)
			for _, q := range [][4]int{{0, 61, 0, 150}, {3, 50, 7, 8}, {60, 61, 1, 150}, {5, 5, 0, 3}} {
				i0, i1, j0, j1 := q[0], q[1], q[2], q[3]
				stride := j1 - j0 + 3
				got, want := make([]float64, 61*stride), make([]float64, 61*stride)
				spd.Cross(want, stride, a, i0, i1, b, j0, j1)
				if err := d.Cross(t.Context(), got, stride, a, i0, i1, b, j0, j1); err != nil {
					t.Fatal(err)
				}
				bad := 0
				for k := range want {
					if math.Float64bits(got[k]) != math.Float64bits(want[k]) && !(math.IsNaN(got[k]) && math.IsNaN(want[k])) {
						if bad++; bad < 3 {
							t.Errorf("order %d, %+v, %v: value %d is %v, want %v", p, c, q, k, got[k], want[k])
						}
					}
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// A rectangle larger than what the device computes at a time; equal matrices give 1.
func TestLargeRectangle(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []int{3, 10, 33} {
		n := 2*side + 77
		if p > wideOrder {
			n = side + 5
		}
		b := random(t, r, n+1, p, 4, 0.1, 1)
		got, want := make([]float64, n*n), make([]float64, n*n)
		if err := d.Cross(t.Context(), got, n, b, 0, n, b, 0, n); err != nil {
			t.Fatal(err)
		}
		spd.Cross(want, n, b, 0, n, b, 0, n)
		for i, v := range got {
			if v != want[i] || i%(n+1) == 0 && v != 1 {
				t.Fatalf("order %d: value (%d, %d) is %v, want %v", p, i/n, i%n, v, want[i])
			}
		}
	}
}

// A context that is done ends the work; the device can still be used.
func TestDone(t *testing.T) {
	d := device(t)
	b := random(t, rand.New(rand.NewPCG(5, 6)), 9, 4, 4, 0.1, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dst := make([]float64, 64)
	if err := d.Cross(ctx, dst, 8, b, 0, 8, b, 0, 8); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if err := d.Cross(t.Context(), dst, 8, b, 0, 8, b, 0, 8); err != nil || dst[0] != 1 {
		t.Errorf("got %v, %v", dst[0], err)
	}
}

// BenchmarkCross measures the kernel alone, without transfers.
func BenchmarkCross(b *testing.B) {
	d := device(b)
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range []int{4, 6, 8, 10, 12, 16, 24, 32, 48, 64} {
		b.Run(fmt.Sprintf("P=%d", p), func(b *testing.B) {
			n, _ := d.Block(0, 0, false, p)
			batch := random(b, r, n+1, p, p, 0.1, 1)
			dst := make([]float64, n*n)
			for range slotCount { // so that every slot has the input
				if err := d.Cross(b.Context(), dst, n, batch, 0, n, batch, 0, n); err != nil {
					b.Fatal(err)
				}
			}
			k, err := d.of("cross", p)
			if err != nil {
				b.Fatal(err)
			}
			s := <-d.slots
			defer func() { d.slots <- s }()
			size := uint64(k.order * (k.order + 1) / 2)
			grid := [2]int{(n + k.columns - 1) / k.columns, (n + k.rows - 1) / k.rows}
			in := roots{s.input, s.input, s.input}
			start, launches := time.Now(), 0
			for b.Loop() {
				for range 20 {
					launches++
					if err := s.launch(s.stream, k.second, grid, k.threads, k.shared, s.result, uint64(n), s.laid, in,
						int32(n), s.laid+8*size*uint64(n), in, int32(n)); err != nil {
						b.Fatal(err)
					}
				}
				if err := s.do("cuStreamSynchronize", s.stream); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(launches*n*n), "ns/pair")
		})
	}
}
