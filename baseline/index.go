package baseline

import "slices"

// index finds the graphs that have a feature. It holds vectors φ by feature, for
//
//	k(x, y) = Σ_b w_b Σ_{f in block b} φ_f(x) φ_f(y),
//
// or the sum of min(φ_f(x), φ_f(y)) over all features. A sum runs through its terms by block and
// hash. So it has the same bits in every collection, and whichever graph it is computed from. Where
// all sums are exact, frequent features come first.
type index struct {
	post  []int     // by position of a feature: where its postings start; one more at the end
	graph []uint32  // postings: graphs in ascending order
	count []uint32  // postings: values, as vectors have them
	val   []float64 // or these
	dense []column  // of the frequent features, by position
}

// column has the values of a feature for all graphs.
type column struct {
	at    uint32
	val   []float64
	count []uint32 // instead, for minima
}

// A feature that one in denseShare graphs has is kept as a dense column too, when there
// are at least denseGraphs.
const (
	denseShare  = 4
	denseGraphs = 64
)

// index returns the index, which is built once.
func (x *vectors) index(minimum bool) *index {
	x.indexed.Do(func() { x.inverse = newIndex(x, minimum) })
	return &x.inverse
}

func newIndex(x *vectors, minimum bool) index {
	ix := index{post: make([]int, len(x.table.id)+1), graph: make([]uint32, len(x.at))}
	for _, p := range x.at {
		ix.post[p+1]++
	}
	for p := range x.table.id {
		ix.post[p+1] += ix.post[p]
	}
	if x.count != nil {
		ix.count = transposed(&ix, x, x.count)
	} else {
		ix.val = transposed(&ix, x, x.val)
	}
	if x.Len() < denseGraphs {
		return ix
	}
	for p := range x.table.id {
		if denseShare*(ix.post[p+1]-ix.post[p]) < x.Len() {
			continue
		}
		c := column{at: uint32(p)}
		if minimum {
			c.count = make([]uint32, x.Len())
		} else {
			c.val = make([]float64, x.Len())
		}
		for k := ix.post[p]; k < ix.post[p+1]; k++ {
			if minimum {
				c.count[ix.graph[k]] = ix.count[k]
			} else {
				c.val[ix.graph[k]] = ix.value(k)
			}
		}
		ix.dense = append(ix.dense, c)
	}
	return ix
}

// value returns that of posting k.
func (ix *index) value(k int) float64 {
	if ix.count != nil {
		return float64(ix.count[k])
	}
	return ix.val[k]
}

// transposed returns values in the order of postings, and fills in their graphs.
func transposed[T uint32 | float64](ix *index, x *vectors, values []T) []T {
	out := make([]T, len(values))
	next := slices.Clone(ix.post)
	for i := range x.Len() {
		for k := x.start[i]; k < x.start[i+1]; k++ {
			to := next[x.at[k]]
			next[x.at[k]]++
			ix.graph[to], out[to] = uint32(i), values[k]
		}
	}
	return out
}

// term is a feature of a row: its value, and where the graphs that have it are found.
type term struct {
	at    uint32
	dense int32 // number of its column, -1 for none
	val   float64
}

// rowSums computes rows of a block. It holds the buffers of one goroutine.
type rowSums struct {
	weight  []float64 // by block
	minimum bool

	terms    []term
	products []float64
	minima   []uint32
}

// fill sets out to the kernel values of graph i of x and the graphs lo, lo+1, … of y.
func (s *rowSums) fill(out []float64, x *vectors, i int, y *vectors, lo int) {
	clear(out)
	ix, exact := y.index(s.minimum), x.exact && y.exact
	s.load(x, i, y, ix)
	if s.minimum {
		s.addMinima(out, ix, lo)
		return
	}
	rest := s.terms
	for b, end := range y.table.end {
		k := 0
		for k < len(rest) && int(rest[k].at) < end {
			k++
		}
		switch {
		case k == 0:
		case len(s.weight) == 1 && s.weight[0] == 1:
			s.addProducts(out, ix, rest[:k], lo, exact)
		default:
			acc := resized(&s.products, len(out))
			s.addProducts(acc, ix, rest[:k], lo, exact)
			for j, a := range acc {
				out[j] += float64(s.weight[b] * a)
			}
		}
		rest = rest[k:]
	}
}

