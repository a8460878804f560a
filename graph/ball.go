package graph

import "slices"

// Scratch holds buffers for walks over graphs and for quotients. The zero value is ready
// for use. A Scratch must not be used concurrently; what its methods return is valid until
// the next call of a method.
type Scratch struct {
	epoch int32
	stamp []int32 // by vertex: epoch of the last set that held it
	place []int32 // by vertex: position in that set
	set   []int32
	dist  []int32

	refiner
}

// begin starts a new, empty vertex set of g.
func (s *Scratch) begin(g *Graph) {
	if len(s.stamp) < g.N() {
		s.stamp = make([]int32, g.N())
		s.place = make([]int32, g.N())
		s.epoch = 0
	}
	if s.epoch++; s.epoch < 0 { // the counter wrapped: forget all stamps
		clear(s.stamp)
		s.epoch = 1
	}
}

// mark makes vs the current vertex set of g.
func (s *Scratch) mark(g *Graph, vs []int32) {
	s.begin(g)
	for i, v := range vs {
		s.stamp[v] = s.epoch
		s.place[v] = int32(i)
	}
}

// Ball returns the vertices of g within r hops of v in breadth-first order, v first. It
// takes time proportional to the edges that it meets.
func (s *Scratch) Ball(g *Graph, v, r int) []int32 {
	s.begin(g)
	s.set = append(s.set[:0], int32(v))
	s.dist = append(s.dist[:0], 0)
	s.stamp[v] = s.epoch
	s.place[v] = 0
	for i := 0; i < len(s.set); i++ {
		d := s.dist[i]
		if int(d) == r {
			break
		}
		for _, u := range g.adj[g.off[s.set[i]]:g.off[s.set[i]+1]] {
			if s.stamp[u] != s.epoch {
				s.stamp[u] = s.epoch
				s.place[u] = int32(len(s.set))
				s.set = append(s.set, u)
				s.dist = append(s.dist, d+1)
			}
		}
	}
	return s.set
}

// Distances returns the hop distances from the centre that belong to the vertices of the
// last Ball.
func (s *Scratch) Distances() []int32 { return s.dist }

// In reports whether v belongs to the set of the last Ball or Signature.
func (s *Scratch) In(v int32) bool { return s.stamp[v] == s.epoch }

// Components writes the number of the connected component of every vertex into dst, which
// it grows as needed, and returns it with the number of components. Components are
// numbered in the order of their smallest vertices.
func (s *Scratch) Components(g *Graph, dst []int32) (comp []int32, count int) {
	dst = slices.Grow(dst[:0], g.N())[:g.N()]
	for i := range dst {
		dst[i] = -1
	}
	for v := range g.N() {
		if dst[v] >= 0 {
			continue
		}
		s.set = append(s.set[:0], int32(v))
		dst[v] = int32(count)
		for i := 0; i < len(s.set); i++ {
			for _, u := range g.Neighbors(int(s.set[i])) {
				if dst[u] < 0 {
					dst[u] = int32(count)
					s.set = append(s.set, u)
				}
			}
		}
		count++
	}
	return dst, count
}

// Twins writes to dst, which it grows as needed, for every vertex v the first vertex with the same
// neighbours, or with the same ones once each counts as its own neighbour; v itself if there is
// none before it. Vertices without edges have no twins. Balls of radius 2 or more around twins are
// one set. So are those of radius 1 if the twins are adjacent. It takes O(n + m) time.
func (g *Graph) Twins(dst []int32) []int32 {
	dst = dst[:0]
	first := make(map[uint64]int32, g.N())
	for v := range int32(g.N()) {
		dst = append(dst, v)
		near := g.Neighbors(int(v))
		if len(near) == 0 {
			continue
		}
		open := uint64(0)
		for _, u := range near {
			open += mix(uint64(u), 1)
		}
		// The two kinds never meet: a sum with v itself is another one.
		for _, key := range [2]uint64{open, mix(open+mix(uint64(v), 1), 2)} {
			u, known := first[key]
			if !known {
				first[key] = v
			} else if g.twins(u, v) {
				dst[v] = u
				break
			}
		}
	}
	return dst
}

// twins reports whether two vertices have the same neighbours but for each other.
func (g *Graph) twins(u, v int32) bool {
	a, b := g.Neighbors(int(u)), g.Neighbors(int(v))
	if len(a) != len(b) {
		return false
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		if i < len(a) && a[i] == v {
			i++
		}
		if j < len(b) && b[j] == u {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
	}
}
