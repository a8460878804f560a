package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// Neighbour is a graph of the source that is similar to another.
type Neighbour struct {
	Index      int     `json:"index"`
	ID         string  `json:"id"`
	Target     string  `json:"target"`
	Similarity float64 `json:"similarity"`
}

// neighbours returns the k largest entries of a row of kernel values but for graph self.
func (s *Server) neighbours(row []float64, k, self int) []Neighbour {
	n := newNearest(max(self, 0)+1, k, 1)
	n.self = self >= 0
	n.take(max(self, 0), row)
	out := []Neighbour{}
	for _, j := range n.list[max(self, 0)] {
		x := Neighbour{Index: int(j), ID: s.src.IDs[j], Similarity: row[j]}
		if s.src.Targets != nil {
			x.Target = s.src.Targets[j]
		}
		out = append(out, x)
	}
	return out
}

// rowsAtATime is the number of new graphs whose kernel is computed together, which shares work
// and bounds memory.
const rowsAtATime = 64

// row is the kernel of a graph with all of the source.
type row struct {
	values []float64
	index  int          // in the source, −1 for a new graph
	graph  *graph.Graph // nil for a training graph of a model that does not hold it
}

// rowsFor returns the rows of graphs.
func (s *Server) rowsFor(ctx context.Context, f *fitted, refs []reference) ([]row, error) {
	rows := make([]row, len(refs))
	var fresh []*graph.Graph
	for i, r := range refs {
		var err error
		if bare := r.Index != nil && r.SMILES == nil && r.Graph == nil && s.src.Graphs == nil; bare {
			if rows[i].index = *r.Index; *r.Index < 0 || *r.Index >= len(s.src.IDs) {
				return nil, notFound("graph %d, want 0 … %d", *r.Index, len(s.src.IDs)-1)
			}
		} else if rows[i].graph, rows[i].index, err = s.resolve(r); err != nil {
			return nil, err
		}
		if rows[i].index < 0 {
			fresh = append(fresh, rows[i].graph)
		} else if rows[i].values, err = f.row(ctx, rows[i].index); err != nil {
			return nil, err
		}
	}
	if len(fresh) == 0 {
		return rows, nil
	}
	m, err := f.kernel.Cross(ctx, fresh)
	if err != nil {
		return nil, asRequestError(ctx, err)
	}
	next := 0
	for i := range rows {
		if rows[i].index < 0 {
			rows[i].values = m.Row(next)
			next++
		}
	}
	return rows, nil
}

func (s *Server) getNeighbours(q *request) (any, error) {
	k, err := q.number("k", 10, 1, maxNearest)
	if err != nil {
		return nil, err
	}
	r, err := q.queried()
	if err != nil {
		return nil, err
	}
	return s.findNeighbours(q, q.x, r, k)
}

func (s *Server) postNeighbours(q *request) (any, error) {
	body := struct {
		Graph      reference       `json:"graph"`
		K          int             `json:"k"`
		Parameters json.RawMessage `json:"parameters"`
	}{K: 10}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	if body.K < 1 || body.K > maxNearest {
		return nil, badRequest("k: %d, want 1 to %d", body.K, maxNearest)
	}
	x, err := s.bodySession(body.Parameters)
	if err != nil {
		return nil, err
	}
	return s.findNeighbours(q, x, body.Graph, body.K)
}

func (s *Server) findNeighbours(q *request, x *session, r reference, k int) (any, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (any, error) {
		rows, err := s.rowsFor(ctx, f, []reference{r})
		if err != nil {
			return nil, err
		}
		return map[string]any{"neighbours": s.neighbours(rows[0].values, k, rows[0].index)}, nil
	})
}

