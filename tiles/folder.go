package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/store"
)

// ManifestName is the name of the manifest in a folder of tiles.
const ManifestName = "plan.json"

const extension = ".mlgt"

// Name returns the file name of the tile with the given blocks.
func Name(row, col int) string { return fmt.Sprintf("tile-%06d-%06d%s", row, col, extension) }

// leftover is the name of a file whose writer was killed, see dataset.WriteFile.
var leftover = regexp.MustCompile(`^\.(tile-\d+-\d+\.mlgt)\.[A-Z0-9]+\.tmp$`)

// Options say what Work does.
type Options struct {
	Shard, Shards int // shard Shard of Shards, from 1
	Workers       int // goroutines, each with a tile at a time
	// Progress, when set, is called after every tile, from one goroutine at a time, with the
	// number of tiles of the shard that are done.
	Progress func(done, total int)
}

// Summary says what Work did.
type Summary struct {
	Tiles    int // of the shard
	Computed int
	Kept     int // good ones that were there
	Damaged  int // among the computed: those that replaced a damaged one
}

// Work computes those tiles of a shard that are not in the folder, which it makes. src is
// the whole collection of the manifest; only the blocks that are needed are read. A good tile
// is kept, a damaged one is computed again, and it is an error if the folder has a manifest or
// a tile of another model, plan or collection. The other shards may run at the same time, and elsewhere.
func Work(ctx context.Context, dir string, s *store.Space, m *Manifest, src store.Source, o Options) (Summary, error) {
	var sum Summary
	if o.Shards < 1 || o.Shard < 1 || o.Shard > o.Shards {
		return sum, fmt.Errorf("shard %d of %d, want one from 1 to the number of shards", o.Shard, o.Shards)
	}
	if src.Len() != m.Graphs {
		return sum, fmt.Errorf("%d records for a plan of %d graphs", src.Len(), m.Graphs)
	}
	if err := prepare(ctx, dir, m); err != nil {
		return sum, err
	}
	todo := slices.Collect(m.Shard(o.Shard, o.Shards))
	if err := sweep(dir, m, o.Shards, o.Shard); err != nil {
		return sum, err
	}
	sum.Tiles = len(todo)
	var mu sync.Mutex
	done := func(kept, bad bool) {
		mu.Lock()
		defer mu.Unlock()
		if kept {
			sum.Kept++
		} else {
			sum.Computed++
		}
		if bad {
			sum.Damaged++
		}
		if o.Progress != nil {
			o.Progress(sum.Kept+sum.Computed, sum.Tiles)
		}
	}
	err := each(ctx, o.Workers, len(todo), func(i int) error {
		row, col := m.Place(todo[i])
		path := filepath.Join(dir, Name(row, col))
		h, err := verify(path)
		switch {
		case err == nil:
			if err := m.Check(h); err != nil {
				return fmt.Errorf("%s %w; take another folder, or delete the tiles in this one", path, err)
			}
			if h.Row != row || h.Col != col {
				return fmt.Errorf("%s is tile %d, %d under another name; delete it", path, h.Row, h.Col)
			}
			done(true, false)
			return nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged):
			return err
		}
		replaced := errors.Is(err, ErrDamaged)
		rows, err := src.Records(m.Block(row))
		if err != nil {
			return err
		}
		cols, err := src.Records(m.Block(col))
		if err != nil {
			return err
		}
		tile, err := Compute(ctx, s, m.Plan, todo[i], rows, cols)
		if err != nil {
			return err
		}
		if err := m.Check(&tile.Header); err != nil {
			return fmt.Errorf("the tile that was computed %w: the records changed meanwhile", err)
		}
		if err := write(ctx, path, tile.Encode()); err != nil {
			return err
		}
		done(false, replaced)
		return nil
	})
	return sum, err
}

func write(ctx context.Context, path string, data []byte) error {
	return dataset.WriteFile(ctx, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// each calls f(i) for i = 0 … n-1 from some goroutines until one fails.
func each(ctx context.Context, workers, n int, f func(i int) error) error {
	var next atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// prepare makes the folder and its manifest, or checks that the one there is the same.
func prepare(ctx context.Context, dir string, m *Manifest) error {
	if err := m.Validate(); err != nil {
		return err
	}
	want, err := m.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, ManifestName)
	old, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return write(ctx, path, want)
	}
	if err != nil {
		return err
	}
	if got, err := old.Encode(); err != nil || string(got) == string(want) {
		return err
	}
	return fmt.Errorf("%s is of %s; take another folder, or delete this one", path, difference(old, m))
}

// difference says in what the manifest a differs from b.
func difference(a, b *Manifest) string {
	switch {
	case a.Model != b.Model:
		return fmt.Sprintf("another model: %s (%s), want %s (%s)", short(a.Model), a.Kernel, short(b.Model), b.Kernel)
	case a.Plan != b.Plan:
		return fmt.Sprintf("another plan: %d graphs by tiles of %d, want %d by %d", a.Graphs, a.Side, b.Graphs, b.Side)
	case !slices.Equal(a.Digests, b.Digests):
		return "other graphs"
	}
	return "graphs with other identifiers or targets"
}

func readManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := DecodeManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// verify reads a tile and checks every byte.
func verify(path string) (*Header, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h, err := check(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// sweep removes what killed processes have left of the tiles of a shard. The tiles of other
// shards may be about to get their names.
func sweep(dir string, m *Manifest, shards, shard int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := leftover.FindStringSubmatch(e.Name())
		if name == nil {
			continue
		}
		var row, col int
		if _, err := fmt.Sscanf(name[1], "tile-%d-%d", &row, &col); err != nil || row > col || col >= m.Blocks() {
			continue
		}
		if m.Index(row, col)%shards != shard-1 {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
