package dataset

import (
	"fmt"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// Scaffolds returns a number for the scaffold of each molecule (chem.Molecule.Scaffold), counted from 0 in the
// order of their first molecules: equal ones have isomorphic scaffolds, whose atoms agree in element, charge and, in
// aromatic rings, in whether a nitrogen has a hydrogen, and whose bonds agree in order. All molecules without
// rings have the same number, as in the scaffold splits of other programs.
func Scaffolds(graphs []*graph.Graph) ([]int, error) {
	scaffolds := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		m, err := chem.Of(g)
		if err != nil {
			return nil, fmt.Errorf("graph %d (%s) has no scaffold, because it is not a molecule: %w", i, g.ID(), err)
		}
		if scaffolds[i], err = scaffold(m); err != nil {
			return nil, err
		}
	}
	group := make([]int, len(graphs)) // the first graph with the same scaffold
	acyclic := -1
	for i, s := range scaffolds {
		if group[i] = i; s.N() == 0 {
			if acyclic < 0 {
				acyclic = i
			}
			group[i] = acyclic
		}
	}
	for _, same := range graph.Duplicates(scaffolds) {
		for _, i := range same {
			group[i] = same[0]
		}
	}
	numbers := map[int]int{}
	for i, first := range group {
		if _, known := numbers[first]; !known {
			numbers[first] = len(numbers)
		}
		group[i] = numbers[first]
	}
	return group, nil
}

const carbon = 6

// scaffold returns the graph of a molecule's scaffold.
func scaffold(m *chem.Molecule) (*graph.Graph, error) {
	atoms := m.Scaffold()
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
				order = chem.Aromatic
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
		label := chem.Symbol(atom.Element) + atom.ChargeText()
		if inAromatic[a] && atom.Element != carbon && filled[k] {
			label += "H" // tells the nitrogens of a pyrazole apart
		}
		b.SetLabel(k, label)
	}
	return b.Build()
}
