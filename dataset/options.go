package dataset

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/param"
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
	Parquet   Format = "parquet"   // the same as columns
	SDF       Format = "sdf"       // SDF and MOL files, V2000 and V3000
	JSONLines Format = "jsonl"     // Graph JSON Lines
	GraphML   Format = "graphml"
	GML       Format = "gml"
	GEXF      Format = "gexf"
	Pajek     Format = "pajek"
	NodeLink  Format = "nodelink" // JSON as NetworkX and D3 have it
	DOT       Format = "dot"
	EdgeList  Format = "edgelist"
)

// Formats lists the formats by name, without Auto.
func Formats() []Format {
	return []Format{TUDataset, SMILES, CSV, TSV, Parquet, SDF, JSONLines, GraphML, GML, GEXF, Pajek, NodeLink, DOT, EdgeList}
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
	Record   int   // bytes of a record: a molecule with its data, a table row, a network
	Bytes    int64 // bytes of a TUDataset or an edge list after decompression, all files together
	Ratio    int   // bytes after decompression for one before, once more than 64 MiB came out
	Vertices int   // vertices of one graph
	Edges    int   // edges of one network or edge list
	Items    int64 // graphs, vertices and edges that Read keeps in all; lines and values of a file of a TUDataset
}

// Options say how graphs are read. Start from DefaultOptions. Models keep them as JSON. So new
// graphs are read like the training data; see Like. In JSON a field that is absent has its default,
// and limits are left out: they belong to the process that reads.
type Options struct {
	Format Format `json:"format"` // default: auto

	// Columns of a table, data fields of an SDF, found without regard to case. Default: names
	// and values tell (docs/reference/tables.md). TargetColumn may name several with commas between them,
	// or be "all": graphs get the first as their target, and Dataset.Labelled takes another. For a TUDataset,
	// TargetColumn may be the 1-based number of a column of graph_attributes; for networks
	// it names the graph attribute. Structure may name several: graphs are then rows (graph.Row), with all of them.
	Structure    string `json:"structure,omitempty"`
	TargetColumn string `json:"target,omitempty"`
	IDColumn     string `json:"id,omitempty"`

	// With names columns of numbers and categories, with commas between them, which become parts of rows. ":number" or
	// ":category" behind a name says what it is; else its values do. Rows says what rows have; new data are read
	// with it (Roles.Row).
	With string      `json:"with,omitempty"`
	Rows *RowOptions `json:"rows,omitempty"`

	// Strict makes a molecule that cannot be read an error, and parallel edges. By default such molecules are
	// left out, parallel edges are joined, and warnings count both.
	Strict bool `json:"strict,omitempty"`

	// LargestFragment keeps of a molecule of several fragments, such as a salt, the largest alone.
	LargestFragment bool `json:"largest_fragment,omitempty"`

	// What the vertex label of an atom says besides the element. Default: its charge.
	AtomCharge    bool `json:"atom_charge"`              // "N+", "O-" (chem.Molecule.Charges)
	AtomAromatic  bool `json:"atom_aromatic,omitempty"`  // lower case when aromatic: "c", "n"
	AtomHydrogens bool `json:"atom_hydrogens,omitempty"` // number of hydrogens: "CH3", "OH"

	Hydrogens  Hydrogens  `json:"hydrogens"`   // default: written
	EdgeWeight EdgeWeight `json:"edge_weight"` // default: weight

	// What is what in networks, by the keys of their data, whose case does not count (docs/reference/formats.md).
	// "" goes by names and values, Nothing takes nothing. Attributes has keys with commas between them; in data
	// without keys, the numbers of attributes from 1. Clusters makes a graph of every subgraph of DOT whose name
	// begins with "cluster".
	NodeLabel  string `json:"node_label,omitempty"`
	Attributes string `json:"attributes,omitempty"`
	EdgeLabel  string `json:"edge_label,omitempty"`
	Clusters   bool   `json:"clusters,omitempty"`

	// EdgeAttributes has keys of edges whose values are numbers, with commas between them. Every edge becomes
	// a vertex between its ends, whose attributes they are. Distances double. "" leaves edges as they are.
	EdgeAttributes string `json:"edge_attributes,omitempty"`

	// Directed takes edges for arcs from the first end to the second where the data do not say what they
	// are: those of edge lists, and of Graph JSON Lines without the field "directed".
	Directed bool `json:"directed,omitempty"`

	Limits Limits `json:"-"`

	// AttributeKeys are the keys whose numbers became attributes because nobody chose any (Dataset.AttributeKeys). New data
	// that have them get these alone, so that one number more in another format changes nothing.
	AttributeKeys string `json:"attribute_keys,omitempty"`

	// EmptyLabels gives the vertices of graphs without labels the label "", as vertices without one have it in other graphs.
	// Read does it where other graphs of the collection have labels (Dataset.Filled).
	EmptyLabels bool `json:"empty_labels,omitempty"`

	like      string // the target of the data that these options are like, which counts where the new data have it
	inherited bool   // by Like: where data have none of the keys, what their format calls label, attributes or weight counts
}

