package chem

import (
	"fmt"
	"slices"
)

// mostBonds are the largest valences by number of electrons. A neutral atom has as many electrons
// as its atomic number, so N⁺ is bound like C, and Cl⁺ like S. Metals have no limit here.
var mostBonds = map[int]int{
	1: 1, 2: 0, 4: 2, 5: 3, 6: 4, 7: 3, 8: 2, 9: 1, 10: 0, 13: 3, 14: 4, 15: 5, 16: 6, 17: 1, 18: 0,
	31: 3, 32: 4, 33: 5, 34: 6, 35: 1, 36: 0, 49: 3, 50: 4, 51: 5, 52: 6, 53: 5, 54: 6,
}

// mostOf returns the largest valence of an atom, and whether there is one.
func (a Atom) mostOf() (int, bool) {
	z, q := int(a.Element), int(a.Charge)
	if z == hydrogen && q == 0 {
		return 1, true
	}
	if !nonMetals[a.Element] {
		return 0, false
	}
	// P²⁻, S⁻ and the like keep some of their bonds.
	if q < 0 && mostBonds[z] > 4 && z < 52 && mostBonds[z-q] <= 1 {
		return max(mostBonds[z]+q, 0), true
	}
	most, known := mostBonds[z-q]
	return most, known
}

// checkValences returns an error for an atom with more bonds than its element can have. orders are those of a Kekulé structure.
func (m *Molecule) checkValences(orders []Order) error {
	sum := make([]int, len(m.Atoms))
	for i, b := range m.Bonds {
		sum[b.A] += orders[i].Pairs()
		sum[b.B] += orders[i].Pairs()
	}
	for i, a := range m.Atoms {
		used := sum[i] + max(a.Hydrogens, 0)
		if most, known := a.mostOf(); known && used > most {
			return fmt.Errorf("atom %d (%s%s) has a valence of %d, want at most %d%s",
				i+1, symbols[a.Element], a.ChargeText(), used, most, valenceHint(a, used))
		}
	}
	return nil
}

// valenceHint says how a valence that is too large is often meant.
func valenceHint(a Atom, used int) string {
	if a.Charge != 0 {
		return ""
	}
	switch {
	case a.Element == nitrogen && used == 4:
		return "; with a charge, write [N+]"
	case a.Element == nitrogen && used == 5:
		return "; write a nitro group as N(=O)=O or [N+](=O)[O-]"
	case a.Element == oxygen && used == 3:
		return "; with a charge, write [O+]"
	case a.Element == boron && used == 4:
		return "; with a charge, write [B-]"
	case (a.Element == chlorine || a.Element == bromine) && used > 1:
		return "; write a counterion separately, as in [Cl-]"
	}
	return ""
}

// separateCharges writes charges where a neutral atom has more bonds than it can have, in the forms that are usual:
//
//	N of valence 5 with =O:          CN(=O)=O   →  C[N+](=O)[O-],  O=n1ccccc1  →  [O-][n+]1ccccc1
//	N of valence 5 with #N:          CN=N#N     →  CN=[N+]=[N-]
//	Cl, Br, I of valence 3, 5 or 7 with oxygens alone:  O=Cl(=O)O  →  [O-][Cl+2]([O-])O
func (m *Molecule) separateCharges() {
	crowded := func(a Atom) bool {
		return a.Charge == 0 && (a.Element == nitrogen || a.Element == chlorine || a.Element == bromine || a.Element == iodine)
	}
	if !slices.ContainsFunc(m.Bonds, func(b Bond) bool {
		return b.Order != Single && b.Order != Aromatic && (crowded(m.Atoms[b.A]) || crowded(m.Atoms[b.B]))
	}) {
		return
	}
	near := m.adjacency()
	sum, aromatic := m.pairs()
	for i := range m.Atoms {
		a := &m.Atoms[i]
		used := sum[i] + max(a.Hydrogens, 0)
		if aromatic[i] {
			used++
		}
		switch {
		case !crowded(*a):
		case a.Element != nitrogen:
			if used == 3 || used == 5 || used == 7 {
				m.separateOxygens(near, int32(i))
			}
		case used == 5:
			if !m.separate(near, int32(i), oxygen, Double) {
				m.separate(near, int32(i), nitrogen, Triple)
			}
		}
	}
}

// separate makes a multiple bond of an atom to a neutral one of an element weaker, and both charged.
func (m *Molecule) separate(near adjacency, i int32, element uint8, order Order) bool {
	for _, e := range near.at(i) {
		b := &m.Bonds[e]
		if o := &m.Atoms[b.other(i)]; b.Order == order && o.Element == element && o.Charge == 0 {
			b.Order--
			m.Atoms[i].Charge++
			o.Charge--
			return true
		}
	}
	return false
}

// separateOxygens separates all double bonds of an atom that has oxygens as its neighbours alone.
func (m *Molecule) separateOxygens(near adjacency, i int32) {
	for _, e := range near.at(i) {
		if m.Atoms[m.Bonds[e].other(i)].Element != oxygen {
			return
		}
	}
	for m.separate(near, i, oxygen, Double) {
	}
}

// Usual returns the molecule with bonds that are written in two ways written in one, in which as few atoms as possible are
// charged, and the molecule itself where there is nothing to change:
//
//	S⁺–O⁻, P⁺–O⁻, also with S⁻:  C[S+](C)[O-]  →  CS(C)=O
//	N⁻–N⁺≡N, C⁻–N⁺≡N:            C[N-][N+]#N   →  CN=[N+]=[N-]
func (m *Molecule) Usual() *Molecule {
	plus := func(a Atom) bool {
		return a.Charge > 0 && !a.Aromatic && (a.Element == sulfur || a.Element == phosphorus || a.Element == nitrogen && a.Charge == 1)
	}
	if !slices.ContainsFunc(m.Atoms, plus) {
		return m
	}
	out := *m
	out.Atoms, out.Bonds = slices.Clone(m.Atoms), slices.Clone(m.Bonds)
	near := m.adjacency()
	changed := false
	for i := range out.Atoms {
		if !plus(out.Atoms[i]) {
			continue
		}
		if out.Atoms[i].Element == nitrogen {
			changed = out.evenTriple(near, int32(i)) || changed
			continue
		}
		for _, e := range near.at(int32(i)) {
			b := &out.Bonds[e]
			w := b.other(int32(i))
			o := &out.Atoms[w]
			if out.Atoms[i].Charge > 0 && b.Order == Single && o.Charge == -1 && (o.Element == oxygen || o.Element == sulfur) &&
				o.Hydrogens <= 0 && len(near.at(w)) == 1 {
				b.Order = Double
				out.Atoms[i].Charge--
				o.Charge = 0
				changed = true
			}
		}
	}
	if !changed {
		return m
	}
	return &out
}

// evenTriple makes X⁻–N⁺≡N of a nitrogen X=N⁺=N⁻, X being carbon or nitrogen, and reports whether it has.
func (m *Molecule) evenTriple(near adjacency, i int32) bool {
	at := near.at(i)
	if len(at) != 2 {
		return false
	}
	for k, e := range at {
		single, triple := &m.Bonds[e], &m.Bonds[at[1-k]]
		x, end := &m.Atoms[single.other(i)], &m.Atoms[triple.other(i)]
		if single.Order == Single && triple.Order == Triple && x.Charge == -1 && !x.Aromatic && (x.Element == carbon || x.Element == nitrogen) &&
			end.Element == nitrogen && end.Charge == 0 {
			single.Order, triple.Order = Double, Double
			x.Charge, end.Charge = 0, -1
			return true
		}
	}
	return false
}
