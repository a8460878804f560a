package draw

import (
	"cmp"
	"math"
	"slices"
)

const (
	// reliefWork bounds the tries to avoid collisions. A try costs the square of the number of
	// atoms: 2000 tries for 100 atoms take a few tenths of a second.
	reliefWork = 20_000_000

	room   = 0.9  // the smallest distance between atoms without a bond that needs no relief
	tight  = 0.72 // the smallest such distance that is tolerated before bonds are bent
	bend   = 0.15 // the price of a degree between a bond and its ideal direction
	inward = 5    // the price of an atom drawn inside a ring
)

// relief moves the branches of a component as long as the drawing becomes less crowded.
type relief struct {
	*skeleton
	atoms []int
	bonds [][2]int
	wide  bool // prefer wide drawings: no turn of the whole comes later
	cost  float64
	tries int
}

// branch is what moves around the atom v: all beyond its bond with w.
type branch struct {
	v, w  int
	atoms []int
}

// relieve turns branches over (mirrors them at their bond), and where that is not enough
// bends them. The body of root stays.
func (s *skeleton) relieve(atoms []int, root int, wide bool) {
	r := &relief{skeleton: s, atoms: atoms, bonds: s.adj.edges(atoms), wide: wide, tries: reliefWork / (len(atoms) * len(atoms))}
	if r.tries < len(atoms)/2 {
		return // not even each branch once
	}
	var branches []branch
	for _, v := range atoms {
		for _, w := range s.adj[v] {
			if s.system[v] >= 0 && s.system[v] == s.system[w] {
				continue
			}
			if far := s.branch(v, w); !slices.Contains(far, root) {
				branches = append(branches, branch{v, w, far})
			}
		}
	}
	// Short branches first, and of these rather a hetero atom.
	carbon := func(b branch) int {
		if s.m.atoms[b.w].symbol == "C" {
			return 1
		}
		return 0
	}
	short := slices.SortedStableFunc(slices.Values(branches), func(a, b branch) int {
		return cmp.Or(cmp.Compare(len(a.atoms), len(b.atoms)), cmp.Compare(carbon(a), carbon(b)))
	})
	start, plain, least := slices.Clone(s.pos), []point(nil), math.Inf(1)
	for _, mirrored := range []bool{false, true} {
		copy(s.pos, start)
		r.cost = r.crowding()
		r.mirror(branches)
		for range 3 {
			if r.bend(short, mirrored) {
				r.mirror(branches)
			}
		}
		if !slices.ContainsFunc(short, func(b branch) bool { return r.clashes(b.atoms) }) {
			return
		}
		if !mirrored {
			plain, least = slices.Clone(s.pos), r.cost
		}
	}
	if least <= r.cost {
		copy(s.pos, plain)
	}
}

// mirror turns branches over while that helps. Each move lowers the cost; the bound only guards the time.
func (r *relief) mirror(branches []branch) {
	for round, changed := 0, true; round < 6 && changed; round++ {
		changed = false
		for _, b := range branches {
			if len(b.atoms) > 1 && !r.m.sided(b.v, b.w) {
				v, w := r.pos[b.v], r.pos[b.w]
				changed = r.try(b, 0, func(p point) point { return p.reflect(v, w) }) || changed
			}
		}
	}
}

// bend turns branches that are too near to others, also mirrored, and reports whether it did.
func (r *relief) bend(branches []branch, mirrored bool) (changed bool) {
	for _, b := range branches {
		if !r.clashes(b.atoms) {
			continue
		}
		turn := func(degrees, price float64, mirrored bool) {
			center, first := r.pos[b.v], r.pos[b.w]
			changed = r.try(b, price, func(p point) point {
				if mirrored {
					p = p.reflect(center, first)
				}
				return center.add(p.sub(center).rotate(degrees * math.Pi / 180))
			}) || changed
		}
		if len(b.atoms) == 1 && r.system[b.v] >= 0 && len(r.adj[b.v]) > 3 {
			// On an atom of two rings there is also the inside of the rings.
			turn(120, inward, false)
			turn(-120, inward, false)
		}
		for _, degrees := range []float64{30, -30, 15, -15} {
			turn(degrees, bend*math.Abs(degrees), false)
		}
		for _, degrees := range []float64{60, -60} {
			if r.clashes(b.atoms) {
				turn(degrees, bend*math.Abs(degrees), false)
			}
		}
		for _, degrees := range []float64{30, -30, 60, -60} {
			if mirrored && r.clashes(b.atoms) && !r.m.sided(b.v, b.w) {
				turn(degrees, bend*math.Abs(degrees), true)
			}
		}
	}
	return changed
}

