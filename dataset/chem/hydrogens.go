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
		if free := room(valences, used); free >= 0 {
			m.Atoms[i].Hydrogens = free
		}
	}
}

// room returns how much of the smallest valence that is enough is left, −1 when none is enough.
func room(valences []int, used int) int {
	if k := slices.IndexFunc(valences, func(v int) bool { return v >= used }); k >= 0 {
		return valences[k] - used
	}
	return -1
}

// Unpaired returns the number of unpaired electrons of every atom: what bonds, of the given orders, and
// hydrogens leave of the usual valences of non-metals. It is 0 where hydrogens are Unknown.
func (m *Molecule) Unpaired(orders []Order) []int {
	used := make([]int, len(m.Atoms))
	for i, b := range m.Bonds {
		used[b.A] += orders[i].Pairs()
		used[b.B] += orders[i].Pairs()
	}
	for i, a := range m.Atoms {
		switch {
		case a.Element == hydrogen && a.Charge == 0 && used[i] == 0:
			used[i] = 1
		case a.Hydrogens == Unknown:
			used[i] = 0
		default:
			used[i] = max(room(valences(a), used[i]+a.Hydrogens), 0)
		}
	}
	return used
}

// WithHydrogens returns the molecule with every hydrogen as an atom. New atoms follow the
// old ones and lie where the atom lies that they are bound to.
func (m *Molecule) WithHydrogens() *Molecule {
	h := *m
	h.Atoms = append([]Atom(nil), m.Atoms...)
	h.Bonds = append([]Bond(nil), m.Bonds...)
	own := map[int32]int32{} // the last hydrogen that an atom gets
	for i, a := range m.Atoms {
		h.Atoms[i].Hydrogens = 0
		for range a.Hydrogens {
			h.Bonds = append(h.Bonds, Bond{A: int32(i), B: int32(len(h.Atoms)), Order: Single})
			own[int32(i)] = int32(len(h.Atoms))
			h.Atoms = append(h.Atoms, Atom{Element: hydrogen, X: a.X, Y: a.Y, Z: a.Z})
		}
	}
	near, after := m.adjacency(), h.adjacency()
	for i, a := range m.Atoms {
		if a.Chirality == Achiral {
			continue
		}
		i := int32(i)
		before := m.ligands(near, i)
		at := [2]int32{i, i} // the atoms whose hydrogen unwritten is
		if middle, ends := m.cumulated(near, i); middle {
			at = ends
		}
		for k, w := range before {
			if w < 0 {
				if hydrogen, written := own[at[unwritten-w]]; written {
					before[k] = hydrogen
				}
			}
		}
		h.Atoms[i].Chirality = a.Chirality.flip(reordered(before, h.ligands(after, i)))
	}
	return &h
}

// WithoutHydrogens returns the molecule with hydrogen atoms made counts of the atoms that
// they are bound to. Those stay that say more: isotopes, ions, atoms with a class, and
// those that have not exactly one single bond to an atom of another element. A double bond with no
// neighbour but such a hydrogen at an end loses its sides.
func (m *Molecule) WithoutHydrogens() *Molecule {
	h, _ := m.withoutHydrogens()
	return h
}

// withoutHydrogens is WithoutHydrogens that returns the new numbers of atoms, −1 for those removed. Bonds keep their order.
func (m *Molecule) withoutHydrogens() (h *Molecule, to []int32) {
	adj := m.adjacency()
	h = &Molecule{Name: m.Name, HasCoordinates: m.HasCoordinates}
	to = make([]int32, len(m.Atoms))
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
	for i, b := range m.Bonds {
		p, q := to[b.A], to[b.B]
		switch {
		case p < 0:
			h.Atoms[q].Hydrogens++
		case q < 0:
			h.Atoms[p].Hydrogens++
		default:
			if b.Sides != AnySide {
				b.Sides = m.sidesWithout(adj, int32(i), to)
			}
			h.Bonds = append(h.Bonds, Bond{p, q, b.Order, b.Sides})
		}
	}
	after := h.adjacency()
	for i, a := range m.Atoms {
		if a.Chirality == Achiral || to[i] < 0 {
			continue
		}
		before, now := m.ligands(adj, int32(i)), h.ligands(after, to[i])
		_, ends := m.cumulated(adj, int32(i))
		for k, w := range before {
			switch {
			case w < 0:
			case to[w] >= 0:
				before[k] = to[w]
			case len(before) == 4 && k > 1 && m.bonded(adj, w, ends[1]):
				before[k] = unwritten - 1
			default:
				before[k] = unwritten
			}
		}
		if c := &h.Atoms[to[i]]; before == nil || now == nil {
			c.Chirality = Achiral
		} else {
			c.Chirality = a.Chirality.flip(reordered(before, now))
		}
	}
	return h, to
}

// bonded reports whether two atoms have a bond.
func (m *Molecule) bonded(near adjacency, a, b int32) bool {
	return slices.ContainsFunc(near.at(a), func(e int32) bool { return m.Bonds[e].other(a) == b })
}

// sidesWithout returns the sides of a double bond when the atoms that become -1 are gone.
func (m *Molecule) sidesWithout(near adjacency, double int32, to []int32) Sides {
	b := m.Bonds[double]
	mirror := false
	for _, end := range []int32{b.A, b.B} {
		if to[m.lowest(near, end, double)] >= 0 {
			continue
		}
		stays := func(e int32) bool { return e != double && to[m.Bonds[e].other(end)] >= 0 }
		if mirror = !mirror; !slices.ContainsFunc(near.at(end), stays) {
			return AnySide
		}
	}
	if mirror {
		return SameSide + OppositeSides - b.Sides
	}
	return b.Sides
}
