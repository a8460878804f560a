package classic

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/mlgkernel/mlg/graph"
)

// subgraphCounter counts subgraphs of one graph after the other; its buffers are reused.
//
// It counts the subgraphs of every type that need not be induced, by closed formulas in
// the degrees and in the numbers of triangles, 4-cycles and 4-cliques on vertices and
// edges, and then solves the triangular system
//
//	N_s = Σ_t sub[s][t] c_t
//
// for the numbers c of induced subgraphs. All is done modulo 2⁶⁴: results are exact when
// they are below that, whatever the terms are, except for quantities that are divided,
// which are checked.
type subgraphCounter struct {
	g    *graph.Graph
	d    []uint64 // degrees
	off  []int    // by vertex: number of its first arc
	edge []int32  // by arc: number of its edge
	ends [][2]int32

	triOff []int      // by edge: where its triangles start in tri
	tri    []triangle // by edge, in the order of edges
	mark   []int32    // by vertex: 1 + position in a list, 0 for none

	t4   []uint64 // by edge: 4-cliques
	bits []uint64 // adjacency of the third vertices of the triangles on an edge
	w    []uint64 // by vertex: number of common neighbours with the vertex at hand
	in   []int32  // vertices with w > 0
}

// triangle is a triangle on an edge (u, v): its third vertex, and its other edges.
type triangle struct{ x, ux, vx int32 }

var errSubgraphs = errors.New("too many subgraphs to count exactly; the kernel graphlet-mix takes a sample")

// choose returns C(n, k). A factor is 0 where n < k.
func choose(n uint64, k int) uint64 {
	c := uint64(1)
	for i := range uint64(k) {
		c = c * (n - i) / (i + 1)
	}
	return c
}

func choose2(n uint64) uint64 { return n * (n - 1) / 2 }
func choose3(n uint64) uint64 { return choose2(n) * (n - 2) / 3 }

// binomialFloat returns C(n, k) as a floating-point number.
func binomialFloat(n, k int) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(i+1)
	}
	return c
}

// induced returns the numbers of induced subgraphs with t.k vertices by type: all, or the
// connected ones only.
func (s *subgraphCounter) induced(ctx context.Context, g *graph.Graph, t *graphletTable, connected bool) ([]uint64, error) {
	if g.N() < t.k || connected && g.M() < t.k-1 {
		return make([]uint64, len(t.graph)), nil
	}
	if !connected && binomialFloat(g.N(), t.k) > 1<<61 {
		return nil, fmt.Errorf("%d vertices have too many subsets of %d: %w", g.N(), t.k, errSubgraphs)
	}
	s.load(g)
	stars := 0.0
	for _, d := range s.d {
		stars += binomialFloat(int(d), t.k-1)
	}
	if stars > 1<<61 {
		return nil, errSubgraphs
	}
	if err := s.triangles(ctx); err != nil {
		return nil, err
	}
	sub := make([]uint64, len(t.graph))
	var sub4 []uint64
	var err error
	switch t.k {
	case 3:
		s.count3(t, sub)
	case 4:
		_, err = s.count4(ctx, t, sub)
	case 5:
		four := graphlets(4)
		sub4 = make([]uint64, len(four.graph))
		var c cliques
		if c, err = s.count4(ctx, four, sub4); err == nil {
			err = s.count5(ctx, t, sub, sub4, c)
		}
	}
	if err != nil {
		return nil, err
	}
	if !connected {
		s.countDisconnected(t, sub, sub4)
	}
	for i := len(sub) - 1; i >= 0; i-- {
		if connected && !t.connected[i] {
			sub[i] = 0
			continue
		}
		for j := i + 1; j < len(sub); j++ {
			sub[i] -= t.sub[i][j] * sub[j]
		}
	}
	return sub, nil
}

// load prepares degrees and edge numbers.
func (s *subgraphCounter) load(g *graph.Graph) {
	n := g.N()
	s.g = g
	s.d, s.off, s.edge, s.ends = s.d[:0], s.off[:0], s.edge[:0], s.ends[:0]
	next := resized(&s.mark, n) // next arc of a vertex towards a lower one
	at := 0
	for v := range n {
		s.d = append(s.d, uint64(g.Degree(v)))
		s.off = append(s.off, at)
		at += g.Degree(v)
	}
	for u := range n {
		for _, v := range g.Neighbors(u) {
			if int(v) > u {
				s.edge = append(s.edge, int32(len(s.ends)))
				s.ends = append(s.ends, [2]int32{int32(u), v})
			} else { // u comes in the list of v after all vertices below u
				low := int(v)
				for int(g.Neighbors(low)[next[low]]) != u {
					next[low]++
				}
				s.edge = append(s.edge, s.edge[s.off[low]+int(next[low])])
			}
		}
	}
	clear(s.mark)
}

