package chem

import (
	"slices"
	"testing"
)

func TestScaffold(t *testing.T) {
	for smiles, want := range map[string][]int{
		"CCO":                       {},
		"C":                         {},
		"C1CC1":                     {0, 1, 2},
		"CC1CC1":                    {1, 2, 3},
		"OCC1CC1CCC1CC1C":           {2, 3, 4, 5, 6, 7, 8, 9}, // with the way between the rings
		"CC1CC1=O":                  {1, 2, 3, 4},             // on a ring
		"CC1CC1=C(C)C":              {1, 2, 3, 4},             // and nothing behind it
		"C1CC1C(=O)CC":              {0, 1, 2},                // not on a side chain
		"C1CC1S(=O)(=O)NC1CC1":      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		"C1CC1C(C#N)C1CC1":          {0, 1, 2, 3, 6, 7, 8}, // a triple bond is no double one
		"C1CC1.CC":                  {0, 1, 2},
		"C1CC1.C1CC1":               {0, 1, 2, 3, 4, 5},
		"[H]C1CC1":                  {1, 2, 3},
		"c1ccccc1C(=NO)c1ccccc1":    {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14},
		"C1CC2CC1CC2CC(CC1CC1)(F)F": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
	} {
		m, err := ParseSMILES(smiles, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.scaffold(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", smiles, got, want)
		}
	}
}
