package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
)

// A file of finished rows that is cut or damaged anywhere gives the rows before the damage, unchanged, and
// can be continued.
func TestPartDamage(t *testing.T) {
	const rows, cols = 5, 3
	whole := kernel.NewMatrix(rows, cols)
	for i := range whole.Data {
		whole.Data[i] = 1 / float64(i+3)
	}
	block := func(from, to int) *kernel.Matrix {
		return &kernel.Matrix{Rows: to - from, Cols: cols, Data: whole.Data[from*cols : to*cols]}
	}
	print := []byte("matrix")
	out := filepath.Join(t.TempDir(), "k.npy")
	path := out + ".part"
	p, err := resume(out, print, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][2]int{{0, 2}, {2, 3}, {3, 4}} {
		if err := p.add(block(b[0], b[1])); err != nil {
			t.Fatal(err)
		}
	}
	p.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	check := func(t *testing.T, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := resume(out, print, rows, cols)
		if err != nil {
			if !strings.Contains(err.Error(), "delete it") {
				t.Fatal(err)
			}
			return // the beginning is damaged, and the message says what to do
		}
		seen[p.rows] = true
		for i := range p.rows * cols {
			if p.m.Data[i] != whole.Data[i] {
				t.Fatalf("entry %d is %v, want %v", i, p.m.Data[i], whole.Data[i])
			}
		}
		if err := p.add(block(p.rows, rows)); err != nil {
			t.Fatal(err)
		}
		p.Close()
		again, err := resume(out, print, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if again.rows != rows {
			t.Fatalf("%d rows after the continuation, want %d", again.rows, rows)
		}
		for i, v := range whole.Data {
			if again.m.Data[i] != v {
				t.Fatalf("entry %d is %v after the continuation, want %v", i, again.m.Data[i], v)
			}
		}
	}
	for n := range len(good) + 1 {
		check(t, good[:n])
	}
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			bad := append([]byte(nil), good...)
			bad[i] ^= bit
			check(t, bad)
		}
	}
	for _, rows := range []int{0, 2, 3, 4} {
		if !seen[rows] {
			t.Errorf("no damage left %d rows", rows)
		}
	}
	if err := os.WriteFile(path, good, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := resume(out, []byte("another"), rows, cols); err == nil {
		t.Error("rows of another matrix were taken")
	}
}
