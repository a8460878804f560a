package matrixfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/kerneltest"
)

func TestRows(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	for _, rows := range []int{0, 1, 9, 10, 12345} {
		f, err := CreateRows(path, 3)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		for i := range rows {
			row := []float64{float64(i), -1.5, 1 / float64(i+1)}
			want = append(want, row...)
			if err := f.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		got, err := kerneltest.ReadNPY(path)
		if err != nil || got.Rows != rows || got.Cols != 3 || !slices.Equal(got.Data, want) {
			t.Errorf("%d rows: %v, error %v", rows, got, err)
		}
	}
	f, err := CreateRows(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, error %v; want the file alone", entries, err)
	}
	if _, err := CreateRows(filepath.Join(dir, "x.csv"), 3); err == nil || !strings.Contains(err.Error(), ".npy") {
		t.Errorf("error %v", err)
	}
	if len(NPYHeader(0, 1)) != len(NPYHeader(1<<62, 1<<20)) {
		t.Error("headers have different lengths")
	}
}
