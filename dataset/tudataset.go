package dataset

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

var tuKinds = []string{"A", "graph_indicator", "graph_labels", "graph_attributes",
	"node_labels", "node_attributes", "edge_labels", "edge_attributes",
	"node_label_names", "edge_label_names", "graph_label_names"}

// tu is a TUDataset: its files and what is in them.
type tu struct {
	fsys fs.FS
	set  string            // name of the dataset
	path map[string]string // by what the files hold, "A", "graph_labels", …

	graph       []int32    // of every vertex
	edges       [][2]int32 // lines of A
	vertex      labelling
	edge        labelling
	class       labelling
	attributes  table[float64]
	edgeNumbers table[float64]
	graphValues table[string]

	// What follows from the files, when they agree.
	weights  []float64 // of the lines of A, nil where all are 1
	targets  []string  // nil when there are none
	local    []int32   // number of every vertex in its graph
	vertices [][]int32 // by graph
	lines    [][]int32 // of A, by graph
}

// labelling are labels of vertices, edges or graphs, and the texts that they stand for when
// they are numbers from 0, an addition of ours to the format.
type labelling struct{ labels, names []string }

func (t *tu) has(kind string) bool { return t.path[kind] != "" }

// name returns the name of a file as in errors.
func (t *tu) name(kind string) string { return path.Base(t.path[kind]) }

var errNoTU = errors.New("no file …_A.txt, so it is not a TUDataset")

// findTU finds the files of a TUDataset in a file system: in its root, in one folder of
// it, or in a folder "raw".
func findTU(fsys fs.FS) (*tu, error) {
	var found []string
	for _, folder := range []string{".", "*", "raw", "*/raw"} {
		for _, end := range []string{"_A.txt", "_A.txt.gz"} {
			m, err := fs.Glob(fsys, path.Join(folder, "*"+end))
			if err != nil {
				return nil, err
			}
			for _, f := range m {
				// Archives made on a Mac hold a shadow "._X" of every file.
				if !slices.Contains(found, f) && !strings.HasPrefix(path.Base(f), ".") {
					found = append(found, f)
				}
			}
		}
	}
	switch {
	case len(found) == 0:
		return nil, errNoTU
	case len(found) > 1:
		return nil, fmt.Errorf("several datasets: %s and %s; want one", found[0], found[1])
	}
	prefix := strings.TrimSuffix(strings.TrimSuffix(found[0], ".gz"), "A.txt")
	t := &tu{fsys: fsys, set: strings.TrimSuffix(path.Base(prefix), "_"), path: map[string]string{}}
	for _, k := range tuKinds {
		for _, end := range []string{".txt.gz", ".txt"} {
			file := prefix + k + end
			st, err := fs.Stat(fsys, file)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, err
			case st.IsDir():
				return nil, fmt.Errorf("%s is a folder, want a file", file)
			default:
				t.path[k] = file
			}
		}
	}
	if !t.has("graph_indicator") {
		return nil, fmt.Errorf("no file %sgraph_indicator.txt", path.Base(prefix))
	}
	return t, nil
}

// checkZip returns an error if a name in a zip file of some size leads out of it, or if it
// states that too much is in it. Package zip lets no file become larger than it states.
func checkZip(z *zip.Reader, size int64, lim Limits) error {
	sum, packedSum := uint64(0), uint64(0)
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		full, packed := f.UncompressedSize64, min(f.CompressedSize64, uint64(size))
		sum, packedSum = sum+full, packedSum+packed
		switch {
		case !fs.ValidPath(name) || strings.ContainsAny(name, "\\:"):
			return fmt.Errorf("name %q points outside the zip file", f.Name)
		case full > uint64(lim.Bytes) || sum > uint64(lim.Bytes):
			return fmt.Errorf("more than %d bytes after decompression, which is the limit", lim.Bytes)
		case sum > ratioFloor && sum/uint64(lim.Ratio) > packedSum:
			return fmt.Errorf("%s: %w", f.Name, tooDense(int64(packedSum), int64(sum), lim))
		}
	}
	return nil
}

