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

// gigahertz measures the clock by a chain of dependent additions, one cycle each.
func gigahertz() float64 {
	best := time.Duration(1 << 62)
	const n = 1 << 20
	for range 5 {
		x := uint64(len(os.Args))
		t := time.Now()
		for range n {
			x = (x ^ x>>7) + 3 // three dependent operations
		}
		best = min(best, time.Since(t))
		if x == 1 {
			panic("unreachable")
		}
	}
	return 3 * n / float64(best.Nanoseconds())
}

// BenchmarkCross measures the kernel in the shape of a level: many matrices against 104 landmarks.
func BenchmarkCross(b *testing.B) {
	ghz := gigahertz()
	orders := []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 56, 63, 64}
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
	for _, p := range orders {
		b.Run(fmt.Sprintf("P=%d", p), func(b *testing.B) {
			const rows, cols = 64, 104
			x, y := randomBatch(b, rand.New(rand.NewPCG(1, 2)), rows, p), randomBatch(b, rand.New(rand.NewPCG(3, 4)), cols, p)
			dst := make([]float64, rows*cols)
			for b.Loop() {
				Cross(dst, cols, x, 0, rows, y, 0, cols)
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / (rows * cols)
			b.ReportMetric(ns, "ns/pair")
			b.ReportMetric(ns*ghz/bound(p), "cycles/bound")
			b.ReportMetric(0, "ns/op")
		})
	}
}
