package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// TestWriteIsAtomic lets writing fail in every way and expects the old file, and
// nothing else.
func TestWriteIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(context.Background(), path, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	check := func(what, want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", what, got, err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s: left behind: %v", what, left)
		}
	}
	big := bytes.Repeat([]byte("x"), 1<<20)
	fails := errors.New("the writer fails")
	err := Write(context.Background(), path, func(w io.Writer) error { w.Write(big); return fails })
	if !errors.Is(err, fails) {
		t.Error(err)
	}
	check("failing writer", "old")
	ctx, cancel := context.WithCancel(context.Background())
	err = Write(ctx, path, func(w io.Writer) error {
		if _, err := w.Write(big); err != nil {
			return err
		}
		cancel()
		_, err := w.Write(big)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled", "old")
	// Cancelled after the last byte: still not written.
	ctx, cancel = context.WithCancel(context.Background())
	if err := Write(ctx, path, func(w io.Writer) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check("cancelled at the end", "old")
	if err := Write(context.Background(), path, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); err != nil {
		t.Fatal(err)
	}
	check("success", "new")
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want that of the old file", st.Mode())
	}
	if err := Write(context.Background(), dir, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		graphtest.Missing(t, "no /dev/full on this system")
	}
	err := Write(context.Background(), "/dev/full", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
	if err == nil || err.Error() != "/dev/full: no space left on device" {
		t.Error(err)
	}
	// A group of which one file cannot be written leaves nothing.
	dir := t.TempDir()
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	var g Group
	if err := g.Add(context.Background(), filepath.Join(dir, "one"), hello); err != nil || g.Len() != 1 {
		t.Fatal(g.Len(), err)
	}
	if err := g.Add(context.Background(), "/dev/full", hello); err == nil || g.Len() != 0 {
		t.Error(g.Len(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file that is written piece by piece has its name when it is committed, and no other then.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	for _, p := range []string{path, link} {
		f, err := create(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("..me"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("na"), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "name" {
			t.Errorf("%s: %q, %v", p, got, err)
		}
		if p == path {
			if err := errors.Join(os.Symlink("f", link), os.WriteFile(path, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	f, err := create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.discard()
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

// Compression follows from the name.
func TestGzip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.gz")
	if err := Write(context.Background(), path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// What a killed process leaves is taken over when the same file is written again. A file that
// somebody is writing, a link and what belongs to others are left alone.
func TestLeftFiles(t *testing.T) {
	if !locks {
		graphtest.Missing(t, "no locks on this system")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	names := func() string {
		entries, _ := os.ReadDir(dir)
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return strings.Join(out, " ")
	}
	write := func(text string) {
		t.Helper()
		if err := Write(context.Background(), path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v, want %q", got, err, text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".f.tmp"), []byte("longer than what is written next"), 0o666); err != nil {
		t.Fatal(err)
	}
	write("new")
	if got := names(); got != "f" {
		t.Errorf("files %s, want f", got)
	}

	var g Group // complete, but without its name
	if err := g.Add(context.Background(), path, func(w io.Writer) error { _, err := io.WriteString(w, "of the group"); return err }); err != nil {
		t.Fatal(err)
	}
	f, err := create(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(); got != ".f.1.tmp .f.tmp f" {
		t.Errorf("files %s while two are written", got)
	}
	write("third")
	if err := g.Commit(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "of the group" {
		t.Errorf("%q, want that of the group", got)
	}
	f.discard()
	if got := names(); got != "f" {
		t.Errorf("files %s, want f", got)
	}

	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("precious"), 0o666), os.Symlink(other, filepath.Join(dir, ".f.tmp")),
		os.Link(other, filepath.Join(dir, ".f.1.tmp"))); err != nil {
		t.Fatal(err)
	}
	write("beside links")
	if got, _ := os.ReadFile(other); string(got) != "precious" {
		t.Errorf("a link was followed: %q", got)
	}
}

// PATH.part is never a link.
func TestPartLinks(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
	if err := os.Symlink(other, path+Partial); err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		if _, err := CreatePart(path); err == nil || err.Error() != path+Partial+": is a link or a folder, want a file; delete it" {
			t.Errorf("error %v, want that it is a link", err)
		}
	}
	refused()
	if _, err := os.Lstat(other); err == nil {
		t.Error("the file that the link leads to was made")
	}
	if err := os.WriteFile(other, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	refused()
	if got, _ := os.ReadFile(other); string(got) != "precious" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(path + Partial); err != nil {
		t.Fatal(err)
	}
	f, err := CreatePart(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.discard()
	if _, err := CreatePart(path); locks && (err == nil || err.Error() != path+Partial+": another process is writing it") {
		t.Errorf("error %v, want that another process is writing it", err)
	}
}

// Files of a group get their names together. One that takes long to write is PATH.part until then, modes stay, and
// what is no file is left alone.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	if err := errors.Join(os.WriteFile(one, []byte("old"), 0o640), os.WriteFile(two, []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	text := func(s string) func(*File) error {
		return func(f *File) error { _, err := f.WriteString(s); return err }
	}
	var g Group
	if err := errors.Join(g.AddPart(one, text("new")), g.AddAt(two, text("new"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{one, two} {
		if got, _ := os.ReadFile(path); string(got) != "old" {
			t.Errorf("%s: %q before the others are written", path, got)
		}
	}
	if err := g.Commit(); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{one: 0o640, two: 0o600} {
		got, _ := os.ReadFile(path)
		if st, err := os.Stat(path); err != nil || string(got) != "new" || st.Mode().Perm() != mode {
			t.Errorf("%s: %q, %v, error %v", path, got, st.Mode(), err)
		}
	}
	// A process that ends before all have their names leaves none of them beside an old one.
	if err := errors.Join(g.AddAt(one, text("newer")), g.AddAt(two, text("newer"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(g.files[0].Name()); err != nil { // cannot be published
		t.Fatal(err)
	}
	if err := g.Commit(); err == nil {
		t.Error("a file that is not there was published")
	}
	if got, _ := os.ReadFile(two); len(got) > 0 {
		t.Errorf("%q beside a file that has no name yet", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	for _, add := range []func(string, func(*File) error) error{g.AddAt, g.AddPart} {
		if err := add(os.DevNull, text("x")); err == nil || err.Error() != os.DevNull+": is a device or a pipe, want a file" && !strings.HasSuffix(err.Error(), ": "+os.DevNull+": is a device or a pipe, want a file") {
			t.Errorf("error %v", err)
		}
	}
}
