//go:build !race

package spd

import (
	"math/rand/v2"
	"testing"
)

// The race detector makes sync.Pool forget, so this test is not for it.
func TestCrossAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := randomBatch(t, rng, 10, 10), randomBatch(t, rng, 100, 10)
	dst := make([]float64, 1000)
	if n := testing.AllocsPerRun(20, func() { Cross(dst, 100, a, 0, 10, b, 0, 100) }); n != 0 {
		t.Errorf("Cross allocates %g times", n)
	}
	if n := testing.AllocsPerRun(20, func() { LogCross(dst, 100, a, 0, 10, b, 0, 100) }); n != 0 {
		t.Errorf("LogCross allocates %g times", n)
	}
	expo := make([]int64, 104)
	if n := testing.AllocsPerRun(20, func() { Dets(dst[:104], expo, b.tiles, 10) }); n != 0 {
		t.Errorf("Dets allocates %g times", n)
	}
}
