package draw

import (
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// sameAtoms compares the atoms of a molecule with the first ones of another. Further ones are hydrogens that were drawn.
func sameAtoms(t *testing.T, name string, m, want *chem.Molecule) {
	t.Helper()
	drawn := make([]int, len(m.Atoms))
	for _, b := range m.Bonds {
		if int(b.B) >= len(want.Atoms) {
			drawn[b.A]++
		}
	}
	for v, a := range want.Atoms {
		b := m.Atoms[v]
		if a.Element != b.Element || a.Charge != b.Charge || a.Isotope != b.Isotope || a.Hydrogens != b.Hydrogens+drawn[v] && a.Hydrogens != chem.Unknown {
			t.Errorf("%s: atom %d is %+v with %d drawn hydrogens, want %+v", name, v, b, drawn[v], a)
		}
	}
	orders, err := want.Kekule()
	if err != nil {
		t.Fatal(err)
	}
	for k, b := range want.Bonds {
		if c := m.Bonds[k]; min(c.A, c.B) != min(b.A, b.B) || max(c.A, c.B) != max(b.A, b.B) || c.Order != orders[k] {
			t.Errorf("%s: bond %d is %+v, want %+v of order %d", name, k, c, b, orders[k])
		}
	}
	atoms, bonds := m.Descriptors()
	wantAtoms, wantBonds := want.Descriptors()
	if !slices.Equal(atoms[:len(wantAtoms)], wantAtoms) || !slices.Equal(bonds[:len(wantBonds)], wantBonds) {
		t.Errorf("%s: stereogenic atoms %v and bonds %v, want %v and %v", name, atoms, bonds, wantAtoms, wantBonds)
	}
}

// A molecule that is written as a connection table and read again is the same: atoms, charges, isotopes, hydrogens, bonds, and
// which way chiral atoms and double bonds are turned.
func TestMolfile(t *testing.T) {
	for _, smiles := range []string{"CCO", "c1ccccc1", "[nH]1cccc1", "C[N+](C)(C)CC(=O)[O-]", "[13CH4]", "[Na+].[Cl-]", "O=[N+]([O-])c1ccccc1", "[CH3]", "[Fe+2]",
		"N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O", "F/C=C/F", "F/C=C\\F", "CC[S@](=O)C", "OP(=O)(O)O", "CS(=O)(=O)C", "[2H]OC",
		"C[C@H]1CC[C@@H](C(C)C)C[C@H]1O", "C[C@]12CC[C@H]3[C@@H](CCc4cc(O)ccc34)[C@@H]1CC[C@@H]2O", "C#N", "Clc1ccc(cc1)-c1ccncc1"} {
		g, err := dataset.ParseSMILES(smiles, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		want, err := chem.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		b, err := AppendMolfile(nil, g, "a name\nof two lines")
		if err != nil {
			t.Errorf("%s: %v", smiles, err)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		m, n, err := chem.ParseMol(lines, 1000)
		if err != nil || n != len(lines) || m.Name != "a name of two lines" {
			t.Errorf("%s: %v in line %d of %d, name %q\n%s", smiles, err, n, len(lines), m.Name, b)
			continue
		}
		sameAtoms(t, smiles, m, want)
	}
	none, err := graph.NewBuilder(2).Build()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AppendMolfile(nil, none, ""); err == nil {
		t.Error("a graph that is no molecule has a connection table")
	}
}
