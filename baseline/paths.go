package baseline

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// path is a class of pairs of vertices: the colours a ≤ b of the ends, the length, and
// the number of such pairs.
type path struct {
	a, b   uint32
	length uint64
	count  float64
}

// pathDict numbers classes of paths. A class is packed into a key of two colours and the
// number of its length.
type pathDict struct {
	colours  int // number of colours: those of new graphs that are not below it are unknown
	lengths  interner
	features interner
}

// shift returns the number of bits of a colour in a key.
func (d *pathDict) shift() int { return bits.Len(uint(d.colours)) }

var errPathClasses = errors.New("too many label classes for the number of different path lengths, want fewer labels or a coarser Resolution")

func (d *pathDict) intern(p path) (uint32, error) {
	length := uint64(d.lengths.intern(p.length))
	if bits.Len64(length)+2*d.shift() > 64 {
		return 0, errPathClasses
	}
	return d.features.intern((length<<d.shift()|uint64(p.a))<<d.shift() | uint64(p.b)), nil
}

func (d *pathDict) lookup(p path) (uint32, bool) {
	length, ok := d.lengths.lookup(p.length)
	if !ok || int(p.a) >= d.colours || int(p.b) >= d.colours {
		return 0, false
	}
	return d.features.lookup((uint64(length)<<d.shift()|uint64(p.a))<<d.shift() | uint64(p.b))
}

