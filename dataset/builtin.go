package dataset

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
)

//go:embed builtin/drugs.csv
var drugsTable []byte

// Drug is an entry of the built-in collection.
type Drug struct {
	Name    string
	Class   string // the chemical class: "benzodiazepine", "steroid", …
	Formula string
	SMILES  string // without stereochemistry
}

// DrugList returns the built-in molecules: well-known drugs in chemical classes.
func DrugList() []Drug {
	rows, err := csv.NewReader(bytes.NewReader(drugsTable)).ReadAll()
	if err != nil {
		panic("dataset: built-in drugs: " + err.Error())
	}
	list := make([]Drug, 0, len(rows)-1)
	for _, r := range rows[1:] {
		list = append(list, Drug{r[0], r[1], r[2], r[3]})
	}
	return list
}

// Drugs returns the built-in molecules as graphs: the target is the class, the identifier
// the name. The options say how atoms are labelled and which hydrogens become vertices.
func Drugs(opts Options) (*Dataset, error) {
	return Read(context.Background(), builtinPrefix+"drugs", opts)
}

const builtinPrefix = "builtin:"

// Builtins returns the names of the built-in collections, as Read takes them.
func Builtins() []string { return []string{builtinPrefix + "drugs", builtinPrefix + "scales"} }

// The graphs of "builtin:scales".
const (
	scalesGraphs = 200
	scalesSeed   = 1
)

func openBuiltin(name string, opts Options) (*Reader, error) {
	switch name {
	case "drugs":
		opts.Format, opts.SMILESColumn, opts.TargetColumn, opts.IDColumn = CSV, "smiles", "class", "name"
		return NewReader(bytes.NewReader(drugsTable), "drugs.csv", opts)
	case "scales":
		return &Reader{name: name, warn: &warnings{}, next: each(Scales(scalesGraphs, scalesSeed).Graphs), weight: opts.EdgeWeight}, nil
	}
	return nil, fmt.Errorf("no built-in collection %q, want one of %s", name, list(Builtins()))
}
