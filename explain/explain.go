// Package explain says what the vertices of a graph contribute to a prediction or to a similarity,
// and matches the vertices of two graphs.
//
// To see what a vertex does, it leaves the vertex out. With f the value to explain and G∖v the graph
// without v and its edges, the effect of v is
//
//	Δ_v = f(G) − f(G∖v).
//
// Effects do not add up to f, because a structure of several vertices is lost with each of them. All
// vertices share the rest equally. With a stated baseline b, the contributions of n vertices
//
//	φ_v = Δ_v + (f(G) − b − Σ_u Δ_u)/n
//
// add up to f(G) − b. This needs nothing but values of f, and holds for every kernel
// (docs/explanation/explain.md). Slopes say how f changes when a vertex counts more. They are known
// for some kernels, and do not add up.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
)

// Options say what is explained, and how. The zero value is the contributions to the predicted class.
type Options struct {
	Class   string // what is to be spoken for, instead of the predicted class
	Against string // the class that is spoken against, instead of all others
	Slopes  bool   // slopes instead of contributions
	// Predict says what Explanation.Prediction tells besides the class or the value.
	Predict model.PredictOptions
}

// Contributions are what the vertices of a graph contribute to a value.
type Contributions struct {
	Vertices []float64 `json:"vertices" help:"contribution of each vertex"`
	Names    []string  `json:"names,omitempty" help:"names of the vertices, where the data have some"`
	Sum      float64   `json:"sum"`
	Parts    []Part    `json:"parts,omitempty" help:"what the structures of a row contribute"`
	// Together is how many vertices were left out at a time, and share what they do together: 1
	// but for large graphs.
	Together int `json:"together" help:"number of vertices that share a contribution; more than 1 only for large graphs"`
}

// Part is a structure of a row of a table, whose vertices stand together.
type Part struct {
	Name     string  `json:"name"`
	First    int     `json:"first" help:"its first vertex"`
	Vertices int     `json:"vertices" help:"number of its vertices"`
	Sum      float64 `json:"sum" help:"what they contribute together"`
}

// addParts adds up contributions over the structures of a row.
func (c *Contributions) addParts(g *graph.Graph) {
	at := 0
	for _, p := range g.Parts() {
		if p.Value {
			continue
		}
		part := Part{Name: p.Name, First: at, Vertices: p.Graph.N()}
		for range part.Vertices {
			part.Sum += c.Vertices[at]
			at++
		}
		c.Parts = append(c.Parts, part)
	}
}

// Explanation says what the vertices of a graph contribute to what a model predicts for it: to the
// margin for a class (learn.Learner.Decision), or to a value. Contributions add up to Value − Baseline.
type Explanation struct {
	Graph   string `json:"graph" help:"identifier of the graph"`
	Class   string `json:"class" help:"class that positive contributions speak for; empty for values"`
	Against string `json:"against,omitempty" help:"class that negative contributions speak for; empty for all others"`
	What    string `json:"what" help:"what the value is: the margin for a class, or the name of the values"`
	Says    string `json:"says" help:"the value and its baseline, in words"`
	// Value is f(G). Baseline is 0 for a margin, the boundary between the classes, and the mean of
	// the training graphs for values.
	Value    float64 `json:"value"`
	Baseline float64 `json:"baseline" help:"0, the boundary, for a class; the mean of the training graphs for values"`
	Slopes   bool    `json:"slopes" help:"the vertices have slopes, which do not add up"`
	Contributions
	// Bias and the terms of Graphs add up to Value.
	Bias   float64     `json:"bias"`
	Graphs []GraphTerm `json:"graphs" help:"what each training graph adds to the value"`
	// Prediction is what the model predicts for the graph.
	Prediction model.Prediction `json:"-"`
}

// GraphTerm is what one training graph adds to a value.
type GraphTerm struct {
	Graph int     `json:"graph"` // position among the training graphs
	K     float64 `json:"k"`
	Value float64 `json:"value"` // coefficient·k
}

// Headline says in a line what is explained.
func (e *Explanation) Headline() string {
	if e.Graph == "" {
		return e.Says
	}
	return e.Graph + ": " + e.Says
}

// ErrClass is an error about the classes of Options.
type ErrClass string

func (e ErrClass) Error() string { return string(e) }

