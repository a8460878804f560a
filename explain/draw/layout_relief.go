package draw

import (
	"cmp"
	"math"
	"slices"
)

// reliefWork bounds the tries to avoid collisions, each of which costs the square of the
// number of atoms: 2000 tries for 100 atoms, a few tenths of a second.
const reliefWork = 20_000_000

// room is the smallest distance between atoms without a bond that needs no relief.
const room = 0.9

// tight is the smallest such distance that is tolerated before bonds are bent.
const tight = 0.72

// bend is the price of a degree between a bond and its ideal direction.
const bend = 0.15

// inward is the price of an atom drawn inside a ring.
const inward = 5

// relieve turns branches over (mirrors them at their bond), and where that is not enough
// bends them, as long as the drawing becomes less crowded. The body of root stays.
func (s *skeleton) relieve(part []int, root int) {
	tries := reliefWork / (len(part) * len(part))
	if tries < len(part)/2 {
		return // not even each branch once
	}
	type move struct {
		v, w   int
		branch []int
	}
	var moves []move
	for _, v := range part {
		for _, w := range s.adj[v] {
			if s.system[v] >= 0 && s.system[v] == s.system[w] {
				continue
			}
			if branch := s.branch(v, w); !slices.Contains(branch, root) {
				moves = append(moves, move{v, w, branch})
			}
		}
	}
	rooted := s.system[root] >= 0 && s.systems[s.system[root]].fixed
	crowding := func() float64 {
		c := s.crowding(part)
		if rooted { // no turn of the whole comes later: prefer wide drawings here
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, v := range part {
				lo, hi = min(lo, s.pos[v].y), max(hi, s.pos[v].y)
			}
			c += 0.3 * (hi - lo)
		}
		return c
	}
	cost := crowding()
	saved := make([]point, len(s.pos))
	try := func(m move, price float64, f func(point) point) bool {
		if tries--; tries < 0 {
			return false
		}
		for _, u := range m.branch {
			saved[u] = s.pos[u]
			s.pos[u] = f(s.pos[u])
		}
		if c := crowding() + price; c < cost-1e-6 {
			cost = c - price
			return true
		}
		for _, u := range m.branch {
			s.pos[u] = saved[u]
		}
		return false
	}
	// Each accepted move lowers the cost; the bound only guards the time.
	for range 6 {
		changed := false
		for _, m := range moves {
			if len(m.branch) > 1 {
				a, b := s.pos[m.v], s.pos[m.w]
				changed = try(m, 0, func(p point) point { return p.reflect(a, b) }) || changed
			}
		}
		if !changed {
			break
		}
	}
	// Bending: short branches first, and of these rather a hetero atom.
	slices.SortStableFunc(moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(len(a.branch), len(b.branch)), cmp.Compare(s.carbon(a.w), s.carbon(b.w)))
	})
	for range 3 {
		if s.tightest(part) >= tight {
			return
		}
		for _, m := range moves {
			if !s.clashes(part, m.branch) {
				continue
			}
			turn := func(degrees, price float64) {
				center := s.pos[m.v]
				try(m, price, func(p point) point { return center.add(p.sub(center).rotate(degrees * math.Pi / 180)) })
			}
			if len(m.branch) == 1 && s.system[m.v] >= 0 && len(s.adj[m.v]) > 3 {
				// On an atom of two rings there is also the inside of the rings.
				turn(120, inward)
				turn(-120, inward)
			}
			for _, degrees := range []float64{30, -30, 15, -15} {
				turn(degrees, bend*math.Abs(degrees))
			}
		}
	}
}

func (s *skeleton) carbon(v int) int {
	if s.element[v] == "C" {
		return 1
	}
	return 0
}

// clashes reports whether an atom of the branch is too near to one outside.
func (s *skeleton) clashes(part, branch []int) bool {
	inside := map[int]bool{}
	for _, v := range branch {
		inside[v] = true
	}
	for _, u := range branch {
		for _, v := range part {
			if !inside[v] && s.pos[u].distance(s.pos[v]) < tight && !slices.Contains(s.adj[u], v) {
				return true
			}
		}
	}
	return false
}

