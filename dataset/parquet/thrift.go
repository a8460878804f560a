package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// fields are those of a structure in Thrift's compact protocol. Values are bool, int64, []byte, []any and fields.
type fields []field

type field struct {
	id    int
	value any
}

// get returns the value of a field, nil for none; of several with a number the last counts.
func (f fields) get(id int) any {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].id == id {
			return f[i].value
		}
	}
	return nil
}

func (f fields) int(id int) int64 {
	x, _ := f.get(id).(int64)
	return x
}

func (f fields) text(id int) string {
	x, _ := f.get(id).([]byte)
	return string(x)
}

func (f fields) list(id int) []any {
	x, _ := f.get(id).([]any)
	return x
}

func (f fields) fields(id int) fields {
	x, _ := f.get(id).(fields)
	return x
}

// wanted are the fields of a structure that are kept, by number, and those of the structures in them.
type wanted map[int]wanted

// What is kept of the description at the end of a file, and of the header of a page.
var (
	wantedFile = wanted{
		2: { // elements of the schema
			1: nil, 2: nil, 3: nil, 4: nil, 5: nil, 6: nil, 7: nil, 8: nil,
			10: {5: {1: nil}, 6: {}, 8: {2: {1: {}, 2: {}, 3: {}}}},
		},
		4: { // groups of rows
			1: {3: {1: nil, 3: nil, 4: nil, 7: nil, 9: nil, 11: nil}},
			3: nil,
		},
	}
	wantedPage = wanted{
		1: nil, 2: nil, 3: nil,
		5: {1: nil, 2: nil, 3: nil},
		7: {1: nil, 2: nil},
		8: {1: nil, 4: nil, 5: nil, 6: nil, 7: nil},
	}
)

// Types of the compact protocol.
const (
	thriftTrue, thriftFalse, thriftByte, thriftI16, thriftI32, thriftI64 = 1, 2, 3, 4, 5, 6
	thriftDouble, thriftBinary, thriftList, thriftSet, thriftMap         = 7, 8, 9, 10, 11
	thriftStruct                                                         = 12
)

// A header is nested so deeply at most, and so many values of it are kept, each in less than 100 bytes.
const (
	maxDepth  = 16
	maxValues = 4 << 20
)

var errBreaksOff = errors.New("the header ends too early")

// thrift reads the compact protocol.
type thrift struct {
	b     []byte
	want  wanted
	depth int
	kept  int // values
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

// keep counts a value that is kept.
func (t *thrift) keep() error {
	if t.kept++; t.kept > maxValues {
		return fmt.Errorf("the header has more than %d values", maxValues)
	}
	return nil
}

// structure reads the fields of a structure and returns those that are wanted.
func (t *thrift) structure() (fields, error) { return t.fields(t.want, true) }

// fields reads the fields of a structure, and keeps those that are wanted, or none.
func (t *thrift) fields(want wanted, keep bool) (fields, error) {
	if t.depth++; t.depth > maxDepth {
		return nil, errors.New("the header is nested too deeply")
	}
	defer func() { t.depth-- }()
	var out fields
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
		below, known := want[id]
		known = known && keep
		kind := head & 15
		var x any = kind == thriftTrue
		if kind != thriftTrue && kind != thriftFalse {
			if x, err = t.value(kind, below, known); err != nil {
				return nil, err
			}
		}
		if known {
			if err := t.keep(); err != nil {
				return nil, err
			}
			out = append(out, field{id, x})
		}
	}
}

// value reads a value of a type, and of structures the fields that are wanted. One that is not kept is nil.
func (t *thrift) value(kind byte, want wanted, keep bool) (any, error) {
	switch kind {
	case thriftTrue, thriftFalse: // in a list
		c, err := t.byte()
		return c == thriftTrue, err
	case thriftByte:
		c, err := t.byte()
		return kept(int64(int8(c)), keep), err
	case thriftI16, thriftI32, thriftI64:
		x, err := t.signed()
		bits := 64
		switch kind {
		case thriftI16:
			bits = 16
		case thriftI32:
			bits = 32
		}
		if err == nil && x>>(bits-1) != x>>63 {
			err = fmt.Errorf("the header has %d as a number of %d bits", x, bits)
		}
		return kept(x, keep), err
	case thriftDouble: // none is needed
		if len(t.b) < 8 {
			return nil, errBreaksOff
		}
		t.b = t.b[8:]
		return nil, nil
	case thriftBinary:
		n, err := t.unsigned()
		if err != nil || n > uint64(len(t.b)) {
			return nil, errBreaksOff
		}
		x := t.b[:n]
		t.b = t.b[n:]
		return kept(x, keep), nil
	case thriftList, thriftSet:
		x, err := t.listed(want, keep)
		return kept(x, keep), err
	case thriftStruct:
		x, err := t.fields(want, keep)
		return kept(x, keep), err
	}
	return nil, fmt.Errorf("the header has a value of type %d", kind)
}

// kept returns a value, or nil without an allocation.
func kept[T any](x T, keep bool) any {
	if !keep {
		return nil
	}
	return x
}

func (t *thrift) listed(want wanted, keep bool) ([]any, error) {
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
	var out []any
	for range n {
		x, err := t.value(head&15, want, keep)
		if err != nil {
			return nil, err
		}
		if keep {
			if err := t.keep(); err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}