// try moves a branch if that lowers the cost by more than the price, and reports whether it did.
func (r *relief) try(b branch, price float64, f func(point) point) bool {
	if r.tries--; r.tries < 0 {
		return false
	}
	saved := selected(r.pos, b.atoms)
	for _, u := range b.atoms {
		r.pos[u] = f(r.pos[u])
	}
	if c := r.crowding(); c+price < r.cost-1e-6 {
		r.cost = c
		return true
	}
	for i, u := range b.atoms {
		r.pos[u] = saved[i]
	}
	return false
}

// clashes reports whether an atom of the branch is too near to one outside.
func (r *relief) clashes(branch []int) bool {
	for _, u := range branch {
		for _, v := range r.atoms {
			if r.pos[u].distance(r.pos[v]) < tight && !slices.Contains(r.adj[u], v) && !slices.Contains(branch, v) {
				return true
			}
		}
	}
	return false
}

// crowding is the cost of a drawing: near pairs, narrow angles, crossing bonds.
func (r *relief) crowding() float64 {
	cost := 0.0
	for i, u := range r.atoms {
		for _, v := range r.atoms[i+1:] {
			d := r.pos[u].distance(r.pos[v])
			cost += 0.3 / (d*d + 0.05)
			if d < room && !slices.Contains(r.adj[u], v) {
				cost += 10 + 40*(room-d)
			}
		}
		for k, v := range r.adj[u] {
			for _, w := range r.adj[u][k+1:] { // nearly at right angles at least
				cost += 15 * max(r.pos[v].sub(r.pos[u]).dot(r.pos[w].sub(r.pos[u]))-0.1, 0)
			}
		}
	}
	for i, e := range r.bonds {
		a, b := r.pos[e[0]], r.pos[e[1]]
		for _, f := range r.bonds[i+1:] {
			if c := r.pos[f[0]]; a.distance(c) < 2.5 && crossing(a, b, c, r.pos[f[1]]) {
				cost += 25
			}
		}
	}
	if r.wide {
		lo, hi := bounds(selected(r.pos, r.atoms))
		cost += 0.3 * (hi.y - lo.y)
	}
	return cost
}

// orient turns and mirrors a component to what chemists draw: bonds at 30 and 90 degrees,
// wide rather than high, rising to the right, ends upwards.
func (s *skeleton) orient(atoms []int) {
	original, center := slices.Clone(s.pos), mean(selected(s.pos, atoms))
	turn := func(k int) { // twelve turns, then the same mirrored
		for _, v := range atoms {
			p := original[v].sub(center)
			if k >= 12 {
				p.x = -p.x
			}
			s.pos[v] = p.rotate(float64(k%12) * math.Pi / 6)
		}
	}
	best, bestScore := 0, math.Inf(-1)
	for k := range 24 {
		turn(k)
		if score := s.looks(atoms); score > bestScore+1e-6 {
			best, bestScore = k, score
		}
	}
	turn(best)
}

// looks is how well a component lies on the page.
func (s *skeleton) looks(atoms []int) float64 {
	bonds := s.adj.edges(atoms)
	aligned, slope, up := 0.0, 0.0, 0.0
	for _, e := range bonds {
		if r := math.Mod(s.towards(e[0], e[1])*180/math.Pi+720+30, 60); r < 2 || r > 58 {
			aligned++
		}
	}
	for _, v := range atoms {
		slope += s.pos[v].x * s.pos[v].y
		if len(s.adj[v]) == 1 {
			up += s.pos[v].y - s.pos[s.adj[v][0]].y
		}
	}
	lo, hi := bounds(selected(s.pos, atoms))
	wide := math.Log((hi.x - lo.x + 1) / (hi.y - lo.y + 1))
	n := float64(len(atoms))
	return 1.5*aligned/max(float64(len(bonds)), 1) + min(wide, 1) + 0.05*math.Tanh(slope/n) + 0.1*up/n
}
