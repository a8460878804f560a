//go:build linux

package spd

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns memory for n numbers between two pages that cannot be touched, flush with
// the page after it or, if low, with the page before it.
func guarded[T float64 | int64](t *testing.T, n int, low bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := (8*n + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, g := range [][]byte{m[:page], m[size+page:]} {
		if err := syscall.Mprotect(g, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		return nil
	}
	off := page
	if !low {
		off = page + size - 8*n
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&m[off])), n)
}

func guardedCopy(t *testing.T, x []float64, low bool) []float64 {
	t.Helper()
	y := guarded[float64](t, len(x), low)
	copy(y, x)
	return y
}

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
	w.buf = guarded[float64](t, len(w.buf), low)
	tiles := guardedCopy(t, b.tiles, low)
	a := guardedCopy(t, b.tiles[1:Size(p)*lanes], low)
	w.sumDets(a, tiles, p)
	mant, expo := guardedCopy(t, w.mant[:n], low), guarded[int64](t, n, low)
	copy(expo, w.expo[:n])
	r := quarters{guardedCopy(t, b.roots.e, low), guardedCopy(t, b.roots.c, low), guarded[int64](t, n, low)}
	copy(r.x, b.roots.x)
	ra := r.at(1)
	dst := guarded[float64](t, n, low)
	if !w.asmRatio(dst, mant, expo, &r, ra) {
		ratio(dst, mant, expo, &r, ra)
	}
	same(t, "kernel", dst, want)

	const rows = 3 // of the same tile as matrix 1
	all := make([]float64, rows*n)
	Cross(all, n, b, 1, 1+rows, b, 0, n)
	out := guarded[float64](t, rows*n, low)
	w.cross(out, n, rows, a, r.slice(1, 1+rows), tiles, r, p)
	same(t, "rows of kernels", out, all)

	w.dets(mant, expo, tiles, p)
	for i := range n {
		if l := logOf(mant[i], expo[i]); l != b.LogDet(i) {
			t.Errorf("log det %d is %g, want %g", i, l, b.LogDet(i))
		}
	}

	for _, rows := range []int{1, 4, 6} {
		const m = 9
		k, v, y := normals(rng, rows*m), normals(rng, m*p), normals(rng, rows*p)
		plainP, plainG := make([]float64, rows*p), make([]float64, Size(p))
		restore := setPlain()
		Project(plainP, k, v, rows, m, p)
		AddGram(plainG, y, rows, p)
		restore()
		got := guarded[float64](t, rows*p, low)
		Project(got, guardedCopy(t, k, low), guardedCopy(t, v, low), rows, m, p)
		same(t, "Project", got, plainP)
		g := guarded[float64](t, Size(p), low)
		AddGram(g, guardedCopy(t, y, low), rows, p)
		same(t, "AddGram", g, plainG)
	}
}

// The rows of U, G and what is beside them are read, and tiles written, up to one row more.
func TestGuardedLess(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(12, 1))
		for m := 1; m <= 9; m++ {
			for _, r := range []int{1, 2, 5} {
				for _, low := range []bool{true, false} {
					u, g := normals(rng, m*r*lanes), normals(rng, Size(m+m&1))
					at := guarded[int64](t, m+m&1, low)
					for i := range at {
						at[i] = int64(min(i, m-1) * r * lanes * 8)
					}
					want := make([]float64, Size(m)*lanes)
					restore := setPlain()
					less(want, g, at, m, u, r)
					restore()
					dst := guarded[float64](t, Size(m+m&1)*lanes, low)
					less(dst, guardedCopy(t, g, low), at, m, guardedCopy(t, u, low), r)
					same(t, fmt.Sprintf("less of %d×%d", m, r), dst[:len(want)], want)
				}
			}
		}
	})
}

func TestGuardedSweep(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 1))
		for n := 1; n <= 17; n++ {
			for _, low := range []bool{true, false} {
				a, u, w, v := normals(rng, n*n), normals(rng, n), normals(rng, n), normals(rng, n)
				want, product := append([]float64(nil), a...), make([]float64, n)
				restore := setPlain()
				Sweep(want, n, n, u, w, v, product)
				restore()
				got, y := guardedCopy(t, a, low), guarded[float64](t, n, low)
				Sweep(got, n, n, guardedCopy(t, u, low), guardedCopy(t, w, low), guardedCopy(t, v, low), y)
				same(t, "Sweep", got, want)
				same(t, "Sweep's product", y, product)
			}
		}
	})
}

func TestGuardedStepPartner(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(14, 1))
		for n := range 26 {
			for _, low := range []bool{true, false} {
				x := newPairProblem(rng, n, false)
				a, f := guardedCopy(t, x.a, low), guardedCopy(t, x.f, low)
				Step(f, a, guardedCopy(t, x.b, low), guardedCopy(t, x.up, low), 0.5)
				Partner(f, guardedCopy(t, x.dn, low), a, guardedCopy(t, x.diag, low), 0.25, 1, 1e-12)
			}
		}
	})
}
