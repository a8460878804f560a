// Package file writes files that are either complete or not there.
//
// A file is written under a temporary name in its folder, synced, and renamed. When something
// fails before that, an old file of the name stays as it was and the temporary one is removed. What a
// killed process leaves is taken over when the same file is written again.
//
// A container is a file of named sections with checksums (docs/reference/container-format.md). One
// that takes long to write is written as a Log, with which an interrupted program goes on. Large files
// are mapped into memory.
package file

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write writes a file. When write fails or ctx ends, nothing has changed. A path that ends
// with .gz is compressed. Devices and pipes are written directly.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	var g Group
	if err := g.Add(ctx, path, write); err != nil {
		return err
	}
	return g.Commit()
}

// Group is files that get their names together. The zero value has none.
type Group struct {
	files []*File
}

// Len returns the number of files that wait for their names. A device is none.
func (g *Group) Len() int { return len(g.files) }

// Add writes a file as Write does, but for its name. After an error the group is empty.
func (g *Group) Add(ctx context.Context, path string, write func(io.Writer) error) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			defer f.Close()
			err = fill(ctx, f, path, write)
		}
		return g.outcome(path, err)
	}
	return g.AddAt(path, func(f *File) error { return fill(ctx, io.NewOffsetWriter(f, 0), path, write) })
}

// AddAt is Add for a file that is written in any order, so it cannot be a device or a pipe.
func (g *Group) AddAt(path string, write func(*File) error) error {
	return g.add(path, create, write)
}

// AddPart is AddAt for a file whose temporary name is that of CreatePart.
func (g *Group) AddPart(path string, write func(*File) error) error {
	return g.add(path, CreatePart, write)
}

func (g *Group) add(path string, create func(string) (*File, error), write func(*File) error) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return g.outcome(path, errors.New(irregular(st.Mode())+", want a file"))
	}
	f, err := create(path)
	if err == nil {
		g.files = append(g.files, f)
		if err = write(f); err == nil {
			err = f.finish()
		}
	}
	return g.outcome(path, err)
}

// irregular says what is no regular file.
func irregular(mode fs.FileMode) string {
	if mode.IsDir() {
		return "is a folder"
	}
	return "is a device or a pipe"
}

// outcome empties the group after an error, which it returns with the path.
func (g *Group) outcome(path string, err error) error {
	if err == nil {
		return nil
	}
	g.discard()
	return fmt.Errorf("%s: %w", path, cause(err))
}

