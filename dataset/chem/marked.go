package chem

import (
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Marked reports whether a graph was made of a molecule that says something about its stereochemistry.
func Marked(g *graph.Graph) bool {
	m := written(g)
	return m != nil && m.Marked()
}

// Charged reports whether some label of a graph is an element with a charge.
func Charged(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Labels(), func(label string) bool { return strings.IndexAny(label, "+-") > 0 })
}

// written returns the molecule that a graph was made of, nil where it was made of none.
func written(g *graph.Graph) *Molecule {
	m, err := g.Molecule(func(smiles string) (any, error) { return ParseSMILES(smiles, g.N()) })
	if m == nil || err != nil {
		return nil
	}
	if m, err := checked(g, m.(*Molecule)); err == nil {
		return m
	}
	return nil
}

// Stereo returns a function for one goroutine. It returns the graph of a molecule with the descriptors
// ([Molecule.Descriptors]) of its atoms and bonds behind their labels, as in "C R" and "= Z". A graph that was not made of a
// molecule has none. The descriptors of a SMILES with marks are found once: those of cages take a second, and a table may
// have one in every row. Those of a row are those of its structures.
func Stereo() func(*graph.Graph) *graph.Graph {
	type found struct{ atoms, bonds []Descriptor }
	known := map[string]found{}
	var of func(g *graph.Graph) *graph.Graph
	of = func(g *graph.Graph) *graph.Graph {
		if g.Parts() != nil {
			return g.MapStructures(of)
		}
		m := written(g)
		if m == nil {
			return g
		}
		d, ok := known[g.SMILES()]
		if !ok || len(d.atoms) != len(m.Atoms) || len(d.bonds) != len(m.Bonds) {
			d.atoms, d.bonds = m.Descriptors()
			if m.Marked() {
				known[g.SMILES()] = d
			}
		}
		return withDescriptors(g, m, d.atoms, d.bonds)
	}
	return of
}

// withDescriptors returns a graph with descriptors behind its labels.
func withDescriptors(g *graph.Graph, m *Molecule, atoms, bonds []Descriptor) *graph.Graph {
	some := func(d Descriptor) bool { return d != "" }
	if slices.ContainsFunc(atoms, some) {
		labels := make([]string, g.N())
		for v, d := range atoms {
			labels[v] = d.behind(g.Label(v))
		}
		g = g.Relabel(labels)
	}
	if !slices.ContainsFunc(bonds, some) {
		return g
	}
	of := make(map[[2]int]Descriptor, len(bonds))
	for i, b := range m.Bonds {
		of[[2]int{int(min(b.A, b.B)), int(max(b.A, b.B))}] = bonds[i]
	}
	return g.RelabelEdges(func(e graph.Edge) string { return of[[2]int{e.U, e.V}].behind(e.Label) })
}

// behind returns a label with the descriptor behind it.
func (d Descriptor) behind(label string) string {
	if d == "" {
		return label
	}
	return label + " " + string(d)
}
