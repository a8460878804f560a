package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

// tuFiles are the files of a TUDataset by what they hold: "A", "graph_labels", …
type tuFiles map[string]tuFile

type tuFile struct {
	name string // as in errors
	open func() (io.ReadCloser, error)
}

var tuKinds = []string{"A", "graph_indicator", "graph_labels", "graph_attributes",
	"node_labels", "node_attributes", "edge_labels", "edge_attributes",
	"node_label_names", "edge_label_names", "graph_label_names"}

// findTU finds the files of a TUDataset in a file system: in its root, in one folder of
// it, or in a folder "raw". It returns the name of the dataset too.
func findTU(fsys fs.FS) (string, tuFiles, error) {
	var found []string
	for _, pattern := range []string{".", "*", "raw", "*/raw"} {
		for _, end := range []string{"_A.txt", "_A.txt.gz"} {
			m, err := fs.Glob(fsys, path.Join(pattern, "*"+end))
			if err != nil {
				return "", nil, err
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
		return "", nil, errors.New("no file …_A.txt, so it is not a TUDataset")
	case len(found) > 1:
		return "", nil, fmt.Errorf("several datasets: %s and %s; want one", found[0], found[1])
	}
	prefix := strings.TrimSuffix(strings.TrimSuffix(found[0], ".gz"), "A.txt")
	files := tuFiles{}
	for _, k := range tuKinds {
		for _, end := range []string{".txt", ".txt.gz"} {
			file := prefix + k + end
			st, err := fs.Stat(fsys, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", nil, err
			}
			if st.IsDir() {
				return "", nil, fmt.Errorf("%s is a folder, want a file", file)
			}
			files[k] = tuFile{path.Base(file), func() (io.ReadCloser, error) { return fsys.Open(file) }}
			break
		}
	}
	if _, ok := files["graph_indicator"]; !ok {
		return "", nil, fmt.Errorf("no file %sgraph_indicator.txt", path.Base(prefix))
	}
	return strings.TrimSuffix(path.Base(prefix), "_"), files, nil
}

// zipFS checks the names and sizes in a zip file and returns it as a file system whose
// files refuse to grow beyond lim.Ratio.
func zipFS(z *zip.Reader, size int64, lim Limits) (fs.FS, error) {
	sum := uint64(0)
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		if !fs.ValidPath(name) || strings.ContainsAny(name, "\\:") {
			return nil, fmt.Errorf("name %q leads out of the zip file: refused", f.Name)
		}
		if sum += f.UncompressedSize64; f.UncompressedSize64 > uint64(lim.Bytes) || sum > uint64(lim.Bytes) {
			return nil, fmt.Errorf("more than %d bytes after decompression, the limit Limits.Bytes", lim.Bytes)
		}
	}
	return guardedZip{z, size, lim}, nil
}

type guardedZip struct {
	*zip.Reader
	size int64 // of the zip file
	lim  Limits
}

func (z guardedZip) Open(name string) (fs.File, error) {
	f, err := z.Reader.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	h, ok := st.Sys().(*zip.FileHeader)
	if !ok { // a folder
		return f, nil
	}
	packed := int64(min(h.CompressedSize64, uint64(z.size))) // the header may lie
	in := func() int64 { return packed }
	return &guardedFile{f, inflated{r: f, in: in, ratio: z.lim.Ratio}}, nil
}

type guardedFile struct {
	fs.File
	x inflated
}

func (f *guardedFile) Read(p []byte) (int, error) { return f.x.Read(p) }

// ReadDir keeps the folders of the zip file readable through the guard.
func (z guardedZip) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(z.Reader, name) }

// tu is the parsed content of the files, before it is split into graphs.
type tu struct {
	of        []int32 // graph of every vertex
	vertex    table[string]
	attr      table[float64]
	src, dst  []int32 // ends of every line of A
	edge      table[string]
	edgeAttr  table[float64]
	class     table[string]
	graphAttr table[string]

	// Texts that label numbers from 0 stand for, an addition of ours to the format.
	vertexNames, edgeNames, classNames table[string]
}