// resized returns *buf as a zeroed slice of length n.
func resized[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	*buf = (*buf)[:n]
	clear(*buf)
	return *buf
}

// trianglesOn returns the triangles on an edge.
func (s *subgraphCounter) trianglesOn(e int32) []triangle { return s.tri[s.triOff[e]:s.triOff[e+1]] }

// t returns the number of triangles on an edge.
func (s *subgraphCounter) t(e int32) uint64 { return uint64(s.triOff[e+1] - s.triOff[e]) }

// triangles lists the triangles on every edge. It looks through the neighbours of the
// end of smaller degree.
func (s *subgraphCounter) triangles(ctx context.Context) error {
	g := s.g
	before := func(v, u int) bool { return s.d[v] < s.d[u] || s.d[v] == s.d[u] && v < u }
	each := func(found func(e int32, u, v int, x int32, arcU, arcV int)) error {
		for u := range g.N() {
			if u%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for i, x := range g.Neighbors(u) {
				s.mark[x] = int32(i) + 1
			}
			for i, v := range g.Neighbors(u) {
				if !before(int(v), u) {
					continue
				}
				for j, x := range g.Neighbors(int(v)) {
					if m := s.mark[x]; m > 0 {
						found(s.edge[s.off[u]+i], u, int(v), x, s.off[u]+int(m)-1, s.off[v]+j)
					}
				}
			}
			for _, x := range g.Neighbors(u) {
				s.mark[x] = 0
			}
		}
		return nil
	}
	off := resized(&s.triOff, len(s.ends)+2)
	err := each(func(e int32, _, _ int, _ int32, _, _ int) { off[e+2]++ })
	if err != nil {
		return err
	}
	for e := 2; e < len(off); e++ {
		off[e] += off[e-1]
	}
	resized(&s.tri, off[len(off)-1])
	err = each(func(e int32, u, v int, x int32, arcU, arcV int) {
		tr := triangle{x, s.edge[arcU], s.edge[arcV]}
		if v < u { // ends are in ascending order
			tr.ux, tr.vx = tr.vx, tr.ux
		}
		s.tri[off[e+1]] = tr
		off[e+1]++
	})
	s.triOff = off[:len(off)-1]
	return err
}

// count3 counts the connected subgraphs with 3 vertices.
func (s *subgraphCounter) count3(t *graphletTable, sub []uint64) {
	for _, d := range s.d {
		sub[t.typeOf("01 02")] += choose2(d)
	}
	sub[t.typeOf("01 02 12")] = uint64(len(s.tri)) / 3
}

// cliques holds numbers of cliques, and of pairs of 4-cliques that share a triangle.
type cliques struct{ four, five, pairs uint64 }

// cliques counts the 4-cliques on every edge, in s.t4, and on every triangle. The third
// vertices of the triangles on an edge induce a graph, kept as rows of bits: its edges are
// the 4-cliques on the edge, and its triangles the 5-cliques.
func (s *subgraphCounter) cliques(ctx context.Context) (c cliques, err error) {
	t4 := resized(&s.t4, len(s.ends))
	for e := range s.ends {
		if e%64 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		tri := s.trianglesOn(int32(e)) // in ascending order of vertices
		if len(tri) < 2 {
			continue
		}
		words := (len(tri) + 63) / 64
		rows := resized(&s.bits, len(tri)*words)
		for i, x := range tri {
			s.mark[x.x] = int32(i) + 1
		}
		for i, x := range tri {
			k := uint64(0) // vertices adjacent to both ends of e and to x
			for _, y := range s.trianglesOn(x.ux) {
				if m := int(s.mark[y.x]) - 1; m >= 0 {
					k++
					rows[i*words+m/64] |= 1 << (m % 64)
				}
			}
			t4[e] += k
			c.pairs += choose2(k)
		}
		for i, x := range tri {
			s.mark[x.x] = 0
			if x.x > s.ends[e][1] && t4[e] > 0 {
				c.five += trianglesAbove(rows, words, i)
			}
		}
		t4[e] /= 2
		c.four += t4[e]
	}
	c.four /= 6
	c.pairs /= 3
	return c, nil
}

