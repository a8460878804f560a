package svm

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
