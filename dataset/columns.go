package dataset

import "strings"

// Names of columns and data fields that are looked for, in this order, when the options
// name none.
var (
	smilesNames = []string{"smiles", "canonical_smiles", "isomeric_smiles", "smi", "structure"}
	targetNames = []string{"target", "class", "label", "activity", "active", "y", "outcome"}
	idNames     = []string{"id", "name", "title", "mol_id", "molecule_id", "compound_id", "identifier"}

	nodeLabelNames  = []string{"label", "element", "symbol", "type"}
	edgeLabelNames  = []string{"label", "order", "bond", "type"}
	edgeWeightNames = []string{"weight", "value"}
)

// wanted returns the names to look for: the given one, or else the usual ones.
func wanted(given string, usual []string) []string {
	if given != "" {
		return []string{given}
	}
	return usual
}

// findColumn returns the position of the first of the names among the columns, without
// regard to case and blanks around, or -1.
func findColumn(columns, names []string) int {
	for _, n := range names {
		for i, c := range columns {
			if strings.EqualFold(strings.Trim(strings.TrimSpace(c), `"`), n) {
				return i
			}
		}
	}
	return -1
}
