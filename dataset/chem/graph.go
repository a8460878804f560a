package chem

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// Of returns a graph as a molecule, with an atom for each vertex and a bond for each edge. It uses
// the SMILES string of the graph. Without one, vertex labels are elements, perhaps with isotope,
// hydrogens and charge. Edge labels, if there are any, are bonds. Hydrogens that labels do not
// count are guessed by valence. The error says why the graph is not a molecule.
func Of(g *graph.Graph) (*Molecule, error) {
	m, err := g.Molecule(func(smiles string) (any, error) { return ParseSMILES(smiles, g.N()) })
	if err != nil {
		return nil, err
	}
	if m == nil {
		return guessed(g)
	}
	return checked(g, m.(*Molecule))
}

// checked returns the molecule that a graph was made of, which has to have its vertices and edges.
func checked(g *graph.Graph, m *Molecule) (*Molecule, error) {
	switch {
	case len(m.Atoms) != g.N() || len(m.Bonds) != g.M():
		return nil, fmt.Errorf("%d atoms and %d bonds, want one for each of the %d vertices and %d edges",
			len(m.Atoms), len(m.Bonds), g.N(), g.M())
	}
	for v, a := range m.Atoms {
		if labelled, ok := labelled(g.Label(v)); ok && labelled.Element != a.Element {
			return nil, fmt.Errorf("atom %d is %s, vertex %d has label %q", v+1, symbols[a.Element], v, g.Label(v))
		}
	}
	for _, b := range m.Bonds {
		if !g.HasEdge(int(b.A), int(b.B)) {
			return nil, fmt.Errorf("atoms %d and %d are bound, vertices %d and %d are not", b.A+1, b.B+1, b.A, b.B)
		}
	}
	return m, nil
}

// maxNeighbours is the largest number of bonds of an atom, if only labels show that the graph is a
// molecule.
const maxNeighbours = 8

// orderOf are the orders that edge labels stand for.
var orderOf = map[string]Order{
	"": Single, "-": Single, "1": Single, "single": Single, "/": Single, "\\": Single, "=": Double, "2": Double, "double": Double,
	"#": Triple, "3": Triple, "triple": Triple, "$": Quadruple, "quadruple": Quadruple,
	":": Aromatic, "1.5": Aromatic, "aromatic": Aromatic, "~": AnyOrder,
}

// bondOrder are the orders of bond symbols of SMILES as numbers.
var bondOrder = map[string]float64{"-": 1, "/": 1, "\\": 1, "=": 2, "#": 3, "$": 4, ":": 1.5, "~": 1}

// BondOrder returns the order that a bond symbol of SMILES stands for, 1.5 for aromatic bonds and 1 for those
// of AnyOrder.
func BondOrder(symbol string) (order float64, ok bool) {
	order, ok = bondOrder[symbol]
	return order, ok
}

// Molecules reports whether graphs are molecules whose bonds are known: some have edges, and every edge has a bond
// symbol as its label.
func Molecules(graphs []*graph.Graph) bool {
	some := false
	for _, g := range graphs {
		for e := range g.Edges() {
			if bondOrder[e.Label] == 0 {
				return false
			}
			some = true
		}
	}
	return some
}

// guessed reads labels.
func guessed(g *graph.Graph) (*Molecule, error) {
	if !g.HasLabels() || g.N() == 0 {
		return nil, errors.New("no labels, want elements")
	}
	m := &Molecule{Atoms: make([]Atom, g.N()), Bonds: make([]Bond, 0, g.M())}
	for v := range m.Atoms {
		a, ok := labelled(g.Label(v))
		if !ok || g.Degree(v) > maxNeighbours {
			return nil, fmt.Errorf("vertex %d has label %q and %d neighbours, want an element and at most %d",
				v, g.Label(v), g.Degree(v), maxNeighbours)
		}
		m.Atoms[v] = a
	}
	for e := range g.Edges() {
		order, ok := orderOf[e.Label]
		if !ok {
			return nil, fmt.Errorf("edge (%d, %d): label %q, want a bond", e.U, e.V, e.Label)
		}
		m.Bonds = append(m.Bonds, Bond{A: int32(e.U), B: int32(e.V), Order: order})
	}
	if g.HasEdgeLabels() && !slices.ContainsFunc(m.Atoms, func(a Atom) bool { return a.Element == hydrogen }) {
		m.guessHydrogens()
	}
	return m, nil
}

// labelled reads a vertex label as an atom: the inside of a bracket of SMILES, without chirality and class.
func labelled(label string) (Atom, bool) {
	p := &parser{s: "[" + label + "]", mol: &Molecule{}, last: -1, around: map[int32][]int32{}, max: 1}
	counted := false
	if p.bracket(); p.err != nil || p.pos != len(p.s) {
		return Atom{}, false
	}
	a := p.mol.Atoms[0]
	for _, c := range label[1:] {
		counted = counted || c == 'H'
	}
	if !counted {
		a.Hydrogens = Unknown
	}
	return a, a.Chirality == Achiral && a.Class == 0
}

// guessHydrogens fills valences with the hydrogens of atoms that are Unknown. A nitrogen with four bonds
// and no charge gets its plus, and one oxygen on it the minus, as in a nitro group. In an aromatic
// system without a Kekulé structure hydrogens stay Unknown.
func (m *Molecule) guessHydrogens() {
	near := m.adjacency()
	sum, aromatic := m.pairs()
	for i := range m.Atoms {
		if a := &m.Atoms[i]; a.Element != nitrogen || a.Charge != 0 || a.Hydrogens != Unknown || sum[i] != 4 || aromatic[i] {
			continue
		}
		m.Atoms[i].Charge = 1
		for _, w := range m.neighbours(near, int32(i)) {
			if o := &m.Atoms[w]; o.Element == oxygen && sum[w] == 1 && o.Charge == 0 {
				o.Charge = -1
				break
			}
		}
	}
	orders, err := m.Kekule()
	if err == nil {
		clear(sum)
		for i, b := range m.Bonds {
			sum[b.A] += orders[i].Pairs()
			sum[b.B] += orders[i].Pairs()
		}
	}
	for i := range m.Atoms {
		if a := &m.Atoms[i]; a.Hydrogens == Unknown && (err == nil || !aromatic[i]) {
			a.Hydrogens = max(room(valences(*a), sum[i]), 0)
		}
	}
}
