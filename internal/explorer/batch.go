package explorer

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

const (
	batchPath  = "/api/v1/batch"
	maxBatch   = 10_000 // graphs
	maxBatches = 8      // that are kept
)

// batch is many new graphs, which are predicted together. It is kept in memory, so that a page that is loaded anew finds it.
type batch struct {
	id, name string
	s        *source
	key      string // of the session
	graphs   []*graph.Graph
	lines    []int
	answers  byColumn[*batchAnswer] // that of the target without a name
}

type batchRequest struct {
	Name string `json:"name" want:"1 to 200" help:"name of the file; it tells the format"`
	Key  string `json:"key,omitempty" want:"0 to 100" help:"any text; names the file in requests for its progress"`
	kernelRequest
}

// batchRead says what was read.
type batchRead struct {
	Batch   string          `json:"batch" help:"its name in requests"`
	Graphs  int             `json:"graphs"`
	More    bool            `json:"more" help:"the file has more graphs; the others are not read"`
	Skipped dataset.LeftOut `json:"skipped" help:"records that could not be read"`
}

// postBatch reads graphs as the data was read.
func postBatch(q *request, in *batchRequest) (*batchRead, error) {
	_, key, err := q.s.choose(in.Kernel)
	if err != nil {
		return nil, err
	}
	b := &batch{id: rand.Text(), name: in.Name, s: q.s, key: key}
	out := &batchRead{Batch: b.id}
	_, err = q.sent(in.Name, in.Key, func(u *uploading) error {
		o := q.s.data.read
		o.Format, o.Strict = dataset.Auto, false
		limits := (&uploadRequest{}).options(q.s.o.UploadBytes).Limits
		o.Limits, o.Limits.Vertices, o.Limits.Edges = limits, maxVertices, maxEdges
		r, err := openUpload(q.Context(), u.body, q.ContentLength, q.s.o.UploadBytes, in.Name, o)
		if err != nil {
			return uploadError(err)
		}
		l := &loader{most: maxBatch, first: true, items: limits.Items}
		tick := func(n int) { u.graphs.Store(int64(n)) }
		for err := l.read(q.Context(), r, tick); err != nil; err = l.read(q.Context(), r, tick) {
			if q.Context().Err() != nil || !r.Skip() {
				return uploadError(err)
			}
		}
		out.Graphs, out.More, out.Skipped = len(l.graphs), l.all > len(l.graphs), r.Skipped()
		if len(l.graphs) == 0 {
			if out.Skipped.Count > 0 {
				bad := out.Skipped.First[0]
				return uploadError(fmt.Errorf("%s: no graph can be read; the first error is in line %d: %s", in.Name, bad.Line, bad.Reason))
			}
			return uploadError(fmt.Errorf("%s: no graphs", in.Name))
		}
		for _, g := range l.graphs {
			if g.N() == 0 {
				return uploadError(fmt.Errorf("%s: a graph has no vertices, want at least one", in.Name))
			}
		}
		b.lines = l.lines
		b.graphs, err = l.named()
		return err
	})
	if err != nil {
		return nil, err
	}
	q.s.keep(b)
	return out, nil
}

// keep keeps a batch, and lets the oldest ones go when there are too many.
func (s *Server) keep(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = slices.Insert(s.batches, 0, b)
	s.batches = s.batches[:min(len(s.batches), maxBatches)]
}

// named returns graphs with the identifiers of their file, or else their SMILES, or their numbers.
func (l *loader) named() ([]*graph.Graph, error) {
	c := Choices{}
	if err := l.choose(&c, dataset.DefaultOptions(), true); err != nil {
		return nil, err
	}
	var ids []string
	if c.ID != nil {
		ids = l.chosen(c.ID)
	}
	out := make([]*graph.Graph, len(l.graphs))
	for i, g := range l.graphs {
		id := g.ID()
		if ids != nil {
			id = ids[i]
		}
		if id == "" {
			id = fmt.Sprint(i + 1)
		}
		out[i] = g.With(id, "")
	}
	return out, nil
}

// batch returns the batch of a name.
func (s *source) batch(id string) (*batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.batches, func(b *batch) bool { return b.id == id && b.s == s })
	if i < 0 {
		return nil, notFound("batch", "the batch %.100q is not here: the server keeps the last %d in memory only", id, maxBatches)
	}
	return s.batches[i], nil
}

type batchNamed struct {
	Batch    string `json:"batch" help:"the batch, as POST batch names it"`
	Endpoint string `json:"endpoint,omitempty" help:"a column of the data that is predicted in place of the target"`
	kernelRequest
}

// batchAnswer is a table of predictions, one list per column. The list of a column that the learner does not have is empty.
type batchAnswer struct {
	Name        string             `json:"name" help:"of the file"`
	IDs         []string           `json:"ids"`
	SMILES      []string           `json:"smiles" help:"empty texts for graphs that are no molecules"`
	Lines       []int              `json:"lines" help:"where the graphs begin in the file, 0 where that is not known"`
	Classes     []string           `json:"classes" help:"predicted"`
	Probability []float64          `json:"probability" help:"of the predicted class"`
	Values      []float64          `json:"values" help:"predicted"`
	Deviations  []float64          `json:"deviations" help:"standard deviations of measured values"`
	Low         []float64          `json:"low" help:"ends of the intervals of measured values"`
	High        []float64          `json:"high"`
	Level       *float64           `json:"level" help:"probability of the intervals; null for none"`
	Similarity  []float64          `json:"similarity" help:"to the most similar graph of the data"`
	Percentile  []int              `json:"percentile" help:"per cent of the graphs of the data whose own nearest graph is less similar"`
	Unlike      []bool             `json:"unlike" help:"99 % of the graphs of the data have a more similar one"`
	Nearest     []int              `json:"nearest" help:"the most similar graph of the data"`
	Known       []int              `json:"known" help:"the molecule of the data that this one is equal to, perhaps but for stereochemistry, −1 for none"`
	Same        []dataset.Sameness `json:"same" help:"same molecule, or same molecule, other stereochemistry; empty where known is −1"`
}

