package draw

import (
	"math"
	"slices"
)

// place gives the atoms of a ring system positions with bonds of length 1. Rings become
// regular polygons where they share an edge or one atom with those before; a ring that
// shares more (a bridge, or the last ring around an atom) is closed by an arc, and the
// system is then relaxed towards regular rings. Skeletons in the table of templates keep
// the positions there.
func (s *ringSystem) place(adj adjacency, element []string, pos []point) {
	placed := map[int]bool{}
	for i := range templates {
		if image, ok := templates[i].match(adj, s.atoms, element); ok {
			for a, p := range templates[i].pos {
				pos[image[a]] = p
				placed[image[a]] = true
			}
			s.fixed = true
			break
		}
	}
	done := make([]bool, len(s.rings))
	strained := false
	for range s.rings {
		k := s.nextRing(placed, done)
		done[k] = true
		ring := s.rings[k]
		if len(placed) == 0 {
			r := circumradius(len(ring))
			// One side is vertical: hexagons stand on a vertex.
			for i, v := range ring {
				pos[v] = polar(r, math.Pi*(2*float64(i)+1)/float64(len(ring)))
				placed[v] = true
			}
			continue
		}
		fixed := 0
		for _, v := range ring {
			if placed[v] {
				fixed++
			}
		}
		if fixed == 1 {
			s.placeSpiro(adj, ring, placed, pos)
			continue
		}
		strained = strained || fixed > 2 && fixed < len(ring)
		closeArcs(ring, placed, pos)
	}
	if strained && !s.fixed {
		s.relax(adj, pos)
	}
}

// nextRing chooses the ring to place: first the one with most neighbours, later one that
// shares a single edge, then one that shares most, small ones first.
func (s *ringSystem) nextRing(placed map[int]bool, done []bool) int {
	best, bestScore := -1, math.Inf(-1)
	for k, ring := range s.rings {
		if done[k] {
			continue
		}
		score := -0.01 * float64(len(ring))
		if len(placed) == 0 {
			for j, other := range s.rings {
				if j != k && shared(ring, other) > 1 {
					score++
				}
			}
			if len(ring) == 6 {
				score += 0.5
			}
		} else {
			fixed := 0
			for _, v := range ring {
				if placed[v] {
					fixed++
				}
			}
			switch fixed {
			case 0:
				continue
			case 1:
				score += 1
			case 2:
				score += 100
			default:
				score += 10 + float64(fixed)
			}
		}
		if score > bestScore {
			best, bestScore = k, score
		}
	}
	return best
}

func shared(a, b []int) int {
	n := 0
	for _, v := range a {
		if slices.Contains(b, v) {
			n++
		}
	}
	return n
}

func circumradius(n int) float64 { return 0.5 / math.Sin(math.Pi/float64(n)) }

// placeSpiro places a ring that shares one atom, away from the neighbours of that atom.
func (s *ringSystem) placeSpiro(adj adjacency, ring []int, placed map[int]bool, pos []point) {
	at := slices.IndexFunc(ring, func(v int) bool { return placed[v] })
	v := ring[at]
	var out point
	for _, w := range adj[v] {
		if placed[w] {
			out = out.add(pos[v].sub(pos[w]))
		}
	}
	out = out.unit()
	r := circumradius(len(ring))
	center := pos[v].add(out.scale(r))
	for i := 1; i < len(ring); i++ {
		w := ring[(at+i)%len(ring)]
		pos[w] = center.sub(out.scale(r).rotate(2 * math.Pi * float64(i) / float64(len(ring))))
		placed[w] = true
	}
}

// closeArcs places the runs of missing atoms of a ring on circular arcs with sides of
// length 1 between their ends, on the side where there is more room.
func closeArcs(ring []int, placed map[int]bool, pos []point) {
	n := len(ring)
	first := slices.IndexFunc(ring, func(v int) bool { return placed[v] })
	for i := 0; i < n; i++ {
		a := ring[(first+i)%n]
		if !placed[a] || placed[ring[(first+i+1)%n]] {
			continue
		}
		var run []int
		j := i + 1
		for ; !placed[ring[(first+j)%n]]; j++ {
			run = append(run, ring[(first+j)%n])
		}
		b := ring[(first+j)%n]
		var best []point
		bestCost := math.Inf(1)
		for _, side := range []float64{1, -1} {
			arc := chords(pos[a], pos[b], len(run), side)
			cost := 0.0
			for v := range placed {
				for _, q := range arc {
					if v != a && v != b {
						d := pos[v].distance(q)
						cost = max(cost, 1/(d*d+0.01)) // a maximum: the same in any order
					}
				}
			}
			if cost < bestCost-1e-9 {
				best, bestCost = arc, cost
			}
		}
		for k, v := range run {
			pos[v] = best[k]
			placed[v] = true
		}
	}
}

// chords returns m points from a to b (both left out) on an arc whose m+1 chords have
// length 1, on the left of ab for side 1 and on the right for side −1. Ends that are too
// far apart for that get a straight line.
func chords(a, b point, m int, side float64) []point {
	d := b.sub(a)
	c := d.norm()
	k := float64(m + 1)
	pts := make([]point, m)
	if c >= k*0.999 {
		for i := range pts {
			pts[i] = a.add(d.scale(float64(i+1) / k))
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
	dir := d.unit().rotate(side * (k - 1) * t / 2)
	at := a
	for i := range pts {
		at = at.add(dir)
		pts[i] = at
		dir = dir.rotate(-side * t)
	}
	return pts
}

// spring pulls two atoms to a distance.
type spring struct {
	u, v           int
	length, weight float64
}

// relax moves the atoms of a strained system towards bonds of length 1 and regular rings,
// and apart where they nearly touch. The last rounds only care for bonds and room.
func (s *ringSystem) relax(adj adjacency, pos []point) {
	bonded := map[[2]int]bool{}
	var bonds, shape []spring
	for _, v := range s.atoms {
		for _, w := range adj[v] {
			if v < w && slices.Contains(s.atoms, w) {
				bonded[[2]int{v, w}] = true
				bonds = append(bonds, spring{v, w, 1, 0.5})
			}
		}
	}
	for _, ring := range s.rings {
		n := len(ring)
		for i, v := range ring {
			for step := 2; step <= n/2; step++ {
				w := ring[(i+step)%n]
				length := math.Sin(math.Pi*float64(step)/float64(n)) / math.Sin(math.Pi/float64(n))
				shape = append(shape, spring{v, w, length, 0.1})
			}
		}
	}
	for round := range 600 {
		if round < 400 {
			pull(shape, pos)
		}
		pull(bonds, pos)
		for i, v := range s.atoms {
			for _, w := range s.atoms[i+1:] {
				if !bonded[[2]int{v, w}] && pos[v].distance(pos[w]) < 0.85 {
					pull([]spring{{v, w, 0.85, 0.3}}, pos)
				}
			}
		}
	}
}

func pull(springs []spring, pos []point) {
	for _, s := range springs {
		d := pos[s.v].sub(pos[s.u])
		n := d.norm()
		if n < 1e-9 {
			d, n = polar(1, float64(s.u+2*s.v)), 1
		}
		move := d.scale(s.weight * (n - s.length) / n / 2)
		pos[s.u] = pos[s.u].add(move)
		pos[s.v] = pos[s.v].sub(move)
	}
}