// openTU returns a reader that parses all files when the first graph is wanted.
func openTU(fsys fs.FS, path string, opts Options) (*Reader, error) {
	t, err := findTU(fsys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	opts.Format = TUDataset
	r := &Reader{name: t.set, warn: &warnings{}, weight: opts.EdgeWeight, in: &stream{opts: opts}}
	r.next = func() (*graph.Graph, error) {
		if err := t.parse(opts.Limits); err != nil {
			return nil, err
		}
		graphs, err := t.graphs(opts, r.warn)
		if err != nil {
			return nil, err
		}
		next, labels, columns := each(graphs), t.class.labels, t.graphValues
		at := -1
		r.next = func() (*graph.Graph, error) {
			at++
			g, err := next()
			if err == nil {
				r.in.tuFields(labels, columns, at)
			}
			return g, err
		}
		return r.next()
	}
	return r, nil
}

// tuFields tells the class and the attributes of a graph.
func (s *stream) tuFields(labels []string, columns table[string], at int) {
	f := Fields{SMILES: -1}
	if len(labels) > 0 {
		f.Names, f.Values = append(f.Names, "label"), append(f.Values, labels[at])
	}
	if columns.rows > 0 {
		for k, v := range columns.row(at) {
			f.Names, f.Values = append(f.Names, strconv.Itoa(k+1)), append(f.Values, v)
		}
	}
	s.beside = f
}

// parse reads all files, concurrently.
func (t *tu) parse(lim Limits) error {
	parse := map[string]func(*lines) error{
		"A":                func(l *lines) error { return scanLines(l, &t.edges, pair) },
		"graph_indicator":  func(l *lines) error { return scanLines(l, &t.graph, integer) },
		"graph_attributes": func(l *lines) error { return scanTable(l, &t.graphValues, text) },
		"node_attributes":  func(l *lines) error { return scanTable(l, &t.attributes, decimal) },
		"edge_attributes":  func(l *lines) error { return scanTable(l, &t.edgeNumbers, decimal) },
	}
	for kind, x := range map[string]*labelling{"node": &t.vertex, "edge": &t.edge, "graph": &t.class} {
		parse[kind+"_labels"] = func(l *lines) error { return scanLines(l, &x.labels, labels()) }
		parse[kind+"_label_names"] = func(l *lines) error { return scanLines(l, &x.names, text) }
	}
	limit := budget(lim)
	return parallel(len(tuKinds), func(i int) error {
		k := tuKinds[i]
		if !t.has(k) {
			return nil
		}
		f, err := t.fsys.Open(t.path[k])
		if err != nil {
			return err
		}
		defer f.Close()
		in, err := decompress(f, lim)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name(k), broken(err))
		}
		return parse[k](newLines(t.name(k), limit(in), lim))
	})
}

// parallel calls f(0) … f(n-1) at the same time and returns the error of the first that has
// one.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// graphs checks that the files agree and builds the graphs.
func (t *tu) graphs(opts Options, warn *warnings) ([]*graph.Graph, error) {
	count, err := t.count()
	if err != nil {
		return nil, err
	}
	if err := t.agree(count); err != nil {
		return nil, err
	}
	columns, err := t.edgeColumns(opts, warn)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		t.weights = t.edgeWeights(warn)
	}
	if t.targets, err = t.graphTargets(opts.TargetColumn, count); err != nil {
		return nil, err
	}
	if err := t.split(count, opts.Limits); err != nil {
		return nil, err
	}
	graphs, given, err := t.buildAll(count, false)
	if err != nil {
		return nil, err
	}
	oneWay := 0
	for _, x := range given {
		oneWay += x.OneWay
	}
	if oneWay > 0 {
		if graphs, given, err = t.buildAll(count, true); err != nil {
			return nil, err
		}
		warn.add(oneWay, "edge has one direction only, so the graphs are directed", "edges have one direction only, so the graphs are directed")
	}
	if columns != nil {
		if graphs, err = t.throughEdges(opts, columns, oneWay > 0); err != nil {
			return nil, err
		}
	}
	for g, x := range given {
		if err := corrections(x, opts, warn, nil); err != nil {
			return nil, fmt.Errorf("%s: graph %d: %w", t.name("A"), g+1, err)
		}
	}
	return graphs, nil
}

