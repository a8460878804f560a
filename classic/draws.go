package classic

import (
	"math"
	"math/rand/v2"
)

// Random numbers that depend on a seed and on a name, such as a label, and on nothing else: a label
// has the same ones in every collection.

// hashText returns 64 bits of a seed and a text (Fowler, Noll and Vo's hash, mixed).
func hashText(seed uint64, text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return mixed(mixed(seed) ^ h)
}

// mixed spreads the bits of a number over all 64 (the finaliser of SplitMix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform returns a number from 0 up to 1.
func uniform(rng *rand.PCG) float64 { return float64(rng.Uint64()>>11) * 0x1p-53 }

// drawCauchy returns a number of the standard Cauchy distribution, the ratio of the coordinates of a
// point in the unit circle.
func drawCauchy(rng *rand.PCG) float64 {
	x, y, _ := drawPoint(rng)
	return x / y
}

// drawNormal returns a number of the standard normal distribution by the polar method. It is rounded to
// a multiple of 2⁻³²: logarithms differ in their last bit from machine to machine.
func drawNormal(rng *rand.PCG) float64 {
	x, _, s := drawPoint(rng)
	return math.RoundToEven(x*math.Sqrt(-2*math.Log(s)/s)*0x1p32) * 0x1p-32
}

// drawPoint returns a point of the unit circle, with no coordinate 0, and the square of its radius.
func drawPoint(rng *rand.PCG) (x, y, s float64) {
	for x == 0 || y == 0 || s >= 1 {
		x, y = 2*uniform(rng)-1, 2*uniform(rng)-1
		s = float64(x*x) + float64(y*y)
	}
	return x, y, s
}
