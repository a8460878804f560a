package spd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"os"
	"strconv"
)

func BenchmarkTune(b *testing.B) {
	if s := os.Getenv("SPD_SIMD"); s != "" {
		v, _ := strconv.Atoi(s)
		limitSIMD(v)
	}
	ghz := gigahertz()
	best := func(f func()) float64 {
		best := time.Duration(1 << 62)
		for range 4000 {
			t := time.Now()
			f()
			best = min(best, time.Since(t))
		}
		return float64(best.Nanoseconds()) * ghz
	}
	for _, p := range []int{2, 3, 4, 5, 6, 7, 8, 10, 12} {
		n := 32
		x := randomBatch(b, rand.New(rand.NewPCG(1, 2)), n*8, p)
		w := getWork(p)
		dst := make([]float64, n*8*8)
		tile, _ := x.tile(0)
		d := best(func() { w.small(p, &w.mant[0], &w.expo[0], &tile[0], x.tiles) })
		k := best(func() { w.asmCross(dst, n*8, 8, tile, x.roots.slice(0, 8), x.tiles, x.roots, p) })
		r := best(func() { w.asmRatio(dst[:8*n], w.mant[:8*n], w.expo[:8*n], &x.roots, x.roots.at(0)) })
		fmt.Printf("P=%d cycles/pair: dets %.2f cross %.2f ratio %.2f\n", p, d/float64(8*n), k/float64(64*n), r/float64(8*n))
	}
}
