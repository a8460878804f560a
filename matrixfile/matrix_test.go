package matrixfile

import (
	"context"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
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
	got, err := kerneltest.ReadNPY(at("k.npy"))
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
