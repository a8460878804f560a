package chem

import (
	"strings"
	"testing"
)

// TestImplicitHydrogens checks the hydrogens of single atoms in a connection table.
func TestImplicitHydrogens(t *testing.T) {
	for _, c := range []struct {
		atom, extra, want string
	}{
		{"C  ", "", "CH4"}, {"N  ", "", "H3N"}, {"O  ", "", "H2O"}, {"Na ", "", "Na"}, {"Cl ", "", "ClH"},
		{"N  ", "M  CHG  1   1   1\n", "H4N+"}, {"O  ", "M  CHG  1   1  -1\n", "HO-"}, {"C  ", "M  RAD  1   1   2\n", "CH3"},
		{"C  ", "M  RAD  1   1   1\n", "CH2"}, {"D  ", "", "H"}, {"R# ", "", "*"},
		{"C   0  0  0  0  0  2", "", "CH2"}, {"C   0  0  0  0  0 15", "", "C"}, {"N   0  3  0", "", "H4N+"}, {"O   0  5  0", "", "HO-"},
	} {
		text := "x\n\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 " + c.atom + "\n" + c.extra + "M  END"
		m, n, err := ParseMol(strings.Split(text, "\n"), 10)
		if err != nil {
			t.Errorf("%s: %v", c.atom, err)
			continue
		}
		if got := formula(m); got != c.want {
			t.Errorf("%s%s: %s, want %s", c.atom, c.extra, got, c.want)
		}
		if want := strings.Count(text, "\n") + 1; n != want {
			t.Errorf("%s: %d lines read, want %d", c.atom, n, want)
		}
	}
}

func TestAromaticMol(t *testing.T) {
	lines := []string{"benzene", "", "", "  6  6  0  0  0  0            999 V2000"}
	for range 6 {
		lines = append(lines, "    0.0000    0.0000    0.0000 C   0  0")
	}
	lines = append(lines, "  1  2  4", "  2  3  4", "  3  4  4", "  4  5  4", "  5  6  4", "  6  1  4", "M  END")
	m, _, err := ParseMol(lines, 10)
	if err != nil {
		t.Fatal(err)
	}
	if formula(m) != "C6H6" || len(m.Bonds) != 6 || m.HasCoordinates {
		t.Errorf("%s with %d bonds", formula(m), len(m.Bonds))
	}
	if _, err := m.Kekule(); err != nil {
		t.Error(err)
	}
}

func FuzzParseMol(f *testing.F) {
	f.Add("x\n\n\n  2  1  0  0  0  0            999 V2000\n    1.0000    0.0000    0.0000 C   0  0\n    0.0000    0.0000    0.0000 O   0  5\n  1  2  1\nM  CHG  1   2  -1\nM  END")
	f.Add("\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 BEGIN ATOM\nM  V30 1 C 0 0 0 0 CHG=1\nM  V30 2 \"N\" 0 0 -\nM  V30 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 2 1 2\nM  V30 END BOND\nM  V30 END CTAB\nM  END")
	f.Fuzz(func(t *testing.T, s string) {
		m, n, err := ParseMol(strings.Split(s, "\n"), 1000)
		if err != nil {
			return
		}
		if n > strings.Count(s, "\n")+1 {
			t.Fatalf("%d lines read", n)
		}
		m.Kekule()
		formula(m.WithHydrogens().WithoutHydrogens())
		m.SMILES()
	})
}

// A wedge and the places of the neighbours say the chirality. Fluorine above comes towards the reader, so
// the hydrogen lies behind: from there fluorine, chlorine on the left and bromine are clockwise.
func TestMolChirality(t *testing.T) {
	for _, c := range []struct{ v2000, v3000, want string }{
		{"1", " CFG=1", "[C@@H](F)(Cl)Br"}, {"6", " CFG=3", "[C@H](F)(Cl)Br"}, {"4", " CFG=2", "C(F)(Cl)Br"}, {"0", "", "C(F)(Cl)Br"},
	} {
		old := "\n\n\n  4  3  0  0  0  0            999 V2000\n" +
			"    0.0000    0.0000    0.0000 C   0  0\n    0.0000    1.0000    0.0000 F   0  0\n" +
			"   -0.8700   -0.5000    0.0000 Cl  0  0\n    0.8700   -0.5000    0.0000 Br  0  0\n" +
			"  1  2  1  " + c.v2000 + "\n  1  3  1  0\n  1  4  1  0\nM  END"
		extended := "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 BEGIN ATOM\nM  V30 1 C 0 0 0 0\nM  V30 2 F 0 1 0 0\n" +
			"M  V30 3 Cl -.87 -.5 0 0\nM  V30 4 Br .87 -.5 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 1 1 2" + c.v3000 +
			"\nM  V30 2 1 1 3\nM  V30 3 1 1 4\nM  V30 END BOND\nM  V30 END CTAB\nM  END"
		for _, text := range []string{old, extended} {
			m, _, err := ParseMol(strings.Split(text, "\n"), 10)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.SMILES(); got != c.want {
				t.Errorf("wedge %s: %s, want %s", c.v2000, got, c.want)
			}
		}
	}
}

