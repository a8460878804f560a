package pipeline

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// flaky:// is a file system whose writes fail now and then and leave half a file.
const scheme = "flaky://"

func init() {
	filesystem.Register("flaky", func(context.Context) filesystem.Interface { return flaky{} })
}

// failures is the number of tiles and models that flaky file systems will fail to write, failed that of
// those that did.
var failures, failed atomic.Int64

type flaky struct{}

func (flaky) Close() error { return nil }

func (flaky) List(_ context.Context, glob string) ([]string, error) {
	names, err := filepath.Glob(strings.TrimPrefix(glob, scheme))
	for i := range names {
		names[i] = scheme + names[i]
	}
	return names, err
}

func (flaky) OpenRead(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(strings.TrimPrefix(name, scheme))
}

func (flaky) Size(_ context.Context, name string) (int64, error) {
	st, err := os.Stat(strings.TrimPrefix(name, scheme))
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func (flaky) OpenWrite(_ context.Context, name string) (io.WriteCloser, error) {
	name = strings.TrimPrefix(name, scheme)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	f, err := os.Create(name)
	if err == nil && (strings.HasPrefix(filepath.Base(name), "tile-") || strings.HasSuffix(name, "model.mlg")) && failures.Add(-1) >= 0 {
		failed.Add(1)
		return &cut{f}, nil
	}
	return f, err
}

// cut writes half of what it is given.
type cut struct{ *os.File }

func (h *cut) Write(p []byte) (int, error) {
	n, err := h.File.Write(p[:len(p)/2])
	return n, errors.Join(err, errors.New("the device is full for a moment"))
}

// Prism fails a job at the first error. A second run finds what the first one did, and half a
// tile, which it replaces.
func TestFailure(t *testing.T) {
	d := drugs(t)
	o := d.options(t)
	dir := o.Tiles
	o.Tiles = scheme + dir
	failures.Store(1)
	failed.Store(0)
	_, err := run(t, o)
	if err == nil || !strings.Contains(err.Error(), "full for a moment") {
		t.Fatalf("error %v, want that of the file system", err)
	}
	counts := must(t, o)
	if failed.Load() != 1 || counts.Replaced != 1 || counts.Computed+counts.Kept != 15 {
		t.Errorf("%d failures, counters %+v, want one of each and 15 tiles", failed.Load(), counts)
	}
	got, _ := gram(t, dir)
	same(t, got, d.gram(t))
}
