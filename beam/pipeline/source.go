package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// part is a piece of the input: the lines of a file that begin at the bytes Lo … Hi-1, or a
// whole file or collection, where Hi is 0.
type part struct {
	Number int
	Path   string
	Format string // jsonl or smiles where a line is a graph, else auto or what was asked for
	Lines  bool   // a line is a graph
	Lo, Hi int64
}

// parts cuts the inputs into parts.
func parts(ctx context.Context, o *Options) ([]part, error) {
	var out []part
	add := func(p part) {
		p.Number = len(out)
		out = append(out, p)
	}
	for _, input := range o.Inputs {
		if whole(input) {
			add(part{Path: input, Format: string(o.Read.Format)})
			continue
		}
		names, err := list(ctx, input)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no such file, folder or built-in collection", input)
		}
		for _, name := range names {
			format, lines := lineFormat(name, o.Read.Format)
			p := part{Path: name, Format: string(format), Lines: lines}
			if whole(name) || !lines || !local(name) {
				add(p)
				continue
			}
			size, compressed, err := examine(name)
			if err != nil {
				return nil, err
			}
			if compressed {
				add(p)
				continue
			}
			for ; p.Lo < size; p.Lo = p.Hi {
				p.Hi = min(p.Lo+int64(o.PartBytes), size)
				add(p)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: empty", strings.Join(o.Inputs, ", "))
	}
	return out, nil
}

// whole reports whether an input is opened by its name and not as a stream: a built-in
// collection, or the folder or zip file of a TUDataset.
func whole(path string) bool {
	if builtin(path) {
		return true
	}
	if !local(path) {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && (st.IsDir() || strings.EqualFold(filepath.Ext(path), ".zip"))
}

// builtin reports whether an input is a built-in collection.
func builtin(path string) bool { return strings.HasPrefix(path, "builtin:") }

// lineFormat returns the format of a file and whether each of its lines is a graph.
func lineFormat(name string, f dataset.Format) (dataset.Format, bool) {
	if f == dataset.Auto {
		name = strings.TrimSuffix(strings.ToLower(name), ".gz")
		switch filepath.Ext(name) {
		case ".jsonl", ".ndjson", ".json":
			f = dataset.JSONLines
		case ".smi", ".smiles", ".ism", ".can":
			f = dataset.SMILES
		}
	}
	return f, f == dataset.JSONLines || f == dataset.SMILES
}

var gzipMagic = []byte{0x1f, 0x8b}

// examine returns the size of a file of the machine, and whether it is a gzip file, which cannot be
// cut.
func examine(path string) (size int64, compressed bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	head := make([]byte, len(gzipMagic))
	n, err := f.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return st.Size(), bytes.Equal(head[:n], gzipMagic), err
}

// item is a graph of a part, or why there is none. Its number, from 0, tells its place.
type item struct {
	graph  *graph.Graph
	number int
	err    error
}

// source gives the graphs of a part.
type source interface {
	// next returns up to n graphs, and io.EOF and none after the last.
	next(n int) ([]item, error)
	// place says where the item of a number stands.
	place(number int) string
	close() error
}

// open returns the source of a part.
func (p *part) open(ctx context.Context, o dataset.Options) (source, error) {
	o.Format = dataset.Format(p.Format)
	if p.Lines {
		return openLines(ctx, p, o)
	}
	if whole(p.Path) {
		r, err := dataset.Open(p.Path, o)
		if err != nil {
			return nil, err
		}
		return &records{path: p.Path, reader: r}, nil
	}
	in, err := open(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	r, err := dataset.NewReader(in, p.Path, o)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &records{path: p.Path, reader: r, in: in}, nil
}

// records are the graphs of a file in any format. What cannot be read ends it.
type records struct {
	path   string
	reader *dataset.Reader
	in     io.Closer // may be nil
	done   int
}

func (r *records) next(n int) ([]item, error) {
	var out []item
	for ; len(out) < n; r.done++ {
		g, err := r.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		out = append(out, item{graph: g, number: r.done})
	}
	if len(out) == 0 {
		return nil, io.EOF
	}
	return out, nil
}

func (r *records) place(number int) string { return fmt.Sprintf("%s: graph %d", r.path, number+1) }

func (r *records) close() error {
	err := r.reader.Close()
	if r.in != nil {
		err = errors.Join(err, r.in.Close())
	}
	return err
}
