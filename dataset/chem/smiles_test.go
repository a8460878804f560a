package chem

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const noLimit = 1 << 20

// TestFormula checks hydrogens and formula of molecules whose formula everybody knows,
// and of the examples of the OpenSMILES specification.
func TestFormula(t *testing.T) {
	for _, c := range []struct{ smiles, formula string }{
		{"", ""}, {"C", "CH4"}, {"O", "H2O"}, {"N", "H3N"}, {"Cl", "ClH"}, {"[H][H]", "H2"}, {"[OH-]", "HO-"}, {"[Fe+2]", "Fe+2"},
		{"[Fe++]", "Fe+2"}, {"[O-]S(=O)(=O)[O-]", "O4S-2"}, {"C[N+](C)(C)C", "C4H12N+"}, {"[2H]O[2H]", "H2O"}, {"[13CH4]", "CH4"},
		{"c1ccccc1", "C6H6"}, {"C1=CC=CC=C1", "C6H6"}, {"c1ccccc1c1ccccc1", "C12H10"}, {"c1ccccc1-c1ccccc1", "C12H10"},
		{"c1ccc2ccccc2c1", "C10H8"}, {"c1cc[nH]c1", "C4H5N"}, {"c1ccncc1", "C5H5N"}, {"c1ccoc1", "C4H4O"}, {"c1ccsc1", "C4H4S"},
		{"Cn1cnc2c1c(=O)n(C)c(=O)n2C", "C8H10N4O2"}, {"[cH-]1cccc1", "C5H5-"}, {"[cH+]1cccccc1", "C7H7+"},
		{"F/C=C/F", "C2H2F2"}, {`F\C=C\F`, "C2H2F2"}, {"N[C@@H](C)C(=O)O", "C3H7NO2"}, {"C1CC1", "C3H6"}, {"C%12CC%12", "C3H6"},
		{"C%(123)CC%(123)", "C3H6"}, {"C1CCCCC1C1CCCCC1", "C12H22"}, {"C=1CCCCC=1", "C6H10"}, {"C=1CCCCC1", "C6H10"}, {"C1CCCCC=1", "C6H10"},
		{"[Na+].[Cl-]", "ClNa"}, {"C1.C1", "C2H6"}, {"OS(=O)(=O)O", "H2O4S"}, {"OP(=O)(O)O", "H3O4P"}, {"CS(C)=O", "C2H6OS"},
		{"C[N+](=O)[O-]", "CH3NO2"}, {"CN(=O)=O", "CH3NO2"}, {"FS(F)(F)(F)(F)F", "F6S"}, {"[Ga+]$[As-]", "AsGa"}, {"*C", "CH3*"},
		{"[NH4+]", "H4N+"}, {"[C@TH1H](F)(Cl)Br", "CHBrClF"}, {"[Co@OH12](F)(Cl)(Br)(I)(C)N", "CH5BrClCoFIN"}, {"[CH4:2]", "CH4"},
		{"[se]1cccc1", "C4H4Se"}, {"b1ccccc1", "C5H5B"}, {"CC(=O)Oc1ccccc1C(=O)O", "C9H8O4"}, {"C(C)(C)(C)C", "C5H12"}, {"C(.O)C", "C2H8O"},
		{"[c]1ccccc1", "C6H5"}, {"*1ccccc1", "C5H5*"}, {`c1cccnc\1O`, "C5H5NO"}, {"C:1:C:C:C:C:C:1", "C6H6"}, {"C/1CCCCC1", "C6H12"}, {"c1cc2cccc3ccc4cccc1c4c32", "C16H10"},
		{"O=c1[nH]cnc2[nH]cnc12", "C5H4N4O"}, {"C[n+]1ccccc1", "C6H8N+"}, {"[O-][n+]1ccccc1", "C5H5NO"}, {"c1cc[o+]cc1", "C5H5O+"},
	} {
		m, err := ParseSMILES(c.smiles, noLimit)
		if err != nil {
			t.Errorf("%s: %v", c.smiles, err)
			continue
		}
		if got := formula(m); got != c.formula {
			t.Errorf("%s: %s, want %s", c.smiles, got, c.formula)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		smiles string
		pos    int
		want   string
	}{
		{"C1CC", 2, "ring 1 is not closed"},
		{"C1CC2CC1", 5, "ring 2 is not closed"},
		{"C(C", 2, "branch is not closed"},
		{"C(C(C)", 2, "branch is not closed"},
		{"CC)C", 3, "branch is closed but was not opened"},
		{"C()C", 2, "empty branch"},
		{"(C)C", 1, "branch without an atom before it"},
		{"CXC", 2, `unknown element "X" outside brackets, want B C N O P S F Cl Br I or b c n o p s`},
		{"CNaC", 3, `unknown element "a" outside brackets, want B C N O P S F Cl Br I or b c n o p s`},
		{"C[Xx]C", 3, `unknown element "Xx"`},
		{"C[", 2, "bracket is not closed"},
		{"C[N", 2, "bracket is not closed"},
		{"C[NH3+", 2, "bracket is not closed"},
		{"C[]C", 3, `"]" in a bracket, want an element`},
		{"C]C", 2, "bracket is closed but was not opened"},
		{"[C+H]", 4, `"H" in a bracket, want isotope, element, chirality, hydrogens, charge and class in this order`},
		{"[C+16]", 3, "charge of more than 15"},
		{"[1234C]", 2, "isotope of more than 3 digits"},
		{"[CH4:]", 6, "atom class, want a number after the colon"},
		{"[HH]", 3, "a hydrogen atom has no hydrogen count"},
		{"[C@TH3](F)(F)(F)F", 3, "chirality @TH, want a number from 1 to 2 after it"},
		{"C==C", 3, "two bond symbols in a row"},
		{"=C", 1, "bond without an atom before it"},
		{"C=", 2, "bond without an atom after it"},
		{"C(=)C", 2, "empty branch"},
		{"C(C=)C", 4, "bond without an atom after it"},
		{"C=(C)C", 2, "bond symbol before a branch, want it inside the branch"},
		{"C=.C", 2, "bond without an atom after it"},
		{"C..C", 3, "dot without an atom before it"},
		{".C", 1, "dot without an atom before it"},
		{"C.", 2, "dot without an atom after it"},
		{"1CC1", 1, "ring closure without an atom before it"},
		{"C11", 3, "ring 1 opens and closes at the same atom"},
		{"C1C1", 4, "ring closes between atoms 1 and 2, which already have a bond"},
		{"C12CCC12", 8, "ring closes between atoms 1 and 4, which already have a bond"},
		{"C((C))C", 3, "branch without an atom before it"},
		{"C1CC(1C)", 6, "ring closure without an atom before it"},
		{"C/1CC=1", 7, "ring 1 opens with bond / and closes with bond ="},
		{"C=1CC#1", 7, "ring 1 opens with bond = and closes with bond #"},
		{"C%1C", 2, "ring closure %, want two digits after it"},
		{"C%(x)", 2, "ring closure %(…), want 1 to 6 digits in the parentheses"},
		{"C C", 2, `unexpected character " "`},
		{"Cé", 2, `unexpected character "é"`},
	} {
		_, err := ParseSMILES(c.smiles, noLimit)
		want := fmt.Sprintf("SMILES position %d: %s", c.pos, c.want)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", c.smiles, err, want)
		}
	}
	if _, err := ParseSMILES("CCCC", 3); err == nil || err.Error() != "SMILES position 4: more than 3 atoms" {
		t.Errorf("limit: %v", err)
	}
}

