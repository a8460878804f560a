package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/tiles"
)

func init() {
	register.DoFn3x0[context.Context, block, func(int, half)](&pairFn{})
	register.Emitter2[int, half]()
	register.DoFn4x1[context.Context, int, func(*half) bool, string, error](&tileFn{})
	register.Iter1[half]()
}

// half is one of the two blocks of a tile.
type half struct {
	Graphs  int // in all blocks
	Block   int
	Records []byte
}

// pairFn sends a block to all tiles of its row and column.
type pairFn struct {
	Side int
}

// ProcessElement emits the block once for each of its tiles.
func (f *pairFn) ProcessElement(_ context.Context, b block, emit func(int, half)) {
	p := tiles.Plan{Graphs: b.Graphs, Side: f.Side}
	for other := range p.Blocks() {
		emit(p.Index(min(b.Number, other), max(b.Number, other)), half{b.Graphs, b.Number, b.Records})
	}
}

// tileFn computes a tile, unless it is there.
type tileFn struct {
	Model modelRef
	Side  int
	Dir   string

	space *store.Space
}

// Setup reads the model.
func (f *tileFn) Setup(ctx context.Context) error {
	var err error
	f.space, err = f.Model.space(ctx)
	return err
}

// ProcessElement writes tile t. The manifest is there before any tile.
func (f *tileFn) ProcessElement(ctx context.Context, t int, next func(*half) bool, _ string) error {
	var halves []half
	for h := (half{}); next(&h); h = (half{}) {
		halves = append(halves, h)
	}
	plan := tiles.Plan{Model: f.space.Fingerprint(), Graphs: halves[0].Graphs, Side: f.Side}
	row, col := plan.Place(t)
	rows, cols, err := sides(halves, row, col)
	if err != nil {
		return fmt.Errorf("tile %d: %w", t, err)
	}
	path := join(f.Dir, tiles.Name(row, col))
	done, damaged, err := f.done(ctx, path, &tiles.Header{Plan: plan, Row: row, Col: col, Rows: store.Sum(rows), Cols: store.Sum(cols)})
	if err != nil {
		return err
	}
	if done {
		tilesKept.Inc(ctx, 1)
		return nil
	}
	tile, err := tiles.Compute(ctx, f.space, plan, t, rows, cols)
	if err != nil {
		return err
	}
	if err := save(ctx, path, tile.Encode()); err != nil {
		return err
	}
	tilesComputed.Inc(ctx, 1)
	if damaged {
		tilesReplaced.Inc(ctx, 1)
	}
	return nil
}

// sides returns the records of the two blocks of a tile, which are one on the diagonal.
func sides(halves []half, row, col int) (rows, cols []float64, err error) {
	for _, h := range halves {
		switch {
		case h.Block == row && rows == nil:
			rows = unpack(h.Records)
		case h.Block == col && cols == nil:
			cols = unpack(h.Records)
		default:
			return nil, nil, fmt.Errorf("block %d comes again: the runner repeated some", h.Block)
		}
	}
	if row == col {
		cols = rows
	}
	if rows == nil || cols == nil {
		return nil, nil, fmt.Errorf("one of the blocks %d and %d is missing: the runner lost some", row, col)
	}
	return rows, cols, nil
}

// done reports whether the tile is at the path, or a damaged one. Another tile is an error.
func (f *tileFn) done(ctx context.Context, path string, want *tiles.Header) (done, damaged bool, err error) {
	data, err := loadIfThere(ctx, path)
	if data == nil || err != nil {
		return false, false, err
	}
	tile, err := tiles.Decode(data)
	switch {
	case errors.Is(err, tiles.ErrDamaged):
		return false, true, nil
	case err != nil:
		return false, false, fmt.Errorf("%s: %w", path, err)
	case tile.Header != *want:
		return false, false, fmt.Errorf("%s is a tile of another model, plan or collection; take another folder, or delete the tiles in this one", path)
	}
	return true, false, nil
}

// gram adds the steps from blocks to tiles.
func (j *Job) gram(s beam.Scope, blocks beam.PCollection) {
	s = s.Scope("Tiles")
	manifest := j.manifest(s, blocks)
	pairs := beam.GroupByKey(s, beam.ParDo(s, &pairFn{j.o.Side}, blocks))
	beam.ParDo0(s, &tileFn{Model: j.model, Side: j.o.Side, Dir: j.o.Tiles}, pairs, beam.SideInput{Input: manifest})
}