// Prediction is what is said about one graph.
type Prediction struct {
	ID string `json:"id"`
	// Class or Value, as the task is; both null where nothing is predicted.
	Class *string  `json:"class"`
	Value *float64 `json:"value"`
	// Probabilities of the classes, highest first; empty where they were not trained.
	Probabilities []ClassProbability `json:"probabilities"`
	// CrossValidated is what a graph of the source was taken for by a learner that did not
	// see it; null for new graphs, and until cross-validation was asked for.
	CrossValidated *string     `json:"cross_validated"`
	Neighbours     []Neighbour `json:"neighbours"`
	// Percentile is the share of the source's graphs whose own nearest is less similar.
	Percentile int  `json:"percentile"`
	Unlike     bool `json:"unlike"`
	// UnknownLabels are vertex labels that no graph of the source has.
	UnknownLabels []string `json:"unknown_labels"`
	Place         *Place   `json:"place"` // null unless asked for
}

// Place is a position on both maps.
type Place struct {
	PCA        [2]float64 `json:"pca"`
	Neighbours [2]float64 `json:"neighbours"`
}

// ClassProbability is a class with its probability.
type ClassProbability struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
}

func (s *Server) getPredict(q *request) (any, error) {
	k, err := q.number("k", 5, 0, maxNearest)
	if err != nil {
		return nil, err
	}
	r, err := q.queried()
	if err != nil {
		return nil, err
	}
	return s.predict(q, q.x, []reference{r}, k, false)
}

func (s *Server) postPredict(q *request) (any, error) {
	body := struct {
		Graphs     []reference     `json:"graphs"`
		K          int             `json:"k"`
		Place      bool            `json:"place"`
		Parameters json.RawMessage `json:"parameters"`
	}{K: 5}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	if body.K < 0 || body.K > maxNearest {
		return nil, badRequest("k: %d, want 0 to %d", body.K, maxNearest)
	}
	if len(body.Graphs) == 0 || len(body.Graphs) > maxBatch {
		return nil, badRequest("graphs: %d, want 1 to %d", len(body.Graphs), maxBatch)
	}
	x, err := s.bodySession(body.Parameters)
	if err != nil {
		return nil, err
	}
	return s.predict(q, x, body.Graphs, body.K, body.Place)
}

func (s *Server) predict(q *request, x *session, refs []reference, k int, place bool) (any, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	m, err := x.learned(q.Context())
	if err != nil {
		return nil, err
	}
	var p *placement
	if place {
		if p, err = x.placed(q.Context()); err != nil {
			return nil, err
		}
	}
	return short(q, func(ctx context.Context) (any, error) {
		out := make([]Prediction, 0, len(refs))
		for some := range slices.Chunk(refs, rowsAtATime) {
			rows, err := s.rowsFor(ctx, f, some)
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				said, err := s.predictRow(x, f, m, p, r.values, r.index, r.graph, k)
				if err != nil {
					return nil, err
				}
				out = append(out, said)
			}
		}
		return map[string]any{"predictions": out}, nil
	})
}

