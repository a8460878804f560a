//go:build linux

package spd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

// Nothing outside its arguments and its scratch space is read or written by any code.
func TestGuarded(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		for _, p := range orders() {
			for _, low := range []bool{true, false} {
				t.Run(fmt.Sprintf("p=%d/low=%v", p, low), func(t *testing.T) { testGuarded(t, p, low) })
			}
		}
	})
}

func testGuarded(t *testing.T, p int, low bool) {
	rng := rand.New(rand.NewPCG(11, uint64(p)))
	n := 8 * (1 + max(0, 20-p)%5)
	b := randomBatch(t, rng, n, p)
	want := make([]float64, n)
	Cross(want, n, b, 1, 2, b, 0, n)

	w := getWork(p) // which does not go back
	w.buf = asmtest.Guarded[float64](t, len(w.buf), low)
	tiles := asmtest.Copy(t, b.tiles, low)
	a := asmtest.Copy(t, b.tiles[1:Size(p)*Lanes-Lanes+2], low) // matrix 1
	mant, expo := asmtest.Guarded[float64](t, n, low), asmtest.Guarded[int64](t, n, low)
	w.dets(mant, expo, a, tiles, p, leastPivot)
	r := quarters{asmtest.Copy(t, b.roots.e, low), asmtest.Copy(t, b.roots.c, low), asmtest.Guarded[int64](t, n, low)}
	copy(r.x, b.roots.x)
	dst := asmtest.Guarded[float64](t, n, low)
	values(dst, mant, expo, r.at(1), r)
	same(t, "kernel", dst, want)

	w.dets(mant, expo, nil, tiles, p, leastNormal)
	for i := range n {
		want, _ := ldl(b.At(i, nil), p, leastNormal, make([]float64, 2*p))
		if got := (determinant{mant[i], expo[i]}); got != want {
			t.Errorf("determinant %d is %v, want %v", i, got, want)
		}
	}

	for _, rows := range []int{1, 4, 6} {
		y, plain := normals(rng, rows*p), make([]float64, Size(p))
		restore := setPlain()
		AddGram(plain, y, rows, p)
		restore()
		got := asmtest.Guarded[float64](t, Size(p), low)
		AddGram(got, asmtest.Copy(t, y, low), rows, p)
		same(t, "AddGram", got, plain)
	}
}

// The rows of U, G and what is beside them are read, and tiles written, up to one row more.
func TestGuardedLess(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(12, 1))
		for m := 1; m <= 9; m++ {
			for _, r := range []int{1, 2, 5} {
				for _, low := range []bool{true, false} {
					u, g := normals(rng, m*r*Lanes), normals(rng, Size(m+m&1))
					at := asmtest.Guarded[int64](t, m+m&1, low)
					for i := range at {
						at[i] = int64(min(i, m-1) * r * Lanes * 8)
					}
					want := make([]float64, Size(m)*Lanes)
					restore := setPlain()
					less(want, g, at, m, u, r)
					restore()
					dst := asmtest.Guarded[float64](t, Size(m+m&1)*Lanes, low)
					less(dst, asmtest.Copy(t, g, low), at, m, asmtest.Copy(t, u, low), r)
					same(t, fmt.Sprintf("less of %d×%d", m, r), dst[:len(want)], want)
				}
			}
		}
	})
}
