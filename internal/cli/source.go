package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/work"
)

// placeFlags say where graphs are in the data.
type placeFlags struct {
	Format    dataset.Format `help:"Format of the data: auto, tudataset, smiles, csv, tsv, parquet, sdf, jsonl, graphml, gml, gexf, pajek, nodelink, dot, edgelist." default:"auto" enum:"auto,tudataset,smiles,csv,tsv,parquet,sdf,jsonl,graphml,gml,gexf,pajek,nodelink,dot,edgelist" group:"Reading data"`
	Structure string         `help:"Column of a table with the SMILES, or several separated by commas, such as solute,solvent: rows are then compared by all of them." placeholder:"NAMES" group:"Reading data"`
	With      string         `help:"Columns of numbers and categories that rows are compared by too, such as temperature,assay. :number or :category behind a name says what it is." placeholder:"NAMES" group:"Reading data"`
	Target    []string       `help:"Column or data field with the class or value. train and evaluate take several, separated by commas or with the flag repeated, or all. With a model of several targets: which of them." placeholder:"NAME" sep:"none" group:"Reading data"`
	ID        string         `help:"Column or data field with the identifier." name:"id" placeholder:"NAME" group:"Reading data"`
	Strict    bool           `help:"Refuse data with a molecule that cannot be read, a row without a value, or parallel edges. Without this flag such rows are left out, and parallel edges joined." group:"Reading data"`
}

func (f *placeFlags) options() dataset.Options {
	o := dataset.DefaultOptions()
	o.Format, o.Structure, o.With, o.TargetColumn, o.IDColumn, o.Strict = f.Format, f.Structure, f.With, strings.Join(f.Target, ","), f.ID, f.Strict
	return o
}

// like returns how graphs for a model are read: as its training graphs were, from the places
// that the flags say.
func (f *placeFlags) like(m *model.Model) dataset.Options { return m.Like(f.options()) }

// dataFlags say how datasets are read.
type dataFlags struct {
	placeFlags
	Hydrogens      dataset.Hydrogens  `help:"Which hydrogens become vertices: written (those in the data), explicit (all), implicit (none)." default:"written" enum:"written,explicit,implicit" group:"Reading data"`
	Atoms          []string           `help:"What atoms are compared by besides the element: charge, aromatic, hydrogens (how many an atom has), separated by commas; or element for nothing else." default:"charge" enum:"element,charge,aromatic,hydrogens" placeholder:"WHAT" group:"Reading data"`
	Largest        bool               `help:"Keep only the largest fragment of molecules with several, such as salts." name:"largest-fragment" group:"Reading data"`
	Directed       bool               `help:"Edges of data that does not say what they are, such as edge lists, lead from the first vertex to the second." group:"Reading data"`
	EdgeWeight     dataset.EdgeWeight `help:"Edge weights: unit (all 1), weight (as in the file), order (bond order or edge label), distance (the file has distances, and edges lead to the nearest neighbours), or a key of the data of edges." default:"weight" placeholder:"KIND" choices:"unit,weight,order,distance" group:"Reading data"`
	NodeLabel      string             `help:"Key of the data of vertices that is their label, or none. By default label, element, symbol or type." placeholder:"KEY" group:"Reading data"`
	Attributes     string             `help:"Keys of the data of vertices that are their attributes, separated by commas, or none. By default all with numbers." placeholder:"KEYS" group:"Reading data"`
	EdgeLabel      string             `help:"Key of the data of edges that is their label, or none. By default label, order, bond or type." placeholder:"KEY" group:"Reading data"`
	EdgeAttributes string             `help:"Keys of the data of edges with numbers, separated by commas; columns of a TUDataset, from 1. Every edge becomes a vertex between its ends with these attributes." placeholder:"KEYS" group:"Reading data"`
	Clusters       bool               `help:"Every subgraph of a DOT file whose name begins with cluster is a graph, as gcc writes functions." group:"Reading data"`

	settled       bool   // NodeLabel is as data that have been read need it
	attributeKeys string // of these data
	emptyLabels   bool   // some of their graphs have no labels
	rows          *dataset.RowOptions
}

