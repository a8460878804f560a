package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic is what a Parquet file begins and ends with.
const Magic = "PAR1"

// Limits bound what hostile input can cost.
type Limits struct {
	Rows  int64
	Bytes int64 // of the description at the end, and of a page after decompression
	Ratio int64 // bytes of a page after decompression for one before, beyond a MiB; rows for a byte of the file
}

// File is an open table.
type File struct {
	Names   []string // of the columns that can be read
	Ignored []string // names of lists and nested columns

	in      io.ReaderAt
	size    int64
	lim     Limits
	columns []column
	groups  []fields // of rows
	rows    int64    // left in the current group
	readers []*chunk // of the current group, by column
	row     []string
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
		return nil, fmt.Errorf("the end is %q, want %s: the file breaks off, or is encrypted", tail[4:], Magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-12 {
		return nil, fmt.Errorf("a description of %d bytes in a file of %d", n, size)
	}
	if n > lim.Bytes {
		return nil, fmt.Errorf("a description of %d bytes, the limit is %d", n, lim.Bytes)
	}
	footer := make([]byte, n)
	if _, err := in.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	meta, err := (&thrift{b: footer}).structure()
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
			return nil, errors.New("a group of rows without their number")
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
			return errors.New("the schema has something else than columns")
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
	return nil
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
		v, err := r.next()
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Names[i], err)
		}
		f.row[i] = v
	}
	return f.row, nil
}

// group begins a group of rows.
func (f *File) group(g fields) error {
	f.rows = g.int(3)
	f.readers = make([]*chunk, len(f.columns))
	for _, x := range g.list(1) {
		part, _ := x.(fields)
		meta := part.fields(3)
		path := meta.list(3)
		if len(path) != 1 {
			continue
		}
		name, _ := path[0].([]byte)
		for i, c := range f.columns {
			if c.name == string(name) && f.readers[i] == nil {
				var err error
				if f.readers[i], err = f.chunk(c, meta, f.rows); err != nil {
					return fmt.Errorf("column %q: %w", c.name, err)
				}
				break
			}
		}
	}
	for i, r := range f.readers {
		if r == nil {
			return fmt.Errorf("column %q is not in a group of rows", f.Names[i])
		}
	}
	return nil
}
