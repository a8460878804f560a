package explorer

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// row is the kernel of a graph with all of the data.
type row struct {
	values []float64
	index  int          // in the data, −1 for a new graph
	graph  *graph.Graph // nil where a model does not have it
}

// rows returns the rows of graphs, some before which are in the same request.
func (s *Server) rows(ctx context.Context, f *fitted, refs []reference, before int) ([]row, error) {
	rows := make([]row, len(refs))
	var fresh []*graph.Graph
	var at []int
	for i, ref := range refs {
		r := &rows[i]
		var err error
		if r.graph, r.index, err = s.find(ref, before+i+1); err != nil {
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
		r.values = m.Data
	}
	if len(fresh) == 0 {
		return rows, nil
	}
	m, err := f.Kernel.Cross(ctx, fresh)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		rows[i].values = m.Row(k)
	}
	return rows, nil
}

type neighboursRequest struct {
	Graph reference `json:"graph"`
	K     int       `json:"k,omitempty" default:"10" want:"1 to 1000" help:"how many"`
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
	return &neighboursAnswer{f.Neighbours(others(rows[0].values, in.K, rows[0].index))}, nil
}

type predictRequest struct {
	Graphs []reference `json:"graphs" want:"1 to 1000"`
	K      int         `json:"k,omitempty" default:"5" want:"0 to 1000" help:"neighbours to tell"`
	Place  bool        `json:"place,omitempty" help:"also tell the positions on the maps"`
	kernelRequest
}

type predictAnswer struct {
	Predictions []prediction `json:"predictions"`
}

