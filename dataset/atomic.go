package dataset

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile writes a file so that it is there whole or not at all: under another name in
// the same folder, synced, then renamed. When write or anything after it fails, or ctx
// ends, an old file stays as it was and nothing else is left. A path that ends with .gz
// is compressed. Devices and pipes are written directly.
func WriteFile(ctx context.Context, path string, write func(io.Writer) error) error {
	var s staged
	if err := s.add(ctx, path, write); err != nil {
		return err
	}
	return s.commit()
}

// staged are files that are written under other names, to be renamed together.
type staged struct {
	temp, path []string
}

// discard removes what was written.
func (s *staged) discard() {
	for _, t := range s.temp {
		os.Remove(t)
	}
	*s = staged{}
}

// add writes a file under another name. On an error all files are discarded.
func (s *staged) add(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			s.discard()
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return fmt.Errorf("is a folder, want a file")
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return cause(err)
		}
		return fill(ctx, f, path, write, false)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays a link
	}
	// O_EXCL with a name of our own, unlike os.CreateTemp, lets the umask decide the mode.
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:10]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return cause(err)
	}
	s.temp, s.path = append(s.temp, temp), append(s.path, path)
	return fill(ctx, f, path, write, true)
}

// cause takes the path off an error of os: the caller names the path that the user gave.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}

// fill writes, syncs and closes a file.
func fill(ctx context.Context, f *os.File, path string, write func(io.Writer) error, sync bool) (err error) {
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		err = cause(err)
	}()
	b := bufio.NewWriterSize(&ctxWriter{ctx, f}, 64<<10)
	w := io.Writer(b)
	var z *gzip.Writer
	if strings.HasSuffix(path, ".gz") {
		z = gzip.NewWriter(b)
		w = z
	}
	if err := write(w); err != nil {
		return err
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// commit gives the files their names. It discards the rest when that fails.
func (s *staged) commit() error {
	for i, t := range s.temp {
		if st, err := os.Stat(s.path[i]); err == nil {
			os.Chmod(t, st.Mode().Perm()) // as it was, where that is possible
		}
		if err := os.Rename(t, s.path[i]); err != nil {
			s.discard()
			return err
		}
		s.temp[i] = ""
	}
	folders := map[string]bool{}
	for _, p := range s.path {
		folders[filepath.Dir(p)] = true
	}
	for d := range folders {
		// The names are safe once the folder is synced; not every system can.
		if f, err := os.Open(d); err == nil {
			f.Sync()
			f.Close()
		}
	}
	return nil
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
