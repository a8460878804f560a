package pipeline

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/tiles"
)

func init() {
	beam.RegisterDoFn(&pairFn{})
	beam.RegisterDoFn(&tileFn{})
}

// pairFn sends a block to all tiles of its row and column.
type pairFn struct {
	Side int
}

// ProcessElement emits the features of the block once for each of its tiles.
func (f *pairFn) ProcessElement(_ context.Context, b span, emit func(int, span)) {
	p := tiles.Layout{Graphs: b.Graphs, Side: f.Side}
	for other := range p.Blocks() {
		emit(p.Index(min(b.Group, other), max(b.Group, other)), span{Group: b.Group, IDs: []string{}, Targets: []string{}, Hashes: []int{}, Features: b.Features, Lines: []string{}})
	}
}

// tileFn computes a tile, unless it is there.
type tileFn struct {
	fitted
	Dir string
}

// tileName returns the name of the file of a tile.
func tileName(row, col int) string {
	return fmt.Sprintf("tile-%06d-%06d%s", row, col, tiles.Extension)
}

// ProcessElement writes a file with tile t, unless it is there. The file of the identifiers is
// there before any tile.
func (f *tileFn) ProcessElement(ctx context.Context, t int, next func(*span) bool, text string) error {
	plan, err := tiles.DecodeLayout([]byte(text))
	if err != nil {
		return err
	}
	row, col := plan.Place(t)
	rows, cols, err := f.sides(next, row, col)
	if err != nil {
		return fmt.Errorf("tile %d: %w", t, err)
	}
	path := join(f.Dir, tileName(row, col))
	old, err := loadIfThere(ctx, path)
	if err != nil {
		return err
	}
	if old != nil {
		good, err := plan.Holds(old, t)
		if err != nil {
			return fmt.Errorf("%s %w; take another folder, or delete the tiles in this one", path, err)
		}
		if good {
			tilesKept.add(ctx, 1)
			return nil
		}
	}
	work, err := f.Model.work(ctx)
	if err != nil {
		return err
	}
	values, err := tiles.Compute(work, f.kernel, plan, t, rows, cols)
	if err != nil {
		return err
	}
	return output(ctx, path, plan.EncodeTile(t, values), old != nil)
}

// sides returns the features of the two blocks of a tile, which are one on the diagonal.
func (f *tileFn) sides(next func(*span) bool, row, col int) (rows, cols kernel.Features, err error) {
	for b := (span{}); next(&b); b = (span{}) {
		a, err := model.DecodeFeatures(f.kernel, b.Features)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("block %d: %w", b.Group, err)
		case b.Group == row && rows == nil:
			rows = a
		case b.Group == col && cols == nil:
			cols = a
		default:
			return nil, nil, fmt.Errorf("block %d comes again: the runner repeated some", b.Group)
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

// gram adds the steps from blocks to tiles.
func (j *Job) gram(s beam.Scope, blocks beam.PCollection) {
	s = s.Scope("Tiles")
	plan := j.plan(s, blocks)
	pairs := beam.GroupByKey(s, beam.ParDo(s, &pairFn{j.o.Side}, blocks))
	beam.ParDo0(s, &tileFn{fitted{Model: j.model}, j.o.Tiles}, pairs, beam.SideInput{Input: plan})
}