// prediction is what is said about one graph.
type prediction struct {
	ID             string             `json:"id"`
	Class          *string            `json:"class"`
	Value          *float64           `json:"value" help:"class or value, as the task is; both null where nothing is predicted"`
	Probabilities  []classProbability `json:"probabilities" help:"highest first; empty where they were not trained"`
	CrossValidated *string            `json:"cross_validated" help:"what a graph of the data was taken for by a learner that did not see it; null for new graphs, and until cross-validation was asked for"`
	Neighbours     []model.Neighbour  `json:"neighbours"`
	Percentile     int                `json:"percentile" help:"share of the graphs of the data whose own nearest is less similar"`
	Unlike         bool               `json:"unlike"`
	UnknownLabels  []string           `json:"unknown_labels" help:"vertex labels that no graph of the data has"`
	Place          *place             `json:"place" help:"null unless asked for"`
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

// rowsAtATime is the number of new graphs whose kernel is computed together, which shares work
// and bounds memory.
const rowsAtATime = 64

func predict(q *request, in *predictRequest) (*predictAnswer, error) {
	if n := len(in.Graphs); n < 1 || n > maxAsked {
		return nil, badRequest("%d graphs, want 1 to %d", n, maxAsked)
	}
	var places *placement
	get := func(x *session, ctx context.Context) (f *fitted, err error) {
		if in.Place {
			if places, err = x.placed(ctx); err != nil {
				return nil, err
			}
		}
		return x.learned(ctx)
	}
	return on(get, func(ctx context.Context, x *session, f *fitted, in *predictRequest) (*predictAnswer, error) {
		out := &predictAnswer{make([]prediction, 0, len(in.Graphs))}
		for some := range slices.Chunk(in.Graphs, rowsAtATime) {
			rows, err := x.s.rows(ctx, f, some, len(out.Predictions))
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				said, err := x.predict(f, r, in.K)
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

// predict says what there is to say about a graph with a row of kernel values.
func (x *session) predict(f *fitted, r row, k int) (prediction, error) {
	d := x.s.data
	out := prediction{Probabilities: []classProbability{}, UnknownLabels: []string{}}
	hits := others(r.values, max(k, 1), r.index)
	if len(hits) > 0 {
		out.Percentile, out.Unlike = f.Percentile(hits[0].Similarity), f.Unlike(hits[0].Similarity)
	}
	out.Neighbours = f.Neighbours(hits[:min(k, len(hits))])
	if r.index < 0 {
		out.ID = r.graph.ID()
		out.UnknownLabels = f.unknownLabels(d, r.graph)
	} else {
		out.ID = d.IDs[r.index]
		if e, ok := x.score.peek(); ok {
			if answer, ok := e.answers[r.index]; ok {
				out.CrossValidated = &answer
			}
		}
	}
	if f.Learner == nil {
		return out, nil
	}
	said, err := f.PredictCross(&kernel.Matrix{Rows: 1, Cols: len(r.values), Data: r.values}, 0)
	if err != nil {
		return out, err
	}
	if f.Classes != nil {
		out.Class = &said[0].Class
	} else {
		out.Value = &said[0].Value
	}
	for c, v := range said[0].Probability {
		out.Probabilities = append(out.Probabilities, classProbability{f.Classes[c], v})
	}
	slices.SortStableFunc(out.Probabilities, func(a, b classProbability) int { return cmp.Compare(b.Probability, a.Probability) })
	return out, nil
}

// unknownLabels returns the labels of a graph that no graph of the data has, if the kernel looks at
// labels.
func (f *fitted) unknownLabels(d *Data, g *graph.Graph) []string {
	out := []string{}
	if d.Graphs == nil || f.scales == nil || !strings.Contains(model.LowRank(f.scales).Base().String(), "labels") {
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
	Class  *string   `json:"class,omitempty" help:"what is to be explained; otherwise the one that is predicted"`
	Slopes bool      `json:"slopes,omitempty" help:"slopes instead: how the value changes when a vertex counts more"`
	kernelRequest
}

// explanation says which vertices speak for a prediction, and shows it.
type explanation struct {
	explain.Explanation
	Picture string `json:"picture" help:"the graph coloured by its contributions, as SVG"`
}

// explainingGraphs is the number of graphs of the data that an explanation tells: those with the
// largest part in the value.
const explainingGraphs = 10

func postExplain(ctx context.Context, x *session, f *fitted, in *explainRequest) (*explanation, error) {
	g, _, err := x.s.graph(in.Graph)
	if err != nil {
		return nil, err
	}
	o := explain.Options{Slopes: in.Slopes}
	if in.Class != nil {
		o.Class = *in.Class
	}
	e, err := explainPrediction(ctx, f.Model, g, o)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(e.Graphs, func(a, b explain.GraphTerm) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	e.Graphs = e.Graphs[:min(len(e.Graphs), explainingGraphs)]
	p, err := draw.Explanation(g, e, draw.DefaultOptions())
	if err != nil {
		return nil, err
	}
	return &explanation{*e, string(p.SVG())}, nil
}

// explainPrediction says which vertices of a graph speak for its class or its value.
func explainPrediction(ctx context.Context, m *model.Model, g *graph.Graph, o explain.Options) (*explain.Explanation, error) {
	if m.Learner == nil {
		return nil, errNoLearner
	}
	e, err := explain.Prediction(ctx, m, g, o)
	var class explain.ErrClass
	if errors.As(err, &class) {
		return nil, badRequest("%v", class)
	}
	return e, err
}

type compareRequest struct {
	A reference `json:"a"`
	B reference `json:"b"`
	kernelRequest
}

// comparison compares two graphs.
type comparison struct {
	K      float64     `json:"k"`
	Levels []pairLevel `json:"levels" help:"of the multiscale kernel whose scales are shown; empty where a graph is too large, or there is none"`
	A      []float64   `json:"a" help:"contributions of the vertices, which add up to k"`
	B      []float64   `json:"b" help:"contributions of the vertices, which add up to k"`
}

// pairLevel is the similarity of two graphs at one level, with their vertices matched.
type pairLevel struct {
	explain.Matching
	Radius int     `json:"radius" help:"0 at level 0"`
	K      float64 `json:"k"`
}

// maxPair is the largest graph whose vertices are matched, which takes cubic time.
const maxPair = 300

// postCompare compares two graphs.
func postCompare(ctx context.Context, x *session, f *fitted, in *compareRequest) (*comparison, error) {
	a, _, err := x.s.graph(in.A)
	if err != nil {
		return nil, err
	}
	b, _, err := x.s.graph(in.B)
	if err != nil {
		return nil, err
	}
	c, err := explain.Similarity(ctx, f.Kernel, a, b, false)
	if err != nil {
		return nil, err
	}
	out := &comparison{K: c.K, A: c.G.Vertices, B: c.H.Vertices, Levels: []pairLevel{}}
	if f.scales == nil || max(a.N(), b.N()) > maxPair {
		return out, nil
	}
	m, both, err := f.multiscale(a, b)
	if err != nil {
		return nil, err
	}
	for level, radius := range f.radii() {
		l, err := compareLevel(ctx, m, both[0], both[1], level)
		if err != nil {
			return nil, err
		}
		l.Radius = radius
		out.Levels = append(out.Levels, l)
	}
	return out, nil
}

// compareLevel compares two graphs by the features of their vertices at a level: k_ℓ is the
// FLG kernel of these features.
func compareLevel(ctx context.Context, m *mlg.Model, a, b *graph.Graph, level int) (out pairLevel, err error) {
	x, err := m.VertexFeatures(ctx, a, level)
	if err != nil {
		return out, err
	}
	y, err := m.VertexFeatures(ctx, b, level)
	if err != nil {
		return out, err
	}
	if out.K, err = mlg.FLG(a, x, b, y, m.Kernel().Eta, m.Kernel().Gamma); err != nil {
		return out, err
	}
	matched, err := explain.MatchFeatures(x, y, level)
	if err == nil {
		out.Matching = *matched
	}
	return out, err
}

type vertexRequest struct {
	Graph  reference `json:"graph"`
	Vertex int       `json:"vertex"`
	Level  int       `json:"level"`
	K      int       `json:"k,omitempty" default:"8" want:"0 to 1000" help:"similar vertices to tell"`
	kernelRequest
}

// vertexAnswer tells of a vertex at a level.
type vertexAnswer struct {
	Level         int             `json:"level"`
	Radius        int             `json:"radius"`
	Neighbourhood []int32         `json:"neighbourhood" help:"vertices within the radius"`
	Distance      []int32         `json:"distance" help:"of each of them"`
	Own           []float64       `json:"own" help:"similarity of every vertex of the graph: the dot product of features, 1 for equal ones"`
	Elsewhere     []similarVertex `json:"elsewhere" help:"the most similar vertex of other graphs, the most similar graphs first"`
	Equal         int             `json:"equal" help:"vertices of all graphs of the data that the kernel cannot tell from this one"`
}

// similarVertex is a vertex of a graph of the data, with its similarity.
type similarVertex struct {
	model.Neighbour
	Vertex int `json:"vertex"`
}

func postVertex(q *request, in *vertexRequest) (*vertexAnswer, error) {
	var table [][]float32
	get := func(x *session, ctx context.Context) (*fitted, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		if levels := len(f.radii()); in.Level < 0 || in.Level >= levels {
			return nil, badRequest("level: %d, want 0 to %d", in.Level, levels-1)
		}
		if x.s.data.Graphs != nil && in.K > 0 {
			table, err = x.vertexTable(ctx, in.Level)
		}
		return f, err
	}
	return on(get, func(ctx context.Context, x *session, f *fitted, in *vertexRequest) (*vertexAnswer, error) {
		g, index, err := x.s.graph(in.Graph)
		if err != nil {
			return nil, err
		}
		if in.Vertex < 0 || in.Vertex >= g.N() {
			return nil, badRequest("vertex: %d, want 0 to %d", in.Vertex, g.N()-1)
		}
		m, prepared, err := f.multiscale(g)
		if err != nil {
			return nil, err
		}
		out := &vertexAnswer{Level: in.Level, Radius: f.radii()[in.Level], Elsewhere: []similarVertex{}}
		var scratch graph.Scratch
		out.Neighbourhood = slices.Clone(scratch.Ball(g, in.Vertex, out.Radius))
		out.Distance = slices.Clone(scratch.Distances())
		features, err := m.VertexFeatures(ctx, prepared[0], in.Level)
		if err != nil {
			return nil, err
		}
		own := features.Row(in.Vertex)
		for w := range features.Rows {
			out.Own = append(out.Own, explain.VertexSimilarity(own, features.Row(w)))
		}
		if table != nil {
			out.Elsewhere, out.Equal = x.s.data.elsewhere(table, own, index, in.K)
		}
		return out, nil
	})(q, in)
}

// elsewhere returns the vertices most like one with the given features, the best of each graph but self, and
// how many are equal to it.
func (d *Data) elsewhere(table [][]float32, features []float64, self, k int) (best []similarVertex, equal int) {
	own := rounded(features)
	vertex, most := make([]int, len(table)), make([]float64, len(table))
	for i, t := range table {
		most[i] = math.NaN() // without vertices
		for w := range d.Graphs[i].N() {
			s := explain.VertexSimilarity(own, t[w*len(own):][:len(own)])
			if !(s <= most[i]) {
				vertex[i], most[i] = w, s
			}
			if s == 1 {
				equal++
			}
		}
	}
	best = []similarVertex{}
	for _, n := range d.Neighbours(others(most, k, self)) {
		best = append(best, similarVertex{n, vertex[n.Index]})
	}
	return best, equal
}
