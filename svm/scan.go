package svm

import "math"

// step and partner are where the solver spends its time. Each passes once over the active
// variables, four at a time, so that bounds are checked once for four entries.

// step adds the effect of one step to the gradient and finds the next variable to raise:
//
//	f[k] += t·(a[k] − b[k]),   i = argmin_k f[k] + up[k],   m = f[i] + up[i].
//
// The first of equals wins. If no sum is finite, m is +Inf and i is 0.
func step(f, a, b, up []float64, t float64) (m float64, i int) {
	n := len(f)
	a, b, up = a[:n], b[:n], up[:n]
	m = math.Inf(1)
	k := 0
	for ; k <= n-4; k += 4 {
		fk, ak, bk, uk := f[k:k+4:k+4], a[k:k+4:k+4], b[k:k+4:k+4], up[k:k+4:k+4]
		f0 := fk[0] + t*(ak[0]-bk[0])
		f1 := fk[1] + t*(ak[1]-bk[1])
		f2 := fk[2] + t*(ak[2]-bk[2])
		f3 := fk[3] + t*(ak[3]-bk[3])
		fk[0], fk[1], fk[2], fk[3] = f0, f1, f2, f3
		if v := f0 + uk[0]; v < m {
			m, i = v, k
		}
		if v := f1 + uk[1]; v < m {
			m, i = v, k+1
		}
		if v := f2 + uk[2]; v < m {
			m, i = v, k+2
		}
		if v := f3 + uk[3]; v < m {
			m, i = v, k+3
		}
	}
	for ; k < n; k++ {
		f[k] += t * (a[k] - b[k])
		if v := f[k] + up[k]; v < m {
			m, i = v, k
		}
	}
	return m, i
}

// partner finds, for the variable to raise whose row is a and whose diagonal entry is
// aii, the variable to lower that promises the largest decrease of the objective:
//
//	d_k = f[k] − dn[k] − m,   j = argmax over d_k > 0 of d_k² / max(aii + diag[k] − 2a[k], tau),
//
// and the largest violation gap = max_k d_k. If no d_k is positive, gap is 0 and j is −1.
// Quotients are compared by cross-multiplication. Where most variables are free, d_k > 0
// nearly always, and where most are at a bound shrinking leaves few of the others, so that
// the branch is foreseeable.
func partner(f, dn, a, diag []float64, m, aii float64) (gap float64, j int) {
	n := len(f)
	dn, a, diag = dn[:n], a[:n], diag[:n]
	j = -1
	num, den := 0.0, 1.0 // the best quotient so far
	k := 0
	for ; k <= n-4; k += 4 {
		fk, dk, ak, gk := f[k:k+4:k+4], dn[k:k+4:k+4], a[k:k+4:k+4], diag[k:k+4:k+4]
		if d := fk[0] - dk[0] - m; d > 0 {
			if d > gap {
				gap = d
			}
			if h := aii + gk[0] - 2*ak[0]; d*d*den > num*h {
				if h = max(h, tau); d*d*den > num*h {
					num, den, j = d*d, h, k+0
				}
			}
		}
		if d := fk[1] - dk[1] - m; d > 0 {
			if d > gap {
				gap = d
			}
			if h := aii + gk[1] - 2*ak[1]; d*d*den > num*h {
				if h = max(h, tau); d*d*den > num*h {
					num, den, j = d*d, h, k+1
				}
			}
		}
		if d := fk[2] - dk[2] - m; d > 0 {
			if d > gap {
				gap = d
			}
			if h := aii + gk[2] - 2*ak[2]; d*d*den > num*h {
				if h = max(h, tau); d*d*den > num*h {
					num, den, j = d*d, h, k+2
				}
			}
		}
		if d := fk[3] - dk[3] - m; d > 0 {
			if d > gap {
				gap = d
			}
			if h := aii + gk[3] - 2*ak[3]; d*d*den > num*h {
				if h = max(h, tau); d*d*den > num*h {
					num, den, j = d*d, h, k+3
				}
			}
		}
	}
	for ; k < n; k++ {
		if d := f[k] - dn[k] - m; d > 0 {
			if d > gap {
				gap = d
			}
			if h := aii + diag[k] - 2*a[k]; d*d*den > num*h {
				if h = max(h, tau); d*d*den > num*h {
					num, den, j = d*d, h, k
				}
			}
		}
	}
	return gap, j
}

// addRows adds Σ_r w[r]·rows[r][index[k]] to f[k], or rows[r][k] where index is nil,
// four rows at a time.
func addRows(f []float64, w []float64, rows [][]float64, index []int) {
	for len(rows) >= 4 {
		r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		if index == nil {
			r0, r1, r2, r3 = r0[:len(f)], r1[:len(f)], r2[:len(f)], r3[:len(f)]
			for k := range f {
				f[k] += w0*r0[k] + w1*r1[k] + w2*r2[k] + w3*r3[k]
			}
		} else {
			f := f[:len(index)]
			r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
			for k, c := range index {
				f[k] += w0*r0[c] + w1*r1[c] + w2*r2[c] + w3*r3[c]
			}
		}
		rows, w = rows[4:], w[4:]
	}
	for r, row := range rows {
		for k := range f {
			c := k
			if index != nil {
				c = index[k]
			}
			f[k] += w[r] * row[c]
		}
	}
}
