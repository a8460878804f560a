// Package explain says which vertices and which levels make two graphs similar, or make a
// learner decide as it does, and matches the vertices of two graphs.
//
// Every vertex v of a graph G has a factor s_v that multiplies its base features; at s = 1
// the graph is what it is. The contribution of v to a function f of kernel values is
//
//	∂f/∂s_v at s = 1,
//
// carried through all levels of a fitted model, whose landmarks stay fixed: exact, by
// reverse accumulation (mlg.Model.Attribute, docs/explain.md). A vertex with a positive
// contribution raises f when it counts more. Contributions are slopes: they do not add up to
// f, and at k(G, G) = 1, the largest value there is, they are all 0. Shares, which are
// contributions integrated from a graph without features to the graph at hand, add up.
package explain

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Contributions are those of the vertices of one graph to f.
type Contributions struct {
	// Vertices has ∂f/∂s_v for each vertex v.
	Vertices []float64 `json:"vertices"`
	// Sum is their sum: the derivative of f when all features of the graph grow alike.
	Sum float64 `json:"sum"`
	// Through splits Vertices by the levels whose kernels k_ℓ enter f: the part that comes
	// through each. The parts add up to Vertices. It has one entry when the kernel is that
	// of the top level alone.
	Through []Level `json:"through"`
	// Features has, for each level ℓ = 0 … L, the derivatives with respect to a factor of
	// the features of v at that level, those below unchanged: what the neighbourhood of v as
	// a whole contributes. Level 0 is Vertices again. Levels do not add up to anything.
	Features []Level `json:"features"`
}

// Level holds what belongs to one level.
type Level struct {
	Level    int       `json:"level"`
	Vertices []float64 `json:"vertices"`
	Sum      float64   `json:"sum"`
}

func newLevel(level int, vertices []float64) Level {
	l := Level{Level: level, Vertices: vertices}
	for _, x := range vertices {
		l.Sum += x
	}
	return l
}

func contributions(a *mlg.Attribution) Contributions {
	c := Contributions{Vertices: a.Vertices()}
	for i, l := range a.Levels {
		c.Through = append(c.Through, newLevel(l, a.Through[i]))
	}
	for l, x := range a.Features {
		c.Features = append(c.Features, newLevel(l, x))
	}
	c.Sum = c.Features[0].Sum
	return c
}

// Comparison explains f = log k(G, H).
type Comparison struct {
	K    float64 `json:"k"`
	LogK float64 `json:"log_k"`
	// Levels has the kernels of the levels that enter k.
	Levels []LevelKernel `json:"levels"`
	// G and H are the contributions of the vertices of each graph.
	G Contributions `json:"g"`
	H Contributions `json:"h"`
}

// LevelKernel is the kernel k_ℓ(G, H) of one level.
type LevelKernel struct {
	Level int     `json:"level"`
	K     float64 `json:"k"`
	LogK  float64 `json:"log_k"`
}

// Similarity explains the similarity log k(G, H) of two graphs under a model.
func Similarity(ctx context.Context, m *mlg.Model, g, h *graph.Graph) (*Comparison, error) {
	one := func([]float64) []float64 { return []float64{1} }
	side := func(g, other *graph.Graph) (*mlg.Attribution, error) {
		c, err := m.Transform(ctx, []*graph.Graph{other})
		if err != nil {
			return nil, err
		}
		return m.Attribute(ctx, g, c, one)
	}
	a, err := side(g, h)
	if err != nil {
		return nil, err
	}
	b, err := side(h, g)
	if err != nil {
		return nil, err
	}
	out := &Comparison{K: math.Exp(a.LogK[0]), LogK: a.LogK[0], G: contributions(a), H: contributions(b)}
	for i, l := range a.Levels {
		x := a.LevelLogK.At(i, 0)
		out.Levels = append(out.Levels, LevelKernel{Level: l, K: math.Exp(x), LogK: x})
	}
	return out, nil
}

// Function is what a learner makes of kernel values,
//
//	f(G) = Σ_s Coefficients[s]·k(G, G_Support[s]) + Bias,
//
// over training graphs: a machine or a regression of package svm.
type Function struct {
	Support      []int // positions among the training graphs
	Coefficients []float64
	Bias         float64
}

// Prediction explains f(G) for a Function.
type Prediction struct {
	Value float64 `json:"value"`
	Bias  float64 `json:"bias"`
	// Terms has the terms of the sum, one for each of Support: Value is Bias and their sum.
	Terms []Term `json:"terms"`
	Contributions
}

// Term is what one training graph adds to a decision value.
type Term struct {
	Graph int     `json:"graph"` // position among the training graphs
	K     float64 `json:"k"`
	Value float64 `json:"value"` // coefficient·k
}

// check returns an error unless f is a function of the training graphs of m.
func (f *Function) check(m *mlg.Model) error { return f.checkRange(m.Train().Len()) }

// checkRange returns an error unless f is a function of n training graphs.
func (f *Function) checkRange(n int) error {
	if len(f.Support) != len(f.Coefficients) {
		return fmt.Errorf("%d coefficients for %d training graphs", len(f.Coefficients), len(f.Support))
	}
	for _, i := range f.Support {
		if i < 0 || i >= n {
			return fmt.Errorf("training graph %d out of range [0, %d)", i, n)
		}
	}
	return nil
}

// evaluate returns f, its terms and ∂f/∂log k_i = coefficient·k_i for all training graphs.
func (f *Function) evaluate(logK []float64) (value float64, terms []Term, slopes []float64) {
	value, slopes = f.Bias, make([]float64, len(logK))
	for s, i := range f.Support {
		k := math.Exp(logK[i])
		t := Term{Graph: i, K: k, Value: f.Coefficients[s] * k}
		terms = append(terms, t)
		value += t.Value
		slopes[i] += t.Value
	}
	return value, terms, slopes
}

// Decision explains the value f(G) of a learner that was trained on the kernel matrix of the
// training graphs of m. It agrees with the learner's value to rounding error.
func Decision(ctx context.Context, m *mlg.Model, g *graph.Graph, f Function) (*Prediction, error) {
	if err := f.check(m); err != nil {
		return nil, err
	}
	out := &Prediction{Bias: f.Bias}
	a, err := m.Attribute(ctx, g, m.Train(), func(logK []float64) (slopes []float64) {
		out.Value, out.Terms, slopes = f.evaluate(logK)
		return slopes
	})
	if err != nil {
		return nil, err
	}
	out.Contributions = contributions(a)
	return out, nil
}