// load finds the features of graph i of x that graphs of y have.
func (s *rowSums) load(x *vectors, i int, y *vectors, ix *index) {
	s.terms = s.terms[:0]
	to := x.positions(y.table)
	d := 0
	for k := x.start[i]; k < x.start[i+1]; k++ {
		at := x.at[k]
		if to != nil {
			if at = to[at]; at == absent {
				continue
			}
		}
		for d < len(ix.dense) && ix.dense[d].at < at {
			d++
		}
		t := term{at, -1, x.value(k)}
		if d < len(ix.dense) && ix.dense[d].at == at {
			t.dense = int32(d)
		}
		s.terms = append(s.terms, t)
	}
}

// addProducts adds the products of a block. Products are converted explicitly so that no machine
// fuses them with the addition.
func (s *rowSums) addProducts(acc []float64, ix *index, terms []term, lo int, exact bool) {
	n := len(acc)
	if exact { // the frequent features first
		k := 0
		for i, t := range terms {
			if t.dense >= 0 {
				terms[i], terms[k] = terms[k], t
				k++
			}
		}
	}
	for len(terms) > 0 {
		d := 0
		for d < len(terms) && terms[d].dense >= 0 {
			d++
		}
		for ; d >= 4; d -= 4 {
			a0, a1, a2, a3 := terms[0].val, terms[1].val, terms[2].val, terms[3].val
			c0, c1 := ix.dense[terms[0].dense].val[lo:][:n], ix.dense[terms[1].dense].val[lo:][:n]
			c2, c3 := ix.dense[terms[2].dense].val[lo:][:n], ix.dense[terms[3].dense].val[lo:][:n]
			for j := range acc {
				acc[j] = acc[j] + float64(a0*c0[j]) + float64(a1*c1[j]) + float64(a2*c2[j]) + float64(a3*c3[j])
			}
			terms = terms[4:]
		}
		for ; d > 0; d-- {
			a, c := terms[0].val, ix.dense[terms[0].dense].val[lo:][:n]
			for j := range acc {
				acc[j] += float64(a * c[j])
			}
			terms = terms[1:]
		}
		for len(terms) > 0 && terms[0].dense < 0 {
			from, to := ix.between(terms[0].at, lo, lo+n)
			a, gs := terms[0].val, ix.graph[from:to]
			if ix.count != nil {
				for k, c := range ix.count[from:to] {
					acc[int(gs[k])-lo] += float64(a * float64(c))
				}
			} else {
				for k, c := range ix.val[from:to] {
					acc[int(gs[k])-lo] += float64(a * c)
				}
			}
			terms = terms[1:]
		}
	}
}

// between returns the postings of a feature for the graphs from lo to hi.
func (ix *index) between(at uint32, lo, hi int) (from, to int) {
	from, to = ix.post[at], ix.post[at+1]
	gs := ix.graph[from:to]
	if len(gs) > 0 && int(gs[0]) < lo {
		k, _ := slices.BinarySearch(gs, uint32(lo))
		from, gs = from+k, gs[k:]
	}
	if len(gs) > 0 && int(gs[len(gs)-1]) >= hi {
		k, _ := slices.BinarySearch(gs, uint32(hi))
		to = from + k
	}
	return from, to
}

// addMinima adds minima. Their sums are whole numbers and exact.
func (s *rowSums) addMinima(out []float64, ix *index, lo int) {
	acc := resized(&s.minima, len(out))
	n := len(acc)
	odd := -1 // a frequent feature that waits for another one
	for i, t := range s.terms {
		switch a := uint32(t.val); {
		case t.dense >= 0 && odd < 0:
			odd = i
		case t.dense >= 0:
			b := uint32(s.terms[odd].val)
			c, d := ix.dense[t.dense].count[lo:][:n], ix.dense[s.terms[odd].dense].count[lo:][:n]
			for j := range acc {
				acc[j] += min(a, c[j]) + min(b, d[j])
			}
			odd = -1
		default:
			addMinima(acc, ix, t, lo)
		}
	}
	if odd >= 0 {
		addMinima(acc, ix, s.terms[odd], lo)
	}
	for j, a := range acc {
		out[j] = s.weight[0] * float64(a)
	}
}

// addMinima adds the minima of one feature.
func addMinima(acc []uint32, ix *index, t term, lo int) {
	from, to := ix.between(t.at, lo, lo+len(acc))
	a, gs := uint32(t.val), ix.graph[from:to]
	for k, c := range ix.count[from:to] {
		acc[int(gs[k])-lo] += min(a, c)
	}
}
