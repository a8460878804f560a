package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/fetch"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// placeFlags say where graphs are in the data.
type placeFlags struct {
	Format       dataset.Format `help:"Format of the data: auto, tudataset, smiles, csv, tsv, sdf, jsonl, graphml, dot, edgelist." default:"auto" enum:"auto,tudataset,smiles,csv,tsv,sdf,jsonl,graphml,dot,edgelist" group:"Reading data"`
	SMILESColumn string         `help:"Column of a table that has the SMILES." name:"smiles-column" placeholder:"NAME" group:"Reading data"`
	Target       string         `help:"Column or data field that has the class or value." placeholder:"NAME" group:"Reading data"`
	ID           string         `help:"Column or data field that has the identifier." name:"id" placeholder:"NAME" group:"Reading data"`
	SkipInvalid  bool           `help:"Leave out molecules that cannot be read, and count them." group:"Reading data"`
}

func (f *placeFlags) options() dataset.Options {
	o := dataset.DefaultOptions()
	o.Format, o.SMILESColumn, o.TargetColumn, o.IDColumn, o.SkipInvalid = f.Format, f.SMILESColumn, f.Target, f.ID, f.SkipInvalid
	return o
}

// like returns how graphs for a model are read: as its training graphs were, from the places
// that the flags say.
func (f *placeFlags) like(m *model.Model) dataset.Options { return f.options().Like(m.Reader) }

// dataFlags say how datasets are read.
type dataFlags struct {
	placeFlags
	Hydrogens    dataset.Hydrogens  `help:"Hydrogens of molecules that become vertices: written (as in the data), explicit (all), implicit (none)." default:"written" enum:"written,explicit,implicit" group:"Reading data"`
	AtomCharge   bool               `help:"Charges are part of atom labels." group:"Reading data"`
	AtomAromatic bool               `help:"Aromaticity is part of atom labels." group:"Reading data"`
	AtomH        bool               `help:"Numbers of hydrogens are part of atom labels." name:"atom-hydrogens" group:"Reading data"`
	EdgeWeight   dataset.EdgeWeight `help:"Edge weights: unit, weight (as in the file), order (bond order or edge label)." default:"weight" enum:"unit,weight,order" group:"Reading data"`
}

func (f *dataFlags) options() dataset.Options {
	o := f.placeFlags.options()
	o.Hydrogens, o.AtomCharge, o.AtomAromatic, o.AtomHydrogens, o.EdgeWeight = f.Hydrogens, f.AtomCharge, f.AtomAromatic, f.AtomH, f.EdgeWeight
	return o
}

// read reads a dataset and prints its warnings.
func (f *dataFlags) read(g *globals, path string) (*dataset.Dataset, error) {
	return readData(g, path, f.options())
}

// readData reads a whole dataset and prints its warnings.
func readData(g *globals, path string, o dataset.Options) (*dataset.Dataset, error) {
	ds, err := dataset.Read(g.ctx, path, o)
	if err != nil {
		return nil, nearFile(path, err)
	}
	for _, w := range ds.Warnings {
		g.note("%s: %s", ds.Name, w)
	}
	if len(ds.Graphs) == 0 {
		return nil, fmt.Errorf("%s: no graphs", path)
	}
	return ds, nil
}

// openData opens a dataset, "-" being standard input, to get one graph after the other.
func openData(path string, o dataset.Options) (*dataset.Reader, error) {
	if path == "-" {
		return dataset.NewReader(os.Stdin, "standard input", o)
	}
	return dataset.Open(path, o)
}

// closeData closes what openData has opened and prints what was wrong with its graphs.
func closeData(g *globals, r *dataset.Reader) {
	for _, w := range r.Warnings() {
		g.note("%s: %s", r.Name(), w)
	}
	r.Close()
}

// readGraphs returns what an argument names: the graphs of a dataset, or the molecule of a
// SMILES.
func readGraphs(g *globals, arg string, o dataset.Options) ([]*graph.Graph, error) {
	d, err := readData(g, arg, o)
	if err == nil {
		return d.Graphs, nil
	}
	if _, statErr := os.Stat(arg); statErr == nil || strings.HasPrefix(arg, "builtin:") {
		return nil, err
	}
	m, err := dataset.ParseSMILES(arg, o)
	if err != nil {
		return nil, fmt.Errorf("%s: no such file, and not a SMILES: %w", arg, err)
	}
	return []*graph.Graph{m.With(arg, "")}, nil
}

// readGraph returns the graph that an argument names: a SMILES, a file with one graph, or,
// with an identifier or 1-based number, that one of its graphs.
func readGraph(g *globals, arg, which string, o dataset.Options) (*graph.Graph, error) {
	list, err := readGraphs(g, arg, o)
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

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(b))
	return err
}

