package chem

import (
	"errors"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Substructure is a piece of a molecule to search for in others. Elements, charges and bond orders must
// match. Aromatic is an order of its own. Hydrogens do not count, and "*" is any atom. Marks of stereochemistry that it has must
// match too: a molecule without them does not.
type Substructure struct {
	atoms     []substructureAtom // each but the first of a part is bound to one before it
	mol       *Molecule          // nil without marks
	positions []int              // of the atoms of mol, from 1
}

type substructureAtom struct {
	element, charge string
	bonds           []substructureBond // to atoms before it
}

type substructureBond struct {
	to    int
	order string
}

// maxSubstructure is the largest number of atoms of a substructure.
const maxSubstructure = 200

// ParseSubstructure reads a substructure as SMILES. Aromatic atoms are written in lower case, or whole rings with
// alternating bonds.
func ParseSubstructure(smiles string) (*Substructure, error) {
	m, err := ParseSMILES(smiles, maxSubstructure)
	if err != nil {
		return nil, err
	}
	if m = m.WithoutHydrogens(); len(m.Atoms) == 0 {
		return nil, errors.New("the fragment has no atoms")
	}
	_, aromatic := m.Aromaticity()
	for i := range m.Bonds {
		if aromatic[i] {
			m.Bonds[i].Order = Aromatic
		}
	}
	place := make([]int, len(m.Atoms))
	f := &Substructure{positions: place}
	if m.Marked() {
		f.mol = m
	}
	add := func(atom int) {
		a := m.Atoms[atom]
		next := substructureAtom{element: Symbol(a.Element), charge: a.ChargeText()}
		for _, b := range m.Bonds {
			for _, ends := range [][2]int32{{b.A, b.B}, {b.B, b.A}} {
				if int(ends[0]) == atom && place[ends[1]] > 0 {
					next.bonds = append(next.bonds, substructureBond{place[ends[1]] - 1, b.Order.String()})
				}
			}
		}
		f.atoms = append(f.atoms, next)
		place[atom] = len(f.atoms)
	}
	for start := range m.Atoms {
		if place[start] > 0 {
			continue
		}
		add(start)
		for grown := true; grown; {
			grown = false
			for _, b := range m.Bonds {
				for _, ends := range [][2]int32{{b.A, b.B}, {b.B, b.A}} {
					if place[ends[0]] > 0 && place[ends[1]] == 0 {
						add(int(ends[1]))
						grown = true
					}
				}
			}
		}
	}
	return f, nil
}

// In returns the vertices of a molecule that make up the substructure, in the order in which the
// substructure names its atoms part by part, or nil. A graph that was not read as a molecule may have alternating bonds in its
// aromatic rings, and no aromatic bond. Then aromatic bonds of the substructure match alternating ones, and charges count
// where labels have some. complete is false if the search needs more than so many steps.
func (f *Substructure) In(g *graph.Graph, steps int) (vertices []int, complete bool) {
	s := &substructureSearch{Substructure: f, g: g, of: written(g), steps: steps,
		at: make([]int, 0, len(f.atoms)), used: make([]bool, g.N()), kekule: g.SMILES() == ""}
	for e := range g.Edges() {
		s.kekule = s.kekule && e.Label != Aromatic.String()
	}
	if s.place() {
		return s.at, true
	}
	return nil, s.steps > 0
}

// substructureSearch places the atoms of a substructure on vertices one after the other.
type substructureSearch struct {
	*Substructure
	g      *graph.Graph
	of     *Molecule // nil for a graph that was not read as one
	kekule bool      // no bond is aromatic
	steps  int       // that are left
	at     []int
	used   []bool
}

// place places the atoms that are left.
func (s *substructureSearch) place() bool {
	if len(s.at) == len(s.atoms) {
		return s.mol == nil || s.marked()
	}
	a := &s.atoms[len(s.at)]
	if len(a.bonds) == 0 { // a new part
		for v := range s.g.N() {
			if s.try(a, v) {
				return true
			}
		}
		return false
	}
	for _, v := range s.g.Neighbors(s.at[a.bonds[0].to]) {
		if s.try(a, int(v)) {
			return true
		}
	}
	return false
}

// try places an atom on a vertex, and those that are left.
func (s *substructureSearch) try(a *substructureAtom, v int) bool {
	if s.used[v] || s.steps <= 0 {
		return false
	}
	s.steps--
	element, charge := atomOf(s.g.Label(v))
	known := charge != ""
	if s.of != nil {
		charge, known = s.of.Atoms[v].ChargeText(), true
	}
	if a.element != "*" && a.element != element || known && a.charge != "" && a.charge != charge {
		return false
	}
	for _, b := range a.bonds {
		if !s.bound(v, s.at[b.to], b.order) {
			return false
		}
	}
	s.used[v] = true
	s.at = append(s.at, v)
	if s.place() {
		return true
	}
	s.used[v] = false
	s.at = s.at[:len(s.at)-1]
	return false
}

// bound reports whether two vertices have a bond of an order.
func (s *substructureSearch) bound(v, w int, order string) bool {
	for i, u := range s.g.Neighbors(v) {
		if int(u) != w {
			continue
		}
		label := s.g.EdgeLabel(v, i)
		if label == order {
			return true
		}
		return order == Aromatic.String() && s.kekule && (label == "-" || label == "=") && s.conjugated(v) && s.conjugated(w)
	}
	return false
}

// conjugated reports whether an atom may be one of an aromatic ring that is written as alternating bonds: it has a
// double bond, or a lone pair to give.
func (s *substructureSearch) conjugated(v int) bool {
	for i := range s.g.Degree(v) {
		if s.g.EdgeLabel(v, i) == "=" {
			return true
		}
	}
	element, _ := atomOf(s.g.Label(v))
	return strings.Contains(" N O S P Se ", " "+element+" ")
}

// atomOf returns what a label says of an atom: its element and its charge.
func atomOf(label string) (element, charge string) {
	if at := strings.IndexAny(label, "+-"); at > 0 {
		label, charge = label[:at], label[at:]
	}
	if label == "" {
		return "", charge
	}
	first := strings.ToUpper(label[:1])
	if len(label) > 1 && label[1] >= 'a' && label[1] <= 'z' && known(first+label[1:2]) {
		return first + label[1:2], charge
	}
	return first, charge
}
