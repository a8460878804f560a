package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/graph"
)

// stream is an input whose graphs are read one after the other.
type stream struct {
	in   *bufio.Reader // after decompression
	file io.ReaderAt   // the same, of some size, where it is a file that is not compressed; else nil
	size int64
	name string // for errors
	opts Options
	warn *warnings
	read *lines // what lines returned
	said int64  // vertices that are numbers only, see bare

	pass func() error // goes over a record; nil where that takes a graph

	named      bool      // some graph has data by keys
	keys       [2]keySet // of vertices and of edges, at most maxKeys each
	attributes *string   // keys that are the attributes, "" if graphs differ, nil before the first graph
	beside     Fields    // the last graph
	roles      Roles     // of a table
	comma      bool      // numbers of a table have decimal commas where the first rows do not tell
	point      bool      // they have none: commas separate cells
	skipped    LeftOut
	bad        Skipped                 // the last of these
	shared     map[string]*graph.Graph // structures of rows by their texts
	broken     map[string]error        // SMILES that cannot be read: a Parquet file may repeat a long one in few bytes
}

// maxBroken is the number of unreadable SMILES that a reader remembers.
const maxBroken = 16

// lineError is an error in a line of the input.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Unwrap() error { return e.err }

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

// PlaceError is an error in a line of a file.
type PlaceError struct {
	Name string
	Line int // from 1
	Err  error
}

func (e *PlaceError) Unwrap() error { return e.Err }

func (e *PlaceError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }

// at returns an error in a line of a file.
func at(name string, line int, format string, args ...any) error {
	return &PlaceError{name, line, fmt.Errorf(format, args...)}
}

// at adds the place to an error: its own line where it has one, else the given one.
func (s *stream) at(line int, err error) error {
	if e, ok := err.(*lineError); ok {
		line, err = e.line, e.err
	}
	return at(s.name, line, "%w", err)
}

// readerFunc is an io.Reader.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// ratioFloor is the number of decompressed bytes from which Limits.Ratio applies: small
// files of equal lines compress well without being hostile.
const ratioFloor = 64 << 20

// tooDense says that a compressed file grows too much.
func tooDense(in, out int64, lim Limits) error {
	return fmt.Errorf("%d compressed bytes become more than %d, want at most %d times as many", in, out, lim.Ratio)
}

const peek, buffer = 4 << 10, 32 << 10 // bytes

// decompress returns the bytes of r, through gzip when they begin with its magic number, and
// without the mark of the byte order that may stand at the beginning of UTF-8. UTF-16 with such a mark becomes UTF-8.
// Its buffer is small: who reads lines puts a larger one on top.
func decompress(r io.Reader, lim Limits) (*bufio.Reader, error) {
	in, out := int64(0), int64(0)
	br := bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		in += int64(n)
		return n, err
	}), peek)
	magic, err := br.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.Equal(magic, gzipMagic) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, err
		}
		br = bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
			n, err := z.Read(p)
			out += int64(n)
			if out > ratioFloor && out/int64(lim.Ratio) > in {
				return 0, tooDense(in, out, lim)
			}
			return n, err
		}), peek)
	}
	switch mark, _ := br.Peek(3); {
	case string(mark) == "\xef\xbb\xbf":
		br.Discard(3)
	case len(mark) > 1 && (string(mark[:2]) == "\xff\xfe" || string(mark[:2]) == "\xfe\xff"):
		br.Discard(2)
		return bufio.NewReaderSize(&utf16Reader{r: br, big: mark[0] == 0xfe}, peek), nil
	}
	return br, nil
}

// utf16Reader gives text in UTF-16, as Excel writes it, in UTF-8.
type utf16Reader struct {
	r    *bufio.Reader
	big  bool   // the byte order
	rest []byte // of the last letter, that did not fit
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(u.rest) == 0 && !u.letter() {
			if n > 0 {
				return n, nil
			}
			return 0, u.err
		}
		k := copy(p[n:], u.rest)
		u.rest, n = u.rest[k:], n+k
	}
	return n, nil
}

// letter reads one and reports whether there was one.
func (u *utf16Reader) letter() bool {
	a, ok := u.half()
	if !ok {
		return false
	}
	r := rune(a)
	if utf16.IsSurrogate(r) {
		b, _ := u.half() // 0 at the end, which makes the pair a replacement character
		r = utf16.DecodeRune(r, rune(b))
	}
	u.rest = utf8.AppendRune(u.rest[:0], r)
	return true
}

func (u *utf16Reader) half() (uint16, bool) {
	var b [2]byte
	if u.err == nil {
		_, u.err = io.ReadFull(u.r, b[:])
	}
	if u.err != nil {
		return 0, false
	}
	if u.big {
		b[0], b[1] = b[1], b[0]
	}
	return uint16(b[0]) | uint16(b[1])<<8, true
}

// budget returns a function that passes inputs on as long as all of them together do not
// exceed Limits.Bytes.
func budget(lim Limits) func(io.Reader) *bufio.Reader {
	var used atomic.Int64
	return func(r io.Reader) *bufio.Reader {
		return bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
			n, err := r.Read(p)
			if used.Add(int64(n)) > lim.Bytes {
				return 0, fmt.Errorf("more than %d bytes after decompression, which is the limit", lim.Bytes)
			}
			return n, err
		}), buffer)
	}
}

// bounded bounds the bytes that are read between two calls of reset, for parsers that read
// something of unknown length.
type bounded struct {
	r    io.Reader
	n    int
	max  int
	last error // error of r other than io.EOF, for parsers that hide it
}

func (x *bounded) reset() { x.n = 0 }

func (x *bounded) Read(p []byte) (int, error) {
	if x.n > x.max {
		x.last = fmt.Errorf("record longer than %d bytes, which is the limit", x.max)
		return 0, x.last
	}
	n, err := x.r.Read(p[:min(len(p), x.max+1-x.n)])
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
	size int64 // bytes that were read
	buf  []byte

	broken bool // a line could not be read
}

func newLines(name string, r *bufio.Reader, lim Limits) *lines {
	return &lines{name: name, r: r, max: lim.Line, rows: min(lim.Items, math.MaxInt32-1)}
}

func (s *stream) lines() *lines {
	s.read = newLines(s.name, s.in, s.opts.Limits)
	return s.read
}

// bareVertices is how many vertices a file may have beyond one for each of its bytes.
const bareVertices = 1_000_000

// bare counts the vertices of a graph of which the file says no more than their number. A few bytes must not take
// much memory.
func (s *stream) bare(n int) error {
	if s.said += int64(n); s.said > s.read.size+bareVertices {
		return fmt.Errorf("%d vertices in the first %d bytes, want at most a million more than bytes", s.said, s.read.size)
	}
	return nil
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
	l.size += int64(len(line))
	l.broken = len(line) > l.max || err != nil
	if len(line) > l.max {
		return nil, l.fail("line longer than %d bytes, which is the limit", l.max)
	}
	if err != nil {
		return nil, l.fail("%w", broken(err))
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// content returns the next line, without blanks around it, that is not empty and does not
// begin with one of the marks of a comment.
func (l *lines) content(comments string) ([]byte, error) {
	for {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && strings.IndexByte(comments, line[0]) < 0 {
			return line, nil
		}
	}
}

func (l *lines) fail(format string, args ...any) error { return at(l.name, l.n, format, args...) }

// broken says in words that a compressed stream stops too early.
func broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the input ends too early: %w", err)
	}
	return err
}
