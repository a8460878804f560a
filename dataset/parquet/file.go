package parquet

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Magic is what a Parquet file begins and ends with.
const Magic = "PAR1"

// Limits bound what hostile input can cost.
type Limits struct {
	Rows  int64
	Page  int64 // bytes of a page before and after decompression, and of the description at the end
	Bytes int64 // bytes of all columns together that are held at a time: pages and dictionaries, before and after decompression
	Ratio int64 // bytes for one of the file, once there are 64 MiB: of all pages after decompression, of all values; also rows
}

// ratioFloor is the number of bytes from which Limits.Ratio applies.
const ratioFloor = 64 << 20

// File is an open table.
type File struct {
	Names   []string // of the columns that can be read
	Ignored []string // names of lists and nested columns

	in      io.ReaderAt
	size    int64
	lim     Limits
	columns []column
	places  map[string]int // of columns, by name: the first
	after   []int          // by column: the next of the same name, -1 for none
	wanted  []bool         // by column: it is read
	groups  []fields       // of rows
	rows    int64          // left in the current group
	readers []*chunk       // of the current group, by column
	row     []string

	held     int64 // bytes of the pages and dictionaries of the current group
	chunks   int64 // bytes of all chunks up to now
	unpacked int64 // bytes of all pages up to now
	told     int64 // bytes of all values up to now, and one for each

	head []byte // for headers of pages
	gzip gzip.Reader
	zstd *zstd.Decoder
}

// hold counts the bytes of a page in place of those before.
func (f *File) hold(before *int64, n int64) error {
	f.held += n - *before
	*before = n
	if f.held > f.lim.Bytes {
		return fmt.Errorf("the pages of all columns have more than %d bytes, which is the limit", f.lim.Bytes)
	}
	return nil
}

// grow counts bytes that come out of the file.
func (f *File) grow(sum *int64, n int64) error {
	if *sum += n; *sum > ratioFloor && *sum/f.lim.Ratio > f.size {
		return fmt.Errorf("%d bytes become more than %d, want at most %d times as many", f.size, *sum, f.lim.Ratio)
	}
	return nil
}

// column is a column of the schema.
type column struct {
	name     string
	kind     int64 // physical type
	length   int   // of values of fixed length
	optional bool
	format   format
}

