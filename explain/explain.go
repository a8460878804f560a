// Package explain says which vertices and which levels make two graphs similar, or make a
// learner decide as it does, and matches the vertices of two graphs.
//
// Every vertex v of a graph G has a factor s_v that multiplies its base features; at s = 1
// the graph is what it is. The contribution of v to a function f of kernel values is
//
//	∂f/∂s_v at s = 1,
//
// carried through all levels of a fitted kernel, whose landmarks stay fixed: exact, by
// reverse accumulation (mlg.Model.Attribute, docs/explain.md). A vertex with a positive
// contribution raises f when it counts more. Contributions are slopes: they do not add up to
// f, and at k(G, G) = 1, the largest value there is, they are all 0. Shares, which are
// contributions integrated from a graph without features to the graph at hand, add up.
package explain

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

// ErrUnexplained is the error of a sum none of whose kernels has contributions of vertices.
var ErrUnexplained = errors.New("no kernel in the model has contributions of vertices: want a multiscale kernel, wl, wl-oa or labels")

// Contributions are those of the vertices of one graph to f. The parts of Through and Counted
// add up to Vertices.
type Contributions struct {
	// Vertices has ∂f/∂s_v for each vertex v.
	Vertices []float64 `json:"vertices"`
	// Sum is their sum: the derivative of f when all features of the graph grow alike.
	Sum float64 `json:"sum"`
	// Through splits Vertices by the levels whose kernels k_ℓ enter f: the part that comes
	// through each. It has one entry when the kernel is that of the top level alone.
	Through []Level `json:"through"`
	// Features has, for each level ℓ = 0 … L, the derivatives with respect to a factor of
	// the features of v at that level, those below unchanged: what the neighbourhood of v as
	// a whole contributes. Levels do not add up to anything.
	Features []Level `json:"features"`
	// Counted is the part that comes from kernels that count vertices, nil for none.
	Counted []float64 `json:"counted,omitempty"`
}

// Level holds what belongs to one level.
type Level struct {
	Level    int       `json:"level"`
	Vertices []float64 `json:"vertices"`
	Sum      float64   `json:"sum"`
}

func sumOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// Explained says how much of a sum of products of kernels,
//
//	k(G, H) = Σ_t w_t Π_j k_tj(G, H),
//
// has contributions of vertices. Multiscale kernels depend on the factors s_v of the vertices'
// base features, kernels that count vertices (baseline.Attributer) on factors s_v by which they
// count; other kernels count larger things, to which s_v means nothing, and are held fixed. By
// the product rule
//
//	∂k/∂s_v = Σ_t w_t Π_j k_tj · Σ_j ∂log k_tj/∂s_v,
//
// j running over the factors that depend on s_v. What is left out is measured by logarithms,
// which add up over factors: the explained share of the term of one training graph is that
// of these factors in log Π_j k_tj = Σ_j log k_tj (one half for one of two factors that are
// both 1), and terms count by their absolute values. Where a kernel sees edges as vertices, an
// edge counts √(s_u s_v).
type Explained struct {
	// Share is between 0, nothing explained, and 1, all.
	Share float64 `json:"share"`
	Terms []Term  `json:"terms"`
}

// Term is one product of the sum.
type Term struct {
	Kernel string  `json:"kernel"`
	Weight float64 `json:"weight"`
	// Value is what the product adds to f without the bias, or to k for a similarity.
	Value float64 `json:"value"`
	Share float64 `json:"share"` // explained
}

// Comparison explains f = log k(G, H).
type Comparison struct {
	K    float64 `json:"k"`
	LogK float64 `json:"log_k"`
	// Levels has the kernels of the levels that enter k, if k is one multiscale kernel.
	Levels []LevelKernel `json:"levels,omitempty"`
	// G and H are the contributions of the vertices of each graph.
	G         Contributions `json:"g"`
	H         Contributions `json:"h"`
	Explained Explained     `json:"explained"`
}

// LevelKernel is the kernel k_ℓ(G, H) of one level.
type LevelKernel struct {
	Level int     `json:"level"`
	K     float64 `json:"k"`
	LogK  float64 `json:"log_k"`
}

