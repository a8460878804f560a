package explorer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// row is the kernel of a graph with all of the data.
type row struct {
	values   []float64
	features kernel.Features
	index    int          // in the data, −1 for a new graph
	graph    *graph.Graph // nil where a model does not have it
}

// rows returns the rows of graphs, some before which are in the same request.
func (s *source) rows(ctx context.Context, f *fitted, refs []reference, before int) ([]row, error) {
	train, err := f.Kernel.Train(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(refs))
	var fresh []*graph.Graph
	var at []int
	for i, ref := range refs {
		r := &rows[i]
		if r.graph, r.index, err = s.find(ref, before+i+1); err != nil {
			if before+len(refs) > 1 {
				err = within(fmt.Sprintf("graphs[%d]", before+i), err)
			}
			return nil, err
		}
		if r.index < 0 {
			fresh, at = append(fresh, r.graph), append(at, i)
			continue
		}
		m, err := f.block(ctx, []int{r.index}, nil)
		if err != nil {
			return nil, err
		}
		r.values, r.features = m.Data, kernel.Range(train, r.index, r.index+1)
	}
	if len(fresh) == 0 {
		return rows, nil
	}
	a, err := f.Kernel.Transform(ctx, fresh)
	if err != nil {
		return nil, err
	}
	m, err := kernel.Between(ctx, f.Kernel, a, train)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		rows[i].values, rows[i].features = m.Row(k), kernel.Range(a, k, k+1)
	}
	return rows, nil
}

type neighboursRequest struct {
	Graph reference `json:"graph"`
	K     int       `json:"k,omitempty" default:"10" want:"1 to 1000" help:"number of graphs in the answer"`
	kernelRequest
}

type neighboursAnswer struct {
	Neighbours []model.Neighbour `json:"neighbours" help:"most similar first"`
}

func findNeighbours(ctx context.Context, x *session, f *fitted, in *neighboursRequest) (*neighboursAnswer, error) {
	rows, err := x.s.rows(ctx, f, []reference{in.Graph}, 0)
	if err != nil {
		return nil, err
	}
	out := f.Neighbours(others(rows[0].values, in.K, rows[0].index))
	if x.s.data.molecules {
		f.Mark(out, rows[0].graph)
	}
	return &neighboursAnswer{out}, nil
}

type predictRequest struct {
	Graphs []reference `json:"graphs" want:"1 to 1000"`
	K      int         `json:"k,omitempty" default:"5" want:"0 to 1000" help:"number of neighbours in the answer"`
	Place  bool        `json:"place,omitempty" help:"also give the positions on the maps"`

	Endpoint string `json:"endpoint,omitempty" help:"a column of the data that is predicted in place of the target"`
	earlyRequest
	kernelRequest
}

// earlyRequest says which learner answers.
type earlyRequest struct {
	Early bool `json:"early,omitempty" help:"answer from a learner of some graphs as long as that of all is not trained"`
}

type predictAnswer struct {
	Predictions []prediction `json:"predictions"`
}

// prediction is what is said about one graph. The answer about a graph of the data is that of a learner that has not
// seen it, where there is one.
type prediction struct {
	ID string `json:"id"`
	answer
	HeldOut bool    `json:"held_out" help:"the graph is one of the data, and the learner had not seen it"`
	Fitted  *answer `json:"fitted" help:"what the learner says that was trained with the graph; null where that is the answer, and for graphs that it has not seen"`
	Note    string  `json:"note" help:"how the learner was trained, where that is not with all graphs; otherwise empty"`
	model.Likeness
	Equal         []model.Neighbour `json:"equal" help:"all molecules of the data that a new one is equal to as known is; empty for none"`
	Trained       bool              `json:"trained" help:"a new molecule is one of the data, and the learner was trained with it"`
	Without       *answer           `json:"without" help:"for a new molecule that is one of the data: what a learner says that was not trained with it; null where that is not known"`
	UnknownLabels []string          `json:"unknown_labels" help:"vertex labels that no graph of the data has"`
	Place         *place            `json:"place" help:"null unless asked for"`
}

