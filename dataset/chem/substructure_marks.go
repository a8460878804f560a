package chem

import "slices"

// marked reports whether all marks of the substructure are those of the molecule, once its atoms are placed.
func (s *substructureSearch) marked() bool {
	m := s.of
	if m == nil {
		return false
	}
	on := func(a int32) int32 { return int32(s.at[s.positions[a]-1]) }
	near, of := s.mol.adjacency(), m.adjacency()
	for i, a := range s.mol.Atoms {
		if a.Chirality != Achiral && !s.sameSense(m, near, of, int32(i), on) {
			return false
		}
	}
	for i, b := range s.mol.Bonds {
		if b.Sides != AnySide && !s.sameSides(m, near, of, int32(i), on) {
			return false
		}
	}
	return true
}

// sameSense compares the chirality of an atom of the substructure with that of the atom where it lies.
func (s *substructureSearch) sameSense(m *Molecule, near, of adjacency, a int32, on func(int32) int32) bool {
	from, to := s.mol.ligands(near, a), m.ligands(of, on(a))
	chirality := m.Atoms[on(a)].Chirality
	if from == nil || to == nil {
		return from == nil // a mark that means nothing
	}
	if chirality == Achiral {
		return false
	}
	chain, _ := s.mol.cumulated(near, a)
	order := make([]int32, 0, len(from)) // places in to
	for k, w := range from {
		switch {
		case w >= 0:
			order = append(order, int32(slices.Index(to, on(w))))
		case chain: // the other ligand of the same end
			order = append(order, int32(slices.Index(to, on(from[k^1]))^1))
		default: // what is left
			order = append(order, -1)
		}
	}
	if k := slices.Index(order, -1); k >= 0 {
		for x := range int32(len(to)) {
			if !slices.Contains(order, x) {
				order[k] = x
			}
		}
	}
	return s.mol.Atoms[a].Chirality.flip(odd(order)) == chirality
}

// sameSides compares the sides of a double bond of the substructure with those of the bond where it lies.
func (s *substructureSearch) sameSides(m *Molecule, near, of adjacency, bond int32, on func(int32) int32) bool {
	b := s.mol.Bonds[bond]
	at := slices.IndexFunc(m.Bonds, func(x Bond) bool {
		return x.A == on(b.A) && x.B == on(b.B) || x.A == on(b.B) && x.B == on(b.A)
	})
	sides := m.Bonds[at].Sides
	for _, end := range []int32{b.A, b.B} {
		if w := s.mol.lowest(near, end, bond); sides != AnySide && m.lowest(of, on(end), int32(at)) != on(w) {
			sides = SameSide + OppositeSides - sides
		}
	}
	return sides == b.Sides
}
