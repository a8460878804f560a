package classic

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// keySorter sorts keys to count equal ones.
type keySorter struct{ keys, spare []uint64 }

// sort sorts by radix, 11 bits at a time, when there are many keys. They are in the order of their
// first bits before.
func (s *keySorter) sort(first int) {
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
	for shift := first; shift < width; shift += digit {
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

// eachRun calls f with the different keys, which are sorted, and how often they occur.
func eachRun(keys []uint64, f func(key uint64, count float64)) {
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j] == keys[i] {
			j++
		}
		f(keys[i], float64(j-i))
		i = j
	}
}

// search finds distances with reusable buffers.
type search struct {
	most  uint64   // hops after which it stops; 0 for no limit
	dist  []uint64 // by vertex: its distance, far if it is not reached
	order []int32
	done  []bool
	heap  []reached
}

type reached struct {
	dist uint64
	v    int32
}

const far = math.MaxUint64

// from returns the vertices that u reaches, in the order of distance, u first; dist holds
// their distances: hops or, where length is not nil, sums of the lengths of edges, which are parallel
// to the neighbours of every vertex.
func (s *search) from(g *graph.Graph, u int, length [][]uint64) []int32 {
	n := g.N()
	s.dist = slices.Grow(s.dist[:0], n)[:n]
	for v := range s.dist {
		s.dist[v] = far
	}
	s.dist[u] = 0
	s.order = slices.Grow(s.order[:0], n)[:n]
	if length != nil {
		return s.byLength(g, u, length)
	}
	return s.byHops(g, u)
}

// byHops searches breadth first.
func (s *search) byHops(g *graph.Graph, u int) []int32 {
	dist, queue := s.dist, s.order
	queue[0] = int32(u)
	end := 1
	for at := 0; at < end; at++ {
		v := queue[at]
		d := dist[v] + 1
		if s.most > 0 && d > s.most {
			break
		}
		for _, x := range g.Neighbors(int(v)) {
			if dist[x] == far {
				dist[x] = d
				queue[end] = x
				end++
			}
		}
	}
	return queue[:end]
}

// byLength is Dijkstra's search.
func (s *search) byLength(g *graph.Graph, u int, length [][]uint64) []int32 {
	resized(&s.done, g.N())
	s.order = s.order[:0]
	s.heap = append(s.heap[:0], reached{0, int32(u)})
	for len(s.heap) > 0 {
		top := s.pop()
		if s.done[top.v] {
			continue
		}
		s.done[top.v] = true
		s.order = append(s.order, top.v)
		for i, x := range g.Neighbors(int(top.v)) {
			if d := top.dist + length[top.v][i]; d < s.dist[x] {
				s.dist[x] = d
				s.push(reached{d, x})
			}
		}
	}
	return s.order
}

func (s *search) push(r reached) {
	s.heap = append(s.heap, r)
	i := len(s.heap) - 1
	for i > 0 && s.heap[(i-1)/2].dist > r.dist {
		s.heap[i] = s.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	s.heap[i] = r
}

func (s *search) pop() reached {
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