// answer is what a learner says about a graph.
type answer struct {
	Class         *string            `json:"class"`
	Value         *float64           `json:"value" help:"class for classification, value for regression; both are null if nothing is predicted"`
	Deviation     *float64           `json:"deviation" help:"standard deviation of a measured value; null if it is not known"`
	Interval      *metrics.Interval  `json:"interval" help:"where a measured value lies with a probability; null if that is not known"`
	Probabilities []classProbability `json:"probabilities" help:"highest first; empty if the learner has none"`
}

func newAnswer() *answer { return &answer{Probabilities: []classProbability{}} }

func (a *answer) setValue(v float64) { a.Value = &v }

// setDeviation sets the deviation of the value, and its interval.
func (a *answer) setDeviation(d float64) {
	level := model.DefaultPredictOptions().Level
	half := metrics.HalfWidth(level) * d
	a.Deviation, a.Interval = &d, &metrics.Interval{Level: level, Low: *a.Value - half, High: *a.Value + half}
}

// setClass sets the class, with the probabilities of all classes if they are known.
func (a *answer) setClass(class string, classes []string, probabilities []float64) {
	a.Class = &class
	for c, v := range probabilities {
		a.Probabilities = append(a.Probabilities, classProbability{classes[c], v})
	}
	slices.SortStableFunc(a.Probabilities, func(a, b classProbability) int { return cmp.Compare(b.Probability, a.Probability) })
}

// place is a position on both maps.
type place struct {
	PCA        [2]float64 `json:"pca"`
	Neighbours [2]float64 `json:"neighbours"`
}

type classProbability struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
}

// rowsAtATime is the number of new graphs that are compared together. This shares work and bounds
// memory.
const rowsAtATime = 64

func predict(q *request, in *predictRequest) (*predictAnswer, error) {
	if n := len(in.Graphs); n < 1 || n > maxAsked {
		return nil, badRequest("graphs", "%d graphs, want 1 to %d", n, maxAsked)
	}
	var places *placement
	get := func(x *session, ctx context.Context) (f *fitted, err error) {
		if in.Place {
			if places, err = x.placed(ctx); err != nil {
				return nil, err
			}
		}
		if in.Early && in.Endpoint == "" {
			return x.learnedSoon(ctx)
		}
		return x.learnedOf(ctx, in.Endpoint)
	}
	return on(get, func(ctx context.Context, x *session, f *fitted, in *predictRequest) (*predictAnswer, error) {
		out := &predictAnswer{make([]prediction, 0, len(in.Graphs))}
		for some := range slices.Chunk(in.Graphs, rowsAtATime) {
			rows, err := x.s.rows(ctx, f, some, len(out.Predictions))
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				said, err := x.predict(ctx, f, r, in)
				if err != nil {
					return nil, err
				}
				if places != nil {
					said.Place = places.place(r)
				}
				out.Predictions = append(out.Predictions, said)
			}
		}
		return out, nil
	})(q, in)
}

// predict returns the prediction for a graph, from its row of kernel values.
func (x *session) predict(ctx context.Context, f *fitted, r row, in *predictRequest) (prediction, error) {
	d, t, k := x.s.data, f.training, in.K
	if x.saved && in.Endpoint == "" {
		t, _ = x.training.peek() // of cross-validation, if that was asked for
	}
	out := prediction{answer: *newAnswer(), Equal: []model.Neighbour{}, UnknownLabels: []string{}}
	out.Likeness = f.Likeness(others(r.values, max(k, 1), r.index), k)
	if f.training != nil {
		out.Note = f.training.note
	}
	if r.index < 0 {
		out.ID = r.graph.ID()
		out.UnknownLabels = f.unknownLabels(d, r.graph)
		f.Mark(out.Nearest, r.graph)
		if out.Equal = d.equal(r); len(out.Equal) > 0 {
			out.Known, out.Unlike = &out.Equal[0], false
		}
	} else {
		out.ID = d.IDs[r.index]
	}
	if f.Task() == model.SearchOnly {
		return out, nil
	}
	said, err := x.answer(ctx, f, r)
	if err != nil {
		return out, err
	}
	out.answer = *said
	if r.index < 0 {
		if out.Trained = x.trainedWith(f, out.Equal); out.Trained && len(out.Equal) == 1 { // else others were not left out
			out.Without = t.heldOut(out.Known.Index)
		}
		return out, nil
	}
	if held := t.heldOut(r.index); held != nil {
		out.answer, out.HeldOut, out.Fitted = *held, true, said
	} else if !x.saved { // the learner has seen other graphs alone
		out.HeldOut = true
	}
	return out, nil
}

