package chem

import (
	"math"
	"slices"
)

// Chirality is the sense in which the four neighbours of an atom follow each other: seen from the
// first of them, the other three. Neighbours are in the order of their numbers; a hydrogen that is no
// atom, or a lone pair, comes first. For the atom in the middle of an allene, or of a longer chain of
// cumulated double bonds, they are those of the ends of the chain, end by end in the order of their numbers.
type Chirality uint8

// The chiralities.
const (
	Achiral       Chirality = iota // nothing is said
	Anticlockwise                  // @ in SMILES
	Clockwise                      // @@ in SMILES
)

// flip returns the mirror image of c where mirror says so.
func (c Chirality) flip(mirror bool) Chirality {
	if c == Achiral || !mirror {
		return c
	}
	return Anticlockwise + Clockwise - c
}

// Sides says where the neighbours of a double bond lie: of each of its ends the one with the lowest
// number, the other end left out.
type Sides uint8

// The sides.
const (
	AnySide       Sides = iota // nothing is said
	SameSide                   // cis
	OppositeSides              // trans
)

// Sense returns the chirality of an atom whose neighbours lie in the given directions, in the order of
// their numbers. Of four it is the sign of the volume that they span. Three leave the first place to a
// hydrogen or a lone pair, which lies opposite to their sum. Directions in a plane have none.
func Sense(directions [][3]float64) Chirality {
	d := directions
	if len(d) == 4 {
		var edges [3][3]float64
		for i := range edges {
			for k := range 3 {
				edges[i][k] = d[i+1][k] - d[0][k]
			}
		}
		d = edges[:]
	}
	if len(d) != 3 {
		return Achiral
	}
	a, b, c := d[0], d[1], d[2]
	volume := a[0]*(b[1]*c[2]-b[2]*c[1]) - a[1]*(b[0]*c[2]-b[2]*c[0]) + a[2]*(b[0]*c[1]-b[1]*c[0])
	const flat = 1e-3 // of directions of length 1
	switch {
	case volume < -flat:
		return Anticlockwise
	case volume > flat:
		return Clockwise
	}
	return Achiral
}

// unwritten stands for the hydrogen that is no atom, or the lone pair, in a list of neighbours.
const unwritten = -1

// around returns the neighbours of an atom in the order in which a SMILES string has them: that before
// the atom (first tells whether there is none), then unwritten if three of four are there, then the
// others. It is nil when the atom cannot be chiral.
func around(a Atom, neighbours []int32, first bool) []int32 {
	if a.Hydrogens > 1 || len(neighbours)+a.Hydrogens > 4 || len(neighbours) < 3 {
		return nil
	}
	if len(neighbours) == 4 {
		return neighbours
	}
	at := 1
	if first {
		at = 0
	}
	return slices.Insert(slices.Clone(neighbours), at, unwritten)
}

// cumulated reports whether an atom is in the middle of a chain of an even number of cumulated double bonds between carbons,
// and returns the ends of the chain, the lower number first.
func (m *Molecule) cumulated(near adjacency, a int32) (middle bool, ends [2]int32) {
	next := func(a int32) []int32 { // its bonds, if both are double
		at := near.at(a)
		if len(at) != 2 || m.Atoms[a].Element != carbon || m.Bonds[at[0]].Order != Double || m.Bonds[at[1]].Order != Double {
			return nil
		}
		return at
	}
	via := next(a)
	if via == nil || m.Atoms[a].Hydrogens > 0 {
		return false, ends
	}
	var length [2]int
	for k, e := range via {
		for ends[k] = m.Bonds[e].other(a); length[k] < len(m.Atoms); length[k]++ {
			on := next(ends[k])
			if on == nil {
				break
			}
			e = on[0] ^ on[1] ^ e
			ends[k] = m.Bonds[e].other(ends[k])
		}
	}
	slices.Sort(ends[:])
	carbons := m.Atoms[ends[0]].Element == carbon && m.Atoms[ends[1]].Element == carbon
	return length[0] == length[1] && ends[0] != ends[1] && carbons, ends
}

// ligands returns the four neighbours of a tetrahedral atom, or of the ends of a chain of cumulated double bonds with the
// atom in the middle, in the order that Chirality refers to. What is no atom is unwritten, or unwritten − 1 at the second
// end. It is nil for other atoms.
func (m *Molecule) ligands(near adjacency, a int32) []int32 {
	return m.ligandsBy(near, a, func(b int32) []int32 { return m.neighbours(near, b) }, func(int32) bool { return true })
}

