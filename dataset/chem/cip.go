package chem

import (
	"cmp"
	"slices"
)

// Descriptor names the configuration of a stereogenic atom or double bond by the rules of Cahn, Ingold and Prelog
// ([Molecule.Descriptors]), "" for what is not stereogenic.
type Descriptor string

// Unspecified is the descriptor of what is stereogenic and has no mark.
const Unspecified Descriptor = "?"

// Marked reports whether the molecule says something about its stereochemistry.
func (m *Molecule) Marked() bool {
	return slices.ContainsFunc(m.Atoms, func(a Atom) bool { return a.Chirality != Achiral }) ||
		slices.ContainsFunc(m.Bonds, func(b Bond) bool { return b.Sides != AnySide })
}

// Descriptors returns the configurations of atoms and double bonds, which depend neither on the order of
// the atoms nor on how the molecule is written:
//
//	R, S  tetrahedral atoms
//	r, s  those that a mirror leaves as they are, as two of their neighbours are mirror images
//	M, P  the atoms in the middle of allenes and longer chains
//	Z, E  double bonds: the senior neighbours on one side, and on opposite sides
//	?     what four, or two and two, different neighbours make stereogenic, without a mark
//
// Neighbours are ranked by rules 1 to 5. A mark on what is not stereogenic has no descriptor, neither has one on
// nitrogen that turns over, or on what would take a search of more than maxDigraph atoms.
func (m *Molecule) Descriptors() (atoms, bonds []Descriptor) {
	atoms, bonds = make([]Descriptor, len(m.Atoms)), make([]Descriptor, len(m.Bonds))
	h, to := m.withoutHydrogens()
	c := newRanking(h)
	for i, a := range to {
		if a >= 0 {
			atoms[i] = c.ofAtom(a)
		}
	}
	next := 0
	for i, b := range m.Bonds {
		if to[b.A] < 0 || to[b.B] < 0 {
			continue
		}
		bonds[i] = c.ofBond(int32(next))
		next++
	}
	return atoms, bonds
}

// ranking ranks the neighbours of the stereogenic parts of a molecule without hydrogen atoms.
type ranking struct {
	*Molecule
	near   adjacency
	class  []int // of atoms that constitution alone cannot tell apart
	order  []Order
	extra  []int   // of bonds: duplicates that they give
	number []int32 // atomic numbers times 12 of the duplicates that aromatic bonds give, 0 for none
	ring   []bool
	marked bool
}

func newRanking(m *Molecule) *ranking {
	r := &ranking{Molecule: m, near: m.adjacency(), marked: m.Marked(), number: make([]int32, len(m.Atoms)), ring: m.ringBonds()}
	_, aromatic := m.Aromaticity()
	kekule, err := m.Kekule()
	r.order = make([]Order, len(m.Bonds))
	double := make([]bool, len(m.Atoms)) // with a double bond of an aromatic ring
	for i, b := range m.Bonds {
		if r.order[i] = b.Order; err == nil {
			r.order[i] = kekule[i]
		}
		if aromatic[i] && r.order[i] > Single {
			double[b.A], double[b.B] = true, true
		}
	}
	// An atom of an aromatic ring has a duplicate of the mean of what its double bond may lead to.
	sum, count := make([]int32, len(m.Atoms)), make([]int32, len(m.Atoms))
	for i, b := range m.Bonds {
		if !aromatic[i] {
			continue
		}
		r.order[i] = Aromatic
		if double[b.A] && double[b.B] {
			sum[b.A], count[b.A] = sum[b.A]+int32(m.Atoms[b.B].Element), count[b.A]+1
			sum[b.B], count[b.B] = sum[b.B]+int32(m.Atoms[b.A].Element), count[b.B]+1
		}
	}
	for i, n := range count {
		if n > 0 {
			r.number[i] = 12 * sum[i] / n // up to four neighbours leave no remainder
		}
	}
	r.extra = make([]int, len(m.Bonds))
	for i, b := range m.Bonds {
		if r.hypervalent(b.A) || r.hypervalent(b.B) {
			continue // bonds by d orbitals do not count, as in P=O
		}
		r.extra[i] = r.order[i].Pairs() - 1
	}
	r.class = m.alikeClasses(r.near, r.order)
	return r
}