// Commit gives the files their names. When that fails, those that have none yet are removed. Old files
// of all names but the first are removed before. So a process that is killed in between leaves files
// that are missing, but never new ones beside old ones.
func (g *Group) Commit() error {
	defer g.discard()
	for i, f := range g.files {
		keepMode(f.Name(), f.path)
		if i > 0 {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for len(g.files) > 0 {
		f := g.files[0]
		if err := f.publish(); err != nil {
			return err
		}
		g.files = g.files[1:]
	}
	return nil
}

// discard removes the files that have no name yet.
func (g *Group) discard() {
	for _, f := range g.files {
		f.discard()
	}
	g.files = nil
}

// fill writes to an open file.
func fill(ctx context.Context, f io.Writer, path string, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(&ctxWriter{ctx, f}, 64<<10)
	if strings.HasSuffix(path, ".gz") {
		z := gzip.NewWriter(b)
		if err := write(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
	} else if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return ctx.Err()
}

// ctxWriter stops when its context ends.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (w *ctxWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// File is an open file that has a temporary name until it is complete. It is locked, where the system
// has locks, so that no other process takes it for one that an interrupted process has left.
type File struct {
	*os.File
	path string
}

// create opens a file to be written and read. Commit gives it its name, Discard removes it.
// Where the path is a link, the file that it leads to is replaced.
//
// Until then its name is .NAME.tmp. Such a file that a killed process has left is taken over. Where
// another process is writing it, or might be, the name is .NAME.1.tmp, and so on.
func create(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder, name := filepath.Split(path)
	for i, suffix := 0, ""; ; i++ {
		f, unused, err := claim(filepath.Join(folder, "."+name+suffix+".tmp"))
		switch {
		case unused:
			out := &File{f, path}
			if err := f.Truncate(0); err != nil {
				out.discard()
				return nil, err
			}
			return out, nil
		case err == nil:
			f.Close()
		case !errors.Is(err, errTaken):
			return nil, err
		}
		suffix = fmt.Sprintf(".%d", i+1)
	}
}

// Partial is what is added to the name of a file that takes long to write.
const Partial = ".part"

// CreatePart is Create with the temporary name PATH.part. So a later run can use the file that a
// killed process leaves. It is an error if another process is writing it, if path is not a regular
// file, or if PATH.part is a link.
func CreatePart(path string) (*File, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %s, want a file", path, irregular(st.Mode()))
	}
	f, _, err := claim(path + Partial)
	if err != nil {
		return nil, err
	}
	return &File{f, path}, nil
}

// errTaken is the error (by errors.Is) of a file that is there and cannot be taken over.
var errTaken = errors.New("cannot be written here")

// taken is an errTaken with a reason.
type taken struct{ name, reason string }

func (e taken) Error() string        { return e.name + ": " + e.reason }
func (e taken) Is(target error) bool { return target == errTaken }

// claim opens a file for this process, a new one or what another process has left. Links are not
// followed. It reports whether the file is certainly unused: new, or a left one of this user that no
// process is writing.
func claim(name string) (f *os.File, unused bool, err error) {
	f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // also refuses links
	unused = err == nil
	if errors.Is(err, fs.ErrExist) {
		if st, err := os.Lstat(name); err == nil && !st.Mode().IsRegular() {
			return nil, false, taken{name, "is a link or a folder, want a file; delete it"}
		}
		f, err = os.OpenFile(name, os.O_RDWR, 0)
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil, false, taken{name, "may not be written"}
		case errors.Is(err, fs.ErrNotExist):
			return nil, false, taken{name, "another process is writing it"}
		}
	}
	if err != nil {
		return nil, false, err
	}
	locked, err := lock(f)
	if err == nil && !named(f, name) { // another process gave it its final name, or removed it
		err = taken{name, "another process is writing it"}
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	return f, unused || locked && own(f), nil
}

// named reports whether an open file has a name, and not by a link.
func named(f *os.File, name string) bool {
	opened, err1 := f.Stat()
	there, err2 := os.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(opened, there)
}

// Commit completes the file. After an error it is removed.
func (f *File) Commit() error {
	err := f.finish()
	if err == nil {
		err = f.publish()
	}
	if err != nil {
		f.discard()
	}
	return err
}

// finish makes what was written durable.
func (f *File) finish() error {
	err := f.Sync()
	if !locks { // such systems rename closed files only
		err = errors.Join(err, f.Close())
	}
	return err
}

// publish gives a finished file its name and then closes it: one without a lock may be taken over.
func (f *File) publish() error {
	err := Publish(f.Name(), f.path)
	if err == nil && locks {
		err = f.Close()
	}
	return err
}

// discard removes a file that has not been committed.
func (f *File) discard() { f.remove() }

func (f *File) remove() error {
	if !locks {
		f.Close() // such systems remove closed files only
	}
	defer f.Close() // it stays locked until it is removed
	return os.Remove(f.Name())
}

// Publish gives a complete file, which was synced, its name, and where it takes the place of
// another, the mode of that.
func Publish(temp, path string) error {
	keepMode(temp, path)
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	if f, err := os.Open(filepath.Dir(path)); err == nil { // to make the name durable; not every system can
		f.Sync()
		f.Close()
	}
	return nil
}

// keepMode gives a file the mode of the one whose place it takes, if there is one.
func keepMode(temp, path string) {
	if st, err := os.Stat(path); err == nil {
		os.Chmod(temp, st.Mode().Perm())
	}
}

// cause takes the path off an error of os: the caller names the path that the user gave.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
