package file

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var some = []Section{{Name: "meta", Data: []byte("{}")}, {Name: "a/1", Data: bytes.Repeat([]byte{7}, 64)}, {Name: "a/2"}, {Name: "z-9", Data: bytes.Repeat([]byte("x"), 200)}}

func encoded(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, "model", 3, some); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// all decodes a container and checks every section.
func all(data []byte) ([]Section, error) {
	sections, err := Decode(data, "model", 3)
	for _, s := range sections {
		if err == nil {
			err = s.Check()
		}
	}
	return sections, err
}

func TestContainer(t *testing.T) {
	data := encoded(t)
	got, err := all(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(some) {
		t.Fatalf("%d sections, want %d", len(got), len(some))
	}
	for i, s := range got {
		if s.Name != some[i].Name || !bytes.Equal(s.Data, some[i].Data) {
			t.Errorf("section %d is %s with %d bytes", i, s.Name, len(s.Data))
		}
	}
	if kindOf(data) != "model" {
		t.Errorf("kind %q", kindOf(data))
	}
}

// Every bit and every length is checked.
func TestContainerDamage(t *testing.T) {
	data := encoded(t)
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			if _, err := all(bad); err == nil {
				t.Fatalf("bit %d of byte %d may be anything", bit, i)
			}
		}
	}
	for n := range data {
		if _, err := all(data[:n]); err == nil {
			t.Fatalf("the first %d bytes pass", n)
		}
	}
	for want, bad := range map[string][]byte{
		"empty":                       nil,
		"ends too early":              data[:100],
		"not an mlg model file":       []byte("name,smiles"),
		"changed in transfer":         []byte(strings.ReplaceAll(string(data), "\r\n", "\n")),
		"something was appended":      append(bytes.Clone(data), 0),
		"another version of mlg":      changed(t, "model", 4),
		`of the kind "store"`:         changed(t, "store", 3),
		"section meta is there twice": twice(t),
		"its head does not match":     flip(data, 17),
		"section meta does not match": flip(data, 128),
		"not filled up with zeros":    flip(data, 140),
		"is not the name of a se":     flip(data, 80),
	} {
		if _, err := all(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if got, err := all(data[:200]); err == nil || !strings.Contains(err.Error(), "ends too early") || len(got) != 1 {
		t.Errorf("%d sections, error %v, want one, and that it ends too early", len(got), err)
	}
	if _, err := all(changed(t, "model", 4)); !errors.Is(err, ErrVersion) {
		t.Errorf("error %v, want ErrVersion", err)
	}
}

func flip(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0x80
	return out
}

func changed(t *testing.T, kind string, version int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, kind, version, some); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func twice(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, "model", 3, append(some[:1:1], some...)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f))
	f.Fuzz(func(t *testing.T, data []byte) { all(data) })
}

// A log goes on behind its last good section, wherever it was cut or damaged.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.store")
	write := func() {
		t.Helper()
		l, kept, err := Resume(path, "store", 1, some[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range kept {
			if s.Name != some[1+i].Name || !bytes.Equal(s.Data, some[1+i].Data) {
				t.Errorf("kept section %d is %s", i, s.Name)
			}
		}
		for _, s := range some[1+len(kept):] {
			if err := l.Append(s.Name, s.Data); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	write()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + Partial); !os.IsNotExist(err) {
		t.Errorf("the partial file is still there: %v", err)
	}
	for n := 0; n < len(want); n += 13 {
		for _, damage := range []bool{false, true} {
			left := bytes.Clone(want[:n])
			if damage && n > 260 {
				left[n-1] ^= 1
			}
			if err := os.WriteFile(path+Partial, left, 0o666); err != nil {
				t.Fatal(err)
			}
			write()
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("cut at %d: another file, error %v", n, err)
			}
		}
	}
	l, _, err := Resume(path, "store", 1, some[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(path, "store", 1, some[0]); err == nil || !strings.Contains(err.Error(), "another process is writing it") {
		t.Errorf("two writers: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(path, "store", 1, some[1]); err == nil || !strings.Contains(err.Error(), "is of another a/1; delete it") {
		t.Errorf("a log of something else: %v", err)
	}
	if _, _, err := Resume(path, "tiles", 1, some[0]); err == nil || !strings.Contains(err.Error(), "is not an unfinished tiles file") {
		t.Errorf("a log of another kind: %v", err)
	}
	if _, _, err := Resume(dir, "store", 1, some[0]); err == nil || !strings.Contains(err.Error(), "is a folder, want a file") {
		t.Errorf("a folder: %v", err)
	}
}
