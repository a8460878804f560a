package matrix

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseNPYHeader returns the shape that the header of a .npy file states, and whether the numbers
// stand column by column. The header is a dictionary as Python writes it: keys in any order, either
// quotes, blanks anywhere, and perhaps a comma behind the last entry. Python 2 wrote whole numbers
// with an L. A vector is a column.
func parseNPYHeader(text string) (rows, cols int, byColumns bool, err error) {
	h := &npyHeader{rest: text}
	seen := map[string]bool{}
	h.list("{", "}", func() {
		key := h.text()
		h.want(":")
		if seen[key] {
			h.fail("key %q is there twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			if h.next() == '[' || h.next() == '(' {
				h.fail("the numbers have several fields, want float64 in little-endian order (<f8)")
			}
			if descr := h.text(); descr != "<f8" {
				h.fail("numbers of type %q, want float64 in little-endian order (<f8)", descr)
			}
		case "fortran_order":
			if byColumns = h.take("True"); !byColumns {
				h.want("False")
			}
		case "shape":
			rows, cols = h.shape()
		default:
			h.fail("unknown key %q", key)
		}
	})
	if h.next() != 0 {
		h.fail("text after the dictionary: %.20q", h.rest)
	}
	if len(seen) != 3 {
		h.fail("%d keys, want descr, fortran_order and shape", len(seen))
	}
	return rows, cols, byColumns, h.err
}

// npyHeader reads a Python dictionary from its beginning. It keeps the first error, and nothing is
// left to read then.
type npyHeader struct {
	rest string
	err  error
}

func (h *npyHeader) fail(format string, args ...any) {
	if h.err == nil {
		h.err = fmt.Errorf("header: "+format, args...)
	}
	h.rest = ""
}

// next returns the first character behind blanks, 0 at the end.
func (h *npyHeader) next() byte {
	h.rest = strings.TrimLeft(h.rest, " \t\r\n\f")
	if h.rest == "" {
		return 0
	}
	return h.rest[0]
}

// take removes a text from the beginning if it stands there.
func (h *npyHeader) take(text string) (ok bool) {
	h.next()
	h.rest, ok = strings.CutPrefix(h.rest, text)
	return ok
}

func (h *npyHeader) want(text string) {
	if !h.take(text) {
		h.fail("%.20q, want %s", h.rest, text)
	}
}

// list reads entries with commas between them, and perhaps one behind the last. It reports whether
// there is one.
func (h *npyHeader) list(open, end string, entry func()) (comma bool) {
	h.want(open)
	for h.err == nil && !h.take(end) {
		entry()
		if comma = h.take(","); !comma {
			h.want(end)
			return false
		}
	}
	return comma
}

// text reads a text in quotes. What NumPy writes has no escapes.
func (h *npyHeader) text() string {
	quote := h.next()
	if quote != '\'' && quote != '"' {
		h.fail("%.20q, want a text in quotes", h.rest)
		return ""
	}
	text, rest, ok := strings.Cut(h.rest[1:], string(quote))
	if !ok || strings.ContainsAny(text, "\\\n") {
		h.fail("%.20q, want a text in quotes, without escapes", h.rest)
		return ""
	}
	h.rest = rest
	return text
}

// shape reads a tuple of one or two whole numbers.
func (h *npyHeader) shape() (rows, cols int) {
	shape := []int{}
	comma := h.list("(", ")", func() {
		h.next()
		digits := h.rest[:len(h.rest)-len(strings.TrimLeft(h.rest, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil || digits != strconv.Itoa(n) {
			h.fail("%.20q, want a whole number of at most %d in the shape", h.rest, math.MaxInt)
		}
		h.take(digits)
		h.take("L")
		shape = append(shape, n)
	})
	switch {
	case len(shape) == 1 && comma:
		return shape[0], 1
	case len(shape) == 2:
		return shape[0], shape[1]
	}
	h.fail("shape %v, want (rows,) or (rows, columns)", shape)
	return 0, 0
}
