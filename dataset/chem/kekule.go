package chem

import (
	"fmt"
	"slices"
)

// pi says whether an atom has one of the double bonds of an aromatic system.
type pi uint8

const (
	never pi = iota // it gives a lone pair or an empty orbital, or has its double bond outside
	may
	must
)

// someAromatic reports whether some atom or bond is aromatic.
func (m *Molecule) someAromatic() bool {
	return slices.ContainsFunc(m.Atoms, func(a Atom) bool { return a.Aromatic }) ||
		slices.ContainsFunc(m.Bonds, func(b Bond) bool { return b.Order == Aromatic })
}

// Kekule returns the orders of the bonds with single and double ones in turn in place of aromatic
// ones. Hydrogens stay where they are: an atom has the double bond that its valence leaves room for.
// It is an error when no such alternation exists, as in a ring of five CH groups, or when something
// outside a ring is called aromatic.
//
// Of an atom whose hydrogens are Unknown it is asked that neutral carbon has a double bond; others may
// have one where they have room.
func (m *Molecule) Kekule() ([]Order, error) {
	var ring []bool
	if m.someAromatic() {
		ring = m.ringBonds()
	}
	return m.kekule(ring)
}

// kekule does the work of Kekule. ring tells which bonds lie on rings, nil where nothing is aromatic.
//
// A single bond in a ring between an aromatic and an unknown atom counts as aromatic too.
func (m *Molecule) kekule(ring []bool) ([]Order, error) {
	orders := make([]Order, len(m.Bonds))
	for i, b := range m.Bonds {
		orders[i] = b.Order
	}
	if ring == nil {
		return orders, nil
	}
	inRing := make([]bool, len(m.Atoms))
	for i, b := range m.Bonds {
		if b.Order == Aromatic && !ring[i] {
			return nil, fmt.Errorf("bond between atoms %d and %d is aromatic but in no ring", b.A+1, b.B+1)
		}
		inRing[b.A] = inRing[b.A] || ring[i]
		inRing[b.B] = inRing[b.B] || ring[i]
	}
	sum, aromatic := m.pairs()
	roles := make([]pi, len(m.Atoms))
	for i, a := range m.Atoms {
		if aromatic[i] && !inRing[i] {
			return nil, fmt.Errorf("atom %d (%s) is aromatic but in no ring", i+1, symbols[a.Element])
		}
		if aromatic[i] {
			roles[i] = a.role(sum[i])
		}
	}
	var system []Bond
	var number []int // of its bonds in the molecule
	for i, b := range m.Bonds {
		p, q := m.Atoms[b.A], m.Atoms[b.B]
		star := p.Element == 0 && (q.Aromatic || q.Element == 0) || q.Element == 0 && p.Aromatic
		if b.Order != Aromatic && !(star && b.Order == Single && ring[i]) {
			continue
		}
		system, number = append(system, b), append(number, i)
		for _, a := range []int32{b.A, b.B} {
			if star && m.Atoms[a].Element == 0 {
				roles[a] = may
			}
		}
	}
	mate, bad := alternate(roles, system)
	if bad >= 0 {
		hint := ""
		if slices.ContainsFunc(system, func(b Bond) bool { return m.Atoms[b.A].bareNitrogen() || m.Atoms[b.B].bareNitrogen() }) {
			hint = "; write [nH] for a nitrogen with a hydrogen, [n+] for one with a charge"
		}
		return nil, fmt.Errorf("the aromatic system of atom %d (%s) cannot have alternating single and double bonds%s",
			bad+1, symbols[m.Atoms[bad].Element], hint)
	}
	for k, b := range system {
		orders[number[k]] = Single
		if mate[b.A] == b.B {
			orders[number[k]] = Double
		}
	}
	return orders, nil
}

// bareNitrogen reports whether an atom is a nitrogen without charge and hydrogens.
func (a Atom) bareNitrogen() bool { return a.Element == nitrogen && a.Charge == 0 && a.Hydrogens <= 0 }

// role returns what an aromatic atom needs, given the electron pairs of its bonds (aromatic ones
// counted 1).
func (a Atom) role(bonds int) pi {
	if a.Element == 0 {
		return may
	}
	for _, v := range valences(a) {
		switch free := v - bonds - max(a.Hydrogens, 0); {
		case free < 0:
		case free == 0:
			return never
		case a.Hydrogens == Unknown && (a.Element != carbon || a.Charge != 0), a.Hydrogens != Unknown && free > 1:
			return may
		default:
			return must
		}
	}
	return never
}

