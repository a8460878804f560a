package graph

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// refiner holds the ordered partition of a vertex set while its colours are refined.
// Vertices are local: positions in the set. A cell is a run of order; its name is the
// position where it starts, so that splitting one cell renames no other.
type refiner struct {
	off  []int32  // local adjacency in CSR form
	nbr  []int32  //
	code []uint64 // parallel to nbr: weightCode of the weight; nil when all weights are 1
	wt   []float64

	order []int32 // vertices, cell by cell
	where []int32 // inverse of order
	cell  []int32 // by vertex: start of its cell
	size  []int32 // by start: number of vertices

	first     []firstColour
	ascending []int32 // the vertices of the set in g

	queue   []int32 // starts of cells that still split others
	queued  []bool  // by start
	count   []uint64
	seen    []int32 // by vertex: number of the splitter that touched it last
	touched []int32
	hit     []int32 // by start: touched vertices of the cell
	hits    []int32 // starts with hit > 0

	sigA, sigB []weightTo
	index      []int32 // by start: number of the cell
	low        []int32
	lowSum     []float64
	lowMark    []int32
	words      []uint32
}

type firstColour struct {
	key   uint64
	class int32
	tag   int32
	v     int32
}

type weightTo struct {
	cell int32
	w    float64
}

// weightCode maps a weight to a number whose sums tell multisets of weights apart, but for
// collisions, which split finds and repairs. Tests replace it by a bad one.
var weightCode = func(w float64) uint64 { return mix(math.Float64bits(w), 0x9e3779b97f4a7c15) }

// mix is a 64-bit mixing function: the halves of a full product, folded.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}

// manyNeighbours is how many times as many neighbours as the set a vertex must have so that load looks
// up the vertices of the set among them.
const manyNeighbours = 32

// load makes vs, a set of vertices of g without repetition, the set to be refined, with
// cells by equal (key, class, tag), in that order.
func (s *Scratch) load(g *Graph, vs []int32, key []uint64, class, tag []int32) {
	s.mark(g, vs)
	n := len(vs)
	s.off = append(s.off[:0], 0)
	s.nbr, s.code, s.wt = s.nbr[:0], s.code[:0], s.wt[:0]
	add := func(arc int, u int32) {
		s.nbr = append(s.nbr, s.place[u])
		if g.weight != nil {
			w := g.weight[arc]
			s.wt = append(s.wt, w)
			s.code = append(s.code, weightCode(w))
		}
	}
	s.ascending = s.ascending[:0]
	for _, v := range vs {
		lo, hi := int(g.off[v]), int(g.off[v+1])
		if hi-lo > manyNeighbours*n { // a hub of which the set has few neighbours
			if len(s.ascending) == 0 {
				s.ascending = append(s.ascending, vs...)
				slices.Sort(s.ascending)
			}
			for _, u := range s.ascending {
				if arc, ok := g.arc(int(v), int(u)); ok {
					add(arc, u)
				}
			}
		} else {
			for i, u := range g.adj[lo:hi] {
				if s.stamp[u] == s.epoch {
					add(lo+i, u)
				}
			}
		}
		s.off = append(s.off, int32(len(s.nbr)))
	}
	if g.weight == nil {
		s.code, s.wt = nil, nil
	}
	s.sortCells(vs, key, class, tag)
}

// sortCells sorts the vertices of the loaded set by their first colours into cells.
func (s *Scratch) sortCells(vs []int32, key []uint64, class, tag []int32) {
	n := len(vs)
	f := grow(s.first, n)
	s.first = f
	for i, v := range vs {
		f[i] = firstColour{key: key[v], class: class[v], v: int32(i)}
		if tag != nil {
			f[i].tag = tag[i]
		}
	}
	if n <= 24 {
		for i := 1; i < n; i++ {
			x := f[i]
			j := i
			for j > 0 && x.before(&f[j-1]) {
				f[j] = f[j-1]
				j--
			}
			f[j] = x
		}
	} else {
		slices.SortFunc(f, func(a, b firstColour) int {
			switch {
			case a.before(&b):
				return -1
			case b.before(&a):
				return 1
			}
			return 0
		})
	}
	s.order, s.where = grow(s.order, n), grow(s.where, n)
	s.cell, s.size = grow(s.cell, n), grow(s.size, n)
	start := 0
	for i := range f {
		if i > 0 && (f[i].key != f[i-1].key || f[i].class != f[i-1].class || f[i].tag != f[i-1].tag) {
			start = i
		}
		if start == i {
			s.size[i] = 0
		}
		s.size[start]++
		v := f[i].v
		s.order[i] = v
		s.where[v] = int32(i)
		s.cell[v] = int32(start)
	}
}

func (a *firstColour) before(b *firstColour) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	if a.class != b.class {
		return a.class < b.class
	}
	return a.tag < b.tag
}

// refine splits cells until the partition is equitable: all vertices of a cell have the same
// multiset of edge weights into every cell. Every choice depends on positions and counts only, so
// the order of the cells does not depend on the order of the vertices. It takes O(m log n) time,
// after Hopcroft: of the parts of a cell, all but the largest are used to split others.
func (s *Scratch) refine() {
	n := len(s.order)
	s.queued = grow(s.queued, n)
	s.count = grow(s.count, n)
	s.seen = grow(s.seen, n)
	s.hit = grow(s.hit, n)
	clear(s.seen)
	clear(s.hit)
	s.queue = s.queue[:0]
	cells := 0
	for i := 0; i < n; i += int(s.size[i]) {
		s.queue = append(s.queue, int32(i))
		s.queued[i] = true
		cells++
	}
	for {
		cells = s.drain(cells)
		if cells == n || s.code == nil {
			return
		}
		before := cells
		if cells = s.verify(cells); cells == before {
			return
		}
	}
}

