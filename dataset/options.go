package dataset

import (
	"fmt"
	"strings"
)

// Format is a file format.
type Format string

// The formats. Auto recognises the format by the name and the first bytes of a file.
const (
	Auto      Format = "auto"
	TUDataset Format = "tudataset" // folder or zip of the TUDataset collection
	SMILES    Format = "smiles"    // one SMILES and a name a line
	CSV       Format = "csv"       // table with a SMILES column
	TSV       Format = "tsv"       // the same, separated by tabs
	SDF       Format = "sdf"       // SDF and MOL files, V2000 and V3000
	JSONLines Format = "jsonl"     // Graph JSON Lines
	GraphML   Format = "graphml"
	DOT       Format = "dot"
	EdgeList  Format = "edgelist"
)

// Formats lists the formats by name, without Auto.
func Formats() []Format {
	return []Format{TUDataset, SMILES, CSV, TSV, SDF, JSONLines, GraphML, DOT, EdgeList}
}

// Hydrogens says which hydrogen atoms of a molecule become vertices.
type Hydrogens string

// The treatments of hydrogen atoms.
const (
	HydrogensAsWritten Hydrogens = "written"  // those that the input has as atoms
	HydrogensExplicit  Hydrogens = "explicit" // all
	HydrogensImplicit  Hydrogens = "implicit" // none but those that carry information: isotopes, ions, H2, bridges
)

// Limits bound what hostile or broken input can cost. All must be positive.
type Limits struct {
	Line     int   // bytes of a line
	Record   int   // bytes of a record: a molecule with its data, a table row, a GraphML or DOT graph
	Bytes    int64 // bytes of a TUDataset or an edge list after decompression, all files together
	Ratio    int   // bytes after decompression for one before, once more than 64 MiB came out
	Vertices int   // vertices of one graph
	Edges    int   // edges of one graph in GraphML, DOT and edge lists
	Items    int64 // graphs, vertices and edges that Read keeps in all; lines of a file of a TUDataset
}

// Options say how to read. Start from DefaultOptions.
type Options struct {
	Format Format

	// Columns of a table, data fields of an SDF, found without regard to case. Empty: the
	// first of a few usual names that exists (docs/formats.md). For a TUDataset,
	// TargetColumn may be the 1-based number of a column of graph_attributes; for GraphML
	// and DOT it names the graph attribute.
	SMILESColumn string
	TargetColumn string
	IDColumn     string

	// Names of the vertex data that is the label, and of the edge data that is the label
	// and the weight, in GraphML and DOT. Empty: the first usual name that exists.
	NodeLabelKey  string
	EdgeLabelKey  string
	EdgeWeightKey string

	// What the vertex label of an atom says besides the element.
	AtomCharge    bool // "N+", "O-"
	AtomAromatic  bool // lower case when aromatic: "c", "n"
	AtomHydrogens bool // number of hydrogens: "CH3", "OH"

	Hydrogens Hydrogens

	// Strict makes atoms with an impossible valence an error.
	Strict bool
	// SkipInvalid leaves out molecules that cannot be read, and counts them in a warning.
	SkipInvalid bool

	Limits Limits
}

// DefaultOptions returns the options to start from: the format is recognised, labels are
// elements, hydrogens stay as written.
func DefaultOptions() Options {
	return Options{
		Format:    Auto,
		Hydrogens: HydrogensAsWritten,
		Limits: Limits{
			Line:     64 << 20,
			Record:   256 << 20,
			Bytes:    1 << 30,
			Ratio:    200,
			Vertices: 10_000_000,
			Edges:    10_000_000,
			Items:    200_000_000,
		},
	}
}

// Validate returns an error that names the first field that is wrong.
func (o Options) Validate() error {
	if o.Format != Auto {
		if _, err := ParseFormat(string(o.Format)); err != nil {
			return fmt.Errorf("Options.Format: %w", err)
		}
	}
	switch o.Hydrogens {
	case HydrogensAsWritten, HydrogensExplicit, HydrogensImplicit:
	default:
		return fmt.Errorf("Options.Hydrogens: %q, want written, explicit or implicit", o.Hydrogens)
	}
	for _, l := range []struct {
		name  string
		value int64
	}{
		{"Line", int64(o.Limits.Line)}, {"Record", int64(o.Limits.Record)}, {"Bytes", o.Limits.Bytes},
		{"Ratio", int64(o.Limits.Ratio)}, {"Vertices", int64(o.Limits.Vertices)},
		{"Edges", int64(o.Limits.Edges)}, {"Items", o.Limits.Items},
	} {
		if l.value <= 0 {
			return fmt.Errorf("Options.Limits.%s: %d, want a positive number", l.name, l.value)
		}
	}
	return nil
}

// ParseFormat returns the format of the given name.
func ParseFormat(name string) (Format, error) {
	f := Format(strings.ToLower(name))
	all := []string{string(Auto)}
	if f == Auto {
		return f, nil
	}
	for _, k := range Formats() {
		if f == k {
			return f, nil
		}
		all = append(all, string(k))
	}
	return "", fmt.Errorf("unknown format %q, want one of %s", name, strings.Join(all, ", "))
}
