package draw

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// block is rings that share bonds: a part of a ring system in which any two atoms lie on a cycle.
type block struct {
	adj   adjacency // of the whole molecule
	m     *molecule
	atoms []int
	edges [][2]int
	rings [][]int  // smallest ones
	pairs [][2]int // atoms without a bond
	cross [][3]int // an atom, and the ends of a bond of others
	stubs []stub   // what hangs on its atoms
	drawn bool     // the stubs have positions
}

// stub is an atom that hangs on a block. Its place here only keeps room for it.
type stub struct {
	atom, at int
	pos      point
}

// blocks returns the parts of a ring system, large ones first. They have single atoms in common.
func (s *ringSystem) blocks(adj adjacency, m *molecule) (all []*block) {
	for rest := slices.Clone(s.rings); len(rest) > 0; {
		rings := rest[:1:1]
		rest = rest[1:]
		for i := 0; i < len(rings); i++ {
			rest = slices.DeleteFunc(rest, func(r []int) bool {
				joined := shared(rings[i], r) > 1
				if joined {
					rings = append(rings, r)
				}
				return joined
			})
		}
		b := &block{adj: adj, m: m, rings: rings}
		for _, ring := range rings {
			b.atoms = append(b.atoms, ring...)
			for i, v := range ring {
				w := ring[(i+1)%len(ring)]
				b.edges = append(b.edges, [2]int{min(v, w), max(v, w)})
			}
		}
		slices.Sort(b.atoms)
		b.atoms = slices.Compact(b.atoms)
		slices.SortFunc(b.edges, func(a, c [2]int) int { return cmp.Or(a[0]-c[0], a[1]-c[1]) })
		b.edges = slices.Compact(b.edges)
		b.relate()
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b *block) int { return len(b.atoms) - len(a.atoms) })
	return all
}

// relate lists what hangs on the block and what has to keep apart in it.
func (b *block) relate() {
	for i, v := range b.atoms {
		for _, w := range b.adj[v] {
			if !slices.Contains(b.atoms, w) {
				b.stubs = append(b.stubs, stub{atom: w, at: v})
			}
		}
		for _, w := range b.atoms[:i] {
			if !slices.Contains(b.adj[v], w) {
				b.pairs = append(b.pairs, [2]int{v, w})
			}
		}
		for _, e := range b.edges {
			if v != e[0] && v != e[1] {
				b.cross = append(b.cross, [3]int{v, e[0], e[1]})
			}
		}
	}
}

// regular reports whether all rings of the block are regular polygons that do not overlap.
func (b *block) regular(pos []point) bool {
	for _, ring := range b.rings {
		center := mean(selected(pos, ring))
		for i, v := range ring {
			if math.Abs(pos[v].distance(center)-0.5/math.Sin(math.Pi/float64(len(ring)))) > 1e-3 ||
				math.Abs(pos[v].distance(pos[ring[(i+1)%len(ring)]])-1) > 1e-3 {
				return false
			}
		}
	}
	for i, v := range b.atoms {
		for _, w := range b.atoms[:i] {
			if pos[v].distance(pos[w]) < 0.7 {
				return false
			}
		}
	}
	return true
}

// Limits of blocks that are laid out by their faces.
const (
	maxFaceEdges = 64 // a cycle is a set of bits
	maxFaceRings = 9
	maxCycles    = 40
	maxCovers    = 400
	maxSteps     = 200_000 // of the search for them
	triedCovers  = 4
	triedOuter   = 4
	relaxWork    = 3_000_000 // looks at two atoms, or an atom and a bond, that a drawing is worth
	fine         = 1         // a cost that needs no further tries
)

