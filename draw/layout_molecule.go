package draw

import (
	"cmp"
	"math"
	"slices"
)

// skeleton is a molecule being laid out: ring systems are rigid, all else is a tree.
type skeleton struct {
	adj     adjacency
	m       *molecule
	systems []ringSystem
	system  []int // by atom: its ring system, −1 for none
	pos     []point
	placed  []bool
}

// moleculeLayout returns positions with bonds of length 1, y upwards: rings regular,
// chains zig-zag, one molecule beside the other.
func moleculeLayout(adj adjacency, m *molecule, systems []ringSystem) []point {
	n := len(adj)
	s := &skeleton{adj: adj, m: m, systems: systems, pos: make([]point, n), placed: make([]bool, n)}
	s.system = slices.Repeat([]int{-1}, n)
	for k := range systems {
		systems[k].place(adj, m, s.pos)
		for _, v := range systems[k].atoms {
			s.system[v] = k
		}
	}
	components := adj.components()
	for _, atoms := range components {
		root := s.root(atoms)
		s.grow(root)
		s.putSides(root)
		turned := s.system[root] < 0 || !systems[s.system[root]].fixed
		s.relieve(atoms, root, !turned)
		if turned {
			s.orient(atoms)
		}
	}
	pack(components, s.pos, 1.6)
	return s.pos
}

// root returns where a component is begun: an atom of a known skeleton, of the largest ring
// system, or an end of the longest chain.
func (s *skeleton) root(component []int) int {
	rank := func(v int) int {
		switch k := s.system[v]; {
		case k < 0:
			return 0
		case s.systems[k].fixed:
			return len(s.adj) + len(s.systems[k].atoms)
		default:
			return len(s.systems[k].atoms)
		}
	}
	if v := slices.MaxFunc(component, func(a, b int) int { return rank(a) - rank(b) }); rank(v) > 0 {
		return v
	}
	farthest := func(v int) int {
		order, _ := s.adj.search(v)
		return order[len(order)-1]
	}
	return farthest(farthest(component[0]))
}

// body returns the atoms that move together with v.
func (s *skeleton) body(v int) []int {
	if k := s.system[v]; k >= 0 {
		return s.systems[k].atoms
	}
	return []int{v}
}

// branch returns the atoms on the far side of the bridge from v to w.
func (s *skeleton) branch(v, w int) []int {
	atoms, _ := s.adj.search(w, v)
	return atoms
}

// grow places what hangs on the body of root, breadth first, so that branches meet late, large
// branches first.
func (s *skeleton) grow(root int) {
	queue := slices.Clone(s.body(root))
	for _, v := range queue {
		s.placed[v] = true
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		old := slices.DeleteFunc(slices.Clone(s.adj[v]), func(w int) bool { return !s.placed[w] })
		fresh := slices.DeleteFunc(slices.Clone(s.adj[v]), func(w int) bool { return s.placed[w] })
		slices.SortStableFunc(fresh, func(a, b int) int { return len(s.branch(v, b)) - len(s.branch(v, a)) })
		for c, direction := range s.directions(v, old, len(fresh)) {
			s.attach(v, fresh[c], direction)
			for _, u := range s.body(fresh[c]) {
				s.placed[u] = true
				queue = append(queue, u)
			}
		}
	}
}

// putSides mirrors branches at double bonds outside of rings whose neighbours lie on the wrong sides.
func (s *skeleton) putSides(root int) {
	_, from := s.adj.search(root)
	for _, b := range s.m.bonds {
		if from[b.u] == -2 || s.system[b.u] >= 0 && s.system[b.u] == s.system[b.v] || !s.m.misplaced(b, s.pos) {
			continue
		}
		v, w := b.u, b.v
		if from[v] == w {
			v, w = w, v
		}
		a, c := s.pos[v], s.pos[w]
		for _, u := range s.branch(v, w) {
			s.pos[u] = s.pos[u].reflect(a, c)
		}
	}
}

// towards returns the angle of the bond from v to w.
func (s *skeleton) towards(v, w int) float64 { return s.pos[w].sub(s.pos[v]).angle() }