// drain works off the queue and returns the number of cells. seen and hit must be clear.
func (s *Scratch) drain(cells int) int {
	n := len(s.order)
	for q := 0; q < len(s.queue); q++ {
		if cells == n {
			break
		}
		start := s.queue[q]
		s.queued[start] = false
		round := int32(q + 1)
		s.touched = s.touched[:0]
		s.hits = s.hits[:0]
		for _, w := range s.order[start : start+s.size[start]] {
			lo, hi := s.off[w], s.off[w+1]
			for i, u := range s.nbr[lo:hi] {
				c := s.cell[u]
				if s.size[c] == 1 {
					continue
				}
				if s.seen[u] != round {
					s.seen[u] = round
					s.count[u] = 0
					s.touched = append(s.touched, u)
					if s.hit[c] == 0 {
						s.hits = append(s.hits, c)
					}
					s.hit[c]++
				}
				if s.code == nil {
					s.count[u]++
				} else {
					s.count[u] += s.code[int(lo)+i]
				}
			}
		}
		if len(s.touched) == 0 {
			continue
		}
		// Move touched vertices to the ends of their cells.
		for _, c := range s.hits {
			s.hit[c] = 0
		}
		for _, u := range s.touched {
			c := s.cell[u]
			s.hit[c]++
			s.swap(s.where[u], c+s.size[c]-s.hit[c])
		}
		if len(s.hits) > 1 {
			slices.Sort(s.hits)
		}
		for _, c := range s.hits {
			h := s.hit[c]
			s.hit[c] = 0
			end := c + s.size[c]
			part := s.order[end-h : end]
			sortByCount(part, s.count)
			cells += s.splitAt(c, end-h)
		}
	}
	for _, c := range s.queue {
		s.queued[c] = false
	}
	s.queue = s.queue[:0]
	clear(s.seen)
	return cells
}

func sortByCount(part []int32, count []uint64) {
	if len(part) > 24 {
		slices.SortFunc(part, func(a, b int32) int { return cmp.Compare(count[a], count[b]) })
		return
	}
	for i := 1; i < len(part); i++ {
		x := part[i]
		j := i
		for j > 0 && count[x] < count[part[j-1]] {
			part[j] = part[j-1]
			j--
		}
		part[j] = x
	}
}

func (s *Scratch) swap(i, j int32) {
	u, v := s.order[i], s.order[j]
	s.order[i], s.order[j] = v, u
	s.where[u], s.where[v] = j, i
}

// splitAt splits the cell that starts at c: the vertices before from stay together, those
// from there on, sorted by count, fall into runs of equal count. It returns the number of
// new cells.
func (s *Scratch) splitAt(c, from int32) int {
	end := c + s.size[c]
	wasQueued := s.queued[c]
	largest, largestSize := c, int32(0)
	born := 0
	start := c
	flush := func(next int32) {
		s.size[start] = next - start
		for p := max(start, from); p < next; p++ { // those before from have not moved
			v := s.order[p]
			s.cell[v] = start
			s.where[v] = p
		}
		if start != c {
			born++
			s.queued[start] = false
		}
		if s.size[start] > largestSize {
			largest, largestSize = start, s.size[start]
		}
		start = next
	}
	for p := from; p < end; p++ {
		if p == start { // the first of a run
			continue
		}
		if p == from || s.count[s.order[p]] != s.count[s.order[p-1]] {
			flush(p)
		}
	}
	flush(end)
	if born == 0 {
		return 0
	}
	for p := c; p < end; p += s.size[p] {
		if p == c && wasQueued || !wasQueued && p == largest {
			continue
		}
		s.queued[p] = true
		s.queue = append(s.queue, p)
	}
	return born
}

// signature appends to dst the edges of v as (cell, weight), sorted.
func (s *Scratch) signature(dst []weightTo, v int32) []weightTo {
	for i := s.off[v]; i < s.off[v+1]; i++ {
		e := weightTo{cell: s.cell[s.nbr[i]], w: 1}
		if s.wt != nil {
			e.w = s.wt[i]
		}
		dst = append(dst, e)
	}
	slices.SortFunc(dst, compareWeightTo)
	return dst
}

func compareWeightTo(a, b weightTo) int {
	if a.cell != b.cell {
		return int(a.cell) - int(b.cell)
	}
	return cmp.Compare(a.w, b.w)
}

// verify compares the vertices of every cell in full and splits the cells that collisions
// of weightCode have left too coarse. It returns the number of cells.
func (s *Scratch) verify(cells int) int {
	n := int32(len(s.order))
	for c := int32(0); c < n; c += s.size[c] {
		same := true
		s.sigA = s.signature(s.sigA[:0], s.order[c])
		for p := c + 1; p < c+s.size[c] && same; p++ {
			s.sigB = s.signature(s.sigB[:0], s.order[p])
			same = slices.Equal(s.sigA, s.sigB)
		}
		if same {
			continue
		}
		compare := func(a, b int32) int {
			s.sigA = s.signature(s.sigA[:0], a)
			s.sigB = s.signature(s.sigB[:0], b)
			return slices.CompareFunc(s.sigA, s.sigB, compareWeightTo)
		}
		part := s.order[c : c+s.size[c]]
		slices.SortFunc(part, compare)
		run := uint64(0)
		for i, v := range part {
			if i > 0 && compare(part[i-1], v) != 0 {
				run++
			}
			s.count[v] = run
		}
		return cells + s.splitAt(c, c)
	}
	return cells
}
