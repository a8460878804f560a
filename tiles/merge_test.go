package tiles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/matrixfile"
)

// A merge that cannot write the identifiers leaves the old matrix with its old identifiers.
func TestMergeTogether(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		graphtest.Missing(t, "no /dev/full on this system")
	}
	dir, tiles := t.TempDir(), t.TempDir()
	usual(t).work(t, tiles, 8, 1)
	out := filepath.Join(dir, "k.npy")
	if err := errors.Join(os.WriteFile(out, []byte("old"), 0o666), os.Symlink("/dev/full", matrixfile.IDsFile(out))); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(context.Background(), out, []string{tiles}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(out); string(got) != "old" {
		t.Errorf("the matrix has %d bytes, want the old one", len(got))
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// A file of tiles that another program makes shorter while it is read is an error.
func TestShortened(t *testing.T) {
	if runtime.GOOS == "windows" {
		graphtest.Missing(t, "files are read, not mapped, on this system")
	}
	dir := t.TempDir()
	newFixture(t, 60, 1, with(func(*mlg.Kernel) {})).work(t, dir, 60, 1) // one tile of several pages
	path := filepath.Join(dir, shardName(1, 1))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	want := path + ": it cannot be read any more: another program made it shorter"
	if err := c.guard(func() error { return c.tiles[0].Check() }); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	// It is one of the second of two files that have the same tile, too.
	spare := filepath.Join(t.TempDir(), "spare"+Extension)
	if err := os.WriteFile(spare, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := (&merger{}).compare(path, c, spare, []int{0}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
