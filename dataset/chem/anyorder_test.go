package chem

import (
	"strings"
	"testing"
)

// A bond of no order joins atoms and takes no valence. It is read and written in SMILES, and read in connection tables.
func TestAnyOrder(t *testing.T) {
	for smiles, want := range map[string]string{
		"CC(=O)O~CC(=O)O~[Pd]": "C4H8O4Pd", "C~O": "CH6O", "[Pd]~1~O~C1": "CH6OPd", "c1ccccc1~[Cr]": "C6H6Cr", "N~%11.C%11": "CH7N",
	} {
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Errorf("%s: %v", smiles, err)
			continue
		}
		if got := formula(m); got != want {
			t.Errorf("%s: %s, want %s", smiles, got, want)
		}
		again, err := ParseSMILES(m.SMILES(), noLimit)
		if err != nil || formula(again) != formula(m) || len(again.Bonds) != len(m.Bonds) {
			t.Errorf("%s is written as %s: %v", smiles, m.SMILES(), err)
		}
		for i, b := range again.Bonds {
			if b.Order != m.Bonds[i].Order {
				t.Errorf("%s is written as %s", smiles, m.SMILES())
			}
		}
	}
	for smiles, want := range map[string]string{"C~": "bond without an atom after it", "C~=C": "two bond symbols in a row", "~C": "bond without an atom before it", "C~1CC=1": "opens with bond ~ and closes with bond ="} {
		if _, err := ParseSMILES(smiles, noLimit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", smiles, err, want)
		}
	}
	m, _, err := ParseMol(strings.Split("x\n\n\n  2  1  0  0  0  0            999 V2000\n    1.0000    0.0000    0.0000 O   0  0\n"+
		"    0.0000    0.0000    0.0000 Pd  0  0\n  1  2  8\nM  END", "\n"), 10)
	if err != nil || m.SMILES() != "O~[Pd]" {
		t.Errorf("%v, %v", m, err)
	}
}