// Prediction explains what a model predicts for a graph.
func Prediction(ctx context.Context, m *model.Model, g *graph.Graph, o Options) (*Explanation, error) {
	if m.Task() == model.SearchOnly {
		return nil, model.ErrNoLearner
	}
	e := &Explanation{Graph: g.ID(), Slopes: o.Slopes, Graphs: []GraphTerm{}}
	var f learn.Function
	read := func(a kernel.Features, row []float64) (*learn.Function, float64, error) {
		cross := &kernel.Matrix{Rows: 1, Cols: len(row), Data: row}
		said, err := m.PredictCross(ctx, []*graph.Graph{g}, a, cross, o.Predict)
		if err != nil {
			return nil, 0, err
		}
		e.Prediction = said[0]
		if f, err = e.function(m, o); err != nil {
			return nil, 0, err
		}
		e.Value, e.Bias = f.Value(row), f.Bias
		for s, c := range f.Coefficients {
			i := s
			if f.Support != nil {
				i = f.Support[s]
			}
			e.Graphs = append(e.Graphs, GraphTerm{i, row[i], c * row[i]})
		}
		return &f, e.Baseline, nil
	}
	of := contributionsOf
	if o.Slopes {
		of = slopesOf
	}
	train, err := m.Kernel.Train(ctx)
	if err != nil {
		return nil, err
	}
	if e.Contributions, err = of(ctx, m.Kernel, train, g, read); err != nil {
		return nil, err
	}
	e.Says = e.says()
	return e, nil
}

// function returns the function to explain, and describes it.
func (e *Explanation) function(m *model.Model, o Options) (f learn.Function, err error) {
	if m.Task() == model.Regression {
		if o.Class != "" || o.Against != "" {
			return f, ErrClass("the model predicts values, not classes")
		}
		e.What = "value"
		if m.Target != "" {
			e.What = m.Target
		}
		e.Baseline = mean(m.Targets)
		return m.Learner.For(0), nil
	}
	e.Class = cmp.Or(o.Class, e.Prediction.Class)
	class := slices.Index(m.Classes, e.Class)
	if class < 0 {
		return f, ErrClass(fmt.Sprintf("class %s, want one of %s", e.Class, strings.Join(m.Classes, ", ")))
	}
	e.What = "margin for " + e.Class
	if e.Against = o.Against; e.Against == "" {
		return m.Learner.For(class), nil
	}
	against := slices.Index(m.Classes, e.Against)
	if against < 0 || against == class {
		return f, ErrClass(fmt.Sprintf("class %s against %s, want two of the classes %s", e.Class, e.Against, strings.Join(m.Classes, ", ")))
	}
	e.What += " against " + e.Against
	return m.Learner.Between(class, against), nil
}

// mean returns the mean of the targets that are numbers, 0 if there is none.
func mean(targets []string) float64 {
	sum, n := 0.0, 0
	for _, t := range targets {
		if x, err := strconv.ParseFloat(strings.TrimSpace(t), 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			sum += x
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func (e *Explanation) says() string {
	if e.Class != "" {
		return e.What + " " + Number(e.Value)
	}
	side := "above"
	if e.Value < e.Baseline {
		side = "below"
	}
	away := Number(math.Abs(e.Value - e.Baseline))
	return fmt.Sprintf("%s %s, %s %s the mean of %s", e.What, Number(e.Value), away, side, Number(e.Baseline))
}

// Number writes a number with three digits, and at most three after the point.
func Number(x float64) string {
	x = math.Round(x*1000) / 1000
	digits := 3
	if a := math.Abs(x); a >= 1000 {
		digits = 0
	} else if a >= 100 {
		digits = 1
	} else if a >= 10 {
		digits = 2
	}
	return strconv.FormatFloat(x+0, 'f', digits, 64) // 0 without a sign
}

// Comparison says what the vertices of two graphs contribute to their similarity k(G, H). The
// contributions of the vertices of G add up to k, and so do those of H: the baseline is 0, the similarity
// of graphs that have nothing in common. Slopes are those of log k.
type Comparison struct {
	K      float64       `json:"k"`
	Slopes bool          `json:"slopes"`
	G      Contributions `json:"g"`
	H      Contributions `json:"h"`
}

// Similarity explains the similarity of two graphs, by contributions or slopes.
func Similarity(ctx context.Context, sum *kernel.FittedSum, g, h *graph.Graph, slopes bool) (*Comparison, error) {
	out := &Comparison{Slopes: slopes}
	of := contributionsOf
	if slopes {
		of = slopesOf
	}
	side := func(g, other *graph.Graph) (Contributions, error) {
		others, err := sum.Transform(ctx, []*graph.Graph{other})
		if err != nil {
			return Contributions{}, err
		}
		f := learn.Function{Coefficients: []float64{1}}
		return of(ctx, sum, others, g, func(_ kernel.Features, row []float64) (*learn.Function, float64, error) {
			out.K = row[0]
			if slopes && !(out.K > 0) {
				return nil, 0, fmt.Errorf("the similarity is %v: its logarithm has no slope", out.K)
			}
			if slopes {
				f.Coefficients[0] = 1 / out.K // ∂log k/∂k
			}
			return &f, 0, nil
		})
	}
	var err error
	if out.H, err = side(h, g); err != nil {
		return nil, err
	}
	out.G, err = side(g, h)
	return out, err
}
