package chem

import "slices"

// maxRing is the size of the largest ring in which aromaticity is looked for, and maxElectrons that of the largest
// system of fused rings, in π electrons.
const (
	maxRing      = 7
	maxElectrons = 18
)

// Aromaticity tells which atoms and bonds are aromatic: those that were written so, and those of rings that were
// written with alternating bonds. Such a ring, or two rings that share a bond, has 4n + 2 π electrons by Hückel's rule:
//
//	1 of an atom with a double bond in a ring
//	0 of a carbon with a double bond to N, O or S outside of rings, or with a charge of +1, and of boron
//	2 of N, P, O, S or Se, or a carbon with a charge of −1, that has single bonds only
//
// An atom with none of these, or with more than three neighbours, has no place in an aromatic ring. So labels do not depend on how a molecule was written.
func (m *Molecule) Aromaticity() (atoms, bonds []bool) {
	_, atoms = m.pairs()
	bonds = make([]bool, len(m.Bonds))
	for i, b := range m.Bonds {
		bonds[i] = b.Order == Aromatic
	}
	if !slices.ContainsFunc(m.Bonds, func(b Bond) bool { return b.Order == Double }) {
		return atoms, bonds
	}
	ring := m.ringBonds()
	electrons := m.piElectrons(ring)
	rings := m.smallRings(ring, electrons)
	mark := func(r *smallRing) {
		for _, b := range r.bonds {
			bonds[b], atoms[m.Bonds[b].A], atoms[m.Bonds[b].B] = true, true, true
		}
	}
	with := make([][]*smallRing, len(m.Bonds)) // by bond: the rings so far that it is in
	for _, r := range rings {
		if huckel(r.electrons(electrons, nil)) {
			mark(r)
		}
		for _, b := range r.bonds {
			for _, other := range with[b] {
				if huckel(r.electrons(electrons, other)) {
					mark(r)
					mark(other)
				}
			}
		}
		for _, b := range r.bonds {
			with[b] = append(with[b], r)
		}
	}
	return atoms, bonds
}

// huckel reports whether a number of π electrons is 4n + 2.
func huckel(n int) bool { return n%4 == 2 && n <= maxElectrons }

// piElectrons returns what each atom would give to an aromatic ring, −1 where it cannot be in one.
func (m *Molecule) piElectrons(ring []bool) []int {
	out := make([]int, len(m.Atoms))
	adj := m.adjacency()
	for i, a := range m.Atoms {
		near := adj.at(int32(i))
		lone, saturated := a.lonePair(len(near) + a.Hydrogens)
		switch {
		case lone:
			out[i] = 2
		case a.Element == 6 && a.Charge == 1, a.Element == 5 && a.Charge == 0:
			out[i] = 0
		default:
			out[i] = -1
		}
		multiple := 0
		for _, e := range near {
			b := m.Bonds[e]
			other := m.Atoms[b.other(int32(i))].Element
			switch {
			case b.Order == Aromatic && !saturated, b.Order == Double && ring[e]:
				out[i] = 1
			case b.Order == Double && a.Element == 6 && (other == 7 || other == 8 || other == 16):
				out[i] = 0
			case b.Order == Double, b.Order == Triple, b.Order == Quadruple:
				multiple = 2
			}
			if b.Order == Double {
				multiple++
			}
		}
		if multiple > 1 || len(near)+a.Hydrogens > 3 { // as in allenes and sulfones; a plane has room for three
			out[i] = -1
		}
	}
	return out
}

// lonePair reports whether an atom with single bonds alone has a lone pair to give, and whether its σ bonds leave no
// place for a double one.
func (a Atom) lonePair(sigma int) (lone, saturated bool) {
	bonds := 0
	switch a.Element {
	case 6:
		return a.Charge == -1, a.Charge == -1 && sigma == 3
	case 7, 15: // N, P
		bonds = 3
	case 8, 16, 34: // O, S, Se
		bonds = 2
	default:
		return false, false
	}
	bonds += int(a.Charge)
	return a.Charge <= 0, a.Charge <= 0 && sigma == bonds
}

// smallRing is a ring of atoms that may be aromatic.
type smallRing struct{ atoms, bonds []int32 }

// electrons returns the number of electrons that a ring has, with those of another that it is fused with.
func (r *smallRing) electrons(of []int, other *smallRing) int {
	sum := 0
	for _, a := range r.atoms {
		sum += of[a]
	}
	if other != nil {
		for _, a := range other.atoms {
			if !slices.Contains(r.atoms, a) {
				sum += of[a]
			}
		}
	}
	return sum
}

// smallRings returns the shortest rings through each bond, among the atoms that can be aromatic.
func (m *Molecule) smallRings(ring []bool, electrons []int) []*smallRing {
	adj := m.adjacency()
	var out []*smallRing
	known := map[[maxRing]int32]bool{} // by bonds
	for start, b := range m.Bonds {
		if !ring[start] || electrons[b.A] < 0 || electrons[b.B] < 0 {
			continue
		}
		for _, r := range m.shortest(adj, int32(start), ring, electrons) {
			slices.Sort(r.bonds)
			var key [maxRing]int32
			copy(key[:], r.bonds)
			if !known[key] {
				known[key], out = true, append(out, r)
			}
		}
	}
	return out
}

// shortest returns the shortest rings through a bond.
func (m *Molecule) shortest(adj adjacency, start int32, ring []bool, electrons []int) (out []*smallRing) {
	from, to := m.Bonds[start].A, m.Bonds[start].B
	type path struct{ atoms, bonds []int32 }
	paths := []path{{[]int32{from}, []int32{start}}}
	for n := 1; n < maxRing && out == nil; n++ {
		var longer []path
		for _, p := range paths {
			at := p.atoms[len(p.atoms)-1]
			for _, e := range adj.at(at) {
				next := m.Bonds[e].other(at)
				if e == start || !ring[e] || electrons[next] < 0 || slices.Contains(p.atoms, next) {
					continue
				}
				q := path{append(slices.Clone(p.atoms), next), append(slices.Clone(p.bonds), e)}
				if next == to {
					out = append(out, &smallRing{q.atoms, q.bonds})
				} else {
					longer = append(longer, q)
				}
			}
		}
		paths = longer
	}
	return out
}
