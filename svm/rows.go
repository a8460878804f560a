package svm

// addRows adds Σ_r w[r]·rows[r][index[k]] to f[k], four rows at a time.
func addRows(f []float64, w []float64, rows [][]float64, index []int) {
	f = f[:len(index)]
	for len(rows) >= 4 {
		r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		for k, c := range index {
			f[k] += w0*r0[c] + w1*r1[c] + w2*r2[c] + w3*r3[c]
		}
		rows, w = rows[4:], w[4:]
	}
	for r, row := range rows {
		for k, c := range index {
			f[k] += w[r] * row[c]
		}
	}
}
