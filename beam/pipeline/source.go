package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
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

// item is a graph of a part, or why there is none. Its number tells its place: in the part, the line
// where every line is a graph, else the graph, from 1.
type item struct {
	graph  *graph.Graph
	number int
	err    error
}

// source gives the graphs of a part.
type source struct {
	part   *part
	reader *dataset.Reader
	in     io.Closer // may be nil
	graphs int       // so far
	before int       // lines before the part, -1 as long as that is not known
}

// open returns the source of a part.
func (p *part) open(ctx context.Context, o dataset.Options) (*source, error) {
	o.Format = dataset.Format(p.Format)
	s := &source{part: p, before: -1}
	var err error
	if whole(p.Path) {
		s.reader, err = dataset.Open(p.Path, o)
		return s, err
	}
	in, err := open(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	s.in = in
	var text io.Reader = in
	if p.Hi > 0 {
		text, err = p.section(in.(*os.File), o.Limits.Line)
	}
	if err == nil {
		s.reader, err = dataset.NewReader(text, p.Path, o)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

// section returns the lines of a file of the machine that begin in the part.
func (p *part) section(f *os.File, limit int) (io.Reader, error) {
	lo, err := lineStart(f, p.Lo, limit)
	if err != nil {
		return nil, err
	}
	hi, err := lineStart(f, p.Hi, limit)
	if err != nil {
		return nil, err
	}
	var out io.Reader = io.NewSectionReader(f, lo, hi-lo)
	if p.Lo > 0 {
		// An empty line before: a header can only stand in the first line of the file.
		out = io.MultiReader(strings.NewReader("\n"), out)
	}
	return out, nil
}

// lineStart returns where the first line begins that does not begin before the given byte.
func lineStart(f *os.File, at int64, limit int) (int64, error) {
	if at == 0 {
		return 0, nil
	}
	from := at - 1
	in := bufio.NewReader(io.NewSectionReader(f, from, math.MaxInt64-from))
	for n := int64(0); ; {
		piece, err := in.ReadSlice('\n')
		n += int64(len(piece))
		switch {
		case n > int64(limit):
			return 0, fmt.Errorf("%s: a line of more than %d bytes behind byte %d", f.Name(), limit, from)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF:
			err = nil
		}
		return from + n, err
	}
}

// batchItems bounds the vertices and edges of graphs that are read together.
const batchItems = 1 << 21

// next returns up to n graphs, and io.EOF and none after the last.
func (s *source) next(n int) ([]item, error) {
	var out []item
	for size := 0; len(out) < n && size < batchItems; {
		g, err := s.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		s.graphs++
		x := item{graph: g, number: s.graphs, err: err}
		if s.part.Lines {
			x.number, x.err = s.reader.Line(), s.reason(err)
		}
		switch {
		case err == nil:
			size += g.N() + g.M()
		case !s.part.Lines:
			return nil, err
		case !s.reader.Skip():
			return nil, fmt.Errorf("%s: %w", s.place(x.number), x.err)
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, io.EOF
	}
	return out, nil
}

// reason takes the place from an error of the reader, which knows the lines of the part only.
func (s *source) reason(err error) error {
	if err == nil {
		return nil
	}
	if text, ok := strings.CutPrefix(err.Error(), s.part.Path+":"); ok {
		if _, rest, ok := strings.Cut(text, ": "); ok {
			return errors.New(rest)
		}
	}
	return err
}

// place says where the item of a number stands.
func (s *source) place(number int) string {
	p := s.part
	if !p.Lines {
		return fmt.Sprintf("%s: graph %d", p.Path, number)
	}
	if s.before < 0 {
		n, err := p.linesBefore()
		if err != nil {
			return fmt.Sprintf("%s: line %d after byte %d", p.Path, number, p.Lo)
		}
		s.before = n
	}
	return fmt.Sprintf("%s:%d", p.Path, s.before+number)
}

// linesBefore returns the number of lines of the file before those that the reader counts, the
// empty one before a section among them.
func (p *part) linesBefore() (int, error) {
	if p.Lo == 0 {
		return 0, nil
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := io.LimitReader(f, p.Lo-1)
	buf := make([]byte, 64<<10)
	for count := 0; ; {
		n, err := in.Read(buf)
		count += bytes.Count(buf[:n], []byte("\n"))
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (s *source) close() error {
	err := s.reader.Close()
	if s.in != nil {
		err = errors.Join(err, s.in.Close())
	}
	return err
}
