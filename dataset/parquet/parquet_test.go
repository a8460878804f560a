package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

var limits = Limits{Rows: 1 << 20, Page: 1 << 26, Bytes: 1 << 26, Ratio: 200}

// read returns the rows of a file, the header first.
func read(data []byte, lim Limits) ([][]string, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)), lim)
	if err != nil {
		return nil, err
	}
	out := [][]string{f.Names}
	for {
		row, err := f.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, slices.Clone(row))
	}
}

// same reports whether two texts are the same, or the same number.
func same(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err1 == nil && err2 == nil && x == y
}

// TestFiles reads the files of dataset/checks/parquet.py.
func TestFiles(t *testing.T) {
	folder := cmp.Or(os.Getenv("MLG_PARQUET"), "testdata")
	files, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want [][]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(data, limits)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d; %v", file, len(got), len(want), err)
			continue
		}
		for i := range want {
			if !slices.EqualFunc(got[i], want[i], same) {
				t.Fatalf("%s: row %d\n got %q\nwant %q", file, i, got[i], want[i])
			}
		}
	}
}

// example returns one of the files.
func example(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/snappy-2-dictionary.parquet")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Files that end too early, that lie about their size or have too much are refused.
func TestRefused(t *testing.T) {
	data := example(t)
	long := slices.Clone(data)
	binary.LittleEndian.PutUint32(long[len(long)-8:], math.MaxUint32)
	small := limits
	small.Rows = 10
	tiny := limits
	tiny.Page = 100
	for _, c := range []struct {
		data []byte
		lim  Limits
		want string
	}{
		{data[:5], limits, "too short"},
		{data[:len(data)-9], limits, "ends too early"},
		{long, limits, "a description of 4294967295 bytes"},
		{data, small, "more than 10 rows"},
		{data, tiny, "the limit is 100"},
	} {
		if _, err := read(c.data, c.lim); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want …%s", err, c.want)
		}
	}
}

// An encoding or a codec that is not read is named.
func TestUnknown(t *testing.T) {
	c := &chunk{codec: 4, rows: 1, f: &File{}}
	if _, err := c.unpack(nil, 0); err == nil || !strings.Contains(err.Error(), "Brotli, want snappy, gzip, zstd or nothing") {
		t.Error(err)
	}
	if err := c.begin(7, nil); err == nil || !strings.Contains(err.Error(), `encoding "delta bytes", want plain or a dictionary`) {
		t.Error(err)
	}
}

// FuzzRead reads damaged files: no panic, and memory stays within the limits.
func FuzzRead(f *testing.F) {
	f.Add(example(f))
	data, err := os.ReadFile("testdata/none-1-plain.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(_ *testing.T, data []byte) {
		read(data, Limits{Rows: 1000, Page: 1 << 20, Bytes: 1 << 20, Ratio: 20})
	})
}

// TestDamaged changes single bytes of the examples.
func TestDamaged(t *testing.T) {
	graphtest.Slow(t)
	data := example(t)
	for i := 0; i < len(data); i += 7 {
		for _, x := range []byte{0, 0x7f, 0xff} {
			bad := slices.Clone(data)
			bad[i] = x
			read(bad, Limits{Rows: 1000, Page: 1 << 20, Bytes: 1 << 20, Ratio: 20})
		}
	}
}

// A decimal number may be told by the converted type alone; field 7 is its scale and 8 its precision.
func TestConvertedDecimal(t *testing.T) {
	data := table{kind: int32s, rows: 1, chunks: [][]byte{plainPage(1, 4, []byte{0xd2, 4, 0, 0})},
		logical: slices.Concat(whole(2, 5), whole(1, 2), whole(1, 10))}.file()
	got, err := read(data, limits)
	if err != nil || len(got) != 2 || got[1][0] != "12.34" {
		t.Errorf("%q, %v, want 12.34", got, err)
	}
}

// Numbers of a header whose sum is beyond 64 bits are refused, and those that are beyond the bits of their type.
func TestLevelsBeyondPage(t *testing.T) {
	levels := func(kind byte) []byte {
		huge := binary.AppendVarint(nil, 1<<62)
		return table{kind: int32s, rows: 1, chunks: [][]byte{page(dataPage2, 100, 8, make([]byte, 100),
			whole(1, 1), whole(3, plain), typed(1, kind, huge), typed(1, kind, huge))}}.file()
	}
	for kind, want := range map[byte]string{
		thriftI64: "ends too early",
		thriftI32: "4611686018427387904 as a number of 32 bits",
		thriftI16: "4611686018427387904 as a number of 16 bits",
	} {
		if _, err := read(levels(kind), limits); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want …%s", err, want)
		}
	}
	for _, x := range []int64{math.MinInt16, math.MaxInt16, math.MinInt16 - 1, math.MaxInt16 + 1} {
		for _, kind := range []byte{thriftI16, thriftI32} {
			got, err := (&thrift{b: binary.AppendVarint(nil, x)}).value(kind, nil, true)
			if fits := kind == thriftI32 || x == int64(int16(x)); fits != (err == nil) || got != x {
				t.Errorf("%d of type %d: %v, %v", x, kind, got, err)
			}
		}
	}
}