// fitPaths calls local for all graphs in parallel, and then take with the results in the
// order of the graphs, a batch of graphs at a time.
func fitPaths(ctx context.Context, workers int, graphs []*graph.Graph, local func(s *pathScratch, g int) ([]path, error), take func(g int, ps []path) error) error {
	const batch = 512
	s := make([]pathScratch, workers)
	found := make([][]path, min(batch, len(graphs)))
	for from := 0; from < len(graphs); from += batch {
		err := parallel(ctx, workers, min(batch, len(graphs)-from), 4, func(w, i int) error {
			ps, err := local(&s[w], from+i)
			found[i] = append(found[i][:0], ps...)
			return graphError(from+i, err)
		})
		if err != nil {
			return err
		}
		for i := range min(batch, len(graphs)-from) {
			if err := take(from+i, found[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// pathScratch holds the buffers of one worker that counts paths.
type pathScratch struct {
	out     []path
	local   []uint32 // by vertex: position of its colour among those of the graph
	colour  []uint32 // the colours of the graph, ascending
	hops    hopSearch
	weight  weightSearch
	count   []uint32  // by key, where there are few colours
	keys    []uint64  // otherwise one per pair of vertices, sorted
	lengths *interner // numbers of lengths in keys; nil for hops
	spare   []uint64
}

// edges returns the classes of the edges of g by end colours, with length 1. The result
// is valid until the next call.
func (s *pathScratch) edges(g *graph.Graph, colour []uint32) []path {
	s.keys = s.keys[:0]
	for u := range g.N() {
		for _, v := range g.Neighbors(u) {
			if int(v) > u {
				a, b := colour[u], colour[v]
				s.keys = append(s.keys, pair(min(a, b), max(a, b)))
			}
		}
	}
	s.sortKeys()
	s.out = s.out[:0]
	for i, key := range s.keys {
		if i == 0 || key != s.keys[i-1] {
			s.out = append(s.out, path{a: uint32(key >> 32), b: uint32(key), length: 1})
		}
		s.out[len(s.out)-1].count++
	}
	return s.out
}

// localColours numbers the colours that the graph has 0, 1, … in ascending order.
func (s *pathScratch) localColours(colour []uint32) {
	s.colour = append(s.colour[:0], colour...)
	slices.Sort(s.colour)
	s.colour = slices.Compact(s.colour)
	s.local = s.local[:0]
	for _, c := range colour {
		i, _ := slices.BinarySearch(s.colour, c)
		s.local = append(s.local, uint32(i))
	}
}

// paths returns the classes of the connected pairs of distinct vertices of g by end
// colours and distance, in hops, or along edges of the given whole-numbered lengths
// (parallel to the neighbours of all vertices in turn). Hops are in ascending order of
// length, a and b. The result is valid until the next call.
func (s *pathScratch) paths(ctx context.Context, g *graph.Graph, colour []uint32, length []uint64) ([]path, error) {
	if err := s.collect(ctx, g, colour, length, nil); err != nil {
		return nil, err
	}
	return s.classes(), nil
}

// collect counts pairs of vertices for classes and squares. Vertices for which keep is
// false are left out; nil keeps all.
func (s *pathScratch) collect(ctx context.Context, g *graph.Graph, colour []uint32, length []uint64, keep []bool) error {
	s.localColours(colour)
	n, k := g.N(), len(s.colour)
	s.keys, s.count = s.keys[:0], s.count[:0]
	s.lengths = nil
	dense := length == nil && k*k <= max(1024, n)
	if length != nil {
		s.lengths = new(interner)
	}
	for u := range n {
		if keep != nil && !keep[u] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case dense:
			s.countFrom(g, u, keep)
		case length == nil:
			for _, v := range s.hops.from(g, u)[1:] {
				if int(v) > u && (keep == nil || keep[v]) {
					s.keys = append(s.keys, s.key(uint64(s.hops.dist[v]), u, v))
				}
			}
		default:
			for _, v := range s.weight.from(g, u, length)[1:] {
				if int(v) > u && (keep == nil || keep[v]) {
					s.keys = append(s.keys, s.key(uint64(s.lengths.intern(s.weight.dist[v])), u, v))
				}
			}
		}
	}
	s.sortKeys()
	return nil
}

// key packs the class of a pair: (length · k + a) · k + b for k colours.
func (s *pathScratch) key(length uint64, u int, v int32) uint64 {
	a, b, k := uint64(s.local[u]), uint64(s.local[v]), uint64(len(s.colour))
	return (length*k+min(a, b))*k + max(a, b)
}

// countFrom counts the pairs of u and higher vertices in hops in an array by key.
func (s *pathScratch) countFrom(g *graph.Graph, u int, keep []bool) {
	k := len(s.colour)
	reached := s.hops.from(g, u)
	dist := s.hops.dist
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

// each calls f with the keys and counts of the classes, in ascending order of keys.
func (s *pathScratch) each(f func(key uint64, count float64)) {
	for key, c := range s.count {
		if c > 0 {
			f(uint64(key), float64(c))
		}
	}
	for i := 0; i < len(s.keys); {
		j := i + 1
		for j < len(s.keys) && s.keys[j] == s.keys[i] {
			j++
		}
		f(s.keys[i], float64(j-i))
		i = j
	}
}

// squares returns the number of classes and the sum of the squares of their counts.
func (s *pathScratch) squares() (classes int, sum float64) {
	s.each(func(_ uint64, c float64) {
		classes++
		sum += c * c
	})
	return classes, sum
}

// classes returns the classes that collect found.
func (s *pathScratch) classes() []path {
	s.out = s.out[:0]
	k := uint64(len(s.colour))
	s.each(func(key uint64, c float64) {
		length := key / k / k
		if s.lengths != nil {
			length = s.lengths.keys[length]
		}
		s.out = append(s.out, path{a: s.colour[key/k%k], b: s.colour[key%k], length: length, count: c})
	})
	return s.out
}

// sortKeys sorts s.keys: by radix, 11 bits at a time, when there are many.
func (s *pathScratch) sortKeys() {
	if len(s.keys) < 1<<13 {
		slices.Sort(s.keys)
		return
	}
	const digit = 11
	width := bits.Len64(slices.Max(s.keys))
	if cap(s.spare) < len(s.keys) {
		s.spare = make([]uint64, len(s.keys))
	}
	from, to := s.keys, s.spare[:len(s.keys)]
	for shift := 0; shift < width; shift += digit {
		var start [1<<digit + 1]int
		for _, x := range from {
			start[x>>shift&(1<<digit-1)+1]++
		}
		for i := 1; i <= 1<<digit; i++ {
			start[i] += start[i-1]
		}
		for _, x := range from {
			d := x >> shift & (1<<digit - 1)
			to[start[d]] = x
			start[d]++
		}
		from, to = to, from
	}
	s.keys, s.spare = from, to
}

// hopSearch is a breadth-first search with reusable buffers.
type hopSearch struct {
	dist  []int32
	queue []int32
}

// from returns the vertices that u reaches, in the order of distance, u first; dist holds
// their distances and -1 for the others.
func (s *hopSearch) from(g *graph.Graph, u int) []int32 {
	n := g.N()
	if cap(s.dist) < n {
		s.dist = make([]int32, n)
		s.queue = make([]int32, n)
	}
	dist, queue := s.dist[:n], s.queue[:n]
	s.dist = dist
	for i := range dist {
		dist[i] = -1
	}
	dist[u] = 0
	queue[0] = int32(u)
	end := 1
	for at := 0; at < end; at++ {
		v := queue[at]
		d := dist[v] + 1
		for _, x := range g.Neighbors(int(v)) {
			if dist[x] < 0 {
				dist[x] = d
				queue[end] = x
				end++
			}
		}
	}
	return queue[:end]
}

// weightSearch is Dijkstra's search with reusable buffers.
type weightSearch struct {
	dist  []uint64
	done  []bool
	heap  []reached
	order []int32
	off   []int
	of    *graph.Graph // the graph that off belongs to
}

type reached struct {
	dist uint64
	v    int32
}

// from returns the vertices that u reaches, in the order of distance, u first; dist holds
// their distances. Lengths are parallel to the neighbours of all vertices in turn.
func (s *weightSearch) from(g *graph.Graph, u int, length []uint64) []int32 {
	n := g.N()
	if s.of != g {
		s.of = g
		s.off = append(s.off[:0], 0)
		for v := range n {
			s.off = append(s.off, s.off[v]+g.Degree(v))
		}
		s.dist = slices.Grow(s.dist[:0], n)[:n]
		s.done = slices.Grow(s.done[:0], n)[:n]
	}
	for v := range n {
		s.dist[v] = ^uint64(0)
		s.done[v] = false
	}
	s.order = s.order[:0]
	s.dist[u] = 0
	s.heap = append(s.heap[:0], reached{0, int32(u)})
	for len(s.heap) > 0 {
		top := s.pop()
		if s.done[top.v] {
			continue
		}
		s.done[top.v] = true
		s.order = append(s.order, top.v)
		lengths := length[s.off[top.v]:]
		for i, x := range g.Neighbors(int(top.v)) {
			if d := top.dist + lengths[i]; d < s.dist[x] {
				s.dist[x] = d
				s.push(reached{d, x})
			}
		}
	}
	return s.order
}

func (s *weightSearch) push(r reached) {
	s.heap = append(s.heap, r)
	i := len(s.heap) - 1
	for i > 0 && s.heap[(i-1)/2].dist > r.dist {
		s.heap[i] = s.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	s.heap[i] = r
}

func (s *weightSearch) pop() reached {
	top := s.heap[0]
	last := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	n := len(s.heap)
	i := 0
	for c := 1; c < n; c = 2*i + 1 {
		if c+1 < n && s.heap[c+1].dist < s.heap[c].dist {
			c++
		}
		if s.heap[c].dist >= last.dist {
			break
		}
		s.heap[i] = s.heap[c]
		i = c
	}
	if n > 0 {
		s.heap[i] = last
	}
	return top
}
