package dataset

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Fields of a graph in a folder of files, besides those of its format: its file, the folder of this, and its
// own identifier.
const (
	fileField   = "file"
	folderField = "folder"
	graphField  = "graph"
)

// filesReader reads the graphs of the files in a folder, one file after the other.
//
//	folder/toxic/a.dot      the class is that of a table, else of the graph itself, else the folder "toxic"
//	folder/labels.csv       a table with a column of file names
type filesReader struct {
	fsys    fs.FS
	path    string   // of the folder, for errors
	left    []string // files that are not read yet
	opts    Options  // of the files
	folders bool     // subfolders are classes
	table   *fileTable
	out     *Reader
	in      *Reader // of the file that is read, nil for none
	open    fs.File
	name    string // of the file
	count   int    // graphs of it so far
	ahead   *graph.Graph
	beside  Fields // of ahead
}

// fileTable is a table with a row for each file.
type fileTable struct {
	names  []string
	row    map[string][]string // by file
	line   map[string]int
	target int // column, −1 for none
}

// openFiles returns a reader of the files with graphs in a folder.
func openFiles(fsys fs.FS, name string, opts Options) (*Reader, error) {
	files, tables, err := graphFiles(fsys, opts.Format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w, and it has no files with graphs either, such as .dot, .graphml or .json", name, errNoTU)
	}
	out := &Reader{name: stem(name), warn: &warnings{}, in: &stream{opts: DefaultOptions(), beside: Fields{SMILES: -1}}} // the files have the options
	out.in.opts.Format = formatOf(files)
	r := &filesReader{fsys: fsys, path: name, left: files, opts: opts, out: out}
	for _, t := range tables {
		table, err := r.readFileTable(t, files)
		switch {
		case err != nil:
			return nil, err
		case table != nil && r.table != nil:
			return nil, fmt.Errorf("%s: two tables with names of files, want one", name)
		case table != nil:
			r.table = table
		}
	}
	if r.table == nil && len(tables) > 0 {
		out.warn.add(len(tables), "table left out, because it has no column with the names of files", "tables left out, because they have no column with the names of files")
	}
	r.folders = opts.TargetColumn == "" && len(topFolders(files)) > 1
	if r.table != nil && r.table.target >= 0 {
		r.folders, r.opts.TargetColumn = false, ""
		out.in.roles.Targets = []Role{{Column: r.table.names[r.table.target], Why: "the table of files"}}
	} else if r.folders {
		out.in.roles.Targets = []Role{{Column: folderField, Why: "the folders of the files"}}
	}
	r.opts.IDColumn = ""
	out.in.roles.ID = Role{Column: fileField, Why: "the names of the files"}
	out.next, out.close = r.next, r.closeFile
	return out, nil
}

// graphFiles lists the files with graphs of a format, and tables in the folder itself. Auto are all formats.
func graphFiles(fsys fs.FS, format Format) (files, tables []string, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "__MACOSX"):
			return fs.SkipDir
		case e.IsDir() || strings.HasPrefix(base, "._"): // a shadow that a Mac makes
			return nil
		}
		f := extensions[strings.ToLower(path.Ext(strings.TrimSuffix(base, ".gz")))]
		switch {
		case f == CSV || f == TSV:
			if path.Dir(name) == "." {
				tables = append(tables, name)
			}
		case f == TUDataset || f == Parquet:
		case f != "" && (format == Auto || f == format || f == JSONLines && format == NodeLink):
			files = append(files, name)
		}
		return nil
	})
	return files, tables, err
}

// formatOf returns the format that all files have by their names, else Auto.
func formatOf(files []string) Format {
	found := map[Format]bool{}
	for _, f := range files {
		found[extensions[strings.ToLower(path.Ext(strings.TrimSuffix(f, ".gz")))]] = true
	}
	for f := range found {
		if len(found) == 1 {
			return f
		}
	}
	return Auto
}

// topFolders returns the different first folders of files, "" for files without one.
func topFolders(files []string) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		out[topFolder(f)] = true
	}
	return out
}

func topFolder(file string) string {
	top, _, inside := strings.Cut(file, "/")
	if !inside {
		return ""
	}
	return top
}

// fileNames returns the file that a text means: its path, or where no other file has it, its name, both
// perhaps without extensions.
func fileNames(files []string) map[string]string {
	out := map[string]string{}
	for _, of := range []func(string) string{
		func(f string) string { return f }, withoutExtension, path.Base,
		func(f string) string { return withoutExtension(path.Base(f)) },
	} {
		some := map[string]string{}
		for _, f := range files {
			if _, twice := some[of(f)]; twice {
				some[of(f)] = ""
			} else {
				some[of(f)] = f
			}
		}
		for text, f := range some {
			if out[text] == "" && f != "" {
				out[text] = f
			}
		}
	}
	return out
}

// withoutExtension returns the name of a file without its known extensions.
func withoutExtension(file string) string { return path.Join(path.Dir(file), stem(path.Base(file))) }