// answer returns what the learner says about a graph.
func (x *session) answer(ctx context.Context, f *fitted, r row) (*answer, error) {
	cross := &kernel.Matrix{Rows: 1, Cols: len(r.values), Data: r.values}
	said, err := f.PredictCross(ctx, []*graph.Graph{r.graph}, r.features, cross, model.DefaultPredictOptions())
	if err != nil {
		return nil, err
	}
	out := newAnswer()
	if f.Task() == model.Classification {
		out.setClass(said[0].Class, f.Classes, said[0].Probability)
	} else {
		out.Value, out.Deviation, out.Interval = &said[0].Value, said[0].Deviation, said[0].Interval
	}
	return out, nil
}

// equal returns the molecules of the data that a new molecule is equal to, or else those that it is equal to but for stereochemistry.
func (d *Data) equal(r row) []model.Neighbour {
	known := d.Molecules()
	if known == nil { // some graphs can only be compared in exponential time
		return []model.Neighbour{}
	}
	all, same := known.FindAll(r.graph)
	hits := make([]nearest.Hit, len(all))
	for k, i := range all {
		hits[k] = nearest.Hit{Index: i, Similarity: r.values[i]}
	}
	out := d.Neighbours(hits)
	for k := range out {
		out[k].Same = same
	}
	return out
}

// trainedWith says that the learner has seen one of some molecules, which a new one is equal to.
func (x *session) trainedWith(f *fitted, equal []model.Neighbour) bool {
	return slices.ContainsFunc(equal, func(n model.Neighbour) bool {
		if f.training == nil {
			return n.Same == dataset.SameMolecule && n.Target != ""
		}
		_, seen := slices.BinarySearch(f.training.known, n.Index)
		return n.Same == dataset.SameMolecule && seen
	})
}