type infoCmd struct {
	dataFlags
	Data []string `arg:"" help:"Datasets: paths, or builtin:drugs, builtin:scales."`
}

// Run prints what is in the datasets.
func (c *infoCmd) Run(g *globals) error {
	for i, path := range c.Data {
		ds, err := dataset.Read(g.ctx, path, c.options())
		if err != nil {
			return nearFile(path, err)
		}
		s := dataset.Info(ds)
		if g.JSON {
			if err := printJSON(g.stdout, s); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		if _, err := io.WriteString(g.stdout, describeData(s)); err != nil {
			return err
		}
	}
	return nil
}

// describeData returns a summary as lines of at most 80 columns.
func describeData(s dataset.Summary) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, breakLines(fmt.Sprintf(format, args...), 12, 12))
	}
	orNone := func(name string, n int, format string, args ...any) {
		if n == 0 {
			format, args = "none", nil
		}
		row(name, format, args...)
	}
	row("dataset", "%s", s.Name)
	empty := ""
	if s.Empty > 0 {
		empty = fmt.Sprintf(", %d without vertices", s.Empty)
	}
	row("graphs", "%d, %d of them connected%s", s.Graphs, s.Connected, empty)
	row("vertices", "%d in all, %.2f on average, at most %d; %d isolated", s.Vertices, s.MeanVertices, s.MaxVertices, s.Isolated)
	row("edges", "%d in all, %.2f on average, at most %d", s.Edges, s.MeanEdges, s.MaxEdges)
	row("degree", "%.2f on average, at most %d", s.MeanDegree, s.MaxDegree)
	switch {
	case s.TargetRange != nil:
		row("targets", "values from %g to %g", s.TargetRange[0], s.TargetRange[1])
	case s.Classes > 0:
		row("classes", "%d: %s", s.Classes, tally(s.ClassCounts))
	default:
		row("targets", "none")
	}
	if s.Targets > 0 && s.Targets < s.Graphs {
		row("", "%d graphs have no target", s.Graphs-s.Targets)
	}
	orNone("node labels", s.NodeLabels, "%d: %s", s.NodeLabels, tally(s.LabelCounts))
	orNone("attributes", s.Attributes, "%d per vertex", s.Attributes)
	orNone("edge labels", s.EdgeLabels, "%d", s.EdgeLabels)
	row("weights", "%s", map[bool]string{true: "given", false: "all 1"}[s.Weighted])
	name := "warnings"
	for _, w := range s.Warnings {
		row(name, "%s", w)
		name = ""
	}
	return b.String()
}

// tally lists up to 20 keys with their counts, the most frequent first.
func tally(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	var out []string
	for i, k := range keys {
		if i == 20 {
			out = append(out, "…")
			break
		}
		if k == "" {
			k = `""`
		}
		out = append(out, fmt.Sprintf("%s (%d)", k, counts[k]))
	}
	return strings.Join(out, ", ")
}

type convertCmd struct {
	dataFlags
	Data string         `arg:"" help:"Dataset to read."`
	Out  string         `arg:"" help:"File or folder to write: .jsonl, .graphml, or a folder for a TUDataset."`
	To   dataset.Format `help:"Format to write: jsonl, graphml, tudataset; auto goes by the name of OUT." default:"auto" enum:"auto,jsonl,graphml,tudataset"`
}

// Run converts a dataset.
func (c *convertCmd) Run(g *globals) error {
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	if err := g.write(c.Out, func() error { return dataset.WriteDataset(g.ctx, c.Out, ds, c.To) }); err != nil {
		return err
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"graphs": len(ds.Graphs), "file": c.Out, "warnings": ds.Warnings})
	}
	g.note("wrote %d graphs to %s", len(ds.Graphs), c.Out)
	return nil
}

// texts returns warnings as they are printed.
type fetchCmd struct {
	Names []string `arg:"" help:"Names of collections, such as MUTAG."`
	Force bool     `help:"Download again what is in the cache."`
	URL   string   `help:"Folder of the zip files." name:"url" placeholder:"URL"`
}

// Run downloads collections.
func (c *fetchCmd) Run(g *globals) error {
	o, err := fetch.DefaultOptions()
	if err != nil {
		return err
	}
	o.Force = c.Force
	if c.URL != "" {
		o.BaseURL = c.URL
	}
	type fetched struct {
		Name string `json:"name"`
		File string `json:"file"`
	}
	var all []fetched
	for _, name := range c.Names {
		bar := newBar(g)
		o.Progress = func(done, total int64) { bar.show("download "+name, done, total, "B") }
		path, err := fetch.Collection(g.ctx, name, o)
		bar.done()
		if err != nil {
			return err
		}
		all = append(all, fetched{name, path})
		if !g.JSON {
			fmt.Fprintln(g.stdout, path)
		}
	}
	if g.JSON {
		return printJSON(g.stdout, all)
	}
	return nil
}
