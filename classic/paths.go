package classic

import (
	"cmp"
	"context"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/work"
)

// path is a class of pairs of vertices: the colours a ≤ b of the ends, the length, and
// the number of such pairs.
type path struct {
	a, b   uint64
	length uint64
	count  float64
}

// pathCounter counts the connected pairs of distinct vertices of one graph after the other
// by the colours of their ends and their distance.
type pathCounter struct {
	localColours
	search  search
	count   []uint32  // by key, where there are few colours
	sorter  keySorter // otherwise one key per pair of vertices
	numbers map[uint64]uint64
	lengths []uint64 // by number in keys; empty where keys hold hops
}

// localColours numbers the colours that a graph has 0, 1, … in ascending order.
type localColours struct {
	local  []uint32 // by vertex: number of its colour
	colour []uint64 // by number
}

func (s *localColours) set(colour []uint64) {
	s.colour = append(s.colour[:0], colour...)
	slices.Sort(s.colour)
	s.colour = slices.Compact(s.colour)
	s.local = s.local[:0]
	for _, c := range colour {
		i, _ := slices.BinarySearch(s.colour, c)
		s.local = append(s.local, uint32(i))
	}
}

// collect counts pairs of vertices by their distance in hops or, where length is not nil,
// along edges of these lengths (see search). Vertices for which keep is false are left out; nil
// keeps all.
func (s *pathCounter) collect(ctx context.Context, g *graph.Graph, colour []uint64, length [][]uint64, keep []bool) error {
	s.set(colour)
	n, k := g.N(), len(s.colour)
	s.sorter.keys, s.count, s.lengths = s.sorter.keys[:0], s.count[:0], s.lengths[:0]
	dense := length == nil && k*k <= max(1024, n)
	if length != nil {
		s.numbers = map[uint64]uint64{}
	}
	for u := range n {
		if keep != nil && !keep[u] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		work.Reached(ctx, u, n)
		reached := s.search.from(g, u, length)
		if dense {
			s.countFrom(u, reached, keep)
			continue
		}
		for _, v := range reached {
			if int(v) <= u || keep != nil && !keep[v] {
				continue
			}
			d := s.search.dist[v]
			if length != nil {
				d = s.number(d)
			}
			s.sorter.keys = append(s.sorter.keys, s.key(d, u, v))
		}
	}
	s.sorter.sort(0)
	return nil
}

// number returns the number of a length in keys.
func (s *pathCounter) number(length uint64) uint64 {
	i, ok := s.numbers[length]
	if !ok {
		i = uint64(len(s.lengths))
		s.numbers[length] = i
		s.lengths = append(s.lengths, length)
	}
	return i
}

// key packs the class of a pair: (length · k + a) · k + b for k colours.
func (s *pathCounter) key(length uint64, u int, v int32) uint64 {
	a, b, k := uint64(s.local[u]), uint64(s.local[v]), uint64(len(s.colour))
	return (length*k+min(a, b))*k + max(a, b)
}

// countFrom counts the pairs of u and the higher vertices that it reaches in an array by key.
func (s *pathCounter) countFrom(u int, reached []int32, keep []bool) {
	k := len(s.colour)
	dist := s.search.dist
	if need := (int(dist[reached[len(reached)-1]]) + 1) * k * k; need > len(s.count) {
		at := len(s.count)
		s.count = slices.Grow(s.count, need-at)[:need]
		clear(s.count[at:])
	}
	a := int(s.local[u])
	for _, v := range reached {
		if int(v) > u && (keep == nil || keep[v]) {
			b := int(s.local[v])
			s.count[(int(dist[v])*k+min(a, b))*k+max(a, b)]++
		}
	}
}

// eachClass calls f with the classes that collect found. Hops come in ascending order of
// length, a and b.
func (s *pathCounter) eachClass(f func(p path)) {
	k := uint64(len(s.colour))
	class := func(key uint64, count float64) {
		length := key / k / k
		if len(s.lengths) > 0 {
			length = s.lengths[length]
		}
		f(path{a: s.colour[key/k%k], b: s.colour[key%k], length: length, count: count})
	}
	for key, c := range s.count {
		if c > 0 {
			class(uint64(key), float64(c))
		}
	}
	eachRun(s.sorter.keys, class)
}