// Open reads the description of a table of some size.
func Open(in io.ReaderAt, size int64, lim Limits) (*File, error) {
	tail := make([]byte, 8)
	if size < 12 {
		return nil, errors.New("too short for a Parquet file")
	}
	if _, err := in.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != Magic {
		return nil, fmt.Errorf("the end is %q, want %s: the file ends too early, or is encrypted", tail[4:], Magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 {
		return nil, fmt.Errorf("a description of %d bytes in a file of %d", n, size)
	}
	if n > lim.Page {
		return nil, fmt.Errorf("a description of %d bytes, the limit is %d", n, lim.Page)
	}
	footer := make([]byte, n)
	if _, err := in.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	meta, err := (&thrift{b: footer, want: wantedFile}).structure()
	if err != nil {
		return nil, err
	}
	f := &File{in: in, size: size, lim: lim}
	if err := f.schema(meta.list(2)); err != nil {
		return nil, err
	}
	left := min(lim.Rows, lim.Ratio*size)
	for _, g := range meta.list(4) {
		group, ok := g.(fields)
		if !ok || group.int(3) < 0 {
			return nil, errors.New("a group of rows without its number of rows")
		}
		if left -= group.int(3); left < 0 {
			return nil, fmt.Errorf("more than %d rows in %d bytes", min(lim.Rows, lim.Ratio*size), size)
		}
		f.groups = append(f.groups, group)
	}
	f.row = make([]string, len(f.Names))
	return f, nil
}

// schema finds the flat columns.
func (f *File) schema(list []any) error {
	if len(list) == 0 {
		return errors.New("no schema")
	}
	for i := 1; i < len(list); {
		e, ok := list[i].(fields)
		if !ok {
			return errors.New("the schema has an element that is not a column")
		}
		name, repetition := e.text(4), e.int(3)
		if children := e.int(5); children > 0 || repetition == 2 {
			f.Ignored = append(f.Ignored, name)
			i = skipTree(list, i)
			continue
		}
		c := column{name: name, kind: e.int(1), length: int(e.int(2)), optional: repetition == 1, format: formatOf(e)}
		if c.kind == fixedBytes && (c.length <= 0 || c.length > 1<<20) {
			return fmt.Errorf("column %q has values of %d bytes", name, c.length)
		}
		f.columns, f.Names = append(f.columns, c), append(f.Names, name)
		i++
	}
	f.places, f.after = map[string]int{}, make([]int, len(f.Names))
	for i := len(f.Names) - 1; i >= 0; i-- {
		f.after[i] = -1
		if next, more := f.places[f.Names[i]]; more {
			f.after[i] = next
		}
		f.places[f.Names[i]] = i
	}
	f.wanted = make([]bool, len(f.Names))
	for i := range f.wanted {
		f.wanted[i] = true
	}
	return nil
}

// Select reads only the columns at some positions. Next then returns "" for the others, which cost nothing.
func (f *File) Select(columns []int) {
	clear(f.wanted)
	for _, i := range columns {
		f.wanted[i] = true
	}
}

// skipTree returns the place behind an element of the schema and all that is below it.
func skipTree(list []any, i int) int {
	for open := int64(1); open > 0 && i < len(list); i++ {
		e, _ := list[i].(fields)
		open += max(e.int(5), 0) - 1
	}
	return i
}

// Next returns the values of the next row, "" for one that is missing, valid until the next call, and io.EOF behind the last.
func (f *File) Next() ([]string, error) {
	for f.rows == 0 {
		if len(f.groups) == 0 {
			return nil, io.EOF
		}
		if err := f.group(f.groups[0]); err != nil {
			return nil, err
		}
		f.groups = f.groups[1:]
	}
	f.rows--
	for i, r := range f.readers {
		if r == nil {
			continue
		}
		v, err := r.next()
		if err == nil {
			err = f.grow(&f.told, int64(len(v))+1)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Names[i], err)
		}
		f.row[i] = v
	}
	return f.row, nil
}

// group begins a group of rows.
func (f *File) group(g fields) error {
	f.rows, f.held = g.int(3), 0
	f.readers = make([]*chunk, len(f.columns))
	places := maps.Clone(f.places)
	for _, x := range g.list(1) {
		part, _ := x.(fields)
		meta := part.fields(3)
		path := meta.list(3)
		if len(path) != 1 {
			continue
		}
		name, _ := path[0].([]byte)
		i, known := places[string(name)]
		if !known || i < 0 {
			continue
		}
		places[string(name)] = f.after[i]
		if !f.wanted[i] {
			continue
		}
		var err error
		if f.readers[i], err = f.chunk(f.columns[i], meta, f.rows); err != nil {
			return fmt.Errorf("column %q: %w", f.Names[i], err)
		}
	}
	for i, r := range f.readers {
		if r == nil && f.wanted[i] {
			return fmt.Errorf("column %q is not in a group of rows", f.Names[i])
		}
	}
	return f.apart()
}

// apart checks that no byte of the file stands for two columns of the group, and that all chunks fit into the file.
func (f *File) apart() error {
	sorted := slices.DeleteFunc(slices.Clone(f.readers), func(c *chunk) bool { return c == nil })
	slices.SortFunc(sorted, func(a, b *chunk) int { return cmp.Compare(a.at, b.at) })
	for i, c := range sorted {
		if i > 0 && c.at < sorted[i-1].end {
			return fmt.Errorf("columns %q and %q overlap at byte %d", sorted[i-1].name, c.name, c.at)
		}
		if f.chunks += c.end - c.at; f.chunks > f.size {
			return fmt.Errorf("the columns have more than the %d bytes of the file", f.size)
		}
	}
	return nil
}