// predictRow says what there is to say about a graph with a row of kernel values.
func (s *Server) predictRow(x *session, f *fitted, m *model.Model, p *placement, row []float64, index int, g *graph.Graph, k int) (Prediction, error) {
	out := Prediction{Probabilities: []ClassProbability{}, UnknownLabels: []string{}, Neighbours: s.neighbours(row, max(k, 1), index)}
	if len(out.Neighbours) > 0 {
		out.Percentile = m.Percentile(out.Neighbours[0].Similarity)
		out.Unlike = m.Unlike(out.Neighbours[0].Similarity)
	}
	out.Neighbours = out.Neighbours[:min(k, len(out.Neighbours))]
	if index >= 0 {
		out.ID = s.src.IDs[index]
		if e, ok := x.score.peek(); ok {
			if a, ok := e.answer(index); ok {
				out.CrossValidated = &a
			}
		}
	} else {
		out.ID = g.ID()
	}
	if g != nil && s.src.labels != nil && f.hasMain && strings.Contains(f.main.Fitted.Base().String(), "labels") {
		for _, l := range g.Labels() {
			if !s.src.labels[l] && !slices.Contains(out.UnknownLabels, l) {
				out.UnknownLabels = append(out.UnknownLabels, l)
			}
		}
	}
	if m.Learner != nil {
		list, err := m.PredictCross(&mlg.Matrix{Rows: 1, Cols: len(row), Data: row}, 0)
		if err != nil {
			return out, err
		}
		if m.Learner.Classifier != nil {
			out.Class = &list[0].Class
		} else {
			out.Value = &list[0].Value
		}
		for c, v := range list[0].Probability {
			out.Probabilities = append(out.Probabilities, ClassProbability{m.Learner.Classes[c], v})
		}
		slices.SortStableFunc(out.Probabilities, func(a, b ClassProbability) int { return cmp.Compare(b.Probability, a.Probability) })
	}
	if p != nil {
		out.Place = &Place{}
		if index >= 0 {
			out.Place.PCA = [2]float64{p.pca[0][index], p.pca[1][index]}
			out.Place.Neighbours = [2]float64{p.neighbours[0][index], p.neighbours[1][index]}
		} else {
			out.Place.PCA[0], out.Place.PCA[1] = p.project(row)
			out.Place.Neighbours[0], out.Place.Neighbours[1] = p.among(row)
		}
	}
	return out, nil
}

// Explanation says which vertices speak for a prediction.
type Explanation struct {
	Class    string           `json:"class"` // that the value speaks for; empty for regression
	Value    float64          `json:"value"`
	Share    float64          `json:"share"`    // of the kernel that has contributions of vertices, 1 without baselines
	Vertices []float64        `json:"vertices"` // contribution of each
	Features []explain.Level  `json:"features"` // of the neighbourhoods of each level
	Terms    []ExplainingTerm `json:"terms"`    // graphs of the source with the largest part in the value
}

// ExplainingTerm is what one graph of the source adds to a value.
type ExplainingTerm struct {
	Index int     `json:"index"`
	ID    string  `json:"id"`
	K     float64 `json:"k"`
	Value float64 `json:"value"`
}

func (s *Server) postExplain(q *request) (any, error) {
	var body struct {
		Graph      reference       `json:"graph"`
		Class      *string         `json:"class"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	x, err := s.bodySession(body.Parameters)
	if err != nil {
		return nil, err
	}
	g, index, err := s.resolve(body.Graph)
	if err != nil {
		return nil, err
	}
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	m, err := x.learned(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (any, error) {
		class := body.Class
		if class == nil && m.Learner != nil && m.Learner.Classifier != nil {
			row, err := f.similar(ctx, g)
			if err != nil {
				return nil, err
			}
			p, err := s.predictRow(x, f, m, nil, row, index, g, 1)
			if err != nil {
				return nil, err
			}
			class = p.Class
		}
		if class == nil {
			class = ptr("")
		}
		return s.explain(ctx, f, m.Learner, g, *class)
	})
}

// explain says which vertices of a graph speak for a class, or for a larger value.
func (s *Server) explain(ctx context.Context, f *fitted, l *model.Learner, g *graph.Graph, class string) (*Explanation, error) {
	fn, err := functionFor(l, class)
	if err != nil {
		return nil, err
	}
	d, err := explain.ModelDecision(ctx, f.kernel, g, fn)
	if err != nil {
		return nil, err
	}
	out := &Explanation{Class: class, Value: d.Value, Share: d.Explained.Share, Vertices: d.Vertices, Features: append([]explain.Level{}, d.Features...), Terms: []ExplainingTerm{}}
	if l.Classifier == nil {
		out.Class = ""
	}
	for _, t := range d.Terms {
		out.Terms = append(out.Terms, ExplainingTerm{t.Graph, s.src.IDs[t.Graph], t.K, t.Value})
	}
	slices.SortStableFunc(out.Terms, func(a, b ExplainingTerm) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	out.Terms = out.Terms[:min(len(out.Terms), 10)]
	return out, nil
}

// maxPair is the largest graph whose vertices are matched, which takes cubic time.
const maxPair = 300

// PairAnswer compares two graphs. Levels are those of the main kernel.
type PairAnswer struct {
	K      float64     `json:"k"`
	Levels []PairLevel `json:"levels"` // empty where a graph is too large, or there is no main kernel
	A      []float64   `json:"a"`      // contributions of the vertices to log k
	B      []float64   `json:"b"`
}

// PairLevel is the similarity of two graphs at one level, with their vertices matched.
type PairLevel struct {
	Level  int            `json:"level"`
	Radius int            `json:"radius"` // 0 at level 0
	K      float64        `json:"k"`
	Pairs  []explain.Pair `json:"pairs"`
}

func (s *Server) postCompare(q *request) (any, error) {
	var body struct {
		A          reference       `json:"a"`
		B          reference       `json:"b"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := q.readBody(&body); err != nil {
		return nil, err
	}
	x, err := s.bodySession(body.Parameters)
	if err != nil {
		return nil, err
	}
	a, _, err := s.resolve(body.A)
	if err != nil {
		return nil, err
	}
	b, _, err := s.resolve(body.B)
	if err != nil {
		return nil, err
	}
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (any, error) { return f.compare(ctx, a, b) })
}