// getBatch predicts the graphs of a batch, once.
func getBatch(q *request, in *batchNamed) (*batchAnswer, error) {
	b, err := q.s.batch(in.Batch)
	if err != nil {
		return nil, err
	}
	x, err := q.s.session(in.Kernel)
	if err != nil {
		return nil, err
	}
	if x.key != b.key {
		return nil, badRequest("kernel", "the batch was read for another kernel; send it again")
	}
	f, err := x.learnedOf(q.Context(), in.Endpoint)
	if err != nil {
		return nil, err
	}
	return computeAt(q.Context(), x, paceOf(len(b.graphs)), b.answers.of(in.Endpoint, len(x.s.data.columns)+1), "predict", func(ctx context.Context) (*batchAnswer, error) { return x.predictBatch(ctx, f, b) })
}

// predictBatch predicts the graphs of a batch, some at a time.
func (x *session) predictBatch(ctx context.Context, f *fitted, b *batch) (*batchAnswer, error) {
	out := &batchAnswer{Name: b.name, Lines: b.lines, IDs: []string{}, SMILES: []string{}, Classes: []string{}, Probability: []float64{}, Values: []float64{},
		Deviations: []float64{}, Low: []float64{}, High: []float64{}, Similarity: []float64{}, Percentile: []int{}, Unlike: []bool{}, Nearest: []int{}, Known: []int{}}
	train, err := f.Kernel.Train(ctx)
	if err != nil {
		return nil, err
	}
	meter := work.NewMeter(ctx, "predict", len(b.graphs))
	for graphs := range slices.Chunk(b.graphs, rowsAtATime) {
		features, err := f.Kernel.Transform(work.Quiet(ctx), graphs)
		if err != nil {
			return nil, err
		}
		cross, err := kernel.Between(work.Quiet(ctx), f.Kernel, features, train)
		if err != nil {
			return nil, err
		}
		var said []model.Prediction
		if f.Task() != model.SearchOnly {
			if said, err = f.PredictCross(work.Quiet(ctx), graphs, features, cross, model.DefaultPredictOptions()); err != nil {
				return nil, err
			}
		}
		for k, g := range graphs {
			out.add(x.s.data, f, row{values: cross.Row(k), graph: g, index: -1})
			if said != nil {
				out.say(f, &said[k])
			}
		}
		meter.Add(len(graphs))
	}
	return out, nil
}

// add adds what is known of a graph without a learner.
func (a *batchAnswer) add(d *Data, f *fitted, r row) {
	a.IDs, a.SMILES = append(a.IDs, r.graph.ID()), append(a.SMILES, r.graph.SMILES())
	like := f.Likeness(others(r.values, 1, -1), 1)
	a.Similarity, a.Percentile, a.Unlike = append(a.Similarity, like.Similarity), append(a.Percentile, like.Percentile), append(a.Unlike, like.Unlike)
	a.Nearest = append(a.Nearest, like.Nearest[0].Index)
	known, same := -1, dataset.Different
	if n := d.equal(r); len(n) > 0 {
		known, same = n[0].Index, n[0].Same
		a.Unlike[len(a.Unlike)-1] = false
	}
	a.Known, a.Same = append(a.Known, known), append(a.Same, same)
}

// say adds what the learner says.
func (a *batchAnswer) say(f *fitted, p *model.Prediction) {
	if f.Task() == model.Classification {
		a.Classes = append(a.Classes, p.Class)
		if p.Probability != nil {
			a.Probability = append(a.Probability, slices.Max(p.Probability))
		}
		return
	}
	a.Values = append(a.Values, p.Value)
	if p.Interval != nil {
		a.Deviations, a.Low, a.High, a.Level = append(a.Deviations, *p.Deviation), append(a.Low, p.Interval.Low), append(a.High, p.Interval.High), &p.Interval.Level
	}
}

// getBatchGraph draws a graph of a batch.
func getBatchGraph(q *request, in *struct {
	Batch string `json:"batch" help:"the batch, as POST batch names it"`
	Row   int    `json:"row" help:"position in the batch, from 0"`
}) (*graphAnswer, error) {
	b, err := q.s.batch(in.Batch)
	if err != nil {
		return nil, err
	}
	if in.Row < 0 || in.Row >= len(b.graphs) {
		return nil, notFound("row", "row %d, want 0 … %d", in.Row, len(b.graphs)-1)
	}
	return drawn(q, b.graphs[in.Row], -1)
}

// drawn answers with a graph and its drawing.
func drawn(q *request, g *graph.Graph, index int) (*graphAnswer, error) {
	return short(q, func(context.Context) (*graphAnswer, error) {
		line, err := dataset.AppendJSON(nil, g)
		if err != nil {
			return nil, err
		}
		picture, err := drawGraph(g)
		return &graphAnswer{index, line, picture}, err
	})
}
