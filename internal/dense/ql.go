package dense

import "math"

// QL overwrites d, the diagonal of a symmetric tridiagonal matrix T, with its eigenvalues, in no
// order. e has the entries beside it and one number more, and is overwritten. The rotations that
// diagonalise T are applied to the rows of z, width numbers for each row of T: if they were those
// of Qᵀ before, they are the eigenvectors of QTQᵀ. QL reports false if it does not converge.
//
// It is the QL algorithm with implicit shifts. Entries below 2⁻⁵⁹ of the largest one are taken for
// zero. Where an eigenvalue is so many-fold that rounding errors keep entries above that, those
// below 2⁻⁵³ are. Products are not fused with sums.
func QL(d, e, z []float64, width int) bool {
	if len(e) != len(d) || len(z) != len(d)*width {
		misuse("QL of order %d: %d and %d numbers in rows of %d", len(d), len(e), len(z), width)
	}
	unit := 0.0 // entries are scaled, so that squares do not overflow
	for i := range d {
		unit = max(unit, math.Abs(d[i]), math.Abs(e[i]))
	}
	if unit == 0 {
		return true
	}
	if !(unit <= math.MaxFloat64) {
		return false
	}
	for i := range d {
		d[i], e[i] = d[i]/unit, e[i]/unit
	}
	least := 0x1p-6
	for l := range d {
		for sweep := 0; ; sweep++ {
			m := l // T falls apart behind it
			for m < len(d)-1 && math.Abs(e[m]) > 0x1p-53*max(math.Abs(d[m])+math.Abs(d[m+1]), least) {
				m++
			}
			if m == l {
				break
			}
			switch sweep {
			case 30:
				least = 1
			case 60:
				return false
			}
			stepQL(d, e, z, width, l, m)
		}
	}
	for i := range d {
		d[i] *= unit
	}
	return true
}

// stepQL does one step on the rows l … m of the tridiagonal matrix.
func stepQL(d, e, z []float64, width, l, m int) {
	shift := (d[l+1] - d[l]) / (2 * e[l])
	shift = d[m] - d[l] + e[l]/(shift+math.Copysign(math.Sqrt(float64(shift*shift)+1), shift))
	s, c, p, x := 1.0, 1.0, 0.0, shift
	for i := m - 1; i >= l; i-- {
		f, b := float64(s*e[i]), float64(c*e[i])
		r := math.Sqrt(float64(f*f) + float64(x*x))
		e[i+1] = r
		if r == 0 { // T falls apart here
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, x/r
		x = d[i+1] - p
		r = float64((d[i]-x)*s) + float64(2*c*b)
		p = float64(s * r)
		d[i+1] = x + p
		x = float64(c*r) - b
		above := z[i*width:][:width]
		below := z[(i+1)*width:][:len(above)]
		for k, y := range above {
			w := below[k]
			above[k], below[k] = float64(c*y)-float64(s*w), float64(s*y)+float64(c*w)
		}
	}
	d[l] -= p
	e[l], e[m] = x, 0
}