// readFileTable reads a table, nil if no column has the names of files.
func (r *filesReader) readFileTable(name string, files []string) (*fileTable, error) {
	full := filepath.Join(r.path, filepath.FromSlash(name))
	f, err := r.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o := r.opts
	o.Format = Auto
	s, err := newStream(f, nil, 0, full, o)
	if err != nil {
		return nil, err
	}
	next := csvRows(s)
	if s.opts.Format == TSV {
		next = tsvRows(s)
	}
	header, _, err := next()
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, s.at(1, err)
	}
	t := &fileTable{names: columnNames(slices.Clone(header)), row: map[string][]string{}, line: map[string]int{}, target: -1}
	column, known := -1, fileNames(files)
	var columns Columns
	for {
		row, line, err := next()
		if err == io.EOF {
			break
		}
		if err == nil && len(row) != len(t.names) {
			err = fmt.Errorf("%s, want %d as in the header", counted(len(row), "column", "columns"), len(t.names))
		}
		if err != nil {
			return nil, s.at(line, err)
		}
		if column < 0 {
			if column = slices.IndexFunc(row, func(cell string) bool { return known[path.Clean(strings.TrimSpace(cell))] != "" }); column < 0 {
				return nil, nil // the first row tells
			}
		}
		file := known[path.Clean(strings.TrimSpace(row[column]))]
		switch {
		case file == "":
			r.out.warn.add(1, "row of the table names no file", "rows of the table name no file")
			continue
		case t.row[file] != nil:
			return nil, s.at(line, fmt.Errorf("second row for the file %s, after line %d", file, t.line[file]))
		}
		cells := slices.Delete(slices.Clone(row), column, column+1)
		t.row[file], t.line[file] = cells, line
		if err := columns.Add(Fields{Names: slices.Delete(slices.Clone(t.names), column, column+1), Values: cells, SMILES: -1, Line: line}); err != nil {
			return nil, s.at(line, err)
		}
	}
	if column < 0 {
		return nil, nil
	}
	t.names = slices.Delete(t.names, column, column+1)
	roles, err := columns.roles(Options{TargetColumn: r.opts.TargetColumn, like: r.opts.like}, "column", false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", full, err)
	}
	r.out.in.roles.Open = roles.Open
	t.target = slices.Index(t.names, roles.Target())
	return t, nil
}

// next returns the next graph of the folder.
func (r *filesReader) next() (*graph.Graph, error) {
	for {
		g, beside, err := r.take()
		switch {
		case err == io.EOF && len(r.left) == 0:
			return nil, err
		case err == io.EOF:
			if err := r.openNext(); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		default:
			return r.placed(g, beside)
		}
	}
}

// take returns the next graph of the file that is open. It reads one more, to know whether there is one.
func (r *filesReader) take() (*graph.Graph, Fields, error) {
	if r.in == nil {
		return nil, Fields{}, io.EOF
	}
	g, beside := r.ahead, r.beside
	var err error
	r.ahead, err = r.in.Next()
	if f := r.in.Fields(); err == nil {
		r.beside = Fields{slices.Clone(f.Names), slices.Clone(f.Values), f.SMILES, f.Line}
	}
	if err != nil && err != io.EOF {
		return nil, beside, err
	}
	if g == nil && err == nil {
		return r.take()
	}
	if err == io.EOF && g == nil {
		r.out.warn.merge(r.in.warn)
		r.out.in.named = r.out.in.named || r.in.in.named
		if found := r.in.in.attributes; found != nil {
			r.out.in.attributesOf(keyList(*found), false)
		}
		for i, keys := range r.in.in.keys {
			for key := range keys {
				r.out.in.seen(i, []data{{key: ""}})
			}
		}
		if err := r.closeFile(); err != nil {
			return nil, beside, err
		}
		return nil, beside, io.EOF
	}
	return g, beside, nil
}

func (r *filesReader) closeFile() error {
	r.in = nil
	if r.open == nil {
		return nil
	}
	f := r.open
	r.open = nil
	return f.Close()
}

// openNext opens the next file.
func (r *filesReader) openNext() error {
	r.name, r.left, r.count = r.left[0], r.left[1:], 0
	full := filepath.Join(r.path, filepath.FromSlash(r.name))
	f, err := r.fsys.Open(r.name)
	if err != nil {
		return err
	}
	r.open = f
	r.in, err = newReader(f, nil, 0, full, r.opts)
	return err
}

// placed returns a graph of the file with the identifier and the target that its place gives it.
func (r *filesReader) placed(g *graph.Graph, beside Fields) (*graph.Graph, error) {
	r.count++
	id, target := withoutExtension(r.name), g.Target()
	if r.count > 1 || r.ahead != nil {
		id += "/" + cmp.Or(g.ID(), strconv.Itoa(r.count))
	}
	folder := topFolder(r.name)
	f := Fields{append(beside.Names, fileField), append(beside.Values, r.name), -1, beside.Line}
	if folder != "" {
		f.Names, f.Values = append(f.Names, folderField), append(f.Values, folder)
	}
	if g.ID() != "" {
		f.Names, f.Values = append(f.Names, graphField), append(f.Values, g.ID())
	}
	if r.folders && target == "" {
		target = folder
	}
	if t := r.table; t != nil {
		cells := t.row[r.name]
		if cells == nil {
			r.out.warn.add(1, "file without a row in the table", "files without a row in the table")
		}
		for i, cell := range cells {
			f.Names, f.Values = append(f.Names, t.names[i]), append(f.Values, strings.TrimSpace(cell))
		}
		switch {
		case t.target < 0:
		case cells == nil:
			target = ""
		default:
			target = strings.TrimSpace(cells[t.target])
		}
	}
	r.out.in.beside = f
	return g.With(id, target), nil
}
