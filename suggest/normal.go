package suggest

import "math"

// halfLog2Pi is ½ log 2π.
var halfLog2Pi = 0.5 * math.Log(2*math.Pi)

// logPhi returns the logarithm of the density of the standard normal distribution.
func logPhi(z float64) float64 { return -z*z/2 - halfLog2Pi }

// tail returns the continued fraction
//
//	c(x) = 1/(x + 2/(x + 3/(x + …))),
//
// so that Mills' ratio Φ(−x)/φ(x) is 1/(x + c). For x ≥ 2 it has 15 digits after 80 terms.
func tail(x float64) float64 {
	c := 0.0
	for k := 80; k >= 1; k-- {
		c = float64(k) / (x + c)
	}
	return c
}

// logCDF returns log Φ(z).
func logCDF(z float64) float64 {
	switch {
	case z > 0:
		return math.Log1p(-math.Erfc(z/math.Sqrt2) / 2)
	case z > -8:
		return math.Log(math.Erfc(-z/math.Sqrt2) / 2)
	}
	return logPhi(z) - math.Log(-z+tail(-z))
}

// logBetween returns log(Φ(b) − Φ(a)), −Inf unless a < b. Each may be infinite.
func logBetween(a, b float64) float64 {
	switch {
	case !(a < b):
		return math.Inf(-1)
	case a > 0:
		a, b = -b, -a
	case b > 0: // a sum of two positive numbers
		return math.Log((math.Erf(b/math.Sqrt2) + math.Erf(-a/math.Sqrt2)) / 2)
	}
	// Where the range is narrow, density times width is right to a relative (z·width)²/24.
	if width, middle := b-a, a+(b-a)/2; width*(1-middle) < 1e-5 {
		return logPhi(middle) + math.Log(width)
	}
	high, low := logCDF(b), logCDF(a)
	return high + math.Log1p(-math.Exp(low-high))
}

// logGain returns log h(z) of the expected positive part of a standard normal variable plus z,
//
//	h(z) = E max(0, z + ε) = φ(z) + z Φ(z).
//
// Below −2, where the terms cancel, it is φ(z)·c/(x + c) with x = −z and c of tail.
func logGain(z float64) float64 {
	if z < -2 {
		c := tail(-z)
		return logPhi(z) + math.Log(c/(c-z))
	}
	return math.Log(math.Exp(logPhi(z)) + z*math.Erfc(-z/math.Sqrt2)/2)
}

// nodes and weights of Gauss and Legendre's rule on [0, 1], of degree 31.
var nodes, weights = legendre(16)

// legendre finds the nodes, which are zeros of the polynomial, by Newton's method.
func legendre(n int) (x, w []float64) {
	for k := range n {
		t := math.Cos(math.Pi * (float64(k) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 50 {
			p, before := 1.0, 0.0
			for j := range n {
				p, before = (float64(2*j+1)*t*p-float64(j)*before)/float64(j+1), p
			}
			slope = float64(n) * (t*p - before) / (t*t - 1)
			t -= p / slope
		}
		x, w = append(x, (1+t)/2), append(w, 1/((1-t*t)*slope*slope))
	}
	return x, w
}

// logTriangle returns the logarithm of the expected height of a triangle, max(0, d − |u + ε|), over a standard
// normal variable ε:
//
//	h(d−|u|) − 2 h(−|u|) + h(−d−|u|).
//
// Where d is small these terms cancel. Then it is an integral by Gauss and Legendre's rule.
func logTriangle(u, d float64) float64 {
	if u = math.Abs(u); d*(1+u) > 4 {
		high := logGain(d - u)
		return high + math.Log1p(-2*math.Exp(logGain(-u)-high)+math.Exp(logGain(-d-u)-high))
	}
	// φ(−u ± v) = φ(u) exp(±uv − v²/2): the largest factor is taken out.
	most, sum := max(0, d*u), 0.0
	for i, x := range nodes {
		v := d * x
		sum += weights[i] * (d - v) * (math.Exp(u*v-v*v/2-most) + math.Exp(-u*v-v*v/2-most))
	}
	return logPhi(u) + most + math.Log(sum*d)
}
