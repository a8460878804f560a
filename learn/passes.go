package learn

// step and partner are the two passes of sequential minimal optimisation, which changes two
// variables of a quadratic form at a time. Both give the same with and without assembly, to the
// bit.
//
// step adds the effect of a step of length t to the gradient f, a and b being the rows of
// the two variables, and finds the next variable to raise:
//
//	f[k] += t·(a[k] − b[k]),   i = argmin_k f[k] + up[k],   m = f[i] + up[i].
//
// The first of equals wins. If no sum is less than +Inf, m is +Inf and i is 0.
func step(f, a, b, up []float64, t float64) (m float64, i int) {
	n := len(f)
	a, b, up = a[:n], b[:n], up[:n]
	m, i, done := asmStep(f, a, b, up, t)
	f, a, b, up = f[done:], a[done:], b[done:], up[done:]
	a, b, up = a[:len(f)], b[:len(f)], up[:len(f)] // so that the compiler knows
	for k := range f {
		x := f[k] + float64(t*(a[k]-b[k])) // the conversion: not fused
		f[k] = x
		if v := x + up[k]; v < m {
			m, i = v, done+k
		}
	}
	return m, i
}

// partner finds, for the variable to raise whose row is a and whose diagonal entry is aii, the
// variable to lower that promises the largest decrease of the quadratic form:
//
//	d_k = f[k] − dn[k] − m,   j = argmax over d_k > 0 of d_k² / max(aii + diag[k] − 2a[k], least),
//
// and the largest violation gap = max_k d_k. The first of equals wins. If no d_k is positive, gap
// is 0 and j is −1; quotients that are not numbers are passed over.
func partner(f, dn, a, diag []float64, m, aii, least float64) (gap float64, j int) {
	n := len(f)
	dn, a, diag = dn[:n], a[:n], diag[:n]
	gap, best, j, done := asmPartner(f, dn, a, diag, m, aii, least)
	f, dn, a, diag = f[done:], dn[done:], a[done:], diag[done:]
	dn, a, diag = dn[:len(f)], a[:len(f)], diag[:len(f)] // so that the compiler knows
	enough := best * (1 - 0x1p-50)
	for k, fk := range f {
		d := fk - dn[k] - m
		if !(d > 0) {
			continue
		}
		if d > gap {
			gap = d
		}
		// Most are told by a product, which is faster than a division and a little too generous.
		if h := aii + diag[k] - 2*a[k]; d*d > enough*h {
			if q := d * d / max(h, least); q > best {
				best, enough, j = q, q*(1-0x1p-50), done+k
			}
		}
	}
	return gap, j
}