// trianglesAbove returns the number of triangles i < j < k of a graph given by rows of bits.
func trianglesAbove(rows []uint64, words, i int) uint64 {
	count := 0
	row := rows[i*words : (i+1)*words]
	after := row[i/64] &^ (2<<(i%64) - 1) // the bits of a word that come after i
	for w := i / 64; ; after = row[w] {
		for ; after != 0; after &= after - 1 {
			j := bits.TrailingZeros64(after)
			other := rows[(64*w+j)*words:][:words]
			count += bits.OnesCount64(row[w] & other[w] &^ (2<<j - 1))
			for v := w + 1; v < words; v++ {
				count += bits.OnesCount64(row[v] & other[v])
			}
		}
		if w++; w == words {
			return uint64(count)
		}
	}
}

// common fills w with the numbers of common neighbours of v and the other vertices.
func (s *subgraphCounter) common(v int) {
	for _, u := range s.in {
		s.w[u] = 0
	}
	s.in = s.in[:0]
	for _, b := range s.g.Neighbors(v) {
		for _, u := range s.g.Neighbors(int(b)) {
			if int(u) == v {
				continue
			}
			if s.w[u] == 0 {
				s.in = append(s.in, u)
			}
			s.w[u]++
		}
	}
}

// count4 counts the connected subgraphs with 4 vertices.
func (s *subgraphCounter) count4(ctx context.Context, t *graphletTable, sub []uint64) (cliques, error) {
	c, err := s.cliques(ctx)
	if err != nil {
		return c, err
	}
	var star, path, paw, cycles, diamond uint64
	triangles := uint64(len(s.tri)) / 3
	resized(&s.w, s.g.N())
	s.in = s.in[:0]
	for v, d := range s.d {
		if v%64 == 0 && ctx.Err() != nil {
			return c, ctx.Err()
		}
		star += choose3(d)
		s.common(v)
		for _, u := range s.in {
			cycles += choose2(s.w[u])
		}
	}
	for e, ends := range s.ends {
		te := s.t(int32(e))
		path += (s.d[ends[0]] - 1) * (s.d[ends[1]] - 1)
		diamond += choose2(te)
		for _, x := range s.trianglesOn(int32(e)) {
			paw += s.d[x.x] - 2
		}
	}
	sub[t.typeOf("01 02 03")] = star
	sub[t.typeOf("01 12 23")] = path - 3*triangles
	sub[t.typeOf("01 12 02 03")] = paw
	sub[t.typeOf("01 12 23 03")] = cycles / 4
	sub[t.typeOf("01 12 23 03 02")] = diamond
	sub[t.typeOf("01 02 03 12 13 23")] = c.four
	return c, nil
}

// countDisconnected adds the subgraphs with isolated vertices and those with two
// components: two edges, an edge and a path, an edge and a triangle. sub4 holds the
// connected subgraphs with 4 vertices when t.k is 5.
func (s *subgraphCounter) countDisconnected(t *graphletTable, sub, sub4 []uint64) {
	n, m := uint64(s.g.N()), uint64(len(s.ends))
	triangles := uint64(len(s.tri)) / 3
	wedges := uint64(0)
	for _, d := range s.d {
		wedges += choose2(d)
	}
	for _, s := range []struct {
		edges    string
		vertices int // that are not isolated
		count    uint64
	}{{"", 0, 1}, {"01", 2, m}, {"01 12", 3, wedges}, {"01 12 02", 3, triangles}, {"01 23", 4, choose2(m) - wedges}} {
		if s.vertices <= t.k {
			sub[t.typeOf(s.edges)] = s.count * choose(n-uint64(s.vertices), t.k-s.vertices)
		}
	}
	if t.k < 5 {
		return
	}
	four := graphlets(4)
	for i, mask := range four.graph { // with the fifth vertex isolated
		if four.connected[i] {
			sub[t.typ[mask]] = sub4[i] * (n - 4)
		}
	}
	// An edge apart from a path a-v-b: of the m edges d_a + d_v + d_b - 2 touch the path,
	// one less when a and b are adjacent.
	var edgePath, edgeTriangle uint64
	for v, d := range s.d {
		near := uint64(0)
		for _, u := range s.g.Neighbors(v) {
			near += s.d[u]
		}
		edgePath += choose2(d)*(m-d+2) - near*(d-1)
	}
	edgePath += 3 * triangles
	for e := range s.ends {
		for _, x := range s.trianglesOn(int32(e)) { // every triangle three times, once per x
			edgeTriangle += s.d[x.x]
		}
	}
	sub[t.typeOf("01 12 34")] = edgePath
	sub[t.typeOf("01 12 02 34")] = triangles*(m+3) - edgeTriangle
}
