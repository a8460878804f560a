package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Compute returns the values of tile t of a plan, row by row, from the features of its two blocks,
// in the calling goroutine and on the device of the context. On the diagonal both are the same. A value
// has the bits of the model's Gram, or is equal to rounding if the map of a factor is kernel.Whole.
func Compute(ctx context.Context, m kernel.Map, p Layout, t int, rows, cols kernel.Features) ([]float64, error) {
	height, width := p.shape(t)
	if rows.Len() != height || cols.Len() != width {
		return nil, fmt.Errorf("%s: features of %d and %d graphs, want %d and %d", p.name(t), rows.Len(), cols.Len(), height, width)
	}
	values := make([]float64, height*width)
	if err := m.Fill(ctx, values, width, kernel.Block{A: rows, I0: 0, I1: height, B: cols, J0: 0, J1: width}); err != nil {
		return nil, err
	}
	row, col := p.Place(t)
	for i, v := range values {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("the kernel of graphs %d and %d is not a number: with mlg and flg their covariances are nearly singular; raise gamma",
				row*p.Side+i/width, col*p.Side+i%width)
		}
	}
	return values, nil
}

// compute returns the data of tile t.
func (g *Gram) compute(ctx context.Context, p Layout, t int) ([]byte, error) {
	row, col := p.Place(t)
	rows, err := g.Features(p.Block(row))
	if err != nil {
		return nil, err
	}
	cols := rows
	if col != row {
		if cols, err = g.Features(p.Block(col)); err != nil {
			return nil, err
		}
	}
	values, err := Compute(ctx, g.Kernel, p, t, rows, cols)
	return file.Bytes(values), err
}

// shardName returns the name of the file of a shard.
func shardName(shard, shards int) string {
	return fmt.Sprintf("shard-%d-of-%d%s", shard, shards, Extension)
}

// Summary says what Work did.
type Summary struct {
	Tiles    int // of the shard
	Computed int
	Kept     int // good ones that were there
	Damaged  int // among the computed: those in place of damaged ones
}

// Work writes the file of a shard to a folder, which it makes. All features are encoded once, for the
// hash in the plan; after that, only the blocks that are needed are looked at. Tiles that are in the file, or in
// what an interrupted run has left of it, are kept up
// to the first damaged one; the others are computed. A folder with tiles of another model, plan or
// collection is an error. The other shards may run at the same time, and elsewhere.
func Work(ctx context.Context, dir string, g *Gram, side, shard, shards int) (sum Summary, err error) {
	if shards < 1 || shard < 1 || shard > shards {
		return sum, fmt.Errorf("shard %d of %d, want a number from 1 to the number of shards", shard, shards)
	}
	p, err := g.Layout(side)
	if err != nil {
		return sum, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return sum, err
	}
	path := filepath.Join(dir, shardName(shard, shards))
	if err := p.admit(dir, path); err != nil {
		return sum, err
	}
	again := os.Rename(path, path+file.Partial) == nil // is taken up like an unfinished one
	log, kept, err := file.Resume(path, Kind, Version, p.section())
	if err != nil {
		return sum, err
	}
	defer log.Close() // a second time where all went well
	have := map[string]bool{}
	for _, s := range kept {
		have[s.Name] = true
	}
	if s := ids(g.Axis); !have[s.Name] {
		if err := log.Append(s.Name, s.Data); err != nil {
			return sum, err
		}
	}
	todo := p.shard(shard, shards)
	sum.Tiles = len(todo)
	todo = slices.DeleteFunc(todo, func(t int) bool { return have[p.name(t)] })
	sum.Kept = sum.Tiles - len(todo)
	meter := work.NewMeter(ctx, "tiles", sum.Tiles)
	meter.Add(sum.Kept)
	var mu sync.Mutex
	lanes := ctx
	if g.whole() { // one tile at a time has all goroutines, and the memory for its tables
		lanes = work.WithWorkers(ctx, 1)
	}
	err = work.Each(lanes, len(todo), 1, func(_, i int) error {
		data, err := g.compute(ctx, p, todo[i])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if err := log.Append(p.name(todo[i]), data); err != nil {
			return err
		}
		if sum.Computed++; again {
			sum.Damaged++
		}
		meter.Add(1)
		return nil
	})
	if err != nil {
		return sum, err
	}
	return sum, log.Commit()
}

// admit returns an error if a folder has tiles of another plan. It looks at one finished file and
// at the file at path, finished or not. If the file at path cannot be read at all, admit empties
// it.
func (p Layout) admit(dir, path string) error {
	all, err := finished(dir)
	if err != nil {
		return err
	}
	for _, x := range append(all[:min(1, len(all))], path, path+file.Partial) {
		begin, err := beginning(x)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		c, err := decode(begin)
		if err == nil {
			err = c.belongs(p)
		}
		if err != nil {
			return fmt.Errorf("%s %w; use another folder, or delete the file", x, err)
		}
		if x == path && c.plan == (Layout{}) {
			if err := os.Truncate(path, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginning returns the first bytes of a file, more than a plan has. It is not mapped: another
// process may be cutting off what is damaged.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<16))
}
