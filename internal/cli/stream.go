package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// streamFlags say where graphs for a model are. How atoms are labelled and edges weighted is
// as it was for the model.
type streamFlags struct {
	Format       string `help:"Format of DATA: tudataset, smiles, csv, tsv, sdf, jsonl, graphml, dot, edgelist." default:"auto"`
	SMILESColumn string `help:"Column of a table that has the SMILES." name:"smiles-column" placeholder:"NAME"`
	Target       string `help:"Column or data field that has the class or value." placeholder:"NAME"`
	ID           string `help:"Column or data field that has the identifier." name:"id" placeholder:"NAME"`
	SkipInvalid  bool   `help:"Leave out molecules that cannot be read, and count them."`
}

// Keys of model.Model.Reader.
const (
	keyHydrogens     = "hydrogens"
	keyAtomCharge    = "atom-charge"
	keyAtomAromatic  = "atom-aromatic"
	keyAtomHydrogens = "atom-hydrogens"
	keyEdgeWeight    = "edge-weight"
)

// keep returns what a model keeps of the flags.
func (f *dataFlags) keep() (map[string]string, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		keyHydrogens: string(o.Hydrogens), keyAtomCharge: strconv.FormatBool(o.AtomCharge), keyAtomAromatic: strconv.FormatBool(o.AtomAromatic),
		keyAtomHydrogens: strconv.FormatBool(o.AtomHydrogens), keyEdgeWeight: f.EdgeWeight,
	}, nil
}

// as returns the flags with which graphs are read as those of a model were.
func (f *streamFlags) as(m *model.Model) (*dataFlags, error) {
	d := &dataFlags{
		Format: f.Format, SMILESColumn: f.SMILESColumn, Target: f.Target, ID: f.ID, SkipInvalid: f.SkipInvalid,
		EdgeWeight: string(dataset.GivenWeight),
	}
	for key, value := range m.Reader {
		var err error
		switch key {
		case keyHydrogens:
			d.Hydrogens = dataset.Hydrogens(value) == dataset.HydrogensExplicit
		case keyAtomCharge:
			d.AtomCharge, err = strconv.ParseBool(value)
		case keyAtomAromatic:
			d.AtomAromatic, err = strconv.ParseBool(value)
		case keyAtomHydrogens:
			d.AtomH, err = strconv.ParseBool(value)
		case keyEdgeWeight:
			d.EdgeWeight = value
		}
		if err != nil {
			return nil, fmt.Errorf("the model says that its graphs were read with %s = %q, which is not known", key, value)
		}
	}
	return d, nil
}

// stream gives one graph of a dataset after the other.
type stream struct {
	reader *dataset.Reader
	weight dataset.EdgeWeight
}

// stream opens a dataset, "-" being standard input.
func (f *dataFlags) stream(path string) (*stream, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	w, err := dataset.ParseEdgeWeight(f.EdgeWeight)
	if err != nil {
		return nil, usageError(err.Error())
	}
	var r *dataset.Reader
	if path == "-" {
		r, err = dataset.NewReader(os.Stdin, "standard input", o)
	} else {
		r, err = dataset.Open(path, o)
	}
	if err != nil {
		return nil, err
	}
	return &stream{r, w}, nil
}

// next returns the next graph, and io.EOF after the last one.
func (s *stream) next() (*graph.Graph, error) {
	g, err := s.reader.Next()
	if err != nil {
		return nil, err
	}
	return s.weight.Apply(g)
}

// close ends the stream and prints what was wrong with its graphs.
func (s *stream) close(g *globals) {
	for _, w := range s.reader.Warnings() {
		g.note("%s: %s", s.reader.Name(), w)
	}
	s.reader.Close()
}

// queries returns the graphs that an argument names: those of a file or built-in collection,
// or the molecule of a SMILES.
func (f *dataFlags) queries(g *globals, arg string) ([]*graph.Graph, error) {
	s, err := f.stream(arg)
	if err != nil {
		if _, statErr := os.Stat(arg); statErr == nil || strings.HasPrefix(arg, "builtin:") {
			return nil, err
		}
		return f.molecule(arg)
	}
	defer s.close(g)
	var out []*graph.Graph
	for {
		x, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no graphs", arg)
	}
	return out, nil
}

// molecule returns the graph of a SMILES.
func (f *dataFlags) molecule(smiles string) ([]*graph.Graph, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	m, err := dataset.ParseSMILES(smiles, o)
	if err != nil {
		return nil, fmt.Errorf("%s: no such file, and not a SMILES: %w", smiles, err)
	}
	w, err := dataset.ParseEdgeWeight(f.EdgeWeight)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if m, err = w.Apply(m.With(smiles, "")); err != nil {
		return nil, err
	}
	return []*graph.Graph{m}, nil
}