// hypervalent reports whether an atom of phosphorus, sulfur or one of the elements below them has three or four ligands.
func (r *ranking) hypervalent(a int32) bool {
	switch r.Atoms[a].Element {
	case phosphorus, sulfur, chlorine, 33, 34, bromine, 51, 52, iodine:
		return len(r.near.at(a))+max(r.Atoms[a].Hydrogens, 0) >= 3
	}
	return false
}

// ligand is a neighbour of a stereogenic part: an atom, or unwritten.
type ligand struct{ centre, atom int32 }

// classOf returns equal numbers for ligands that constitution cannot tell apart.
func (r *ranking) classOf(l ligand) int {
	if l.atom < 0 {
		return -1
	}
	return r.class[l.atom]
}

// ofAtom returns the descriptor of an atom.
func (r *ranking) ofAtom(a int32) Descriptor {
	atom := r.Atoms[a]
	if middle, ends := r.cumulated(r.near, a); middle {
		return r.ofAllene(a, ends)
	}
	list := r.ligands(r.near, a)
	if list == nil || r.inverts(a) {
		return ""
	}
	var all []ligand
	for _, w := range list {
		all = append(all, ligand{a, w})
	}
	if atom.Chirality == Achiral {
		if r.tetrahedral(a) && r.different(all) {
			return Unspecified
		}
		return ""
	}
	order, mirrored, ok := r.rank(all)
	if !ok {
		return ""
	}
	if (atom.Chirality == Clockwise) != odd(order) {
		return pick(mirrored, "r", "R")
	}
	return pick(mirrored, "s", "S")
}

func pick(yes bool, a, b Descriptor) Descriptor {
	if yes {
		return a
	}
	return b
}

// different reports whether constitution tells all ligands apart.
func (r *ranking) different(all []ligand) bool {
	for i, l := range all {
		for _, k := range all[:i] {
			if r.classOf(k) == r.classOf(l) {
				return false
			}
		}
	}
	return true
}

// inverts reports whether an atom is nitrogen with three neighbours that turns over: in no ring of three, and not where
// three bonds of rings meet.
func (r *ranking) inverts(a int32) bool {
	near := r.near.at(a)
	if r.Atoms[a].Element != nitrogen || len(near)+max(r.Atoms[a].Hydrogens, 0) > 3 {
		return false
	}
	rings := 0
	for i, e := range near {
		if r.ring[e] {
			rings++
		}
		for _, f := range near[:i] {
			if r.bonded(r.near, r.Bonds[e].other(a), r.Bonds[f].other(a)) {
				return false
			}
		}
	}
	return rings < 3
}

// tetrahedral reports whether an atom without a mark with four ligands, one of them perhaps a lone pair, is one that keeps
// its shape.
func (r *ranking) tetrahedral(a int32) bool {
	atom, four := r.Atoms[a], len(r.near.at(a))+max(r.Atoms[a].Hydrogens, 0) == 4
	multiple := slices.ContainsFunc(r.near.at(a), func(e int32) bool { return r.order[e] > Single })
	switch atom.Element {
	case carbon, 14, 32:
		return four && !multiple
	case nitrogen, boron:
		return four && atom.Charge != 0
	case phosphorus, 33:
		return four
	case sulfur, 34:
		return four || atom.Charge == 1 && !multiple || multiple && atom.Charge == 0
	}
	return false
}

