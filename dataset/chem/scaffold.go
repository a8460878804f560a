package chem

import "slices"

// scaffold returns the atoms of the scaffold of a molecule (Bemis & Murcko 1996), ascending: its rings, the atoms on
// the ways between them, and the atoms that have a double bond to one of these. A molecule without rings has none.
func (m *Molecule) scaffold() []int {
	near, ring := m.adjacency(), m.ringBonds()
	in, bonds := make([]bool, len(m.Atoms)), make([]int, len(m.Atoms)) // bonds inside
	inRing := make([]bool, len(m.Atoms))
	for i, b := range m.Bonds {
		for _, a := range []int32{b.A, b.B} {
			in[a], inRing[a] = true, inRing[a] || ring[i]
			bonds[a]++
		}
	}
	var ends []int32
	drop := func(a int32) {
		if in[a] && !inRing[a] && bonds[a] < 2 {
			in[a] = false
			ends = append(ends, a)
		}
	}
	for a := range int32(len(m.Atoms)) {
		drop(a)
	}
	for len(ends) > 0 {
		a := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		for _, e := range near.at(a) {
			if b := m.Bonds[e].other(a); in[b] {
				bonds[b]--
				drop(b)
			}
		}
	}
	out := []int{}
	for a := range int32(len(m.Atoms)) {
		double := func(e int32) bool { return m.Bonds[e].Order == Double && in[m.Bonds[e].other(a)] }
		if in[a] || slices.ContainsFunc(near.at(a), double) {
			out = append(out, int(a))
		}
	}
	return out
}