// buildAll builds the graphs, a block of them in each goroutine.
func (t *tu) buildAll(count int, directed bool) ([]*graph.Graph, []graph.Given, error) {
	graphs, given := make([]*graph.Graph, count), make([]graph.Given, count)
	workers := min(runtime.GOMAXPROCS(0), 1+count/64)
	err := parallel(workers, func(k int) (err error) {
		for g := k * count / workers; g < (k+1)*count/workers && err == nil; g++ {
			graphs[g], given[g], err = t.build(g, directed)
		}
		return err
	})
	return graphs, given, err
}

// split finds the vertices and edges of every graph.
func (t *tu) split(count int, lim Limits) error {
	n := len(t.graph)
	t.vertices, t.local = group(t.graph, count), make([]int32, n)
	for g, vs := range t.vertices {
		if len(vs) > lim.Vertices {
			return at(t.name("graph_indicator"), int(vs[lim.Vertices])+1, "graph %d has more than %d vertices, which is the limit", g+1, lim.Vertices)
		}
		for k, v := range vs {
			t.local[v] = int32(k)
		}
	}
	of := make([]int32, len(t.edges))
	for i, e := range t.edges {
		for _, v := range e {
			if v < 1 || int(v) > n {
				return at(t.name("A"), i+1, "vertex %d out of range [1, %d]", v, n)
			}
		}
		p, q := t.graph[e[0]-1], t.graph[e[1]-1]
		if p != q {
			return at(t.name("A"), i+1, "edge from vertex %d in graph %d to vertex %d in graph %d, want both in one graph", e[0], p+1, e[1], q+1)
		}
		of[i] = p
	}
	t.lines = group(of, count)
	return nil
}

// group returns the positions at which key is 0, 1, … count-1.
func group(key []int32, count int) [][]int32 {
	size := make([]int32, count)
	for _, k := range key {
		size[k]++
	}
	out, all := make([][]int32, count), make([]int32, len(key))
	for k, n := range size {
		out[k], all = all[:0:n], all[n:]
	}
	for i, k := range key {
		out[k] = append(out[k], int32(i))
	}
	return out
}

// build builds graph g.
func (t *tu) build(g int, directed bool) (*graph.Graph, graph.Given, error) {
	out := graph.NewBuilder(len(t.vertices[g]))
	if directed {
		out.SetDirected()
	}
	for _, i := range t.lines[g] {
		w, label := 1.0, ""
		if t.weights != nil {
			w = t.weights[i]
		}
		if len(t.edge.labels) > 0 {
			label = t.edge.labels[i]
		}
		e := t.edges[i]
		out.AddLabeledEdge(int(t.local[e[0]-1]), int(t.local[e[1]-1]), w, label)
	}
	t.describe(out, g, true, 0)
	x, err := out.Build()
	if err != nil {
		return nil, graph.Given{}, fmt.Errorf("%s: graph %d: %w", t.name("A"), g+1, err)
	}
	return x, out.Given(), nil
}

// describe sets what the vertices of graph g have, with some zeros behind their attributes, its identifier and its target.
func (t *tu) describe(b *graph.Builder, g int, labels bool, zeros int) {
	for k, v := range t.vertices[g] {
		if len(t.vertex.labels) > 0 && labels {
			b.SetLabel(k, t.vertex.labels[v])
		}
		var row []float64
		if t.attributes.rows > 0 {
			row = t.attributes.row(int(v))
		}
		if row != nil || zeros > 0 {
			b.SetAttributes(k, append(slices.Clip(row), make([]float64, zeros)...))
		}
	}
	b.SetID(strconv.Itoa(g + 1))
	if t.targets != nil {
		b.SetTarget(t.targets[g])
	}
}