// unknownLabels returns the labels of a graph that no graph of the data has, if the kernel looks at
// labels.
func (f *fitted) unknownLabels(d *Data, g *graph.Graph) []string {
	out := []string{}
	if f.scales == nil || !strings.Contains(f.scales.Model().Base().String(), "labels") {
		return out
	}
	for _, l := range g.Labels() {
		if d.info.LabelCounts[l] == 0 && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// place returns the places of a graph on both maps.
func (p *placement) place(r row) *place {
	out := &place{}
	out.PCA[0], out.PCA[1] = p.project(r.values)
	if i := r.index; i >= 0 {
		out.Neighbours = [2]float64{p.neighbours[0][i], p.neighbours[1][i]}
	} else {
		out.Neighbours[0], out.Neighbours[1] = p.among(r.values)
	}
	return out
}

type explainRequest struct {
	Graph  reference `json:"graph"`
	Class  *string   `json:"class,omitempty" help:"class to explain; by default the predicted one"`
	Slopes bool      `json:"slopes,omitempty" help:"give slopes instead: how the value changes when a vertex counts more"`
	earlyRequest
	kernelRequest
}

// explainingGraphs is the number of graphs of the data that an explanation tells: those with the
// largest part in the value.
const explainingGraphs = 10

func postExplain(q *request, in *explainRequest) (*explain.Explanation, error) {
	get := (*session).learned
	if in.Early {
		get = (*session).learnedSoon
	}
	return on(get, explainGraph)(q, in)
}

func explainGraph(ctx context.Context, x *session, f *fitted, in *explainRequest) (*explain.Explanation, error) {
	g, i, err := x.s.graph(in.Graph)
	if err != nil {
		return nil, err
	}
	o := explain.Options{Slopes: in.Slopes}
	if in.Class != nil {
		o.Class = *in.Class
	}
	work := func() (*explain.Explanation, error) {
		return explainPrediction(work.WithWorkers(ctx, x.s.o.Workers), x.s.data.naming(f.Model), g, o)
	}
	if i < 0 {
		return work()
	}
	return x.explanation(explainedKey{i, &f.Learner, o}, work)
}

// naming returns a model whose target has the name that it has here.
func (d *Data) naming(m *model.Model) *model.Model {
	if m.Target != "" || d.targetName == "" {
		return m
	}
	out := *m
	out.Target = d.targetName
	return &out
}

// explainPrediction says which vertices of a graph speak for its class or its value.
func explainPrediction(ctx context.Context, m *model.Model, g *graph.Graph, o explain.Options) (*explain.Explanation, error) {
	if m.Task() == model.SearchOnly {
		return nil, errNoLearner
	}
	e, err := explain.Prediction(ctx, m, g, o)
	var class explain.ErrClass
	if errors.As(err, &class) {
		return nil, badRequest("class", "%v", class)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(e.Graphs, func(a, b explain.GraphTerm) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	e.Graphs = e.Graphs[:min(len(e.Graphs), explainingGraphs)]
	return e, nil
}

type compareRequest struct {
	A reference `json:"a"`
	B reference `json:"b"`
	kernelRequest
}

// comparison compares two graphs.
type comparison struct {
	K      float64         `json:"k"`
	Levels []explain.Level `json:"levels" help:"of the kernel, where it has some, or of the multiscale kernel whose scales are shown"`
	Of     string          `json:"of" help:"the kernel that the levels are of, where it is a part of the kernel; otherwise empty"`
	Note   string          `json:"note" help:"why there are no levels; otherwise empty"`
}

// maxPair is the number of vertices of the largest graph whose vertices are matched. Matching takes
// cubic time.
const maxPair = 300

// getCompare compares two graphs that the query names.
func getCompare(q *request, in *struct {
	A string `json:"a" want:"1 to 4000" help:"a graph: its position in the data, from 0, or a molecule as SMILES"`
	B string `json:"b" want:"1 to 4000" help:"the other graph, given in the same way"`
	kernelRequest
}) (*comparison, error) {
	named := func(text string) reference {
		if i, err := strconv.Atoi(text); err == nil {
			return reference{Index: &i}
		}
		return reference{SMILES: &text}
	}
	return on((*session).fitted, compare)(q, &compareRequest{named(in.A), named(in.B), in.kernelRequest})
}

// compare compares two graphs.
func compare(ctx context.Context, x *session, f *fitted, in *compareRequest) (*comparison, error) {
	a, i, err := x.s.graph(in.A)
	if err != nil {
		return nil, within("a", err)
	}
	b, j, err := x.s.graph(in.B)
	if err != nil {
		return nil, within("b", err)
	}
	out := &comparison{Levels: []explain.Level{}}
	if i >= 0 && j >= 0 {
		var k *kernel.Matrix
		if k, err = f.block(ctx, []int{i}, []int{j}); err == nil {
			out.K = k.Data[0]
		}
	} else {
		out.K, err = f.Kernel.Compare(ctx, a, b)
	}
	switch {
	case err != nil:
		return nil, err
	case f.scales == nil:
		out.Levels, err = explain.LevelsBetween(ctx, f.Kernel.Asked, a, b, maxPair)
		if out.Levels == nil {
			out.Levels, out.Note = []explain.Level{}, noLevels
		}
		return out, err
	case max(a.N(), b.N()) > maxPair:
		out.Note = fmt.Sprintf("a graph has more than %d vertices, so the vertices are not matched", maxPair)
		return out, nil
	}
	out.Of = f.scales.Part()
	out.Levels, err = f.scales.Levels(ctx, a, b)
	return out, err
}
