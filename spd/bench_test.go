package spd

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// bound is the number of cycles per pair below which two 256-bit FMA pipes cannot factor a
// matrix of order p.
func bound(p int) float64 {
	return (float64(p*p*p-p)/6 + float64(p*(p-1))/2) / 8
}

// gigahertz measures the clock by a chain of dependent one-cycle operations.
func gigahertz() float64 {
	best := time.Duration(1 << 62)
	const n = 1 << 15
	for range 100 {
		x := uint64(len(os.Args))
		t := time.Now()
		for range n {
			x = (x ^ x>>7) + 3 // a shift, an exclusive or and an addition
		}
		best = min(best, time.Since(t))
		if x == 1 {
			panic("unreachable")
		}
	}
	return 3 * n / float64(best.Nanoseconds())
}

// bestOf runs f as often as b asks and returns the time in ns of the fastest run: other load
// on the machine only ever adds.
func bestOf(b *testing.B, f func()) float64 {
	best := time.Duration(1 << 62)
	for b.Loop() {
		t := time.Now()
		f()
		best = min(best, time.Since(t))
	}
	return float64(best.Nanoseconds())
}

// settings reads what to measure: SPD_ORDERS is one order or all; SPD_SIMD is 0 for plain Go,
// 1 for AVX2.
func settings() (orders []int) {
	orders = []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 56, 63, 64}
	if s := os.Getenv("SPD_ORDERS"); s == "all" {
		orders = nil
		for p := 2; p <= 64; p++ {
			orders = append(orders, p)
		}
	} else if p, err := strconv.Atoi(s); err == nil {
		orders = []int{p}
	}
	if s := os.Getenv("SPD_SIMD"); s != "" {
		v, _ := strconv.Atoi(s)
		limitSIMD(v)
	}
	return orders
}

// BenchmarkCross measures the kernel in the shape of a level: many matrices against 104
// landmarks.
func BenchmarkCross(b *testing.B) {
	ghz := gigahertz()
	for _, p := range settings() {
		b.Run(fmt.Sprintf("P=%d", p), func(b *testing.B) {
			const cols = 104
			rows := min(max(16384/(p*p), 4), 64) // runs well under a millisecond, between interruptions
			if vector == plain {
				rows = max(rows/16, 1)
			}
			x, y := randomBatch(b, rand.New(rand.NewPCG(1, 2)), rows, p), randomBatch(b, rand.New(rand.NewPCG(3, 4)), cols, p)
			dst := make([]float64, rows*cols)
			ns := bestOf(b, func() { Cross(dst, cols, x, 0, rows, y, 0, cols) }) / float64(rows*cols)
			b.ReportMetric(ns, "best-ns/pair")
			b.ReportMetric(ns*ghz, "cycles/pair")
			b.ReportMetric(ns*ghz/bound(p), "cycles/bound")
		})
	}
}

func BenchmarkDets(b *testing.B) {
	for _, p := range []int{2, 4, 6, 8, 10, 16, 24, 40} {
		for _, tiles := range []int{1, 8} {
			b.Run(fmt.Sprintf("P=%d/tiles=%d", p, tiles), func(b *testing.B) {
				x := randomBatch(b, rand.New(rand.NewPCG(1, 2)), tiles*Lanes, p)
				mant, expo := make([]float64, tiles*Lanes), make([]int64, tiles*Lanes)
				const repeat = 16
				ns := bestOf(b, func() {
					for range repeat {
						Dets(mant, expo, x.tiles, p)
					}
				})
				b.ReportMetric(ns/repeat/float64(len(mant)), "best-ns/matrix")
			})
		}
	}
}

func BenchmarkAddGram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][2]int{{8, 10}, {30, 10}, {30, 16}, {60, 32}} {
		rows, p := s[0], s[1]
		b.Run(fmt.Sprintf("%dx%d", rows, p), func(b *testing.B) {
			dst, y := make([]float64, Size(p)), normals(rng, rows*p)
			const repeat = 100
			ns := bestOf(b, func() {
				for range repeat {
					AddGram(dst, y, rows, p)
				}
			})
			b.ReportMetric(ns/repeat, "best-ns")
		})
	}
}

func BenchmarkSet(b *testing.B) {
	for _, p := range []int{10, 16, 32} {
		b.Run(fmt.Sprintf("P=%d", p), func(b *testing.B) {
			s := randomSPD(rand.New(rand.NewPCG(1, 2)), p, p, 0.1, 1)
			x := NewBatch(8, p)
			const repeat = 100
			ns := bestOf(b, func() {
				for range repeat {
					if err := x.Set(3, s); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.ReportMetric(ns/repeat, "best-ns")
		})
	}
}
