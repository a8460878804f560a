package chem

import (
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// Scaffolds returns a number for the scaffold of each molecule (Molecule.Scaffold), counted from 0 in the
// order of their first molecules: equal ones have isomorphic scaffolds, whose atoms agree in element, charge and, in
// aromatic rings, in whether a nitrogen has a hydrogen, and whose bonds agree in order. All molecules without
// rings have the same number, as in the scaffold splits of other programs.
func Scaffolds(graphs []*graph.Graph) ([]int, error) {
	_, group, err := NewScaffoldSet(graphs)
	return group, err
}

// ScaffoldSet has the scaffolds of some molecules. Has may be called concurrently.
type ScaffoldSet struct{ set graph.Set }

// NewScaffoldSet returns the scaffolds of molecules, and their numbers as Scaffolds does.
func NewScaffoldSet(graphs []*graph.Graph) (*ScaffoldSet, []int, error) {
	s, group := &ScaffoldSet{}, make([]int, len(graphs))
	for i, g := range graphs {
		x, err := scaffoldOf(g)
		if err != nil {
			return nil, nil, fmt.Errorf("graph %d (%s) has no scaffold, because it is not a molecule: %w", i, g.ID(), err)
		}
		group[i] = s.set.Add(x)
	}
	return s, group, nil
}

// Has reports whether one of the molecules has the scaffold of a graph. One that is not a molecule has none.
func (s *ScaffoldSet) Has(g *graph.Graph) bool {
	x, err := scaffoldOf(g)
	return err == nil && s.set.Find(x) >= 0
}

// scaffoldOf returns the graph of the scaffold of a graph.
func scaffoldOf(g *graph.Graph) (*graph.Graph, error) {
	m, err := Of(g)
	if err != nil {
		return nil, err
	}
	return scaffold(m)
}

// scaffold returns the graph of a molecule's scaffold.
func scaffold(m *Molecule) (*graph.Graph, error) {
	atoms := m.scaffold()
	inAromatic, aromatic := m.Aromaticity()
	at := make(map[int32]int, len(atoms))
	for k, a := range atoms {
		at[int32(a)] = k
	}
	b := graph.NewBuilder(len(atoms))
	filled := make([]bool, len(atoms)) // a hydrogen, or one in place of what was cut off
	for k, a := range atoms {
		filled[k] = m.Atoms[a].Hydrogens > 0
	}
	for i, e := range m.Bonds {
		u, in := at[e.A]
		v, too := at[e.B]
		switch {
		case in && too:
			order := e.Order
			if aromatic[i] {
				order = Aromatic
			}
			b.AddLabeledEdge(u, v, 1, order.String())
		case in:
			filled[u] = true
		case too:
			filled[v] = true
		}
	}
	for k, a := range atoms {
		atom := m.Atoms[a]
		label := Symbol(atom.Element) + atom.ChargeText()
		if inAromatic[a] && atom.Element != carbon && filled[k] {
			label += "H" // tells the nitrogens of a pyrazole apart
		}
		b.SetLabel(k, label)
	}
	return b.Build()
}
