package chem

import (
	"strings"
	"testing"
)

// Crowded forms become the usual ones with charges; the strings are those of the molecule that is meant.
func TestSeparateCharges(t *testing.T) {
	for written, meant := range map[string]string{
		"CN(=O)=O":         "C[N+](=O)[O-]",
		"CN(C)(C)=O":       "C[N+](C)(C)[O-]",
		"C=N(C)=O":         "C=[N+](C)[O-]",
		"c1ccn(=O)cc1":     "c1cc[n+]([O-])cc1",
		"CN=N#N":           "CN=[N+]=[N-]",
		"O=Cl(=O)(=O)O":    "[O-][Cl+3]([O-])([O-])O",
		"O=Cl(=O)(=O)[O-]": "[O-][Cl+3]([O-])([O-])[O-]",
		"OBr=O":            "O[Br+][O-]",
	} {
		got, err := ParseSMILES(written, noLimit)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := ParseSMILES(meant, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		if formula(got) != formula(want) {
			t.Errorf("%s: %s, want %s", written, formula(got), formula(want))
		}
		count := func(m *Molecule) (charged, double int) {
			for _, a := range m.Atoms {
				if a.Charge != 0 {
					charged++
				}
			}
			for _, b := range m.Bonds {
				if b.Order == Double {
					double++
				}
			}
			return charged, double
		}
		c, d := count(got)
		if cw, dw := count(want); c != cw || d != dw {
			t.Errorf("%s: %d charges and %d double bonds, want %d and %d", written, c, d, cw, dw)
		}
	}
}

// Atoms with more bonds than they can have are refused, with a hint.
func TestValences(t *testing.T) {
	for smiles, want := range map[string]string{
		"CC(C)(C)(C)C":       "atom 2 (C) has a valence of 5, want at most 4",
		"CN(C)(C)C":          "atom 2 (N) has a valence of 4, want at most 3; with a charge, write [N+]",
		"C[N](C)(C)C":        "atom 2 (N) has a valence of 4, want at most 3; with a charge, write [N+]",
		"CO(C)C":             "atom 2 (O) has a valence of 3, want at most 2; with a charge, write [O+]",
		"B(C)(C)(C)C":        "atom 1 (B) has a valence of 4, want at most 3; with a charge, write [B-]",
		"CCl(C)C":            "atom 2 (Cl) has a valence of 3, want at most 1; write a counterion separately",
		"CN(=O)(=O)=O":       "atom 2 (N",
		"C[N+](=O)([O-])O":   "atom 2 (N+) has a valence of 5, want at most 4",
		"C[Si](C)(C)(C)C":    "atom 2 (Si) has a valence of 5, want at most 4",
		"CS(C)(C)(C)(C)(C)C": "atom 2 (S) has a valence of 7, want at most 6",
		"[H]O([H])[H]":       "atom 2 (O) has a valence of 3",
		"Cn1ccccc1":          "cannot have alternating single and double bonds",
		"c1cccn1":            "write [nH] for a nitrogen with a hydrogen",
	} {
		if _, err := ParseSMILES(smiles, noLimit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s", smiles, err, want)
		}
	}
	for _, smiles := range strings.Fields("FS(F)(F)(F)(F)F FP(F)(F)(F)F F[P-](F)(F)(F)(F)F CS(C)(=O)=O CP(=O)(O)O CI(=O)=O C[B-](C)(C)C C[Hg]C [Na]C " +
		"F[Si-2](F)(F)(F)(F)F C[O+](C)C [H+] [BH4-] C[S-](C)(C)(C)C O[As](=O)(O)O Cl[Pt](Cl)(Cl)(Cl)(Cl)Cl") {
		if _, err := ParseSMILES(smiles, noLimit); err != nil {
			t.Errorf("%s: %v", smiles, err)
		}
	}
}

// The largest fragment is the one with the most atoms other than hydrogen; a salt has ions or small inorganic parts beside it.
func TestFragments(t *testing.T) {
	for _, c := range []struct {
		smiles string
		parts  int
		atoms  int
		salt   bool
	}{
		{"CCO", 1, 3, false},
		{"[Na+].CC(=O)[O-]", 2, 4, true},
		{"CCN.Cl", 2, 3, true},
		{"CCCC.CCO", 2, 4, false},
		{"[H][H].[H]C([H])([H])[H]", 2, 5, true},
		{"OO.CC", 2, 2, true},
		{"C[NH3+].CC(=O)[O-].O", 3, 4, true},
	} {
		m, err := ParseSMILES(c.smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		if parts, largest := m.Fragments(), m.LargestFragment(); len(parts) != c.parts || len(largest.Atoms) != c.atoms || m.Salt() != c.salt {
			t.Errorf("%s: %d fragments, the largest of %d atoms, salt %v; want %d, %d, %v",
				c.smiles, len(parts), len(largest.Atoms), m.Salt(), c.parts, c.atoms, c.salt)
		}
	}
	m, err := ParseSMILES("Cl.N[C@@H](C)C(=O)O", noLimit)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.LargestFragment().SMILES(); !strings.Contains(got, "@") {
		t.Errorf("%s, want chirality", got)
	}
}