// most returns an upper bound of the number of classes.
func (s *pathCounter) most() int { return len(s.count) + len(s.sorter.keys) }

// eachPair calls visit with the connected pairs of vertices u ≤ v, in every refinement: its colours, and its
// distance in hops or along edges (see search).
func (g *coloured) eachPair(ctx context.Context, length [][]uint64, visit func(u, v int, p path)) error {
	var s search
	for u := range g.N() {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, v := range s.from(g.Graph, u, length) {
			if int(v) < u {
				continue
			}
			for _, colour := range g.colours {
				visit(u, int(v), path{a: min(colour[u], colour[v]), b: max(colour[u], colour[v]), length: s.dist[v], count: 1})
			}
		}
	}
	return nil
}

// eachAttributePath calls f with, for every distance and attributes a ≤ b, the sum Σ x_a(u) x_b(v)
// over the ordered pairs (u, v) of distinct vertices at that distance.
func (s *pathCounter) eachAttributePath(ctx context.Context, g *graph.Graph, length [][]uint64, f func(p path)) error {
	m := g.AttributeDim()
	s.numbers, s.lengths = map[uint64]uint64{}, s.lengths[:0]
	var sum []float64 // by number of the distance, a and b
	near := make([]float64, m)
	for u := range g.N() {
		if err := ctx.Err(); err != nil {
			return err
		}
		work.Reached(ctx, u, g.N())
		order := s.search.from(g, u, length)
		x, dist := g.Attributes(u), s.search.dist
		for i := 1; i < len(order); { // a run of vertices at the same distance
			d := dist[order[i]]
			clear(near)
			for ; i < len(order) && dist[order[i]] == d; i++ {
				for b, y := range g.Attributes(int(order[i])) {
					near[b] += y
				}
			}
			at := int(s.number(d)) * m * m
			if need := at + m*m; need > len(sum) {
				sum = append(sum, make([]float64, need-len(sum))...)
			}
			for a := range m {
				for b := a; b < m; b++ {
					sum[at+a*m+b] += float64(x[a] * near[b])
				}
			}
		}
	}
	for i, v := range sum {
		if v != 0 {
			f(path{a: uint64(i / m % m), b: uint64(i % m), length: s.lengths[i/(m*m)], count: v})
		}
	}
	return nil
}

// comparePaths compares a refinement of two graphs by the paths between vertices whose colours
// both have. These get few when colours get many.
func comparePaths(ctx context.Context, s *[2]pathCounter, a, b *coloured, refinement int, weight func(path) float64) (float64, error) {
	graphs := [2]*coloured{a, b}
	var found [2][]path
	for side, g := range graphs {
		colour := g.colours[refinement]
		other := slices.Sorted(slices.Values(graphs[1-side].colours[refinement]))
		keep := make([]bool, len(colour))
		some := false
		for v, c := range colour {
			_, keep[v] = slices.BinarySearch(other, c)
			some = some || keep[v]
		}
		if !some {
			return 0, nil
		}
		if err := s[side].collect(ctx, g.Graph, colour, nil, keep); err != nil {
			return 0, err
		}
		s[side].eachClass(func(p path) { found[side] = append(found[side], p) })
	}
	sum := 0.0
	for p, q := found[0], found[1]; len(p) > 0 && len(q) > 0; {
		switch cmp.Or(cmp.Compare(p[0].length, q[0].length), cmp.Compare(p[0].a, q[0].a), cmp.Compare(p[0].b, q[0].b)) {
		case -1:
			p = p[1:]
		case 1:
			q = q[1:]
		default:
			sum += float64(weight(p[0]) * (p[0].count * q[0].count))
			p, q = p[1:], q[1:]
		}
	}
	return sum, nil
}