// Similarity explains the similarity log k(G, H) of two graphs. It is ErrUnexplained where no
// kernel has contributions, and an error where k = 0.
func Similarity(ctx context.Context, sum *kernel.FittedSum, g, h *graph.Graph) (*Comparison, error) {
	k, err := sum.Compare(ctx, g, h)
	if err != nil {
		return nil, err
	}
	if !(k > 0) {
		return nil, fmt.Errorf("the similarity is %v: its logarithm has no slope", k)
	}
	out := &Comparison{K: k, LogK: math.Log(k)}
	side := func(g, other *graph.Graph) (Contributions, error) {
		p := &products{sum: sum}
		for _, f := range sum.Factors {
			if err := p.compare(ctx, f, g, other); err != nil {
				return Contributions{}, err
			}
		}
		p.multiply([]float64{1 / k}) // ∂log k/∂k
		out.Explained, out.Levels = p.explained, nil
		c, err := p.contributions(ctx, g)
		if len(sum.Factors) == 1 && p.levelLogs != nil {
			for i, x := range p.levelLogs.Data {
				out.Levels = append(out.Levels, LevelKernel{p.levels[i], math.Exp(x), x})
			}
		}
		return c, err
	}
	if out.G, err = side(g, h); err != nil {
		return nil, err
	}
	if out.H, err = side(h, g); err != nil {
		return nil, err
	}
	for i := range out.Explained.Terms {
		out.Explained.Terms[i].Value *= k
	}
	return out, nil
}

// Prediction explains the value of a function of a learner,
//
//	f(G) = Σ_s Coefficients[s]·k(G, G_Support[s]) + Bias.
type Prediction struct {
	Value float64 `json:"value"`
	Bias  float64 `json:"bias"`
	// Graphs has the terms of the sum, one for each training graph in it: Value is Bias and
	// their sum.
	Graphs []GraphTerm `json:"graphs"`
	Contributions
	Explained Explained `json:"explained"`
}

// GraphTerm is what one training graph adds to a decision value.
type GraphTerm struct {
	Graph int     `json:"graph"` // position among the training graphs
	K     float64 `json:"k"`
	Value float64 `json:"value"` // coefficient·k
}

// Decision explains the value f(G) of a learner that was trained on the kernel matrix of the
// training graphs. It agrees with the learner's value to rounding error. It is ErrUnexplained
// where no kernel has contributions.
func Decision(ctx context.Context, sum *kernel.FittedSum, g *graph.Graph, f svm.Function) (*Prediction, error) {
	p := &products{sum: sum}
	for _, x := range sum.Factors {
		cross, err := x.Cross(ctx, []*graph.Graph{g})
		if err != nil {
			return nil, err
		}
		fitted, err := x.Fitted(ctx)
		if err != nil {
			return nil, err
		}
		p.add(cross.Row(0), fitted)
	}
	slopes := make([]float64, len(p.factors[0].values))
	support, err := supportOf(&f, len(slopes))
	if err != nil {
		return nil, err
	}
	for s, i := range support {
		slopes[i] += f.Coefficients[s]
	}
	p.multiply(slopes)
	out := &Prediction{Bias: f.Bias, Value: f.Bias, Explained: p.explained}
	for s, i := range support {
		t := GraphTerm{Graph: i, K: p.kernel[i], Value: f.Coefficients[s] * p.kernel[i]}
		out.Graphs = append(out.Graphs, t)
		out.Value += t.Value
	}
	out.Contributions, err = p.contributions(ctx, g)
	return out, err
}

// supportOf returns the training graphs that a function of n of them looks at.
func supportOf(f *svm.Function, n int) ([]int, error) {
	support := f.Support
	for i := 0; f.Support == nil && len(f.Coefficients) > 0 && i < n; i++ { // all, unless it is constant
		support = append(support, i)
	}
	if len(support) != len(f.Coefficients) {
		return nil, fmt.Errorf("%d coefficients for %d training graphs", len(f.Coefficients), len(support))
	}
	for _, i := range support {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("training graph %d out of range [0, %d)", i, n)
		}
	}
	return support, nil
}
