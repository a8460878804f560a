package pipeline

import (
	"context"
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
		emit(p.Index(min(b.Number, other), max(b.Number, other)), half{b.Number, b.Records})
	}
}

// tileFn computes a tile, unless it is there.
type tileFn struct {
	Model modelRef
	Dir   string

	space *store.Space
}

// Setup reads the model.
func (f *tileFn) Setup(ctx context.Context) error {
	var err error
	f.space, err = f.Model.space(ctx)
	return err
}

// TileName returns the name of the file of a tile.
func TileName(row, col int) string {
	return fmt.Sprintf("tile-%06d-%06d%s", row, col, tiles.Extension)
}

// ProcessElement writes a file with tile t, unless it is there. The file of the identifiers is
// there before any tile.
func (f *tileFn) ProcessElement(ctx context.Context, t int, next func(*half) bool, text string) error {
	var halves []half
	for h := (half{}); next(&h); h = (half{}) {
		halves = append(halves, h)
	}
	plan, err := tiles.DecodePlan([]byte(text))
	if err != nil {
		return err
	}
	row, col := plan.Place(t)
	rows, cols, err := sides(halves, row, col)
	if err != nil {
		return fmt.Errorf("tile %d: %w", t, err)
	}
	path := join(f.Dir, TileName(row, col))
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
			tilesKept.Inc(ctx, 1)
			return nil
		}
	}
	values, err := tiles.Compute(f.space, plan, t, rows, cols)
	if err != nil {
		return err
	}
	if err := save(ctx, path, plan.EncodeTile(t, values)); err != nil {
		return err
	}
	tilesComputed.Inc(ctx, 1)
	if old != nil {
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

// gram adds the steps from blocks to tiles.
func (j *Job) gram(s beam.Scope, blocks beam.PCollection) {
	s = s.Scope("Tiles")
	plan := j.plan(s, blocks)
	pairs := beam.GroupByKey(s, beam.ParDo(s, &pairFn{j.o.Side}, blocks))
	beam.ParDo0(s, &tileFn{Model: j.model, Dir: j.o.Tiles}, pairs, beam.SideInput{Input: plan})
}
