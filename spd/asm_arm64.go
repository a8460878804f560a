//go:build !noasm

package spd

// simd is the set of instructions in use. Every processor has NEON.
type simd int

const (
	plain simd = iota // Go only
	neon
)

var instructions = []string{plain: "plain Go", neon: "NEON"}

var vector = neon

func vectorDets(p int, mant *float64, expo *int64, a *float64, tiles int, b, work *float64) {
	detsNEON(p, mant, expo, a, tiles, b, work)
}

func vectorValues(dst, mant *float64, expo *int64, n int, ae, ac float64, ax int64, e, c *float64, x *int64) {
	valuesNEON(dst, mant, expo, n, ae, ac, ax, e, c, x)
}

func vectorLess(dst, from *float64, at *int64, n int, u *float64, r int) {
	lessNEON(dst, from, at, n, u, r)
}

func vectorGather(dst, from *float64, at *int64, n int) { gatherNEON(dst, from, at, n) }
