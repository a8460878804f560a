package chem

import "cmp"

// Fragments returns the connected parts of a molecule, each as a molecule, in the order of their
// first atoms. A connected molecule is returned unchanged.
func (m *Molecule) Fragments() []*Molecule {
	parent := make([]int32, len(m.Atoms))
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(a int32) int32 {
		for parent[a] != a {
			parent[a] = parent[parent[a]]
			a = parent[a]
		}
		return a
	}
	for _, b := range m.Bonds {
		p, q := find(b.A), find(b.B)
		parent[max(p, q)] = min(p, q)
	}
	number := make([]int32, len(m.Atoms)) // by first atom: 1 + its fragment
	to := make([]int32, len(m.Atoms))     // atom in its fragment
	var out []*Molecule
	for i, a := range m.Atoms {
		root := find(int32(i))
		if number[root] == 0 {
			out = append(out, &Molecule{Name: m.Name, HasCoordinates: m.HasCoordinates})
			number[root] = int32(len(out))
		}
		f := out[number[root]-1]
		to[i] = int32(len(f.Atoms))
		f.Atoms = append(f.Atoms, a)
	}
	if len(out) <= 1 {
		return []*Molecule{m}
	}
	for _, b := range m.Bonds { // atoms keep their order, and with it chirality and sides what they mean
		f := out[number[find(b.A)]-1]
		f.Bonds = append(f.Bonds, Bond{to[b.A], to[b.B], b.Order, b.Sides})
	}
	return out
}

// LargestFragment returns the fragment with the most atoms other than hydrogen. Among equal ones it
// takes the one with more carbon, then the first. Charges do not change. A connected molecule is
// returned unchanged.
func (m *Molecule) LargestFragment() *Molecule { return largest(m.Fragments()) }

func largest(parts []*Molecule) *Molecule {
	best := parts[0]
	for _, f := range parts[1:] {
		if f.largerThan(best) {
			best = f
		}
	}
	return best
}

func (m *Molecule) largerThan(o *Molecule) bool {
	heavy, carbons := m.size()
	h, c := o.size()
	return cmp.Or(cmp.Compare(heavy, h), cmp.Compare(carbons, c)) > 0
}

// size returns the numbers of atoms other than hydrogen and of carbons.
func (m *Molecule) size() (heavy, carbons int) {
	for _, a := range m.Atoms {
		if a.Element != hydrogen {
			heavy++
		}
		if a.Element == carbon {
			carbons++
		}
	}
	return heavy, carbons
}

// Salt reports whether a molecule of several fragments is a salt or a solvate: every fragment but the largest is an ion, or
// has no carbon, as water and hydrogen chloride. Other molecules of several fragments are mixtures.
func (m *Molecule) Salt() bool {
	parts := m.Fragments()
	kept := largest(parts)
	for _, f := range parts {
		if _, carbons := f.size(); f != kept && f.charge() == 0 && carbons > 0 {
			return false
		}
	}
	return len(parts) > 1
}

func (m *Molecule) charge() (sum int) {
	for _, a := range m.Atoms {
		sum += int(a.Charge)
	}
	return sum
}
