package chem

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// SMILES returns the molecule as a SMILES string that has its atoms in their order. ParseSMILES makes
// the same molecule of it, but for name and coordinates.
//
// An atom continues the chain at the last atom before it that it is bound to, if the branches that are
// open there end with it; other bonds close rings. An atom that continues nothing follows a dot.
func (m *Molecule) SMILES() string {
	w := &writer{Molecule: m, near: m.adjacency(), bare: m.bare(), slant: map[int32]int8{}, ring: map[int32]int{}}
	w.tree()
	w.slants()
	var path []int32 // from the root to the last atom
	open := make([]bool, len(m.Atoms))
	for i := range int32(len(m.Atoms)) {
		up := w.parent[i]
		for len(path) > 0 && path[len(path)-1] != up {
			if open[path[len(path)-1]] {
				w.WriteByte(')')
			}
			path = path[:len(path)-1]
		}
		switch {
		case up < 0 && i > 0:
			w.WriteByte('.')
		case up >= 0:
			if open[i] = w.last[up] != i; open[i] {
				w.WriteByte('(')
			}
			w.bond(w.via[i], up)
		}
		w.atom(i)
		path = append(path, i)
	}
	return w.String()
}

// writer holds the state of SMILES.
type writer struct {
	strings.Builder
	*Molecule
	near   adjacency
	bare   []bool         // atoms that need no brackets
	parent []int32        // atom that an atom continues, -1: none
	via    []int32        // the bond to it
	last   []int32        // last atom that continues an atom, -1: none
	slant  map[int32]int8 // as in parser
	ring   map[int32]int  // number of the open ring of a bond
	rings  int            // numbers of rings that were used
	free   []int          // those that are not open
}

// bare tells which atoms need no brackets: a reader gives them the hydrogens that they have.
func (m *Molecule) bare() []bool {
	plain := &Molecule{Atoms: slices.Clone(m.Atoms), Bonds: m.Bonds}
	plain.fillHydrogens(func(i int) ([]int, int) {
		if plain.Atoms[i].Hydrogens = 0; !m.Atoms[i].Aromatic {
			plain.Atoms[i].Hydrogens = Unknown // stays where no valence is enough
		}
		return organic[m.Atoms[i].Element], 0
	})
	out := make([]bool, len(m.Atoms))
	for i, a := range m.Atoms {
		_, known := bare[symbolText(a)]
		says := a.Isotope != 0 || a.Charge != 0 || a.Class != 0 || a.Chirality != Achiral
		out[i] = known && !says && a.Hydrogens == plain.Atoms[i].Hydrogens
	}
	return out
}

// symbolText returns the symbol of an atom, in lower case if it is aromatic.
func symbolText(a Atom) string {
	if a.Aromatic {
		return strings.ToLower(symbols[a.Element])
	}
	return symbols[a.Element]
}

// tree finds the atom that each atom continues.
func (w *writer) tree() {
	n := len(w.Atoms)
	ints := slices.Repeat([]int32{-1}, 3*n)
	w.parent, w.via, w.last = ints[:n], ints[n:2*n], ints[2*n:]
	depth := make([]int, n) // in the path, 0: not in it
	var path []int32
	for i := range int32(n) {
		for _, e := range w.near.at(i) {
			if o := w.Bonds[e].other(i); o < i && depth[o] > 0 && (w.parent[i] < 0 || depth[o] > depth[w.parent[i]]) {
				w.parent[i], w.via[i] = o, e
			}
		}
		keep := 0
		if up := w.parent[i]; up >= 0 {
			keep, w.last[up] = depth[up], i
		}
		for _, o := range path[keep:] {
			depth[o] = 0
		}
		path = append(path[:keep], i)
		depth[i] = len(path)
	}
}

// slants gives directions to single bonds that tell the sides of double bonds, one chain of double bonds
// with sides after the other, so that the single bonds between them fit both.
func (w *writer) slants() {
	done := make(map[int32]bool)
	for i := range w.Bonds {
		for chain := []int32{int32(i)}; len(chain) > 0; {
			d := chain[len(chain)-1]
			chain = chain[:len(chain)-1]
			b := w.Bonds[d]
			if done[d] || b.Sides == AnySide {
				continue
			}
			done[d] = true
			sign := int8(1)
			if b.Sides == OppositeSides {
				sign = -1
			}
			side := cmp.Or(w.above(w.near, b.A, d, w.slant), sign*w.above(w.near, b.B, d, w.slant), -1)
			chain = append(chain, w.mark(b.A, d, side)...)
			chain = append(chain, w.mark(b.B, d, sign*side)...)
		}
	}
}

