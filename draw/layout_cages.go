package draw

import (
	"cmp"
	"math"
	"slices"
)

// block is rings that share bonds: a part of a ring system in which any two atoms lie on a cycle.
type block struct {
	adj   adjacency // of the whole molecule
	m     *molecule
	atoms []int
	edges [][2]int
	bonds [][2]int      // edges, and those with stubs
	near  map[int][]int // by atom: its neighbours in the block
	rings [][]int       // smallest ones
	pairs [][2]int      // atoms without a bond
	cross [][3]int      // an atom, and the ends of a bond of others
	stubs []stub        // what hangs on its atoms
	drawn bool          // the stubs have positions
}

// stub is an atom that hangs on an atom of a block, or on a stub. Its place among those of the block keeps room for
// it. Inside of rings it stays there if it is whole: all atoms beyond it are stubs as well.
type stub struct {
	atom, at int
	whole    bool
}

// maxInside is the most atoms of a branch that is drawn inside of a ring.
const maxInside = 2

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
	b.near = map[int][]int{}
	for i, v := range b.atoms {
		for _, w := range b.adj[v] {
			if slices.Contains(b.atoms, w) {
				b.near[v] = append(b.near[v], w)
			} else {
				branch, from := b.adj.search(w, v)
				whole := len(branch) <= maxInside
				b.stubs = append(b.stubs, stub{w, v, whole})
				for _, u := range branch[1:] {
					if whole {
						b.stubs = append(b.stubs, stub{u, from[u], true})
					}
				}
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
	b.bonds = slices.Clone(b.edges)
	for _, s := range b.stubs {
		b.bonds = append(b.bonds, [2]int{s.at, s.atom})
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

// Limits of the work for a block that is laid out by its faces.
const (
	manyRings  = 12        // of more rings only soft drawings of one embedding are tried
	triedFaces = 4         // embeddings
	triedOuter = 4         // faces of each that are put outside
	relaxWork  = 3_000_000 // looks at two atoms, or an atom and a bond, that a drawing is worth
	fine       = 1         // a cost that needs no further tries
)

// place lays out a block whose rings cannot all be regular: a cage, or a ring with others inside. It
// tries drawings without crossings, with each of several faces outside, and keeps the best. start is a
// drawing that may have crossings, which has to be better.
func (b *block) place(start []point) []point {
	best, least := start, math.Inf(1)
	try := func(pos []point, price float64) {
		if c := b.cost(pos) + price; c < least-1e-9 {
			best, least = pos, c
		}
	}
	embeddings, outers := b.embeddings(), triedOuter
	embeddings = embeddings[:min(triedFaces, len(embeddings))]
	starts := []struct{ stiff, reach float64 }{
		{0.5, 0.5}, {0.1, 0.5}, {0.02, 0.5}, {0.002, 0.5}, // soft bonds leave room where stiff ones cross
		{0.1, 0.2}, {0.02, 0.2}, // short stubs do not begin with a crossing
	}
	if len(b.rings) > manyRings {
		starts, embeddings, outers = starts[2:4], embeddings[:min(1, len(embeddings))], 2
	}
	for _, t := range starts {
		for _, faces := range embeddings {
			for _, outer := range faces[:min(outers, len(faces))] {
				if least < fine || t.reach < 0.5 && least < bondCrossing {
					break
				}
				inner := slices.DeleteFunc(slices.Clone(faces), func(f []int) bool { return &f[0] == &outer[0] })
				pos := slices.Clone(start)
				b.barycentric(pos, outer, inner)
				b.hang(pos, outer, t.reach)
				b.dent(pos, inner)
				b.relax(pos, inner, t.stiff)
				try(pos, 0)
			}
		}
	}
	pos := slices.Clone(start)
	b.hang(pos, nil, 0.5)
	b.relax(pos, b.rings, 0.5)
	try(pos, 1)
	b.drawn = true
	return best
}

// settle relaxes a drawing of a block that is known to be good.
func (b *block) settle(pos []point, faces [][]int) {
	b.hang(pos, nil, 0.5)
	b.relax(pos, faces, 0.1)
	b.drawn = true
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
	around := map[int][]int{} // by atom: its faces
	for i, face := range inner {
		for _, v := range face {
			around[v] = append(around[v], i)
		}
	}
	for range 200 {
		for i, face := range inner {
			middle[i] = mean(selected(pos, face))
		}
		for _, v := range free {
			pos[v] = mean(append(selected(pos, b.near[v]), selected(middle, around[v])...))
		}
	}
	length := 0.0
	for _, e := range b.edges {
		length += pos[e[0]].distance(pos[e[1]]) / float64(len(b.edges))
	}
	for _, v := range b.atoms {
		pos[v] = pos[v].scale(1 / length)
	}
}

// hang places the stubs at a distance in the widest angle between the bonds of their atoms, outside if there is one.
func (b *block) hang(pos []point, outer []int, reach float64) {
	center := mean(selected(pos, b.atoms))
	for i, s := range b.stubs {
		var flat [][3]float64
		for _, w := range b.near[s.at] {
			d := pos[w].sub(pos[s.at]).direction()
			flat = append(flat, [3]float64{d.x, d.y, 0})
		}
		var direction point
		switch parent := slices.IndexFunc(b.stubs[:i], func(t stub) bool { return t.atom == s.at }); {
		case parent >= 0:
			direction = pos[s.at].sub(pos[b.stubs[parent].at]).direction()
		case slices.Contains(outer, s.at):
			direction = pos[s.at].sub(center).direction()
		default:
			direction = gaps(flat)[0]
		}
		k := count(b.stubs[:i], func(t stub) bool { return t.at == s.at }) // the second one beside the first
		pos[s.atom] = pos[s.at].add(direction.rotate(0.5 - float64(k)).scale(reach))
	}
}

// relax moves the atoms of a block towards bonds of length 1 and faces that are regular, and apart where
// they come near each other or a bond. The last rounds only care for bonds and room. Stiff bonds get their
// length; others rather leave room.
func (b *block) relax(pos []point, faces [][]int, stiff float64) {
	rounds := min(max(relaxWork/(len(b.pairs)+len(b.cross)+1), 50), 500)
	for round := range rounds {
		before := slices.Clone(pos)
		for _, face := range faces {
			n := len(face)
			for i, v := range face {
				for step := 2; step <= n/2 && round < rounds*2/3 && n < largeRing; step++ {
					length := math.Sin(math.Pi*float64(step)/float64(n)) / math.Sin(math.Pi/float64(n))
					pull(&pos[v], &pos[face[(i+step)%n]], length, 0.2*stiff)
				}
			}
		}
		b.bend(pos)
		b.apart(pos)
		for _, s := range b.stubs {
			pull(&pos[s.atom], &pos[s.at], 0.9, 0.5)
		}
		for _, e := range b.edges {
			pull(&pos[e[0]], &pos[e[1]], 1, stiff)
		}
		b.uncross(pos, before)
	}
}

// bend opens the angles at atoms with two bonds that are too small, and bends straight ones, where no atom would be seen.
func (b *block) bend(pos []point) {
	side := 1.0
	for _, v := range b.atoms {
		near := b.near[v]
		if len(near) != 2 {
			continue
		}
		a, c := near[0], near[1]
		if pos[a].distance(pos[c]) < 1.6 {
			pull(&pos[a], &pos[c], math.Sqrt(3), 0.05)
		}
		if b.straight(v, pos) {
			along := pos[c].sub(pos[a])
			if turn := along.cross(pos[v].sub(pos[a])); math.Abs(turn) > 0.01 {
				side = math.Copysign(1, turn)
			}
			pos[v] = pos[v].add(along.left().scale(0.003 * side))
			side = -side // the next one to the other side
		}
	}
}

// straight reports whether an atom with two bonds in the block lies about on the line between its neighbours. In large
// rings that is well.
func (b *block) straight(v int, pos []point) bool {
	near := b.near[v]
	if len(near) != 2 || !slices.ContainsFunc(b.rings, func(r []int) bool { return len(r) < largeRing && slices.Contains(r, v) }) {
		return false
	}
	p, q := pos[near[0]], pos[near[1]]
	return p.distance(q) > 0.985*(p.distance(pos[v])+q.distance(pos[v]))
}

// uncross moves atoms back whose bonds cross others now and did not before.
func (b *block) uncross(pos, before []point) {
	for again := true; again; {
		again = false
		for i, e := range b.bonds {
			for _, f := range b.bonds[:i] {
				if crossing(pos[e[0]], pos[e[1]], pos[f[0]], pos[f[1]]) &&
					!crossing(before[e[0]], before[e[1]], before[f[0]], before[f[1]]) {
					for _, v := range []int{e[0], e[1], f[0], f[1]} {
						again = again || pos[v] != before[v]
						pos[v] = before[v]
					}
				}
			}
		}
	}
}

const (
	apart   = 0.9 // wanted between atoms of a block without a bond
	offBond = 0.5 // wanted between an atom and a bond of others
	onBond  = 0.2 // where an atom seems to be on the bond

	bondCrossing = 40 // the cost of a stub that crosses a bond; that of two bonds of the block is higher
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
	for i, s := range b.stubs {
		for _, v := range b.atoms {
			if v != s.at && pos[s.atom].near(pos[v], apart) {
				pull(&pos[s.atom], &pos[v], apart, 0.2)
			}
		}
		for _, t := range b.stubs[:i] {
			if t.atom != s.at && pos[s.atom].near(pos[t.atom], apart) {
				pull(&pos[s.atom], &pos[t.atom], apart, 0.2)
			}
		}
		for _, e := range b.edges {
			if s.at != e[0] && s.at != e[1] {
				avoid(&pos[s.atom], &pos[e[0]], &pos[e[1]])
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
		d := math.Abs(p.distance(q) - 1)
		cost += 20 * min(d, d*d)
		for _, f := range b.edges[:i] {
			if f[0] != e[0] && f[0] != e[1] && f[1] != e[0] && f[1] != e[1] && crossing(p, q, pos[f[0]], pos[f[1]]) {
				cost += 200
			}
		}
		for _, s := range b.stubs {
			if s.at != e[0] && s.at != e[1] {
				near, _ := foot(pos[s.atom], p, q)
				cost += 15 * max(0.4-pos[s.atom].distance(near), 0)
				if crossing(p, q, pos[s.at], pos[s.atom]) {
					cost += bondCrossing
				}
			}
		}
	}
	for _, c := range b.cross {
		near, _ := foot(pos[c[0]], pos[c[1]], pos[c[2]])
		d := pos[c[0]].distance(near)
		cost += 30 * max(0.4-d, 0)
		if d < onBond {
			cost += 100
		}
	}
	for _, p := range b.pairs {
		cost += 10 * max(apart-pos[p[0]].distance(pos[p[1]]), 0)
	}
	for _, v := range b.atoms {
		if b.straight(v, pos) {
			cost += 5
		}
		for _, s := range b.stubs {
			if s.at != v {
				cost += 5 * max(apart-pos[s.atom].distance(pos[v]), 0)
			}
		}
	}
	for _, s := range b.stubs {
		switch {
		case !b.enclosed(s, pos):
		case s.whole:
			cost += 6
		default: // a branch has no room there
			cost += 40
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
	return slices.ContainsFunc(b.rings, func(ring []int) bool {
		return len(ring) < largeRing && inside(pos[s.atom], selected(pos, ring))
	})
}
