package matrixfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
)

// vectors returns what WriteRows makes n rows of three numbers with.
func vectors(n int) (want []float64, make func(write func([]float64) error) (Axis, error)) {
	var axis Axis
	for i := range n {
		want = append(want, float64(i), -1.5, 1/float64(i+1))
		axis.IDs = append(axis.IDs, fmt.Sprint("g", i))
	}
	return want, func(write func([]float64) error) (Axis, error) {
		for part := range slices.Chunk(want, 3*7) {
			if err := write(part); err != nil {
				return axis, err
			}
		}
		return axis, nil
	}
}

func TestRows(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "x.npy")
	for _, n := range []int{0, 1, 9, 10, 12345} {
		want, make := vectors(n)
		if err := WriteRows(ctx, path, 3, make); err != nil {
			t.Fatal(err)
		}
		got, err := kerneltest.ReadNPY(path)
		if err != nil || got.Rows != n || got.Cols != 3 || !slices.Equal(got.Data, want) {
			t.Errorf("%d rows: %v, error %v", n, got, err)
		}
		if ids, err := os.ReadFile(IDsFile(path)); err != nil || strings.Count(string(ids), "\n") != n+1 {
			t.Errorf("%d rows: identifiers %q, error %v", n, ids, err)
		}
	}
	_, make := vectors(1)
	if err := WriteRows(ctx, filepath.Join(dir, "x.csv"), 3, make); err == nil || !strings.Contains(err.Error(), ".npy") {
		t.Errorf("error %v", err)
	}
	if len(NPYHeader(0, 1)) != len(NPYHeader(1<<62, 1<<20)) {
		t.Error("headers have different lengths")
	}
}

// Vectors and their identifiers change together: whatever fails, both are as they were.
func TestRowsTogether(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		graphtest.Missing(t, "no /dev/full on this system")
	}
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "x.npy")
	old, first := vectors(5)
	if err := WriteRows(ctx, path, 3, first); err != nil {
		t.Fatal(err)
	}
	ids, err := os.ReadFile(IDsFile(path))
	if err != nil {
		t.Fatal(err)
	}
	unchanged := func(what string) {
		t.Helper()
		got, err := kerneltest.ReadNPY(path)
		if err != nil || !slices.Equal(got.Data, old) {
			t.Errorf("%s: the vectors are %v, error %v", what, got, err)
		}
		if now, err := os.ReadFile(IDsFile(path)); err != nil || string(now) != string(ids) {
			t.Errorf("%s: the identifiers are %q, error %v", what, now, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
	_, make := vectors(9)
	bad := errors.New("no more vectors")
	if err := WriteRows(ctx, path, 3, func(write func([]float64) error) (Axis, error) {
		axis, _ := make(write)
		return axis, bad
	}); err != bad {
		t.Errorf("error %v, want %v", err, bad)
	}
	unchanged("vectors that end with an error")
	if err := WriteRows(ctx, path, 3, func(write func([]float64) error) (Axis, error) {
		axis, err := make(write)
		axis.IDs = axis.IDs[1:]
		return axis, err
	}); err == nil || !strings.Contains(err.Error(), "8 identifiers and 0 targets, want one of each for the 9 rows") {
		t.Errorf("error %v", err)
	}
	unchanged("too few identifiers")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := WriteRows(cancelled, path, 3, make); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	unchanged("interrupted")

	kept := filepath.Join(t.TempDir(), "kept.csv")
	if err := errors.Join(os.Rename(IDsFile(path), kept), os.Symlink("/dev/full", IDsFile(path))); err != nil {
		t.Fatal(err)
	}
	if err := WriteRows(ctx, path, 3, make); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(os.Remove(IDsFile(path)), os.Rename(kept, IDsFile(path))); err != nil {
		t.Fatal(err)
	}
	unchanged("a full disk")
}
