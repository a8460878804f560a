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
		at, complete := f.In(g, true, 100_000)
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
		if at, ok := f.In(g, false, 1000); len(at) != c.want || !ok {
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
	if at, ok := f.In(g, false, 1000); at != nil || ok {
		t.Errorf("a search of 1000 steps: %v, complete %v", at, ok)
	}
}
