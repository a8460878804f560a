package file

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

func TestMap(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 10000} {
		path := filepath.Join(t.TempDir(), "x")
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7)
		}
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Map(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Bytes(), want) {
			t.Errorf("%d bytes come back as %d", size, len(f.Bytes()))
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := Map(t.TempDir()); err == nil {
		t.Error("a folder was mapped")
	}
	if _, err := Map(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
}

func TestFloats(t *testing.T) {
	want := []float64{0, 1.5, math.Inf(-1), -1e-300}
	b := make([]byte, 1)
	for _, v := range want {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for _, text := range [][]byte{b[1:], slices.Clone(b[1:])} { // one of them is not aligned
		if got := Floats(text); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := Bytes(want); !bytes.Equal(got, b[1:]) {
		t.Errorf("%v, want %v", got, b[1:])
	}
	if got := Bytes(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
	if got := Floats(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

// What another program cuts off a mapped file is an error in Guard. Other panics go on.
func TestGuard(t *testing.T) {
	if !locks {
		graphtest.Missing(t, "files are read, not mapped, on this system")
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := func() error {
		if n := bytes.Count(f.Bytes(), []byte{0}); n != 1<<20 {
			t.Errorf("%d zeros", n)
		}
		return nil
	}
	if err := f.Guard(sum); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := f.Guard(sum); err == nil || !strings.Contains(err.Error(), "another program made it shorter") {
		t.Errorf("error %v, want that the file is shorter", err)
	}
	for name, wrong := range map[string]func() error{
		"nil pointer": func() error { var p *Mapped; p.data = nil; return nil },
		"panic":       func() error { panic("other") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			t.Errorf("%s: error %v, want a panic", name, f.Guard(wrong))
		}()
	}
}
