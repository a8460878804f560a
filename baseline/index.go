package baseline

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// entry is one coordinate of a sparse feature vector. A vector has no two entries with
// the same id, except unseen ones.
type entry struct {
	id    uint32 // feature, or unseen
	block uint32
	val   float64
}

// unseen is the id of a feature that no training graph has.
const unseen = math.MaxUint32

// index holds the feature vectors φ of the training graphs by graph and by feature, for
//
//	k(x, y) = Σ_b w_b Σ_{f in block b} φ_f(x) φ_f(y),
//
// or the sum of min(φ_f(x), φ_f(y)) over all features. Features are ranked by block, and
// within a block by falling number of graphs that have them: the frequent ones, which come
// first, are also kept as dense columns. A sum always runs through its terms in the order
// of ranks, so that it has the same bits whichever graph it is computed from.
type index struct {
	n        int
	weight   []float64 // w, by block
	minimum  bool      // minimum in place of the product; one block, whole numbers
	rank     []uint32  // by feature id; unseen when no graph has the feature
	blockEnd []int     // by block: first rank after it
	post     []int     // by rank: where its postings start; one more at the end
	graph    []uint32  // postings: graphs in ascending order
	val      []float64 // postings: values
	count    []uint32  // postings: values as whole numbers, for the minimum
	dense    [][]float64
	denseInt [][]uint32
	vectors  [][]known // by graph: its vector, whose postings start at the graph itself
	self     []float64
}

// A feature that one in denseShare graphs has is kept as a dense column too, when there
// are at least denseGraphs.
const (
	denseShare  = 4
	denseGraphs = 64
)

// newIndex builds the index of vectors. No weights stand for one block of weight 1.
func newIndex(vectors [][]entry, weight []float64, minimum bool) (*index, error) {
	if weight == nil {
		weight = []float64{1}
	}
	x := &index{n: len(vectors), weight: weight, minimum: minimum}
	features, total := 0, 0
	for _, v := range vectors {
		for _, e := range v {
			features = max(features, int(e.id)+1)
		}
		total += len(v)
	}
	if int64(total) >= unseen {
		return nil, errors.New("more than 4294967294 features of all graphs together")
	}
	df := make([]uint32, features)
	block := make([]uint32, features)
	for _, v := range vectors {
		for _, e := range v {
			df[e.id]++
			block[e.id] = e.block
		}
	}
	x.rankFeatures(df, block)
	x.fill(vectors, total)
	x.self = make([]float64, x.n)
	for i, v := range x.vectors {
		x.self[i] = x.selfSimilarity(v, nil)
	}
	return x, nil
}

// rankFeatures orders the features by block, falling frequency and id, by counting.
func (x *index) rankFeatures(df, block []uint32) {
	blocks := len(x.weight)
	start := make([]int, blocks*(x.n+1)+1) // by (block, n - df)
	class := func(f int) int { return int(block[f])*(x.n+1) + x.n - int(df[f]) }
	for f, c := range df {
		if c > 0 {
			start[class(f)+1]++
		}
	}
	for i := 1; i < len(start); i++ {
		start[i] += start[i-1]
	}
	x.blockEnd = make([]int, blocks)
	for b := range blocks {
		x.blockEnd[b] = start[(b+1)*(x.n+1)]
	}
	ranks := start[len(start)-1]
	x.post = make([]int, ranks+1)
	x.rank = make([]uint32, len(df))
	for f, c := range df {
		if c == 0 {
			x.rank[f] = unseen
			continue
		}
		k := class(f)
		x.rank[f] = uint32(start[k])
		x.post[start[k]+1] = int(c)
		start[k]++
	}
	for r := range ranks {
		x.post[r+1] += x.post[r]
	}
}

// fill writes postings, vectors and dense columns.
func (x *index) fill(vectors [][]entry, total int) {
	x.graph = make([]uint32, total)
	x.val = make([]float64, total)
	x.vectors = make([][]known, x.n)
	next := slices.Clone(x.post)
	for i, v := range vectors {
		for _, e := range v {
			p := next[x.rank[e.id]]
			next[x.rank[e.id]]++
			x.graph[p], x.val[p] = uint32(i), e.val
		}
		x.vectors[i] = make([]known, 0, len(v))
	}
	for r := range len(x.post) - 1 {
		for p := x.post[r]; p < x.post[r+1]; p++ {
			i := x.graph[p]
			x.vectors[i] = append(x.vectors[i], known{uint32(r), uint32(p), x.val[p]})
		}
	}
	if x.minimum {
		x.count = make([]uint32, total)
		for p, v := range x.val {
			x.count[p] = uint32(v)
		}
		x.denseInt = denseColumns(x, x.count)
	} else {
		x.dense = denseColumns(x, x.val)
	}
}

// denseColumns returns, by rank up to the last dense feature, the columns of the frequent
// features and nil for the others.
func denseColumns[T float64 | uint32](x *index, val []T) [][]T {
	var cols [][]T
	if x.n < denseGraphs {
		return nil
	}
	for r := range len(x.post) - 1 {
		if denseShare*(x.post[r+1]-x.post[r]) < x.n {
			continue
		}
		c := make([]T, x.n)
		for p := x.post[r]; p < x.post[r+1]; p++ {
			c[x.graph[p]] = val[p]
		}
		cols = append(cols, make([][]T, r+1-len(cols))...)
		cols[r] = c
	}
	return cols
}