func (f *dataFlags) options() dataset.Options {
	o := f.placeFlags.options()
	o.LargestFragment, o.Directed = f.Largest, f.Directed
	o.Hydrogens, o.EdgeWeight = f.Hydrogens, f.EdgeWeight
	o.NodeLabel, o.Attributes, o.EdgeLabel, o.Clusters = f.NodeLabel, f.Attributes, f.EdgeLabel, f.Clusters
	o.EdgeAttributes, o.AttributeKeys, o.EmptyLabels, o.Rows = f.EdgeAttributes, f.attributeKeys, f.emptyLabels, f.rows
	o.AtomCharge, o.AtomAromatic = slices.Contains(f.Atoms, "charge"), slices.Contains(f.Atoms, "aromatic")
	o.AtomHydrogens = slices.Contains(f.Atoms, "hydrogens")
	return o
}

// compared says what a kernel compares in graphs that were read with these flags.
func (f *dataFlags) compared(k kernel.Kernel, graphs []*graph.Graph) string {
	sum, err := kernel.NewCollection(graphs).Sum(k)
	if err != nil {
		return err.Error() // fitting it says so too
	}
	m := model.Of(graphs, sum)
	m.ReadBy(f.options())
	return m.Compared()
}

// read reads a whole dataset and prints its warnings. If labels of the first one are names, they are no labels
// from then on.
func (f *dataFlags) read(g *globals, path string) (*dataset.Dataset, error) {
	ds, err := readData(g, path, f.options())
	if err == nil {
		f.settle(g, ds)
	}
	return ds, err
}

// settle decides whether the labels of datasets that are read together are names, and notes what other graphs
// need to be read alike.
func (f *dataFlags) settle(g *globals, sets ...*dataset.Dataset) {
	if o := f.options(); !f.settled && dataset.LabelsAreNames(o, sets...) {
		f.NodeLabel = dataset.WithoutLabels(o, sets...).NodeLabel
		g.note("%s: %s", sets[0].Name, withFlag(dataset.NamesWarning))
	}
	f.settled, f.attributeKeys, f.emptyLabels = true, sets[0].AttributeKeys, sets[0].Filled > 0
	if sets[0].Columns != nil {
		f.rows = sets[0].Columns.Roles.Row()
	}
}

func readData(g *globals, path string, o dataset.Options) (*dataset.Dataset, error) {
	if err := work.CheckMemory(fmt.Sprintf("the graphs of %s", path), float64(bytesOf(path))/2, 0,
		"mlg fit, transform and refine read them one after the other, with any number of graphs"); err != nil {
		return nil, err
	}
	g.bar.show("reading", 0, 0, "")
	ds, err := dataset.Read(g.ctx, path, o)
	g.bar.done()
	if err != nil {
		return nil, dataError(path, err)
	}
	if len(ds.Graphs) == 0 {
		return nil, noGraphs(path, ds.Skipped)
	}
	for _, w := range ds.Warnings {
		g.note("%s: %s", ds.Name, withFlag(w))
	}
	listLeftOut(g, ds.Skipped)
	return ds, nil
}