func TestAromaticErrors(t *testing.T) {
	for _, c := range []struct{ smiles, want string }{
		{"c1cccc1", "cannot have alternating"},
		{"n1cccc1", "cannot have alternating"},
		{"c1ccccc1c1cccc1", "cannot have alternating"},
		{"cc", "atom 1 (C) is aromatic but in no ring"},
		{"C:C", "bond between atoms 1 and 2 is aromatic but in no ring"},
	} {
		_, err := ParseSMILES(c.smiles, noLimit)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.smiles, err, c.want)
		}
	}
}

// TestMatching compares Edmonds' algorithm with exhaustive search on random graphs whose
// vertices must, may or must not be matched.
func TestMatching(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := 1 + rng.IntN(9)
		m := &Molecule{Atoms: make([]Atom, n)}
		for a := range int32(n) {
			for b := range a {
				if rng.IntN(3) == 0 {
					m.Bonds = append(m.Bonds, Bond{A: a, B: b, Order: Aromatic})
				}
			}
		}
		roles := make([]pi, n)
		for i := range roles {
			roles[i] = []pi{never, may, must, must, must}[rng.IntN(5)]
		}
		mate, bad := alternate(roles, m.Bonds)
		got := bad < 0
		if want := covers(m, roles, 0); got != want {
			t.Fatalf("bonds %v, roles %v: %v, want %v", m.Bonds, roles, got, want)
		}
		if !got {
			continue
		}
		for a, b := range mate {
			if b < 0 && roles[a] == must || b >= 0 && (mate[b] != int32(a) || roles[a] == never) {
				t.Fatalf("bonds %v, roles %v: mates %v", m.Bonds, roles, mate)
			}
		}
		// As many of those that may are matched as is possible: one more that must is too many.
		for i, b := range mate {
			if b < 0 && roles[i] == may {
				all := slices.Clone(roles)
				for j, c := range mate {
					if c >= 0 {
						all[j] = must
					}
				}
				if all[i] = must; covers(m, all, 0) {
					t.Fatalf("bonds %v, roles %v: mates %v leave out %d", m.Bonds, roles, mate, i)
				}
			}
		}
	}
}

