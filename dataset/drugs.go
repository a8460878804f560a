package dataset

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
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
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	d := &Dataset{Name: "drugs"}
	for _, x := range DrugList() {
		g, err := fromSMILES(x.SMILES, x.Name, x.Class, opts)
		if err != nil {
			return nil, fmt.Errorf("built-in drug %s: %w", x.Name, err)
		}
		d.Graphs = append(d.Graphs, g)
	}
	return d, nil
}

// listReader gives graphs that are in memory already.
func listReader(d *Dataset) *Reader {
	rest := slices.Clone(d.Graphs)
	return &Reader{name: d.Name, warn: &warnings{}, next: func() (*graph.Graph, error) {
		return pop(&rest)
	}}
}

const builtinPrefix = "builtin:"

// The graphs of "builtin:scales".
const (
	scalesGraphs = 200
	scalesSeed   = 1
)

// Builtins returns the names of the built-in collections, as Read takes them.
func Builtins() []string { return []string{builtinPrefix + "drugs", builtinPrefix + "scales"} }

func openBuiltin(name string, opts Options) (*Reader, error) {
	switch name {
	case "drugs":
		d, err := Drugs(opts)
		if err != nil {
			return nil, err
		}
		return listReader(d), nil
	case "scales":
		return listReader(Scales(scalesGraphs, scalesSeed)), nil
	}
	return nil, fmt.Errorf("no built-in collection %q, want one of %s", name, strings.Join(Builtins(), ", "))
}