// agree checks that the files have as many lines as they should, and puts texts in the
// place of label numbers where there are files of names.
func (t *tu) agree(count int) error {
	for _, c := range []struct {
		kind       string
		x          *labelling
		attributes int
		want       int
		what       string
	}{
		{"node", &t.vertex, t.attributes.rows, len(t.graph), "one for every vertex in " + t.name("graph_indicator")},
		{"edge", &t.edge, t.edgeNumbers.rows, len(t.edges), "one for every line of " + t.name("A")},
		{"graph", &t.class, t.graphValues.rows, count, "one for every graph in " + t.name("graph_indicator")},
	} {
		for i, file := range []string{c.kind + "_labels", c.kind + "_attributes"} {
			if have := []int{len(c.x.labels), c.attributes}[i]; t.has(file) && have != c.want {
				return fmt.Errorf("%s: %s, want %d, %s", t.name(file), counted(have, "line", "lines"), c.want, c.what)
			}
		}
		names := c.kind + "_label_names"
		if !t.has(names) {
			continue
		}
		for i, s := range c.x.labels {
			k, err := integer([]byte(s))
			if err != nil || k < 0 || int(k) >= len(c.x.names) {
				return at(t.name(c.kind+"_labels"), i+1, "label %q, want a number in [0, %d) that has a name in %s", s, len(c.x.names), t.name(names))
			}
			c.x.labels[i] = c.x.names[k]
		}
	}
	return nil
}

// count returns the number of graphs, makes t.graph 0-based, and checks its range.
func (t *tu) count() (int, error) {
	// Without a file that tells how many graphs there are, empty graphs are gaps in the
	// indicator: at most as many as there are vertices.
	limit, why := 2*len(t.graph), ": twice the number of vertices"
	if t.has("graph_attributes") {
		limit, why = t.graphValues.rows, " of "+t.name("graph_attributes")
	}
	if t.has("graph_labels") {
		limit, why = len(t.class.labels), " of "+t.name("graph_labels")
	}
	count := 0
	for v, g := range t.graph {
		if g < 1 || int(g) > limit {
			return 0, at(t.name("graph_indicator"), v+1, "graph %d out of range [1, %d]%s", g, limit, why)
		}
		count = max(count, int(g))
		t.graph[v] = g - 1
	}
	return count, nil
}

// graphTargets returns the class of every graph, or a column of the graph attributes.
func (t *tu) graphTargets(column string, count int) ([]string, error) {
	k := 1
	switch {
	case column == "" && t.has("graph_labels"):
		return t.class.labels, nil
	case column == "" && !t.has("graph_attributes"):
		return nil, nil
	case !t.has("graph_attributes"):
		return nil, fmt.Errorf("target column %q is a column of graph_attributes, and there is no such file beside %s", column, t.name("A"))
	case column != "":
		var err error
		if k, err = strconv.Atoi(column); err != nil || k < 1 || k > t.graphValues.cols {
			return nil, fmt.Errorf("%s: target column %q, want a number in [1, %d]", t.name("graph_attributes"), column, t.graphValues.cols)
		}
	}
	out := make([]string, count)
	for g := range out {
		out[g] = t.graphValues.row(g)[k-1]
	}
	return out, nil
}

// edgeWeights returns the edge attributes when they can serve as weights: one column of
// positive, finite numbers.
func (t *tu) edgeWeights(warn *warnings) []float64 {
	if t.edgeNumbers.cols > 1 {
		warn.add(t.edgeNumbers.cols, "", "columns of edge attributes left out: only a single column of positive numbers can be weights")
		return nil
	}
	bad := 0
	for _, w := range t.edgeNumbers.data {
		if !positive(w) {
			bad++
		}
	}
	if bad > 0 {
		warn.add(bad, "edge attribute is not positive, so edge attributes are not used as weights", "edge attributes are not positive, so edge attributes are not used as weights")
		return nil
	}
	return t.edgeNumbers.data
}
