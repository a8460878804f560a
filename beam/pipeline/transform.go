package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/store"
)

func init() {
	register.DoFn5x1[context.Context, part, func(chunk), func(count), func(badGraph), error](&transformFn{})
	register.Emitter1[chunk]()
	register.Emitter1[count]()
	register.Emitter1[badGraph]()
	register.DoFn3x1[context.Context, []byte, func(*badGraph) bool, error](&badFn{})
	register.Iter1[badGraph]()
}

// chunk is some graphs of a part, one after the other, as records.
type chunk struct {
	Part         int
	First        int      // graphs of the part before
	IDs, Targets []string // empty where a graph has none
	Records      []byte
}

// count is the number of graphs in a part.
type count struct {
	Part   int
	Graphs int
}

// badGraph is a graph that was left out.
type badGraph struct {
	Part   int    `json:"-"`
	Place  string `json:"place"`
	Reason string `json:"reason"`
}

// transformFn reads the graphs of a part and makes records of them.
type transformFn struct {
	Model   modelRef
	Read    dataset.Options // arrives without its limits
	Batch   int
	SkipBad bool

	space *store.Space
}

// Setup reads the model.
func (f *transformFn) Setup(ctx context.Context) error {
	f.Read.Limits = dataset.DefaultOptions().Limits
	var err error
	f.space, err = f.Model.space(ctx)
	return err
}

// ProcessElement goes through a part.
func (f *transformFn) ProcessElement(ctx context.Context, p part, chunks func(chunk), counts func(count), bad func(badGraph)) error {
	src, err := p.open(ctx, f.Read)
	if err != nil {
		return err
	}
	defer src.close()
	total := 0
	for {
		items, err := src.next(f.Batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		graphsRead.Inc(ctx, int64(len(items)))
		graphs, records, err := f.transform(ctx, items, func(place string, reason error) error {
			if !f.SkipBad {
				return fmt.Errorf("%s: %w", place, reason)
			}
			graphsBad.Inc(ctx, 1)
			bad(badGraph{p.Number, place, reason.Error()})
			return nil
		})
		if err != nil {
			return err
		}
		if len(graphs) == 0 {
			continue
		}
		c := chunk{Part: p.Number, First: total, Records: pack(records)}
		for _, g := range graphs {
			c.IDs, c.Targets = append(c.IDs, g.ID()), append(c.Targets, g.Target())
		}
		graphsTransformed.Inc(ctx, int64(len(graphs)))
		chunks(c)
		total += len(graphs)
	}
	counts(count{p.Number, total})
	return nil
}

// transform returns the good graphs among items, and their records. It calls bad for the
// others until that returns an error.
func (f *transformFn) transform(ctx context.Context, items []item, bad func(place string, reason error) error) ([]*graph.Graph, []float64, error) {
	graphs := make([]*graph.Graph, 0, len(items))
	places := make([]func() string, 0, len(items))
	for _, x := range items {
		if x.err != nil {
			if err := bad(x.place(), x.err); err != nil {
				return nil, nil, err
			}
			continue
		}
		graphs, places = append(graphs, x.graph), append(places, x.place)
	}
	records, err := f.space.Transform(f.Model.work(ctx), graphs)
	if err == nil || ctx.Err() != nil {
		return graphs, records, err
	}
	// Which graphs are to blame is only known one by one.
	var good []*graph.Graph
	records = nil
	for i, g := range graphs {
		r, err := f.space.Transform(f.Model.work(ctx), []*graph.Graph{g})
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			if err := bad(places[i](), err); err != nil {
				return nil, nil, err
			}
			continue
		}
		good, records = append(good, g), append(records, r...)
	}
	return good, records, nil
}

// badFn writes the list of the graphs that were left out, in the order of the input.
type badFn struct {
	Path string
}

// ProcessElement is called once.
func (f *badFn) ProcessElement(ctx context.Context, _ []byte, next func(*badGraph) bool) error {
	var all []badGraph
	for b := (badGraph{}); next(&b); {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b badGraph) int {
		return compare(a.Part-b.Part, len(a.Place)-len(b.Place), strings.Compare(a.Place, b.Place), strings.Compare(a.Reason, b.Reason))
	})
	var out []byte
	for _, b := range all {
		line, err := json.Marshal(b)
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	return save(ctx, f.Path, out)
}

// compare returns the first that is not 0. (Places of one part are numbered: the longer one
// has the larger number.)
func compare(x ...int) int {
	for _, v := range x {
		if v != 0 {
			return v
		}
	}
	return 0
}

// read adds the steps from the inputs to chunks of records.
func (j *Job) read(s beam.Scope) (chunks, counts beam.PCollection) {
	s = s.Scope("Transform")
	// Without the reshuffle a runner would give all parts to one worker.
	all := beam.Reshuffle(s, beam.CreateList(s, j.parts))
	chunks, counts, bad := beam.ParDo3(s, &transformFn{
		Model: j.model, Read: j.reading, Batch: j.o.Batch, SkipBad: j.o.SkipBad,
	}, all)
	if j.o.SkipBad {
		beam.ParDo0(s, &badFn{join(j.o.output(), BadName)}, beam.Impulse(s), beam.SideInput{Input: bad})
	}
	return chunks, counts
}
