package chem

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// path returns a graph that is a path, with labels and a SMILES string, "" for none.
func path(t *testing.T, smiles, bond string, labels ...string) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(labels))
	for v, label := range labels {
		b.SetLabel(v, label)
		if v > 0 {
			b.AddLabeledEdge(v-1, v, 1, bond)
		}
	}
	b.SetSMILES(smiles)
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The SMILES string of a graph says what it is, whatever the labels say beside the element.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		g    *graph.Graph
		want string // the molecule, or what is wrong
	}{
		{path(t, "C[C@H](N)[O-]", "-", "C", "C", "N"), "more than 3 atoms"},
		{path(t, "[13CH3][NH2+][O-]", "-", "C", "N", "O"), "[13CH3][NH2+][O-]"},
		{path(t, "[13CH3][NH2+][O-]", "x", "C aliphatic", "N aliphatic", "O aliphatic"), "[13CH3][NH2+][O-]"},
		{path(t, "CO.N", "-", "C", "O", "N"), "3 atoms and 1 bonds, want one for each of the 3 vertices and 2 edges"},
		{path(t, "C1.O.N1", "-", "C", "O", "N"), "3 atoms and 1 bonds"},
		{path(t, "C1.O2.N12", "-", "C", "O", "N"), "atoms 1 and 3 are bound, vertices 0 and 2 are not"},
		{path(t, "CNO", "-", "C", "O", "N"), `atom 2 is N, vertex 1 has label "O"`},
		{path(t, "C(", "-", "C"), "branch is not closed"},
		{path(t, "", "-", "C", "O"), "CO"},
		{path(t, "", "=", "C", "O"), "C=O"},
		{path(t, "", "-", "CH3", "NH2+", "O-"), "C[NH2+][O-]"},
		{path(t, "", "", "C", "O"), "[C][O]"},        // nothing is known of the bonds
		{path(t, "", "-", "C", "O", "H"), "[C]O[H]"}, // hydrogens are atoms
		{path(t, "", "-", "17"), `vertex 0 has label "17"`},
		{path(t, "", "cat", "C", "C"), `edge (0, 1): label "cat", want a bond`},
		{path(t, "", "-"), "no labels"},
	} {
		m, err := Of(c.g)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for i := range m.Atoms { // Unknown is written as none
				m.Atoms[i].Hydrogens = max(m.Atoms[i].Hydrogens, 0)
			}
			got = m.SMILES()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q %v: %s, want %s", c.g.SMILES(), c.g.Labels(), got, c.want)
		}
	}
}

// Of a graph that says nothing of hydrogens they are guessed: pyrrole has one, pyridine none, and a nitro
// group its charges.
func TestGuess(t *testing.T) {
	for _, smiles := range []string{"c1cc[nH]c1", "c1ccncc1", "C[N+](=O)[O-]", "CS(=O)(=O)N", "Cn1cnnn1", "O=c1cc[nH]cc1", "c1ccsc1"} {
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		b := graph.NewBuilder(len(m.Atoms))
		for v, a := range m.Atoms {
			b.SetLabel(v, symbols[a.Element])
		}
		for _, e := range m.Bonds {
			b.AddLabeledEdge(int(e.A), int(e.B), 1, e.Order.String())
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Of(g)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range got.Atoms {
			if want := m.Atoms[i]; a.Hydrogens != want.Hydrogens || a.Charge != want.Charge {
				t.Errorf("%s: atom %d has %d hydrogens and charge %d, want %d and %d", smiles, i, a.Hydrogens, a.Charge, want.Hydrogens, want.Charge)
			}
		}
	}
}
