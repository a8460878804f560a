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
		{"C[S+](C)[O-]", "CS(C)=O", SameMolecule}, {"C[S@+]([O-])CC", "C[S@](=O)CC", SameMolecule}, {"C[S@+]([O-])CC", "C[S@@](=O)CC", OtherStereo},
		{"C[S+2](C)([O-])[O-]", "CS(C)(=O)=O", SameMolecule}, {"C[P+](C)(C)[O-]", "CP(C)(C)=O", SameMolecule}, {"C[P+](C)(C)[S-]", "CP(C)(C)=S", SameMolecule},
		{"C[N-][N+]#N", "CN=[N+]=[N-]", SameMolecule}, {"C[N-][N+]#N", "CN=N#N", SameMolecule}, {"[CH2-][N+]#N", "C=[N+]=[N-]", SameMolecule},
		{"C[S+](C)C", "CS(C)C", Different}, {"C[S+](C)CC[O-]", "CS(C)CCO", Different},
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

// Both ways of writing a bond give one graph. The molecule stays as it was written.
func TestFormsOfOneGraph(t *testing.T) {
	for _, pair := range [][2]string{
		{"C[S+](C)[O-]", "CS(C)=O"}, {"C[P+](C)(C)[O-]", "CP(C)(C)=O"}, {"C[N-][N+]#N", "CN=[N+]=[N-]"}, {"[O-][S+2]([O-])(C)C", "O=S(=O)(C)C"},
	} {
		var graphs []*graph.Graph
		for _, s := range pair {
			g, err := ParseSMILES(s, DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			if g.SMILES() != s {
				t.Errorf("%s is kept as %s", s, g.SMILES())
			}
			graphs = append(graphs, g)
		}
		if !graph.Isomorphic(graphs[0], graphs[1]) {
			t.Errorf("%s and %s have other graphs", pair[0], pair[1])
		}
	}
}