// Places in space say chirality and sides where neighbours differ, whatever the wedges, and no places to
// draw by.
func TestSpace(t *testing.T) {
	table := func(atoms, bonds string) string {
		return "\n\n\n" + atoms[:3] + bonds[:3] + "  0  0  0  0            999 V2000" + atoms[3:] + bonds[3:] + "\nM  END"
	}
	chiral := table("  4\n    0.0000    0.0000    0.0000 C   0  0\n    0.0000    1.0000    0.5000 F   0  0\n"+
		"   -0.8700   -0.5000    0.5000 Cl  0  0\n    0.8700   -0.5000    0.5000 Br  0  0", "  3\n  1  2  1  6\n  1  3  1  0\n  1  4  1  0")
	double := table("  4\n    1.0000    0.0000   -0.5000 F   0  0\n    0.0000    0.0000    0.0000 C   0  0\n"+
		"    0.0000    0.0000    1.3000 C   0  0\n   -1.0000    0.1000    1.8000 F   0  0", "  3\n  1  2  1  0\n  2  3  2  0\n  3  4  1  0")
	ring := table("  8\n    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.0000    0.0000 C   0  0\n    1.0000    1.0000    0.0000 C   0  0\n"+
		"    0.0000    1.0000    0.0000 C   0  0\n   -0.5000   -0.5000    0.7000 F   0  0\n    1.5000    1.5000    0.7000 F   0  0\n"+
		"   -0.5000   -0.5000   -0.7000 H   0  0\n    1.5000    1.5000   -0.7000 H   0  0",
		"  8\n  1  2  1  0\n  2  3  1  0\n  3  4  1  0\n  4  1  1  0\n  1  5  1  0\n  3  6  1  0\n  1  7  1  0\n  3  8  1  0")
	for _, c := range []struct{ text, want string }{
		{chiral, "[C@@H](F)(Cl)Br"}, {strings.ReplaceAll(chiral, "    0.5000 ", "   -0.5000 "), "[C@H](F)(Cl)Br"},
		{strings.Replace(chiral, "Cl ", "F  ", 1), "C(F)(F)Br"}, // two neighbours are alike
		{double, "F/C=C/F"}, {strings.Replace(double, "   -1.0000", "    1.0000", 1), `F/C=C\F`},
		{strings.Replace(double, "   -1.0000    0.1000", "    0.0000    1.0000", 1), "FC=CF"}, // at right angles
	} {
		m, _, err := ParseMol(strings.Split(c.text, "\n"), 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.SMILES(); got != c.want || m.HasCoordinates {
			t.Errorf("%s, places %v, want %s and none\n%s", got, m.HasCoordinates, c.want, c.text)
		}
	}
	// In a ring two like neighbours tell nothing, but two such atoms are cis or trans: with their fluorines on the
	// same side of the plane the two are mirror images of each other.
	m, _, err := ParseMol(strings.Split(ring, "\n"), 10)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := m.Atoms[0].Chirality, m.Atoms[2].Chirality; a == Achiral || b == Achiral || m.Atoms[1].Chirality != Achiral {
		t.Errorf("1,3-difluorocyclobutane: chirality %d and %d", a, b)
	}
	if m, _, err = ParseMol(strings.Split(strings.Replace(ring, "0.7000 F", "0.7000 H", 1), "\n"), 10); err != nil || m.Atoms[2].Chirality != Achiral {
		t.Errorf("fluorocyclobutane: chirality %d, %v", m.Atoms[2].Chirality, err)
	}
}
