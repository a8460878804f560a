package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// Beam calls the functions of this package by reflection. They get whole parts and blocks, so a call
// costs nothing beside its work. Generic callers, of Beam's package register, take a minute to compile.
func init() {
	beam.RegisterDoFn(&transformFn{})
	beam.RegisterDoFn(&badFn{})
}

// span is the features of graphs that follow each other. No slice of it may be nil: Beam's coders for Go
// write nil as a missing field, which those for Java, on Flink, do not expect in this type.
type span struct {
	Group        int // the part, later the block, in which they are
	First        int // number of the first graph: in the part, later in all
	Graphs       int // in all, where that is known
	IDs, Targets []string
	Hashes       []int    // model.Hashes, where they are asked for
	Features     []byte   // as model.EncodeFeatures returns them
	Lines        []string // in place of features: what answers says of the graphs
}

// count is the number of graphs in a part.
type count struct {
	Part   int
	Graphs int
}

// badGraph is a graph that was left out.
type badGraph struct {
	Part   int    `json:"-"`
	Number int    `json:"-"` // in the part
	Place  string `json:"place"`
	Reason string `json:"reason"`
}

// transformFn reads the graphs of a part and computes their features.
type transformFn struct {
	fitted
	Read        dataset.Options // arrives without its limits
	Batch       int
	SkipInvalid bool
	Hashes      bool // are asked for
	Answers     bool // in place of features
	Predict     model.PredictOptions
}

// Setup reads the model.
func (f *transformFn) Setup(ctx context.Context) error {
	f.Read.Limits = dataset.DefaultOptions().Limits
	return f.fitted.Setup(ctx)
}

// ProcessElement goes through a part.
func (f *transformFn) ProcessElement(
	ctx context.Context, p part, spans func(span), counts func(count), bad func(badGraph),
) error {
	src, err := p.open(ctx, f.Read)
	if err != nil {
		return err
	}
	defer src.close()
	invalid := func(number int, reason error) error {
		if !f.SkipInvalid {
			return fmt.Errorf("%s: %w", src.place(number), reason)
		}
		graphsBad.add(ctx, 1)
		bad(badGraph{p.Number, number, src.place(number), reason.Error()})
		return nil
	}
	total := 0
	for {
		items, err := src.next(f.Batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		graphsRead.add(ctx, len(items))
		graphs, features, err := f.transform(ctx, items, invalid)
		if err != nil {
			return err
		}
		if len(graphs) == 0 {
			continue
		}
		s := span{Group: p.Number, First: total, Hashes: []int{}, Features: []byte{}, Lines: []string{}}
		if f.Hashes {
			for _, h := range model.Hashes(graphs) {
				s.Hashes = append(s.Hashes, int(h))
			}
		}
		if f.Answers {
			s.Lines, err = f.answers(ctx, graphs, features)
		} else {
			s.Features, err = model.EncodeFeatures(features)
		}
		if err != nil {
			return err
		}
		for _, g := range graphs {
			s.IDs, s.Targets = append(s.IDs, g.ID()), append(s.Targets, g.Target())
		}
		graphsTransformed.add(ctx, len(graphs))
		spans(s)
		total += len(graphs)
	}
	counts(count{p.Number, total})
	return nil
}

// answers returns what the model says of graphs.
func (f *transformFn) answers(ctx context.Context, graphs []*graph.Graph, a kernel.Features) ([]string, error) {
	m, err := f.Model.model(ctx)
	if err != nil {
		return nil, err
	}
	work, err := f.Model.work(ctx)
	if err != nil {
		return nil, err
	}
	return answers(work, m, graphs, a, f.Predict)
}

// transform returns the good graphs among items, and their features. It calls invalid for the
// others until that returns an error.
func (f *transformFn) transform(
	ctx context.Context, items []item, invalid func(number int, reason error) error,
) ([]*graph.Graph, kernel.Features, error) {
	var graphs []*graph.Graph
	var numbers []int
	for _, x := range items {
		if x.err == nil {
			graphs, numbers = append(graphs, x.graph), append(numbers, x.number)
		} else if err := invalid(x.number, x.err); err != nil {
			return nil, nil, err
		}
	}
	work, err := f.Model.work(ctx)
	if err != nil || len(graphs) == 0 {
		return nil, nil, err
	}
	features, err := f.kernel.Transform(work, graphs)
	if err == nil || ctx.Err() != nil {
		return graphs, features, err
	}
	// Which graphs are to blame is only known one by one.
	var good []*graph.Graph
	var parts []kernel.Features
	for i, g := range graphs {
		one, err := f.kernel.Transform(work, []*graph.Graph{g})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err == nil {
			good, parts = append(good, g), append(parts, one)
		} else if err := invalid(numbers[i], err); err != nil {
			return nil, nil, err
		}
	}
	if len(good) == 0 {
		return nil, nil, nil
	}
	return good, f.kernel.Join(parts...), nil
}

// badFn writes the list of the graphs that were left out, in the order of the input.
type badFn struct {
	Path string
}

// ProcessElement is called once.
func (f *badFn) ProcessElement(ctx context.Context, _ []byte, next func(*badGraph) bool) error {
	var out []byte
	for _, b := range sorted(next, func(a, b badGraph) int { return cmp.Or(a.Part-b.Part, a.Number-b.Number) }) {
		line, err := json.Marshal(b)
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	return save(ctx, f.Path, out)
}

// sorted returns what an iterator of Beam gives, in order.
func sorted[T any](next func(*T) bool, order func(a, b T) int) []T {
	var out []T
	for x := *new(T); next(&x); x = *new(T) {
		out = append(out, x)
	}
	slices.SortFunc(out, order)
	return out
}

// read adds the steps from the inputs to spans.
func (j *Job) read(s beam.Scope) (spans, counts beam.PCollection) {
	s = s.Scope("Transform")
	// Without the reshuffle a runner would give all parts to one worker.
	all := beam.Reshuffle(s, beam.CreateList(s, j.parts))
	spans, counts, bad := beam.ParDo3(s, &transformFn{
		fitted: fitted{Model: j.model}, Read: j.reading, Batch: j.o.Batch, SkipInvalid: j.o.SkipInvalid, Hashes: j.o.Train != "",
		Answers: j.o.Predictions != "", Predict: model.PredictOptions{Nearest: j.o.Nearest, Deviations: true, Level: j.o.Interval / 100},
	}, all)
	if j.o.SkipInvalid {
		beam.ParDo0(s, &badFn{join(j.o.output(), BadName)}, beam.Impulse(s), beam.SideInput{Input: bad})
	}
	return spans, counts
}
