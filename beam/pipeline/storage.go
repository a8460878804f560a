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

// parent returns the folder of a file.
func parent(name string) string {
	if local(name) {
		return filepath.Dir(name)
	}
	return name[:strings.LastIndex(name, "/")]
}

// on calls f with the file system of a path.
func on(ctx context.Context, path string, f func(filesystem.Interface) error) error {
	files, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := f(files); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// open opens a file for reading.
func open(ctx context.Context, path string) (io.ReadCloser, error) {
	if local(path) {
		return os.Open(path)
	}
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

func (o *opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.files.Close()) }

// load returns the bytes of a file.
func load(ctx context.Context, path string) (data []byte, err error) {
	if local(path) {
		return os.ReadFile(path)
	}
	err = on(ctx, path, func(files filesystem.Interface) (err error) {
		data, err = filesystem.Read(ctx, files, path)
		return err
	})
	return data, err
}

// loadIfThere is load, with nil for a file that does not exist.
func loadIfThere(ctx context.Context, path string) ([]byte, error) {
	if !local(path) {
		if names, err := list(ctx, path); err != nil || !slices.Contains(names, path) {
			return nil, err
		}
	}
	data, err := load(ctx, path)
	if local(path) && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// list returns the files of a pattern in the order of their names.
func list(ctx context.Context, pattern string) (names []string, err error) {
	err = on(ctx, pattern, func(files filesystem.Interface) (err error) {
		names, err = files.List(ctx, pattern)
		return err
	})
	slices.Sort(names)
	return names, err
}

// save writes a file so that it is there whole or not at all: on the machine under another
// name first; elsewhere as an object, which object stores show when it is complete.
func save(ctx context.Context, path string, data []byte) error {
	if !local(path) {
		return on(ctx, path, func(files filesystem.Interface) error { return filesystem.Write(ctx, files, path, data) })
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return file.Write(ctx, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// output writes a tile or a file of vectors, perhaps in place of a damaged one, and counts it.
func output(ctx context.Context, path string, data []byte, damaged bool) error {
	if err := save(ctx, path, data); err != nil {
		return err
	}
	tilesComputed.add(ctx, 1)
	if damaged {
		tilesReplaced.add(ctx, 1)
	}
	return nil
}

// keepOutput is output of a file that is left as it is where it is there and good.
func keepOutput(ctx context.Context, path string, data []byte) error {
	old, err := loadIfThere(ctx, path)
	if err != nil {
		return err
	}
	if bytes.Equal(old, data) {
		tilesKept.add(ctx, 1)
		return nil
	}
	return output(ctx, path, data, old != nil)
}
