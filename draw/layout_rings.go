package draw

import (
	"math"
	"slices"
)

// place gives the atoms of a ring system positions with bonds of length 1. Rings become
// regular polygons where they share an edge or one atom with those before; a ring that
// shares more (a bridge, or the last ring around an atom) is closed by an arc. Skeletons in the table of
// patterns have the positions there. What does not become regular in this way is then laid out anew.
func (s *ringSystem) place(adj adjacency, m *molecule, pos []point) {
	placed := map[int]bool{}
	var image []int
	var t pattern
	for _, t = range patterns {
		if image, s.fixed = t.match(adj, s.atoms, m); s.fixed {
			for a, p := range t.pos {
				pos[image[a]], placed[image[a]] = p, true
			}
			break
		}
	}
	known := func(ring []int) int { return count(ring, func(v int) bool { return placed[v] }) }
	for rest := slices.Clone(s.rings); len(rest) > 0; {
		ring := slices.MaxFunc(rest, func(a, b []int) int { return s.rank(a, known(a)) - s.rank(b, known(b)) })
		rest = slices.DeleteFunc(rest, func(r []int) bool { return &r[0] == &ring[0] })
		if known(ring) > 0 {
			closeRing(adj, ring, placed, pos)
			continue
		}
		// One side is vertical: hexagons stand on a vertex.
		for v, p := range regular(180/float64(len(ring)), ring...) {
			pos[v], placed[v] = p, true
		}
	}
	blocks := s.blocks(adj, m)
	shapes := make([][]point, len(blocks))
	for i, b := range blocks {
		shapes[i] = slices.Clone(pos)
		switch kept := s.fixed && slices.Contains(b.atoms, image[0]); {
		case len(b.rings) == 1 && b.loop(shapes[i]):
		case b.regular(pos) || kept && t.over && len(b.rings) == len(t.rings):
		case kept && t.loose:
			b.settle(shapes[i], t.faces(image))
		default:
			shapes[i] = b.place(pos)
			s.fixed = s.fixed && !kept
		}
	}
	s.join(blocks, shapes, pos)
}

// join puts blocks of the given shapes together at their common atoms. The first one does not move.
func (s *ringSystem) join(blocks []*block, shapes [][]point, pos []point) {
	placed := map[int]bool{}
	for len(blocks) > 0 {
		known := func(v int) bool { return placed[v] }
		k := max(slices.IndexFunc(blocks, func(b *block) bool { return slices.ContainsFunc(b.atoms, known) }), 0)
		s.atoms = append(s.atoms, blocks[k].join(shapes[k], placed, pos)...)
		blocks, shapes = slices.Delete(blocks, k, k+1), slices.Delete(shapes, k, k+1)
	}
}

// join moves a block of the given shape to the atom that it shares with those placed, away from them. It
// returns the atoms on the block that it has placed as well.
func (b *block) join(shape []point, placed map[int]bool, pos []point) []int {
	turn, shift, center := 0.0, point{}, point{}
	if i := slices.IndexFunc(b.atoms, func(v int) bool { return placed[v] }); i >= 0 {
		v := b.atoms[i]
		away := func(all []point, mine bool) (sum point) {
			for _, w := range b.adj[v] {
				if placed[w] != mine && (placed[w] || slices.Contains(b.atoms, w)) {
					sum = sum.add(all[w].sub(all[v]).direction())
				}
			}
			return sum
		}
		turn = away(pos, false).angle() + math.Pi - away(shape, true).angle()
		shift, center = pos[v], shape[v]
	}
	for _, v := range b.atoms {
		pos[v], placed[v] = shift.add(shape[v].sub(center).rotate(turn)), true
	}
	// What ends inside a ring keeps the place that there is for it.
	var ends []int
	for _, t := range b.stubs {
		if b.drawn && t.whole && (slices.Contains(ends, t.at) || slices.Contains(b.atoms, t.at) && b.enclosed(t, shape)) {
			pos[t.atom] = shift.add(shape[t.atom].sub(center).rotate(turn))
			ends = append(ends, t.atom)
		}
	}
	return ends
}

// rank orders rings by their number of placed atoms: one that shares an edge with those before comes
// first, then the one that shares most. The very first is the one with most neighbours.
func (s *ringSystem) rank(ring []int, known int) int {
	switch known {
	case 0:
		return count(s.rings, func(other []int) bool { return shared(ring, other) > 1 }) - len(s.rings)
	case 2:
		return len(s.atoms)
	}
	return known
}

// shared returns the number of common atoms of two rings.
func shared(a, b []int) int { return count(a, func(v int) bool { return slices.Contains(b, v) }) }

func count[T any](all []T, f func(T) bool) int {
	n := 0
	for _, x := range all {
		if f(x) {
			n++
		}
	}
	return n
}

// closeRing places the runs of missing atoms of a ring on circular arcs with sides of
// length 1 between their ends, on the side where there is more room. A ring with one atom placed
// is one run, which leaves that atom away from its neighbours.
func closeRing(adj adjacency, ring []int, placed map[int]bool, pos []point) {
	n := len(ring)
	first := slices.IndexFunc(ring, func(v int) bool { return placed[v] })
	ring = slices.Concat(ring[first:], ring[:first+1])
	for i := 0; i < n; i++ {
		a := ring[i]
		var run []int
		for !placed[ring[i+1]] {
			run = append(run, ring[i+1])
			i++
		}
		b := ring[i+1]
		along := pos[b].sub(pos[a])
		if a == b {
			for _, w := range adj[a] {
				if placed[w] {
					along = along.add(pos[w].sub(pos[a]).left())
				}
			}
		}
		best, clearance := []point{}, 0.0
		for _, side := range []float64{1, -1} {
			arc := chords(pos[a], along.direction(), pos[a].distance(pos[b]), len(run), side)
			nearest := 1e9
			for v := range placed {
				for _, q := range arc {
					if v != a && v != b {
						nearest = min(nearest, pos[v].distance(q))
					}
				}
			}
			if len(best) == 0 || nearest > clearance+1e-9 {
				best, clearance = arc, nearest
			}
		}
		for k, v := range run {
			pos[v], placed[v] = best[k], true
		}
	}
}

// chords returns m points on an arc whose m+1 chords have length 1, between a and the point at a
// distance c from it in a direction (both left out), on the left of that direction for side 1 and on
// the right for side −1. Ends that are too far apart for that get a straight line.
func chords(a, direction point, c float64, m int, side float64) []point {
	k := float64(m + 1)
	pts := make([]point, m)
	if c >= k*0.999 {
		for i := range pts {
			pts[i] = a.add(direction.scale(c * float64(i+1) / k))
		}
		return pts
	}
	// The chord turns by t from one side to the next: sin(k·t/2)/sin(t/2) = c.
	lo, hi := 1e-9, 2*math.Pi/k
	for range 60 {
		t := (lo + hi) / 2
		if math.Sin(k*t/2)/math.Sin(t/2) > c {
			lo = t
		} else {
			hi = t
		}
	}
	t := (lo + hi) / 2
	step := direction.rotate(side * (k - 1) * t / 2)
	for i := range pts {
		a = a.add(step)
		pts[i] = a
		step = step.rotate(-side * t)
	}
	return pts
}

// pull moves two points so that their distance comes nearer to a length by a share of what is missing.
func pull(p, q *point, length, share float64) {
	d := q.sub(*p)
	n := d.norm()
	if n < 1e-9 {
		d, n = point{0.6, 0.8}, 1
	}
	move := d.scale(share * (n - length) / n / 2)
	*p, *q = p.add(move), q.sub(move)
}