// DefaultOptions returns the options to start from: the format is recognised, labels are
// elements and charges, hydrogens stay as written, and weights as given.
func DefaultOptions() Options {
	return Options{
		Format:     Auto,
		Hydrogens:  HydrogensAsWritten,
		EdgeWeight: GivenWeight,
		AtomCharge: true,
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

// Like returns o with what the options of other data say about vertices, labels and weights,
// so that graphs become like those. Where they are (Format and columns), Strict and Limits stay as in o; a column of the name of their
// target is the target, where o names none and a table has it. Nil, where nothing is known, changes nothing.
func (o Options) Like(other *Options) Options {
	if other != nil {
		o.AtomCharge, o.AtomAromatic, o.AtomHydrogens = other.AtomCharge, other.AtomAromatic, other.AtomHydrogens
		o.Hydrogens, o.EdgeWeight, o.LargestFragment = other.Hydrogens, other.EdgeWeight, other.LargestFragment
		o.Directed, o.Clusters = other.Directed, other.Clusters
		o.NodeLabel, o.Attributes, o.EdgeLabel, o.EdgeAttributes = other.NodeLabel, other.Attributes, other.EdgeLabel, other.EdgeAttributes
		o.AttributeKeys, o.EmptyLabels, o.Rows = other.AttributeKeys, other.EmptyLabels, other.Rows
		o.like, o.inherited = other.TargetColumn, true
	}
	return o
}

// Nothing is the key that takes no data.
const Nothing = "none"

// AtomFeatures names the features of an atom that are part of its label.
func (o Options) AtomFeatures() []string {
	out := []string{"element"}
	for _, f := range []struct {
		name string
		on   bool
	}{{"aromaticity", o.AtomAromatic}, {"hydrogens", o.AtomHydrogens}, {"charge", o.AtomCharge}} {
		if f.on {
			out = append(out, f.name)
		}
	}
	return out
}

// Validate returns an error that names the first field that is wrong.
func (o Options) Validate() error {
	if err := oneOf("Format", o.Format, append([]Format{Auto}, Formats()...)...); err != nil {
		return err
	}
	if err := oneOf("Hydrogens", o.Hydrogens, HydrogensAsWritten, HydrogensExplicit, HydrogensImplicit); err != nil {
		return err
	}
	if o.EdgeWeight == "" {
		return &param.Error{Of: "Options", Name: "EdgeWeight", Value: `""`, Want: "one of " + list(edgeWeights) + ", or a key of edges"}
	}
	for _, f := range []struct{ name, value string }{
		{"Structure", o.Structure}, {"With", o.With}, {"TargetColumn", o.TargetColumn}, {"IDColumn", o.IDColumn},
		{"NodeLabel", o.NodeLabel}, {"Attributes", o.Attributes}, {"EdgeLabel", o.EdgeLabel}, {"EdgeAttributes", o.EdgeAttributes}, {"AttributeKeys", o.AttributeKeys}, {"EdgeWeight", string(o.EdgeWeight)},
	} {
		if !utf8.ValidString(f.value) {
			return &param.Error{Of: "Options", Name: f.name, Value: strconv.Quote(f.value), Want: "valid UTF-8"}
		}
	}
	limits := reflect.ValueOf(o.Limits)
	for i := range limits.NumField() {
		if n := limits.Field(i).Int(); n <= 0 {
			return &param.Error{Of: "Options", Name: "Limits." + limits.Type().Field(i).Name, Value: strconv.FormatInt(n, 10), Want: "a positive number"}
		}
	}
	return nil
}

// oneOf returns an error unless a field has one of the values.
func oneOf[T ~string](field string, value T, want ...T) error {
	if slices.Contains(want, value) {
		return nil
	}
	return &param.Error{Of: "Options", Name: field, Value: param.Value(value), Want: "one of " + list(want)}
}

// list returns texts with commas between them.
func list[T ~string](texts []T) string {
	var out []string
	for _, t := range texts {
		out = append(out, string(t))
	}
	return strings.Join(out, ", ")
}
