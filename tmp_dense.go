package mlg

func addGram(dst, y []float64, rows, p int) {
	for r := range rows {
		row := y[r*p : (r+1)*p]
		at := 0
		for i, x := range row {
			for _, v := range row[:i+1] {
				dst[at] += x * v
				at++
			}
		}
	}
}

func project(dst, k, w []float64, rows, n, p int) {
	for r := range rows {
		d := dst[r*p : (r+1)*p]
		clear(d)
		for i, x := range k[r*n : (r+1)*n] {
			for j, v := range w[i*p : (i+1)*p] {
				d[j] += x * v
			}
		}
	}
}