// place lays out a block whose rings cannot all be regular: a cage, or a ring with others inside. It
// tries drawings without crossings, with each of several faces outside, and keeps the best. start is a
// drawing that may have crossings, which has to be better.
func (b *block) place(start []point) []point {
	best, stubs, least := start, []stub(nil), math.Inf(1)
	try := func(pos []point, price float64) {
		if c := b.cost(pos) + price; c < least-1e-9 {
			best, stubs, least = slices.Clone(pos), slices.Clone(b.stubs), c
		}
	}
	covers := b.covers()
	for _, stiff := range []float64{0.5, 0.1} { // soft bonds leave room where stiff ones cross
		for _, cover := range covers {
			for _, outer := range cover[:min(triedOuter, len(cover))] {
				if least < fine {
					break
				}
				inner := slices.DeleteFunc(slices.Clone(cover), func(f []int) bool { return &f[0] == &outer[0] })
				pos := slices.Clone(start)
				b.barycentric(pos, outer, inner)
				b.hang(pos, outer)
				b.dent(pos, inner)
				b.relax(pos, inner, stiff)
				try(pos, 0)
			}
		}
	}
	pos := slices.Clone(start)
	b.hang(pos, nil)
	b.relax(pos, b.rings, 0.5)
	try(pos, 1)
	b.stubs, b.drawn = stubs, true
	return best
}

// settle relaxes a drawing of a block that is known to be good.
func (b *block) settle(pos []point, faces [][]int) {
	b.hang(pos, nil)
	b.relax(pos, faces, 0.1)
	b.drawn = true
}

// covers returns sets of cycles that have every edge twice: the faces of drawings on a sphere, of which
// any may be outside. Those with small faces but for one come first; in each, large faces come first.
func (b *block) covers() (all [][][]int) {
	rank := len(b.rings)
	if len(b.edges) > maxFaceEdges || rank > maxFaceRings {
		return nil
	}
	number := map[[2]int]int{}
	for i, e := range b.edges {
		number[e] = i
	}
	set := func(ring []int) (s uint64) {
		for i, v := range ring {
			w := ring[(i+1)%len(ring)]
			s |= 1 << number[[2]int{min(v, w), max(v, w)}]
		}
		return s
	}
	sums := []uint64{0}
	for _, ring := range b.rings {
		for _, s := range slices.Clone(sums) {
			sums = append(sums, s^set(ring))
		}
	}
	var cycles []uint64
	walks := map[uint64][]int{}
	for _, s := range sums[1:] {
		if walk := b.walk(s); walk != nil {
			cycles, walks[s] = append(cycles, s), walk
		}
	}
	slices.SortFunc(cycles, func(x, y uint64) int { return cmp.Or(bits.OnesCount64(x)-bits.OnesCount64(y), cmp.Compare(x, y)) })
	if len(cycles) > maxCycles { // short ones, and the longest, which may be outside
		cycles = append(cycles[:maxCycles*3/4], cycles[len(cycles)-maxCycles/4:]...)
	}
	var found [][]uint64
	var chosen []uint64
	steps := 0
	var extend func(once, twice uint64, from int)
	extend = func(once, twice uint64, from int) {
		if steps++; len(found) >= maxCovers || steps > maxSteps {
			return
		}
		if len(chosen) == rank+1 {
			if bits.OnesCount64(twice) == len(b.edges) {
				found = append(found, slices.Clone(chosen))
			}
			return
		}
		for i := from; i < len(cycles); i++ {
			if c := cycles[i]; c&twice == 0 {
				chosen = append(chosen, c)
				extend(once^c, twice|once&c, i+1)
				chosen = chosen[:len(chosen)-1]
			}
		}
	}
	extend(0, 0, 0)
	size := func(s uint64) int { return bits.OnesCount64(s) }
	unevenness := func(cover []uint64) (sum int) { // of all but the last, which is the longest
		for _, s := range cover[:rank] {
			sum += (size(s) - 6) * (size(s) - 6)
		}
		return sum
	}
	slices.SortStableFunc(found, func(x, y []uint64) int { return unevenness(x) - unevenness(y) })
	for _, cover := range found[:min(triedCovers, len(found))] {
		var faces [][]int
		for _, s := range slices.Backward(cover) {
			faces = append(faces, walks[s])
		}
		all = append(all, faces)
	}
	return all
}

