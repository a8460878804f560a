package pipeline

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
)

// lines are the graphs of a file with a graph in each line.
type lines struct {
	ctx  context.Context
	part *part
	o    dataset.Options
	file io.Closer
	in   *bufio.Reader
	read int   // lines of the part so far
	end  int64 // byte behind them
	from int64 // byte at which the first of them begins

	before int // lines of the file before the part, -1 as long as that is not known
}

func openLines(ctx context.Context, p *part, o dataset.Options) (*lines, error) {
	file, err := open(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	l := &lines{ctx: ctx, part: p, o: o, file: file, in: bufio.NewReaderSize(file, 64<<10), before: -1}
	if err := l.start(file.(*opened)); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return l, nil
}

// start goes to the first line of the part.
func (l *lines) start(file *opened) error {
	if l.part.Lo == 0 {
		l.before = 0
		head, err := l.in.Peek(len(gzipMagic))
		if err != nil && err != io.EOF {
			return err
		}
		if !bytes.Equal(head, gzipMagic) {
			return nil
		}
		z, err := gzip.NewReader(l.in)
		if err != nil {
			return err
		}
		l.in = bufio.NewReaderSize(z, 64<<10)
		return nil
	}
	// The line that holds the byte before belongs to an earlier part.
	if err := file.skip(l.part.Lo - 1); err != nil {
		return err
	}
	l.end = l.part.Lo - 1
	_, err := l.line()
	l.read, l.from = 0, l.end
	return err
}

// line returns the next line with its end.
func (l *lines) line() ([]byte, error) {
	var out []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		out = append(out, piece...)
		switch {
		case len(out) > l.o.Limits.Line:
			return nil, fmt.Errorf("%s: a line of more than %d bytes", l.part.Path, l.o.Limits.Line)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("%s: %w", l.part.Path, err)
		case len(out) == 0:
			return nil, io.EOF
		}
		l.end += int64(len(out))
		l.read++
		return out, nil
	}
}

// batchBytes bounds the text of the lines that are read together.
const batchBytes = 16 << 20

func (l *lines) next(n int) ([]item, error) {
	first, size := l.read, 0
	var text [][]byte
	for len(text) < n && size < batchBytes && (l.part.Hi == 0 || l.end < l.part.Hi) {
		line, err := l.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		text, size = append(text, line), size+len(line)
	}
	if len(text) == 0 {
		return nil, io.EOF
	}
	// All lines at once; one by one where something is wrong, to know which.
	if out, err := l.parse(first, text); err == nil {
		return out, nil
	}
	var out []item
	for i, line := range text {
		one, err := l.parse(first+i, [][]byte{line})
		if err != nil {
			one = []item{{place: func() string { return l.at(first + i) }, err: err}}
		}
		out = append(out, one...)
	}
	return out, nil
}

// parse returns the graphs of lines, the first of which is line first of the part.
func (l *lines) parse(first int, text [][]byte) ([]item, error) {
	padded := text
	if l.part.Lo > 0 || first > 0 {
		// A header can only stand in the first line of the file.
		padded = append([][]byte{[]byte("\n")}, text...)
	}
	const name = "line"
	r, err := dataset.NewReader(bytes.NewReader(slices.Concat(padded...)), name, l.o)
	if err != nil {
		return nil, err
	}
	var out []item
	for {
		g, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, reason(err, name)
		}
		out = append(out, item{graph: g, place: l.place(first, text, len(out))})
	}
}

// reason takes the place from an error of a reader of the given name, which knows the line
// that it was given only.
func reason(err error, name string) error {
	text, ok := strings.CutPrefix(err.Error(), name+":")
	if !ok {
		return err
	}
	if _, rest, ok := strings.Cut(text, ": "); ok {
		return errors.New(rest)
	}
	return err
}

// place returns what tells the place of graph k of some lines, the first of which is line
// first of the part. Lines may be empty, so that it has to look.
func (l *lines) place(first int, text [][]byte, k int) func() string {
	return func() string {
		for i, line := range text {
			found, err := l.parse(first+i, [][]byte{line})
			if k -= len(found); err == nil && k < 0 {
				return l.at(first + i)
			}
		}
		return l.part.Path
	}
}

// at names line i of the part.
func (l *lines) at(i int) string {
	if l.before < 0 {
		n, err := newlines(l.ctx, l.part.Path, l.from)
		if err != nil {
			return fmt.Sprintf("%s: line %d after byte %d", l.part.Path, i+1, l.from)
		}
		l.before = n
	}
	return fmt.Sprintf("%s:%d", l.part.Path, l.before+i+1)
}

func (l *lines) close() error { return l.file.Close() }