// alternate chooses the double bonds of an aromatic system: every atom that must has one of
// them, as many as possible of those that may, and none has two. It returns the atom at the
// other end of the double bond of each atom, -1 for none. The second result is -1, or an
// atom that must have a double bond and cannot.
//
// The double bonds are a matching in the graph of the bonds, which is found by Edmonds'
// blossom algorithm.
func alternate(roles []pi, bonds []Bond) ([]int32, int) {
	n := len(roles)
	ints := make([]int32, 3*n)
	m := matching{roles: slices.Clone(roles), near: newAdjacency(n, bonds), bonds: bonds,
		mate: ints[:n], parent: ints[n : 2*n], base: ints[2*n:], outer: make([]bool, n)}
	for a := range int32(n) {
		m.mate[a], m.parent[a], m.base[a] = -1, -1, a
	}
	for _, m.root = range []pi{must, may} {
		for a, role := range roles {
			if role != m.root || m.mate[a] >= 0 {
				continue
			}
			if !m.augment(int32(a)) && role == must {
				return nil, a
			}
		}
	}
	return m.mate, -1
}

// matching is the state of Edmonds' algorithm. A search grows a tree from a root: from outer
// atoms bonds of any kind lead on, from inner atoms the double bond only.
type matching struct {
	roles []pi
	near  adjacency
	bonds []Bond
	mate  []int32 // -1: none

	root   pi      // role of the root
	parent []int32 // outer atom from which an inner one was reached, -1: none
	base   []int32 // of the blossom that an atom is in
	outer  []bool
	queue  []int32 // outer atoms
	member []int32 // atoms in the tree
}

// augment searches an alternating path from the unmatched atom root to a free atom, or, if
// the root must be matched, to one that may stay single.
func (m *matching) augment(root int32) bool {
	m.queue, m.member = m.queue[:0], append(m.member[:0], root)
	found := m.reach(root)
	for i := 0; i < len(m.queue) && !found; i++ {
		a := m.queue[i]
		for _, e := range m.near.at(a) {
			b := m.bonds[e].other(a)
			switch {
			case m.roles[b] == never || m.base[a] == m.base[b] || m.mate[a] == b:
			case m.outer[b]:
				found = m.contract(a, b)
			case m.parent[b] < 0:
				m.parent[b] = a
				m.member = append(m.member, b)
				if w := m.mate[b]; w >= 0 {
					m.member = append(m.member, w)
					found = m.reach(w)
				} else {
					m.flip(b)
					found = true
				}
			}
			if found {
				break
			}
		}
	}
	for _, a := range m.member {
		m.parent[a], m.base[a], m.outer[a] = -1, a, false
		if !found { // no other search gets on here either
			m.roles[a] = never
		}
	}
	return found
}

// reach makes a an outer atom of the tree: its mate can be matched otherwise. If a may then
// stay single, that ends the search.
func (m *matching) reach(a int32) bool {
	m.outer[a] = true
	m.queue = append(m.queue, a)
	if m.root == may || m.roles[a] == must {
		return false
	}
	b := m.mate[a]
	m.mate[a] = -1
	m.flip(b)
	return true
}

// flip exchanges matched and unmatched bonds on the path from b to the root.
func (m *matching) flip(b int32) {
	for b >= 0 {
		p := m.parent[b]
		next := m.mate[p]
		m.mate[b], m.mate[p] = p, b
		b = next
	}
}

// contract shrinks the blossom that the bond a–b closes to its base.
func (m *matching) contract(a, b int32) bool {
	base := m.ancestor(a, b)
	blossom := map[int32]bool{}
	m.mark(blossom, a, base, b)
	m.mark(blossom, b, base, a)
	for _, v := range m.member {
		if blossom[m.base[v]] {
			m.base[v] = base
			if !m.outer[v] && m.reach(v) {
				return true
			}
		}
	}
	return false
}

// ancestor returns the base that the paths from a and b to the root have in common first.
func (m *matching) ancestor(a, b int32) int32 {
	seen := map[int32]bool{}
	for {
		a = m.base[a]
		seen[a] = true
		if m.mate[a] < 0 { // the root
			break
		}
		a = m.parent[m.mate[a]]
	}
	for {
		if b = m.base[b]; seen[b] {
			return b
		}
		b = m.parent[m.mate[b]]
	}
}

// mark collects the bases of a blossom on the path from v to its base, and turns the tree
// around there.
func (m *matching) mark(blossom map[int32]bool, v, base, child int32) {
	for m.base[v] != base {
		blossom[m.base[v]] = true
		blossom[m.base[m.mate[v]]] = true
		m.parent[v] = child
		child = m.mate[v]
		v = m.parent[m.mate[v]]
	}
}
