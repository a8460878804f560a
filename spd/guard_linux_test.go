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

// Entries are reduced and copied within their slices.
func TestGuardedEntries(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(12, 1))
		for n := 2; n <= 8; n += 2 {
			for _, r := range []int{1, 2, 5} {
				for _, low := range []bool{true, false} {
					u, g := normals(rng, n*r*Lanes), normals(rng, n)
					at := asmtest.Guarded[int64](t, 2*n, low)
					for i := range at {
						at[i] = int64(rng.IntN(n) * r * Lanes * 8)
					}
					where := asmtest.Guarded[int64](t, n+3, low)
					for i := range where {
						where[i] = int64(rng.IntN(n) * Lanes * 8)
					}
					want, tile := make([]float64, n*Lanes), make([]float64, len(where)*Lanes)
					restore := setPlain()
					less(want, g, at, u, r)
					gather(tile, want, where)
					restore()
					dst := asmtest.Guarded[float64](t, len(want), low)
					less(dst, asmtest.Copy(t, g, low), at, asmtest.Copy(t, u, low), r)
					same(t, fmt.Sprintf("%d entries of %d terms", n, r), dst, want)
					copied := asmtest.Guarded[float64](t, len(tile), low)
					gather(copied, dst, where)
					same(t, fmt.Sprintf("copies of %d entries", n), copied, tile)
				}
			}
		}
	})
}
