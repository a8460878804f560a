package dataset

import (
	"bytes"
	_ "embed"
	"fmt"
)

//go:embed builtin/drugs.csv
var drugsTable []byte // name, class, formula, and SMILES without stereochemistry

const builtinPrefix = "builtin:"

// Builtins returns the names of the built-in collections, as Read takes them: well-known drugs, whose
// targets are their chemical classes, and the graphs of Scales.
func Builtins() []string { return []string{builtinPrefix + "drugs", builtinPrefix + "scales"} }

// The graphs of "builtin:scales".
const (
	scalesGraphs = 200
	scalesSeed   = 1
)

func openBuiltin(name string, opts Options) (*Reader, error) {
	switch name {
	case "drugs":
		opts.Format, opts.Structure, opts.TargetColumn, opts.IDColumn = CSV, "smiles", "class", "name"
		return NewReader(bytes.NewReader(drugsTable), "drugs.csv", opts)
	case "scales":
		next := each(Scales(scalesGraphs, scalesSeed).Graphs)
		return &Reader{name: name, warn: &warnings{}, next: next, weight: opts.EdgeWeight, in: &stream{opts: opts}}, nil
	}
	return nil, fmt.Errorf("no built-in collection %q, want one of %s", name, list(Builtins()))
}
