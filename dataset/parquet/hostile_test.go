package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/mlgkernel/mlg/internal/graphtest"
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

// allocated returns the bytes that a function allocates.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// zeros returns bytes that are zero, compressed by zstd.
func zeros(t *testing.T, n int) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(make([]byte, n), nil)
}

// refused demands that a file is refused for a reason, and returns how many rows and bytes of values were read before.
func refused(t *testing.T, data []byte, lim Limits, want string) (rows, size int) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)), lim)
	for err == nil {
		var row []string
		if row, err = f.Next(); err == nil {
			rows++
			for _, v := range row {
				size += len(v)
			}
		}
	}
	if err == io.EOF || !strings.Contains(err.Error(), want) {
		t.Errorf("%d rows of %d bytes, then %v, want …%s", rows, size, err, want)
	}
	return rows, size
}

// Columns may not have bytes of the file in common, and not more than it has over all groups.
func TestColumnsApart(t *testing.T) {
	one := plainPage(1, 400, make([]byte, 400))
	shared := table{kind: int32s, rows: 1, chunks: [][]byte{one, one, one}, shared: true}
	refused(t, shared.file(), limits, `columns "c0" and "c1" overlap at byte 4`)
	meta := structure(whole(1, int32s), list(2, thriftBinary, text("a")), whole(1, 0), whole(3, int64(len(one))), whole(2, 4))
	group := structure(list(1, thriftStruct, structure(typed(3, thriftStruct, meta))), whole(2, 1))
	schema := list(2, thriftStruct, structure(typed(4, thriftBinary, text("root"))),
		structure(whole(1, int32s), typed(3, thriftBinary, text("a"))))
	groups := slices.Repeat([][]byte{group}, 100)
	footer := structure(schema, list(2, thriftStruct, groups...))
	size := 4 + len(one) + len(footer) + 8
	rows, _ := refused(t, ended(append([]byte(Magic), one...), footer), limits, fmt.Sprintf("more than the %d bytes of the file", size))
	if most := size / len(one); rows > most {
		t.Errorf("%d groups of %d bytes each in a file of %d", rows, len(one), size)
	}
}

// The pages of all columns share a budget.
func TestPagesOfAllColumns(t *testing.T) {
	const full, columns = 1 << 20, 60
	one := plainPage(full/4, full, zeros(t, full))
	data := table{kind: int32s, codec: zstdCodec, rows: full / 4, chunks: slices.Repeat([][]byte{one}, columns)}.file()
	small := Limits{Rows: 1 << 20, Page: full, Bytes: 8 * full, Ratio: 1 << 30}
	used := allocated(func() { refused(t, data, small, "the pages of all columns have more than 8388608 bytes") })
	if most := uint64(64 * full); used > most {
		t.Errorf("%d bytes allocated, want %d at most", used, most)
	}
}

