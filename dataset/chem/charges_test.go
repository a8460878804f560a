package chem

import (
	"fmt"
	"testing"
)

// Charges of bound atoms that add up to 0 are none. All ways of writing a group give the same.
func TestCharges(t *testing.T) {
	for smiles, want := range map[string]string{
		"C[N+](=O)[O-]": "[0 0 0 0]", "CN(=O)=O": "[0 0 0 0]", // nitro
		"C[N+]1([O-])CCC1": "[0 0 0 0 0 0]", "[O-][n+]1ccccc1": "[0 0 0 0 0 0 0]", "O=n1ccccc1": "[0 0 0 0 0 0 0]", // N-oxides
		"CN=[N+]=[N-]": "[0 0 0 0]", "CN=N#N": "[0 0 0 0]", "C[N-][N+]#N": "[0 0 0 0]", // azide
		"C[S+]([O-])C": "[0 0 0 0]", "C[P+](C)(C)[CH2-]": "[0 0 0 0 0]",
		"C[NH3+]": "[0 1]", "CC(=O)[O-]": "[0 0 0 -1]", "[NH3+]CC(=O)[O-]": "[1 0 0 0 -1]", // ions, and a zwitterion
		"[O-][N+](=O)[O-]": "[-1 1 0 -1]", "[Na+].[Cl-]": "[1 -1]", "[Fe+3]": "[3]", "CC": "[0 0]",
		"[O-][N+](=O)CC[NH3+]": "[0 0 0 0 0 1]", "[O-][Cl+3]([O-])([O-])O": "[0 0 0 0 0]",
	} {
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Charges()); got != want {
			t.Errorf("%s: %s, want %s", smiles, got, want)
		}
	}
}