// known is a coordinate by rank, with the position in the postings from which on they
// are wanted.
type known struct {
	rank uint32
	at   uint32
	val  float64
}

// split divides the vector of a new graph into the features that training graphs have, in
// the order of ranks, with all their postings, and the others.
func (x *index) split(v []entry, dst []known) (in []known, out []entry) {
	for _, e := range v {
		r := x.rankOf(e.id)
		if r == unseen {
			out = append(out, e)
			continue
		}
		dst = append(dst, known{r, uint32(x.post[r]), e.val})
	}
	slices.SortFunc(dst, func(a, b known) int { return cmp.Compare(a.rank, b.rank) })
	return dst, out
}

// rankOf returns the rank of a feature, unseen when no training graph has it.
func (x *index) rankOf(feature uint32) uint32 {
	if int(feature) >= len(x.rank) {
		return unseen
	}
	return x.rank[feature]
}

// selfSimilarity returns k(v, v).
func (x *index) selfSimilarity(v []known, others []entry) float64 {
	sum := 0.0
	for b, end := range x.blockEnd {
		s := 0.0
		for ; len(v) > 0 && int(v[0].rank) < end; v = v[1:] {
			s += x.term(v[0].val)
		}
		for _, e := range others {
			if int(e.block) == b {
				s += x.term(e.val)
			}
		}
		sum += float64(x.weight[b] * s)
	}
	return sum
}

func (x *index) term(v float64) float64 {
	if x.minimum {
		return v
	}
	return float64(v * v)
}

// sums holds the buffers of one goroutine.
type sums struct {
	products []float64
	minima   []uint32
}

// accumulate writes the kernel values of v with training graphs lo, lo+1, … into out,
// which is zero.
func (x *index) accumulate(v []known, lo int, out []float64, s *sums) {
	if x.minimum {
		x.accumulateMin(v, lo, out, s)
		return
	}
	for b, end := range x.blockEnd {
		k := 0
		for k < len(v) && int(v[k].rank) < end {
			k++
		}
		switch {
		case k == 0:
		case len(x.blockEnd) == 1 && x.weight[0] == 1:
			x.accumulateDot(v[:k], lo, out)
		default:
			acc := resized(&s.products, len(out))
			x.accumulateDot(v[:k], lo, acc)
			for j, a := range acc {
				out[j] += float64(x.weight[b] * a)
			}
		}
		v = v[k:]
	}
}

// accumulateDot adds products in the order of ranks. Products are converted explicitly
// so that no machine fuses them with the addition.
func (x *index) accumulateDot(v []known, lo int, acc []float64) {
	d := 0
	for d < len(v) && int(v[d].rank) < len(x.dense) && x.dense[v[d].rank] != nil {
		d++
	}
	n := len(acc)
	for ; d >= 4; d -= 4 {
		a0, a1, a2, a3 := v[0].val, v[1].val, v[2].val, v[3].val
		c0, c1 := x.dense[v[0].rank][lo:][:n], x.dense[v[1].rank][lo:][:n]
		c2, c3 := x.dense[v[2].rank][lo:][:n], x.dense[v[3].rank][lo:][:n]
		for j := range acc {
			acc[j] = acc[j] + float64(a0*c0[j]) + float64(a1*c1[j]) + float64(a2*c2[j]) + float64(a3*c3[j])
		}
		v = v[4:]
	}
	for ; d > 0; d-- {
		a := v[0].val
		c := x.dense[v[0].rank][lo:][:n]
		for j := range acc {
			acc[j] += float64(a * c[j])
		}
		v = v[1:]
	}
	for _, e := range v {
		end := x.post[e.rank+1]
		gs := x.graph[e.at:end]
		cs := x.val[e.at:end]
		cs = cs[:len(gs)]
		for k, g := range gs {
			acc[int(g)-lo] += float64(e.val * cs[k])
		}
	}
}

// accumulateMin adds minima. Their sums are whole numbers and exact.
func (x *index) accumulateMin(v []known, lo int, out []float64, s *sums) {
	acc := resized(&s.minima, len(out))
	n := len(acc)
	for len(v) >= 2 && int(v[1].rank) < len(x.denseInt) {
		a0, a1 := uint32(v[0].val), uint32(v[1].val)
		c0, c1 := x.denseInt[v[0].rank][lo:][:n], x.denseInt[v[1].rank][lo:][:n]
		for j := range acc {
			acc[j] += min(a0, c0[j]) + min(a1, c1[j])
		}
		v = v[2:]
	}
	for _, e := range v {
		a := uint32(e.val)
		end := x.post[e.rank+1]
		gs := x.graph[e.at:end]
		cs := x.count[e.at:end]
		cs = cs[:len(gs)]
		for k, g := range gs {
			acc[int(g)-lo] += min(a, cs[k])
		}
	}
	for j, a := range acc {
		out[j] = x.weight[0] * float64(a)
	}
}