// A page that was read makes room for the next.
func TestPagesMakeRoom(t *testing.T) {
	const full = 1 << 16
	one := plainPage(full/4, full, make([]byte, full))
	data := table{kind: int32s, rows: 10 * full / 4, chunks: [][]byte{slices.Repeat(one, 10)}}.file()
	got, err := read(data, Limits{Rows: 1 << 20, Page: full, Bytes: 2 * full, Ratio: 200})
	if err != nil || len(got) != 10*full/4+1 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// All pages together may not become much more than the file.
func TestRatioOfPages(t *testing.T) {
	const full, pages = 1 << 20, 200
	one := page(dictionaryPage, full, 7, zeros(t, full), whole(1, full/4), whole(1, plain))
	data := table{kind: int32s, codec: zstdCodec, rows: 1, chunks: [][]byte{slices.Repeat(one, pages)}}.file()
	refused(t, data, limits, "want at most 200 times as many")
}

// Values of a dictionary may not become much more than the file.
func TestRatioOfValues(t *testing.T) {
	const length, rows = 1 << 20, 3000
	value := append(binary.LittleEndian.AppendUint32(nil, length), bytes.Repeat([]byte("C"), length)...)
	body := page(dictionaryPage, int64(len(value)), 7, value, whole(1, 1), whole(1, plain))
	run := append(binary.AppendUvarint([]byte{1}, rows<<1), 0)
	body = append(body, page(dataPage, int64(len(run)), 5, run, whole(1, rows), whole(1, dictionaryCodes), whole(1, runLength))...)
	data := table{kind: bytesKind, rows: rows, chunks: [][]byte{body}}.file()
	lim := limits
	lim.Ratio = 10
	if _, size := refused(t, data, lim, "want at most 10 times as many"); size > ratioFloor+length {
		t.Errorf("%d bytes of values before", size)
	}
}

// A dictionary takes about the memory of its page, and booleans have none.
func TestDictionaryMemory(t *testing.T) {
	const full = 4 << 20
	for _, c := range []struct{ kind, values int64 }{{boolean, full * 8}, {int32s, full / 4}, {bytesKind, full / 4}, {int64s, full / 4}} {
		body := page(dictionaryPage, full, 7, zeros(t, full), whole(1, c.values), whole(1, plain))
		body = append(body, plainPage(1, 0, zeros(t, 0))...)
		data := table{kind: c.kind, codec: zstdCodec, rows: 1, chunks: [][]byte{body}}.file()
		want := map[int64]string{boolean: "a dictionary of booleans", int64s: "1048576 values in a dictionary of 4194304 bytes"}[c.kind]
		used := allocated(func() { refused(t, data, limits, want) })
		if most := uint64(12 * full); used > most {
			t.Errorf("type %d: %d bytes allocated, want %d at most", c.kind, used, most)
		}
	}
}

// A description is kept as far as it is needed, and what is kept of it has a limit.
func TestFooterMemory(t *testing.T) {
	graphtest.Slow(t)
	const n = 4 << 20
	empty := func(step int) []byte {
		head := binary.AppendUvarint([]byte{15<<4 | thriftStruct}, n+1)
		return structure(typed(step, thriftList, append(head, make([]byte, n+1)...)))
	}
	lim := limits
	lim.Page = 2 * n
	data := ended([]byte(Magic), empty(9))
	if used := allocated(func() { refused(t, data, lim, "no schema") }); used > 3*n {
		t.Errorf("%d bytes allocated for a description of %d that is not needed", used, n)
	}
	data = ended([]byte(Magic), empty(4))
	if used := allocated(func() { refused(t, data, lim, "more than 4194304 values") }); used > 100*maxValues {
		t.Errorf("%d bytes allocated for a description of %d", used, n)
	}
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	n int64
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.n += int64(len(p))
	return c.ReaderAt.ReadAt(p, at)
}

// Short pages cost short reads, and a long header is read as well.
func TestManyPages(t *testing.T) {
	last := plainPage(1, 4, []byte{7, 0, 0, 0})
	long := structure(whole(1, dataPage), whole(1, 4), whole(1, 4), typed(2, thriftStruct, structure(whole(1, 1), whole(1, plain),
		whole(1, runLength), whole(1, runLength), typed(1, thriftStruct, structure(typed(1, thriftBinary, text(strings.Repeat("x", 300_000))))))))
	for _, body := range [][]byte{
		append(slices.Repeat(plainPage(0, 0, nil), 5000), last...),
		append(long, 7, 0, 0, 0),
	} {
		data := table{kind: int32s, rows: 1, chunks: [][]byte{body}}.file()
		in := &counting{ReaderAt: bytes.NewReader(data)}
		f, err := Open(in, int64(len(data)), limits)
		if err != nil {
			t.Fatal(err)
		}
		row, err := f.Next()
		if err != nil || row[0] != "7" {
			t.Error(row, err)
		}
		if most := int64(16 * len(data)); in.n > most {
			t.Errorf("%d bytes read of a file of %d", in.n, len(data))
		}
	}
}

// Columns are found by their names, of which several may be the same. Those that are not selected are not looked at.
func TestManyColumns(t *testing.T) {
	const many = 5000
	var chunks [][]byte
	for i := range many {
		chunks = append(chunks, plainPage(1, 4, binary.LittleEndian.AppendUint32(nil, uint32(i))))
	}
	names := slices.Repeat([]string{"a", "b"}, many/2)
	for _, names := range [][]string{nil, names} {
		got, err := read(table{kind: int32s, rows: 1, chunks: chunks, names: names}.file(), limits)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got[1] {
			if v != fmt.Sprint(i) {
				t.Fatalf("column %d has the value %s", i, v)
			}
		}
	}
	chunks[7] = []byte("damaged")
	data := table{kind: int32s, rows: 1, chunks: chunks, names: names}.file()
	f, err := Open(bytes.NewReader(data), int64(len(data)), limits)
	if err != nil {
		t.Fatal(err)
	}
	f.Select([]int{3, 4999})
	row, err := f.Next()
	if err != nil || row[3] != "3" || row[4999] != "4999" || row[0] != "" || row[7] != "" {
		t.Errorf("%q, %v", row, err)
	}
}

// A decimal number of many bytes is refused: writing one takes long.
func TestLongDecimal(t *testing.T) {
	value := append(binary.LittleEndian.AppendUint32(nil, 1000), make([]byte, 1000)...)
	data := table{kind: bytesKind, rows: 1, chunks: [][]byte{plainPage(1, int64(len(value)), value)}, logical: whole(2, 5)}.file()
	refused(t, data, limits, "a decimal number of 1000 bytes")
}

// A page of snappy that says more bytes than it can have is refused before they are allocated.
func TestSnappyMemory(t *testing.T) {
	const full = 1 << 25
	body := binary.AppendUvarint(nil, full)
	data := table{kind: int32s, codec: snappyCodec, rows: 1, chunks: [][]byte{plainPage(1, full, body)}}.file()
	if used := allocated(func() { refused(t, data, limits, "a page does not have the 33554432 bytes") }); used > full/8 {
		t.Errorf("%d bytes allocated", used)
	}
}
