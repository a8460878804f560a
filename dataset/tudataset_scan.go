package dataset

import (
	"bytes"
	"fmt"
	"io"
)

var comma = []byte(",")

// scanRows calls f for every line. Blank lines at the end do not count. A blank line before is an
// error.
func scanRows(l *lines, f func(line []byte) error) error {
	blank := 0 // number of the first of the blank lines before this one
	for {
		line, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line = trim(line)
		if len(line) == 0 {
			if blank == 0 {
				blank = l.n
			}
			continue
		}
		if blank > 0 {
			return at(l.name, blank, "empty line")
		}
		if int64(l.n) > l.rows {
			return l.fail("more than %d lines, which is the limit", l.rows)
		}
		if err := f(line); err != nil {
			return l.fail("%w", err)
		}
	}
}

// scanLines reads one value a line into out.
func scanLines[T any](l *lines, out *[]T, parse func(line []byte) (T, error)) error {
	var list []T // not *out: what is read at the same time must not lie in one cache line
	err := scanRows(l, func(line []byte) error {
		x, err := parse(line)
		list = append(list, x)
		return err
	})
	*out = list
	return err
}

// table is a rectangle of values, row by row.
type table[T any] struct {
	rows, cols int
	data       []T
}

func (t *table[T]) row(i int) []T { return t.data[i*t.cols : (i+1)*t.cols] }

// scanTable reads values with commas between them, as many in every line as in the first.
func scanTable[T any](l *lines, out *table[T], parse func(field []byte) (T, error)) error {
	var t table[T]
	err := scanRows(l, func(line []byte) error {
		cols := 0
		for more := true; more; cols++ {
			var field []byte
			field, line, more = bytes.Cut(line, comma)
			x, err := parse(trim(field))
			if err != nil {
				return fmt.Errorf("column %d: %w", cols+1, err)
			}
			t.data = append(t.data, x)
		}
		if int64(len(t.data)) > l.rows {
			return fmt.Errorf("more than %d values, which is the limit", l.rows)
		}
		if t.rows == 0 {
			t.cols = cols
		}
		if cols != t.cols {
			return fmt.Errorf("%s, want %d as in the first line", counted(cols, "column", "columns"), t.cols)
		}
		t.rows++
		return nil
	})
	*out = t
	return err
}

func text(s []byte) (string, error) { return string(s), nil }

// trim is bytes.TrimSpace for blanks and tabs alone, which is much of the time of reading numbers.
func trim(s []byte) []byte {
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}

// pair parses two whole numbers with a comma between them.
func pair(line []byte) ([2]int32, error) {
	if i := bytes.IndexByte(line, ','); i >= 0 {
		u, err1 := integer(trim(line[:i]))
		v, err2 := integer(trim(line[i+1:]))
		if err1 == nil && err2 == nil {
			return [2]int32{u, v}, nil
		}
	}
	return [2]int32{}, fmt.Errorf("%s, want two vertex numbers with a comma between them", quote(line))
}

// labels returns a function that parses labels. Several columns are one label, joined by ",".
func labels() func(line []byte) (string, error) {
	in := interner{}
	return func(line []byte) (string, error) {
		if bytes.IndexByte(line, ',') >= 0 {
			fields := bytes.Split(line, comma)
			for i, f := range fields {
				fields[i] = trim(f)
			}
			line = bytes.Join(fields, comma)
		}
		return in.text(line), nil
	}
}
