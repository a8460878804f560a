package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// at returns an error in a line of a file.
func at(name string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, args...))
}

// ratioFloor is the number of decompressed bytes from which Limits.Ratio applies: small
// files of equal lines compress well without being hostile.
const ratioFloor = 64 << 20

// counter counts the bytes that pass.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// inflated passes decompressed bytes on and refuses a stream that grows too much.
type inflated struct {
	r     io.Reader
	in    func() int64 // compressed bytes so far
	out   int64
	ratio int
}

func (x *inflated) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	x.out += int64(n)
	if x.out > ratioFloor && x.out/int64(x.ratio) > x.in() {
		return 0, fmt.Errorf("%d compressed bytes become more than %d: refused beyond %d to 1, the limit Limits.Ratio", x.in(), x.out, x.ratio)
	}
	return n, err
}

// decompress returns the bytes of r, through gzip when they begin with its magic number.
func decompress(r io.Reader, lim Limits) (*bufio.Reader, error) {
	c := &counter{r: r}
	br := bufio.NewReaderSize(c, 64<<10)
	magic, err := br.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return br, nil
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	in := func() int64 { return c.n }
	return bufio.NewReaderSize(&inflated{r: z, in: in, ratio: lim.Ratio}, 64<<10), nil
}

// budget bounds the bytes of several inputs together.
type budget struct {
	left  atomic.Int64
	total int64
}

func newBudget(total int64) *budget {
	b := &budget{total: total}
	b.left.Store(total)
	return b
}

type budgeted struct {
	r io.Reader
	b *budget
}

func (x *budgeted) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if x.b.left.Add(-int64(n)) < 0 {
		return 0, fmt.Errorf("more than %d bytes after decompression, the limit Limits.Bytes", x.b.total)
	}
	return n, err
}

// record bounds the bytes that are read between two calls of reset, for parsers that read
// a record of unknown length.
type record struct {
	r    io.Reader
	n    int
	max  int
	last error // error of r other than io.EOF, for parsers that hide it
}

func (x *record) reset() { x.n = 0 }

func (x *record) Read(p []byte) (int, error) {
	if x.n > x.max {
		x.last = fmt.Errorf("record longer than %d bytes, the limit Limits.Record", x.max)
		return 0, x.last
	}
	n, err := x.r.Read(p)
	x.n += n
	if err != nil && err != io.EOF {
		x.last = err
	}
	return n, err
}

// lines reads lines of bounded length and counts them.
type lines struct {
	name string // of the file, for errors
	r    *bufio.Reader
	max  int   // bytes of a line
	rows int64 // lines that scanRows takes
	n    int   // number of the line that was read last
	buf  []byte
}

func newLines(name string, r *bufio.Reader, lim Limits) *lines {
	return &lines{name: name, r: r, max: lim.Line, rows: min(lim.Items, math.MaxInt32-1)}
}

// next returns the next line without its end (LF or CRLF), valid until the next call. At
// the end of the input it returns io.EOF; other errors name the line.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.buf = append(l.buf[:0], line...)
		for err == bufio.ErrBufferFull && len(l.buf) <= l.max {
			line, err = l.r.ReadSlice('\n')
			l.buf = append(l.buf, line...)
		}
		line = l.buf
	}
	if err == io.EOF {
		if len(line) == 0 {
			return nil, io.EOF
		}
		err = nil
	}
	l.n++
	if len(line) > l.max {
		return nil, at(l.name, l.n, "line longer than %d bytes, the limit Limits.Line", l.max)
	}
	if err != nil {
		return nil, at(l.name, l.n, "%w", broken(err))
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	return line, nil
}

func (l *lines) fail(format string, args ...any) error { return at(l.name, l.n, format, args...) }

// broken says in words that a compressed stream stops too early.
func broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the input breaks off: %w", err)
	}
	return err
}