// bytesOf returns the size of a file, or of the files in a folder, and 0 where there is none. Graphs in memory take at least
// half of it, and mostly much more.
func bytesOf(path string) (n int64) {
	st, err := os.Stat(path)
	if err != nil || !st.IsDir() {
		return fileSize(path)
	}
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil { // reading it says what is wrong
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// withFlag adds to a warning the flag that helps.
func withFlag(warning string) string {
	if warning == dataset.DistancesWarning {
		return warning + ": use --edge-weight distance"
	}
	if strings.Contains(warning, " of edge data ") {
		return warning + "; --edge-label, --edge-weight or --edge-attributes takes it"
	}
	if strings.Contains(warning, "of edge attributes left out") {
		return warning + "; --edge-attributes 1,2 takes the first two"
	}
	if strings.Contains(warning, " of node data ") && strings.HasSuffix(warning, "no numbers") {
		return warning + "; --node-label takes it"
	}
	if strings.HasSuffix(warning, dataset.ClustersWarning) {
		return warning + "; --clusters makes a graph of each"
	}
	if strings.HasPrefix(warning, dataset.UnreadWarning) {
		return warning + "; --structure names all that rows are compared by"
	}
	if warning == dataset.NamesWarning {
		return warning + "; --node-label label compares them"
	}
	return warning
}

// noGraphs says that no graph could be read, and why not the first.
func noGraphs(path string, left dataset.LeftOut) error {
	if left.Count == 0 {
		return fmt.Errorf("%s: no graphs", path)
	}
	return fmt.Errorf("%s:%d: %s; no graph of the file can be read", path, left.First[0].Line, left.First[0].Reason)
}

// listLeftOut prints the first rows that were left out.
func listLeftOut(g *globals, left dataset.LeftOut) {
	const most = 10
	for i, x := range left.First {
		if i == most {
			break
		}
		g.note("  line %d: %s", x.Line, x.Reason)
	}
	if left.Count > most {
		g.note("  and %d more; mlg info --json lists the first hundred", left.Count-most)
	}
}

// openData opens a dataset to read one graph after the other; "-" is standard input.
func openData(path string, o dataset.Options) (*dataset.Reader, error) {
	if path == "-" {
		return dataset.NewReader(os.Stdin, "standard input", o)
	}
	r, err := dataset.Open(path, o)
	if err != nil {
		return nil, dataError(path, err)
	}
	return r, nil
}

// dataError explains why a path is not a dataset. If the path does not exist, it adds a command and
// similar names that may help.
func dataError(path string, err error) error {
	if kind := file.KindOf(path); kind != "" {
		return fmt.Errorf("%s is a %s file, want a dataset", path, kind)
	}
	if _, missing := os.Stat(path); missing == nil || strings.HasPrefix(path, "builtin:") {
		return err
	}
	entries, _ := os.ReadDir(filepath.Dir(path)) // no folder, no names
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if _, bad := dataset.CachePath("", path); bad == nil && !dataset.KnownName(path) {
		err = fmt.Errorf("%w; \"mlg fetch %s\" downloads a TUDataset collection", err, path)
	}
	return fmt.Errorf("%w%s", err, didYouMean(filepath.Base(path), names))
}

// closeData closes what openData has opened and prints what was wrong with its graphs.
func closeData(g *globals, r *dataset.Reader) {
	for _, w := range r.Warnings() {
		g.note("%s: %s", r.Name(), w)
	}
	listLeftOut(g, r.Skipped())
	r.Close()
}

// each gives the graphs of a dataset and closes it.
func each(g *globals, r *dataset.Reader) iter.Seq2[*graph.Graph, error] {
	return func(yield func(*graph.Graph, error) bool) {
		defer closeData(g, r)
		for {
			x, err := r.Try()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = g.ctx.Err()
			}
			if x == nil && err == nil {
				continue
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// blocks gives graphs some at a time: at most a number of them, until they have a number of vertices. size returns that of one.
func blocks[T any](graphs iter.Seq2[T, error], most, vertices int, size func(T) int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var block []T
		n := 0
		for x, err := range graphs {
			if err != nil {
				yield(nil, err)
				return
			}
			block = append(block, x)
			if n += size(x); len(block) < most && n < vertices {
				continue
			}
			if !yield(block, nil) {
				return
			}
			block, n = nil, 0
		}
		if len(block) > 0 {
			yield(block, nil)
		}
	}
}

// ahead gives f of each value, in order. With two, f of one value is computed beside that of the value
// before it, while the next is read. The context of f ends when nobody wants more.
func ahead[A, B any](ctx context.Context, two bool, in iter.Seq2[A, error], f func(ctx context.Context, a A) B) iter.Seq2[B, error] {
	type result struct {
		b   B
		err error
	}
	return func(yield func(B, error) bool) {
		wanted := ctx
		ctx, cancel := context.WithCancel(wanted)
		queue := make(chan chan result, 1)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() {
			defer close(queue)
			for a, err := range in {
				one := make(chan result, 1)
				if ctx.Err() != nil {
					return
				}
				select {
				case queue <- one:
				case <-ctx.Done():
					return
				}
				switch {
				case err != nil:
					one <- result{err: err}
					return
				case two:
					all.Go(func() { one <- result{b: f(ctx, a)} })
				default:
					one <- result{b: f(ctx, a)}
				}
			}
		})
		for one := range queue {
			if r := <-one; !yield(r.b, r.err) || r.err != nil {
				return
			}
		}
		if err := wanted.Err(); err != nil { // some values may be missing
			var none B
			yield(none, err)
		}
	}
}

// readGraphs returns the graphs of readAny.
func readGraphs(g *globals, arg string, o dataset.Options) ([]*graph.Graph, error) {
	d, err := readAny(g, arg, o)
	if err != nil {
		return nil, err
	}
	return d.Graphs, nil
}

// readAny returns what an argument names: a dataset, or the molecule of a SMILES.
func readAny(g *globals, arg string, o dataset.Options) (*dataset.Dataset, error) {
	d, err := readData(g, arg, o)
	if err == nil {
		return d, nil
	}
	if _, statErr := os.Stat(arg); statErr == nil || strings.HasPrefix(arg, "builtin:") || dataset.KnownName(arg) {
		return nil, err
	}
	m, err := dataset.ParseSMILES(arg, o)
	if err != nil {
		return nil, fmt.Errorf("%s: no such file, and not a SMILES: %w", arg, err)
	}
	return &dataset.Dataset{Name: arg, Graphs: []*graph.Graph{m.With(arg, "")}}, nil
}

// position returns that of the graph with an identifier or a number, counted from 1.
func position(ids []string, from, which string) (int, error) {
	if i := slices.Index(ids, which); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(ids) {
		return n - 1, nil
	}
	return 0, fmt.Errorf("%s has no graph %q: want an identifier, or a number from 1 to %d", from, which, len(ids))
}

// graphName returns the identifier of graph i of a list, or its number.
func graphName(x *graph.Graph, i int) string { return cmp.Or(x.ID(), strconv.Itoa(i+1)) }

// readModel reads a model file.
func readModel(path string) (*model.Model, error) {
	m, err := model.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such model file; \"mlg train DATA -o %s\" makes one", path, path)
	}
	return m, err
}

// endpoints returns the model with the endpoints that --target names, all of them without it. Where the model has only
// one, --target names the column of new data that has its values.
func (f *placeFlags) endpoints(m *model.Model) (*model.Model, error) {
	if len(m.Endpoints()) == 1 || len(f.Target) == 0 {
		return m, nil
	}
	var names []string
	for _, t := range f.Target {
		if _, err := m.Endpoint(t); err == nil { // it may have a comma
			names = append(names, t)
		} else {
			names = append(names, strings.Split(t, ",")...)
		}
	}
	f.Target = nil // new data need not have them
	out, err := m.Only(names...)
	if err != nil {
		return nil, usageError("--target: " + err.Error())
	}
	return out, nil
}

// endpoint returns the one endpoint of a model, which --target names where there are several.
func (f *placeFlags) endpoint(path string, m *model.Model) (*model.Model, error) {
	m, err := f.endpoints(m)
	if err != nil {
		return nil, err
	}
	if n := len(m.Endpoints()); n > 1 {
		return nil, usageError(fmt.Sprintf("%s has %d targets: %s; --target names one of them", path, n, strings.Join(targetsOf(m), ", ")))
	}
	return m, nil
}

// targetsOf returns the names of a model's endpoints.
func targetsOf(m *model.Model) (out []string) {
	for _, e := range m.Endpoints() {
		out = append(out, e.Target)
	}
	return out
}

// sourceFlags are those of commands that take a dataset with a kernel, and some also a model file
// or a store.
type sourceFlags struct {
	dataFlags
	kernelFlag
}

// source is a kernel that is fitted to graphs.
type source struct {
	*model.Model
	store *store.Store // nil unless it is one, which has other graphs than its model
	name  string
	read  dataset.Options // how other graphs are read
}

// open opens a model file or a store, or fits the kernel of the flags to a dataset. check sees the number of graphs before.
func (f *sourceFlags) open(g *globals, path string, check func(n int) error) (*source, error) {
	kind := file.KindOf(path)
	if kind == model.Kind || kind == store.Kind {
		if err := f.refuse(kind); err != nil {
			return nil, err
		}
	}
	switch kind {
	case store.Kind:
		s, err := store.Open(path)
		if err != nil {
			return nil, err
		}
		return &source{s.Model(), s, path, f.like(s.Model())}, nil
	case model.Kind:
		m, err := readModel(path)
		if err != nil {
			return nil, err
		}
		return &source{m, nil, path, f.like(m)}, check(m.Examples())
	}
	ds, err := f.dataFlags.read(g, path)
	if err == nil {
		err = check(len(ds.Graphs))
	}
	if err != nil {
		return nil, err
	}
	o := f.options()
	o.Format = dataset.Auto // that of a query may be another
	m, err := f.fit(g, ds.Graphs)
	if err != nil {
		return nil, err
	}
	m.ReadBy(o)
	return &source{m, nil, ds.Name, o.Like(&o)}, nil
}

// anyNumber is the check of work that takes little memory.
func anyNumber(int) error { return nil }

// close releases a store.
func (s *source) close() {
	if s.store != nil {
		s.store.Close()
	}
}
