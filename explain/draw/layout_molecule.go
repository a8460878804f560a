package draw

import (
	"cmp"
	"math"
	"slices"
)

// skeleton is a molecule being laid out: ring systems are rigid, all else is a tree.
type skeleton struct {
	adj     adjacency
	element []string
	linear  []bool // the two bonds of the atom lie on a line, as at a triple bond
	systems []ringSystem
	system  []int // by atom: its ring system, −1 for none
	pos     []point
	placed  []bool
	beyond  []int // by atom: atoms that hang on it, seen from the root, with itself
	bonds   [][2]int
}

// moleculeLayout returns positions with bonds of length 1, y upwards: rings regular,
// chains zig-zag, one molecule beside the other. It reports failure for structures that
// are no molecules to its eyes: large cages and sheets.
func moleculeLayout(adj adjacency, element []string, linear []bool) ([]point, bool) {
	systems, ok := adj.ringSystems()
	if !ok {
		return nil, false
	}
	n := len(adj)
	s := &skeleton{adj: adj, element: element, linear: linear, systems: systems, system: make([]int, n), pos: make([]point, n),
		placed: make([]bool, n), beyond: make([]int, n)}
	for v := range s.system {
		s.system[v] = -1
	}
	for k := range systems {
		for _, v := range systems[k].atoms {
			s.system[v] = k
		}
		systems[k].place(adj, element, s.pos)
	}
	for v := range adj {
		for _, w := range adj[v] {
			if v < w {
				s.bonds = append(s.bonds, [2]int{v, w})
			}
		}
	}
	parts := adj.components(func(int, int) bool { return true })
	for _, part := range parts {
		root := s.placePart(part)
		s.relieve(part, root)
		if k := s.system[root]; k < 0 || !systems[k].fixed {
			s.orient(part)
		}
	}
	pack(parts, s.pos, 1.6)
	return s.pos, true
}

// placePart lays out one connected component from a known skeleton, its largest ring system, or an end
// of its longest chain, and returns an atom of what it began with.
func (s *skeleton) placePart(part []int) int {
	root, most := -1, 0
	for _, v := range part {
		k := s.system[v]
		if k < 0 {
			continue
		}
		size := len(s.systems[k].atoms)
		if s.systems[k].fixed {
			size += len(s.adj) // known skeletons first
		}
		if size > most {
			root, most = v, size
		}
	}
	if root < 0 {
		far := s.farthest(part[0])
		root = s.farthest(far)
	}
	s.count(root)
	s.settle(root)
	return root
}

// count fills beyond for the component of root. A bridge is in every spanning tree, so the
// far side of one is the subtree of its far end in any.
func (s *skeleton) count(root int) {
	parent := map[int]int{root: -1}
	queue := []int{root}
	for i := 0; i < len(queue); i++ {
		for _, w := range s.adj[queue[i]] {
			if _, seen := parent[w]; !seen {
				parent[w] = queue[i]
				queue = append(queue, w)
			}
		}
	}
	for _, v := range slices.Backward(queue) {
		s.beyond[v]++
		if p := parent[v]; p >= 0 {
			s.beyond[p] += s.beyond[v]
		}
	}
}

// farthest returns the vertex with the largest hop distance from v, the smallest of equals.
func (s *skeleton) farthest(v int) int {
	dist := map[int]int{v: 0}
	queue := []int{v}
	best := v
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		if dist[u] > dist[best] || dist[u] == dist[best] && u < best {
			best = u
		}
		for _, w := range s.adj[u] {
			if _, seen := dist[w]; !seen {
				dist[w] = dist[u] + 1
				queue = append(queue, w)
			}
		}
	}
	return best
}

// body returns the atoms that move together with v.
func (s *skeleton) body(v int) []int {
	if k := s.system[v]; k >= 0 {
		return s.systems[k].atoms
	}
	return []int{v}
}

// settle marks the body of a placed atom as placed and grows what hangs on it, breadth
// first, so that branches meet late.
func (s *skeleton) settle(root int) {
	queue := slices.Clone(s.body(root))
	for _, v := range queue {
		s.placed[v] = true
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		var children []int
		for _, w := range s.adj[v] {
			if !s.placed[w] {
				children = append(children, w)
			}
		}
		if len(children) == 0 {
			continue
		}
		slices.SortStableFunc(children, func(a, b int) int { return cmp.Compare(s.beyond[b], s.beyond[a]) })
		for c, dir := range s.directions(v, len(children)) {
			w := children[c]
			s.attach(v, w, dir)
			for _, u := range s.body(w) {
				s.placed[u] = true
				queue = append(queue, u)
			}
		}
	}
}

// branch returns the atoms on the far side of the bridge from v to w, beginning with w.
func (s *skeleton) branch(v, w int) []int {
	seen := map[int]bool{v: true, w: true}
	list := []int{w}
	for i := 0; i < len(list); i++ {
		for _, u := range s.adj[list[i]] {
			if !seen[u] {
				seen[u] = true
				list = append(list, u)
			}
		}
	}
	return list
}

