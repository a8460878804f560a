package baseline

import (
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// keySorter sorts keys to count equal ones.
type keySorter struct{ keys, spare []uint64 }

// sort sorts by radix, 11 bits at a time, when there are many keys.
func (s *keySorter) sort() {
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

// eachRun calls f with the different keys, which are sorted, and how often they occur.
func (s *keySorter) eachRun(f func(key uint64, count float64)) {
	for i := 0; i < len(s.keys); {
		j := i + 1
		for j < len(s.keys) && s.keys[j] == s.keys[i] {
			j++
		}
		f(s.keys[i], float64(j-i))
		i = j
	}
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
	off   []int        // by vertex: number of its first arc
	graph *graph.Graph // that off belongs to
}

type reached struct {
	dist uint64
	v    int32
}

// from returns the vertices that u reaches, in the order of distance, u first; dist holds
// their distances. Lengths are parallel to the neighbours of all vertices in turn.
func (s *weightSearch) from(g *graph.Graph, u int, length []uint64) []int32 {
	n := g.N()
	if s.graph != g {
		s.graph = g
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