// readTU parses all files, concurrently, and builds the graphs.
func readTU(files tuFiles, opts Options, warn *warnings) ([]*graph.Graph, error) {
	left := newBudget(opts.Limits.Bytes)
	var t tu
	parse := map[string]func(*lines) error{
		"A":                func(l *lines) (err error) { t.src, t.dst, err = scanPairs(l); return },
		"graph_indicator":  func(l *lines) (err error) { t.of, err = scanNumbers(l); return },
		"graph_labels":     func(l *lines) (err error) { t.class, err = scanLabels(l); return },
		"graph_attributes": func(l *lines) (err error) { t.graphAttr, err = scanColumns(l); return },
		"node_labels":      func(l *lines) (err error) { t.vertex, err = scanLabels(l); return },
		"node_attributes":  func(l *lines) (err error) { t.attr, err = scanReals(l); return },
		"edge_labels":      func(l *lines) (err error) { t.edge, err = scanLabels(l); return },
		"edge_attributes":  func(l *lines) (err error) { t.edgeAttr, err = scanReals(l); return },

		"node_label_names":  func(l *lines) (err error) { t.vertexNames, err = scanNames(l); return },
		"edge_label_names":  func(l *lines) (err error) { t.edgeNames, err = scanNames(l); return },
		"graph_label_names": func(l *lines) (err error) { t.classNames, err = scanNames(l); return },
	}
	errs := make([]error, len(tuKinds))
	var wg sync.WaitGroup
	for i, k := range tuKinds {
		f, ok := files[k]
		if !ok {
			continue
		}
		wg.Go(func() {
			r, err := f.open()
			if err != nil {
				errs[i] = err
				return
			}
			defer r.Close()
			br, err := decompress(&budgeted{r, left}, opts.Limits)
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", f.name, broken(err))
				return
			}
			errs[i] = parse[k](newLines(f.name, br, opts.Limits))
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return t.graphs(files, opts, warn)
}

// graphs checks that the files agree and builds the graphs.
func (t *tu) graphs(files tuFiles, opts Options, warn *warnings) ([]*graph.Graph, error) {
	n := len(t.of)
	indicator := files["graph_indicator"].name
	count, err := t.count(files)
	if err != nil {
		return nil, err
	}
	if err := t.agree(files, count); err != nil {
		return nil, err
	}
	targets, err := t.targets(files, opts.TargetColumn, count)
	if err != nil {
		return nil, err
	}
	weight := t.weights(files, warn)

	// Vertices and edges by graph: a stable counting sort each.
	size := make([]int32, count+1)
	local := make([]int32, n)
	for v, g := range t.of {
		local[v] = size[g]
		if size[g]++; int(size[g]) > opts.Limits.Vertices {
			return nil, at(indicator, v+1, "graph %d has more than %d vertices, the limit Limits.Vertices", g+1, opts.Limits.Vertices)
		}
	}
	member, memberAt := bucket(count, n, func(v int) int32 { return t.of[v] })
	for i := range t.src {
		for _, v := range []int32{t.src[i], t.dst[i]} {
			if v < 1 || int(v) > n {
				return nil, at(files["A"].name, i+1, "vertex %d out of range [1, %d]", v, n)
			}
		}
		if p, q := t.of[t.src[i]-1], t.of[t.dst[i]-1]; p != q {
			return nil, at(files["A"].name, i+1, "edge from vertex %d in graph %d to vertex %d in graph %d, want both in one graph", t.src[i], p+1, t.dst[i], q+1)
		}
	}
	edge, edgeAt := bucket(count, len(t.src), func(i int) int32 { return t.of[t.src[i]-1] })

	graphs := make([]*graph.Graph, count)
	one := func(g int, as *arcs, warn *warnings) error {
		as.reset()
		as.labeled = t.edge.rows > 0
		for _, i := range edge[edgeAt[g]:edgeAt[g+1]] {
			w, label := 1.0, ""
			if weight != nil {
				w = weight[i]
			}
			if as.labeled {
				label = t.edge.row(int(i))[0]
			}
			as.add(int(local[t.src[i]-1]), int(local[t.dst[i]-1]), w, label, int(i)+1)
		}
		b := graph.NewBuilder(int(size[g]))
		for k, v := range member[memberAt[g]:memberAt[g+1]] {
			if t.vertex.rows > 0 {
				b.SetLabel(k, t.vertex.row(int(v))[0])
			}
			if t.attr.rows > 0 {
				b.SetAttributes(k, t.attr.row(int(v)))
			}
		}
		if line, err := as.put(b, bothWays, warn); err != nil {
			return at(files["A"].name, line, "graph %d: %w", g+1, err)
		}
		b.SetID(strconv.Itoa(g + 1))
		if targets != nil {
			b.SetTarget(targets[g])
		}
		var err error
		if graphs[g], err = b.Build(); err != nil {
			return fmt.Errorf("%s: graph %d: %w", files["A"].name, g+1, err)
		}
		return nil
	}

	// A block of graphs a worker: results and warnings do not depend on their number.
	workers := min(runtime.GOMAXPROCS(0), 1+count/64)
	errs := make([]error, workers)
	found := make([]warnings, workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			var as arcs
			for g := k * count / workers; g < (k+1)*count/workers; g++ {
				if errs[k] = one(g, &as, &found[k]); errs[k] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for k := range workers {
		if errs[k] != nil {
			return nil, errs[k]
		}
		warn.merge(&found[k])
	}
	return graphs, nil
}

// agree checks that the files have as many lines as they should, and puts texts in the
// place of label numbers where there are files of names.
func (t *tu) agree(files tuFiles, count int) error {
	indicator := files["graph_indicator"].name
	for _, c := range []struct {
		kind       string
		have, want int
		what       string
	}{
		{"node_labels", t.vertex.rows, len(t.of), "one for every vertex in " + indicator},
		{"node_attributes", t.attr.rows, len(t.of), "one for every vertex in " + indicator},
		{"edge_labels", t.edge.rows, len(t.src), "one for every line of " + files["A"].name},
		{"edge_attributes", t.edgeAttr.rows, len(t.src), "one for every line of " + files["A"].name},
		{"graph_labels", t.class.rows, count, "one for every graph"},
		{"graph_attributes", t.graphAttr.rows, count, "one for every graph"},
	} {
		if f, ok := files[c.kind]; ok && c.have != c.want {
			return fmt.Errorf("%s: %d lines, want %d, %s", f.name, c.have, c.want, c.what)
		}
	}
	for _, c := range []struct {
		kind          string
		labels, names *table[string]
	}{{"node_label", &t.vertex, &t.vertexNames}, {"edge_label", &t.edge, &t.edgeNames}, {"graph_label", &t.class, &t.classNames}} {
		if _, ok := files[c.kind+"_names"]; !ok {
			continue
		}
		for i, s := range c.labels.data {
			k, err := integer([]byte(s))
			if err != nil || k < 0 || int(k) >= c.names.rows {
				return at(files[c.kind+"s"].name, i+1, "label %q, want a number in [0, %d) that %s names", s, c.names.rows, files[c.kind+"_names"].name)
			}
			c.labels.data[i] = c.names.data[k]
		}
	}
	return nil
}

// count returns the number of graphs, makes t.of 0-based, and checks its range. Graphs
// without vertices at the end are known by their labels or attributes only.
func (t *tu) count(files tuFiles) (int, error) {
	f := files["graph_indicator"].name
	limit, why := -1, ""
	for _, k := range []string{"graph_attributes", "graph_labels"} {
		if _, ok := files[k]; ok {
			rows := map[string]int{"graph_labels": t.class.rows, "graph_attributes": t.graphAttr.rows}[k]
			limit, why = rows, " of "+files[k].name
		}
	}
	if limit < 0 {
		// Without a file that tells how many graphs there are, empty graphs are gaps in
		// the indicator: at most as many as there are vertices.
		limit, why = 2*len(t.of), ": twice the number of vertices"
	}
	count := 0
	for v, g := range t.of {
		if g < 1 || int(g) > limit {
			return 0, at(f, v+1, "graph %d out of range [1, %d]%s", g, limit, why)
		}
		count = max(count, int(g))
		t.of[v] = g - 1
	}
	if t.class.rows > 0 || t.graphAttr.rows > 0 {
		count = limit
	}
	return count, nil
}

// targets returns the class of every graph, or a column of the graph attributes.
func (t *tu) targets(files tuFiles, column string, count int) ([]string, error) {
	out := make([]string, count)
	_, hasLabels := files["graph_labels"]
	attrs, hasAttrs := files["graph_attributes"]
	k := 1
	switch {
	case column == "" && hasLabels:
		for g := range out {
			out[g] = t.class.row(g)[0]
		}
		return out, nil
	case column != "" && !hasAttrs:
		return nil, fmt.Errorf("target column %q is a column of graph_attributes, and there is no such file beside %s", column, files["A"].name)
	case column != "":
		var err error
		if k, err = strconv.Atoi(column); err != nil || k < 1 || k > t.graphAttr.cols {
			return nil, fmt.Errorf("%s: target column %q, want a number in [1, %d]", attrs.name, column, t.graphAttr.cols)
		}
	case !hasAttrs:
		return nil, nil
	}
	for g := range out {
		out[g] = t.graphAttr.row(g)[k-1]
	}
	return out, nil
}

// weights returns the edge attributes when they can serve as weights: one column of
// positive, finite numbers.
func (t *tu) weights(files tuFiles, warn *warnings) []float64 {
	if _, ok := files["edge_attributes"]; !ok || t.edgeAttr.rows == 0 {
		return nil
	}
	if t.edgeAttr.cols > 1 {
		warn.add(t.edgeAttr.cols, "", "columns of edge attributes ignored: one column of positive numbers would serve as weights")
		return nil
	}
	bad := 0
	for _, w := range t.edgeAttr.data {
		if !positive(w) {
			bad++
		}
	}
	if bad > 0 {
		warn.add(bad, "edge attribute is not positive, so that none serves as weight", "edge attributes are not positive, so that none serves as weight")
		return nil
	}
	return t.edgeAttr.data
}

// bucket sorts the numbers 0 … n-1 by group, keeping their order: those of group g are
// order[start[g]:start[g+1]].
func bucket(groups, n int, group func(int) int32) (order []int32, start []int32) {
	start = make([]int32, groups+1)
	for i := range n {
		start[group(i)+1]++
	}
	for g := range groups {
		start[g+1] += start[g]
	}
	next := slices.Clone(start)
	order = make([]int32, n)
	for i := range n {
		g := group(i)
		order[next[g]] = int32(i)
		next[g]++
	}
	return order, start
}