// directions returns where k new bonds of the placed atom v go, for branches in
// descending size.
func (s *skeleton) directions(v, k int) []float64 {
	var old []int
	for _, w := range s.adj[v] {
		if s.placed[w] {
			old = append(old, w)
		}
	}
	if len(old) == 0 {
		dirs := make([]float64, k)
		for i := range dirs {
			dirs[i] = math.Pi/6 + 2*math.Pi*float64(i)/float64(max(k, 3))
		}
		if k == 2 && s.linear[v] {
			dirs[1] = dirs[0] + math.Pi
		}
		return dirs
	}
	if s.system[v] >= 0 {
		return s.exits(v, old, k)
	}
	back := s.pos[old[0]].sub(s.pos[v]).angle()
	switch {
	case k == 1 && s.linear[v]:
		return []float64{back + math.Pi}
	case k <= 2:
		turn := s.turn(old[0], v)
		return []float64{back + turn*2*math.Pi/3, back - turn*2*math.Pi/3}[:k]
	case k == 3:
		return []float64{back + math.Pi, back + math.Pi/2, back - math.Pi/2}
	}
	dirs := make([]float64, k)
	for i := range dirs {
		dirs[i] = back + 2*math.Pi*float64(i+1)/float64(k+1)
	}
	return dirs
}

// turn says to which side the chain bends at v, coming from u: to the other side than at
// u, so that chains zig-zag.
func (s *skeleton) turn(u, v int) float64 {
	for _, w := range s.adj[u] {
		if w != v && s.placed[w] && s.system[u] < 0 {
			if s.pos[u].sub(s.pos[w]).cross(s.pos[v].sub(s.pos[u])) > 1e-6 {
				return 1
			}
			return -1
		}
	}
	return 1
}

// exits returns k directions out of a ring atom: they divide the widest angle between its
// bonds that is not the inside of a ring.
func (s *skeleton) exits(v int, old []int, k int) []float64 {
	slices.SortFunc(old, func(a, b int) int {
		return cmp.Compare(s.pos[a].sub(s.pos[v]).angle(), s.pos[b].sub(s.pos[v]).angle())
	})
	from, width, outside := 0.0, -1.0, false
	for i, u := range old {
		w := old[(i+1)%len(old)]
		a := s.pos[u].sub(s.pos[v]).angle()
		gap := s.pos[w].sub(s.pos[v]).angle() - a
		if gap <= 1e-9 {
			gap += 2 * math.Pi
		}
		// With two bonds both angles lie between the same neighbours; the inside is the
		// smaller.
		free := !s.inRing(u, v, w) || len(old) == 2 && gap > math.Pi
		if free && !outside || free == outside && gap > width+1e-6 {
			from, width, outside = a, gap, free
		}
	}
	dirs := make([]float64, k)
	for i := range dirs {
		dirs[i] = from + width*float64(i+1)/float64(k+1)
	}
	return dirs
}

// inRing reports whether some ring goes u, v, w.
func (s *skeleton) inRing(u, v, w int) bool {
	for _, ring := range s.systems[s.system[v]].rings {
		i := slices.Index(ring, v)
		if i < 0 {
			continue
		}
		a, b := ring[(i+1)%len(ring)], ring[(i+len(ring)-1)%len(ring)]
		if a == u && b == w || a == w && b == u {
			return true
		}
	}
	return false
}

// attach puts w at distance 1 from v in the given direction, with the whole ring system
// of w turned so that its exit looks at v.
func (s *skeleton) attach(v, w int, dir float64) {
	at := s.pos[v].add(polar(1, dir))
	if s.system[w] < 0 {
		s.pos[w] = at
		return
	}
	atoms := s.body(w)
	var old []int
	fresh := 0
	for _, u := range s.adj[w] {
		if s.system[u] == s.system[w] && slices.Contains(atoms, u) {
			old = append(old, u)
		} else {
			fresh++
		}
	}
	exit := s.exits(w, old, fresh)[0]
	turn := dir + math.Pi - exit
	center := s.pos[w]
	for _, u := range atoms {
		s.pos[u] = at.add(s.pos[u].sub(center).rotate(turn))
	}
}

// pack moves the parts side by side with a gap, in rows of about equal width and height.
func pack(parts [][]int, pos []point, gap float64) {
	if len(parts) < 2 {
		return
	}
	type placedPart struct {
		part   []int
		lo, hi point
	}
	boxes := make([]placedPart, len(parts))
	area, widest := 0.0, 0.0
	for i, part := range parts {
		ps := make([]point, len(part))
		for k, v := range part {
			ps[k] = pos[v]
		}
		lo, hi := bounds(ps)
		boxes[i] = placedPart{part, lo, hi}
		area += (hi.x - lo.x + gap) * (hi.y - lo.y + gap)
		widest = max(widest, hi.x-lo.x+gap)
	}
	slices.SortStableFunc(boxes, func(a, b placedPart) int { return cmp.Compare(b.hi.y-b.lo.y, a.hi.y-a.lo.y) })
	row := max(widest, 1.3*math.Sqrt(area))
	x, y, height := 0.0, 0.0, 0.0
	for _, b := range boxes {
		w, h := b.hi.x-b.lo.x, b.hi.y-b.lo.y
		if x > 0 && x+w > row {
			x, y, height = 0, y-height-gap, 0
		}
		move := point{x - b.lo.x, y - b.hi.y}
		for _, v := range b.part {
			pos[v] = pos[v].add(move)
		}
		x += w + gap
		height = max(height, h)
	}
}
