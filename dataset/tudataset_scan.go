package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// table is a rectangle of values, row by row.
type table[T any] struct {
	rows, cols int
	data       []T
}

func (t *table[T]) row(i int) []T { return t.data[i*t.cols : (i+1)*t.cols] }

// scanRows calls f for every line up to the last one that is not blank, so that blank
// lines at the end do not count. A blank line before is an error.
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
			return l.fail("more than %d lines, the limit Limits.Items", l.rows)
		}
		if err := f(line); err != nil {
			return l.fail("%w", err)
		}
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func trim(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// integer parses a whole number; s is trimmed.
func integer(s []byte) (int32, error) {
	neg := false
	d := s
	if len(d) > 0 && (d[0] == '-' || d[0] == '+') {
		neg = d[0] == '-'
		d = d[1:]
	}
	x := int64(0)
	for _, c := range d {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s, want a whole number", quote(s))
		}
		if x = x*10 + int64(c-'0'); x > math.MaxInt32 {
			return 0, fmt.Errorf("%s, want a whole number up to %d", quote(s), math.MaxInt32)
		}
	}
	if len(d) == 0 {
		return 0, fmt.Errorf("%s, want a whole number", quote(s))
	}
	if neg {
		x = -x
	}
	return int32(x), nil
}

// quote shows the beginning of what was found instead of something else.
func quote(s []byte) string {
	const most = 40
	if len(s) == 0 {
		return "nothing"
	}
	if len(s) > most {
		return strconv.Quote(string(s[:most])) + "…"
	}
	return strconv.Quote(string(s))
}

func scanNumbers(l *lines) (out []int32, err error) {
	err = scanRows(l, func(line []byte) error {
		x, err := integer(line)
		out = append(out, x)
		return err
	})
	return out, err
}

func scanPairs(l *lines) (src, dst []int32, err error) {
	err = scanRows(l, func(line []byte) error {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			return fmt.Errorf("%s, want two vertex numbers with a comma between them", quote(line))
		}
		u, err := integer(trim(line[:i]))
		if err != nil {
			return err
		}
		v, err := integer(trim(line[i+1:]))
		src, dst = append(src, u), append(dst, v)
		return err
	})
	return src, dst, err
}

// interner returns equal texts as one string.
type interner map[string]string

func (in interner) text(s []byte) string {
	if t, ok := in[string(s)]; ok {
		return t
	}
	t := string(s)
	// Texts that hardly repeat are not labels: they need no table.
	if len(in) < 1<<16 {
		in[t] = t
	}
	return t
}

// scanLabels reads one label a line. Several columns are one label, joined by ",".
func scanLabels(l *lines) (t table[string], err error) {
	in := interner{}
	var buf []byte
	t.cols = 1
	err = scanRows(l, func(line []byte) error {
		if bytes.IndexByte(line, ',') >= 0 {
			buf = buf[:0]
			for i := 0; ; i++ {
				field, rest, more := bytes.Cut(line, []byte(","))
				if i > 0 {
					buf = append(buf, ',')
				}
				buf = append(buf, trim(field)...)
				if !more {
					break
				}
				line = rest
			}
			line = buf
		}
		t.data = append(t.data, in.text(line))
		t.rows++
		return nil
	})
	return t, err
}

// scanNames reads one text a line.
func scanNames(l *lines) (t table[string], err error) {
	t.cols = 1
	err = scanRows(l, func(line []byte) error {
		t.data = append(t.data, string(line))
		t.rows++
		return nil
	})
	return t, err
}

// scanColumns reads columns of texts.
func scanColumns(l *lines) (t table[string], err error) {
	err = scanRows(l, func(line []byte) error {
		fields := strings.Split(string(line), ",")
		if t.rows == 0 {
			t.cols = len(fields)
		}
		if len(fields) != t.cols {
			return fmt.Errorf("%d columns, want %d as in the first line", len(fields), t.cols)
		}
		for _, f := range fields {
			t.data = append(t.data, strings.TrimSpace(f))
		}
		t.rows++
		return nil
	})
	return t, err
}

// scanReals reads columns of finite numbers.
func scanReals(l *lines) (t table[float64], err error) {
	err = scanRows(l, func(line []byte) error {
		cols := 0
		for {
			field, rest, more := bytes.Cut(line, []byte(","))
			x, err := decimal(trim(field))
			if err != nil {
				return fmt.Errorf("column %d: %w", cols+1, err)
			}
			t.data = append(t.data, x)
			cols++
			if !more {
				break
			}
			line = rest
		}
		if t.rows == 0 {
			t.cols = cols
		}
		if cols != t.cols {
			return fmt.Errorf("%d columns, want %d as in the first line", cols, t.cols)
		}
		t.rows++
		return nil
	})
	return t, err
}

func positive(w float64) bool { return w > 0 && !math.IsInf(w, 1) }

// pow10 holds the powers of ten that are exact in float64.
var pow10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// decimal parses a finite number; s is trimmed. A plain decimal with at most 15 digits is
// mantissa/10^k with both exact, so one division rounds correctly; the rest goes to
// strconv.
func decimal(s []byte) (float64, error) {
	d, neg := s, false
	if len(d) > 0 && d[0] == '-' {
		neg, d = true, d[1:]
	}
	m, digits, frac, point := uint64(0), 0, 0, false
	plain := len(d) > 0
	for _, c := range d {
		switch {
		case c >= '0' && c <= '9':
			m = m*10 + uint64(c-'0')
			digits++
			if point {
				frac++
			}
		case c == '.' && !point:
			point = true
		default:
			plain = false
		}
		if digits > 15 || !plain {
			plain = false
			break
		}
	}
	if plain && digits > 0 {
		x := float64(m) / pow10[frac]
		if neg {
			x = -x
		}
		return x, nil
	}
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%s is too large a number", quote(s))
		}
		return 0, fmt.Errorf("%s, want a number", quote(s))
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s, want a finite number", quote(s))
	}
	return x, nil
}
