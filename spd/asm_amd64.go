//go:build !noasm

package spd

import "golang.org/x/sys/cpu"

// simd is the set of instructions in use.
type simd int

const (
	plain  simd = iota // Go only
	avx2               // AVX2 and FMA
	avx512             // and AVX-512 F, DQ and VL
)

var instructions = []string{plain: "plain Go", avx2: "AVX2", avx512: "AVX-512"}

var vector = detect()

func detect() simd {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return plain
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
}

func vectorDets(p int, mant *float64, expo *int64, a *float64, tiles int, b, work *float64) {
	if vector == avx512 {
		detsAVX512(p, mant, expo, a, tiles, b, work)
		return
	}
	detsAVX2(p, mant, expo, a, tiles, b, work)
}

func vectorValues(dst, mant *float64, expo *int64, n int, ae, ac float64, ax int64, e, c *float64, x *int64) {
	if vector == avx512 {
		valuesAVX512(dst, mant, expo, n, ae, ac, ax, e, c, x)
		return
	}
	valuesAVX2(dst, mant, expo, n, ae, ac, ax, e, c, x)
}

func vectorLess(dst, from *float64, at *int64, n int, u *float64, r int) {
	if vector == avx512 {
		lessAVX512(dst, from, at, n, u, r)
		return
	}
	lessAVX2(dst, from, at, n, u, r)
}

func vectorGather(dst, from *float64, at *int64, n int) {
	if vector == avx512 {
		gatherAVX512(dst, from, at, n)
		return
	}
	gatherAVX2(dst, from, at, n)
}