// walk returns the atoms of a set of edges in cyclic order, nil unless it is one cycle.
func (b *block) walk(set uint64) []int {
	near := map[int][]int{}
	for s := set; s != 0; s &= s - 1 {
		e := b.edges[bits.TrailingZeros64(s)]
		near[e[0]], near[e[1]] = append(near[e[0]], e[1]), append(near[e[1]], e[0])
	}
	first := b.edges[bits.TrailingZeros64(set)][0]
	ring := []int{first}
	for v, before := near[first][0], first; v != first; {
		if len(near[v]) != 2 || len(ring) > len(near) {
			return nil
		}
		ring = append(ring, v)
		next := near[v][0]
		if next == before {
			next = near[v][1]
		}
		v, before = next, v
	}
	if len(ring) != len(near) || len(near[first]) != 2 {
		return nil
	}
	return ring
}

// barycentric puts the outer face on a regular polygon and every other atom into the mean of its
// neighbours and of the middles of its faces, each of which is in the mean of its atoms. No bonds cross
// then (Tutte).
func (b *block) barycentric(pos []point, outer []int, inner [][]int) {
	for v, p := range regular(180/float64(len(outer)), outer...) {
		pos[v] = p
	}
	center := mean(selected(pos, outer))
	var free []int
	for _, v := range b.atoms {
		if !slices.Contains(outer, v) {
			free = append(free, v)
			pos[v] = center
		}
	}
	middle := slices.Repeat([]point{center}, len(inner))
	for range 200 {
		for i, face := range inner {
			middle[i] = mean(selected(pos, face))
		}
		for _, v := range free {
			var near []point
			for _, w := range b.adj[v] {
				if slices.Contains(b.atoms, w) {
					near = append(near, pos[w])
				}
			}
			for i, face := range inner {
				if slices.Contains(face, v) {
					near = append(near, middle[i])
				}
			}
			pos[v] = mean(near)
		}
	}
}

// hang places the stubs in the widest angle between the bonds of their atoms, outside if there is one.
func (b *block) hang(pos []point, outer []int) {
	center := mean(selected(pos, b.atoms))
	for i := range b.stubs {
		s := &b.stubs[i]
		var flat [][3]float64
		for _, w := range b.adj[s.at] {
			if slices.Contains(b.atoms, w) {
				d := pos[w].sub(pos[s.at]).direction()
				flat = append(flat, [3]float64{d.x, d.y, 0})
			}
		}
		direction := gaps(flat)[0]
		if slices.Contains(outer, s.at) {
			direction = pos[s.at].sub(center).direction()
		}
		k := count(b.stubs[:i], func(t stub) bool { return t.at == s.at }) // the second one beside the first
		s.pos = pos[s.at].add(direction.rotate(0.5 - float64(k)).scale(0.6))
	}
}

// relax moves the atoms of a block towards bonds of length 1 and faces that are regular, and apart where
// they come near each other or a bond. The last rounds only care for bonds and room. Stiff bonds get their
// length; others rather leave room.
func (b *block) relax(pos []point, faces [][]int, stiff float64) {
	rounds := min(max(relaxWork/(len(b.pairs)+len(b.cross)+1), 50), 500)
	var chains [][2]int // neighbours of an atom with two bonds
	for _, v := range b.atoms {
		if near := b.near(v); len(near) == 2 {
			chains = append(chains, [2]int{near[0], near[1]})
		}
	}
	for round := range rounds {
		for _, face := range faces {
			n := len(face)
			for i, v := range face {
				for step := 2; step <= n/2 && round < rounds*2/3 && n < largeRing; step++ {
					length := math.Sin(math.Pi*float64(step)/float64(n)) / math.Sin(math.Pi/float64(n))
					pull(&pos[v], &pos[face[(i+step)%n]], length, 0.2*stiff)
				}
			}
		}
		for _, c := range chains {
			if pos[c[0]].distance(pos[c[1]]) < 1.6 {
				pull(&pos[c[0]], &pos[c[1]], math.Sqrt(3), 0.05)
			}
		}
		b.apart(pos)
		for i := range b.stubs {
			pull(&b.stubs[i].pos, &pos[b.stubs[i].at], 0.9, 0.5)
		}
		for _, e := range b.edges {
			pull(&pos[e[0]], &pos[e[1]], 1, stiff)
		}
	}
}

// near returns the neighbours of an atom in the block.
func (b *block) near(v int) []int {
	return slices.DeleteFunc(slices.Clone(b.adj[v]), func(w int) bool { return !slices.Contains(b.atoms, w) })
}

