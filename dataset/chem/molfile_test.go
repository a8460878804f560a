package chem

import (
	"fmt"
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
	f.Add("\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 BEGIN ATOM\nM  V30 1 C 0 0 0 0 CHG=1\nM  V30 2 \"N\" 0 0 -\nM  V30 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 2 1 2\nM  V30 END BOND\nM  V30 END CTAB\nM  END")
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

// What a table states of itself is compared with what it has.
func TestMolCounts(t *testing.T) {
	const old = "x\n\n\n  3  2  0  0  0  0            999 V2000\n    1.0000    0.0000    0.0000 C   0  0  0  0  0  0\n" +
		"    0.0000    0.0000    0.0000 C   0  0\n   -1.0000    0.0000    0.0000 O   0  0\n  1  2  1  0\n  2  3  1  0\n" +
		"A    3\n  1  2  3\nM  CHG  1   3  -1\nM  END"
	const extended = "x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 2 1 0 0 0\nM  V30 BEGIN ATOM\n" +
		"M  V30 1 C 0 0 0 0\nM  V30 2 O 0 0 0 0\nM  V30 END ATOM\nM  V30 BEGIN BOND\nM  V30 1 1 1 2\nM  V30 END BOND\nM  V30 END CTAB\nM  END"
	for _, c := range []struct {
		text, old, new string
		line           int
		want           string // the error, "" for none
	}{
		{text: old, line: 13}, {text: extended, line: 15},
		{old, "999 V2000", "", 13, ""}, {old, "999 V2000", "999", 13, ""}, {old, "999 V2000", "0999V2000", 13, ""},
		{old, "V2000", "V4000", 4, `version "V4000" of the connection table, want V2000 or V3000`},
		{extended, "V3000", "v3000", 4, `version "v3000" of the connection table, want V2000 or V3000`},
		{old, "  3  2", " -3  2", 4, "want the numbers of atoms and bonds"},
		{old, "  3  2", "  3 -2", 4, "want the numbers of atoms and bonds"},
		{old, "  3  2", "999999", 8, `coordinate x: "1  2  1", want a number`},
		{old, "  3  2", "  2  2", 7, "want a whole number in columns"},
		{old, "  3  2", "  4  2", 8, `coordinate x: "1  2  1", want a number`},
		{old, "  3  2", "  3  1", 9, "more than the 1 bonds that the counts line states"},
		{old, "  3  2", "  3  0", 8, "more than the 0 bonds that the counts line states"},
		{old, "  3  2", "  3  3", 10, `first atom "A", want a whole number`},
		{old, "CHG  1 ", "CHG  2 ", 12, "want whole numbers: the number of entries"},
		{old, "3  -1", "3  -1   1   1", 12, "want whole numbers: the number of entries"},
		{old, "C   0  0  0  0  0  0", "C   0  0  0  0  0 99", 5, "valence 99, want -1 to 15"},
		{old, "C   0  0  0  0  0  0", "H  -9  0  0  0  0  0", 5, "mass difference -9, which leaves no mass"},
		{extended, "COUNTS 2 1", "COUNTS 3 1", 15, "2 atoms and 1 bonds, but COUNTS states 3 and 1"},
		{extended, "COUNTS 2 1", "COUNTS 2 0", 15, "2 atoms and 1 bonds, but COUNTS states 2 and 0"},
		{extended, "COUNTS 2 1", "COUNTS -2 1", 6, "COUNTS -2 1 0 0 0, want the numbers of atoms and bonds"},
		{extended, "COUNTS 2 1", "COUNTS 99999999999999999999 1", 6, "want the numbers of atoms and bonds"},
		{extended, "COUNTS 2 1 0 0 0", "COUNTS 2", 6, "COUNTS 2, want the numbers of atoms and bonds"},
		{extended, "M  V30 COUNTS 2 1 0 0 0\n", "", 14, "no line COUNTS with the numbers of atoms and bonds"},
		{extended, "0 0 0\nM", "0 0 0\nM  V30 COUNTS 2 1 0 0 0\nM", 7, "second line COUNTS"},
		{extended, "M  V30 END CTAB\n", "", 14, "M  END before END CTAB"},
		{extended, "O 0 0 0 0", "O 0 0 0 0 VAL=1000000", 9, "valence 1000000, want -1 to 15"},
	} {
		text := strings.Replace(c.text, c.old, c.new, 1)
		m, line, err := ParseMol(strings.Split(text, "\n"), 10)
		if line != c.line || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: line %d: %v, %v; want line %d: %s", c.new, c.old, line, m, err, c.line, c.want)
		}
	}
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
		extended := "\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 4 3 0 0 0\nM  V30 BEGIN ATOM\nM  V30 1 C 0 0 0 0\nM  V30 2 F 0 1 0 0\n" +
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

// Wedges, places and parities tell configurations, in V2000 and in V3000.
func TestMolStereo(t *testing.T) {
	type atom struct {
		symbol string
		x, y   float64
		parity int
	}
	type bond struct{ a, b, order, stereo int }
	centre := []atom{{"C", 0, 0, 0}, {"F", 0, 1, 0}, {"Cl", -0.87, -0.5, 0}, {"Br", 0.87, -0.5, 0}}
	nowhere := func(parity int, symbols ...string) (out []atom) {
		for _, s := range symbols {
			out = append(out, atom{s, 0, 0, 0})
		}
		out[0].parity = parity
		return out
	}
	star := func(stereo int) []bond { return []bond{{1, 2, 1, stereo}, {1, 3, 1, 0}, {1, 4, 1, 0}} }
	ethene := func(y float64) []atom {
		return []atom{{"C", 0, 0, 0}, {"C", 1.3, 0, 0}, {"F", -0.5, 0.8, 0}, {"Cl", 1.8, y, 0}}
	}
	ends := func(stereo int) []bond { return []bond{{1, 2, 2, stereo}, {1, 3, 1, 0}, {2, 4, 1, 0}} }
	allene := []atom{{"C", 0, 0, 0}, {"C", 1, 0, 0}, {"C", 2, 0, 0}, {"C", -0.5, 0.8, 0}, {"F", 2.5, 0.8, 0}}
	for _, c := range []struct {
		what  string
		atoms []atom
		bonds []bond
		want  string
	}{
		// Bromine, chlorine and fluorine run clockwise on the page, and the hydrogen is behind it.
		{"wedge up", centre, star(1), "0R"}, {"wedge down", centre, star(6), "0S"}, {"wavy bond", centre, star(4), "0?"}, {"plain bond", centre, star(0), "0?"},
		{"wide end", centre, []bond{{2, 1, 1, 1}, {1, 3, 1, 0}, {1, 4, 1, 0}}, "0?"},
		// Fluorine, chlorine and bromine run clockwise with the hydrogen behind.
		{"odd parity", nowhere(1, "C", "F", "Cl", "Br"), star(0), "0S"}, {"even parity", nowhere(2, "C", "F", "Cl", "Br"), star(0), "0R"}, {"parity 3", nowhere(3, "C", "F", "Cl", "Br"), star(0), "0?"},
		{"parity with four", nowhere(1, "C", "I", "Br", "Cl", "F"), append(star(0), bond{1, 5, 1, 0}), "0R"},
		{"one side", ethene(0.8), ends(0), "0-1Z"}, {"opposite sides", ethene(-0.8), ends(0), "0-1E"}, {"either side", ethene(0.8), ends(3), "0-1?"},
		{"wavy at a double bond", ethene(0.8), []bond{{1, 2, 2, 0}, {1, 3, 1, 4}, {2, 4, 1, 0}}, "0-1?"},
		// Seen from the left, with the methyl group above, the fluorine is on the left: anticlockwise.
		{"allene", allene, []bond{{1, 2, 2, 0}, {2, 3, 2, 0}, {1, 4, 1, 1}, {3, 5, 1, 0}}, "1M"},
		{"allene down", allene, []bond{{1, 2, 2, 0}, {2, 3, 2, 0}, {1, 4, 1, 6}, {3, 5, 1, 0}}, "1P"},
		{"allene at the other end", allene, []bond{{1, 2, 2, 0}, {2, 3, 2, 0}, {1, 4, 1, 0}, {3, 5, 1, 1}}, "1P"},
	} {
		v2 := fmt.Sprintf("\n\n\n%3d%3d  0  0  0  0            999 V2000\n", len(c.atoms), len(c.bonds))
		v3 := fmt.Sprintf("\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS %d %d 0 0 0\nM  V30 BEGIN ATOM\n", len(c.atoms), len(c.bonds))
		for i, a := range c.atoms {
			v2 += fmt.Sprintf("%10.4f%10.4f%10.4f %-3s 0  0%3d  0  0  0\n", a.x, a.y, 0.0, a.symbol, a.parity)
			v3 += fmt.Sprintf("M  V30 %d %s %g %g 0 0 CFG=%d\n", i+1, a.symbol, a.x, a.y, a.parity)
		}
		v3 += "M  V30 END ATOM\nM  V30 BEGIN BOND\n"
		for i, b := range c.bonds {
			v2 += fmt.Sprintf("%3d%3d%3d%3d\n", b.a, b.b, b.order, b.stereo)
			v3 += fmt.Sprintf("M  V30 %d %d %d %d CFG=%d\n", i+1, b.order, b.a, b.b, map[int]int{1: 1, 6: 3, 4: 2, 3: 2}[b.stereo])
		}
		for _, text := range []string{v2 + "M  END", v3 + "M  V30 END BOND\nM  V30 END CTAB\nM  END"} {
			m, _, err := ParseMol(strings.Split(text, "\n"), 10)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if got := described(m); got != c.want {
				t.Errorf("%s: %s, want %s\n%s", c.what, got, c.want, text)
			}
		}
	}
}
