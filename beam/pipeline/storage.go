package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"   // gs://
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // no scheme
	"github.com/mlgkernel/mlg/internal/file"
)

// local reports whether a path is one of the machine itself.
func local(path string) bool { return !strings.Contains(path, "://") }

// join returns the path of a file in a folder.
func join(dir, name string) string {
	if local(dir) {
		return filepath.Join(dir, name)
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// open opens a file for reading.
func open(ctx context.Context, path string) (io.ReadCloser, error) {
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := files.OpenRead(ctx, path)
	if err != nil {
		files.Close()
		return nil, err
	}
	return &opened{r, files}, nil
}

// opened is a file with its file system.
type opened struct {
	io.ReadCloser
	files io.Closer
}

func (o *opened) Close() error {
	return errors.Join(o.ReadCloser.Close(), o.files.Close())
}

// skip moves the start of a file forward.
func (o *opened) skip(n int64) error {
	if s, ok := o.ReadCloser.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekCurrent)
		return err
	}
	_, err := io.CopyN(io.Discard, o.ReadCloser, n)
	return err
}

// load returns the bytes of a file.
func load(ctx context.Context, path string) ([]byte, error) {
	r, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// loadIfThere is load, with nil for a file that does not exist.
func loadIfThere(ctx context.Context, path string) ([]byte, error) {
	if local(path) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return data, err
	}
	names, err := list(ctx, path)
	if err != nil || !slices.Contains(names, path) {
		return nil, err
	}
	return load(ctx, path)
}

// list returns the files of a pattern in the order of their names.
func list(ctx context.Context, pattern string) ([]string, error) {
	files, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	names, err := files.List(ctx, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	slices.Sort(names)
	return names, nil
}

// save writes a file so that it is there whole or not at all: on the machine under another
// name first; elsewhere as an object, which object stores show when it is complete.
func save(ctx context.Context, path string, data []byte) error {
	if local(path) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return file.Write(ctx, path, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer files.Close()
	w, err := files.OpenWrite(ctx, path)
	if err == nil {
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// newlines returns the number of line ends in the first n bytes of a file.
func newlines(ctx context.Context, path string, n int64) (int, error) {
	r, err := open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	in := io.LimitReader(r, n)
	buf := make([]byte, 64<<10)
	for count := 0; ; {
		k, err := in.Read(buf)
		count += bytes.Count(buf[:k], []byte("\n"))
		if err == io.EOF {
			return count, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