// covers tells by exhaustion whether a matching covers all vertices that must be matched.
// used is the set of matched vertices.
func covers(m *Molecule, role []pi, used uint) bool {
	first := -1
	for i, r := range role {
		if r == must && used>>i&1 == 0 {
			first = i
			break
		}
	}
	if first < 0 {
		return true
	}
	for _, b := range m.Bonds {
		if int(b.A) != first && int(b.B) != first {
			continue
		}
		o := b.other(int32(first))
		if role[o] != never && used>>o&1 == 0 && covers(m, role, used|1<<first|1<<o) {
			return true
		}
	}
	return false
}

func FuzzParseSMILES(f *testing.F) {
	for _, s := range []string{"CC(=O)Oc1ccccc1C(=O)O", "[13C@@H+2:5](F)%12CC%12", "C1.C1", "c1cc2cccc3ccc4cccc1c4c32", "*1:*:*:1", "[se]1cccc1", "C/C=C\\C", "[Ga+]$[As-]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseSMILES(s, 10000)
		if err != nil {
			return
		}
		formula(m)
		if again, err := ParseSMILES(m.SMILES(), 10000); err != nil || !slices.Equal(again.Atoms, m.Atoms) || !slices.Equal(plain(again), plain(m)) {
			t.Fatalf("%q written as %q: %v", s, m.SMILES(), err)
		}
		if orders, err := m.Kekule(); err != nil || slices.Contains(orders, Aromatic) || len(m.Unpaired(orders)) != len(m.Atoms) {
			t.Fatalf("%q: orders %v, %v", s, orders, err)
		}
		for _, b := range m.Bonds {
			if b.A == b.B || int(b.A) >= len(m.Atoms) || int(b.B) >= len(m.Atoms) || b.A < 0 || b.B < 0 || b.Order < Single || b.Order > AnyOrder {
				t.Fatalf("%q: bond %v", s, b)
			}
		}
	})
}

// Labels of vertices are read as atoms.
func TestLabelled(t *testing.T) {
	for label, want := range map[string]Atom{
		"C": {Element: 6, Hydrogens: Unknown}, "c": {Element: 6, Hydrogens: Unknown, Aromatic: true}, "Cl": {Element: 17, Hydrogens: Unknown},
		"se": {Element: 34, Hydrogens: Unknown, Aromatic: true}, "N+": {Element: 7, Hydrogens: Unknown, Charge: 1}, "NH3+": {Element: 7, Hydrogens: 3, Charge: 1},
		"OH": {Element: 8, Hydrogens: 1}, "O-": {Element: 8, Hydrogens: Unknown, Charge: -1}, "Fe+2": {Element: 26, Hydrogens: Unknown, Charge: 2},
		"Ca++": {Element: 20, Hydrogens: Unknown, Charge: 2}, "H": {Element: 1, Hydrogens: Unknown}, "*": {Hydrogens: Unknown},
		"13CH3": {Element: 6, Isotope: 13, Hydrogens: 3},
	} {
		if got, ok := labelled(label); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", label, got, ok, want)
		}
	}
	for _, label := range []string{"", "0", "17", "Xx", "cl", "C4", "C+-", "carbon", "<script>", "é", "N+16", "C@", "C:1", "C]", "C][C"} {
		if got, ok := labelled(label); ok {
			t.Errorf("%q was read as %+v", label, got)
		}
	}
}

// TestHeterocycles checks the Kekulé structures of 500 aromatic heterocycles by facts that do not depend on
// the choice between equivalent ones: the valence of every atom and the number of double bonds.
func TestHeterocycles(t *testing.T) {
	text, err := os.ReadFile("testdata/heterocycles.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		word := strings.Fields(line)
		if word[0] == "#" {
			continue
		}
		n++
		m, err := ParseSMILES(word[0], noLimit)
		if err != nil {
			t.Error(err)
			continue
		}
		orders, err := m.Kekule()
		if err != nil {
			t.Errorf("%s: %v", word[0], err)
			continue
		}
		valence, doubles := make([]int, len(m.Atoms)), 0
		for i, a := range m.Atoms {
			valence[i] = a.Hydrogens
		}
		for i, b := range m.Bonds {
			valence[b.A] += int(orders[i])
			valence[b.B] += int(orders[i])
			if orders[i] == Double {
				doubles++
			}
		}
		if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(valence), " ", ""), "[]"); got != word[1] || strconv.Itoa(doubles) != word[2] {
			t.Errorf("%s: valences %s and %d double bonds, want %s and %s", word[0], got, doubles, word[1], word[2])
		}
		if slices.Max(m.Unpaired(orders)) > 0 {
			t.Errorf("%s: unpaired electrons %v", word[0], m.Unpaired(orders))
		}
	}
	if n != 500 {
		t.Errorf("%d heterocycles, want 500", n)
	}
}

// Two backslashes are one, as tables with escaped characters have it.
func TestEscapedBackslash(t *testing.T) {
	want, err := ParseSMILES(`F/C=C\F`, 100)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseSMILES(`F/C=C\\F`, 100)
	if err != nil || !reflect.DeepEqual(got.Bonds, want.Bonds) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := ParseSMILES(`F/C=C\\\F`, 100); err == nil {
		t.Error("three backslashes are read")
	}
}
