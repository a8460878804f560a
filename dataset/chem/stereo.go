package chem

import "slices"

// Chirality is the sense in which the four neighbours of an atom follow each other: seen from the
// first of them, the other three. Neighbours are in the order of their numbers; a hydrogen that is no
// atom, or a lone pair, comes first.
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
	lowest := m.lowest(near, end, double)
	side := int8(0)
	for _, e := range near.at(end) {
		s := slant[e]
		if e == double || s == 0 || m.Bonds[e].Order != Single {
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
	if len(near.at(end)) > 3 {
		return 0
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