// compare compares two graphs.
func (f *fitted) compare(ctx context.Context, a, b *graph.Graph) (*PairAnswer, error) {
	c, err := explain.ModelSimilarity(ctx, f.kernel, a, b)
	if err != nil {
		return nil, err
	}
	out := &PairAnswer{K: c.K, A: c.G.Vertices, B: c.H.Vertices, Levels: []PairLevel{}}
	if !f.hasMain || max(a.N(), b.N()) > maxPair {
		return out, nil
	}
	m, both, err := f.multiscale(a, b)
	if err != nil {
		return nil, err
	}
	o := m.Options()
	for l := range len(o.Radii) + 1 {
		level, err := compareLevel(ctx, m, both[0], both[1], l)
		if err != nil {
			return nil, err
		}
		if l > 0 {
			level.Radius = o.Radii[l-1]
		}
		out.Levels = append(out.Levels, level)
	}
	return out, nil
}

// compareLevel compares two graphs by the features of their vertices at a level: k_ℓ is the
// FLG kernel of these features.
func compareLevel(ctx context.Context, m *mlg.Model, a, b *graph.Graph, level int) (PairLevel, error) {
	out := PairLevel{Level: level, Pairs: []explain.Pair{}}
	qa, err := m.VertexFeatures(ctx, a, level)
	if err != nil {
		return out, err
	}
	qb, err := m.VertexFeatures(ctx, b, level)
	if err != nil {
		return out, err
	}
	o := m.Options()
	if out.K, err = mlg.FLG(a, qa, b, qb, o.Eta, o.Gamma); err != nil {
		return out, err
	}
	x := similarities(qa, qb)
	cols, err := explain.Assign(x)
	for v, w := range cols {
		if w >= 0 {
			out.Pairs = append(out.Pairs, explain.Pair{G: v, H: w, Similarity: x.At(v, w)})
		}
	}
	return out, err
}

// similarities approximates the kernel 𝔎_ℓ between two sets of vertices by the dot products of
// their features. Equal features, as those of vertices of one class, have similarity 1: what
// the features leave out of such a vertex is the same on both sides.
func similarities(a, b *mlg.Matrix) *mlg.Matrix {
	out := mlg.NewMatrix(a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			out.Set(i, j, similarity(a.Row(i), b.Row(j)))
		}
	}
	return out
}

// similarity is similarities for one pair. Features that are all 0 are like nothing.
func similarity[T float32 | float64](a, b []T) float64 {
	equal := true
	dot := 0.0
	for d, v := range a {
		dot += float64(v) * float64(b[d])
		equal = equal && v == b[d]
	}
	if equal && dot > 0 {
		return 1
	}
	return min(dot, 1)
}
