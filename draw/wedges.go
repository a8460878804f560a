package draw

import (
	"cmp"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/dataset/chem"
)

// wedge is a bond that leaves the page: with its narrow end at a chiral atom, towards the reader (up,
// solid) or away (broken).
type wedge struct {
	atom int
	bond int   // of the molecule; −1 for a hydrogen that is drawn for it
	to   point // direction of that hydrogen, y upwards
	up   bool
	cost float64 // of the choice
}

// wedges chooses for each chiral atom the bond that shows its chirality at the given positions, y
// upwards. An atom where rings meet gets its hydrogen drawn, as the bonds of rings stay in the page.
// Bonds that nothing else says anything about are chosen first, so that atoms with a choice give way.
func (m *molecule) wedges(systems []ringSystem, pos []point) (chosen []wedge) {
	system := slices.Repeat([]int{-1}, len(m.atoms))
	for k, s := range systems {
		for _, v := range s.atoms {
			system[v] = k
		}
	}
	taken := make([]bool, len(m.bonds))
	var letters []point
	var chiral []int
	for v, a := range m.atoms {
		if a.chirality != chem.Achiral {
			chiral = append(chiral, v)
		}
	}
	for len(chiral) > 0 {
		best, at := wedge{cost: math.Inf(1)}, -1
		for i, v := range chiral {
			if w := m.wedge(v, system, taken, letters, pos); at < 0 || w.cost < best.cost {
				best, at = w, i
			}
		}
		chiral = slices.Delete(chiral, at, at+1)
		if math.IsInf(best.cost, 1) {
			continue // all its bonds are taken or lie on a line: nothing shows it
		}
		if best.bond >= 0 {
			taken[best.bond] = true
		} else {
			letters = append(letters, pos[best.atom].add(best.to.scale(letterLength)))
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// wedge returns the best bond of a chiral atom to be drawn as a wedge.
func (m *molecule) wedge(v int, system []int, taken []bool, letters, pos []point) wedge {
	bonds := slices.Clone(m.at[v])
	slices.SortFunc(bonds, func(a, b int) int { return m.bonds[a].other(v) - m.bonds[b].other(v) })
	var flat [][3]float64 // directions of the neighbours, by their numbers
	rings := 0
	for _, k := range bonds {
		w := m.bonds[k].other(v)
		d := pos[w].sub(pos[v]).direction()
		flat = append(flat, [3]float64{d.x, d.y, 0})
		if system[v] >= 0 && system[w] == system[v] {
			rings++
		}
	}
	best := wedge{atom: v, cost: math.Inf(1)}
	to, free := m.hydrogen(v, flat, letters, pos)
	if rings == 3 && len(bonds) == 3 && m.atoms[v].hydrogens == 1 && free {
		up := chem.Sense(slices.Insert(slices.Clone(flat), 0, [3]float64{to.x, to.y, 1})) == m.atoms[v].chirality
		return wedge{atom: v, bond: -1, to: to, up: up}
	}
	for i, k := range bonds {
		flat[i][2] = 1
		sense := chem.Sense(flat)
		flat[i][2] = 0
		if taken[k] || sense == chem.Achiral {
			continue
		}
		if cost := m.wedgeCost(v, k, system) + awkward(flat, i); cost < best.cost {
			best.bond, best.up, best.cost = k, sense == m.atoms[v].chirality, cost
		}
	}
	return best
}

// letterLength is how far the letter of a hydrogen is from its atom.
const letterLength = 0.7

// hydrogen returns the direction for the letter of a hydrogen on v in which it is farthest from the letters
// that are there, if it touches no bond of others in any.
func (m *molecule) hydrogen(v int, flat [][3]float64, letters, pos []point) (to point, ok bool) {
	most := 0.0
	for _, direction := range gaps(flat) {
		p := pos[v].add(direction.scale(letterLength))
		room := 1.0
		for _, q := range letters {
			room = min(room, p.distance(q))
		}
		for _, b := range m.bonds {
			if q, _ := foot(p, pos[b.u], pos[b.v]); b.u != v && b.v != v && p.near(q, 0.3) {
				room = 0
			}
		}
		if room > most+0.01 {
			most, to, ok = room, direction, true
		}
	}
	return to, ok
}

// wedgeCost is how little a bond of v is suited to be a wedge, by what is at its other end.
func (m *molecule) wedgeCost(v, k int, system []int) float64 {
	w := m.bonds[k].other(v)
	cost := float64(len(m.at[w]))
	switch m.atoms[w].symbol {
	case "C":
	case "H", "D":
		cost -= 2
	default:
		cost -= 0.5
	}
	if m.atoms[w].chirality != chem.Achiral {
		cost += 10
	}
	if system[v] >= 0 && system[v] == system[w] {
		cost += 12
	}
	if m.bonds[k].order > 1 || m.bonds[k].aromatic {
		cost += 50
	}
	return cost
}

// awkward is how ambiguous the wedge i of some directions is to a reader: with three bonds in one half of
// the plane the middle one reads in two ways, and others nearly on a line tell little.
func awkward(flat [][3]float64, i int) float64 {
	if len(flat) != 3 {
		return 0
	}
	a, b, c := flat[i], flat[(i+1)%3], flat[(i+2)%3]
	cross := func(p, q [3]float64) float64 { return p[0]*q[1] - p[1]*q[0] }
	switch {
	case cross(b, a) > 0.05 && cross(a, c) > 0.05 && cross(b, c) > 0, cross(c, a) > 0.05 && cross(a, b) > 0.05 && cross(c, b) > 0:
		return 30
	case math.Abs(cross(b, c)) < 0.3:
		return 15
	}
	return 0
}

// gaps returns the directions in the middle of the angles between some, wide angles first.
func gaps(flat [][3]float64) []point {
	var angles []float64
	for _, d := range flat {
		angles = append(angles, point{d[0], d[1]}.angle())
	}
	slices.Sort(angles)
	type gap struct{ middle, width float64 }
	var all []gap
	for i, a := range angles {
		next := angles[(i+1)%len(angles)]
		if next <= a {
			next += 2 * math.Pi
		}
		all = append(all, gap{(a + next) / 2, next - a})
	}
	slices.SortStableFunc(all, func(a, b gap) int { return cmp.Compare(math.Round(100*b.width), math.Round(100*a.width)) })
	var directions []point
	for _, g := range all {
		directions = append(directions, polar(1, g.middle))
	}
	return directions
}
