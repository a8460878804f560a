package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

func init() {
	beam.RegisterDoFn(&numberFn{})
	beam.RegisterDoFn(&blockFn{})
}

// numberFn gives graphs their numbers, which needs the counts of all parts, and cuts spans
// where blocks end.
type numberFn struct {
	fitted
	Parts, Side int
}

// ProcessElement emits the pieces of a span of a part with their blocks.
func (f *numberFn) ProcessElement(_ context.Context, s span, counts func(*count) bool, emit func(int, span)) error {
	first, graphs, parts := s.First, 0, 0
	for n := (count{}); counts(&n); parts++ {
		graphs += n.Graphs
		if n.Part < s.Group {
			first += n.Graphs
		}
	}
	if parts != f.Parts {
		return fmt.Errorf("the numbers of graphs of %d parts, want %d: the runner lost or repeated some", parts, f.Parts)
	}
	var features kernel.Features // decoded where the span is cut
	for lo := 0; lo < len(s.IDs); {
		block := (first + lo) / f.Side
		hi := min(len(s.IDs), (block+1)*f.Side-first)
		p := span{block, first + lo, graphs, slices.Clone(s.IDs[lo:hi]), s.Targets[lo:hi], []int{}, s.Features, []string{}}
		if len(s.Lines) > 0 {
			p.Lines = s.Lines[lo:hi]
		} else if hi-lo < len(s.IDs) {
			var err error
			if features == nil {
				if features, err = model.DecodeFeatures(f.kernel, s.Features); err != nil {
					return err
				}
			}
			if p.Features, err = model.EncodeFeatures(kernel.Range(features, lo, hi)); err != nil {
				return err
			}
		}
		for i := range p.IDs {
			if p.IDs[i] == "" {
				p.IDs[i] = fmt.Sprint(p.First + i + 1)
			}
		}
		emit(block, p)
		lo = hi
	}
	return nil
}

// blockFn puts the pieces of a block together.
type blockFn struct {
	fitted
	Side int
}

// ProcessElement returns the block.
func (f *blockFn) ProcessElement(_ context.Context, number int, next func(*span) bool) (span, error) {
	pieces := sorted(next, func(a, b span) int { return a.First - b.First })
	b := span{Group: number, First: number * f.Side, Graphs: pieces[0].Graphs, Hashes: []int{}, Features: pieces[0].Features, Lines: []string{}}
	var parts []kernel.Features
	for _, p := range pieces {
		if want := b.First + len(b.IDs); p.First != want || p.Graphs != b.Graphs {
			return b, fmt.Errorf("block %d: graph %d of %d, want %d of %d: the runner lost or repeated some",
				number, p.First, p.Graphs, want, b.Graphs)
		}
		b.IDs, b.Targets, b.Lines = append(b.IDs, p.IDs...), append(b.Targets, p.Targets...), append(b.Lines, p.Lines...)
		if len(pieces) > 1 && len(p.Lines) == 0 {
			part, err := model.DecodeFeatures(f.kernel, p.Features)
			if err != nil {
				return b, fmt.Errorf("block %d: %w", number, err)
			}
			parts = append(parts, part)
		}
	}
	if want := min(f.Side, b.Graphs-b.First); len(b.IDs) != want {
		return b, fmt.Errorf("block %d: %d graphs, want %d: the runner lost or repeated some", number, len(b.IDs), want)
	}
	if len(parts) > 0 {
		var err error
		b.Features, err = model.EncodeFeatures(f.kernel.Join(parts...))
		return b, err
	}
	return b, nil
}

// blocks adds the steps from spans of parts to blocks.
func (j *Job) blocks(s beam.Scope, spans, counts beam.PCollection) beam.PCollection {
	s = s.Scope("Blocks")
	pieces := beam.ParDo(s, &numberFn{fitted{Model: j.model}, len(j.parts), j.o.Side}, spans, beam.SideInput{Input: counts})
	return beam.ParDo(s, &blockFn{fitted{Model: j.model}, j.o.Side}, beam.GroupByKey(s, pieces))
}