// crowding is the cost of a drawing: near pairs, atoms on foreign bonds and crossing bonds.
func (s *skeleton) crowding(part []int) float64 {
	cost := 0.0
	for i, u := range part {
		for _, v := range part[i+1:] {
			d := s.pos[u].distance(s.pos[v])
			if d > 3 {
				continue
			}
			cost += 0.3 / (d*d + 0.05)
			if d < room && !slices.Contains(s.adj[u], v) {
				cost += 10 + 40*(room-d)
			}
		}
	}
	bonds := s.bondsOf(part)
	for i, e := range bonds {
		a, b := s.pos[e[0]], s.pos[e[1]]
		for _, f := range bonds[i+1:] {
			c, d := s.pos[f[0]], s.pos[f[1]]
			if e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1] {
				// Bonds of one atom: 30 degrees apart at least.
				hub, p, q := sharedEnd(e, f)
				x, y := s.pos[p].sub(s.pos[hub]).unit(), s.pos[q].sub(s.pos[hub]).unit()
				if c := x.dot(y); c > 0.1 {
					cost += 6 * (c - 0.1)
				}
				continue
			}
			if a.distance(c) < 2.5 && crossing(a, b, c, d) {
				cost += 25
			}
		}
	}
	return cost
}

func sharedEnd(e, f [2]int) (hub, p, q int) {
	switch {
	case e[0] == f[0]:
		return e[0], e[1], f[1]
	case e[0] == f[1]:
		return e[0], e[1], f[0]
	case e[1] == f[0]:
		return e[1], e[0], f[1]
	}
	return e[1], e[0], f[0]
}

// bondsOf returns the bonds of a component.
func (s *skeleton) bondsOf(part []int) [][2]int {
	if len(part) == len(s.adj) {
		return s.bonds
	}
	var bonds [][2]int
	for _, v := range part {
		for _, w := range s.adj[v] {
			if v < w {
				bonds = append(bonds, [2]int{v, w})
			}
		}
	}
	return bonds
}

// tightest returns the smallest distance between atoms without a bond.
func (s *skeleton) tightest(part []int) float64 {
	d := math.Inf(1)
	for i, u := range part {
		for _, v := range part[i+1:] {
			if e := s.pos[u].distance(s.pos[v]); e < d && !slices.Contains(s.adj[u], v) {
				d = e
			}
		}
	}
	return d
}

// orient turns and mirrors a component to what chemists draw: bonds at 30 and 90 degrees,
// wide rather than high, rising to the right, ends upwards.
func (s *skeleton) orient(part []int) {
	var mean point
	for _, v := range part {
		mean = mean.add(s.pos[v].scale(1 / float64(len(part))))
	}
	bonds := s.bondsOf(part)
	var best func(point) point
	bestScore := math.Inf(-1)
	for k := range 24 {
		turn := float64(k%12) * math.Pi / 6
		mirrored := k >= 12
		f := func(p point) point {
			p = p.sub(mean)
			if mirrored {
				p.x = -p.x
			}
			return p.rotate(turn)
		}
		if score := s.looks(part, bonds, f); score > bestScore+1e-6 {
			best, bestScore = f, score
		}
	}
	for _, v := range part {
		s.pos[v] = best(s.pos[v])
	}
}

func (s *skeleton) looks(part []int, bonds [][2]int, f func(point) point) float64 {
	aligned := 0.0
	for _, e := range bonds {
		a := f(s.pos[e[1]]).sub(f(s.pos[e[0]])).angle() * 180 / math.Pi
		if r := math.Mod(a+720+30, 60); r < 2 || r > 58 {
			aligned++
		}
	}
	ps := make([]point, len(part))
	slope, up := 0.0, 0.0
	for i, v := range part {
		p := f(s.pos[v])
		ps[i] = p
		slope += p.x * p.y
		if len(s.adj[v]) == 1 {
			up += f(s.pos[v]).y - f(s.pos[s.adj[v][0]]).y
		}
	}
	lo, hi := bounds(ps)
	wide := math.Log((hi.x - lo.x + 1) / (hi.y - lo.y + 1))
	n := float64(len(part))
	return 1.5*aligned/max(float64(len(bonds)), 1) + min(wide, 1) + 0.05*math.Tanh(slope/n) + 0.1*up/n
}