// directions returns where k new bonds of the placed atom v go, for branches in
// descending size; old are its placed neighbours.
func (s *skeleton) directions(v int, old []int, k int) []float64 {
	switch {
	case s.system[v] >= 0:
		return s.exits(v, old, k)
	case len(old) == 0: // the end of a chain
		return []float64{math.Pi / 6}[:k]
	}
	back := s.towards(v, old[0])
	switch {
	case k == 1 && s.m.linear(v):
		return []float64{back + math.Pi}
	case k <= 2:
		turn := s.turn(old[0], v) * 2 * math.Pi / 3
		return []float64{back + turn, back - turn}[:k]
	case k == 3:
		return []float64{back + math.Pi, back + math.Pi/2, back - math.Pi/2}
	}
	return spread(back, 2*math.Pi, k)
}

// turn says to which side the chain bends at v, coming from u: to the other side than at
// u, so that chains zig-zag.
func (s *skeleton) turn(u, v int) float64 {
	before := slices.IndexFunc(s.adj[u], func(w int) bool { return w != v && s.placed[w] })
	if before < 0 || s.system[u] >= 0 || s.pos[u].sub(s.pos[s.adj[u][before]]).cross(s.pos[v].sub(s.pos[u])) > 1e-6 {
		return 1
	}
	return -1
}

// exits returns k directions out of a ring atom: they divide the widest angle between its
// old bonds, rather outside of rings than inside.
func (s *skeleton) exits(v int, old []int, k int) []float64 {
	slices.SortFunc(old, func(a, b int) int { return cmp.Compare(s.towards(v, a), s.towards(v, b)) })
	from, width, best := 0.0, 0.0, math.Inf(-1)
	for i, u := range old {
		w := old[(i+1)%len(old)]
		gap := s.towards(v, w) - s.towards(v, u)
		if gap <= 1e-9 {
			gap += 2 * math.Pi
		}
		room := gap
		probe := s.pos[v].add(polar(0.3, s.towards(v, u)+gap/2))
		for _, ring := range s.systems[s.system[v]].rings {
			if !inside(probe, selected(s.pos, ring)) {
				continue
			}
			if room -= math.Pi / 2; len(ring) < largeRing {
				room -= 2 * math.Pi
			}
		}
		if room > best+1e-6 {
			from, width, best = s.towards(v, u), gap, room
		}
	}
	return spread(from, width, k)
}

// inside reports whether a point lies in a polygon.
func inside(p point, polygon []point) bool {
	in := false
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(p.y-a.y)*(b.x-a.x)/(b.y-a.y) {
			in = !in
		}
	}
	return in
}

// spread returns k angles that divide an angle into equal ones.
func spread(from, width float64, k int) []float64 {
	angles := make([]float64, k)
	for i := range angles {
		angles[i] = from + width*float64(i+1)/float64(k+1)
	}
	return angles
}

// attach puts w at distance 1 from v in the given direction, with the whole ring system
// of w turned so that its exit looks at v.
func (s *skeleton) attach(v, w int, direction float64) {
	at, turn, center := s.pos[v].add(polar(1, direction)), 0.0, s.pos[w]
	if s.system[w] >= 0 {
		inside := slices.DeleteFunc(slices.Clone(s.adj[w]), func(u int) bool { return s.system[u] != s.system[w] })
		turn = direction + math.Pi - s.exits(w, inside, len(s.adj[w])-len(inside))[0]
	}
	for _, u := range s.body(w) {
		s.pos[u] = at.add(s.pos[u].sub(center).rotate(turn))
	}
}

// pack moves components side by side with a gap, in rows of about equal width and height.
func pack(components [][]int, pos []point, gap float64) {
	type block struct {
		vertices []int
		lo, size point
	}
	blocks := make([]block, len(components))
	area, widest := 0.0, 0.0
	for i, vertices := range components {
		lo, hi := bounds(selected(pos, vertices))
		blocks[i] = block{vertices, lo, hi.sub(lo)}
		area += (blocks[i].size.x + gap) * (blocks[i].size.y + gap)
		widest = max(widest, blocks[i].size.x+gap)
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.size.y, a.size.y) })
	row := max(widest, 1.3*math.Sqrt(area))
	x, y, height := 0.0, 0.0, 0.0
	for _, b := range blocks {
		if x > 0 && x+b.size.x > row {
			x, y, height = 0, y-height-gap, 0
		}
		for _, v := range b.vertices {
			pos[v] = pos[v].sub(b.lo).add(point{x, y - b.size.y})
		}
		x += b.size.x + gap
		height = max(height, b.size.y)
	}
}
