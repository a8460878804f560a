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
	out    []path
	local  []uint32 // by vertex: position of its colour among those of the graph
	colour []uint32 // the colours of the graph, ascending
	hops   hopSearch
	weight weightSearch
	count  []uint32
	keys   []uint64
	spare  []uint64
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
	s.sortKeys(64)
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
// (parallel to the neighbours of all vertices in turn). It is valid until the next call.
func (s *pathScratch) paths(ctx context.Context, g *graph.Graph, colour []uint32, length []uint64) ([]path, error) {
	s.localColours(colour)
	n, k := g.N(), len(s.colour)
	if length == nil && k*k <= max(1024, n) {
		return s.countPaths(ctx, g, k)
	}
	s.keys = s.keys[:0]
	var lengths interner
	bitsPair := bits.Len(uint(k * k))
	for u := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := int(s.local[u])
		if length == nil {
			for _, v := range s.hops.from(g, u)[1:] {
				if int(v) > u {
					b := int(s.local[v])
					s.keys = append(s.keys, uint64(s.hops.dist[v])<<bitsPair|uint64(min(a, b)*k+max(a, b)))
				}
			}
			continue
		}
		for _, v := range s.weight.from(g, u, length)[1:] {
			if int(v) > u {
				b := int(s.local[v])
				s.keys = append(s.keys, uint64(lengths.intern(s.weight.dist[v]))<<bitsPair|uint64(min(a, b)*k+max(a, b)))
			}
		}
	}
	s.sortKeys(64)
	s.out = s.out[:0]
	for i, key := range s.keys {
		if i == 0 || key != s.keys[i-1] {
			ends, d := key&(1<<bitsPair-1), key>>bitsPair
			if length != nil {
				d = lengths.keys[d]
			}
			s.out = append(s.out, path{a: s.colour[ends/uint64(k)], b: s.colour[ends%uint64(k)], length: d})
		}
		s.out[len(s.out)-1].count++
	}
	return s.out, nil
}

// countPaths is paths in hops for few colours: it counts in an array by length and colours.
func (s *pathScratch) countPaths(ctx context.Context, g *graph.Graph, k int) ([]path, error) {
	s.count = s.count[:0]
	for u := range g.N() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		reached := s.hops.from(g, u)
		dist := s.hops.dist
		if need := (int(dist[reached[len(reached)-1]]) + 1) * k * k; need > len(s.count) {
			at := len(s.count)
			s.count = slices.Grow(s.count, need-at)[:need]
			clear(s.count[at:])
		}
		a := int(s.local[u])
		for _, v := range reached {
			if int(v) > u {
				b := int(s.local[v])
				s.count[int(dist[v])*k*k+min(a, b)*k+max(a, b)]++
			}
		}
	}
	s.out = s.out[:0]
	for i, c := range s.count {
		if c > 0 {
			ends := i % (k * k)
			s.out = append(s.out, path{a: s.colour[ends/k], b: s.colour[ends%k], length: uint64(i / (k * k)), count: float64(c)})
		}
	}
	return s.out, nil
}

// sortKeys sorts s.keys: by radix, 11 bits at a time, when there are many.
func (s *pathScratch) sortKeys(width int) {
	if len(s.keys) < 1<<13 {
		slices.Sort(s.keys)
		return
	}
	const digit = 11
	width = min(width, bits.Len64(slices.Max(s.keys)))
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
