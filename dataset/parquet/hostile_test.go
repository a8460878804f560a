package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The functions below write Thrift: a field is given by how far its number is beyond the one before.

func whole(step int, x int64) []byte { return typed(step, thriftI64, binary.AppendVarint(nil, x)) }

func typed(step int, kind byte, value []byte) []byte {
	return append([]byte{byte(step)<<4 | kind}, value...)
}

func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func list(step int, kind byte, items ...[]byte) []byte {
	head := binary.AppendUvarint([]byte{15<<4 | kind}, uint64(len(items)))
	return typed(step, thriftList, append(head, bytes.Join(items, nil)...))
}

func structure(fields ...[]byte) []byte { return append(bytes.Join(fields, nil), 0) }

// page returns a page with its header, whose own part has a number and fields.
func page(kind, full int64, number int, body []byte, fields ...[]byte) []byte {
	head := typed(number-3, thriftStruct, structure(fields...))
	return append(structure(whole(1, kind), whole(1, full), whole(1, int64(len(body))), head), body...)
}

// plainPage returns a page of plain values.
func plainPage(values, full int64, body []byte) []byte {
	return page(dataPage, full, 5, body, whole(1, values), whole(1, plain), whole(1, runLength), whole(1, runLength))
}

// table says how a file is written: columns of one type, each with its chunk.
type table struct {
	kind, codec, rows int64
	chunks            [][]byte
	names             []string
	shared            bool   // all columns have the first chunk
	logical           []byte // further fields of the schema, behind the name, which is number 4
}

// file writes the table.
func (t table) file() []byte {
	out := []byte(Magic)
	n := max(len(t.chunks), len(t.names))
	schema := [][]byte{structure(typed(4, thriftBinary, text("root")), whole(1, int64(n)))}
	var chunks [][]byte
	at := 4
	for i := range n {
		name := fmt.Sprint("c", i)
		if t.names != nil {
			name = t.names[i]
		}
		schema = append(schema, structure(whole(1, t.kind), whole(2, 0), typed(1, thriftBinary, text(name)), t.logical))
		if i == 0 || !t.shared {
			at = len(out)
			out = append(out, t.chunks[i]...)
		}
		chunks = append(chunks, structure(typed(3, thriftStruct, structure(whole(1, t.kind), list(2, thriftBinary, text(name)),
			whole(1, t.codec), whole(3, int64(len(out)-at)), whole(2, int64(at))))))
	}
	group := structure(list(1, thriftStruct, chunks...), whole(2, t.rows))
	return ended(out, structure(list(2, thriftStruct, schema...), list(2, thriftStruct, group)))
}

// ended puts a description at the end of a file.
func ended(out, footer []byte) []byte {
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), Magic...)
}
