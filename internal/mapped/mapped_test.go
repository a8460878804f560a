package mapped

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFiles(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 10000} {
		path := filepath.Join(t.TempDir(), "x")
		f, err := Create(path, int64(size))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7)
		}
		copy(f.Bytes(), want)
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d were written, error %v", size, len(got), err)
		}
		if f, err = Open(path); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Bytes(), want) {
			t.Errorf("%d bytes come back as %d", size, len(f.Bytes()))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Create(path, 5); !os.IsExist(err) {
			t.Errorf("over a file: error %v", err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was mapped")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "large"), math.MaxInt64-4096); err == nil {
		t.Error("eight exabytes were found")
	}
}

func TestFloats(t *testing.T) {
	want := []float64{0, 1.5, math.Inf(-1), -1e-300}
	b := make([]byte, 1)
	for _, v := range want {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for _, bytes := range [][]byte{b[1:], slices.Clone(b[1:])} { // one of them is not aligned
		if got := Floats(bytes); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := Floats(nil); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}
