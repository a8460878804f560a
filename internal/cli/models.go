package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// inputFlags say where graphs for a model are; how they are read is as in training.
type inputFlags struct {
	Format       string `help:"Format of the data: tudataset, smiles, csv, tsv, sdf, jsonl, graphml, dot, edgelist." default:"auto"`
	SMILESColumn string `help:"Column of a table that has the SMILES." name:"smiles-column" placeholder:"NAME"`
	Target       string `help:"Column or data field that has the true class or value." placeholder:"NAME"`
	ID           string `help:"Column or data field that has the identifier." name:"id" placeholder:"NAME"`
	SkipInvalid  bool   `help:"Leave out molecules that cannot be read, and count them."`
}

// input returns what of the flags applies to data whose labels and weights a model decides on.
func (f *dataFlags) input() inputFlags {
	return inputFlags{Format: f.Format, SMILESColumn: f.SMILESColumn, Target: f.Target, ID: f.ID, SkipInvalid: f.SkipInvalid}
}

// reading is how graphs get their labels and weights.
type reading struct {
	o      dataset.Options
	weight dataset.EdgeWeight
}

// Keys of model.Model.Reader.
const (
	readHydrogens     = "hydrogens"
	readAtomCharge    = "atom-charge"
	readAtomAromatic  = "atom-aromatic"
	readAtomHydrogens = "atom-hydrogens"
	readEdgeWeight    = "edge-weight"
)

// record returns what a model keeps of the flags.
func (f *dataFlags) record() (map[string]string, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		readHydrogens: string(o.Hydrogens), readAtomCharge: strconv.FormatBool(o.AtomCharge), readAtomAromatic: strconv.FormatBool(o.AtomAromatic),
		readAtomHydrogens: strconv.FormatBool(o.AtomHydrogens), readEdgeWeight: f.EdgeWeight,
	}, nil
}

// reading returns how graphs for a model are read: as its training graphs were, from the
// places that the flags say.
func (f *inputFlags) reading(m *model.Model) (reading, error) {
	places := dataFlags{Format: f.Format, SMILESColumn: f.SMILESColumn, Target: f.Target, ID: f.ID, SkipInvalid: f.SkipInvalid}
	o, err := places.options()
	if err != nil {
		return reading{}, err
	}
	r := reading{o, dataset.GivenWeight}
	for key, value := range m.Reader {
		var err error
		switch key {
		case readHydrogens:
			r.o.Hydrogens = dataset.Hydrogens(value)
		case readAtomCharge:
			r.o.AtomCharge, err = strconv.ParseBool(value)
		case readAtomAromatic:
			r.o.AtomAromatic, err = strconv.ParseBool(value)
		case readAtomHydrogens:
			r.o.AtomHydrogens, err = strconv.ParseBool(value)
		case readEdgeWeight:
			r.weight, err = dataset.ParseEdgeWeight(value)
		}
		if err != nil {
			return r, fmt.Errorf("the model says that its graphs were read with %s = %q, which is not known", key, value)
		}
	}
	if err := r.o.Validate(); err != nil {
		return r, fmt.Errorf("the model says how its graphs were read: %w", err)
	}
	return r, nil
}

// open opens a dataset, "-" being standard input, to get one graph after the other.
func (r reading) open(path string) (*dataset.Reader, error) {
	if path == "-" {
		return dataset.NewReader(os.Stdin, "standard input", r.o)
	}
	return dataset.Open(path, r.o)
}

// read reads a whole dataset.
func (r reading) read(g *globals, path string) (*dataset.Dataset, error) {
	d, err := dataset.Read(g.ctx, path, r.o)
	if err != nil {
		return nil, err
	}
	if len(d.Graphs) == 0 {
		return nil, fmt.Errorf("%s: no graphs", path)
	}
	return d.Reweight(r.weight)
}

// graphs returns what an argument names: the graphs of a file or built-in collection, or the
// molecule of a SMILES.
func (r reading) graphs(g *globals, arg string) ([]*graph.Graph, error) {
	d, err := r.read(g, arg)
	if err == nil {
		return d.Graphs, nil
	}
	if _, statErr := os.Stat(arg); statErr == nil || strings.HasPrefix(arg, "builtin:") {
		return nil, err
	}
	m, smilesErr := dataset.ParseSMILES(arg, r.o)
	if smilesErr != nil {
		return nil, fmt.Errorf("%s: no such file, and not a SMILES: %w", arg, smilesErr)
	}
	if m, err = r.weight.Apply(m.With(arg, "")); err != nil {
		return nil, err
	}
	return []*graph.Graph{m}, nil
}

// one returns the graph that an argument names: a SMILES, a file with one graph, or, with an
// identifier or 1-based number, that one of its graphs.
func (r reading) one(g *globals, arg, which string) (*graph.Graph, error) {
	list, err := r.graphs(g, arg)
	if err != nil {
		return nil, err
	}
	if which != "" {
		return pickGraph(list, arg, which)
	}
	if len(list) > 1 {
		g.note("%s has %d graphs; this is about the first, %s (--which takes another)", arg, len(list), graphName(list[0], 0))
	}
	return list[0], nil
}

// pickGraph returns the graph with an identifier or a 1-based number.
func pickGraph(list []*graph.Graph, from, which string) (*graph.Graph, error) {
	if i := slices.IndexFunc(list, func(g *graph.Graph) bool { return g.ID() == which }); i >= 0 {
		return list[i], nil
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(list) {
		return list[n-1], nil
	}
	return nil, fmt.Errorf("%s has no graph with the identifier %q, and it is no number from 1 to %d", from, which, len(list))
}

// graphName returns the identifier of graph i of a list, or its number.
func graphName(x *graph.Graph, i int) string {
	if x.ID() != "" {
		return x.ID()
	}
	return strconv.Itoa(i + 1)
}

// readModel reads a model file.
func readModel(g *globals, path string) (*model.Model, error) {
	m, err := model.Read(path, g.workers())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such model file; \"mlg train DATA -o %s\" makes one", path, path)
	}
	return m, err
}

// looksLikeModel reports whether a path is a file that begins like a model file.
func looksLikeModel(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head[1:]) == "MLG"
}

// output calls write with the file of the given name, which is there whole or not at all, or
// with standard output if it has none.
func output(g *globals, path string, write func(w io.Writer) error) error {
	if path != "" {
		return g.write(path, func() error { return dataset.WriteFile(g.ctx, path, write) })
	}
	b := bufio.NewWriter(g.stdout)
	if err := write(b); err != nil {
		b.Flush()
		return err
	}
	return b.Flush()
}

// given returns the flags on the command line that belong to a group of flags.
func given(k *kong.Context, groups ...string) []string {
	var out []string
	for _, p := range k.Path {
		if f := p.Flag; f != nil && f.Group != nil && slices.Contains(groups, f.Group.Key) {
			out = append(out, "--"+f.Name)
		}
	}
	return out
}

// clip shortens a text to a number of characters.
func clip(s string, n int) string {
	r := []rune(s)
	for i, c := range r {
		if c < ' ' || c == 0x7f { // a line end in an identifier must not break the table
			r[i] = '?'
		}
	}
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// fileSize returns the size of a file, 0 if it cannot be told.
func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
