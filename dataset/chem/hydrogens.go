package chem

import "slices"

// fillHydrogens gives atoms the hydrogens that fill up the smallest of their valences in which
// bonds and unpaired electrons leave room. An aromatic atom, or one with an aromatic bond, keeps
// one valence for the aromatic system and has no higher valence. Atoms without valences stay as
// they are.
func (m *Molecule) fillHydrogens(atom func(i int) (valences []int, unpaired int)) {
	sum, aromatic := m.pairs()
	for i := range m.Atoms {
		valences, unpaired := atom(i)
		used := sum[i] + unpaired
		if aromatic[i] {
			used++
			valences = valences[:min(1, len(valences))]
		}
		if k := slices.IndexFunc(valences, func(v int) bool { return v >= used }); k >= 0 {
			m.Atoms[i].Hydrogens = valences[k] - used
		}
	}
}

// WithHydrogens returns the molecule with every hydrogen as an atom. New atoms follow the
// old ones and lie where the atom lies that they are bound to.
func (m *Molecule) WithHydrogens() *Molecule {
	h := *m
	h.Atoms = append([]Atom(nil), m.Atoms...)
	h.Bonds = append([]Bond(nil), m.Bonds...)
	for i, a := range m.Atoms {
		h.Atoms[i].Hydrogens = 0
		for range a.Hydrogens {
			h.Bonds = append(h.Bonds, Bond{int32(i), int32(len(h.Atoms)), Single})
			h.Atoms = append(h.Atoms, Atom{Element: hydrogen, X: a.X, Y: a.Y, Z: a.Z})
		}
	}
	return &h
}

// WithoutHydrogens returns the molecule with hydrogen atoms made counts of the atoms that
// they are bound to. Those stay that say more: isotopes, ions, atoms with a class, and
// those that have not exactly one single bond to an atom of another element.
func (m *Molecule) WithoutHydrogens() *Molecule {
	adj := m.adjacency()
	h := &Molecule{Name: m.Name, HasCoordinates: m.HasCoordinates}
	to := make([]int32, len(m.Atoms)) // new number, -1: removed
	for i, a := range m.Atoms {
		bonds := adj.at(int32(i))
		if a.Element == hydrogen && a.Isotope == 0 && a.Charge == 0 && a.Class == 0 && a.Hydrogens == 0 && len(bonds) == 1 {
			b := m.Bonds[bonds[0]]
			if at := m.Atoms[b.other(int32(i))]; b.Order == Single && at.Element > hydrogen {
				to[i] = -1
				continue
			}
		}
		to[i] = int32(len(h.Atoms))
		h.Atoms = append(h.Atoms, a)
	}
	for _, b := range m.Bonds {
		p, q := to[b.A], to[b.B]
		switch {
		case p < 0:
			h.Atoms[q].Hydrogens++
		case q < 0:
			h.Atoms[p].Hydrogens++
		default:
			h.Bonds = append(h.Bonds, Bond{p, q, b.Order})
		}
	}
	return h
}
