package draw

import (
	"math"
	"slices"
)

// place gives the atoms of a ring system positions with bonds of length 1. Rings become
// regular polygons where they share an edge or one atom with those before; a ring that
// shares more (a bridge, or the last ring around an atom) is closed by an arc, and the
// system is then relaxed towards regular rings. Skeletons in the table of patterns keep
// the positions there.
func (s *ringSystem) place(adj adjacency, m *molecule, pos []point) {
	placed := map[int]bool{}
	for i := range patterns {
		if image, ok := patterns[i].match(adj, s.atoms, m); ok {
			for a, p := range patterns[i].pos {
				pos[image[a]], placed[image[a]] = p, true
			}
			s.fixed = true
			break
		}
	}
	known := func(ring []int) int { return count(ring, func(v int) bool { return placed[v] }) }
	strained := false
	for rest := slices.Clone(s.rings); len(rest) > 0; {
		ring := slices.MaxFunc(rest, func(a, b []int) int { return s.rank(a, known(a)) - s.rank(b, known(b)) })
		rest = slices.DeleteFunc(rest, func(r []int) bool { return &r[0] == &ring[0] })
		if n := known(ring); n > 0 {
			strained = strained || n > 2 && n < len(ring)
			closeRing(adj, ring, placed, pos)
			continue
		}
		// One side is vertical: hexagons stand on a vertex.
		for v, p := range regular(180/float64(len(ring)), ring...) {
			pos[v], placed[v] = p, true
		}
	}
	if strained && !s.fixed {
		s.relax(adj, pos)
	}
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

// relax moves the atoms of a strained system towards bonds of length 1 and regular rings,
// and apart where they nearly touch. The last rounds only care for bonds and room.
func (s *ringSystem) relax(adj adjacency, pos []point) {
	for round := range 600 {
		for _, ring := range s.rings {
			n := len(ring)
			for i, v := range ring {
				for step := 2; step <= n/2 && round < 400; step++ {
					length := math.Sin(math.Pi*float64(step)/float64(n)) / math.Sin(math.Pi/float64(n))
					pull(pos, v, ring[(i+step)%n], length, 0.1)
				}
			}
		}
		for i, v := range s.atoms {
			for _, w := range s.atoms[i+1:] {
				if slices.Contains(adj[v], w) {
					pull(pos, v, w, 1, 0.5)
				}
			}
		}
		for i, v := range s.atoms {
			for _, w := range s.atoms[i+1:] {
				if pos[v].distance(pos[w]) < 0.85 && !slices.Contains(adj[v], w) {
					pull(pos, v, w, 0.85, 0.3)
				}
			}
		}
	}
}

// pull moves two atoms so that their distance comes nearer to a length by a share of what is
// missing.
func pull(pos []point, u, v int, length, share float64) {
	d := pos[v].sub(pos[u])
	n := d.norm()
	if n < 1e-9 {
		d, n = polar(1, float64(u+2*v)), 1
	}
	move := d.scale(share * (n - length) / n / 2)
	pos[u], pos[v] = pos[u].add(move), pos[v].sub(move)
}
