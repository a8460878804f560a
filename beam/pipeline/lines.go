package pipeline

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
)

// lines are the graphs of a file with a graph in each line. The number of an item is that of its
// line in the part.
type lines struct {
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
	l := &lines{part: p, o: o, file: file, before: -1}
	if err := l.start(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	return l, nil
}

// start goes to the first line of the part.
func (l *lines) start(file io.Reader) error {
	l.in = bufio.NewReaderSize(file, 64<<10)
	if l.part.Lo > 0 { // then it is a file of the machine
		// The line that holds the byte before belongs to an earlier part.
		l.end = l.part.Lo - 1
		if _, err := file.(io.Seeker).Seek(l.end, io.SeekStart); err != nil {
			return err
		}
		_, err := l.line()
		l.read, l.from = 0, l.end
		return err
	}
	head, err := l.in.Peek(len(gzipMagic))
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.Equal(head, gzipMagic) {
		z, err := gzip.NewReader(l.in)
		if err != nil {
			return err
		}
		l.in = bufio.NewReaderSize(z, 64<<10)
	}
	return nil
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

// textLine is a line that is not empty, and its number in the part.
type textLine struct {
	number int
	text   []byte
}

func (l *lines) next(n int) ([]item, error) {
	var all []textLine
	for size := 0; len(all) < n && size < batchBytes && (l.part.Hi == 0 || l.end < l.part.Hi); {
		text, err := l.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(text)) > 0 {
			all, size = append(all, textLine{l.read - 1, text}), size+len(text)
		}
	}
	if len(all) == 0 {
		return nil, io.EOF
	}
	// All lines at once; one by one where that gives no graph for each.
	if out, err := l.parse(all); err == nil && len(out) == len(all) {
		return out, nil
	}
	out := []item{}
	for i := range all {
		one, err := l.parse(all[i : i+1])
		if err != nil {
			one = []item{{number: all[i].number, err: err}}
		}
		out = append(out, one...)
	}
	return out, nil
}

// parse returns the graphs of lines.
func (l *lines) parse(all []textLine) ([]item, error) {
	var b bytes.Buffer
	if l.part.Lo > 0 || all[0].number > 0 {
		b.WriteByte('\n') // A header can only stand in the first line of the file.
	}
	for _, line := range all {
		b.Write(line.text)
	}
	const name = "line"
	r, err := dataset.NewReader(&b, name, l.o)
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
		out = append(out, item{graph: g, number: all[min(len(out), len(all)-1)].number})
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

func (l *lines) place(number int) string {
	if l.before < 0 {
		n, err := newlines(l.part.Path, l.from)
		if err != nil {
			return fmt.Sprintf("%s: line %d after byte %d", l.part.Path, number+1, l.from)
		}
		l.before = n
	}
	return fmt.Sprintf("%s:%d", l.part.Path, l.before+number+1)
}

// newlines returns the number of line ends in the first n bytes of a file of the machine.
func newlines(path string, n int64) (int, error) {
	if n == 0 {
		return 0, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := io.LimitReader(f, n)
	buf := make([]byte, 64<<10)
	for count := 0; ; {
		k, err := in.Read(buf)
		count += bytes.Count(buf[:k], []byte("\n"))
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func (l *lines) close() error { return l.file.Close() }
