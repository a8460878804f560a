package dataset

import (
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// Molecules are the same however they are written, and differ in stereochemistry alone, or altogether.
func TestSame(t *testing.T) {
	parse := func(smiles string, h Hydrogens) *graph.Graph {
		o := DefaultOptions()
		o.Hydrogens = h
		g, err := ParseSMILES(smiles, o)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	var all []*graph.Graph
	for _, c := range []struct {
		a, b string
		want Sameness
	}{
		{"CCO", "OCC", SameMolecule}, {"c1ccccc1", "C1=CC=CC=C1", SameMolecule}, {"C[C@H](N)C(=O)O", "OC(=O)[C@@H](N)C", SameMolecule},
		{"C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", OtherStereo}, {"C[C@H](N)C(=O)O", "CC(N)C(=O)O", OtherStereo},
		{"C/C=C/C", "C\\C=C\\C", SameMolecule}, {"C/C=C/C", "C/C=C\\C", OtherStereo}, {"C/C=C/C", "CC=CC", OtherStereo},
		{"C[C@H](O)[C@@H](C)O", "C[C@@H](O)[C@H](C)O", SameMolecule}, // meso
		{"C[C@H](O)[C@H](C)O", "C[C@@H](O)[C@@H](C)O", OtherStereo},
		{"C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1", OtherStereo}, {"CC=[C@]=CF", "CC=[C@@]=CF", OtherStereo},
		{"C[C@H](C)O", "CC(C)O", SameMolecule}, // not stereogenic
		{"CN(=O)=O", "C[N+](=O)[O-]", SameMolecule}, {"CC(=O)O", "CC(=O)[O-]", Different}, {"CCO", "CC[18OH]", Different}, {"CCO", "CCN", Different},
	} {
		g, h := parse(c.a, HydrogensAsWritten), parse(c.b, HydrogensExplicit)
		if got := Same(g, h); got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.a, c.b, got, c.want)
		}
		if got := Same(h, g); got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.b, c.a, got, c.want)
		}
		all = append(all, g)
	}
	// An index finds the same molecule before others, and what all comparisons would find.
	x := NewIndex(all)
	for _, smiles := range []string{"C[C@@H](N)C(=O)O", "C/C=C\\C", "CC(C)O", "CC(=O)[O-]", "CCCCCC", "N[C@@H](C)C(=O)O"} {
		g := parse(smiles, HydrogensImplicit)
		at, want := 0, Different
		for i, h := range all {
			if s := Same(g, h); s == SameMolecule && want != SameMolecule || s == OtherStereo && want == Different {
				at, want = i, s
			}
		}
		if i, got := x.Find(g); got != want || i != at {
			t.Errorf("%s: %d %q, want %d %q", smiles, i, got, at, want)
		}
	}
}
