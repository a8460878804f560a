package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn4x1[context.Context, chunk, func(*count) bool, func(int, piece), error](&numberFn{})
	register.Iter1[count]()
	register.Emitter2[int, piece]()
	register.DoFn3x2[context.Context, int, func(*piece) bool, block, error](&blockFn{})
	register.Iter1[piece]()
}

// piece is some graphs with consecutive numbers in one block.
type piece struct {
	Graphs       int // in all
	First        int // number of the first
	IDs, Targets []string
	Records      []byte
}

// block is all graphs of a block.
type block struct {
	Graphs       int // in all blocks
	Number       int
	IDs, Targets []string
	Records      []byte
}

// numberFn gives graphs their numbers, which needs the counts of all parts, and cuts chunks
// where blocks end.
type numberFn struct {
	Parts, Side int
}

// ProcessElement emits the pieces of a chunk with their blocks.
func (f *numberFn) ProcessElement(_ context.Context, c chunk, counts func(*count) bool, emit func(int, piece)) error {
	first, graphs, parts := c.First, 0, 0
	for n := (count{}); counts(&n); parts++ {
		graphs += n.Graphs
		if n.Part < c.Part {
			first += n.Graphs
		}
	}
	if parts != f.Parts {
		return fmt.Errorf("the numbers of graphs of %d parts, want %d: the runner lost or repeated some", parts, f.Parts)
	}
	size := len(c.Records) / len(c.IDs)
	for lo := 0; lo < len(c.IDs); {
		b := (first + lo) / f.Side
		hi := min(len(c.IDs), (b+1)*f.Side-first)
		p := piece{graphs, first + lo, slices.Clone(c.IDs[lo:hi]), c.Targets[lo:hi], c.Records[lo*size : hi*size]}
		for i := range p.IDs {
			if p.IDs[i] == "" {
				p.IDs[i] = fmt.Sprint(p.First + i + 1)
			}
		}
		emit(b, p)
		lo = hi
	}
	return nil
}

// blockFn puts the pieces of a block together.
type blockFn struct {
	Side int
}

// ProcessElement returns the block.
func (f *blockFn) ProcessElement(_ context.Context, number int, next func(*piece) bool) (block, error) {
	var pieces []piece
	for p := (piece{}); next(&p); p = (piece{}) {
		pieces = append(pieces, p)
	}
	slices.SortFunc(pieces, func(a, b piece) int { return a.First - b.First })
	b := block{Graphs: pieces[0].Graphs, Number: number}
	lo := number * f.Side
	for _, p := range pieces {
		if p.First != lo+len(b.IDs) || p.Graphs != b.Graphs {
			return b, fmt.Errorf("block %d: graph %d of %d comes after %d of %d: the runner lost or repeated some", number, p.First, p.Graphs, lo+len(b.IDs), b.Graphs)
		}
		b.IDs, b.Targets, b.Records = append(b.IDs, p.IDs...), append(b.Targets, p.Targets...), append(b.Records, p.Records...)
	}
	if want := min(f.Side, b.Graphs-lo); len(b.IDs) != want {
		return b, fmt.Errorf("block %d: %d graphs, want %d: the runner lost or repeated some", number, len(b.IDs), want)
	}
	return b, nil
}

// blocks adds the steps from chunks to blocks.
func (j *Job) blocks(s beam.Scope, chunks, counts beam.PCollection) beam.PCollection {
	s = s.Scope("Blocks")
	pieces := beam.ParDo(s, &numberFn{len(j.parts), j.o.Side}, chunks, beam.SideInput{Input: counts})
	return beam.ParDo(s, &blockFn{j.o.Side}, beam.GroupByKey(s, pieces))
}
