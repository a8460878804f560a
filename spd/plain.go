package spd

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
)

// four is an entry of four matrices of a tile.
type four = [4]float64

// plainDets is dets without assembly, four matrices at a time, by the operations of ldl.
func (w *work) plainDets(mant []float64, expo []int64, a, tiles []float64, p int, least float64) {
	size := Size(p)
	w.four = slices.Grow(w.four[:0], size+2*p)[:size+2*p]
	for i := 0; i < len(mant); i += 4 {
		tile := tiles[i/Lanes*size*Lanes+i%Lanes:]
		u := w.four[:size]
		for e := range u {
			x := 0.0
			if a != nil {
				x = a[e*Lanes]
			}
			y, s := (*four)(tile[e*Lanes:]), &u[e]
			s[0], s[1], s[2], s[3] = x+y[0], x+y[1], x+y[2], x+y[3]
		}
		det := [4]determinant{{mant: 1}, {mant: 1}, {mant: 1}, {mant: 1}}
		ldlFour(&det, u, p, least, w.four[size:])
		for l, d := range det {
			mant[i+l], expo[i+l] = d.mant, d.expo
		}
	}
}

// ldlFour factors four matrices as ldl does. A mantissa becomes negative, and stays so, at a pivot
// that is less than least, or not finite. scratch holds 2p entries.
func ldlFour(det *[4]determinant, u []four, p int, least float64, scratch []four) {
	inv := scratch[p:] // −1/d
	for c := range p {
		row, t := u[:c+1], scratch[:c] // −t
		for m := range t {
			x, y, z := &t[m], &row[m], &inv[m]
			x[0], x[1], x[2], x[3] = y[0]*z[0], y[1]*z[1], y[2]*z[2], y[3]*z[3]
		}
		reduceFour(u, p, t)
		d, i := &row[c], &inv[c]
		i[0], i[1], i[2], i[3] = -1/d[0], -1/d[1], -1/d[2], -1/d[3]
		for l, x := range d {
			if !(x >= least && x <= math.MaxFloat64) || det[l].mant < 0 {
				det[l] = determinant{mant: -1}
				continue
			}
			det[l].times(x)
		}
		u = u[c+1:]
	}
}

// reduceFour adds the products with t to column len(t) of the rows from there on, which begin at u.
func reduceFour(u []four, p int, t []four) {
	for r := len(t); r < p; r++ {
		row, d := u[:len(t)], &u[len(t)]
		s0, s1, s2, s3 := d[0], d[1], d[2], d[3]
		if dense.Fused {
			for m := range t {
				x, y := &row[m], &t[m]
				s0 = math.FMA(x[0], y[0], s0)
				s1 = math.FMA(x[1], y[1], s1)
				s2 = math.FMA(x[2], y[2], s2)
				s3 = math.FMA(x[3], y[3], s3)
			}
		} else {
			for m := range t {
				x, y := &row[m], &t[m]
				s0 += float64(x[0] * y[0])
				s1 += float64(x[1] * y[1])
				s2 += float64(x[2] * y[2])
				s3 += float64(x[3] * y[3])
			}
		}
		d[0], d[1], d[2], d[3] = s0, s1, s2, s3
		u = u[r+1:]
	}
}