const (
	apart   = 0.9 // wanted between atoms of a block without a bond
	offBond = 0.5 // wanted between an atom and a bond of others
)

// apart moves atoms and stubs away from each other and from bonds.
func (b *block) apart(pos []point) {
	for _, p := range b.pairs {
		if pos[p[0]].near(pos[p[1]], apart) {
			pull(&pos[p[0]], &pos[p[1]], apart, 0.3)
		}
	}
	for _, c := range b.cross {
		avoid(&pos[c[0]], &pos[c[1]], &pos[c[2]])
	}
	for i := range b.stubs {
		s := &b.stubs[i]
		for _, v := range b.atoms {
			if v != s.at && s.pos.near(pos[v], apart) {
				pull(&s.pos, &pos[v], apart, 0.2)
			}
		}
		for j := range i {
			if t := &b.stubs[j]; s.pos.near(t.pos, apart) {
				pull(&s.pos, &t.pos, apart, 0.2)
			}
		}
		for _, e := range b.edges {
			if s.at != e[0] && s.at != e[1] {
				avoid(&s.pos, &pos[e[0]], &pos[e[1]])
			}
		}
	}
}

// foot returns the point of the segment ab that is nearest to p, and where between them it lies.
func foot(p, a, b point) (point, float64) {
	along := b.sub(a)
	t := min(max(p.sub(a).dot(along)/max(along.dot(along), 1e-12), 0), 1)
	return a.add(along.scale(t)), t
}

// avoid moves a point and a bond apart that are too near to each other.
func avoid(p, a, b *point) {
	if !p.near(*a, 2) {
		return
	}
	q, t := foot(*p, *a, *b)
	d := p.sub(q)
	if !p.near(q, offBond) || p.near(q, 1e-9) {
		return
	}
	n := d.norm()
	move := d.scale(0.1 * (offBond - n) / n)
	*p = p.add(move)
	*a, *b = a.sub(move.scale(1-t)), b.sub(move.scale(t))
}

// cost is how far the drawing of a block is from a good one: crossings, uneven bonds, atoms near others or
// on bonds, double bonds of large rings on the wrong sides.
func (b *block) cost(pos []point) float64 {
	cost := 0.0
	for i, e := range b.edges {
		p, q := pos[e[0]], pos[e[1]]
		d := p.distance(q) - 1
		cost += 20 * d * d
		for _, f := range b.edges[:i] {
			if f[0] != e[0] && f[0] != e[1] && f[1] != e[0] && f[1] != e[1] && crossing(p, q, pos[f[0]], pos[f[1]]) {
				cost += 200
			}
		}
		for _, s := range b.stubs {
			if s.at != e[0] && s.at != e[1] {
				near, _ := foot(s.pos, p, q)
				cost += 15 * max(0.4-s.pos.distance(near), 0)
				if crossing(p, q, pos[s.at], s.pos) {
					cost += 40
				}
			}
		}
	}
	for _, c := range b.cross {
		near, _ := foot(pos[c[0]], pos[c[1]], pos[c[2]])
		cost += 30 * max(0.4-pos[c[0]].distance(near), 0)
	}
	for _, p := range b.pairs {
		cost += 10 * max(apart-pos[p[0]].distance(pos[p[1]]), 0)
	}
	for _, v := range b.atoms {
		for _, s := range b.stubs {
			if s.at != v {
				cost += 5 * max(apart-s.pos.distance(pos[v]), 0)
			}
		}
	}
	for _, s := range b.stubs {
		if b.enclosed(s, pos) {
			cost += 6
		}
	}
	for _, c := range b.m.bonds {
		if slices.Contains(b.atoms, c.u) && slices.Contains(b.atoms, c.v) && b.m.misplaced(c, pos) {
			cost += 20
		}
	}
	return cost
}

// enclosed reports whether a stub lies in a small ring of the block.
func (b *block) enclosed(s stub, pos []point) bool {
	return slices.ContainsFunc(b.rings, func(ring []int) bool { return len(ring) < largeRing && inside(s.pos, selected(pos, ring)) })
}