// mark slants single bonds of an end of a double bond so that its neighbour with the lowest number lies
// on a side: all that lead to other double bonds with sides, which it returns, or else one.
func (w *writer) mark(end, double int32, side int8) (next []int32) {
	var shared []int32
	one, fewest := int32(-1), 0
	marked := false
	for _, e := range w.near.at(end) {
		if e == double || w.Bonds[e].Order != Single && w.Bonds[e].Order != Aromatic {
			continue
		}
		marked = marked || w.slant[e] != 0
		against, sided := 0, false
		if b := w.Bonds[e]; b.Order == Aromatic || w.via[b.A] != e && w.via[b.B] != e {
			against++ // not at a ring closure: programs differ there
		}
		beyond := w.near.at(w.Bonds[e].other(end))
		for _, f := range beyond[:min(len(beyond), 8)] { // an end of a double bond with sides has three
			if w.Bonds[f].Order == Double {
				against++ // nor beside a double bond, whose sides may be open
			}
			if w.Bonds[f].Sides != AnySide {
				sided, next = true, append(next, f)
			}
		}
		if sided {
			shared = append(shared, e)
		}
		if one < 0 || against < fewest {
			one, fewest = e, against
		}
	}
	if len(shared) == 0 && !marked && one >= 0 {
		shared = []int32{one}
	}
	lowest := w.lowest(w.near, end, double)
	for _, e := range shared {
		if w.slant[e] != 0 {
			continue
		}
		w.slant[e] = side
		if (w.Bonds[e].other(end) != lowest) != (w.Bonds[e].B == end) {
			w.slant[e] = -side
		}
	}
	return next
}

// bond writes the symbol of a bond, seen from an atom, where a reader would not assume it.
func (w *writer) bond(e, from int32) {
	b := w.Bonds[e]
	aromatic := w.Atoms[b.A].Aromatic && w.Atoms[b.B].Aromatic
	switch slant := w.slant[e]; {
	case slant != 0 && (slant > 0) == (b.A == from):
		w.WriteByte('/')
	case slant != 0:
		w.WriteByte('\\')
	case b.Order == Single && aromatic, b.Order == Aromatic && !aromatic, b.Order > Single && b.Order < Aromatic, b.Order == AnyOrder:
		w.WriteString(b.Order.String())
	}
}

// written returns the neighbours of an atom in the order of the string, and the bonds of rings that it closes and opens.
func (w *writer) written(i int32) (neighbours, closes, opens []int32) {
	if w.parent[i] >= 0 {
		neighbours = append(neighbours, w.parent[i])
	}
	for _, e := range w.near.at(i) {
		switch o := w.Bonds[e].other(i); {
		case w.via[i] == e || w.parent[o] == i:
		case o < i:
			closes = append(closes, e)
		default:
			opens = append(opens, e)
		}
	}
	for _, e := range slices.Concat(closes, opens) {
		neighbours = append(neighbours, w.Bonds[e].other(i))
	}
	for _, o := range w.neighbours(w.near, i) {
		if w.parent[o] == i {
			neighbours = append(neighbours, o)
		}
	}
	return neighbours, closes, opens
}

// atom writes an atom and its ring closures: those that it closes, then those that it opens.
func (w *writer) atom(i int32) {
	_, closes, opens := w.written(i)
	a := w.Atoms[i]
	if w.bare[i] {
		w.WriteString(symbolText(a))
	} else {
		if a.Chirality != Achiral {
			written := w.ligandsBy(w.near, i, func(b int32) []int32 {
				list, _, _ := w.written(b)
				return list
			}, func(b int32) bool { return w.parent[b] < 0 })
			a.Chirality = a.Chirality.flip(written != nil && reordered(written, w.ligands(w.near, i)))
		}
		w.WriteString(a.bracket())
	}
	for _, e := range closes {
		w.number(w.ring[e])
		w.free = append(w.free, w.ring[e])
	}
	for _, e := range opens {
		w.bond(e, i)
		if last := len(w.free) - 1; last >= 0 {
			w.ring[e], w.free = w.free[last], w.free[:last]
		} else {
			w.rings++
			w.ring[e] = w.rings
		}
		w.number(w.ring[e])
	}
}

// number writes the number of a ring.
func (w *writer) number(n int) {
	switch {
	case n > 99:
		w.WriteString("%(" + strconv.Itoa(n) + ")")
	case n > 9:
		w.WriteString("%" + strconv.Itoa(n))
	default:
		w.WriteString(strconv.Itoa(n))
	}
}

// bracket returns an atom as it stands in brackets.
func (a Atom) bracket() string {
	s := "["
	if a.Isotope > 0 {
		s += strconv.Itoa(int(a.Isotope))
	}
	s += symbolText(a) + [...]string{"", "@", "@@"}[a.Chirality] + a.HydrogenText() + a.ChargeText()
	if a.Class > 0 {
		s += ":" + strconv.Itoa(a.Class)
	}
	return s + "]"
}
