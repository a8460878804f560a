//go:build !noasm

package spd

// lastMask[4−n:] is the mask of the first n of four numbers.
var lastMask = [8]int64{-1, -1, -1, -1}

// strip returns the number of vectors, at most 3, to take of the given number that are left.
// Two and two are faster than three and one.
func strip(left int) int {
	if left == 4 {
		return 2
	}
	return min(left, 3)
}

// asmProject runs through strips of up to 12 columns of w, packed with zeros after the last column.
func asmProject(dst, k, w []float64, rows, n, p int) bool {
	if vector == plain {
		return false
	}
	s := works.Get().(*work)
	defer works.Put(s)
	for c, left := 0, (p+3)/4; left > 0; {
		nv := strip(left)
		left -= nv
		width := 4 * nv
		s.pack = grow(s.pack, n*width)
		take := min(width, p-c)
		for m := range n {
			d := s.pack[m*width:][:width]
			clear(d[copy(d, w[m*p+c:][:take]):])
		}
		f := project1AVX2
		switch nv {
		case 2:
			f = project2AVX2
		case 3:
			f = project3AVX2
		}
		f(&dst[c], 8*p, &k[0], 8*n, &s.pack[0], rows, n, &lastMask[width-take])
		c += width
	}
	return true
}

// asmGram computes the lower triangle of YᵀY by blocks of 4×12 in a square work space whose
// order is a multiple of 4. Vectors run past the end of a row of y into the next, where
// there is one; the last rows are padded.
func asmGram(dst, y []float64, rows, p int) bool {
	if vector == plain {
		return false
	}
	p4 := (p + 3) &^ 3
	padded := min((p4-1)/p, rows) // rows within p4−p of the end: ⌈(p4−p)/p⌉
	s := works.Get().(*work)
	defer works.Put(s)
	s.pack = grow(s.pack, p4*p4+padded*p4)
	c, tail := s.pack[:p4*p4], s.pack[p4*p4:]
	clear(s.pack)
	for r := range padded {
		copy(tail[r*p4:], y[(rows-padded+r)*p:][:p])
	}
	if rows > padded {
		gramBlocks(c, y, p, rows-padded)
	}
	if padded > 0 {
		gramBlocks(c, tail, p4, padded)
	}
	for i := range p {
		row := dst[Index(i, 0):][:i+1]
		for j, v := range c[i*p4:][:i+1] {
			row[j] += v
		}
	}
	return true
}

// gramBlocks adds the products of rows of y, stride numbers apart, to the square c.
func gramBlocks(c, y []float64, stride, rows int) {
	p4 := (stride + 3) &^ 3
	for i := 0; i < p4; i += 4 {
		for j, left := 0, i/4+1; left > 0; {
			nv := strip(left)
			left -= nv
			f := gram1AVX2
			switch nv {
			case 2:
				f = gram2AVX2
			case 3:
				f = gram3AVX2
			}
			f(&c[i*p4+j], 8*p4, &y[i], &y[j], 8*stride, rows)
			j += 4 * nv
		}
	}
}
