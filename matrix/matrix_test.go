package matrix

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		graphtest.Missing(t, "no /dev/full on this system")
	}
	// A batch of which one file cannot be written leaves nothing.
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "k.ids.csv")); err != nil {
		t.Fatal(err)
	}
	m := kernel.NewMatrix(1, 1)
	if err := Write(context.Background(), filepath.Join(dir, "k.npy"), m, Axis{IDs: []string{"a"}}, nil); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func testMatrix() *kernel.Matrix {
	m := kernel.NewMatrix(3, 3)
	copy(m.Data, []float64{1, 0.1, 1.0 / 3, 0.1, 1, math.SmallestNonzeroFloat64, 1.0 / 3, math.SmallestNonzeroFloat64, 1})
	return m
}

func TestWrite(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	m := testMatrix()
	rows := Axis{[]string{"a", "b,c", "d"}, []string{"yes", "no", ""}}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, f := range []string{"k.npy", "k.csv", "k.libsvm"} {
		if err := Write(ctx, at(f), m, rows, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadNPY(at("k.npy"))
	if err != nil || got.Rows != 3 || !slices.Equal(got.Data, m.Data) {
		t.Errorf("npy: %v, %v", got, err)
	}
	raw, _ := os.ReadFile(at("k.npy"))
	if len(raw) != 128+72 || raw[127] != '\n' {
		t.Errorf("npy: %d bytes, want a header of 128 and 72", len(raw))
	}
	f, err := os.Open(at("k.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cells, err := csv.NewReader(f).ReadAll()
	if err != nil || !slices.Equal(cells[0], []string{"id", "a", "b,c", "d"}) || cells[2][0] != "b,c" {
		t.Fatalf("csv: %v, %v", cells, err)
	}
	for i := range 3 {
		for j := range 3 {
			if x, err := strconv.ParseFloat(cells[i+1][j+1], 64); err != nil || x != m.At(i, j) {
				t.Errorf("csv %d %d: %v, want %v", i, j, x, m.At(i, j))
			}
		}
	}
	lib, _ := os.ReadFile(at("k.libsvm"))
	want := "2 0:1 1:1 2:0.1 3:0.3333333333333333\n1 0:2 1:0.1 2:1 3:5e-324\n0 0:3 1:0.3333333333333333 2:5e-324 3:1\n"
	if string(lib) != want {
		t.Errorf("libsvm: %q, want %q", lib, want)
	}
	ids, _ := os.ReadFile(at("k.ids.csv"))
	if string(ids) != "id,target,label\na,yes,2\n\"b,c\",no,1\nd,,0\n" {
		t.Errorf("ids: %q", ids)
	}
	cross := kernel.NewMatrix(1, 3)
	if err := Write(ctx, at("x.npy"), cross, Axis{IDs: []string{"q"}}, &rows); err != nil {
		t.Fatal(err)
	}
	if c, _ := os.ReadFile(at("x.columns.csv")); string(c) != "id,target\na,yes\n\"b,c\",no\nd,\n" {
		t.Errorf("columns: %q", c)
	}
	for _, c := range []struct {
		name string
		rows Axis
		want string
	}{
		{"k.txt", rows, `unknown extension ".txt"`},
		{"k.npy", Axis{IDs: []string{"a"}}, "1 identifiers and 0 targets, want one of each for the 3 rows"},
	} {
		if err := Write(ctx, at(c.name), m, c.rows, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	var good bytes.Buffer
	if err := writeNPY(&good, testMatrix()); err != nil {
		t.Fatal(err)
	}
	s := good.String()
	for _, c := range []struct{ text, want string }{
		{"", "not a .npy file"},
		{"hello world", "not a .npy file"},
		{s[:50], "the header ends too early"},
		{strings.Replace(s, "<f8", "<f4", 1), `numbers of type "<f4", want float64`},
		{strings.Replace(s, "(3, 3)", "(3,3,3)", 1), "shape [3 3 3], want (rows,) or (rows, columns)"},
		{strings.Replace(s, "(3, 3), }   ", "(999999, 9)}", 1), "shape (999999, 9), but 72 bytes"},
		{s[:190], "the data end too early"},
		{strings.Replace(s, "\x01\x00", "\x09\x00", 1), "version 9.0"},
	} {
		if _, err := decodeNPY([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
		}
	}
}

// npyFile returns a file with a header as it stands and the numbers 0, 1, …
func npyFile(version byte, header string, numbers int) []byte {
	b := append([]byte(npyMagic[:6]), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	b = append(b, header...)
	for i := range numbers {
		b = append(b, file.Bytes([]float64{float64(i)})...)
	}
	return b
}

// A header is any dictionary that Python reads.
func TestNPYHeaders(t *testing.T) {
	byRows, byColumns := []float64{0, 1, 2, 3, 4, 5}, []float64{0, 2, 4, 1, 3, 5}
	for _, c := range []struct {
		version byte
		header  string
		rows    int
		want    []float64
	}{
		{1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }          \n", 2, byRows},
		{1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", 2, byColumns},
		{1, "{'descr':'<f8','fortran_order':True,'shape':(2,3)}", 2, byColumns},
		{2, "{\"shape\" : ( 2L , 3L , ) , \"fortran_order\" : True,\n\"descr\"\t: \"<f8\"}", 2, byColumns},
		{3, "{'fortran_order': False, 'shape': (2L, 3L), 'descr': '<f8'}\n", 2, byRows},
		{1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", 6, byRows},
		{1, "{'descr': '<f8', 'fortran_order':  True, 'shape': (6L,)}", 6, byRows},
		{1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 3)}", 0, nil},
	} {
		m, err := decodeNPY(npyFile(c.version, c.header, 6))
		if err != nil || m.Rows != c.rows || !slices.Equal(m.Data, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.header, m, err, c.want)
		}
	}
	const good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"
	for _, c := range []struct{ old, new, want string }{
		{good, "", `"", want {`},
		{"}", "", `"", want }`},
		{"}", "} 1", "text after the dictionary"},
		{"'<f8'", "'>f8'", `numbers of type ">f8", want float64`},
		{"'<f8'", "[('x', '<f8')]", "the numbers have several fields"},
		{"'<f8'", "'<f8", `numbers of type "<f8, "`},
		{"'<f8'", "8", "want a text in quotes"},
		{"<f8", "\\x3cf8", "without escapes"},
		{"False", "false", `"false, 'shape': (2, ", want False`},
		{"'fortran_order': False, ", "", "2 keys, want descr, fortran_order and shape"},
		{"{", "{'fortran_order': True, ", `key "fortran_order" is there twice`},
		{"shape", "shapes", `unknown key "shapes"`},
		{"(2, 3)", "()", "shape [], want (rows,)"},
		{"(2, 3)", "(6)", "shape [6], want (rows,)"},
		{"(2, 3)", "6", `"6}", want (`},
		{"(2, 3)", "(-2, 3)", "want a whole number"},
		{"(2, 3)", "(2.5, 3)", "want )"},
		{"(2, 3)", "(99999999999999999999, 3)", "want a whole number of at most"},
		{"(2, 3)", "(4611686018427387904, 4)", "the data end too early"},
	} {
		_, err := decodeNPY(npyFile(1, strings.Replace(good, c.old, c.new, 1), 6))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

func FuzzNPY(f *testing.F) {
	var b bytes.Buffer
	if err := writeNPY(&b, testMatrix()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(npyFile(1, "{'descr':'<f8','fortran_order':True,'shape':(2,3)}", 6))
	f.Add(npyFile(3, "{\"shape\" : ( 2L , ) , \"fortran_order\" : True,\n\"descr\"\t: \"<f8\"}", 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decodeNPY(data)
		if err == nil && len(m.Data) > len(data)/8 {
			t.Fatalf("%d numbers from %d bytes", len(m.Data), len(data))
		}
		if err == nil && len(m.Data) != m.Rows*m.Cols {
			t.Fatalf("%d × %d with %d entries", m.Rows, m.Cols, len(m.Data))
		}
	})
}