// ofAllene returns the descriptor of the middle of a chain of cumulated double bonds.
func (r *ranking) ofAllene(a int32, ends [2]int32) Descriptor {
	list := r.ligands(r.near, a)
	if list == nil {
		return ""
	}
	first, second := []ligand{{ends[0], list[0]}, {ends[0], list[1]}}, []ligand{{ends[1], list[2]}, {ends[1], list[3]}}
	if r.Atoms[a].Chirality == Achiral {
		if r.different(first) && r.different(second) {
			return Unspecified
		}
		return ""
	}
	p, _, ok1 := r.rank(first)
	q, _, ok2 := r.rank(second)
	if !ok1 || !ok2 {
		return ""
	}
	if (r.Atoms[a].Chirality == Clockwise) != (odd(p) != odd(q)) {
		return "M"
	}
	return "P"
}

// ofBond returns the descriptor of a bond.
func (r *ranking) ofBond(bond int32) Descriptor {
	b := r.Bonds[bond]
	if r.order[bond] != Double || r.smallRing(r.near, bond) {
		return ""
	}
	var ends [2][]ligand
	for k, end := range []int32{b.A, b.B} {
		if ends[k] = r.across(end, bond); ends[k] == nil {
			return ""
		}
	}
	if b.Sides == AnySide {
		if r.different(ends[0]) && r.different(ends[1]) {
			return Unspecified
		}
		return ""
	}
	same := b.Sides == SameSide
	for _, end := range ends {
		order, _, ok := r.rank(end)
		if !ok {
			return ""
		}
		// Sides are those of the atoms with the lowest numbers.
		same = same != (end[order[0]].atom < 0 || end[order[0]].atom != lowestOf(end))
	}
	return pick(same, "Z", "E")
}

func lowestOf(all []ligand) int32 {
	lowest := int32(-1)
	for _, l := range all {
		if l.atom >= 0 && (lowest < 0 || l.atom < lowest) {
			lowest = l.atom
		}
	}
	return lowest
}

// across returns the two ligands of an end of a double bond, nil if it has others.
func (r *ranking) across(end, bond int32) (all []ligand) {
	near, h := r.near.at(end), max(r.Atoms[end].Hydrogens, 0)
	if len(near) < 2 || len(near)+h > 3 {
		return nil
	}
	for _, e := range near {
		if e != bond && r.order[e] != Single && r.order[e] != Aromatic {
			return nil
		}
		if e != bond {
			all = append(all, ligand{end, r.Bonds[e].other(end)})
		}
	}
	if len(all) == 1 {
		all = append(all, ligand{end, unwritten})
	}
	return all
}

// rank returns the positions of ligands of one atom by rank, the senior one first. mirrored says that only their being
// mirror images of each other tells two of them apart. It is not ok if two are equal.
func (r *ranking) rank(of []ligand) (order []int32, mirrored, ok bool) {
	if !r.marked && !r.different(of) {
		return nil, false, false
	}
	d := newDigraph(r, of[0].centre)
	at := make([]arc, len(of)) // by ligand, node 0 for a lone pair
	for i, l := range of {
		at[i] = d.ligand(l.atom)
	}
	order = make([]int32, len(of))
	for i := range order {
		order[i] = int32(i)
	}
	sorted := func(rules ruleSet) bool {
		d.rules = rules
		equal := false
		slices.SortStableFunc(order, func(i, j int32) int {
			if at[i].node == 0 || at[j].node == 0 {
				return cmp.Compare(at[j].node, at[i].node)
			}
			return -d.compare(at[i], at[j])
		})
		for k := range order[1:] {
			i, j := at[order[k]], at[order[k+1]]
			equal = equal || i.node != 0 && j.node != 0 && d.compare(i, j) == 0
		}
		return !equal
	}
	// Rule 1a decides in the spheres that are there, however far the digraph goes on.
	for depth := 1; r.different(of) || depth == 1; depth++ {
		more := d.grow()
		if sorted(atomicNumbers) {
			return order, false, true
		}
		if !more {
			break
		}
	}
	for d.grow() {
	}
	if d.full {
		return nil, false, false
	}
	if sorted(constitution) {
		return order, false, true
	}
	if !d.describe() {
		return nil, false, false
	}
	if sorted(symmetric) {
		return order, false, true
	}
	return order, true, sorted(all)
}
