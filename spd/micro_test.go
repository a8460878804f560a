package spd

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

func best(f func()) float64 {
	b := 1e18
	for range 400 {
		t := time.Now()
		for range 20 {
			f()
		}
		b = min(b, float64(time.Since(t).Nanoseconds())/20)
	}
	return b
}

func TestMicro(t *testing.T) {
	if os.Getenv("MICRO") == "" {
		t.Skip()
	}
	ghz := gigahertz()
	fmt.Println("GHz", ghz)
	for _, p := range []int{2, 4, 6, 8, 10, 12, 16} {
		y := randomBatch(t, rand.New(rand.NewPCG(3, 4)), 64, p)
		w := getWork(p)
		w.buf = make([]float64, 1<<20)
		a := y.At(3, nil)
		tile := Size(p) * lanes
		fmt.Printf("P=%d bound %.1f cycles: ymm", p, bound(p))
		for _, g := range []int{1, 2, 4, 6, 8} {
			f := best(func() {
				ldlSumAVX2(&y.tiles[0], &a[0], p, g, 8*tile, &w.buf[0], groupBytes(p, 32), &w.mant[0], &w.expo[0])
			}) * ghz / float64(4*g)
			fmt.Printf("  %d: %.1f (%.2f)", g, f, f/bound(p))
		}
		fmt.Printf("\n                  zmm ")
		for _, g := range []int{1, 2, 3, 4} {
			f := best(func() {
				ldlSumAVX512(&y.tiles[0], &a[0], p, g, 8*tile, &w.buf[0], groupBytes(p, 64), &w.mant[0], &w.expo[0])
			}) * ghz / float64(8*g)
			fmt.Printf("  %d: %.1f (%.2f)", g, f, f/bound(p))
		}
		fmt.Println()
		if p == 10 {
			fmt.Println("ratio", best(func() {
				asmRatio(w.k[:64], w.mant[:64], w.expo[:64], &y.root, y.root.at(3))
			})*ghz/64, "at", ghz*best(func() { y.At(5, w.a) }))
		}
	}
}
