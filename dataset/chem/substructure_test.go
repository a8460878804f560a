package chem_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
)

// Fragments are where they should be, and nowhere else. testdata/fragments.txt has pairs of a fragment and a
// molecule with what RDKit's HasSubstructMatch says of them (dataset/checks/fragments.py).
func TestSubstructures(t *testing.T) {
	file, err := os.Open("testdata/fragments.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	o := dataset.DefaultOptions()
	o.AtomCharge = true
	yes, all := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		field := strings.Fields(lines.Text())
		f, err := chem.ParseSubstructure(field[0])
		if err != nil {
			t.Fatal(err)
		}
		g, err := dataset.ParseSMILES(field[1], o)
		if err != nil {
			t.Fatal(err)
		}
		at, complete := f.In(g, 100_000)
		if got := at != nil; got != (field[2] == "1") || !complete {
			t.Errorf("%s in %s: %v, complete %v, want %s", field[0], field[1], at, complete, field[2])
		}
		all++
		if at != nil {
			yes++
		}
	}
	if all < 500 || yes < 100 || all-yes < 100 {
		t.Errorf("%d pairs, %d of them matches", all, yes)
	}
}

func TestSubstructureAtoms(t *testing.T) {
	for _, c := range []struct {
		fragment, molecule string
		want               int // vertices found, 0 for none
	}{
		{"c1ccccc1", "CC1=CC=CC=C1", 6}, // alternating bonds
		{"c1ccccc1", "CC1CCCCC1", 0}, {"c1ccccc1", "O=C1C=CC(=O)C=C1", 0}, {"c1ccoc1", "O=C1C=CC(=O)O1", 0},
		{"C1=CC=CC=C1", "Cc1ccccc1", 6},
		{"C.C", "CO", 0}, {"C.C", "COC", 2}, // two parts need two atoms
		{"[H]O[H]", "CO", 1}, // hydrogens do not count
		{"*=O", "CS(C)=O", 2},
		{"Cl", "CC", 0}, {"Cl", "CCl", 1}, {"[se]1cccc1", "c1ccc[se]1", 5},
	} {
		f, err := chem.ParseSubstructure(c.fragment)
		if err != nil {
			t.Fatal(err)
		}
		g, err := dataset.ParseSMILES(c.molecule, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := f.In(g, 1000); len(at) != c.want || !ok {
			t.Errorf("%s in %s: %v, complete %v, want %d atoms", c.fragment, c.molecule, at, ok, c.want)
		}
	}
	for _, bad := range []string{"", "C((", strings.Repeat("C", 200+1)} {
		if _, err := chem.ParseSubstructure(bad); err == nil {
			t.Errorf("%.10q is a fragment", bad)
		}
	}
	// A search that would take for ever is given up.
	f, _ := chem.ParseSubstructure(strings.Repeat("C(C)(C)", 20) + "O")
	g, err := dataset.ParseSMILES(strings.Repeat("C(C)(C)", 40)+"N", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := f.In(g, 1000); at != nil || ok {
		t.Errorf("a search of 1000 steps: %v, complete %v", at, ok)
	}
}

// Marks of the substructure must be those of the molecule, however both are written. Without marks it is in all
// stereoisomers.
func TestSubstructureMarks(t *testing.T) {
	for _, c := range []struct {
		fragment, molecule string
		want               bool
	}{
		{"C[C@H](N)C=O", "C[C@H](N)C(=O)O", true}, {"C[C@H](N)C=O", "OC(=O)[C@@H](N)C", true}, {"C[C@H](N)C=O", "C[C@@H](N)C(=O)O", false},
		{"C[C@H](N)C=O", "CC(N)C(=O)O", false}, {"CC(N)C=O", "C[C@H](N)C(=O)O", true}, {"CC(N)C=O", "C[C@@H](N)C(=O)O", true},
		{"C[C@H](N)C=O", "C[C@@](F)(N)C(=O)O", false}, {"C[C@H](N)C=O", "C[C@](F)(N)C(=O)O", true}, // fluorine in place of hydrogen
		{"N[C@](C)(F)Cl", "Cl[C@@](F)(C)NC", false}, {"N[C@](C)(F)Cl", "Cl[C@](F)(C)NC", true},
		{"O[C@H](F)Cl.O", "O[C@@H](F)Cl.O[C@H](F)Cl", true}, // the second of two places
		{"C/C=C/C", "CC/C=C/C", true}, {"C/C=C/C", "C\\C=C\\CO", true}, {"C/C=C/C", "C/C=C\\CO", false}, {"C/C=C/C", "CC=CCO", false},
		{"CC=CC", "C/C=C\\CO", true}, {"F/C=C/C", "F/C(Cl)=C/C", true}, {"F/C=C/C", "Cl/C(F)=C/C", false},
		{"CC=[C@]=CF", "OCC=[C@]=CF", true}, {"CC=[C@]=CF", "OCC=[C@@]=CF", false}, {"CC=[C@]=CF", "FC=[C@]=CC", true},
		{"CC=[C@]=CF", "CC(Cl)=[C@]=CF", true}, {"CC=[C@]=CF", "CC(Cl)=[C@@]=CF", false}, {"CC=[C@]=CF", "CC=C=CF", false},
	} {
		f, err := chem.ParseSubstructure(c.fragment)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []dataset.Hydrogens{dataset.HydrogensAsWritten, dataset.HydrogensExplicit} {
			o := dataset.DefaultOptions()
			o.Hydrogens = h
			g, err := dataset.ParseSMILES(c.molecule, o)
			if err != nil {
				t.Fatal(err)
			}
			if at, complete := f.In(g, 100_000); (at != nil) != c.want || !complete {
				t.Errorf("%s in %s, hydrogens %s: %v, want %v", c.fragment, c.molecule, h, at, c.want)
			}
		}
	}
}