// ligandsBy is ligands where the neighbours of atoms have another order, and first tells which atoms have their hydrogen
// before all neighbours, and not behind the first. The ends of a chain stay in the order of their numbers.
func (m *Molecule) ligandsBy(near adjacency, a int32, neighbours func(int32) []int32, first func(int32) bool) []int32 {
	middle, ends := m.cumulated(near, a)
	if !middle {
		return around(m.Atoms[a], neighbours(a), first(a))
	}
	var out []int32
	for k, end := range ends {
		list, double := slices.Clone(neighbours(end)), int32(-1)
		if len(list)+m.Atoms[end].Hydrogens > 3 || m.Atoms[end].Hydrogens > 1 || len(list) < 2 {
			return nil
		}
		if len(list) == 2 {
			at := 1
			if first(end) {
				at = 0
			}
			list = slices.Insert(list, at, int32(unwritten-k))
		}
		for _, e := range near.at(end) {
			if m.Bonds[e].Order == Double {
				double = m.Bonds[e].other(end)
			}
		}
		if list = slices.DeleteFunc(list, func(w int32) bool { return w == double }); len(list) != 2 {
			return nil
		}
		out = append(out, list...)
	}
	return out
}

// reordered reports whether an odd number of exchanges makes one list of the other.
func reordered(from, to []int32) bool {
	order := make([]int32, len(from))
	for i, a := range from {
		order[i] = int32(slices.Index(to, a))
	}
	return odd(order)
}

// odd reports whether an odd number of exchanges sorts the list.
func odd(list []int32) bool {
	mirror := false
	for i, a := range list {
		for _, b := range list[i+1:] {
			mirror = mirror != (b < a)
		}
	}
	return mirror
}

// neighbours returns the atoms that an atom is bound to, by their numbers.
func (m *Molecule) neighbours(near adjacency, a int32) []int32 {
	var list []int32
	for _, e := range near.at(a) {
		list = append(list, m.Bonds[e].other(a))
	}
	slices.Sort(list)
	return list
}

// setSides sets the sides of double bonds. slant says of the bonds with a direction whether B lies
// above A (1) or below (−1). What contradicts itself says nothing.
func (m *Molecule) setSides(slant map[int32]int8) {
	if len(slant) == 0 {
		return
	}
	near := m.adjacency()
	for i := range m.Bonds {
		b := &m.Bonds[i]
		if b.Order != Double {
			continue
		}
		switch m.above(near, b.A, int32(i), slant) * m.above(near, b.B, int32(i), slant) {
		case 1:
			b.Sides = SameSide
		case -1:
			b.Sides = OppositeSides
		}
	}
}

// above says whether the neighbour with the lowest number of an end of a double bond lies above it: 1,
// below it: −1, or nothing is known: 0.
func (m *Molecule) above(near adjacency, end, double int32, slant map[int32]int8) int8 {
	if len(near.at(end)) > 3 {
		return 0
	}
	lowest := m.lowest(near, end, double)
	side := int8(0)
	for _, e := range near.at(end) {
		s := slant[e]
		if e == double || s == 0 || m.Bonds[e].Order != Single && m.Bonds[e].Order != Aromatic {
			continue
		}
		if m.Bonds[e].B == end {
			s = -s
		}
		if m.Bonds[e].other(end) != lowest {
			s = -s
		}
		if side == -s {
			return 0
		}
		side = s
	}
	return side
}

// lowest returns the neighbour of an end of a double bond with the lowest number, the other end left
// out, and −1 when there is none.
func (m *Molecule) lowest(near adjacency, end, double int32) int32 {
	lowest := int32(-1)
	for _, e := range near.at(end) {
		if o := m.Bonds[e].other(end); e != double && (lowest < 0 || o < lowest) {
			lowest = o
		}
	}
	return lowest
}

