package suggest

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// integral is that of f over an interval, by 4000 nodes.
func integral(f func(x float64) float64, low, high float64) float64 {
	return quad.Fixed(f, low, high, 4000, quad.Legendre{}, 0)
}

func phi(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// Functions of the normal distribution are their integrals where these do not underflow.
func TestNormal(t *testing.T) {
	for _, z := range []float64{-30, -20, -8.1, -7.9, -5, -2.1, -1.9, -0.3, 0, 0.4, 3, 9} {
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-math.Log(want)) > 1e-11*math.Max(1, math.Abs(got)) {
				t.Errorf("%s(%v) = %v, want %v", what, z, got, math.Log(want))
			}
		}
		// What is 12 deviations below has no share.
		check("logCDF", logCDF(z), integral(phi, min(z, 0)-12, z))
		check("logGain", logGain(z), integral(func(x float64) float64 { return (z - x) * phi(x) }, min(z, 0)-14, z))
		for _, width := range []float64{1e-9, 1e-4, 0.1, 2} {
			check("logBetween", logBetween(z, z+width), integral(phi, z, z+width))
		}
	}
	for _, u := range []float64{-25, -3, -0.5, 0, 0.2, 1.5, 7, 30} {
		for _, d := range []float64{1e-6, 0.01, 0.3, 1, 3, 10} {
			rest := func(x float64) float64 { return math.Max(0, d-math.Abs(u-x)) * phi(x) }
			want := integral(rest, u-d, u) + integral(rest, u, u+d)
			if got := logTriangle(u, d); math.Abs(got-math.Log(want)) > 1e-10*math.Max(1, math.Abs(got)) {
				t.Errorf("logTriangle(%v, %v) = %v, want %v", u, d, got, math.Log(want))
			}
		}
	}
}

// Far in the tails, where nothing but logarithms is left, values are those of the asymptotic series
// h(−x) = φ(x)(1/x² − 3/x⁴ + 15/x⁶ − …), in numbers of 200 bits.
func TestTails(t *testing.T) {
	for _, x := range []float64{40, 200, 1e4, 1e8} {
		sum, term := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200).SetFloat64(1)
		square := new(big.Float).SetPrec(200).SetFloat64(x * x)
		term.Quo(term, square)
		for k := range 12 {
			sum.Add(sum, term)
			term.Mul(term, new(big.Float).SetFloat64(-float64(2*k+3)))
			term.Quo(term, square)
		}
		series, _ := sum.Float64()
		if got, want := logGain(-x)-logPhi(-x), math.Log(series); math.Abs(got-want) > 1e-14*x*x && math.Abs(got/want-1) > 1e-11 {
			t.Errorf("logGain(−%v) − log φ = %v, want %v", x, got, want)
		}
		if got := math.Exp(logCDF(-x) - logPhi(-x)); x < 1e4 && math.Abs(got*x-1) > 1/x/x {
			t.Errorf("Φ/φ(−%v) = %v, want about %v", x, got, 1/x)
		}
	}
	if !math.IsInf(logBetween(2, 2), -1) || !math.IsInf(logBetween(3, 2), -1) || logBetween(math.Inf(-1), math.Inf(1)) != 0 {
		t.Error("empty and whole ranges")
	}
	if got := logBetween(50, math.Inf(1)); math.Abs(got-logCDF(-50)) > 1e-12 {
		t.Errorf("range above 50: %v, want %v", got, logCDF(-50))
	}
}
