package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// fields are those of a structure in Thrift's compact protocol, by number. Values are bool, int64, float64, []byte,
// []any and fields.
type fields map[int]any

func (f fields) int(id int) int64 {
	x, _ := f[id].(int64)
	return x
}

func (f fields) text(id int) string {
	x, _ := f[id].([]byte)
	return string(x)
}

func (f fields) list(id int) []any {
	x, _ := f[id].([]any)
	return x
}

func (f fields) fields(id int) fields {
	x, _ := f[id].(fields)
	return x
}

// Types of the compact protocol.
const (
	thriftTrue, thriftFalse, thriftByte, thriftI16, thriftI32, thriftI64 = 1, 2, 3, 4, 5, 6
	thriftDouble, thriftBinary, thriftList, thriftSet, thriftMap         = 7, 8, 9, 10, 11
	thriftStruct                                                         = 12
)

const maxDepth = 16

var errBreaksOff = errors.New("the header breaks off")

// thrift reads the compact protocol.
type thrift struct {
	b     []byte
	depth int
}

func (t *thrift) byte() (byte, error) {
	if len(t.b) == 0 {
		return 0, errBreaksOff
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c, nil
}

func (t *thrift) unsigned() (uint64, error) {
	x, n := binary.Uvarint(t.b)
	if n <= 0 {
		return 0, errBreaksOff
	}
	t.b = t.b[n:]
	return x, nil
}

func (t *thrift) signed() (int64, error) {
	x, n := binary.Varint(t.b)
	if n <= 0 {
		return 0, errBreaksOff
	}
	t.b = t.b[n:]
	return x, nil
}

// structure reads the fields of a structure.
func (t *thrift) structure() (fields, error) {
	if t.depth++; t.depth > maxDepth {
		return nil, errors.New("the header is nested too deeply")
	}
	defer func() { t.depth-- }()
	out := fields{}
	id := 0
	for {
		head, err := t.byte()
		if err != nil || head == 0 {
			return out, err
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			n, err := t.signed()
			if err != nil {
				return nil, err
			}
			if n != int64(int16(n)) {
				return nil, fmt.Errorf("the header has a field of number %d", n)
			}
			id = int(n)
		}
		kind := head & 15
		if kind == thriftTrue || kind == thriftFalse {
			out[id] = kind == thriftTrue
			continue
		}
		if out[id], err = t.value(kind); err != nil {
			return nil, err
		}
	}
}

// value reads a value of a type.
func (t *thrift) value(kind byte) (any, error) {
	switch kind {
	case thriftTrue, thriftFalse: // in a list
		c, err := t.byte()
		return c == thriftTrue, err
	case thriftByte:
		c, err := t.byte()
		return int64(int8(c)), err
	case thriftI16, thriftI32, thriftI64:
		x, err := t.signed()
		if bits := map[byte]uint{thriftI16: 16, thriftI32: 32, thriftI64: 64}[kind]; err == nil && x>>(bits-1) != x>>63 {
			err = fmt.Errorf("the header has %d as a number of %d bits", x, bits)
		}
		return x, err
	case thriftDouble:
		if len(t.b) < 8 {
			return nil, errBreaksOff
		}
		t.b = t.b[8:] // none is needed
		return 0.0, nil
	case thriftBinary:
		n, err := t.unsigned()
		if err != nil || n > uint64(len(t.b)) {
			return nil, errBreaksOff
		}
		x := t.b[:n]
		t.b = t.b[n:]
		return x, nil
	case thriftList, thriftSet:
		return t.listed()
	case thriftStruct:
		return t.structure()
	}
	return nil, fmt.Errorf("the header has a value of type %d", kind)
}

func (t *thrift) listed() (any, error) {
	if t.depth++; t.depth > maxDepth {
		return nil, errors.New("the header is nested too deeply")
	}
	defer func() { t.depth-- }()
	head, err := t.byte()
	if err != nil {
		return nil, err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = t.unsigned(); err != nil {
			return nil, err
		}
	}
	if n > uint64(len(t.b)) { // every value has a byte at least
		return nil, errBreaksOff
	}
	out := make([]any, 0, min(n, 1<<10))
	for range n {
		x, err := t.value(head & 15)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