// directions returns the directions from an atom to its neighbours, each of length 1 before it is given a
// height. It is nil where atoms coincide.
func (m *Molecule) directions(atom int32, neighbours []int32, height func(w int32) float64) (all [][3]float64) {
	a := m.Atoms[atom]
	for _, w := range neighbours {
		b := m.Atoms[w]
		d := [3]float64{b.X - a.X, b.Y - a.Y, b.Z - a.Z}
		length := math.Sqrt(dot(d, d))
		if length == 0 {
			return nil
		}
		all = append(all, [3]float64{d[0] / length, d[1] / length, d[2]/length + height(w)})
	}
	return all
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Limits of the search for stereochemistry in space, which is for pictures: they show no larger molecules.
const (
	maxSpace = 1000 // atoms
)

// stereoInSpace finds the chirality of atoms and the sides of double bonds from where the atoms lie, where
// neighbours differ.
func (m *Molecule) stereoInSpace(near adjacency) {
	if len(m.Atoms) > maxSpace || len(m.Bonds) > 4*maxSpace {
		return
	}
	class := m.alikeClasses(near, m.orders())
	m.chiralInSpace(near, class)
	for i := range m.Bonds {
		if m.Bonds[i].Order == Double && !m.smallRing(near, int32(i)) { // small rings leave no choice
			m.Bonds[i].Sides = m.sidesInSpace(near, class, int32(i))
		}
	}
}

func flat(int32) float64 { return 0 }

// chiralInSpace finds the chirality of atoms with four different neighbours, or three and a lone pair but for
// nitrogen, which turns over. Two like neighbours in a ring do, if the ring system has another such atom: the
// two are cis or trans then.
func (m *Molecule) chiralInSpace(near adjacency, class []int) {
	system := m.ringSystems(near)
	var waiting []int32
	centres := map[int32]int{} // by ring system
	for i := range int32(len(m.Atoms)) {
		a := m.Atoms[i]
		neighbours := m.neighbours(near, i)
		if middle, _ := m.cumulated(near, i); middle {
			m.Atoms[i].Chirality = m.chainInSpace(near, class, i, func(end, w int32) float64 { return 0 })
			continue
		}
		if around(a, neighbours, false) == nil || len(neighbours)+a.Hydrogens == 3 && a.Element != phosphorus && a.Element != sulfur {
			continue
		}
		switch like := alike(neighbours, class); {
		case len(like) == 0:
			m.Atoms[i].Chirality = Sense(m.directions(i, neighbours, flat))
		case len(like) == 1 && system[i] >= 0 && system[like[0][0]] == system[i] && system[like[0][1]] == system[i]:
			waiting = append(waiting, i)
		default:
			continue
		}
		centres[system[i]]++
	}
	for _, i := range waiting {
		if centres[system[i]] > 1 {
			m.Atoms[i].Chirality = Sense(m.directions(i, m.neighbours(near, i), flat))
		}
	}
}

// chainInSpace returns the chirality of the middle of a chain of cumulated double bonds from the places of the ligands of its
// ends, each with a height over the page. Ends with like ligands have none.
func (m *Molecule) chainInSpace(near adjacency, class []int, a int32, height func(end, w int32) float64) Chirality {
	_, ends := m.cumulated(near, a)
	list := m.ligands(near, a)
	if list == nil || class != nil && (len(alike(list[:2], class)) > 0 || len(alike(list[2:], class)) > 0) {
		return Achiral
	}
	centre := m.Atoms[a]
	place := func(w int32) [3]float64 {
		b := m.Atoms[w]
		return [3]float64{b.X - centre.X, b.Y - centre.Y, b.Z - centre.Z}
	}
	var out [][3]float64
	for k, w := range list {
		end, at := ends[k/2], place(max(w, list[k^1]))
		at[2] += height(end, max(w, list[k^1]))
		if w < 0 { // opposite to the other ligand
			axis := place(end)
			along := dot(at, axis) / dot(axis, axis)
			for i := range at {
				at[i] = 2*along*axis[i] - at[i]
			}
		}
		out = append(out, at)
	}
	return Sense(out)
}

// ringSystems returns equal numbers for the atoms that bonds of rings join, -1 for those in no ring.
func (m *Molecule) ringSystems(near adjacency) []int32 {
	ring := m.ringBonds()
	system := slices.Repeat([]int32{-1}, len(m.Atoms))
	for root := range int32(len(m.Atoms)) {
		if system[root] >= 0 {
			continue
		}
		for queue := []int32{root}; len(queue) > 0; queue = queue[1:] {
			for _, e := range near.at(queue[0]) {
				if o := m.Bonds[e].other(queue[0]); ring[e] && system[o] < 0 {
					system[o] = root
					queue = append(queue, o)
				}
			}
		}
	}
	return system
}

// sidesInSpace returns where the neighbours of a double bond lie. At right angles it is AnySide.
func (m *Molecule) sidesInSpace(near adjacency, class []int, bond int32) Sides {
	b := m.Bonds[bond]
	along := m.directions(b.A, []int32{b.B}, flat)
	var across [2][3]float64
	for k, end := range []int32{b.A, b.B} {
		others := slices.DeleteFunc(m.neighbours(near, end), func(w int32) bool { return w == b.other(end) })
		if len(others) == 0 || len(others)+m.Atoms[end].Hydrogens > 2 || len(alike(others, class)) > 0 {
			return AnySide
		}
		d := m.directions(end, others[:1], flat)
		if along == nil || d == nil {
			return AnySide
		}
		for i := range 3 {
			across[k][i] = d[0][i] - dot(d[0], along[0])*along[0][i]
		}
	}
	switch c := dot(across[0], across[1]); {
	case c > 0.1:
		return SameSide
	case c < -0.1:
		return OppositeSides
	}
	return AnySide
}

// alike returns the pairs of atoms of the same class.
func alike(atoms []int32, class []int) (pairs [][2]int32) {
	for i, a := range atoms {
		for _, b := range atoms[:i] {
			if a >= 0 && b >= 0 && class[a] == class[b] {
				pairs = append(pairs, [2]int32{a, b})
			}
		}
	}
	return pairs
}

// smallRing reports whether a bond lies in a ring of up to seven atoms.
func (m *Molecule) smallRing(near adjacency, bond int32) bool {
	from := []int32{m.Bonds[bond].A}
	seen := map[int32]bool{from[0]: true}
	for range 6 {
		var next []int32
		for _, a := range from {
			for _, e := range near.at(a) {
				o := m.Bonds[e].other(a)
				if e == bond || seen[o] {
					continue
				}
				if o == m.Bonds[bond].B {
					return true
				}
				seen[o] = true
				next = append(next, o)
			}
		}
		from = next
	}
	return false
}
